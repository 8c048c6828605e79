"""Features that tell each cluster apart, ranked by how far its rows are from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .contrasts import Contrast, contrasts, with_short_cuts
from .deciding import names_of
from .groups import Groups
from .histograms import Column, Features, describe_column
from .json_values import digits

if TYPE_CHECKING:
    from ..files.clustering import Clustering

# With more features than these, those whose means differ most are looked at.
MOST_FEATURES = 2000
MOST_CLUSTERS = 100
# A gap from which on a feature is named in the sentence about a cluster.
TELLING = 0.3


def describe_features(clustering: Clustering, groups: Groups) -> dict | None:
    """For each cluster its most telling features; None where there is nothing to compare."""
    clusters = [group for group in groups.shown if group < groups.c][:MOST_CLUSTERS]
    if len(groups.shown) < 2 or not clusters:
        return None
    kept = 12 if len(clusters) <= 12 else 6
    features = Features(clustering)
    looked_at = candidates(clustering.X, groups)
    ranked: dict[int, list[tuple[int, Contrast]]] = {group: [] for group in clusters}
    for j in looked_at:
        for group, contrast in contrasts(features[j], groups, clusters):
            ranked[group].append((j, contrast))
    for found in ranked.values():
        found.sort(key=lambda pair: -pair[1].gap)
        del found[kept:]
    used = sorted({j for found in ranked.values() for j, _ in found})
    columns = {j: features[j] for j in used}
    return {
        "total": clustering.X.shape[1],
        "looked_at": len(looked_at),
        "clusters_total": groups.c,
        "columns": [describe_column(columns[j], groups, clusters) for j in used],
        "clusters": [
            describe_cluster(group, ranked[group], columns, used, groups) for group in clusters
        ],
    }


def telling_columns(features: dict | None) -> list[str]:
    """Columns of the table by how well they tell a cluster from the rest, the best first."""
    gaps: dict[str, float] = {}
    for group in (features or {}).get("clusters", []):
        for found in group["features"]:
            name = features["columns"][found["column"]]["name"]  # type: ignore[index]
            gap = found["share"] - found["rest"]
            for column in names_of(name):
                gaps[column] = max(gap, gaps.get(column, 0.0))
    return sorted(gaps, key=lambda name: -gaps[name])


def candidates(X: np.ndarray, groups: Groups) -> list[int]:
    """The features worth looking at: all, or those that differ most between the clusters."""
    n, d = X.shape
    if d <= MOST_FEATURES:
        return list(range(d))
    member = sp.csr_array((np.ones(n), (groups.codes, np.arange(n))), shape=(groups.c + 1, n))
    means = np.asarray(member @ X) / np.maximum(groups.size, 1)[:, None]
    apart = groups.size @ (means - X.mean(axis=0)) ** 2
    spread = n * X.var(axis=0)
    score = np.divide(apart, spread, out=np.zeros(d), where=spread > 0)
    return sorted(np.argsort(-score, kind="stable")[:MOST_FEATURES].tolist())


def describe_cluster(
    group: int,
    found: list[tuple[int, Contrast]],
    columns: dict[int, Column],
    used: list[int],
    groups: Groups,
) -> dict:
    """One cluster's features, best first, and what to say of the best."""
    place = {j: position for position, j in enumerate(used)}
    rows = groups.codes == group
    features = []
    for j, exact in found:
        values, finite = columns[j].values, np.isfinite(columns[j].values)
        mine = values[rows & finite]
        contrast = with_short_cuts(exact, mine, values[~rows & finite])
        features.append(
            {
                "column": place[j],
                "side": contrast.side,
                "cuts": list(contrast.cuts),
                "share": digits(contrast.share),
                "rest": digits(contrast.rest),
                "median": digits(np.median(mine), 5),
            }
        )
    words = in_words([(columns[j], contrast) for j, contrast in found])
    return {"cluster": group, "words": words, "features": features}


def in_words(found: list[tuple[Column, Contrast]]) -> list[dict[str, Any]]:
    """The telling features by what they are: higher, later, medium, extreme, mostly, rarely."""
    dates = {"higher": "later", "lower": "earlier", "medium": "between", "extreme": "far"}
    kinds = {"above": "higher", "below": "lower", "between": "medium", "outside": "extreme"}
    words: dict[str, list[str]] = {}
    for column, contrast in [pair for pair in found if pair[1].gap >= TELLING][:4]:
        kind = kinds[contrast.side]
        if column.two_values:
            kind = "mostly" if kind == "higher" else "rarely"
        elif column.date:
            kind = dates[kind]
        words.setdefault(kind, []).append(column.name)
    return [{"kind": kind, "names": names} for kind, names in words.items()]
