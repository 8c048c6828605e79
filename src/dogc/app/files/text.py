"""Text files of rows and delimiters, as Arrow tables of text, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..._words import shown
from ...encoding.errors import TableError, check_names, listed, needed, numbered_names
from .opening import SAMPLE, File, not_text
from .sniffing import (
    Dialect,
    dialect_of,
    first_records,
    first_text,
    row_too_long,
    words_above_numbers,
)

CHUNK_BYTES = 1 << 22
# The words of Arrow for a row of another length than the first.
_WRONG_LENGTH = re.compile(
    r"Row #(?P<number>\d+): Expected (?P<expected>\d+) columns, got (?P<found>\d+): (?P<text>.*)",
    re.S,
)


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
    dialect = dialect_of(*first_text(files[0]), files[0])
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
    if not records or not dialect.header:
        return False
    found = filled_names(records[0])
    if found != list(names) and words_above_numbers(records):
        check_same(names, found, first, file)
        raise TableError(
            f"{file.source} has its columns in another order than {first.source}; write them in "
            "the same order."
        )
    return found == list(names)


def check_same(expected: Sequence[str], found: Sequence[str], first: File, other: File) -> None:
    """Refuse a file that does not have the columns of the first one."""
    lacking = [name for name in expected if name not in set(found)]
    more = [name for name in found if name not in set(expected)]
    if lacking or more:
        raise TableError(
            f"{other.source} does not have the columns of {first.source}: it lacks "
            f"{listed(lacking, 5) or 'none'} and has {listed(more, 5) or 'none'} besides; give "
            "files with the same columns."
        )


def _tables(file: File, dialect: Dialect) -> Iterator[Any]:
    """The rows of a file, the header among them, in tables of about 4 MB."""
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
                    raise open_quote(file)
                yield last
        except arrow.ArrowInvalid as error:
            raise _explained(file, str(error)) from error
    ended = text.tail.rstrip().endswith(b'"')  # as a cell of several lines must
    if last and not ended and "\n" in last.columns[-1][-1].as_py():
        raise open_quote(file)


class _Text:
    """A file as Arrow reads it, its last line ended."""

    closed = False

    def __init__(self, stream: Any, file: File):
        self._stream, self._file = stream, file
        self._left, self.tail = file.path.stat().st_size, b""

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size - 1)  # room for the end of the last line
        if b"\0" in data:
            raise not_text(self._file, "it has a NUL byte")
        self._left -= len(data)
        if data and not self._left and not data.endswith((b"\n", b"\r")):
            data += b"\n"  # Arrow finds no row in a single line without an end
        self.tail = (self.tail + data[-SAMPLE:])[-SAMPLE:]
        return data

    def close(self) -> None:
        self.closed = True


def _explained(file: File, reason: str) -> TableError:
    """Why a file is no table."""
    if row := _WRONG_LENGTH.search(reason):
        cells = "1 cell" if row["found"] == "1" else f"{row['found']} cells"
        return TableError(
            f"row {row['number']} of {file.source} ('{shown(row['text'])}') has {cells}, but the "
            f"first has {row['expected']}; give every row the same number."
        )
    if "UTF8" in reason:
        return TableError(
            f"{file.source} is not UTF-8 text; convert it, say with iconv -f LATIN1 -t UTF-8."
        )
    if "Empty CSV" in reason:  # though it begins with text
        return open_quote(file)
    if "straddling" in reason:
        return row_too_long(file.source)
    plain = " ".join(reason.split())[:200].rstrip(".")
    return TableError(f"{file.source} cannot be read as a table: {plain}.")


def open_quote(file: File) -> TableError:
    """The error for a quote that is never closed."""
    return TableError(
        f"a quote in {file.source} is not closed; close it, or double it if it is meant as a "
        "character."
    )
