"""Outlier scores of fitted rows and of new ones, and which of them are outliers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loop.watch import Watch
from ..numerics import outliers, separation
from ..numerics.matrix import Matrix
from . import labelling, links, neighbours
from .distinct import DistinctRows
from .labelling import FittedRows, Labeller
from .problems import Place, points
from .repeatable import in_chunks
from .representatives import Representatives
from .settings import SMALLEST_SHARE, SmallestCluster, wide_scale

# The fewest rows that make a cluster where the number of clusters is open.
FEWEST = 5.0


def whole_rows(rows: DistinctRows) -> np.ndarray:
    """How many rows each distinct row stands for: what it weighs, but one at least."""
    return SmallestCluster(None, rows.unit).copies(rows.size)


def fitted_scores(
    fitted: FittedRows, place: Place, copies: np.ndarray, n_jobs: int | None, watch: Watch
) -> tuple[np.ndarray, np.ndarray]:
    """The reach of each fitted row among distinct rows, and its score.

    Nobody is an outlier where there was no time to look for neighbours.
    """
    if fitted.scaled is None:
        idx, d = neighbours.neighbours_in_graph(place.X, outliers.AROUND, skip_self=True)
    else:
        idx, d = _around(place, n_jobs, watch)
    if fitted.components is not None:
        idx, d = labelling.in_subspace(fitted, None, idx)
    own = _small_clusters(fitted.labels, copies)
    idx, d = separation.set_apart(idx, d, own)
    reach, score = _scores(idx, d, copies, _clusters(fitted))
    return reach, np.ones(len(score)) if place.cut else score


def lone_rows(
    place: Place, copies: np.ndarray, c: int | None, n_jobs: int | None, watch: Watch, wide: bool
) -> np.ndarray:
    """Rows that lie far away, alone or in a group too small for one of c clusters."""
    if place.cut:
        return np.zeros(len(copies), dtype=bool)
    idx, d = _around(place, n_jobs, watch)
    least = SMALLEST_SHARE * copies.sum() / c if c else FEWEST
    score = _scores(idx, d, copies, c or 1 if wide else None)[1]
    return outliers.lone(score, idx, d, copies, least)


def _scores(
    idx: np.ndarray, d: np.ndarray, copies: np.ndarray, c: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Reach and score; distinct rows say what is usual: among copies that would be zero."""
    alone = np.ones(len(copies))
    reach = outliers.mean_reach(d, alone[idx], 0.0 * alone, _nearest(alone, c))
    own = outliers.mean_reach(d, copies[idx], copies - 1.0, _nearest(copies, c))
    return reach, _relative(own, reach, idx[:, : _around_each(len(copies), c)])


def _small_clusters(labels: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """The clusters that are smaller than one would be that does not lie apart; -1: no such cluster.

    Their rows are compared with each other alone: they have fewer neighbours than others.
    """
    total = np.bincount(labels, weights=copies)
    small = total < SMALLEST_SHARE * total.sum() / len(total)
    return np.where(small[labels], labels, -1)


def _clusters(fitted: FittedRows) -> int | None:
    """The number of clusters, where neighbourhoods are wide; None where they are not.

    Where categories leave gaps between rows, few neighbours say little about what lies far away.
    """
    return int(fitted.labels.max()) + 1 if fitted.wide else None


def usual_reach(reach: np.ndarray) -> float:
    """The mean reach of rows that have one."""
    known = reach[np.isfinite(reach)]
    return float(known.mean()) if len(known) else 0.0


def _nearest(copies: np.ndarray, c: int | None) -> int:
    """How many neighbours make the reach of a row: at most half of the others."""
    most = outliers.NEAREST if c is None else wide_scale(int(copies.sum()), c)
    return int(np.clip((copies.sum() - 1) // 2, 1, max(most, outliers.NEAREST)))


def _around_each(n: int, c: int | None) -> int:
    """How many rows say what reach is usual."""
    return outliers.AROUND if c is None else max(outliers.AROUND, wide_scale(n, c))


def _around(place: Place, n_jobs: int | None, watch: Watch) -> links.Nearest:
    """The rows around each row: as many as it takes, where the search can find more in time."""
    wanted = min(outliers.AROUND, place.X.shape[0] - 1)
    assert place.search is not None
    known = place.idx.shape[1] >= wanted or place.search.kind != "exact"
    if known or watch.overdue:
        return place.idx, place.d
    Z = points(place.geometry)
    found = neighbours.neighbours_among(place.search, Z, wanted, n_jobs, watch.enough)
    return (place.idx, place.d) if watch.end.reason else found


def new_scores(fitted: Labeller, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The score of each new row; a fitted row is its own nearest neighbour here."""
    if isinstance(fitted, Representatives):
        search = links.make_search(fitted.R, fitted.metric)

        def linked_scores(Z: np.ndarray) -> np.ndarray:
            idx, d = links.nearest(search, Z, fitted.n_links)
            return _relative(links.mean_distance(d), fitted.reach, idx)

        return labelling.of_points(fitted, X, n_jobs, linked_scores)
    copies, reach = fitted.copies, fitted.reach
    c, small = _clusters(fitted), _small_clusters(fitted.labels, copies)
    around = _around_each(len(copies), c)

    def scores(rows: Matrix) -> np.ndarray:
        needed = max(around, _nearest(copies, c)) if fitted.wide else around
        idx, d = labelling.nearest_fitted(fitted, rows, needed, n_jobs)
        idx, d = separation.set_apart(idx, d, small, small[idx[:, 0]])
        own = outliers.mean_reach(d, copies[idx], np.zeros(len(idx)), _nearest(copies, c))
        return _relative(own, reach, idx[:, :around])

    return in_chunks(scores, X)


def are_outliers(fitted: Labeller, X: Matrix, score: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """New rows with a high score, and those that belong to a group too small for a cluster."""
    far = score > outliers.OUTLYING
    if fitted.stray is None or not fitted.stray.any():
        return far
    groups = fitted._replace(labels=fitted.stray.astype(np.int64))
    return far | (labelling.new_labels(groups, X, n_jobs) == 1)


def representative_reach(R: np.ndarray, n_links: int, metric: str) -> np.ndarray:
    """The mean distance of each representative to the nearest others."""
    _, d = links.nearest(links.make_search(R, metric), R, n_links + 1)
    return np.sqrt(d[:, 1:]).mean(axis=1) if d.shape[1] > 1 else np.zeros(len(R))


def row_scores(fitted: Representatives, rows: links.RowLinks) -> np.ndarray:
    """The score of each row that is linked with representatives."""
    # Three digits tell rows apart, and many rows with few values make a small model file.
    return _relative(rows.reach, fitted.reach, rows.idx).round(3).astype(np.float32)


def _relative(own: np.ndarray, reach: Any, idx: np.ndarray) -> np.ndarray:
    """Scores by the reach of rows and by that of the rows around them."""
    around = np.where(idx >= 0, reach[idx], np.nan)
    return outliers.relative_reach(own, around, usual_reach(reach))
