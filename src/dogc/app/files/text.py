"""Text files of rows and delimiters, as Arrow tables of text, chunk by chunk."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from ...encoding.errors import TableError, check_names, listed, needed, numbered_names
from .opening import SAMPLE, File, not_text
from .sniffing import (
    Dialect,
    first_records,
    first_text,
    row_too_long,
    sniff,
    words_above_numbers,
)

CHUNK_BYTES = 1 << 22


def text_tables(files: Sequence[File]) -> Iterator[Any]:
    """The rows of text files with the same columns; each gives a table at least, perhaps empty.

    Parameters
    ----------
    files : sequence of File
        The first says how all are written. The others may repeat the names of columns or not.

    Yields
    ------
    table : pyarrow.Table
        The next rows. All columns are text.
    """
    dialect = sniff(files[0])
    names = numbered_names(dialect.columns)
    if dialect.header:
        names = filled_names(_first_rows(files[0], dialect)[0])
        check_names(names, files[0].source)
    for file in files:
        header = dialect.header if file is files[0] else _has_header(file, dialect, names, files[0])
        for table in _tables(file, dialect):
            yield table.slice(int(header)).rename_columns(names)
            header = False


def _first_rows(file: File, dialect: Dialect) -> list[list[str]]:
    text, complete = first_text(file)
    return first_records(text, dialect.delimiter, complete)


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


def _has_header(file: File, dialect: Dialect, names: Sequence[str], first: File) -> bool:
    """Whether a file repeats the names of the first one."""
    records = _first_rows(file, dialect)
    named = len(records) > 1 and words_above_numbers(records)
    if not records or not (dialect.header or named):
        return False
    found = filled_names(records[0])
    if not dialect.header:
        raise TableError(
            f"{file.source} begins with the names of columns and {first.source} does not; give "
            "names to the first file or to none."
        )
    if found != list(names) and sorted(found) == sorted(names):
        raise TableError(
            f"{file.source} has its columns in another order than {first.source}; write them in "
            "the same order."
        )
    if named:
        check_same(names, found, first, file)
    return found == list(names)


def check_same(expected: Sequence[str], found: Sequence[str], first: File, other: File) -> None:
    """Refuse a file that does not have the columns of the first one."""
    lacking = [name for name in expected if name not in set(found)]
    more = [name for name in found if name not in set(expected)]
    if lacking or more:
        faults = [f"lacks {listed(lacking, 5)}"] * bool(lacking)
        faults += [f"has {listed(more, 5)} too"] * bool(more)
        raise TableError(
            f"{other.source} does not have the columns of {first.source}: it "
            f"{' and '.join(faults)}; give files with the same columns."
        )


def _tables(file: File, dialect: Dialect) -> Iterator[Any]:
    """The rows of a file, the header among them, in tables of about 16 MB."""
    arrow, arrow_csv = needed("pyarrow"), needed("pyarrow.csv")
    cells = {f"f{place}": arrow.string() for place in range(dialect.columns)}
    options = (
        arrow_csv.ReadOptions(
            use_threads=False, block_size=CHUNK_BYTES, autogenerate_column_names=True
        ),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=cells),  # no types and no gaps yet
    )
    last = None
    with open(file.path, "rb") as stream:
        text = _Text(stream, file)
        try:
            for batch in arrow_csv.open_csv(text, *options):
                last = arrow.Table.from_batches([batch])
                if last.num_columns != dialect.columns:
                    raise _faults(file, dialect) or open_quote(1, file)
                yield last
        except arrow.ArrowInvalid as error:
            raise _explained(file, dialect, str(error)) from error
    ended = text.tail.rstrip().endswith(b'"')  # as a cell of several lines must
    if last and not ended and "\n" in last.columns[-1][-1].as_py():
        raise _faults(file, dialect) or open_quote(None, file)


class _Text:
    """A file as Arrow reads it: without NUL bytes, its last line ended."""

    closed = False

    def __init__(self, stream: Any, file: File):
        self._stream, self._file = stream, file
        self._bytes, self._size = 0, file.path.stat().st_size
        self.tail = b""

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size - 1)  # room for the end of the last line
        if (place := data.find(b"\0")) >= 0:
            raise not_text(self._file, f"it has a NUL byte at byte {self._bytes + place + 1}")
        self._bytes += len(data)
        if data and self._bytes == self._size and not data.endswith((b"\n", b"\r")):
            data += b"\n"  # Arrow finds no row in a single line without an end
        self.tail = (self.tail + data[-SAMPLE:])[-SAMPLE:]
        return data

    def close(self) -> None:
        self.closed = True


def _explained(file: File, dialect: Dialect, reason: str) -> TableError:
    """Why a file is no table, and in which line."""
    if found := _not_utf8(file) or _faults(file, dialect):
        return found
    if "straddling" in reason:
        return row_too_long(file.source)
    plain = " ".join(reason.split())[:200].rstrip(".")
    return TableError(f"{file.source} cannot be read as a table: {plain}.")


def _not_utf8(file: File) -> TableError | None:
    start = 0
    with open(file.path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                where = f"byte {start + error.start + 1}, in line {number}"
                return TableError(
                    f"{file.source} is not UTF-8 text ({where}); convert it, say with iconv "
                    "-f LATIN1 -t UTF-8."
                )
            start += len(line)
    return None


def _faults(file: File, dialect: Dialect) -> TableError | None:
    """The first row with more or fewer cells than the first row, or with a quote left open."""
    with open(file.path, encoding="utf-8-sig", errors="replace", newline="") as lines:
        end, last = 0, ""
        for number, text in enumerate(lines, start=1):
            end, last = (number, text) if text.strip() else (end, last)
        lines.seek(0)
        rows, line = csv.reader(lines, delimiter=dialect.delimiter), 1
        try:
            for row in rows:
                if row and line < rows.line_num >= end and not last.rstrip().endswith('"'):
                    return open_quote(line, file)  # it ate all rows after it
                if row and len(row) != dialect.columns:
                    return _wrong_length(line, len(row), dialect.columns, file)
                line = rows.line_num + 1
        except csv.Error:  # a cell longer than any
            return open_quote(line, file)
    return None


def open_quote(line: int | None, file: File) -> TableError:
    """The error for a quote that is never closed."""
    where = file.source if line is None else f"line {line} of {file.source}"
    return TableError(
        f"a quote in {where} is not closed; close it, or double it if it is meant as a character."
    )


def _wrong_length(line: int, found: int, columns: int, file: File) -> TableError:
    cells = "1 cell" if found == 1 else f"{found} cells"
    return TableError(
        f"line {line} of {file.source} has {cells}, but the first has {columns}; give every row "
        "the same number."
    )
