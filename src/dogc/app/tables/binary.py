"""Parquet and Feather files."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..._words import shown
from .limits import check_columns, check_memory
from .opening import Origin
from .packed_sizes import feather_size, parquet_file, parquet_size, spelled_out
from .table import TableError, check_dates, different_names, needed

if TYPE_CHECKING:
    import pandas

_EXACT = 2**53


def read_parquet(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a Parquet file."""
    with sound(origin, "Parquet"):
        file, coded = parquet_file(needed("pyarrow").BufferReader(data), origin.source)
        check_memory(parquet_size(file), origin.source)
        table = spelled_out(valid(file.read()), coded, origin.source)
    return frame_of_arrow(table, origin)


def read_feather(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame of a Feather file."""
    arrow = needed("pyarrow")
    with sound(origin, "Feather"):
        if data.startswith(b"FEA1"):  # of old; nothing in it is packed
            table = needed("pyarrow.feather").read_table(arrow.BufferReader(data))
        else:
            check_memory(feather_size(data), origin.source)
            # The messages whose sizes are known, not those that the end of the file points to.
            table = needed("pyarrow.ipc").open_stream(arrow.py_buffer(data).slice(8)).read_all()
            if not data.endswith(b"ARROW1"):
                raise EOFError("the end is missing")
        valid(table)
    return frame_of_arrow(table, origin)


@contextlib.contextmanager
def sound(origin: Origin, kind: str) -> Iterator[None]:
    """What goes wrong inside is the file's fault."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many ways to say that a file is damaged
        raise damaged(origin, kind) from error


def stream_parquet(path: pathlib.Path, origin: Origin, rows: int) -> Iterator[pandas.DataFrame]:
    """The frames of a Parquet file, some rows at a time."""
    arrow = needed("pyarrow")
    with sound(origin, "Parquet"):
        file, coded = parquet_file(path, origin.source)
        with file:
            for batch in file.iter_batches(batch_size=rows):
                table = valid(arrow.Table.from_batches([batch]))
                yield frame_of_arrow(spelled_out(table, coded, origin.source), origin)


def valid(table: Any) -> Any:
    """The table, if its columns are sound: Arrow reads them unchecked, and a bad one crashes."""
    table.validate(full=True)
    _ = table.column_names  # which may be no text
    return table


def damaged(origin: Origin, kind: str) -> TableError:
    """The error for a file that cannot be read."""
    return TableError(f"{origin.source} is a damaged {kind} file; write it again.")


def frame_of_arrow(table: Any, origin: Origin) -> pandas.DataFrame:
    """The frame of an Arrow table; an index that pandas wrote is a column like others."""
    names = [frame_name(name) for name in table.column_names]
    different_names(names, origin.source)
    check_columns(len(names), origin.source)
    if not names:
        raise TableError(f"{origin.source} has no columns; give a table with some.")
    check_memory(8 * table.num_rows * len(names), origin.source)
    arrow = needed("pyarrow")
    try:
        columns = [_known(column) for column in table.columns]
        frame = arrow.table(columns, names=names).to_pandas(ignore_metadata=True)
    except MemoryError:
        raise
    except Exception as error:  # dates beyond all calendars, unknown time zones
        for name, column in zip(names, table.columns, strict=True):
            with contextlib.suppress(Exception):
                _known(column).to_pandas()
                continue
            raise TableError(
                f"column '{shown(name)}' of {origin.source} holds values of type "
                f"{shown(column.type)} that cannot be shown; write them as numbers or text, or "
                "leave the column out."
            ) from error
        raise
    check_dates(frame, origin.source)
    return frame


def frame_name(name: str) -> str:
    """The name of a column in a frame."""
    # pandas writes an index under such a name if it has none.
    return name if name != "__index_level_0__" else "index"


def _known(column: Any) -> Any:
    """A column in a type that frames have: bytes are text, as old programs write it."""
    arrow = needed("pyarrow")
    types, kind = arrow.types, column.type
    bytewise = (
        types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    )  # fmt: skip
    if not any(is_bytes(kind) for is_bytes in bytewise):
        return _exact(column)
    cells = [
        cell if cell is None else cell.decode("utf-8", "replace") for cell in column.to_pylist()
    ]
    return arrow.chunked_array([arrow.array(cells, arrow.string())])


def _exact(column: Any) -> Any:
    """Whole numbers with gaps become float64 in a frame; those it cannot hold become text."""
    arrow, compute = needed("pyarrow"), needed("pyarrow.compute")
    if not (arrow.types.is_integer(column.type) and 0 < column.null_count < len(column)):
        return column
    span = compute.min_max(column).as_py()
    inexact = max(abs(span["min"]), abs(span["max"])) > _EXACT
    return column.cast(arrow.string()) if inexact else column
