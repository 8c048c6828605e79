"""What must be known of the cells of a column to plan it, part by part.

The plans are those of :mod:`~dogc.app.tables.columns`. Where a column has few values they are
the same; where it has many, a median is that of a sample, and how many texts there are is
estimated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .columns import Plan, dates_of, durations_of, left_out, no_difference
from .ids import ENOUGH, choose_ids
from .samples import Different, Sample, different
from .text_summaries import Texts, plan_texts, summarise_texts
from .values import plain_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas


class Numbers(NamedTuple):
    """A column of numbers, dates or durations."""

    plan: Plan  # so far
    rows: int
    present: int
    low: float
    high: float
    sample: Sample  # of what is present
    whole: bool  # whether the cells are whole numbers, all of them there
    different: Different

    def merged(self, later: Numbers, most: int) -> Numbers:
        """With later rows; of so many values the median is exact."""
        return Numbers(
            self.plan,
            self.rows + later.rows,
            self.present + later.present,
            min(self.low, later.low),
            max(self.high, later.high),
            self.sample.merged(later.sample, most),
            self.whole and later.whole,
            self.different.merged(later.different),
        )

    def all_different(self) -> bool:
        """Whether no whole number comes twice."""
        return self.whole and self.different.all_of(self.rows)

    def counts_rows(self) -> bool:
        """Whether these are the numbers of the rows, in any order."""
        if self.rows < ENOUGH or not self.whole or self.low not in (0, 1):
            return False
        return self.high == self.low + self.rows - 1 and self.all_different()


Summary = Numbers | Texts | None  # None: neither numbers nor text


def summarise_column(column: pandas.Series, keys: np.ndarray, most: int) -> Summary:
    """What must be known of a column of a part, given the keys of its rows."""
    from pandas.api import types

    dtype = column.dtype
    if types.is_complex_dtype(dtype):
        return None
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return _numbers(column, {"kind": "number", "style": "plain"}, keys, most)
    if types.is_datetime64_any_dtype(dtype):
        return _numbers(column, {"kind": "date", "format": "ISO8601"}, keys, most)
    if types.is_timedelta64_dtype(dtype):
        return _numbers(column, {"kind": "number", "style": "days"}, keys, most)
    try:
        return summarise_texts(column, keys, most)
    except TypeError:  # lists and the like
        return None


def _numbers(column: pandas.Series, plan: Plan, keys: np.ndarray, most: int) -> Numbers:
    from pandas.api import types

    values = {"plain": plain_numbers, "days": durations_of}.get(plan.get("style", ""), dates_of)(
        column
    )
    there = ~np.isnan(values)
    present = values[there]
    whole = types.is_integer_dtype(column.dtype) and bool(there.all())
    return Numbers(
        plan,
        len(values),
        len(present),
        float(present.min(initial=np.inf)),
        float(present.max(initial=-np.inf)),
        Sample(keys[there], present).smallest(most),
        whole,
        different(column.unique(), len(column)) if whole else different(np.empty(0), 1),
    )


def merge_summaries(one: Summary, later: Summary, most: int) -> Summary:
    """Of a column with later rows."""
    if isinstance(one, Numbers) and isinstance(later, Numbers):
        return one.merged(later, most)
    if isinstance(one, Texts) and isinstance(later, Texts):
        return one.merged(later, most)
    return None


def plan_summary(summary: Summary) -> Plan:
    """What is made of a column."""
    if summary is None:
        return left_out("neither numbers nor text")
    if isinstance(summary, Texts):
        return plan_texts(summary)
    if not summary.present:
        return left_out("no values")
    if no_difference(summary.low, summary.high):
        return left_out("constant")
    median = float(np.median(summary.sample.values))
    return {**summary.plan, "median": median, "missing": summary.rows - summary.present}


def find_ids_in(summaries: Mapping[str, Summary], names: Sequence[str]) -> list[str]:
    """The columns that are ids, the most likely first."""

    def asked(name: str, *questions: str) -> bool:
        summary: Any = summaries[name]
        return any(getattr(summary, question, bool)() for question in questions)

    return choose_ids(
        names,
        different=lambda name: asked(name, "all_different", "all_different_text"),
        different_text=lambda name: asked(name, "all_different_text"),
        counts_rows=lambda name: asked(name, "counts_rows"),
    )
