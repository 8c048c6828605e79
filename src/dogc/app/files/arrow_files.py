"""Parquet files, chunk by chunk, and Feather files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..._words import shown
from ...encoding.errors import TableError, check_names, needed
from .opening import File
from .text import check_same

if TYPE_CHECKING:
    import pandas

CHUNK_CELLS, MOST_ROWS = 1 << 20, 1 << 16
# Whole numbers, which keep their digits beside gaps.
_WHOLE = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_NO_NAME = "__index_level_0__"  # under which pandas writes an index that has none


def parquet_tables(files: Sequence[File]) -> Iterator[Any]:
    """The rows of Parquet files with the same columns, in the types that hold those of all files.

    Yields
    ------
    table : pyarrow.Table
        The next rows.
    """
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    schemas = []
    for file in files:
        with sound(file, "Parquet"), open(file.path, "rb") as stream:
            schemas.append(parquet.read_schema(stream).remove_metadata())
            _ = schemas[-1].names  # which may be no text
        check_names(schemas[-1].names, file.source)
        check_same(schemas[0].names, schemas[-1].names, files[0], file)
    try:
        schema = arrow.unify_schemas(schemas, promote_options="permissive")
    except arrow.ArrowException as error:
        raise TableError(
            f"the columns of the files do not have the same types ({' '.join(str(error).split())});"
            " give them the same types."
        ) from error
    rows = max(1, min(MOST_ROWS, CHUNK_CELLS // max(len(schema.names), 1)))
    for file in files:
        with sound(file, "Parquet"), open(file.path, "rb") as stream:
            for batch in parquet.ParquetFile(stream).iter_batches(rows):
                table = arrow.Table.from_batches([batch]).select(schema.names)
                table.validate(full=True)  # Arrow reads columns unchecked, and a bad one crashes
                table = table if len(files) == 1 else table.cast(schema)
                yield table.rename_columns([_name(name) for name in schema.names])


def read_feather(file: File) -> pandas.DataFrame:
    """The frame of a Feather file."""
    with sound(file, "Feather"), open(file.path, "rb") as stream:
        table = needed("pyarrow.feather").read_table(stream)
        table.validate(full=True)
        names = [_name(name) for name in table.column_names]
        check_names(names, file.source)
    return frame_of_arrow(table.rename_columns(names), file.source)


def _name(name: str) -> str:
    return name if name != _NO_NAME else "index"


@contextlib.contextmanager
def sound(file: File, kind: str) -> Iterator[None]:
    """Whatever goes wrong inside is the file's fault."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many ways to say that a file is damaged
        raise TableError(f"{file.source} is a damaged {kind} file; write it again.") from error


def frame_of_arrow(table: Any, source: str) -> pandas.DataFrame:
    """The frame of an Arrow table; an index that pandas wrote is a column like others."""
    if not table.num_columns:
        raise TableError(f"{source} has no columns; give a table with some.")
    arrow, pandas = needed("pyarrow"), needed("pandas")
    try:
        # Old programs write text as bytes.
        columns = [column.cast(arrow.string()) if "binary" in str(column.type) else column
                   for column in table.columns]  # fmt: skip
        nullable = {arrow.from_numpy_dtype(name.lower()): getattr(pandas, f"{name}Dtype")()
                    for name in _WHOLE}  # fmt: skip
        gaps = any(column.null_count and arrow.types.is_integer(column.type) for column in columns)
        frame = arrow.table(columns, names=table.column_names).to_pandas(
            ignore_metadata=True, types_mapper=nullable.get if gaps else None
        )
        check_dates(frame)
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise TableError(
            f"{source} holds values that cannot be shown, such as dates beyond the year 9999 "
            f"({' '.join(str(error).split())}); correct them, or leave the column out."
        ) from error
    return frame


def check_dates(frame: pandas.DataFrame) -> None:
    """Raise where dates are in no calendar, before something that shows them fails."""
    for name in frame.columns[[kind.kind == "M" for kind in frame.dtypes]]:
        for date in (frame[name].min(), frame[name].max()):
            if date == date and not 1 <= date.year <= 9999:  # NaT equals nothing
                raise ValueError(f"the year {date.year} in column '{shown(name)}'")
