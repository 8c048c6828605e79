"""The plan of one column, decided once, and the numbers it gives for any rows.

A plan is a plain dictionary, so that it can be stored with a model and shown to people.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import TableError
from .statistics import MOST_TEXTS, VALUES, ColumnStatistics, kind_of
from .values import (
    CODE,
    TOO_SMALL,
    check_finite,
    date_format,
    dates_of,
    levels_of,
    number_style,
    parse_dates,
    parse_numbers,
    plain_numbers,
    row_number,
    unit_of,
    without_unit,
)

if TYPE_CHECKING:
    import pandas

Plan = dict[str, Any]

MOST_LEVELS = 20
RARE = 0.01  # levels in fewer of the rows are put together
NEARLY_ALL = 0.7  # text with more distinct values than this share of the rows says nothing
STRAYS = 0.05  # up to this share, cells that are no numbers among numbers are missing
DATE = "dates are used only if you name them in keep (--keep)"
OTHER, NOTHING = "(other)", "(missing)"
_YES_NO = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))


def plan_column(column: pandas.Series) -> Plan:
    """The plan of a column that is in memory: see :func:`plan_of`."""
    facts = ColumnStatistics(column)
    facts.add(column)
    return plan_of(facts)


def plan_of(facts: ColumnStatistics) -> Plan:
    """Decide what is made of a column.

    Returns
    -------
    dict
        "kind" is "number", "date", "boolean", "category", or "left out" with a "reason".
    """
    if facts.kind == "other":
        return left_out("neither numbers nor text")
    if facts.missing == facts.rows:
        return left_out("no values")
    if facts.kind in ("text", "category"):
        return _plan_text(facts)
    if no_difference(facts.low, facts.high):
        return left_out("constant")
    values = VALUES[facts.kind](facts.sample)
    present = values[~np.isnan(values)]
    plan = {"number": {"kind": "number", "style": "plain"},
            "date": {"kind": "date", "format": "ISO8601"},
            "duration": {"kind": "number", "style": "days"}}[facts.kind]  # fmt: skip
    median = float(np.median(present)) if len(present) else facts.low
    return {**plan, "median": median, "missing": facts.missing}


def left_out(reason: str) -> Plan:
    """The plan for a column that is not used."""
    return {"kind": "left out", "reason": reason}


def unless_kept(plan: Plan) -> Plan:
    """The plan of a column that nobody asked for: a date is no feature."""
    return left_out(DATE) if plan["kind"] == "date" else plan


def no_difference(low: float, high: float) -> bool:
    """Whether a column is constant; differences of rounding, or without a square, are none."""
    return high - low <= max(1e-13 * max(abs(low), abs(high)), TOO_SMALL)


class TextCounts(NamedTuple):
    """How often a column holds which text."""

    texts: list[str]  # distinct, by first appearance
    counts: np.ndarray
    missing: int
    complete: bool  # whether these are all texts, or those of a sample

    @property
    def present(self) -> int:
        """Rows that hold a text."""
        return int(self.counts.sum())


def _plan_text(facts: ColumnStatistics) -> Plan:
    counts = facts.counts
    if counts is None:
        levels = levels_of(facts.sample)
        counts = dict(zip(levels.texts, levels.counts.tolist(), strict=True))
    rows = np.array([*counts.values()], dtype=np.int64)
    counted = TextCounts([*counts], rows, facts.missing, complete=facts.counts is not None)
    if len(counted.texts) == 1 and not counted.missing:
        return left_out("constant")
    plan = None
    if facts.kind == "text":
        plan = _plan_boolean(counted) or _plan_number(counted) or _plan_date(counted)
    return plan or _plan_category(counted)


def _plan_boolean(counted: TextCounts) -> Plan | None:
    found = {text.lower() for text in counted.texts}
    for yes, no in _YES_NO:
        if counted.complete and found == {yes, no}:
            holds = np.array([text.lower() == yes for text in counted.texts])
            usual = float(counted.counts[holds].sum() / counted.present > 0.5)
            return {"kind": "boolean", "yes": yes, "no": no, "usual": usual,
                    "missing": counted.missing}  # fmt: skip
    return None


def _plan_number(counted: TextCounts) -> Plan | None:
    unit = unit_of(counted.texts)
    bare = [without_unit(text, *unit) for text in counted.texts] if unit else counted.texts
    if any(CODE.fullmatch(text) for text in bare):
        return None
    style = number_style(bare)
    plan = _with_strays({"kind": "number", "style": style, "strays": 0}, counted,
                        parse_numbers(bare, style))  # fmt: skip
    if unit is None or plan is None or "median" not in plan:
        return plan
    around = {key: part for key, part in zip(("before", "after"), unit, strict=True) if part}
    return None if plan.get("stray") else {**plan, **around}


def _plan_date(counted: TextCounts) -> Plan | None:
    form = date_format(counted.texts, counted.counts)
    if form is None:
        return None
    return _with_strays({"kind": "date", "format": form}, counted, parse_dates(counted.texts, form))


def _with_strays(plan: Plan, counted: TextCounts, values: np.ndarray) -> Plan | None:
    """Complete the plan of a column of numbers, unless too many cells are none."""
    none = np.isnan(values)
    strays = int(counted.counts[none].sum())
    if strays > STRAYS * counted.present:
        return None
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if math.isfinite(high - low) and no_difference(low, high):  # encode says where infinity stands
        return left_out("constant")
    if strays:
        plan |= {"strays": strays, "stray": counted.texts[int(none.argmax())]}
    elif not counted.complete:
        plan["strays"] = -1  # other rows may have some: they will be counted
    missing = counted.missing + strays
    return {**plan, "median": median_of_counted(values, counted.counts), "missing": missing}


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


def _plan_category(counted: TextCounts) -> Plan:
    """The plan for a column of words: the frequent ones, if they are most of it."""
    counts, present, texts = counted.counts, counted.present, counted.texts
    if len(texts) > NEARLY_ALL * present and len(texts) > 1:
        return left_out("text with nearly all values different")
    order = np.argsort(-counts, kind="stable")
    missing = counted.missing if counted.complete else 0
    least = max(2.0, RARE * (present + missing))
    kept = [i for i in order[:MOST_LEVELS] if counts[i] >= least]
    if counted.complete and len(texts) - len(kept) == 1 and len(kept) < MOST_LEVELS:
        kept = list(order)  # a single level is as good under its own name
    if 2 * int(counts[kept].sum()) < present:
        number = len(texts) if counted.complete else f"more than {MOST_TEXTS:,}"
        return left_out(f"text with {number} different values, too many to tell apart")
    names = set(kept)
    others = [text for i, text in enumerate(texts) if i not in names]
    plan = {"kind": "category", "levels": [texts[i] for i in kept], "others": others,
            "missing": counted.missing}  # fmt: skip
    # Where not all texts were counted, any other text is one of the others.
    return plan if counted.complete else {**plan, "others": [], "open": MOST_TEXTS}


def output_names(name: str, plan: Plan) -> list[str]:
    """The names of the numbers that a column becomes."""
    if plan["kind"] != "category":
        return [name]
    more = [OTHER] * has_others(plan) + [NOTHING] * bool(plan["missing"])
    return [f"{name}={level}" for level in [*plan["levels"], *more]]


def has_others(plan: Plan) -> bool:
    """Whether some texts of a category share a column."""
    return bool(plan["others"] or plan.get("open"))


def encode(column: pandas.Series, plan: Plan, counted: dict[str, int] | None = None) -> np.ndarray:
    """The numbers of a column, (n,) or (n, levels), by its plan; gaps are filled and counted."""
    if plan["kind"] == "category":
        return _encode_category(column, plan)
    values = with_gaps(column, plan)
    filling = plan["usual" if plan["kind"] == "boolean" else "median"]
    gaps = np.isnan(values)
    if counted is not None:
        counted[str(column.name)] += int(gaps.sum())
    return np.where(gaps, filling, values)


def with_gaps(column: pandas.Series, plan: Plan) -> np.ndarray:
    """The numbers of a column that is not a category, NaN where a value is missing."""
    # 1) a column that holds such values
    kind, asked = kind_of(column.dtype), plan["kind"]
    if asked == "number" and (kind in ("number", "duration") or column.dtype.kind == "b"):
        return VALUES.get(kind, plain_numbers)(column)
    if asked == kind == "date":
        return dates_of(column)
    # 2) a column of texts
    levels = levels_of(column)
    if asked == "boolean":
        meaning = {plan["yes"]: 1.0, plan["no"]: 0.0, "1": 1.0, "0": 0.0}
        values = np.array([meaning.get(text.lower(), np.nan) for text in levels.texts])
        what = f"{plan['yes']} or {plan['no']}"
    elif asked == "date":
        values, what = parse_dates(levels.texts, plan["format"]), "dates"
    else:
        values, what = _numbers_of(levels.texts, plan), "numbers"
    rows = levels.spread(values)
    wrong = np.isnan(rows) & (levels.codes >= 0)
    if wrong.any() and not plan.get("strays"):
        place = int(wrong.argmax())
        raise TableError(
            f"column '{column.name}' should hold {what}, but row {row_number(column, place)} has "
            f"'{levels.texts[levels.codes[place]][:40]}'; correct it, or leave it empty."
        )
    return check_finite(rows, column)


def _numbers_of(texts: list[str], plan: Plan) -> np.ndarray:
    # Few rows may be written more plainly than those the style was seen in.
    style = plan["style"] if plan["style"] != "days" else "plain"
    before, after = str(plan.get("before", "")), str(plan.get("after", ""))
    texts = [without_unit(text, before, after) for text in texts]
    values = parse_numbers(texts, style)
    return np.where(np.isnan(values), parse_numbers(texts), values)


def _encode_category(column: pandas.Series, plan: Plan) -> np.ndarray:
    levels = levels_of(column)
    place, width, unseen = category_places(plan)
    # Levels that were never seen fall into a last column that is cut off again.
    found = np.array([place.get(text, unseen) for text in [*levels.texts, ""]])[levels.codes]
    return np.eye(width + 1)[found][:, :width]


def category_places(plan: Plan) -> tuple[dict[str, int], int, int]:
    """The 0/1 column of each text, how many columns there are, and where unseen texts belong.

    The empty text stands for a missing one. What belongs behind the last column is 0 in all.

    Examples
    --------
    >>> category_places({"levels": ["a", "b"], "others": ["c"], "missing": 0})
    ({'a': 0, 'b': 1, 'c': 2, '': 3}, 3, 3)
    """
    place = {text: j for j, text in enumerate(plan["levels"])}
    place.update(dict.fromkeys(plan["others"], len(place)))
    named = len(plan["levels"]) + has_others(plan)
    width = named + bool(plan["missing"])
    place[""] = named if plan["missing"] else width
    return place, width, named - 1 if plan.get("open") else width


def unseen(column: pandas.Series, plan: Plan) -> tuple[int, str | None]:
    """How many rows hold a value that a category never had, and the first such value."""
    if plan["kind"] != "category" or plan.get("open"):
        return 0, None
    levels = levels_of(column)
    known = {*plan["levels"], *plan["others"]}
    strange = np.array([text not in known for text in levels.texts], dtype=bool)
    if not strange.any():
        return 0, None
    return int(levels.counts[strange].sum()), levels.texts[int(strange.argmax())]
