"""How large a table may be: its columns, a row of text, and all of it beside the free memory."""

from __future__ import annotations

import io
from typing import Any

from ..._limits import free_bytes
from .table import TableError

# Tables of genes have some 60,000 columns. Each takes about a millisecond and 50 kB until all is
# written, so that this many are a matter of minutes and a few GB.
MOST_COLUMNS = 100_000
# In bytes. The row of a table of that many columns is far shorter.
LONGEST_ROW = 1 << 24
# Bytes that are held for each byte of a file that is read whole: the file and its contents.
COPIES = 2.0
# Contents that are packed more tightly than this are a trap rather than a table, where they are
# many.
TIGHT, MANY = 200, 1 << 30
_BLOCK = 1 << 24


def check_columns(count: int, source: str) -> None:
    """Refuse a table of more columns than can be dealt with one by one."""
    if count > MOST_COLUMNS:
        raise TableError(
            f"{source} has {count:,} columns, and {MOST_COLUMNS:,} are the most that can be used; "
            "leave some out, or write the table the other way round if its rows are columns."
        )


def check_memory(needed: float, source: str, free: float | None = None) -> None:
    """Refuse what needs more bytes than are free."""
    free = free_bytes() if free is None else free
    if needed > free:
        raise TableError(
            f"{source} needs {needed / 1e9:.1f} GB of memory or more where {free / 1e9:.1f} GB are "
            "free; give fewer rows, or CSV or Parquet files that are not packed, which are read "
            "in parts where Dask is installed."
        )


def check_tight(size: int, packed: int, source: str) -> None:
    """Refuse contents that take far more room than the file they are packed in."""
    if size > max(MANY, TIGHT * packed):
        raise TableError(
            f"{source} unpacks to more than {TIGHT} times its size; unpack it, if it is a table."
        )


def read_whole(stream: Any, head: bytes, source: str, copies: float = COPIES) -> bytes:
    """All bytes of a stream after its head, unless so many copies of them have no room."""
    free = free_bytes()
    held = io.BytesIO()
    held.write(head)
    while block := stream.read(_BLOCK):
        held.write(block)
        check_memory(copies * held.tell(), source, free)
    return held.getvalue()


def row_too_long(source: str) -> TableError:
    """The error for text that goes on without an end of a row."""
    return TableError(
        f"{source} cannot be read as a table: a row is longer than {LONGEST_ROW >> 20} MB, or a "
        "quote is not closed."
    )
