"""Parts of text files: byte ranges of whole rows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .celltypes import Cells, as_kind, look_at
from .opening import Origin, check_unchanged, not_text, not_utf8, opened, stamp_of
from .parquet_parts import check_names
from .row_ends import row_ranges
from .sniffing import SAMPLE, Dialect, first_records, long_enough, sniff, words_above_numbers
from .table import TableError, different_names, needed, numbered_names
from .text import csv_options, filled_names, open_quote, ragged, swallows

if TYPE_CHECKING:
    import pandas

PART_BYTES = 1 << 24
_BYTE_ORDER_MARK = "\ufeff"


class Form(NamedTuple):
    """How all text files of a run are written, and what their columns hold."""

    first: Origin  # the file that says how
    dialect: Dialect
    names: tuple[str, ...]
    kinds: tuple[str, ...] = ()  # of celltypes; decided when all parts were looked at


class TextPart(NamedTuple):
    """Some rows of a text file."""

    path: str
    origin: Origin
    form: Form
    start: int
    stop: int
    header: bool  # whether the first row names the columns
    stamp: tuple[int, int]  # of the file when it was cut
    rows: int = 0
    first_row: int = 0

    @property
    def names(self) -> Sequence[str]:
        """Of all columns."""
        return self.form.names

    def read(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """The rows, numbered through; all columns, or some."""
        names, kinds = self.form.names, self.form.kinds
        places = [j for j, name in enumerate(names) if columns is None or name in columns]
        table = text_cells(self, places)
        found = [as_kind(column, kinds[j]) for j, column in zip(places, table.columns, strict=True)]
        arrow = needed("pyarrow")
        frame = arrow.table(found, names=[names[j] for j in places]).to_pandas()
        return frame.set_axis(range(self.first_row, self.first_row + len(frame)), axis=0)


class Look(NamedTuple):
    """What a part holds: how many rows, and what its columns may become."""

    rows: int
    cells: list[Cells]


def look(part: TextPart) -> Look:
    """Look at all cells of a part."""
    table = text_cells(part)
    if not table.num_rows:
        return Look(0, [])
    return Look(table.num_rows, [look_at(column) for column in table.columns])


def merge_cells(one: Sequence[Cells], later: Sequence[Cells]) -> list[Cells]:
    """What the columns of two looks may become."""
    return [first.merged(second) for first, second in zip(one, later, strict=True)]


def form_of(path: str, origin: Origin) -> Form:
    """How a file is written: what separates its cells, and what its columns are called."""
    sample, complete = _beginning(path)
    dialect = sniff(sample, complete, origin)
    if not dialect.header:
        return Form(origin, dialect, tuple(numbered_names(dialect.columns)))
    first = first_records(sample, dialect.delimiter, complete)[0]
    names = filled_names(first)
    different_names(names, origin.source)
    return Form(origin, dialect, tuple(names))


def _beginning(path: str) -> tuple[str, bool]:
    """The first text of a file, and whether that is all of it."""
    with opened(path) as file:
        head = file.read(SAMPLE)
        while not long_enough(head) and (more := file.read(max(SAMPLE, len(head)))):
            head += more
        complete = not file.read(1)
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    return text.removeprefix(_BYTE_ORDER_MARK), complete


def cut(path: str, origin: Origin, form: Form, digest: Any) -> Iterator[TextPart]:
    """The parts of a file, in order; the digest gets its bytes."""
    sample, complete = _beginning(path)
    header = _has_header(first_records(sample, form.dialect.delimiter, complete), form, origin)
    line_end = b"\n" if "\n" in sample else b"\r"
    stamp = stamp_of(path)
    with opened(path) as file:
        hashing = _Hashing(file, digest)
        for start, stop in row_ranges(hashing, PART_BYTES, form.dialect, line_end, origin):
            yield TextPart(path, origin, form, start, stop, header and start == 0, stamp)


def _has_header(records: Sequence[Sequence[str]], form: Form, origin: Origin) -> bool:
    """Whether a file repeats the names; files without them may follow one that has them."""
    if not form.dialect.header or not records:
        if len(records) > 1 and words_above_numbers(records):
            raise TableError(
                f"{origin.source} begins with the names of columns and {form.first.source} does "
                "not; give names to the first file or to none."
            )
        return False
    found = filled_names(records[0])
    if found == list(form.names):
        return True
    if sorted(found) == sorted(form.names):
        raise TableError(
            f"{origin.source} has its columns in another order than {form.first.source}; write "
            "them in the same order."
        )
    if len(records) > 1 and words_above_numbers(records):
        check_names(form.names, found, form.first, origin)
    return False


class _Hashing:
    """A file of bytes whose bytes go into a digest."""

    def __init__(self, file: Any, digest: Any):
        self._file, self._digest = file, digest

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        return data


def text_cells(part: TextPart, places: Sequence[int] | None = None) -> Any:
    """The rows of a part as an Arrow table of text; all columns, or some."""
    arrow, arrow_csv = needed("pyarrow"), needed("pyarrow.csv")
    dialect = part.form.dialect
    names = [f"f{j}" for j in range(dialect.columns)]
    kept = names if places is None else [names[j] for j in places]
    check_unchanged(part.path, part.stamp, part.origin.source)
    with opened(part.path) as file:
        file.seek(part.start)
        data = file.read(part.stop - part.start)
    if b"\0" in data:
        raise not_text(part.origin, f"it has a NUL byte at byte {part.start + data.find(0) + 1}")
    if not data.strip(b"\r\n"):
        return arrow.table({name: arrow.array([], arrow.string()) for name in kept})
    data += b"" if data.endswith((b"\n", b"\r")) else b"\n"
    read, parse, convert = csv_options(dialect, b'"' in data, len(data) + 1, threads=False)
    read.autogenerate_column_names, read.column_names = False, names
    convert.include_columns = kept
    try:
        table = arrow_csv.read_csv(arrow.BufferReader(data), read, parse, convert)
    except arrow.ArrowInvalid as error:
        raise _explained(part, data, str(error)) from error
    if kept[-1:] == names[-1:] and swallows(table, data[-SAMPLE:]):
        raise open_quote(None, part.origin)
    return table.slice(int(part.header))


def _explained(part: TextPart, data: bytes, reason: str) -> TableError:
    """Why a part is no table, and in which line of the file."""
    above = _lines_above(part)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = above + data.count(b"\n", 0, error.start) + 1
        return not_utf8(part.origin, part.start + error.start + 1, line)
    text = text.removeprefix(_BYTE_ORDER_MARK)
    plain = re.sub(r"\s+", " ", reason)[:200].rstrip(".")
    return ragged(text, part.form.dialect, part.origin, above) or TableError(
        f"{part.origin.source} cannot be read as a table: {plain}."
    )


def _lines_above(part: TextPart) -> int:
    lines, left = 0, part.start
    with opened(part.path) as file:
        while left > 0 and (block := file.read(min(left, 1 << 24))):
            lines += block.count(b"\n")
            left -= len(block)
    return lines
