"""How much memory packed Parquet and Feather files need, told before they are unpacked."""

from __future__ import annotations

import os
import pathlib
import struct
from collections.abc import Sequence
from typing import Any

from ..._limits import free_bytes
from .limits import check_columns, check_memory
from .table import needed

_CELL = 8  # bytes that a cell of a frame takes at least


def parquet_file(
    source: Any, name: str, group: int | None = None, **options: Any
) -> tuple[Any, list[str]]:
    """A Parquet file, and its columns of text that could be blown up by reading them.

    A dictionary holds each text once, however often it comes; nothing else in the file tells how
    long the texts are together. Where they might be too long, they are read as codes:
    :func:`spelled_out` makes them text. ``group`` is the only one that will be read.
    """
    arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    source = arrow_path(source)
    file = parquet.ParquetFile(source, **options)
    metadata, schema = file.metadata, file.schema_arrow
    check_columns(metadata.num_columns, name)
    # What row groups say of their columns is not asked: in damaged files, the answer aborts.
    groups = map(metadata.row_group, range(metadata.num_row_groups) if group is None else [group])
    most = sum(facts.num_rows * facts.total_byte_size for facts in groups)
    kinds = (arrow.string(), arrow.large_string(), arrow.binary(), arrow.large_binary())
    coded = [field.name for field in schema if field.type in kinds]
    if most <= free_bytes() or not coded:
        return file, []
    file.close()
    return parquet.ParquetFile(source, read_dictionary=coded, **options), coded


def arrow_path(source: Any) -> Any:
    """A path as Arrow opens it, or its bytes where its name is no text; others as they are."""
    try:
        os.fspath(source).encode()
    except UnicodeEncodeError:
        return needed("pyarrow").BufferReader(pathlib.Path(source).read_bytes())
    except TypeError:
        pass
    return source


def parquet_size(file: Any) -> int:
    """The bytes that the columns of a Parquet file take, but for texts that come again."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    cells = _CELL * file.metadata.num_columns
    return sum(max(facts.total_byte_size, cells * facts.num_rows) for facts in groups)


def spelled_out(table: Any, coded: Sequence[str], name: str) -> Any:
    """A table whose coded texts are text again, if there is room for them."""
    compute = needed("pyarrow.compute")
    places = [table.column_names.index(column) for column in coded if column in table.column_names]
    total = 0
    for place in places:
        for chunk in table.column(place).chunks:
            lengths = compute.binary_length(chunk.dictionary)
            total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    check_memory(2 * total, name)
    for place in places:
        column = table.column(place)
        table = table.set_column(
            place, table.column_names[place], column.cast(column.type.value_type)
        )
    return table


def feather_size(data: bytes) -> int:
    """The bytes that the columns of a Feather file unpack to; an exception if it is damaged.

    A file is a stream of messages between two marks. The header of a message says where its
    buffers are, and a packed buffer begins with its size.
    """
    arrow, ipc = needed("pyarrow"), needed("pyarrow.ipc")
    reader = ipc.MessageReader.open_stream(arrow.py_buffer(data).slice(8))
    return sum(_body_size(message) for message in reader)


def _body_size(message: Any) -> int:
    header = bytes(message.metadata)
    batch = _follow(header, _entry(header, _follow(header, 0), 2))
    if message.type == "dictionary":
        batch = _follow(header, _entry(header, batch, 1))
    elif message.type != "record batch":
        return 0
    if not _entry(header, batch, 3):  # not packed
        return int(message.body.size)
    buffers = _follow(header, _entry(header, batch, 2))
    (count,) = struct.unpack_from("<I", header, buffers)
    total = 0
    for place in range(count):
        offset, length = struct.unpack_from("<qq", header, buffers + 4 + 16 * place)
        if length:
            (size,) = struct.unpack_from("<q", message.body, offset)
            total += length if size == -1 else max(size, 0)
    return total


def _follow(header: bytes, place: int) -> int:
    """Where the offset at a place leads."""
    return int(place + struct.unpack_from("<I", header, place)[0])


def _entry(header: bytes, table: int, number: int) -> int:
    """Where an entry of a table of the header stands, 0 where it has none."""
    names = table - struct.unpack_from("<i", header, table)[0]
    place = 4 + 2 * number
    if place >= struct.unpack_from("<H", header, names)[0]:
        return 0
    offset = struct.unpack_from("<H", header, names + place)[0]
    return int(table + offset) if offset else 0
