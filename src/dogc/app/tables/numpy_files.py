"""Arrays in .npy and .npz files."""

from __future__ import annotations

import io
import math
import sys
import warnings
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from ..._words import shown
from .excel import read_excel
from .limits import check_columns, check_memory, check_tight
from .opening import Origin
from .table import TableError, check_dates, different_names, listed, needed, numbered_names

if TYPE_CHECKING:
    import pandas

_CELL = 8  # bytes that a cell of a frame takes
_KINDS = "biufUSM"


def read_npy(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a .npy file: its columns are c1, c2, ... or the fields of its rows."""
    array = _load(data, origin)
    try:
        frame = _frame(array, origin)
        check_dates(frame, origin.source)
        return frame
    except (TableError, MemoryError):
        raise
    except Exception as error:  # letters and dates that are none
        raise _refused(error, origin) from error


def read_npz(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of the one array in a .npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile has many ways to say that a file is damaged
        raise TableError(f"{origin.source} is a damaged .npz file; write it again.") from error
    names = [member.filename for member in members]
    if "xl/workbook.xml" in names:
        return read_excel(data, members, origin)
    arrays = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
    if len(arrays) != len(members) or not arrays:
        is_excel = origin.suffix.startswith(".xls")
        what = "an Excel file" if is_excel else "a zip archive of other files than arrays"
        raise TableError(f"{origin.source} is {what}; save the table as CSV.")
    member = members[_chosen(arrays, origin)]
    check_tight(member.file_size, member.compress_size, origin.source)
    check_memory(2 * member.file_size, origin.source)
    try:
        return read_npy(content_of(data, member), origin)
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise _refused(error, origin) from error


def _chosen(arrays: list[str], origin: Origin) -> int:
    """The place of the array to read: the only one, or the one that was named."""
    if origin.array in arrays:
        return arrays.index(origin.array)
    if origin.array is not None:
        raise TableError(
            f"{origin.source} holds no array '{shown(origin.array)}'; choose from {listed(arrays)}."
        )
    if len(arrays) > 1:
        raise TableError(
            f"{origin.source} holds {len(arrays)} arrays, {listed(arrays)}; name one, such as "
            f"--array {shown(arrays[0])}."
        )
    return 0


def content_of(data: bytes, member: zipfile.ZipInfo) -> bytes:
    """What a member of an archive holds, of which no more is unpacked than it says."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("NumPy packs in no other way; these unpack to any length at once")
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member) as file:
        content = file.read(member.file_size + 1)  # without a number all is unpacked at once
    if len(content) != member.file_size:
        raise EOFError("it is not as long as it says")
    return content


def _load(data: bytes, origin: Origin) -> np.ndarray:
    """The array of a .npy file whose header says what is there."""
    file = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old files, which are read all the same
            old = np.lib.format.read_magic(file) == (1, 0)
            header = "read_array_header_1_0" if old else "read_array_header_2_0"
            shape, _, dtype = getattr(np.lib.format, header)(file)
            cells = math.prod(shape)
            there = dtype.hasobject or cells * dtype.itemsize <= len(data) - file.tell()
            check_memory(_CELL * cells * there, origin.source)
            check_columns(shape[1] if len(shape) == 2 else 1, origin.source)
            if not there:
                raise EOFError("there are fewer bytes than the header says")
            file.seek(0)
            return np.asarray(np.load(file, allow_pickle=False))
    except (TableError, MemoryError):
        raise
    except Exception as error:  # a damaged header can raise nearly anything
        raise _refused(error, origin) from error


def _refused(error: Exception, origin: Origin) -> TableError:
    if "Header info length" in str(error):  # its words name pickles too
        return TableError(
            f"{origin.source} has too long a header; save the table as Parquet or CSV."
        )
    if "allow_pickle" in str(error):
        return TableError(
            f"{origin.source} holds Python objects, which are never opened; save numbers, or the "
            "table as Parquet or CSV."
        )
    return TableError(f"{origin.source} is damaged and cannot be read; write it again.")


def _frame(array: np.ndarray, origin: Origin) -> pandas.DataFrame:
    pandas = needed("pandas")
    names = array.dtype.names
    if names is not None and array.ndim == 1:
        different_names(names, origin.source)
        return pandas.DataFrame({name: _plain(array[name], 1, origin) for name in names})
    plain = _plain(array, 2, origin)
    return pandas.DataFrame(plain, columns=numbered_names(plain.shape[1]))


def _plain(array: np.ndarray, axes: int, origin: Origin) -> np.ndarray:
    """An array of numbers, dates or text as pandas knows them."""
    if array.ndim != axes or (axes == 2 and not array.shape[1]):
        raise TableError(
            f"{origin.source} holds an array of shape {array.shape}; save one of shape "
            "(rows, columns)."
        )
    if array.dtype.kind not in _KINDS or not array.dtype.itemsize:  # any number takes no bytes
        raise TableError(
            f"{origin.source} holds values of type {array.dtype}; save numbers or text."
        )
    if array.dtype.kind == "U" and not _letters(array):
        raise _refused(ValueError("no letters"), origin)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _letters(array: np.ndarray) -> bool:
    """Whether text holds nothing but letters: any number may stand in place of one."""
    plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
    codes = plain.reshape(-1).view(np.uint32) if array.dtype.itemsize else np.empty(0, np.uint32)
    return not ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any()
