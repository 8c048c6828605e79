"""What must be known of a column of text to plan it, part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .columns import (
    STRAYS,
    Counted,
    Plan,
    plan_boolean,
    plan_category,
    plan_date,
    plan_nothing,
    unit_keys,
)
from .samples import Different, Sample, different
from .table import needed
from .values import (
    CODE,
    DECIMAL_COMMA,
    NUMBER,
    THOUSANDS,
    Dates,
    levels_of,
    mostly_dates,
    parse_dates,
    parse_numbers,
    unit_of,
    without_unit,
)

if TYPE_CHECKING:
    import pandas


class Writing(NamedTuple):
    """How numbers and dates are written, if the cells are any."""

    codes: bool  # some are numbers that begin with 0
    commas: bool  # some have one
    thousands: bool  # all may be numbers with commas between thousands
    decimal_comma: bool  # all may be numbers with a decimal comma
    strays: int  # rows that hold no plain number
    stray: str | None  # the first of them
    dates: dict[str, Dates]  # the ways in which most are dates
    unit: tuple[str, str] | None = None  # what all have around their number; the rest is of that
    any: bool = True  # whether there is any text

    def merged(self, later: Writing) -> Writing:
        """With later rows."""
        if not (self.any and later.any):
            return self if self.any else later
        dates = dict(self.dates)
        for form, found in later.dates.items():
            rows, stray = dates.get(form, Dates(0, None))
            dates[form] = Dates(rows + found.rows, stray or found.stray)
        return Writing(
            self.codes or later.codes,
            self.commas or later.commas,
            self.thousands and later.thousands,
            self.decimal_comma and later.decimal_comma,
            self.strays + later.strays,
            later.stray if self.stray is None else self.stray,
            dates,
            self.unit if self.unit == later.unit else None,
        )

    @property
    def style(self) -> str:
        """How the cells are written if they are numbers."""
        if not self.commas:
            return "plain"
        if self.thousands:
            return "thousands"
        return "decimal comma" if self.decimal_comma else "plain"


class Texts(NamedTuple):
    """A column of text."""

    rows: int
    missing: int
    counts: dict[str, int]  # of the most frequent texts, by first appearance
    lost: int  # how much smaller than they are the counts may be; 0: these are all texts
    different: Different
    writing: Writing
    bare: Writing  # of the cells without their unit, where they have one
    sample: Sample  # of what is present
    category: bool  # as the file says
    plain: bool  # text and nothing else

    def merged(self, later: Texts, most: int) -> Texts:
        """With later rows; so many texts are counted."""
        counts = dict(self.counts)
        for text, count in later.counts.items():
            counts[text] = counts.get(text, 0) + count
        counts, lost = frequent(counts, most)
        return Texts(
            self.rows + later.rows,
            self.missing + later.missing,
            counts,
            self.lost + later.lost + lost,
            self.different.merged(later.different),
            self.writing.merged(later.writing),
            self.bare.merged(later.bare),
            self.sample.merged(later.sample, most),
            self.category or later.category,
            self.plain and later.plain,
        )

    def all_different_text(self) -> bool:
        """Whether every row has a text of its own."""
        return self.plain and not self.missing and self.different.all_of(self.rows)


def frequent(counts: dict[str, int], most: int) -> tuple[dict[str, int], int]:
    """The most frequent texts, and what was taken from the count of each.

    After Misra and Gries: however many parts are merged, no count is smaller than it should be
    by more than the number of rows divided by ``most``.

    Examples
    --------
    >>> frequent({"a": 5, "b": 1, "c": 2}, 2)
    ({'a': 4, 'c': 1}, 1)
    """
    if len(counts) <= most:
        return counts, 0
    taken = sorted(counts.values(), reverse=True)[most]
    return {text: count - taken for text, count in counts.items() if count > taken}, taken


def summarise_texts(column: pandas.Series, keys: np.ndarray, most: int) -> Texts:
    """What must be known of a column of a part; TypeError where cells hold lists."""
    from pandas.api import types

    levels = levels_of(column)
    there = levels.codes >= 0
    texts = np.array([*levels.texts], dtype=object)
    counts, lost = frequent(dict(zip(levels.texts, levels.counts.tolist(), strict=True)), most)
    sample = Sample(keys[there], levels.codes[there]).smallest(most)
    dtype = column.dtype
    writing = bare = _writing(levels.texts, levels.counts)
    if unit := unit_of(levels.texts):
        numbers = [without_unit(text, *unit) for text in levels.texts]
        bare = _writing(numbers, levels.counts)._replace(unit=unit)
    return Texts(
        len(column),
        int(len(column) - there.sum()),
        counts,
        lost,
        different(texts, int(there.sum())),
        writing,
        bare,
        Sample(sample.keys, texts[sample.values]),
        str(dtype) == "category",
        bool(types.is_string_dtype(dtype) or types.is_object_dtype(dtype)),
    )


def _writing(texts: Sequence[str], counts: np.ndarray) -> Writing:
    if not texts:
        return Writing(False, False, True, True, 0, None, {}, any=False)
    compute = needed("pyarrow.compute")
    array = needed("pyarrow").array(texts)

    def matches(pattern: str, ignore_case: bool = False) -> np.ndarray:
        found = compute.match_substring_regex(array, f"^(?:{pattern})$", ignore_case=ignore_case)
        return found.to_numpy(zero_copy_only=False)

    stray = np.flatnonzero(~matches(NUMBER.pattern, ignore_case=True))
    commas = bool(compute.any(compute.match_substring(array, ",")).as_py())
    return Writing(
        bool(matches(CODE.pattern).any()),
        commas,
        bool(matches(THOUSANDS.pattern).all()),
        bool(matches(DECIMAL_COMMA.pattern).all()),
        int(counts[stray].sum()),
        texts[stray[0]] if len(stray) else None,
        mostly_dates(texts, counts),
    )


def plan_texts(texts: Texts) -> Plan:
    """What is made of a column of text; whether its numbers differ is still to be seen."""
    present = texts.rows - texts.missing
    counts = np.array([*texts.counts.values()], dtype=np.int64)
    counted = Counted([*texts.counts], counts, texts.missing)
    if texts.lost:
        counted = counted._replace(different=texts.different.estimate(), present=present)
    plan = plan_nothing(counted)
    if plan is None and not texts.category:
        plan = plan_boolean(counted) or _plan_number(texts) or _plan_date(texts)
    return plan or plan_category(counted)


def _plan_number(texts: Texts) -> Plan | None:
    unit, present = texts.bare.unit, texts.rows - texts.missing
    writing = texts.writing if unit is None else texts.bare
    style = writing.style
    strays = writing.strays if style == "plain" else 0
    if writing.codes or strays > (STRAYS * present if unit is None else 0):
        return None
    plan: Plan = {"kind": "number", "style": style, "strays": strays, **unit_keys(unit or ("", ""))}
    if strays:
        plan["stray"] = writing.stray
    before, after = unit or ("", "")
    median = _median(
        texts,
        lambda cells: parse_numbers([without_unit(cell, before, after) for cell in cells], style),
    )
    return {**plan, "median": median, "missing": texts.missing + strays}


def _plan_date(texts: Texts) -> Plan | None:
    plan = plan_date(texts.writing.dates, texts.rows - texts.missing)
    if plan is None:
        return None
    median = _median(texts, lambda cells: parse_dates(cells, plan["format"]))
    return {**plan, "median": median, "missing": texts.missing + plan.get("strays", 0)}


def _median(texts: Texts, parsed: Callable[[Sequence[str]], np.ndarray]) -> float:
    """The median of all rows if all texts were counted, else of the sample."""
    if texts.lost:
        return float(np.nanmedian(parsed(texts.sample.values.tolist())))
    return median_of_counted(parsed([*texts.counts]), np.array([*texts.counts.values()]))


def median_of_counted(values: np.ndarray, counts: np.ndarray) -> float:
    """The median of values that come several times; NaN are left out.

    Examples
    --------
    >>> import numpy as np
    >>> median_of_counted(np.array([3.0, np.nan, 1.0]), np.array([2, 9, 2]))
    2.0
    """
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN are last
    ends = np.cumsum(counts[order])
    middle = [(int(ends[-1]) - 1) // 2, int(ends[-1]) // 2]
    return float(np.mean(values[order][np.searchsorted(ends, middle, side="right")]))
