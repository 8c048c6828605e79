"""Outputs of a command: checked before anything is read, and rows written as CSV."""

from __future__ import annotations

import contextlib
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ..._atomic import check_writable, draft_of
from ...encoding import TableError

if TYPE_CHECKING:
    import pandas

# Cells that a spreadsheet runs, also in the wide letters of East Asia and behind a byte order
# mark. Behind a sign: what is more than a number, and a second sign that is not of an exponent.
FORMULA = (
    "^\ufeff*([\\t\\r\\n\uff0b\uff0d]|[=@\uff1d\uff20](?s:.)"
    "|[+\\-](?s:.)*([^0-9 .,'%eE+\\-]|[0-9 .,'%][+\\-])|[+\\-]{2,}[^+\\-])"
)
_FORMULA = re.compile(FORMULA)


# Endings of files that a reader would not take for CSV.
OTHER_KINDS = {".parquet", ".feather", ".xlsx", ".xls", ".gz", ".npy", ".npz", ".json"}


class Output(NamedTuple):
    """The file or folder named as ``--out``, and what may be done there."""

    path: pathlib.Path
    force: bool = False  # write over what is there
    raw: bool = False  # write cells as they are

    def check_file(self) -> None:
        """Refuse a file that cannot be written, or that would be overwritten unasked."""
        if self.path.suffix in OTHER_KINDS or self.path.name == "-":
            raise TableError(f"--out {self.path}: rows are written as CSV; name a .csv file.")
        check_writable(self.path, self.path.parent)
        if self.path.exists() and not self.path.is_file():
            raise TableError(f"{self.path} is not an ordinary file; name another.")
        if self.path.exists() and not self.force:
            raise TableError(f"{self.path} exists already; name another file, or add --force.")

    def check_folder(self, names: Sequence[str]) -> None:
        """Refuse a folder that holds files of these names, or that cannot be written to."""
        check_writable(self.path, self.path)
        there = [name for name in names if (self.path / name).exists()]
        if there and not self.force:
            raise TableError(
                f"--out {self.path} holds {', '.join(there)} already; name another folder, or "
                "add --force."
            )

    @contextlib.contextmanager
    def rows(self) -> Iterator[CsvRows]:
        """A CSV file to add rows to; it is there once all are written."""
        with draft_of(self.path) as draft, self.rows_in(draft) as file:
            yield file

    @contextlib.contextmanager
    def rows_in(self, path: pathlib.Path) -> Iterator[CsvRows]:
        """The same at a path inside a draft."""
        with open(path, "wb") as file:
            yield CsvRows(file, self.raw)


def as_text(cell: str) -> str:
    """A cell with an apostrophe in front of it, if a spreadsheet would run it.

    Examples
    --------
    >>> [as_text(cell) for cell in ("=1+1", "-1.5", "+3", "-", "@sum", "-a1")]
    ["'=1+1", '-1.5', '+3', '-', "'@sum", "'-a1"]
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


class CsvRows:
    """A CSV file that grows by frames; the first brings the names of the columns.

    Parameters
    ----------
    file : binary file
        To write to.
    raw : bool, default=False
        Whether cells are written as they are, though a spreadsheet would run them.

    Attributes
    ----------
    changed : int
        How many cells and names got an apostrophe.
    """

    def __init__(self, file: BinaryIO, raw: bool = False):
        """Nothing is written yet."""
        self.changed = 0
        self._file, self._raw, self._begun = file, raw, False

    def write(self, rows: pandas.DataFrame) -> None:
        """Add rows: by pyarrow, several times faster than by pandas."""
        import pyarrow
        from pyarrow import csv

        if not self._begun:  # pyarrow would put every name in quotes
            names = rows.columns.map(str if self._raw else as_text)
            self.changed += int((names != rows.columns).sum())
            self._file.write(f"{','.join(map(_quoted, names))}\n".encode())
            self._begun = True
        columns = [self._cells(rows.iloc[:, place]) for place in range(rows.shape[1])]
        table = pyarrow.table(columns, names=[str(place) for place in range(len(columns))])
        options = csv.WriteOptions(include_header=False, quoting_style="needed")
        csv.write_csv(table, self._file, options)

    def note(self) -> list[str]:
        """A word on the cells that were changed, if any were."""
        if not self.changed:
            return []
        cells = "1 cell begins" if self.changed == 1 else f"{self.changed:,} cells begin"
        return [
            f"{cells} with an apostrophe now, because a spreadsheet would run what stood there; "
            "--raw-cells writes cells as they are."
        ]

    def _cells(self, column: pandas.Series) -> Any:
        """A column as pyarrow writes it, its formulas quoted."""
        import pyarrow
        from pyarrow import compute

        kinds = pyarrow.types
        cells = _arrow_cells(column)
        if kinds.is_timestamp(cells.type) and cells.type.tz is None:
            return _short_times(cells)
        if self._raw or not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type)):
            return cells
        runs = compute.match_substring_regex(cells, FORMULA)
        count = compute.sum(runs).as_py() or 0
        if not count:
            return cells
        self.changed += count
        none, quote = (pyarrow.scalar(mark, cells.type) for mark in ("", "'"))
        return compute.if_else(runs, compute.binary_join_element_wise(quote, cells, none), cells)


def _quoted(name: str) -> str:
    bare = name and not any(mark in name for mark in ',"\r\n')
    return name if bare else '"' + name.replace('"', '""') + '"'


def _arrow_cells(column: pandas.Series) -> Any:
    """A column of numbers, dates or text; cells of several kinds, and lists, become text."""
    import pyarrow

    with contextlib.suppress(pyarrow.ArrowException, TypeError):
        frame = column.rename("cells").to_frame()
        cells = pyarrow.Table.from_pandas(frame, preserve_index=False).column(0)
        if pyarrow.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        special = isinstance(cells.type, pyarrow.BaseExtensionType)
        if not special and not pyarrow.types.is_nested(cells.type):
            return cells
    texts = [None if gap else str(value) for gap, value in zip(column.isna(), column, strict=True)]
    return pyarrow.chunked_array([pyarrow.array(texts, pyarrow.string())])


def _short_times(cells: Any) -> Any:
    """Times as days or seconds, where that is exact."""
    import pyarrow

    for kind in (pyarrow.date32(), pyarrow.timestamp("s")):
        short = cells.cast(kind, safe=False)
        if short.cast(cells.type, safe=False).equals(cells):
            return short
    return cells
