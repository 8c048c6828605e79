"""Landmarks: a few points that many rows are described by, and labels of new rows by them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from ..numerics import bipartite, discrete, lloyd
from ..numerics.exact import rounded
from ..numerics.matrix import Matrix
from . import distinct, links, scaling
from .passes import over_blocks
from .representatives import Frame, as_points

# Lloyd's steps from candidates to their means.
STEPS = 10
# Coordinates below this lose bits; above it a row keeps as many of its own largest one.
SMALLEST = 2.0**-60


class ReadyRows(NamedTuple):
    """One of each row, in an order that does not depend on the order they came in."""

    X: Matrix  # (m, d) as they came
    size: np.ndarray  # (m,) copies of each
    inverse: np.ndarray  # (n,) which of them each row is
    frame: Frame
    n_jobs: int | None

    @property
    def m(self) -> int:
        """Number of distinct rows."""
        return len(self.size)

    def points(self, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Some of them as points, made a block at a time."""
        X = self.X[rows]
        return np.concatenate(list(over_blocks(lambda part: placed(self.frame, X[part]), X, 1)))


class Links(NamedTuple):
    """The landmarks that rows are joined with, nearest first, and the weights on them."""

    idx: np.ndarray  # (m, k)
    T: np.ndarray  # (m, k) rows sum to one


class Landmarks(NamedTuple):
    """All that labels new rows."""

    frame: Frame
    R: np.ndarray  # (p, q) as points
    n_links: int
    width: float
    V: np.ndarray  # (p, c) a row lies at the weighted mean of these
    unit_rows: bool  # whether rows are scaled to length one there
    centres: np.ndarray  # (c, c)


class Ensemble(NamedTuple):
    """The same for rows that are described by the clusters of several clusterings."""

    bases: tuple[Landmarks, ...]
    V: np.ndarray  # (clusters of all, c)
    unit_rows: bool
    centres: np.ndarray  # (c, c)


def placed(frame: Frame, X: Matrix) -> np.ndarray:
    """Rows as points, without the bits that change with the unit of X: ties stay ties."""
    bits = scaling.KEPT_BITS[frame.scaled.X.dtype]
    return rounded(as_points(frame, X), SMALLEST, bits)


def ready_rows(X: Matrix, n_jobs: int | None) -> ReadyRows:
    """Rows made ready: sorted, copies held once, on a scale of order one."""
    found = distinct.distinct_rows(X, None)
    scaled = scaling.scale_rows(found.X)
    frame = Frame(scaled._replace(X=scaled.X[:1]), None)  # of X only the kind is asked for
    size = np.bincount(found.inverse).astype(float)  # exactly
    return ReadyRows(found.X, size, found.inverse, frame, n_jobs)


def make_landmarks(
    rows: ReadyRows, p: int, candidates: int, rng: np.random.Generator
) -> np.ndarray:
    """At most p points: the means of cells of ``candidates * p`` rows that are drawn.

    One candidate each is the rows themselves. Where p is not below their number, all rows are
    landmarks.
    """
    if p >= rows.m:
        return rows.points()
    drawn = rng.permutation(rows.m)[: candidates * p]
    Z = rows.points(drawn)
    if candidates == 1:
        return Z
    assign = functools.partial(lloyd.nearest_mean, threads=effective_n_jobs(rows.n_jobs))
    return lloyd.cells(Z, rows.size[drawn], Z[:p], STEPS, assign)[1]


def nearest_landmarks(rows: ReadyRows, R: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest landmarks of each row and their squared distances."""
    search = links.make_search(R)

    def block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        idx, d = links.nearest(search, placed(rows.frame, rows.X[part]), k)
        return idx.astype(np.int32), d

    found = list(over_blocks(block, rows.X, rows.n_jobs))
    return np.concatenate([idx for idx, _ in found]), np.concatenate([d for _, d in found])


def barycentres(rows: ReadyRows, found: Links, p: int) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean of the rows of each of p landmarks, and the weight of these rows.

    Rows count as often as they occur. A mean is zero where there are none.
    """
    sums, total = np.zeros((p, rows.X.shape[1])), np.zeros(p)

    def block(part: slice) -> tuple[np.ndarray, np.ndarray]:
        Z = placed(rows.frame, rows.X[part])
        return bipartite.landmark_sums(found.idx[part], found.T[part], rows.size[part], Z, p)

    for more, weight in over_blocks(block, rows.X, rows.n_jobs):
        sums, total = sums + more, total + weight
    return sums / np.where(total > 0, total, 1.0)[:, None], total


def mean_width(d: np.ndarray, size: np.ndarray) -> float:
    """The mean distance of rows to their landmarks; 1 where it is zero.

    Examples
    --------
    >>> import numpy as np
    >>> mean_width(np.array([[1.0, 9.0], [4.0, 4.0]]), np.array([1, 3]))
    2.0
    """
    return float(np.average(np.sqrt(d).mean(axis=1), weights=size)) or 1.0


def embedded(found: Links, V: np.ndarray, unit_rows: bool) -> np.ndarray:
    """Rows where labels are read off."""
    U = bipartite.place_rows(found.idx, found.T, V)
    return scaling.unit_rows(U) if unit_rows else U


def labels_by(
    found: Links, V: np.ndarray, unit_rows: bool, centres: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """The nearest centre of each row, a block at a time."""

    def block(part: slice) -> np.ndarray:
        U = embedded(Links(found.idx[part], found.T[part]), V, unit_rows)
        return discrete.nearest_centre(U, centres)

    return np.concatenate(list(over_blocks(block, found.idx, n_jobs)))


def new_labels(fitted: Landmarks | Ensemble, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The labels of new rows: a function of each row alone."""
    describe = _ensemble_links(fitted) if isinstance(fitted, Ensemble) else _links(fitted)

    def block(rows: slice) -> np.ndarray:
        U = embedded(describe(X[rows]), fitted.V, fitted.unit_rows)
        return discrete.nearest_centre(U, fitted.centres)

    return np.concatenate(list(over_blocks(block, X, n_jobs)))


def _links(fitted: Landmarks) -> Callable[[Matrix], Links]:
    """What joins new rows with landmarks."""
    search = links.make_search(fitted.R)

    def link(X: Matrix) -> Links:
        idx, d = links.nearest(search, placed(fitted.frame, X), fitted.n_links)
        return Links(idx, bipartite.gaussian_links(d, fitted.width)[0])

    return link


def _ensemble_links(fitted: Ensemble) -> Callable[[Matrix], Links]:
    """What joins new rows with the clusters of all bases."""
    joined = [(base, _links(base)) for base in fitted.bases]

    def link(X: Matrix) -> Links:
        columns = [
            discrete.nearest_centre(embedded(base_link(X), base.V, base.unit_rows), base.centres)
            for base, base_link in joined
        ]
        return cluster_links(np.column_stack(columns), [len(b.centres) for b in fitted.bases])

    return link


def cluster_links(labels: np.ndarray, counts: list[int]) -> Links:
    """Each row joined with its clusters in several clusterings, all with the same weight.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_links(np.array([[0, 1], [1, 0]]), [2, 3]).idx.tolist()
    [[0, 3], [1, 2]]
    """
    first = np.cumsum([0, *counts[:-1]], dtype=labels.dtype)
    return Links(labels + first, np.broadcast_to(1.0 / len(counts), labels.shape))
