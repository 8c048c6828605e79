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
    """Facts about all cells looked at so far, then facts about some of them."""

    int64: bool = True
    float64: bool = True
    codes: bool = False  # whole numbers that begin with 0 and go on, such as 007
    long: bool = False  # whole numbers that float64 does not hold
    some: bool = False  # that say something

    def merged(self, later: Cells) -> Cells:
        """Of these cells and later ones."""
        return Cells(
            self.int64 and later.int64,
            self.float64 and later.float64,
            *(one or other for one, other in zip(self[2:], later[2:], strict=True)),
        )

    def kind(self) -> str:
        """The Arrow type of the column: text stays text where a number would lose something."""
        if self.codes or not self.some:
            return "string"
        if self.int64:
            return "int64"
        return "double" if self.float64 and not self.long else "string"


def look_at(column: Any) -> Cells:
    """The kinds that the cells of an Arrow column of text may become."""
    compute = needed("pyarrow.compute")
    text, numbers = column, _numbers(column)
    if numbers is None or compute.any(compute.is_nan(numbers)).as_py():
        text = _with_gaps(column).drop_null()
        numbers = _numbers(text)
    if numbers is None:
        return Cells(int64=False, float64=False, some=True)
    int64, some = str(numbers.type) == "int64", len(text) > 0
    if not int64:  # patterns take long, so only where they matter
        whole = compute.equal(numbers, compute.floor(numbers))
        text, numbers = text.filter(whole), numbers.filter(whole)
    large = compute.greater_equal(compute.abs(numbers.cast("double", safe=False)), float(EXACT))
    return Cells(
        int64=int64,
        codes=_some(text, _CODES),
        long=bool(compute.any(large).as_py()) and _some(text.filter(large), _LONG),
        some=some,
    )


def as_kind(column: Any, kind: str) -> Any:
    """A column of text in the type that was found for all rows."""
    if kind == "string":
        return column
    numbers = _cast(column, kind)
    return _with_gaps(column).cast(kind) if numbers is None else numbers


def _numbers(column: Any) -> Any:
    """The numbers of a column of text, or None if one of its cells is none."""
    whole = _cast(column, "int64")
    return _cast(column, "double") if whole is None else whole


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
