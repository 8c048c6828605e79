"""Where a text file can be cut: byte ranges that end where a row ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .limits import LONGEST_ROW, row_too_long
from .opening import Origin
from .sniffing import Dialect

_QUOTE = ord('"')


class State(NamedTuple):
    """What must be known of all bytes before a block."""

    inside: bool = False  # between quotes
    before: int = ord("\n")  # the byte before the block; a file begins like a row


def row_ranges(
    file: Any, size: int, dialect: Dialect, line_end: bytes, origin: Origin
) -> Iterator[tuple[int, int]]:
    """The byte ranges of a text file, each about ``size`` bytes of whole rows.

    Parameters
    ----------
    file : file
        Of bytes, at its start. It is read once, from start to end.
    size : int
        How many bytes are read at a time.
    dialect : Dialect
        How the file is written; a quote means something only where a cell begins.
    line_end : bytes
        One byte.
    origin : Origin
        Where the bytes come from.

    Yields
    ------
    start, stop : int
        The next range.
    """
    start = offset = 0
    state = State()
    while block := _whole_quotes(file, size):
        cut, state = last_row_end(block, state, dialect.delimiter, line_end)
        if cut:
            yield start, offset + cut
            start = offset + cut
        offset += len(block)
        if offset - start > LONGEST_ROW:
            raise row_too_long(origin.source)
    if offset > start:
        yield start, offset


def _whole_quotes(file: Any, size: int) -> bytes:
    """The next block; two quotes that mean one are not torn apart."""
    block = file.read(size)
    while block.endswith(b'"') and (more := file.read(1)):
        block += more
    return block


def last_row_end(
    block: bytes, state: State, delimiter: str, line_end: bytes = b"\n"
) -> tuple[int, State]:
    """The place after the last row end in a block that no quotes enclose, 0 if there is none.

    Returns
    -------
    cut : int
        How many bytes of the block belong to rows that end in it.
    state : State
        After the block.

    Examples
    --------
    >>> last_row_end(b'1,"a\\nb"\\n2,"c\\n', State(), ",")
    (8, State(inside=True, before=10))
    """
    if _QUOTE not in block:
        cut = 0 if state.inside else block.rfind(line_end) + 1
        return cut, State(state.inside, block[-1])
    turns = _turns(block, state, delimiter)
    after = State((len(turns) + state.inside) % 2 == 1, block[-1])
    last = int(turns[-1]) if len(turns) else -1
    if not after.inside and (cut := block.rfind(line_end, last + 1) + 1):
        return cut, after
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == line_end[0])
    outside = (np.searchsorted(turns, ends) + state.inside) % 2 == 0
    free = ends[outside]
    return (int(free[-1]) + 1 if len(free) else 0), after


def _turns(block: bytes, state: State, delimiter: str) -> np.ndarray:
    """The quotes at which an enclosed text begins or ends.

    Two quotes that mean one may stand for an end and a beginning. So all quotes turn, if every
    second one stands where a cell begins or behind another quote.
    """
    array = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(array == _QUOTE)
    opening = quotes[int(state.inside) :: 2]
    before = np.where(opening > 0, array[opening - 1], state.before)
    begins = np.isin(before, np.frombuffer(f'{delimiter}\n\r"'.encode(), dtype=np.uint8))
    return quotes if begins.all() else _turns_one_by_one(block, quotes, state, delimiter)


def _turns_one_by_one(block: bytes, quotes: np.ndarray, state: State, delimiter: str) -> np.ndarray:
    """The same where quotes stand in the middle of cells, as in 5" pipes."""
    beginnings = f"{delimiter}\n\r".encode()
    inside, skipped, turns = state.inside, -1, []
    for place in quotes.tolist():
        if place == skipped:
            continue
        if inside and block[place + 1 : place + 2] == b'"':
            skipped = place + 1
        elif inside or (block[place - 1] if place else state.before) in beginnings:
            turns.append(place)
            inside = not inside
    return np.array(turns, dtype=np.int64)
