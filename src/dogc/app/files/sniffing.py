"""How a text file is written: what separates its cells, and whether the first row names them."""

from __future__ import annotations

import codecs
import collections
import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from ...encoding.errors import TableError, check_columns
from ...encoding.values import DECIMAL_COMMA, NUMBER, date_format, is_missing
from .opening import SAMPLE, File

# In bytes. The row of a table of as many columns as there may be is far shorter.
LONGEST_ROW = 1 << 22
_DELIMITERS = ",\t;|"
_ROWS, _LINES = 200, 5
_CELLS = 20_000  # of wide tables, fewer rows tell enough


class Dialect(NamedTuple):
    """How a text file is written."""

    delimiter: str
    header: bool
    columns: int


def first_text(file: File) -> tuple[str, bool]:
    """The first rows of a text file, and whether these are all of it."""
    with open(file.path, "rb") as stream:
        head = stream.read(SAMPLE)
        # Enough rows to judge by.
        while (
            head.count(b"\n") < 5 and len(head) < LONGEST_ROW and (more := stream.read(len(head)))
        ):
            head += more
        complete = not stream.read(1)
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    return text.removeprefix("\ufeff"), complete


def dialect_of(sample: str, complete: bool, file: File) -> Dialect:
    """How the beginning of a text, or all of it, is written.

    Examples
    --------
    >>> import pathlib
    >>> file = File(pathlib.Path("x.csv"), "text", "x.csv", ".csv")
    >>> dialect_of("a;b\\n1;2,5\\n", True, file)
    Dialect(delimiter=';', header=True, columns=2)
    """
    if not complete and "\n" not in sample and "\r" not in sample:
        raise row_too_long(file.source)
    splits = {mark: first_records(sample, mark, complete) for mark in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda mark: _score(splits[mark], mark, file.suffix))
    records = splits[delimiter]
    if not records:
        raise row_too_long(file.source)
    check_columns(len(records[0]), file.source)
    header = has_header(records)
    if len(records[0]) == 1:
        cells = [record[0].strip() for record in records[int(header) :]]
        if not all(is_missing(cell) or _is_quantity(cell) for cell in cells):
            raise TableError(
                f"{file.source} has only one column, and that is text; give a table whose columns "
                "are separated by commas, tabs, semicolons or |."
            )
    return Dialect(delimiter, header, len(records[0]))


def first_records(sample: str, delimiter: str, complete: bool) -> list[list[str]]:
    """The first rows; the last of a sample may be cut and is left out."""
    records: list[list[str]] = []
    cells = 0
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if record:
                records.append(record)
                cells += len(record)
            if len(records) > _ROWS or (cells > _CELLS and len(records) > 5):
                break
        else:
            complete = complete or len(records) < 2
            records = records if complete else records[:-1]
    except csv.Error:  # a quote that is never closed: the parser will say so
        pass
    return records[:_ROWS]


def _score(records: Sequence[Sequence[str]], delimiter: str, suffix: str) -> tuple[float, ...]:
    """How well a delimiter explains the rows: alike in length, then full of numbers."""
    lengths = collections.Counter(len(record) for record in records)
    if max(lengths, default=0) < 2:
        return (0.0, 0.0, 0.0, 0.0)
    columns, alike = lengths.most_common(1)[0]
    cells = [cell.strip() for record in records[:50] for cell in record]
    numbers = sum(_is_number(cell, delimiter) for cell in cells) / len(cells)
    by_name = float(delimiter == "\t" and suffix in (".tsv", ".tab"))
    return (alike / len(records) if columns > 1 else 0.0, by_name, numbers, columns)


def _is_number(cell: str, delimiter: str) -> bool:
    comma = delimiter != "," and DECIMAL_COMMA.fullmatch(cell)
    return bool(comma or NUMBER.fullmatch(cell))


def has_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns.

    It does where a word stands above numbers. Where numbers stand in it otherwise, or words
    that come again in their column or in the same row, it is data.

    Examples
    --------
    >>> has_header([["x", "y"], ["1", "2"]]), has_header([["1", "2"], ["3", "4"]])
    (True, False)
    >>> has_header([["colour", "size"], ["red", "big"]]), has_header([["y", "n", "y"]])
    (True, False)
    """
    first = [cell.strip() for cell in records[0]]
    below = _cells_below(records)
    if words_above_numbers(records):
        return True
    if any(map(_is_quantity, first)) or len(set(first)) < len(first):
        return False
    return not any(cell in cells for cell, cells in zip(first, below, strict=True))


def words_above_numbers(records: Sequence[Sequence[str]]) -> bool:
    """Whether a word in the first row stands above nothing but numbers and dates.

    Examples
    --------
    >>> words_above_numbers([["x"], ["1"]]), words_above_numbers([["x"], ["y"]])
    (True, False)
    """
    first = [cell.strip() for cell in records[0]]
    words = [bool(cell) and (cell[0].isalpha() or cell[0] == "_") for cell in first]
    words = [word and not is_missing(cell) for word, cell in zip(words, first, strict=True)]
    return any(
        word and bool(cells) and all(map(_is_quantity, cells))
        for word, cells in zip(words, _cells_below(records), strict=True)
    )


def _cells_below(records: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells of each column below the first row that say something."""
    return [
        [row[j].strip() for row in records[1:] if j < len(row) and not is_missing(row[j])]
        for j in range(len(records[0]))
    ]


def _is_quantity(cell: str) -> bool:
    number = NUMBER.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell)
    return bool(number or (cell[:1].isdigit() and date_format([cell])))


def row_too_long(source: str) -> TableError:
    """The error for text that goes on without an end of a row."""
    return TableError(
        f"{source} cannot be read as a table: a row is longer than {LONGEST_ROW >> 20} MB, or a "
        "quote is not closed."
    )
