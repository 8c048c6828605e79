"""Columns of text become numbers where the numbers say the same as the text."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...encoding.errors import needed
from ...encoding.values import MISSING_NUMBER

# Beyond these, neighbouring whole numbers are the same float64.
EXACT = 2**53
_FEW = 100
_CODES, _LONG = "^[+-]?0[0-9xX]", "^[+-]?[0-9]{16,}$"


class Cells(NamedTuple):
    """The kinds that all cells looked at so far may become without loss."""

    int64: bool = True
    uint64: bool = True
    float64: bool = True
    codes: bool = False  # whole numbers that begin with 0 and go on, such as 007
    long: bool = False  # whole numbers that float64 does not hold
    gaps: bool = False
    some: bool = False  # that say something

    def merged(self, later: Cells) -> Cells:
        """Of these cells and later ones."""
        all_may = [one and other for one, other in zip(self[:3], later[:3], strict=True)]
        any_are = [one or other for one, other in zip(self[3:], later[3:], strict=True)]
        return Cells(*all_may, *any_are)

    def kind(self) -> str:
        """The Arrow type of the column: text stays text where a number would lose something.

        A column of whole numbers with gaps becomes float64 in a frame.
        """
        if self.codes or not self.some:
            return "string"
        if self.int64 and not self.gaps:
            return "int64"
        if self.uint64 and not self.gaps:
            return "uint64"
        return "double" if self.float64 and not self.long else "string"


def look_at(column: Any) -> Cells:
    """The kinds that the cells of an Arrow column of text may become."""
    compute = needed("pyarrow.compute")
    text, numbers = column, _numbers(column)
    if numbers is None:
        text = _with_gaps(column).drop_null()
        numbers = _numbers(text)
    gaps = len(text) < len(column)
    if numbers is None:
        return Cells(int64=False, uint64=False, float64=False, gaps=gaps, some=True)
    if not len(text):
        return Cells(gaps=gaps)
    whole, kind, some = text, str(numbers.type), True
    if kind == "double":  # patterns take long, so only where they matter
        some = not compute.all(compute.is_nan(numbers)).as_py()
        is_whole = compute.equal(numbers, compute.floor(numbers))
        whole, numbers = text.filter(is_whole), numbers.filter(is_whole)
    sizes = compute.abs(numbers.cast("double", safe=False))
    large = compute.greater_equal(sizes, float(EXACT))
    return Cells(
        int64=kind == "int64",
        uint64=kind == "uint64" or (kind == "int64" and compute.min(numbers).as_py() >= 0),
        codes=_some(whole, _CODES),
        long=bool(compute.any(large).as_py()) and _some(whole.filter(large), _LONG),
        gaps=gaps,
        some=some,
    )


def look_at_numbers(column: Any) -> Cells:
    """The same of an Arrow column of whole numbers, of which only gaps and size matter."""
    span = needed("pyarrow.compute").min_max(column).as_py()
    long = column.null_count < len(column) and max(-span["min"], span["max"]) > EXACT
    return Cells(long=long, gaps=column.null_count > 0)


def as_kind(column: Any, kind: str) -> Any:
    """A column of text in the type that was found for all rows."""
    if kind == "string":
        return column
    numbers = _cast(column, kind)
    return _with_gaps(column).cast(kind) if numbers is None else numbers


def _numbers(column: Any) -> Any:
    """The numbers of a column of text, or None if one of its cells is none."""
    found = (_cast(column, kind) for kind in ("int64", "uint64", "double"))
    return next((numbers for numbers in found if numbers is not None), None)


def _cast(column: Any, kind: str) -> Any:
    try:
        column.slice(0, _FEW).cast(kind)  # a cast that fails takes a hundred times as long
        return column.cast(kind)
    except needed("pyarrow").ArrowInvalid:
        return None


def _with_gaps(column: Any) -> Any:
    """The cells without blanks around them; null where they say nothing."""
    arrow, compute = needed("pyarrow"), needed("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    missing = compute.is_in(compute.utf8_lower(text), value_set=arrow.array(MISSING_NUMBER))
    return compute.if_else(missing, arrow.scalar(None, text.type), text)


def _some(column: Any, pattern: str) -> bool:
    compute = needed("pyarrow.compute")
    return bool(compute.any(compute.match_substring_regex(column, pattern)).as_py())
