"""Columns of text become numbers where the numbers say the same as the text."""

from __future__ import annotations

from typing import Any

from .table import needed
from .values import MISSING_NUMBER

# Beyond these, neighbouring whole numbers are the same float64.
_EXACT = 2.0**53


def typed(column: Any) -> Any:
    """An Arrow column of text as numbers, or as it was.

    Text stays text where a number would lose something: codes such as ``007``, whole numbers
    too large for any type, words. Cells that say nothing become null among numbers.
    """
    compute = needed("pyarrow.compute")
    arrow = needed("pyarrow")
    numbers = _numbers(column)
    if numbers is None:
        text = compute.utf8_trim_whitespace(column)
        missing = compute.is_in(compute.utf8_lower(text), value_set=arrow.array(MISSING_NUMBER))
        text = compute.if_else(missing, arrow.scalar(None, text.type), text)
        if text.null_count < len(text):
            numbers = _numbers(text)
    return column if numbers is None else numbers


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
        return column.cast(kind)
    except needed("pyarrow").ArrowInvalid:
        return None


def _loses(column: Any, numbers: Any, inexact: bool) -> bool:
    """Whether whole numbers could not be written again as they were."""
    compute = needed("pyarrow.compute")

    def some(pattern: str) -> bool:
        found = compute.any(compute.match_substring_regex(column, pattern))
        return bool(found.as_py())

    if inexact:  # patterns take long, so only where they matter
        column = column.filter(compute.equal(numbers, compute.floor(numbers)))
    if some("^[+-]?0[0-9xX]"):
        return True
    if not inexact:
        return False
    largest = compute.max(compute.abs(numbers)).as_py()
    return largest is not None and largest >= _EXACT and some("^[+-]?[0-9]{16,}$")
