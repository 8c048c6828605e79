"""What is made of one column: a plan, decided once, and the numbers it gives for any rows.

A plan is a plain dictionary, so that it can be stored with a model and shown to people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .table import TableError
from .values import (
    CODE,
    TOO_SMALL,
    Dates,
    Levels,
    check_finite,
    days,
    levels_of,
    mostly_dates,
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
OTHER, NOTHING = "(other)", "(missing)"
_YES_NO = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))


def plan_column(column: pandas.Series) -> Plan:
    """Decide what is made of a column.

    Returns
    -------
    dict
        "kind" is "number", "date", "boolean", "category", or "left out" with a "reason".
    """
    from pandas.api import types

    dtype = column.dtype
    if types.is_complex_dtype(dtype):
        return left_out("neither numbers nor text")
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return _with_median({"kind": "number", "style": "plain"}, plain_numbers(column))
    if types.is_datetime64_any_dtype(dtype):
        return _with_median({"kind": "date", "format": "ISO8601"}, dates_of(column))
    if types.is_timedelta64_dtype(dtype):
        return _with_median({"kind": "number", "style": "days"}, durations_of(column))
    try:
        levels = levels_of(column)
    except TypeError:
        return left_out("neither numbers nor text")
    return _plan_text(levels, column)


def left_out(reason: str) -> Plan:
    """The plan for a column that is not used."""
    return {"kind": "left out", "reason": reason}


def _with_median(plan: Plan, values: np.ndarray) -> Plan:
    """Complete the plan of a column of numbers, which may turn out to say nothing."""
    present = values[~np.isnan(values)]
    if not len(present):
        return left_out("no values")
    if no_difference(float(present.min()), float(present.max())):
        return left_out("constant")
    plan["median"] = float(np.median(present))
    plan["missing"] = len(values) - len(present)
    return plan


def no_difference(low: float, high: float) -> bool:
    """Whether a column is constant; differences of rounding, or without a square, are none."""
    return high - low <= max(1e-13 * max(abs(low), abs(high)), TOO_SMALL)


def _plan_text(levels: Levels, column: pandas.Series) -> Plan:
    counted = Counted(levels.texts, levels.counts, int((levels.codes < 0).sum()))
    plan = plan_nothing(counted)
    if plan is None and str(column.dtype) != "category":
        plan = plan_boolean(counted) or _plan_number(levels, column) or _plan_date(levels)
    return plan or plan_category(counted)


class Counted(NamedTuple):
    """How often a column holds which text."""

    texts: list[str]  # distinct, by first appearance
    counts: np.ndarray
    missing: int
    different: int = 0  # how many texts there are, where these are not all
    present: int = 0  # how many rows hold one, where these are not all

    @property
    def all_listed(self) -> bool:
        """Whether there are no more texts than these."""
        return not self.different

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return self.different or len(self.texts)

    @property
    def n_present(self) -> int:
        """How many rows hold a text."""
        return self.present or int(self.counts.sum())


def plan_nothing(counted: Counted) -> Plan | None:
    """The plan for a column without differences."""
    if not counted.n_present:
        return left_out("no values")
    if counted.n_texts == 1 and not counted.missing:
        return left_out("constant")
    return None


def plan_boolean(counted: Counted) -> Plan | None:
    """The plan for a column of yes and no."""
    found = {text.lower() for text in counted.texts}
    for pair in _YES_NO:
        if counted.all_listed and found == set(pair):
            yes = np.array([text.lower() == pair[0] for text in counted.texts])
            return {
                "kind": "boolean",
                "yes": pair[0],
                "no": pair[1],
                "usual": float(counted.counts[yes].sum() / counted.n_present > 0.5),
                "missing": counted.missing,
            }
    return None


def _plan_number(levels: Levels, column: pandas.Series) -> Plan | None:
    unit = unit_of(levels.texts)
    if unit is None:
        return _plan_plain_number(levels, column)
    bare = levels._replace(texts=[without_unit(text, *unit) for text in levels.texts])
    plan = _plan_plain_number(bare, column)
    return plan if plan is None or plan.get("strays") else {**plan, **unit_keys(unit)}


def unit_keys(unit: tuple[str, str]) -> Plan:
    """How a plan keeps what stands before and behind numbers."""
    return {key: part for key, part in zip(("before", "after"), unit, strict=True) if part}


def _plan_plain_number(levels: Levels, column: pandas.Series) -> Plan | None:
    if any(CODE.fullmatch(text) for text in levels.texts):
        return None
    style = number_style(levels.texts)
    values = levels.spread(parse_numbers(levels.texts, style))
    present = int((levels.codes >= 0).sum())
    strays = present - int((~np.isnan(values)).sum())
    if strays > STRAYS * present:
        return None
    plan = {"kind": "number", "style": style, "strays": strays}
    if strays:
        plan["stray"] = levels.texts[levels.codes[(levels.codes >= 0) & np.isnan(values)][0]]
    return _with_median(plan, check_finite(values, column))


def _plan_date(levels: Levels) -> Plan | None:
    plan = plan_date(mostly_dates(levels.texts, levels.counts), int(levels.counts.sum()))
    if plan is None:
        return None
    return _with_median(plan, levels.spread(parse_dates(levels.texts, plan["format"])))


def plan_date(ways: dict[str, Dates], present: int) -> Plan | None:
    """The plan for a column that holds dates, but for a few cells."""
    form, found = max(ways.items(), key=lambda way: way[1].rows, default=("", Dates(0, None)))
    strays = present - found.rows
    if not form or strays > STRAYS * present:
        return None
    plan: Plan = {"kind": "date", "format": form}
    return {**plan, "strays": strays, "stray": found.stray} if strays else plan


def plan_category(counted: Counted) -> Plan:
    """The plan for a column of words: the frequent ones, if they are most of it."""
    counts, present, texts = counted.counts, counted.n_present, counted.texts
    if counted.n_texts > NEARLY_ALL * present and counted.n_texts > 1:
        return left_out("text with nearly all values different")
    order = np.argsort(-counts, kind="stable")
    least = max(2.0, RARE * (present + counted.missing))
    kept = [i for i in order[:MOST_LEVELS] if counts[i] >= least]
    if counted.n_texts - len(kept) == 1 and len(kept) < MOST_LEVELS:
        kept = list(order)  # a single level is as good under its own name
    if 2 * int(counts[kept].sum()) < present:
        return left_out(f"text with {counted.n_texts} different values, too many to tell apart")
    names = set(kept)
    plan = {
        "kind": "category",
        "levels": [texts[i] for i in kept],
        "others": [text for i, text in enumerate(texts) if i not in names],
        "missing": counted.missing,
    }
    if not counted.all_listed:  # then any other text is one of the others
        plan |= {"others": [], "open": counted.n_texts - len(kept)}
    return plan


def output_names(name: str, plan: Plan) -> list[str]:
    """The names of the numbers that a column becomes."""
    if plan["kind"] != "category":
        return [name]
    more = [OTHER] * has_others(plan) + [NOTHING] * bool(plan["missing"])
    return [f"{name}={level}" for level in [*plan["levels"], *more]]


def has_others(plan: Plan) -> bool:
    """Whether some texts of a category share a column."""
    return bool(plan["others"] or plan.get("open"))


def encode(column: pandas.Series, plan: Plan) -> np.ndarray:
    """The numbers of a column, (n,) or (n, levels), by its plan."""
    if plan["kind"] == "category":
        return _encode_category(column, plan)
    values, filling = with_gaps(column, plan), "usual" if plan["kind"] == "boolean" else "median"
    gaps = np.isnan(values)
    return np.where(gaps, plan[filling], values) if gaps.any() else values


def with_gaps(column: pandas.Series, plan: Plan) -> np.ndarray:
    """The numbers of a column that is not a category, NaN where a value is missing."""
    encoders = {"boolean": _encode_boolean, "number": _encode_number, "date": _encode_date}
    return encoders[plan["kind"]](column, plan)


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


def _encode_boolean(column: pandas.Series, plan: Plan) -> np.ndarray:
    levels = levels_of(column)
    meaning = {plan["yes"]: 1.0, plan["no"]: 0.0, "1": 1.0, "0": 0.0}
    values = [meaning.get(text.lower(), np.nan) for text in levels.texts]
    what = f"{plan['yes']} or {plan['no']}"
    return _all_understood(levels, np.array(values), column, what)


def _encode_number(column: pandas.Series, plan: Plan) -> np.ndarray:
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return plain_numbers(column)
    if types.is_timedelta64_dtype(column.dtype):
        return durations_of(column)
    if types.is_datetime64_any_dtype(column.dtype):
        raise TableError(f"column '{column.name}' should hold numbers, but it holds dates.")
    levels = _levels(column, "numbers")
    # Few rows may be written more plainly than those the style was seen in.
    style = plan["style"] if plan["style"] != "days" else "plain"
    before, after = str(plan.get("before", "")), str(plan.get("after", ""))
    texts = [without_unit(text, before, after) for text in levels.texts]
    values = parse_numbers(texts, style)
    if style != "plain":
        values = np.where(np.isnan(values), parse_numbers(texts), values)
    if plan.get("strays"):
        return check_finite(levels.spread(values), column)
    understood = _all_understood(levels, values, column, "numbers")
    return check_finite(understood, column)


def _encode_date(column: pandas.Series, plan: Plan) -> np.ndarray:
    from pandas.api import types

    if types.is_datetime64_any_dtype(column.dtype):
        return dates_of(column)
    levels = _levels(column, "dates")
    values = parse_dates(levels.texts, plan["format"])
    if plan.get("strays"):
        return levels.spread(values)
    return _all_understood(levels, values, column, "dates")


def _levels(column: pandas.Series, what: str) -> Levels:
    try:
        return levels_of(column)
    except TypeError:
        raise TableError(f"column '{column.name}' should hold {what}, not lists.") from None


def _all_understood(
    levels: Levels, values: np.ndarray, column: pandas.Series, what: str
) -> np.ndarray:
    """A value for each row, unless some text has none."""
    rows = levels.spread(values)
    wrong = np.isnan(rows) & (levels.codes >= 0)
    if wrong.any():
        place = int(wrong.argmax())
        raise TableError(
            f"column '{column.name}' should hold {what}, but row {row_number(column, place)} has "
            f"'{levels.texts[levels.codes[place]][:40]}'; correct it, or leave it empty."
        )
    return rows


def dates_of(column: pandas.Series) -> np.ndarray:
    """Days since 1970-01-01 of a column of dates."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return days(column.to_numpy())


def durations_of(column: pandas.Series) -> np.ndarray:
    """Days of a column of durations."""
    return column.to_numpy() / np.timedelta64(1, "D")
