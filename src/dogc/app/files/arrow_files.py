"""Parquet files, chunk by chunk, and Feather files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..._words import shown
from ...encoding.errors import TableError, check_memory, check_names, needed
from .opening import File
from .text import check_same

if TYPE_CHECKING:
    import pandas

CHUNK_CELLS, MOST_ROWS = 1 << 21, 1 << 17
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
    check_memory(2 * file.path.stat().st_size, file.source)
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
    check_memory(8 * table.num_rows * table.num_columns, source)
    columns = [_text_of_bytes(column) for column in table.columns]
    plain = needed("pyarrow").table(columns, names=table.column_names)
    try:
        frame = plain.to_pandas(ignore_metadata=True)
    except MemoryError:
        raise
    except Exception as error:  # dates beyond all calendars, unknown time zones
        for name, column in zip(plain.column_names, plain.columns, strict=True):
            with contextlib.suppress(Exception):
                column.to_pandas()
                continue
            raise TableError(
                f"column '{shown(name)}' of {source} holds values of type {shown(column.type)} "
                "that cannot be shown; write them as numbers or text, or leave the column out."
            ) from error
        raise
    check_dates(frame, source)
    return frame


def _text_of_bytes(column: Any) -> Any:
    """A column of bytes, as old programs write text, as text; others as they are."""
    arrow = needed("pyarrow")
    types, kind = arrow.types, column.type
    bytewise = (
        types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    )  # fmt: skip
    if not any(is_bytes(kind) for is_bytes in bytewise):
        return column
    cells = (cell if cell is None else cell.decode("utf-8", "replace") for cell in
             column.to_pylist())  # fmt: skip
    return arrow.chunked_array([arrow.array(list(cells), arrow.string())])


def check_dates(frame: pandas.DataFrame, source: str) -> None:
    """Refuse dates that no calendar has, before something that shows them fails."""
    for name in frame.columns[[kind.kind == "M" for kind in frame.dtypes]]:
        dates = frame[name].dropna()
        years = [dates.min().year, dates.max().year] if len(dates) else []
        beyond = [year for year in years if not 1 <= year <= 9999]
        if beyond:
            raise TableError(
                f"column '{shown(name)}' of {source} holds a date in the year {beyond[0]}; correct "
                "it, or leave the column out."
            )
