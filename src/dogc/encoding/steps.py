"""Steps of an encoding in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._words import shown
from .columns import MOST_LEVELS, Plan, has_others
from .errors import listed, shortened

_STYLES = {
    "decimal comma": "Read with a decimal comma",
    "thousands": "Read with commas between thousands",
    "days": "Durations were converted to days",
}
_ORDERS = {"%m/%d/%Y": "month/day/year", "%d/%m/%Y": "day/month/year"}
_FILLED = {
    "number": "Missing values were replaced by the median of their column",
    "boolean": "Missing values were replaced by the more frequent of yes and no",
    "category": "Missing values are treated as a separate category",
}


def describe(encoder: Any, scaled: bool) -> list[str]:
    """Sentences on a fitted encoder's columns: what they became, and which were dropped."""
    plans, sentences = encoder.plans_, []
    if encoder.id_column_ is not None:
        sentences.append(f"The column '{shown(encoder.id_column_)}' identifies the rows: it is "
                         "copied to the output, but not used for clustering.")  # fmt: skip
    if encoder.label_column is not None:
        sentences.append(f"The column '{shown(encoder.label_column)}' holds the known labels: it "
                         "is used only for scoring.")  # fmt: skip
    # 1) what columns of a kind have in common
    for kind in ("left out", "number", "date", "boolean", "category"):
        of_kind = {name: plan for name, plan in plans.items() if plan["kind"] == kind}
        shared: dict[str, list[str]] = {}
        for name, plan in of_kind.items():
            for phrase in _phrases(plan):
                shared.setdefault(phrase, []).append(name)
        sentences += [
            f"Dropped {listed(names)}: {phrase}." if kind == "left out"
            else f"{phrase}: {'column' if len(names) == 1 else 'columns'} {listed(names)}."
            for phrase, names in shared.items()
        ]  # fmt: skip
        # 2) what is of a single one
        for name, plan in of_kind.items():
            sentences += _of_column(name, plan)
    # 3) what was done to all
    for kind, phrase in _FILLED.items():
        kinds = (kind, "date") if kind == "number" else (kind,)
        if gaps := [
            f"'{shown(name)}' ({plan['missing']:,})"
            for name, plan in plans.items()
            if plan["kind"] in kinds and plan["missing"]
        ]:
            sentences.append(f"{phrase}: {shortened(gaps)}.")
    categories = any(plan["kind"] == "category" for plan in plans.values())
    scaling = _scaling(scaled, encoder.scale == "auto", len(encoder.feature_names_), categories)
    return [*sentences, scaling, *_weights(encoder.weights_)]


def _phrases(plan: Plan) -> list[str]:
    """The steps of a column, in phrases that it may share with others."""
    if plan["kind"] == "number":
        unit = str(plan.get("before", "")) + str(plan.get("after", ""))
        return ["Used as numbers", *filter(None, [_STYLES.get(plan["style"])]),
                *[f"Removed '{shown(unit)}' from the numbers"] * bool(unit)]  # fmt: skip
    if plan["kind"] == "date":
        order = _ORDERS.get(plan["format"][:8])
        return ["Dates were converted to days since 1970-01-01",
                *[f"Dates were read as {order}"] * bool(order)]  # fmt: skip
    if plan["kind"] == "left out":
        return [plan["reason"]]
    boolean = plan["kind"] == "boolean"
    return ["Yes and no were converted to 1 and 0" if boolean else "One-hot encoded"]


def _of_column(name: str, plan: Plan) -> Iterator[str]:
    """On values of a category that share a feature, and on cells that are no numbers or dates."""
    if plan["kind"] == "category" and has_others(plan):
        others = f"more than {plan['open']:,}" if plan.get("open") else len(plan["others"])
        yield (f"In column '{shown(name)}', {len(plan['levels'])} values have a column each (at "
               f"most {MOST_LEVELS}, those in at least 1% of the rows); the other {others} share "
               "one.")  # fmt: skip
    if strays := plan.get("strays"):
        such = f" (such as '{shown(plan['stray'], 40)}')" if "stray" in plan else ""
        yield (f"In column '{shown(name)}', cells that are not {plan['kind']}s count as missing: "
               f"{strays:,}{such}.")  # fmt: skip


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


def _scaling(scaled: bool, seen: bool, n_features: int, categories: bool) -> str:
    one = n_features == 1
    features = "The feature" if one else f"The {n_features} features"
    if not scaled:
        if seen and not one:
            return f"{features} keep their units, which are alike; --scale standardises them."
        return f"{features} keep{'s' * one} {'its' if one else 'their'} units."
    shared = (
        "; the 0/1 columns of one category together have unit variance, so a category weighs as "
        "much as one number"
    )
    verb = "was" if one else "were"
    return f"{features} {verb} centred and scaled to unit variance{shared * categories}."
