"""Tables that are read whole: arrays in .npy and .npz files, and sheets of Excel files."""

from __future__ import annotations

import math
import warnings
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from ..._words import shown
from ...encoding.errors import TableError, check_memory, check_names, listed, needed, numbered_names
from .arrow_files import check_dates
from .opening import File, check_tight

if TYPE_CHECKING:
    import pandas

_KINDS = "biufUSM"
_SHEETS = "xl/workbook.xml"


def read_npy(file: File) -> pandas.DataFrame:
    """The frame of a .npy file: its columns are c1, c2, ... or the fields of its rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old files, which are read all the same
            # A map of the file, so that a header cannot claim more than is there.
            return _frame(np.load(file.path, mmap_mode="r", allow_pickle=False), file)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # a damaged header can raise nearly anything
        raise _refused(error, file) from error


def read_npz(file: File) -> pandas.DataFrame:
    """The frame of an array in a .npz file, or of a sheet of an Excel file."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile has many ways to say that a file is damaged
        raise TableError(f"{file.source} is a damaged .npz file; write it again.") from error
    size = sum(member.file_size for member in members)
    check_tight(size, file.path.stat().st_size, file.source)
    check_memory(size, file.source)
    names = [member.filename for member in members]
    if _SHEETS in names:
        return _read_excel(file)
    arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
    if len(arrays) != len(names) or not arrays:
        raise TableError(f"{file.source} is a zip archive of other files than arrays; save the "
                         "table as CSV.")  # fmt: skip
    name = _chosen(arrays, file)
    try:
        with np.load(file.path, allow_pickle=False) as archive:
            return _frame(archive[name], file)
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise _refused(error, file) from error


def _chosen(arrays: list[str], file: File) -> str:
    """The array to read: the only one, or the one that was named."""
    if file.array in arrays or (file.array is None and len(arrays) == 1):
        return file.array or arrays[0]
    if file.array is not None:
        raise TableError(
            f"{file.source} holds no array '{shown(file.array)}'; choose from {listed(arrays)}."
        )
    raise TableError(
        f"{file.source} holds {len(arrays)} arrays, {listed(arrays)}; name one, such as "
        f"--array {shown(arrays[0])}."
    )


def _refused(error: Exception, file: File) -> TableError:
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return TableError(
            f"{file.source} holds Python objects, which are never opened; save numbers, or the "
            "table as Parquet or CSV."
        )
    return TableError(f"{file.source} is damaged and cannot be read; write it again.")


def _frame(array: np.ndarray, file: File) -> pandas.DataFrame:
    pandas = needed("pandas")
    names = array.dtype.names
    width = array.shape[1] if array.ndim == 2 else 1
    check_names(names or numbered_names(width), file.source)
    check_memory(8.0 * math.prod(array.shape), file.source)
    if names is not None and array.ndim == 1:
        frame = pandas.DataFrame({name: _plain(array[name], 1, file) for name in names})
    else:
        frame = pandas.DataFrame(_plain(array, 2, file), columns=numbered_names(width))
    check_dates(frame, file.source)
    return frame


def _plain(array: np.ndarray, axes: int, file: File) -> np.ndarray:
    """An array of numbers, dates or text as pandas knows them."""
    if array.ndim != axes or (axes == 2 and not array.shape[1]):
        raise TableError(
            f"{file.source} holds an array of shape {array.shape}; save one of shape "
            "(rows, columns)."
        )
    if array.dtype.kind not in _KINDS or not array.dtype.itemsize:  # any number takes no bytes
        raise TableError(f"{file.source} holds values of type {array.dtype}; save numbers or text.")
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return np.array(array, dtype=array.dtype.newbyteorder("="))


def _read_excel(file: File) -> pandas.DataFrame:
    """The frame of a sheet: the one that was named, or the first; its first row has the names."""
    pandas = needed("pandas")
    try:
        with pandas.ExcelFile(file.path, engine="openpyxl") as book:
            sheet = book.sheet_names[0] if file.array is None else file.array
            if sheet not in book.sheet_names:
                raise TableError(
                    f"{file.source} holds no sheet '{shown(sheet)}'; choose from "
                    f"{listed(book.sheet_names)}."
                )
            cells = book.parse(sheet, header=None, keep_default_na=False, na_values=[""])
            frame = cells.dropna(how="all").dropna(how="all", axis=1)
    except (TableError, MemoryError):
        raise
    except ImportError as error:
        raise TableError(
            f'{file.source} is an Excel file; pip install "dogc[excel]" to read it, or save it as '
            "CSV."
        ) from error
    except Exception as error:  # a damaged file can raise nearly anything
        raise TableError(f"{file.source} is a damaged Excel file; write it again.") from error
    if len(frame) < 2:
        raise TableError(f"{file.source} has no rows below its header; give a table with rows.")
    made_up = numbered_names(frame.shape[1])
    names = [made_up[place] if pandas.isna(cell) else str(cell)
             for place, cell in enumerate(frame.iloc[0])]  # fmt: skip
    check_names(names, file.source)
    frame = frame.iloc[1:].set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    check_dates(frame, file.source)
    return frame
