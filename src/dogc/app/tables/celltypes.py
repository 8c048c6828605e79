"""Columns of text become numbers where the numbers say the same as the text."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .table import needed
from .values import MISSING_NUMBER

# Beyond these, neighbouring whole numbers are the same float64.
_EXACT = 2.0**53
_FEW = 100
_ZEROS, _LONG = "^[+-]?0[0-9xX]", "^[+-]?[0-9]{16,}$"


def typed(column: Any) -> Any:
    """An Arrow column of text as numbers, or as it was.

    Text stays text where a number would lose something: codes such as ``007``, whole numbers
    too large for any type, words. Cells that say nothing become null among numbers.
    """
    numbers = _numbers(column)
    if numbers is None:
        text = _with_gaps(column)
        if text.null_count < len(text):
            numbers = _numbers(text)
    return column if numbers is None else numbers


def _with_gaps(column: Any) -> Any:
    """The cells without blanks around them; null where they say nothing."""
    arrow, compute = needed("pyarrow"), needed("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    missing = compute.is_in(compute.utf8_lower(text), value_set=arrow.array(MISSING_NUMBER))
    return compute.if_else(missing, arrow.scalar(None, text.type), text)


def _numbers(column: Any) -> Any:
    """The numbers of a column of text, or None if one of its cells is none."""
    arrow = needed("pyarrow")
    # A column with gaps becomes float64 in a frame.
    may_be_whole = column.null_count == 0 and column[0].as_py().lstrip("-").isdigit()
    whole = (arrow.int64(), arrow.uint64()) if may_be_whole else ()
    for kind in (*whole, arrow.float64()):
        numbers = _cast(column, kind)
        if numbers is not None:
            return None if _loses(column, numbers, kind == arrow.float64()) else numbers
    return None


def _cast(column: Any, kind: Any) -> Any:
    try:
        column.slice(0, _FEW).cast(kind)  # a cast that fails takes a hundred times as long
        return column.cast(kind)
    except needed("pyarrow").ArrowInvalid:
        return None


def _loses(column: Any, numbers: Any, inexact: bool) -> bool:
    """Whether whole numbers could not be written again as they were."""
    compute = needed("pyarrow.compute")
    if inexact:  # patterns take long, so only where they matter
        column = column.filter(compute.equal(numbers, compute.floor(numbers)))
    if _some(column, _ZEROS):
        return True
    if not inexact:
        return False
    largest = compute.max(compute.abs(numbers)).as_py()
    return largest is not None and largest >= _EXACT and _some(column, _LONG)


class Castable(NamedTuple):
    """What some cells of text may become; of several pieces, what all of them may become."""

    int64: bool
    uint64: bool
    double: bool
    zeros: bool  # some without a fraction begin with 0 and go on
    long: bool  # some have 16 digits or more
    largest: float
    first: str | None
    gaps: bool
    cells: int  # that say something

    def merged(self, later: Castable) -> Castable:
        """Of these cells and later ones."""
        return Castable(
            self.int64 and later.int64,
            self.uint64 and later.uint64,
            self.double and later.double,
            self.zeros or later.zeros,
            self.long or later.long,
            max(self.largest, later.largest),
            self.first,
            self.gaps or later.gaps,
            self.cells + later.cells,
        )

    def kind(self) -> str | None:
        """The type that :func:`typed` gives them, or None if they stay text."""
        if not self.gaps and self.first is not None and self.first.lstrip("-").isdigit():
            for kind, fits in (("int64", self.int64), ("uint64", self.uint64)):
                if fits:
                    return None if self.zeros else kind
        lost = self.zeros or (self.largest >= _EXACT and self.long)
        return "double" if self.double and not lost else None


class Cells(NamedTuple):
    """A column of text as it is written, and without blanks and cells that say nothing."""

    raw: Castable
    trimmed: Castable

    def merged(self, later: Cells) -> Cells:
        """Of this column and its later rows."""
        return Cells(self.raw.merged(later.raw), self.trimmed.merged(later.trimmed))

    def kind(self) -> str:
        """The type that :func:`typed` gives the column: "text" or one of Arrow's numbers."""
        return self.raw.kind() or (self.trimmed.cells and self.trimmed.kind()) or "text"


def look_at(column: Any) -> Cells:
    """What a column of text, at least one row long, may become."""
    raw = _castable(column)
    if raw.double and raw.cells == len(column):
        return Cells(raw, raw)
    return Cells(raw, _castable(_with_gaps(column)))


def _castable(column: Any) -> Castable:
    arrow, compute = needed("pyarrow"), needed("pyarrow.compute")
    whole, signless = _cast(column, arrow.int64()), _cast(column, arrow.uint64())
    floats = _cast(column, arrow.float64())
    exact, largest, unknown = column, 0.0, 0
    if whole is None and floats is not None:
        exact = column.filter(compute.equal(floats, compute.floor(floats)))
        unknown = int(compute.sum(compute.is_nan(floats)).as_py() or 0)
    if floats is not None:
        span = compute.min_max(floats).as_py()
        # No cells at all, or none but "nan", have no largest.
        ends = [abs(end) for end in span.values() if end is not None and not math.isnan(end)]
        largest = max(ends, default=0.0)
    a_number = whole is not None or signless is not None or floats is not None
    zeros = a_number and _some(exact, _ZEROS)
    return Castable(
        whole is not None,
        signless is not None,
        floats is not None,
        zeros,
        largest >= _EXACT and _some(exact, _LONG),
        largest,
        column[0].as_py(),
        column.null_count > 0,
        len(column) - column.null_count - unknown,
    )


def _some(column: Any, pattern: str) -> bool:
    compute = needed("pyarrow.compute")
    return bool(compute.any(compute.match_substring_regex(column, pattern)).as_py())


def as_kind(column: Any, kind: str) -> Any:
    """A column of text in the type that was found for all rows."""
    if kind == "text":
        return column
    numbers = _cast(column, kind)
    return _with_gaps(column).cast(kind) if numbers is None else numbers
