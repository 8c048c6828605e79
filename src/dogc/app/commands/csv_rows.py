"""Rows written as CSV, part by part, so that no spreadsheet runs what stands in them."""

from __future__ import annotations

import re
from csv import QUOTE_NONNUMERIC
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pandas

# What makes a spreadsheet take a cell for a formula, also in the wide letters of East Asia, and
# behind a byte order mark, which it does not see in the first cell of a file.
FORMULA = "^\ufeff*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
# What it takes for a number, a date or a dash all the same; nothing else can be in these.
HARMLESS = (
    r"^([+\-] ?(\d[\d .,']*|[.,]\d+)([eE][+\-]?\d+)? ?%?"
    r"|[+\-](?i:inf|infinity|nan)"
    r"|[+\-]\d{4,6}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+\-]\d\d:?\d\d)?)?"
    r"|[=+\-@]+)$"
)
_FORMULA, _HARMLESS = re.compile(FORMULA), re.compile(HARMLESS, re.ASCII)


def as_text(cell: Any) -> Any:
    """A cell with an apostrophe in front of it, if a spreadsheet would run it.

    Examples
    --------
    >>> [as_text(cell) for cell in ("=1+1", "-1.5", "+3", "-", "@sum", "-a1", -2.0)]
    ["'=1+1", '-1.5', '+3', '-', "'@sum", "'-a1", -2.0]
    """
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    # Python's $ would let a line end pass.
    return cell if _HARMLESS.match(cell) and cell[-1] != "\n" else f"'{cell}"


def _quoted(name: str) -> str:
    bare = name and not any(mark in name for mark in ',"\r\n')
    return name if bare else '"' + name.replace('"', '""') + '"'


def short_times(table: Any) -> Any:
    """A table of pyarrow's whose columns of times are days or seconds, where that is exact."""
    import pyarrow

    for place, field in enumerate(table.schema):
        if not pyarrow.types.is_timestamp(field.type) or field.type.tz is not None:
            continue
        cells = table.column(place)
        for kind in (pyarrow.date32(), pyarrow.timestamp("s")):
            short = cells.cast(kind, safe=False)
            if short.cast(field.type, safe=False).equals(cells):
                table = table.set_column(place, field.name, short)
                break
    return table


class CsvRows:
    """A CSV file that grows by parts; the first brings the names of the columns.

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
        """Add rows: by pyarrow, several times faster, where it knows what the cells are."""
        import pyarrow
        from pyarrow import csv

        if not self._begun:  # pyarrow would put every name in quotes
            names = [_quoted(self._cell(str(name))) for name in rows.columns]
            self._file.write(f"{','.join(names)}\n".encode())
            self._begun = True
        try:
            table = short_times(pyarrow.Table.from_pandas(rows, preserve_index=False))
            kinds = table.schema.types
            nested = any(map(pyarrow.types.is_nested, kinds))
            nested |= any(isinstance(kind, pyarrow.BaseExtensionType) for kind in kinds)
            table = table if nested or self._raw else self._harmless(table)
        except (pyarrow.ArrowException, TypeError):  # cells of several kinds in one column
            nested = True
        if nested:
            # All text in quotes: of its own, pandas would leave a lone "\r" bare.
            text = rows.map(self._cell).to_csv(index=False, header=False, lineterminator="\n",
                                               quoting=QUOTE_NONNUMERIC)  # fmt: skip
            self._file.write(text.encode("utf-8"))
            return
        options = csv.WriteOptions(include_header=False, quoting_style="needed")
        csv.write_csv(table, self._file, options)

    def note(self) -> list[str]:
        """What to say of the cells that were changed, if any were."""
        if not self.changed:
            return []
        cells = "1 cell begins" if self.changed == 1 else f"{self.changed:,} cells begin"
        return [
            f"{cells} with an apostrophe now, because a spreadsheet would run what stood there; "
            "--raw-cells writes cells as they are."
        ]

    def _cell(self, cell: Any) -> Any:
        written = cell if self._raw else as_text(cell)
        self.changed += written is not cell
        return written

    def _harmless(self, table: Any) -> Any:
        """The same by pyarrow, column by column."""
        import pyarrow
        from pyarrow import compute

        kinds = pyarrow.types
        for place, name in enumerate(table.column_names):
            cells = table.column(place)
            if kinds.is_dictionary(cells.type):
                cells = cells.cast(cells.type.value_type)
            if not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type)):
                continue
            runs = compute.match_substring_regex(cells, FORMULA)
            if not compute.any(runs).as_py():
                continue
            runs = compute.and_not(runs, compute.match_substring_regex(cells, HARMLESS))
            self.changed += compute.sum(runs).as_py() or 0
            none, quote = (pyarrow.scalar(mark, cells.type) for mark in ("", "'"))
            quoted = compute.binary_join_element_wise(quote, cells, none)
            table = table.set_column(place, name, compute.if_else(runs, quoted, cells))
        return table
