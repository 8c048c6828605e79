"""The clusters at several numbers of them: what splits, what merges, and what speaks for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ...comparison import VERDICTS
from ...estimators._base import GraphClusterer
from ...exploration import Exploration, explore
from ...fitting.auto.splits import change_words
from ...fitting.evidence import Evidence
from ...plotting._splits import flow_between
from .page import digits

if TYPE_CHECKING:
    from ..files.clustering import Clustering

# Rows and numbers up to which the report fits one cluster fewer and one more: a second or so.
MOST_ROWS, MOST_CELLS = 1_000, 50_000
LEAST_ROWS = 30


def describe_exploration(found: Exploration, chosen: int | None = None) -> dict[str, Any]:
    """Everything that a picture of several numbers needs; ``chosen`` is underlined."""
    blocks, ribbons = flow_between(found.labels, found.steps)
    return {
        "proposed": found.proposed,
        "chosen": found.proposed if chosen is None else chosen,
        "words": found.lead(),
        "rows": [
            {
                "clusters": row.n_clusters,
                "score": digits(row.score),
                **verdict_of(row.evidence),
                "smallest": min(size for name, size in row.sizes.items() if name >= 0),
            }
            for row in found
        ],
        "steps": [
            {
                "fewer": step.fewer,
                "more": step.more,
                "nested": digits(step.nested),
                "changes": [change_words(change) for change in step.changes],
            }
            for step in found.steps
        ],
        "flow": {"blocks": blocks, "ribbons": ribbons},
    }


def verdict_of(seen: Evidence | None) -> dict[str, Any]:
    """The verdict on the clusters of one fit, its rank and its figures; empty without evidence."""
    if seen is None:
        return {}
    figures = {name: digits(getattr(seen, name)) for name in ("stability", "separation")}
    return {"verdict": seen.verdict, "rank": VERDICTS.index(seen.verdict), **figures}


def describe_counts(clustering: Clustering, c: int) -> dict[str, Any] | None:
    """The same with one cluster fewer and one more; None where that would take long."""
    model, (n, d) = clustering.model, clustering.X.shape
    quick = LEAST_ROWS <= n <= MOST_ROWS and n * d <= MOST_CELLS and clustering.n_rows == n
    known = isinstance(model, GraphClusterer) and getattr(model, "resolutions_", None) is None
    ended = getattr(model, "stopping_reason_", "") in ("interrupted", "max_time", "callback")
    if not (quick and known) or ended or model.max_time is not None or c < 2:
        return None
    numbers = [count for count in (c - 1, c, c + 1) if 2 <= count <= n // 2]
    try:
        found = explore(clustering.X, numbers, clone(model).set_params(verbose=0), propose=False,
                        progress=False)  # fmt: skip
    except ValueError:  # a parameter that does not fit another number
        return None
    found.evidence = list(getattr(model, "cluster_counts_", []))
    weighed = {row.n_clusters: row.score for row in found.evidence}
    found.rows = [row._replace(score=weighed.get(row.n_clusters, row.score)) for row in found]
    return describe_exploration(found, c)
