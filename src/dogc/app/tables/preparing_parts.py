"""The preparation of rows that are never in memory together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .column_summaries import (
    Summary,
    find_ids_in,
    merge_summaries,
    plan_summary,
    summarise_column,
)
from .columns import left_out, no_difference, output_names
from .moments import Moments, moments_of
from .parts import Part, Parts
from .preparing import MixedEncoder
from .samples import keys_of_rows
from .table import no_such_column
from .workers import Watch, Workers, unwatched

# Of each column so many values are kept for the median, and so many texts are counted; of wide
# tables fewer, so that all of them take some ten MB.
MOST_VALUES, LEAST_VALUES, ALL_VALUES = 20_000, 1_000, 1_000_000


def prepare_parts(
    preparation: MixedEncoder, parts: Parts, workers: Workers, watch: Watch = unwatched
) -> MixedEncoder:
    """Fit a preparation by two passes over all parts.

    The first decides what is made of each column, the second computes means and scales. Results
    are merged in the order of the parts, so that they do not depend on who worked on which.

    Parameters
    ----------
    preparation : MixedEncoder
        What is asked for.
    parts : Parts
        The table.
    workers : Workers
        Who reads the parts.
    watch : callable, default=None
        Told after each part what is being done, to how many rows it was done now, and to how
        many it will be.

    Returns
    -------
    preparation : MixedEncoder
        The same, fitted.
    """
    names = parts.names
    asked = [preparation.drop] if isinstance(preparation.drop, str) else [*preparation.drop]
    aside = {name for name in [*asked, preparation.label_column] if name is not None}
    for name in aside - set(names):
        raise no_such_column(name, names)
    looked_at = [name for name in names if name not in aside]
    summaries = _summaries(parts, looked_at, workers, watch) if looked_at else {}
    roles = preparation.roles(names, lambda some: find_ids_in(summaries, some))
    plans = {name: roles.get(name) or plan_summary(summaries[name]) for name in names}
    preparation.adopt(plans)
    moments = _moments(preparation, parts, workers, watch)
    same, features = _constant(preparation, moments)
    if same:
        preparation.adopt({**plans, **dict.fromkeys(same, left_out("constant"))})
        moments = moments.of(features)
    return preparation.finish(moments)


def _summaries(
    parts: Parts, names: Sequence[str], workers: Workers, watch: Watch
) -> dict[str, Summary]:
    most = max(LEAST_VALUES, min(MOST_VALUES, ALL_VALUES // max(len(names), 1)))
    total: list[Summary] = []
    found = workers.in_order(summarise_part, parts.parts, list(names), most)
    for place, (part, later) in enumerate(zip(parts.parts, found, strict=True)):
        both = zip(total, later, strict=True) if place else ()
        total = [merge_summaries(one, two, most) for one, two in both] if place else later
        watch("looking at columns", part.rows, parts.rows)
    return dict(zip(names, total, strict=True))


def summarise_part(part: Part, names: Sequence[str], most: int) -> list[Summary]:
    """What must be known of some columns of a part."""
    frame = part.read(names)
    keys = keys_of_rows(frame.index.to_numpy())
    return [summarise_column(frame[name], keys, most) for name in names]


def _moments(preparation: MixedEncoder, parts: Parts, workers: Workers, watch: Watch) -> Moments:
    total: Moments | None = None
    found = workers.in_order(moments_of_part, parts.parts, preparation)
    for part, later in zip(parts.parts, found, strict=True):
        total = later if total is None else total.merged(later)
        watch("preparing", part.rows, parts.rows)
    assert total is not None
    return total


def moments_of_part(part: Part, preparation: MixedEncoder) -> Moments:
    """Mean and spread of the features of a part."""
    return moments_of(preparation.encoded(part.read(preparation.columns_)), preparation.weighs)


def _constant(preparation: MixedEncoder, moments: Moments) -> tuple[list[str], np.ndarray]:
    """Columns of numbers that turn out to be constant, and the features of the others."""
    same: list[str] = []
    features: list[int] = []
    start = 0
    for name in preparation.columns_:
        plan = preparation.plans_[name]
        width = len(output_names(name, plan))
        low, high = float(moments.low[start]), float(moments.high[start])
        if plan["kind"] in ("number", "date") and no_difference(low, high):
            same.append(name)
        else:
            features += range(start, start + width)
        start += width
    return same, np.array(features, dtype=np.intp)
