"""Text files of rows and delimiters, as a whole or some rows at a time."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from .celltypes import typed
from .limits import LONGEST_ROW, read_whole, row_too_long
from .opening import Origin, check_text, not_text, not_utf8
from .sniffing import SAMPLE, Dialect, long_enough, sniff
from .table import TableError, different_names, needed, numbered_names

_BLOCK = 1 << 20
# Bytes in memory for each byte of a file that is read whole, and for each of its cells: the file,
# its text, the cells as text, as numbers, and as numbers of a frame.
COPIES, PER_CELL = 4, 20
_LINE_ENDS = (b"\n", b"\r")


def read_text(stream: BinaryIO, head: bytes, origin: Origin) -> Any:
    """The typed Arrow table of a whole text file; nothing is read after a header that is refused.

    Parameters
    ----------
    stream : file
        Gives the bytes after the head.
    head : bytes
        The first bytes, read already.
    origin : Origin
        Where the bytes come from.
    """
    head, dialect = _beginning(stream, head, origin)
    cells = head.count(dialect.delimiter.encode()) + head.count(b"\n")
    data = read_whole(stream, head, origin.source, COPIES + PER_CELL * cells / len(head))
    text = check_text(data, origin).removeprefix("\ufeff")
    table = parse_cells(data, text, dialect, origin)
    names = column_names(table, dialect, origin)
    table = table.slice(int(dialect.header))
    if not table.num_rows:
        raise TableError(f"{origin.source} has a header but no rows; give a table with rows.")
    return typed_table(table, names)


def _beginning(stream: BinaryIO, head: bytes, origin: Origin) -> tuple[bytes, Dialect]:
    """The first bytes of a text file, and how it is written."""
    while not long_enough(head) and (more := stream.read(max(SAMPLE, len(head)))):
        head += more
    more = stream.read(SAMPLE)
    if not more and not head.endswith(_LINE_ENDS):
        head += b"\n"
    sample = codecs.getincrementaldecoder("utf-8")("replace").decode(head).removeprefix("\ufeff")
    return head + more, sniff(sample, not more, origin)


def parse_cells(data: bytes, text: str, dialect: Dialect, origin: Origin) -> Any:
    """All rows, the header among them, as an Arrow table of text."""
    arrow, arrow_csv = needed("pyarrow"), needed("pyarrow.csv")
    if not data.endswith(_LINE_ENDS):
        data += b"\n"  # Arrow finds no row in a single line without an end
    sizes = [_BLOCK] if len(data) <= _BLOCK else [_BLOCK, LONGEST_ROW]
    for size in sizes:  # the second where a row is longer than a block
        read, parse, convert = csv_options(dialect, b'"' in data, size)
        try:
            table = arrow_csv.read_csv(arrow.BufferReader(data), read, parse, convert)
        except arrow.ArrowInvalid as error:
            reason = error
        else:
            if swallows(table, data[-SAMPLE:]):
                raise ragged(text, dialect, origin) or open_quote(None, origin)
            return table
    if len(data) > LONGEST_ROW and "straddling" in str(reason):
        raise row_too_long(origin.source)
    if '"' in text:
        raise ragged(text, dialect, origin) or open_quote(None, origin)
    raise ragged(text, dialect, origin) or TableError(
        f"{origin.source} cannot be read as a table: {' '.join(str(reason).split())[:200]}."
    )


def csv_options(
    dialect: Dialect, quotes: bool, block: int, threads: bool = True
) -> tuple[Any, Any, Any]:
    """What pyarrow.csv is to do: no types, no names, no missing values; these are ours."""
    arrow, arrow_csv = needed("pyarrow"), needed("pyarrow.csv")
    text = {f"f{place}": arrow.string() for place in range(dialect.columns)}
    return (
        arrow_csv.ReadOptions(
            use_threads=threads, block_size=block, autogenerate_column_names=True
        ),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=quotes),
        arrow_csv.ConvertOptions(column_types=text),
    )


def ragged(text: str, dialect: Dialect, origin: Origin, above: int = 0) -> TableError | None:
    """The first row that has more or fewer cells than the first, as an error.

    ``above`` is the number of lines before the text.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter)
    end = len(text.rstrip("\r\n").split("\n"))
    line = 1
    try:
        for row in rows:
            if row and line < rows.line_num >= end and not text.rstrip().endswith('"'):
                return open_quote(line + above, origin)  # it ate all rows after it
            if row and len(row) != dialect.columns:
                return _wrong_length(f"line {line + above}", len(row), dialect.columns, origin)
            line = rows.line_num + 1
    except csv.Error:  # a cell longer than any
        return open_quote(line + above, origin)
    return None


def swallows(table: Any, tail: bytes) -> bool:
    """Whether the last cell holds all rows after a quote that was never closed."""
    if not table.num_rows or "\n" not in table.columns[-1][-1].as_py():
        return False
    return not tail.rstrip().endswith(b'"')  # as a cell of several lines must


def open_quote(line: int | None, origin: Origin) -> TableError:
    """The error for a quote that is never closed."""
    where = origin.source if line is None else f"line {line} of {origin.source}"
    return TableError(
        f"a quote in {where} is not closed; close it, or double it if it is meant as a character."
    )


def _wrong_length(where: str, found: int, columns: int, origin: Origin) -> TableError:
    cells = "1 cell" if found == 1 else f"{found} cells"
    return TableError(
        f"{where} of {origin.source} has {cells}, but the first has {columns}; give every row "
        "the same number."
    )


def column_names(table: Any, dialect: Dialect, origin: Origin) -> list[str]:
    """The names in the first row, or c1, c2, ..."""
    if table.num_columns != dialect.columns:
        raise open_quote(1, origin)
    if not dialect.header:
        return numbered_names(dialect.columns)
    found = filled_names([str(column[0].as_py()) for column in table.columns])
    different_names(found, origin.source)
    return found


def filled_names(row: Sequence[str]) -> list[str]:
    """The names in a header; those that are empty are made up.

    Examples
    --------
    >>> filled_names(["", " x", ""])
    ['index', 'x', 'c3']
    """
    names = numbered_names(len(row))
    first = [cell.strip() for cell in row]
    # Where the first name is empty, somebody wrote row numbers or row names without one.
    names[0] = "index" if "index" not in first else names[0]
    return [name or substitute for name, substitute in zip(first, names, strict=True)]


def typed_table(table: Any, names: Sequence[str]) -> Any:
    """The same under names, with numbers where text says numbers."""
    return needed("pyarrow").table([typed(column) for column in table.columns], names=list(names))


def stream_text(stream: BinaryIO, head: bytes, origin: Origin, rows: int) -> Iterator[Any]:
    """The typed Arrow tables of a text file, some rows at a time.

    Parameters
    ----------
    stream : file
        Gives the bytes after the head.
    head : bytes
        The first bytes, read already.
    origin : Origin
        Where the bytes come from.
    rows : int
        How many rows a table has, but for the last.
    """
    head, dialect = _beginning(stream, head, origin)
    checked = _CheckedText(stream, head, origin)
    names: list[str] | None = None
    table: Any = None
    for table in _pieces(_batches(checked, dialect, origin), rows, int(dialect.header)):
        if names is None:
            names = column_names(table, dialect, origin)
            table = table.slice(int(dialect.header))
        if not table.num_rows:
            raise TableError(f"{origin.source} has a header but no rows; give a table with rows.")
        yield typed_table(table, names)
    if table is not None and swallows(table, checked.tail):
        raise open_quote(None, origin)


def _batches(stream: Any, dialect: Dialect, origin: Origin) -> Iterator[Any]:
    arrow, arrow_csv = needed("pyarrow"), needed("pyarrow.csv")
    try:
        # With threads, an error does not say in which row it is.
        yield from arrow_csv.open_csv(
            stream, *csv_options(dialect, True, LONGEST_ROW, threads=False)
        )
    except arrow.ArrowInvalid as error:
        found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error))
        if found:
            where = f"row {found[1]}" if found[1] else "a row"
            raise _wrong_length(where, int(found[3]), int(found[2]), origin) from error
        raise row_too_long(origin.source) from error


def _pieces(batches: Iterator[Any], rows: int, extra: int) -> Iterator[Any]:
    """The batches in tables of so many rows, the first with some extra."""
    arrow = needed("pyarrow")
    waiting: list[Any] = []
    wanted = rows + extra
    for batch in batches:
        waiting.append(batch)
        while sum(part.num_rows for part in waiting) >= wanted:
            table = arrow.Table.from_batches(waiting)
            yield table.slice(0, wanted)
            waiting = table.slice(wanted).to_batches()
            wanted = rows
    if waiting and sum(part.num_rows for part in waiting):
        yield arrow.Table.from_batches(waiting)


class _CheckedText:
    """A file of bytes that must be UTF-8 without NULs; says where they are not."""

    closed = False

    def __init__(self, stream: BinaryIO, head: bytes, origin: Origin):
        self._stream = stream
        self._head = head
        self._origin = origin
        self.tail = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._bytes, self._lines = 0, 1

    def read(self, size: int = -1) -> bytes:
        if self._head:
            size = len(self._head) if size < 0 else size
            data, self._head = self._head[:size], self._head[size:]
        else:
            data = self._stream.read(size)
        self._check(data)
        return data

    def _check(self, data: bytes) -> None:
        place = data.find(b"\0")
        if place >= 0:
            raise not_text(self._origin, f"it has a NUL byte at byte {self._bytes + place + 1}")
        held = len(self._decoder.getstate()[0])
        try:
            self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            byte = self._bytes - held + error.start
            line = self._lines + data.count(b"\n", 0, max(error.start - held, 0))
            raise not_utf8(self._origin, byte + 1, line) from error
        self.tail = (self.tail + data[-SAMPLE:])[-SAMPLE:]
        self._bytes += len(data)
        self._lines += data.count(b"\n")

    def close(self) -> None:
        self.closed = True
