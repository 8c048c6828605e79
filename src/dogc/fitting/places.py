"""Where rows lie: on a scale of their own, with their neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..loop.state import State
from ..loop.watch import Watch
from ..numerics import separation, trace_ratio
from ..numerics.matrix import Matrix
from . import neighbours, scaling

# Rows whose neighbours are so many times as far away (squared) as usual do not stretch columns.
LONELY = 1000.0
# The fewest distinct rows of a group that may be a cluster because it lies apart.
FEWEST_APART = 10


class Geometry(NamedTuple):
    """How the numbers of a Problem relate to the features that the user passed."""

    scaled: scaling.Scaled | None  # None for a precomputed graph
    space: trace_ratio.RowSpace | None  # None where no projection is learned
    lookup: np.ndarray | None  # (d, q) directions that neighbours are looked up in; None: all
    m: int | None  # dimension of the learned subspace; None for no projection
    dtype: Any


class Place(NamedTuple):
    """Rows with their candidates, from which the problem at any smaller k can be made."""

    X: Matrix
    size: np.ndarray
    geometry: Geometry
    idx: np.ndarray  # (n, k+1), nearest first
    d: np.ndarray  # (n, k+1)
    search: neighbours.Index | None  # None for a precomputed graph
    recall: float | None  # share of true neighbours among the candidates; None for such a graph
    unit: float = 1.0  # what the squared distances of such a graph were divided by
    piece: np.ndarray | None = None  # (n,) the group apart that each is in; None: not looked for

    @property
    def cut(self) -> bool:
        """Whether an exact search was ended before it was done."""
        exact = self.search is not None and neighbours.is_exact(self.search)
        return exact and self.recall is not None and self.recall < 1.0


def locate(
    X: Matrix,
    size: np.ndarray,
    geometry: Geometry,
    lookup: neighbours.Lookup,
    k: int,
    watch: Watch | None = None,
) -> Place:
    """List k + 1 candidates of each row, nearest first; any rows where the time is up."""
    if geometry.scaled is None:
        idx, squared = scaling.neighbours_in_graph(X, k + 1, skip_self=True)
        unit = float(squared[np.isfinite(squared)].mean()) or 1.0
        return Place(X, size, geometry, idx, squared / unit, None, None, unit)
    Z = points(geometry)
    others = min(k + 1, X.shape[0] - 1)
    index = neighbours.fit_index(Z, lookup.algorithm, others + 1, lookup.norm)
    report = None if watch is None else watch.enough
    idx, d = neighbours.neighbours_among(index, Z, others, lookup.n_jobs, report)
    whole = watch is None or watch.end.reason is None
    piece = separation.pieces(idx, d, FEWEST_APART) if whole else None
    recall = neighbours.recall(index, Z, idx, whole)
    return Place(X, size, geometry, idx, d, index, recall, piece=piece)


def points(geometry: Geometry) -> Matrix:
    """The rows as points among which neighbours are looked up."""
    assert geometry.scaled is not None
    if geometry.lookup is None:
        return geometry.scaled.X
    return np.asarray(geometry.scaled.X @ geometry.lookup)


def projection(geometry: Geometry, state: State, d: int) -> np.ndarray | None:
    """W in the space of the features, of shape (m, d); None where none was learned."""
    if geometry.m is None:
        return None
    if geometry.space is None or state.W is None:
        return np.eye(geometry.m, d, dtype=geometry.dtype)
    W = trace_ratio.settle_signs(geometry.space.V @ state.W)
    W = trace_ratio.complete_basis(W, geometry.m)
    return np.ascontiguousarray(W.T.astype(geometry.dtype))


def in_company(place: Place, size: np.ndarray) -> np.ndarray:
    """What each row counts for in the scatter of columns: nothing if it is far from all others."""
    reach = place.d[:, -1]
    usual = float(np.median(reach))
    return size if usual == 0.0 else np.where(reach <= LONELY * usual, size, 0.0)
