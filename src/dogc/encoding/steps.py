"""What was done to a table, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._words import shown
from .columns import MOST_LEVELS, Plan, has_others
from .errors import listed


def describe(
    plans: Mapping[str, Plan],
    *,
    id_column: str | None,
    label_column: str | None,
    scale: bool,
    n_features: int,
    weights: Mapping[str, float],
) -> list[str]:
    """Sentences that name the columns: what they became, and which were left out."""
    parts = [
        _roles(id_column, label_column),
        _left_out(plans),
        _numbers(plans),
        _dates(plans),
        _booleans(plans),
        _categories(plans),
        _missing(plans),
        [_scaling(scale, n_features, any(p["kind"] == "category" for p in plans.values()))],
        _weights(weights),
    ]
    return [sentence for part in parts for sentence in part]


def _of(plans: Mapping[str, Plan], kind: str) -> dict[str, Plan]:
    return {name: plan for name, plan in plans.items() if plan["kind"] == kind}


def _columns(names: Iterable[str]) -> str:
    names = list(names)
    return f"{'column' if len(names) == 1 else 'columns'} {listed(names)}"


def _roles(id_column: str | None, label_column: str | None) -> list[str]:
    sentences = []
    if id_column is not None:
        name = shown(id_column)
        sentences.append(
            f"The column '{name}' identifies the rows: it is copied to the output, but not used "
            "for clustering."
        )
    if label_column is not None:
        name = shown(label_column)
        sentences.append(
            f"The column '{name}' holds the known labels: it is used only for scoring."
        )
    return sentences


def _left_out(plans: Mapping[str, Plan]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for name, plan in _of(plans, "left out").items():
        reasons.setdefault(plan["reason"], []).append(name)
    return [f"Left out, {reason}: {_columns(names)}." for reason, names in reasons.items()]


def _numbers(plans: Mapping[str, Plan]) -> list[str]:
    numbers = _of(plans, "number")
    sentences = [f"Used as numbers: {_columns(numbers)}."] if numbers else []
    written = {
        "decimal comma": "Read with a decimal comma",
        "thousands": "Read with commas between thousands",
        "days": "Durations were converted to days",
    }
    for style, words in written.items():
        names = [name for name, plan in numbers.items() if plan["style"] == style]
        sentences += [f"{words}: {_columns(names)}."] if names else []
    units = {name: str(plan.get("before", "")) + str(plan.get("after", ""))
             for name, plan in numbers.items()}  # fmt: skip
    for unit in dict.fromkeys(filter(None, units.values())):
        names = [name for name, its in units.items() if its == unit]
        sentences.append(f"Numbers were read without their '{shown(unit)}': {_columns(names)}.")
    return sentences + _strays(numbers, "number")


def _strays(plans: Mapping[str, Plan], what: str) -> list[str]:
    """On cells among numbers or dates that are none."""
    sentences = []
    for name, plan in plans.items():
        if not plan.get("strays"):
            continue
        one = plan["strays"] == 1
        cells = f"1 cell that is not a {what}"
        cells = cells if one else f"{plan['strays']:,} cells that are not {what}s"
        sentences.append(
            f"In column '{shown(name)}', {cells} (such as "
            f"'{shown(plan['stray'], 40)}') count{'s' if one else ''} as missing."
        )
    return sentences


def _dates(plans: Mapping[str, Plan]) -> list[str]:
    dates = _of(plans, "date")
    sentences = (
        [f"Dates were converted to days since 1970-01-01: {_columns(dates)}."] if dates else []
    )
    for order, form in {"month/day/year": "%m/%d/%Y", "day/month/year": "%d/%m/%Y"}.items():
        names = [name for name, plan in dates.items() if plan["format"].startswith(form)]
        sentences += [f"Dates were read as {order}: {_columns(names)}."] if names else []
    return sentences + _strays(dates, "date")


def _booleans(plans: Mapping[str, Plan]) -> list[str]:
    booleans = _of(plans, "boolean")
    return [f"Yes and no were converted to 1 and 0: {_columns(booleans)}."] if booleans else []


def _categories(plans: Mapping[str, Plan]) -> list[str]:
    categories = _of(plans, "category")
    if not categories:
        return []
    sentences = [f"Split into one 0/1 column per value: {_columns(categories)}."]
    for name, plan in categories.items():
        if has_others(plan):
            others = f"about {plan['open']:,}" if plan.get("open") else str(len(plan["others"]))
            sentences.append(
                f"In column '{shown(name)}', {len(plan['levels'])} values have a column each "
                f"(at most {MOST_LEVELS}, those in at least 1% of the rows); the other "
                f"{others} share one."
            )
    return sentences


def _missing(plans: Mapping[str, Plan]) -> list[str]:
    sentences = []
    filled = _gaps(plans, ("number", "date"))
    if filled:
        sentences.append(f"Missing values were replaced by the median of their column: {filled}.")
    filled = _gaps(plans, ("boolean",))
    if filled:
        sentences.append(
            f"Missing values were replaced by the more frequent of yes and no: {filled}."
        )
    filled = _gaps(plans, ("category",))
    if filled:
        sentences.append(f"Missing values are treated as a separate category: {filled}.")
    return sentences


def _gaps(plans: Mapping[str, Plan], kinds: tuple[str, ...]) -> str:
    gaps: dict[str, Any] = {
        name: plan["missing"]
        for name, plan in plans.items()
        if plan["kind"] in kinds and plan["missing"]
    }
    first = [f"'{shown(name)}' ({count:,})" for name, count in list(gaps.items())[:12]]
    more = f" and {len(gaps) - 12} more columns" if len(gaps) > 12 else ""
    return ", ".join(first) + more


def _weights(weights: Mapping[str, float]) -> list[str]:
    if len(set(weights.values())) < 2:
        return []
    order = sorted(weights, key=lambda name: -weights[name])
    told = [f"'{shown(name)}' {weights[name]:.2g}" for name in order]
    if len(told) > 12:
        told = [*told[:8], f"{len(told) - 11} columns between", *told[-3:]]
    return [
        "Column weights (learned from how strongly each column is related to the others, or set "
        f"by you): {', '.join(told)}."
    ]


def _scaling(scale: bool, n_features: int, categories: bool) -> str:
    one = n_features == 1
    features = "The feature" if one else f"The {n_features} features"
    if not scale:
        return f"{features} keep{'s' * one} {'its' if one else 'their'} units."
    shared = (
        "; the 0/1 columns of one category together have unit variance, so a category weighs as "
        "much as one number"
    )
    verb = "was" if one else "were"
    return f"{features} {verb} centred and scaled to unit variance{shared * categories}."
