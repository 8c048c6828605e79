"""Parquet, Feather and NumPy files."""

from __future__ import annotations

import io
import pathlib
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .opening import Origin
from .table import TableError, different_names, listed, needed, numbered_names

if TYPE_CHECKING:
    import pandas

_EXACT = 2**53


def read_parquet(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a Parquet file."""
    return _read_whole("pyarrow.parquet", "Parquet", data, origin)


def read_feather(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a Feather file."""
    return _read_whole("pyarrow.feather", "Feather", data, origin)


def _read_whole(module: str, kind: str, data: bytes, origin: Origin) -> pandas.DataFrame:
    reader = needed(module)
    try:
        table = valid(reader.read_table(io.BytesIO(data)))
    except Exception as error:  # pyarrow has many ways to say that a file is damaged
        raise damaged(origin, kind) from error
    return frame_of_arrow(table, origin)


def stream_parquet(path: pathlib.Path, origin: Origin, rows: int) -> Iterator[pandas.DataFrame]:
    """The frames of a Parquet file, some rows at a time."""
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=rows):
                yield frame_of_arrow(valid(arrow.Table.from_batches([batch])), origin)
    except (arrow.ArrowException, OSError) as error:
        raise damaged(origin, "Parquet") from error


def valid(table: Any) -> Any:
    """The table, if its columns are sound: Arrow reads them unchecked, and a bad one crashes."""
    table.validate(full=True)
    return table


def damaged(origin: Origin, kind: str) -> TableError:
    """The error for a file that cannot be read."""
    return TableError(f"{origin.source} is a damaged {kind} file; write it again.")


def frame_of_arrow(table: Any, origin: Origin) -> pandas.DataFrame:
    """The frame of an Arrow table; an index that pandas wrote is a column like others."""
    names = [frame_name(name) for name in table.column_names]
    different_names(names, origin.source)
    if not table.num_columns:
        raise TableError(f"{origin.source} has no columns; give a table with some.")
    columns = [_exact(column) for column in table.columns]
    return needed("pyarrow").table(columns, names=names).to_pandas(ignore_metadata=True)


def frame_name(name: str) -> str:
    """The name of a column in a frame."""
    # pandas writes an index under such a name if it has none.
    return name if name != "__index_level_0__" else "index"


def _exact(column: Any) -> Any:
    """Whole numbers with gaps become float64 in a frame; those it cannot hold become text."""
    arrow, compute = needed("pyarrow"), needed("pyarrow.compute")
    if not (arrow.types.is_integer(column.type) and 0 < column.null_count < len(column)):
        return column
    span = compute.min_max(column).as_py()
    inexact = max(abs(span["min"]), abs(span["max"])) > _EXACT
    return column.cast(arrow.string()) if inexact else column


def read_npy(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a .npy file, its columns c1, c2, ..."""
    return _frame_of_array(_load(data, origin), origin)


def read_npz(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of the one array in a .npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.namelist()
    except Exception as error:  # so has zipfile
        raise TableError(f"{origin.source} is a damaged .npz file; write it again.") from error
    arrays = [name.removesuffix(".npy") for name in members if name.endswith(".npy")]
    if len(arrays) != len(members) or not arrays:
        what = "an Excel file" if origin.suffix.startswith(".xls") else "a zip archive of no arrays"
        raise TableError(f"{origin.source} is {what}; save the table as CSV.")
    if len(arrays) > 1:
        raise TableError(
            f"{origin.source} holds {len(arrays)} arrays, {listed(arrays)}; save the one to use "
            "in a file of its own."
        )
    archive = _load(data, origin)
    try:
        array = archive[arrays[0]]
    except Exception as error:
        raise _refused(error, origin) from error
    return _frame_of_array(array, origin)


def _load(data: bytes, origin: Origin) -> Any:
    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a damaged header can raise nearly anything
        raise _refused(error, origin) from error


def _refused(error: Exception, origin: Origin) -> TableError:
    if "allow_pickle" in str(error):
        return TableError(
            f"{origin.source} holds Python objects, which are never opened; save numbers, or the "
            "table as Parquet or CSV."
        )
    return TableError(f"{origin.source} is damaged and cannot be read; write it again.")


def _frame_of_array(array: np.ndarray, origin: Origin) -> pandas.DataFrame:
    pandas = needed("pandas")
    if array.dtype.names is not None and array.ndim == 1:
        return pandas.DataFrame(array)
    if array.ndim != 2 or not array.shape[1]:
        raise TableError(
            f"{origin.source} holds an array of shape {array.shape}; save one of shape "
            "(rows, columns)."
        )
    if array.dtype.kind not in "biufUSM":
        raise TableError(
            f"{origin.source} holds values of type {array.dtype}; save numbers or text."
        )
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    return pandas.DataFrame(array, columns=numbered_names(array.shape[1]))
