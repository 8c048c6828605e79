"""What is made of one column: a plan, decided once, and the numbers it gives for any rows.

A plan is a plain dictionary, so that it can be stored with a model and shown to people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .table import TableError
from .values import (
    CODE,
    Levels,
    check_finite,
    date_format,
    days,
    levels_of,
    number_style,
    parse_dates,
    parse_numbers,
    plain_numbers,
    row_number,
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
        return _left_out("neither numbers nor text")
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return _with_median({"kind": "number", "style": "plain"}, plain_numbers(column))
    if types.is_datetime64_any_dtype(dtype):
        return _with_median({"kind": "date", "format": "ISO8601"}, _dates(column))
    if types.is_timedelta64_dtype(dtype):
        return _with_median({"kind": "number", "style": "days"}, _durations(column))
    try:
        levels = levels_of(column)
    except TypeError:
        return _left_out("neither numbers nor text")
    return _plan_text(levels, column)


def _left_out(reason: str) -> Plan:
    return {"kind": "left out", "reason": reason}


def _with_median(plan: Plan, values: np.ndarray) -> Plan:
    """Complete the plan of a column of numbers, which may turn out to say nothing."""
    present = values[~np.isnan(values)]
    if not len(present):
        return _left_out("no values")
    low, high = float(present.min()), float(present.max())
    # Differences of rounding are no differences.
    if high - low <= 1e-13 * max(abs(low), abs(high)):
        return _left_out("constant")
    plan["median"] = float(np.median(present))
    plan["missing"] = len(values) - len(present)
    return plan


def _plan_text(levels: Levels, column: pandas.Series) -> Plan:
    texts = levels.texts
    missing = int((levels.codes < 0).sum())
    if not texts:
        return _left_out("no values")
    if len(texts) == 1 and not missing:
        return _left_out("constant")
    if str(column.dtype) != "category":
        plan = _plan_boolean(levels) or _plan_number(levels, column) or _plan_date(levels)
        if plan is not None:
            return plan
    return _plan_category(levels, missing)


def _plan_boolean(levels: Levels) -> Plan | None:
    found = {text.lower() for text in levels.texts}
    for pair in _YES_NO:
        if found == set(pair):
            yes = [text.lower() == pair[0] for text in levels.texts]
            values = levels.spread(np.array(yes, dtype=np.float64))
            present = values[~np.isnan(values)]
            return {
                "kind": "boolean",
                "yes": pair[0],
                "no": pair[1],
                "usual": float(present.mean() > 0.5),
                "missing": len(values) - len(present),
            }
    return None


def _plan_number(levels: Levels, column: pandas.Series) -> Plan | None:
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
    form = date_format(levels.texts)
    if form is None:
        return None
    return _with_median(
        {"kind": "date", "format": form}, levels.spread(parse_dates(levels.texts, form))
    )


def _plan_category(levels: Levels, missing: int) -> Plan:
    counts = levels.counts
    present = int(counts.sum())
    if len(counts) > NEARLY_ALL * present and len(counts) > 1:
        return _left_out("text with nearly all values different")
    order = np.argsort(-counts, kind="stable")
    least = max(2.0, RARE * len(levels.codes))
    kept = [i for i in order[:MOST_LEVELS] if counts[i] >= least]
    if len(counts) - len(kept) == 1 and len(kept) < MOST_LEVELS:
        kept = list(order)  # a single level is as good under its own name
    if 2 * int(counts[kept].sum()) < present:
        return _left_out(f"text with {len(counts)} different values, too many to tell apart")
    names = set(kept)
    return {
        "kind": "category",
        "levels": [levels.texts[i] for i in kept],
        "others": [text for i, text in enumerate(levels.texts) if i not in names],
        "missing": missing,
    }


def output_names(name: str, plan: Plan) -> list[str]:
    """The names of the numbers that a column becomes."""
    if plan["kind"] != "category":
        return [name]
    more = [OTHER] * bool(plan["others"]) + [NOTHING] * bool(plan["missing"])
    return [f"{name}={level}" for level in [*plan["levels"], *more]]


def encode(column: pandas.Series, plan: Plan) -> np.ndarray:
    """The numbers of a column, (n,) or (n, levels), by its plan."""
    if plan["kind"] == "category":
        return _encode_category(column, plan)
    if plan["kind"] == "boolean":
        values, filling = _encode_boolean(column, plan), plan["usual"]
    else:
        numbers = _encode_number if plan["kind"] == "number" else _encode_date
        values, filling = numbers(column, plan), plan["median"]
    gaps = np.isnan(values)
    return np.where(gaps, filling, values) if gaps.any() else values


def _encode_category(column: pandas.Series, plan: Plan) -> np.ndarray:
    levels = levels_of(column)
    place = {text: j for j, text in enumerate(plan["levels"])}
    width = len(place)
    place.update(dict.fromkeys(plan["others"], width))
    width += bool(plan["others"])
    # Levels that were never seen fall into a last column that is cut off again.
    places = [place.get(text, width + 1) for text in levels.texts]
    found = np.array([*places, width if plan["missing"] else width + 1])[levels.codes]
    return np.eye(width + 2)[found][:, : width + bool(plan["missing"])]


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
        return _durations(column)
    if types.is_datetime64_any_dtype(column.dtype):
        raise TableError(f"column '{column.name}' should hold numbers, but it holds dates.")
    levels = _levels(column, "numbers")
    # Few rows may be written more plainly than those the style was seen in.
    style = plan["style"] if plan["style"] != "days" else "plain"
    values = parse_numbers(levels.texts, style)
    if style != "plain":
        values = np.where(np.isnan(values), parse_numbers(levels.texts), values)
    if plan.get("strays"):
        return check_finite(levels.spread(values), column)
    understood = _all_understood(levels, values, column, "numbers")
    return check_finite(understood, column)


def _encode_date(column: pandas.Series, plan: Plan) -> np.ndarray:
    from pandas.api import types

    if types.is_datetime64_any_dtype(column.dtype):
        return _dates(column)
    levels = _levels(column, "dates")
    values = parse_dates(levels.texts, plan["format"])
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


def _dates(column: pandas.Series) -> np.ndarray:
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return days(column.to_numpy())


def _durations(column: pandas.Series) -> np.ndarray:
    return column.to_numpy() / np.timedelta64(1, "D")
