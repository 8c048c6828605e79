"""Everything that the page tells of a clustering, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from ...comparison import METHODS
from ...fitting import evidence
from ...loop.solver import STOPPING_REASONS
from ..files.clustering import agreement_of
from ..files.tally import MEMBERSHIP_BINS, Tally
from .counts import describe_counts
from .features import (
    OUTLIER,
    deciding_columns,
    deciding_cuts,
    describe_features,
    group_rows,
    telling_columns,
)
from .page import VERSION, as_json, digits, short
from .points import describe_exemplars, describe_graph, describe_points, lay_out

if TYPE_CHECKING:
    from ..files.clustering import Clustering

# Classes and clusters that the table shows: the largest clusters and their classes.
MOST_SHOWN = 20
# The two figures of the verdict in words, from little to much.
AGAIN, APART = ("other", "similar", "nearly the same"), ("hardly", "partly", "well")
# How columns were stretched, in words.
GEOMETRY = {
    "given": "as prepared",
    "standard": "each divided by its standard deviation",
    "within": "rescaled so that clusters are round",
    "principal": "combined into the principal directions that stand out from chance",
}


def summarise(clustering: Clustering, *, max_points: int = 5000) -> dict[str, Any]:
    """Everything that the page needs of a clustering, ready for JSON.

    The result is deterministic: if there are more than ``max_points`` rows, they are sampled with a
    fixed seed.

    Parameters
    ----------
    clustering : Clustering
        A clustered table.
    max_points : int, default=5000
        Rows that the picture shows at most; every cluster keeps some.

    Returns
    -------
    summary : dict
        Holds lists, numbers, text and None only, and no number that is not finite.
    """
    groups = group_rows(clustering.rows.labels)
    layout = lay_out(clustering.model, clustering.X)
    model = clustering.model
    counted = clustering.tally
    features = describe_features(clustering, groups)
    telling = telling_columns(features) if features else []
    deciding = deciding_columns(clustering, groups)
    shown, n = len(clustering.rows.frame), clustering.n_rows
    return {
        "version": VERSION,
        "source": short(clustering.settings["source"], 200),
        "method": method_name(model),
        "rows": n,
        "sample": {"rows": shown, "words": sample_words(shown, n)} if shown < n else None,
        "clusters_found": groups.c,
        "verdict": describe_verdict(clustering),
        "ending": describe_ending(model, groups.c),
        "clusters": describe_sizes(counted),
        "membership": describe_membership(counted, list(counted.sizes)),
        "deciding": deciding,
        "deciding_cuts": None if deciding else deciding_cuts(clustering),
        "truth": describe_truth(counted),
        "points": describe_points(clustering, groups, layout, max_points, telling),
        "exemplars": describe_exemplars(clustering, groups, telling),
        "features": features,
        "counts": describe_counts(clustering, groups.c),
        "graph": describe_graph(model, groups, layout[0][:, 0]),
        "history": describe_history(model),
        "data": describe_data(clustering),
    }


def method_name(model: Any) -> str:
    """The method of a model by its name in the paper."""
    names = {make: name for name, make in METHODS.items()} | {KMeans: "k-means"}
    return names.get(type(model), type(model).__name__)


def describe_verdict(clustering: Clustering) -> dict[str, Any]:
    """The verdict on the clusters, in words, and its figures beside those of chance."""
    seen, one = clustering.evidence, max(clustering.tally.sizes) < 1
    words, figures = "", []
    if seen is None:
        lead = "No verdict: the run ended before the clusters could be judged."
        words = "Give it more time (--max-time)."
    elif np.isfinite(seen.stability):
        bounds = (evidence.PLAUSIBLE_STABILITY, evidence.CLEAR_STABILITY)
        again = AGAIN[int(np.searchsorted(bounds, seen.stability, "right"))]
        bounds = (evidence.PLAUSIBLE_SEPARATION, evidence.CLEAR_SEPARATION)
        apart = APART[int(np.searchsorted(bounds, seen.separation, "right"))]
        none = "There is no evidence of clusters."
        lead = none if seen.verdict == "none" else f"The clusters are {seen.verdict}."
        words = (f"When some rows are left out and the others moved a little, {again} clusters are "
                 f"found; they are {apart} separated.")  # fmt: skip
        figures = [{"name": name, "value": digits(getattr(seen, name), 3),
                    "reference": digits(getattr(seen, f"reference_{name}"), 3)}
                   for name in ("stability", "separation")]  # fmt: skip
    elif one and getattr(clustering.model, "cluster_counts_", None):
        lead = "No cluster structure was detected: all rows are in one cluster."
    else:
        lead = f"No verdict: there {'is one cluster' if one else 'are too few rows'}."
    if seen and seen.verdict in ("doubtful", "none"):
        advice = ("Try another number of clusters (dogc explore), fewer columns (--drop) or "
                  "another scaling (--geometry).")  # fmt: skip
        words = f"{words} {advice}".strip()
    return {"verdict": seen and seen.verdict, "lead": lead, "words": words, "figures": figures,
            "caveats": clustering.settings.get("caveats", []) if figures else []}  # fmt: skip


def describe_ending(model: Any, c: int) -> dict[str, Any]:
    """Whether the run converged, and why it ended, in one sentence."""
    reason = getattr(model, "stopping_reason_", None)
    if reason is None:
        return {"converged": None, "words": ""}
    why = STOPPING_REASONS.get(reason, short(reason, 200))
    why = why.replace("exactly n_clusters components", f"exactly {c} component{'s' * (c != 1)}")
    good, n = bool(getattr(model, "converged_", False)), int(getattr(model, "n_iter_", 0))
    after = f"It {'converged' if good else 'did not converge'} after {n} iteration{'s' * (n != 1)}"
    return {"converged": good, "words": f"{after}: {why}."}


def sample_words(shown: int, total: int) -> str:
    """A sentence that tells what is of some rows and what is of all.

    Examples
    --------
    >>> sample_words(10, 99)
    'Plots and ranges use a sample of 10 of 99 rows; sizes, membership and scores use all rows.'
    """
    return (
        f"Plots and ranges use a sample of {shown:,} of {total:,} rows; sizes, membership and "
        "scores use all rows."
    )


def describe_sizes(counted: Tally) -> list[dict[str, Any]]:
    """Rows of each cluster, their membership, how many hang on loosely; outliers last."""
    return [
        {
            "cluster": label,
            "size": counted.sizes[label],
            "outliers": counted.outliers[label],
            "membership": describe_membership(counted, [label]),
        }
        for label in sorted(counted.sizes, key=lambda label: (label < 0, label))
    ]


def describe_membership(counted: Tally, labels: list[int]) -> dict[str, Any] | None:
    """Mean membership of clusters, the rows below a half and a histogram; None without any."""
    histogram = np.sum([counted.histogram(label) for label in labels], axis=0)
    if not (known := int(histogram.sum())):
        return None
    return {
        "mean": digits(sum(counted.membership[label] for label in labels) / known),
        "low": int(histogram[: MEMBERSHIP_BINS // 2].sum()),
        "known": known,
        "histogram": histogram.tolist(),
    }


def describe_history(model: Any) -> dict[str, Any] | None:
    """The run by iteration; None where the method keeps no record."""
    if not (history := getattr(model, "history_", None)):
        return None
    terms = list(history[0].terms)
    return {
        "iteration": [int(record.iteration) for record in history],
        "objective": [digits(record.objective, 6) for record in history],
        "terms": {term: [digits(record.terms[term], 6) for record in history] for term in terms},
        "lam": [digits(record.lam, 6) for record in history],
        "components": [int(record.n_components) for record in history],
        "changed": [int(record.labels_changed) for record in history],
    }


def describe_data(clustering: Clustering) -> dict[str, Any]:
    """Steps of the preparation, settings, times and facts of the fit."""
    model, settings = clustering.model, as_json(clustering.settings)
    for said in ("sample", "clusters", "preparation", "show"):  # elsewhere on the page
        settings.pop(said, None)
    timings = getattr(model, "timings_", None) or {}
    learned = ("n_neighbors", "n_representatives", "label_agreement")
    facts = {
        "columns": clustering.rows.frame.shape[1],
        "features": clustering.X.shape[1],
        **{name: as_json(getattr(model, f"{name}_", None)) for name in learned},
        "geometry": GEOMETRY.get(getattr(model, "geometry_", "")),
    }
    return {
        "steps": [short(step, 2000) for step in clustering.settings["preparation"]],
        "settings": settings,
        "seconds": digits(clustering.seconds),
        "phases": {short(name): digits(value, 3) for name, value in timings.items()},
        "facts": facts,
    }


def describe_truth(counted: Tally) -> dict | None:
    """Scores, and the table of classes and clusters in matched order; None without truth."""
    if (found := counted.table()) is None:
        return None
    names, labels, table = found
    if labels[0] == OUTLIER:  # outliers come last
        labels, table = [*labels[1:], OUTLIER], np.roll(table, -1, axis=1)
    order, matched = match_classes(table)
    return {
        "scores": {name: digits(score) for name, score in agreement_of(table).items()},
        "classes_total": len(names),
        "clusters_total": len(labels),
        "classes": [short(names[i], 60) for i in order],
        "clusters": labels[:MOST_SHOWN],
        "matched": [labels[matched[i]] if i in matched else None for i in order],
        "table": table[order, :MOST_SHOWN].tolist(),
    }


def match_classes(table: np.ndarray) -> tuple[list[int], dict[int, int]]:
    """The classes to show in order, and the column of each that is matched.

    Matched classes stand in the order of their clusters, then the others by their commonest.

    Examples
    --------
    >>> import numpy as np
    >>> match_classes(np.array([[0, 5], [2, 4], [7, 0]]))
    ([2, 0, 1], {0: 1, 2: 0})
    """
    rows, columns = linear_sum_assignment(-table)
    place, unmatched = table.argmax(axis=1), np.ones(len(table), dtype=bool)
    place[rows], unmatched[rows] = columns, False
    order = np.lexsort((place, unmatched))[:MOST_SHOWN]
    return order.tolist(), dict(zip(rows.tolist(), columns.tolist(), strict=True))
