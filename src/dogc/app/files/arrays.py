"""Tables that are read whole: arrays in .npy and .npz files, and sheets of Excel files."""

from __future__ import annotations

import contextlib
import warnings
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ..._extras import missing
from ..._words import shown
from ...encoding.errors import TableError, check_memory, check_names, listed, needed, numbered_names
from .arrow_files import check_dates, sound
from .opening import FORMATS, File, check_tight

if TYPE_CHECKING:
    import pandas


def read_npy(file: File) -> pandas.DataFrame:
    """The frame of a .npy file: its columns are c1, c2, ..."""
    with _sound(file, ".npy"):
        # A map of the file, so that a header cannot claim more than is there.
        return _frame(np.load(file.path, mmap_mode="r", allow_pickle=False), file)


def read_npz(file: File) -> pandas.DataFrame:
    """The frame of an array in a .npz file, or of a sheet of an Excel file."""
    with _sound(file, ".npz"), zipfile.ZipFile(file.path) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        check_tight(size, file.path.stat().st_size, file.source)
        check_memory(size, file.source)
        names = [member.filename for member in members]
        if "xl/workbook.xml" in names:
            return _read_excel(file)
        arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
        if not arrays:
            raise TableError(f"{file.source} is an archive without arrays; give {FORMATS}.")
        with np.load(file.path, allow_pickle=False) as arrays_of:
            return _frame(arrays_of[_chosen(arrays, "arrays", file)], file)


@contextlib.contextmanager
def _sound(file: File, kind: str) -> Iterator[None]:
    """Whatever goes wrong inside is the file's fault."""
    try:
        with sound(file, kind), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old files, which are read all the same
            yield
    except TableError as error:
        if "pickle" in (cause := str(error.__cause__)) or "Python objects" in cause:
            raise TableError(
                f"{file.source} holds Python objects, which are never opened; save numbers, or the "
                "table as Parquet or CSV."
            ) from error
        raise


def _chosen(names: list[str], what: str, file: File) -> str:
    """The array or the sheet to read: the one that was named, the only one or the first sheet."""
    if file.array is None and (len(names) == 1 or what == "sheets"):
        return names[0]
    if file.array in names:
        return file.array
    raise TableError(
        f"{file.source} holds the {what} {listed(names)}; name one of them, such as --array "
        f"{shown(names[0])}."
    )


def _frame(array: np.ndarray, file: File) -> pandas.DataFrame:
    """The frame of an array of numbers, dates or text."""
    if array.ndim > 2 and file.flat and array.size:
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or not array.shape[1]:
        remedy = "save one of shape (rows, columns)."
        if array.ndim > 2 and array.size:
            remedy = f"--flatten makes it one of shape {(len(array), array.size // len(array))}."
        raise TableError(f"{file.source} holds an array of shape {array.shape}; {remedy}")
    if array.dtype.kind not in "biufUM" or array.dtype == np.longdouble != np.float64:
        raise TableError(f"{file.source} holds values of type {array.dtype}; save numbers or text.")
    names = numbered_names(array.shape[1])
    check_names(names, file.source)
    check_memory(8.0 * array.size, file.source)
    values = np.array(array, dtype=array.dtype.newbyteorder("="))
    return needed("pandas").DataFrame(values, columns=names)


def _read_excel(file: File) -> pandas.DataFrame:
    """The frame of a sheet: the one that was named, or the first; its first row has the names."""
    pandas = needed("pandas")
    if find_spec("openpyxl") is None:
        raise TableError(missing("openpyxl", f"{file.source}, an Excel file,"))
    with sound(file, "Excel"), pandas.ExcelFile(file.path, engine="openpyxl") as book:
        sheet = _chosen(book.sheet_names, "sheets", file)
        cells = book.parse(sheet, header=None, keep_default_na=False, na_values=[""])
        frame = cells.dropna(how="all").dropna(how="all", axis=1)
    if len(frame) < 2:
        raise TableError(f"{file.source} has no rows below its header; give a table with rows.")
    made_up = numbered_names(frame.shape[1])
    names = [made_up[place] if pandas.isna(cell) else str(cell)
             for place, cell in enumerate(frame.iloc[0])]  # fmt: skip
    check_names(names, file.source)
    frame = frame.iloc[1:].set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    with sound(file, "Excel"):
        check_dates(frame)
    return frame
