"""From rows and settings to the Problem that the loop solves: neighbours first, then its terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from .._checks import LARGEST
from ..loop.penalties import Penalties, Weights, paper_weights, relative_weights
from ..loop.state import Candidates, Nodes, Problem, Regression, State, Subspace
from ..loop.watch import Watch
from ..numerics import affinity, fragments, separation, trace_ratio
from ..numerics.matrix import Matrix
from . import neighbours, scaling
from .representatives import Frame, NodeGraph
from .settings import Settings, wide_scale

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
        exact = self.search is not None and self.search.kind == "exact"
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
        idx, squared = neighbours.neighbours_in_graph(X, k + 1, skip_self=True)
        unit = float(squared[np.isfinite(squared)].mean()) or 1.0
        return Place(X, size, geometry, idx, squared / unit, None, None, unit)
    Z = points(geometry)
    others = min(k + 1, X.shape[0] - 1)
    index = neighbours.fit_index(Z, lookup.algorithm, others + 1, lookup.norm)
    index = index._replace(directions=geometry.lookup)
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
        W = np.eye(geometry.m, d, dtype=geometry.dtype)
        scaled = geometry.scaled
        return W if scaled is None or scaled.order is None else W[:, scaled.order]
    W = trace_ratio.settle_signs(geometry.space.V @ state.W)
    W = trace_ratio.complete_basis(W, geometry.m)
    return np.ascontiguousarray(W.T.astype(geometry.dtype))


def in_company(place: Place, size: np.ndarray) -> np.ndarray:
    """The size of each row in the scatter of columns: zero if it is far from all others."""
    reach = place.d[:, -1]
    usual = float(np.median(reach))
    return size if usual == 0.0 else np.where(reach <= LONELY * usual, size, 0.0)


def until_wide(
    idx: np.ndarray, d: np.ndarray, copies: np.ndarray, c: int, part: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest candidates of each row that are enough, and behind them the next one.

    They are enough if they stand for a wide neighbourhood of all rows, and if they are one of the
    distinct rows.

    Parameters
    ----------
    idx, d : arrays of shape (n, q), candidates and squared distances, nearest first.
    copies : how many rows each of the distinct rows stands for.
    c : number of clusters.
    part : how wide, in units of a wide neighbourhood.

    Returns
    -------
    idx, d : arrays of shape (n, k+1), where rows that need fewer than k have candidates -1 at an
        infinite distance. In the last column is the next one.

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.arange(5)[None], np.arange(5.0)[None]
    >>> until_wide(idx, d, np.ones(15), 2)
    (array([[0, 1, 2, 3]]), array([[0., 1., 2., 3.]]))
    >>> until_wide(idx, d, np.array([1, 7, 1, 1, 1, 1]), 2)[0]
    array([[0, 1, 2]])
    """
    rows, q = np.arange(len(idx)), idx.shape[1]
    enough = part * wide_scale(int(copies.sum()), c)
    least = max(1, int(part * wide_scale(len(copies), c)))
    needed = 1 + (np.cumsum(copies[idx], axis=1) < enough).sum(axis=1)
    needed = np.clip(needed, least, max(q - 1, 1))
    following = np.minimum(needed, q - 1)
    k = int(needed.max(initial=1))
    beyond = np.arange(k) >= needed[:, None]
    near = np.column_stack([np.where(beyond, -1, idx[:, :k]), idx[rows, following]])
    return near, np.column_stack([np.where(beyond, np.inf, d[:, :k]), d[rows, following]])


def given_graph(idx: np.ndarray, A: np.ndarray, c: int, nodes: Nodes) -> Problem:
    r"""The problem of changing a given graph A, its rows on the simplex.

    In the row problem `eq:10` the distance is :math:`2 (\max_l a_{il} - a_{ij})` and xi is one:
    up to a constant that is :math:`\|s_i - a_i\|^2`, so at lambda = 0 its solution is A.
    """
    d = np.where(idx < 0, np.inf, 2.0 * (A.max(axis=1, keepdims=True) - A))
    candidates = Candidates(idx.shape[1], idx, d, np.ones(len(d)), A)
    return Problem(c=c, candidates=candidates, nodes=nodes, weights=paper_weights(0.0, 0.0, 0.0))


def problem_at(place: Place, settings: Settings, c: int, k: int, regress: bool) -> Problem:
    """Everything that the loop reads, on a scale of its own, with k neighbours."""
    n, d = place.X.shape
    scaled, space = place.geometry.scaled, place.geometry.space
    min_size = settings.smallest.size(float(place.size.sum()), c)
    nodes = Nodes(place.size, scaled.X if scaled else None, min_size)
    every, idx, squared, copies = settings.wanted.everyone, place.idx, place.d, None
    if not every:
        idx, squared = idx[:, : k + 1], squared[:, : k + 1]
    if settings.wanted.wide:
        copies = settings.smallest.copies(place.size)
        part = k / (settings.wanted.n_neighbors or k)
        idx, squared = until_wide(idx, squared, copies, c, part)
        k = idx.shape[1] - 1
        nodes = nodes._replace(mass=place.size, root=np.sqrt(place.size)[:, None])
    if scaled is not None:
        size = place.size
        if place.piece is not None and settings.may_stand:
            stands = separation.stands(size, place.piece, c, min_size)
            idx, squared = separation.set_apart(idx, squared, stands)
            size = separation.standing(size, stands, min_size)
            nodes = nodes._replace(standing=size)
        near, Z = idx.shape[1] if every else k, points(place.geometry)
        idx, squared = fragments.bridge_small(idx, squared, near, Z, size, min_size)
    xi = settings.xi_rule(squared, k, copies=None if copies is None else copies[idx[:, :k]])
    candidates = Candidates(idx.shape[1] if every else k, idx, squared, xi, copies=copies)
    weights = _weights(settings.penalties, n, c, d, scaled)
    threads = effective_n_jobs(settings.lookup.n_jobs)
    problem = Problem(c=c, candidates=candidates, nodes=nodes, weights=weights, threads=threads)
    if space is not None:
        R, m = space.R, min(place.geometry.m or 0, space.R.shape[1])
        if nodes.mass is not None:
            centred = R - np.average(R, axis=0, weights=nodes.mass)
            R = nodes.root * (centred if centred.any() else R)  # equal rows span what rounding does
        problem = problem._replace(subspace=Subspace(R, m))
    if regress and scaled is not None:
        X = scaled.X
        if not settings.fit_intercept and not sp.issparse(X):  # uncentred, as `eq:27` has them
            X = place.X / scaled.scale
            X = X if scaled.T is None else X @ scaled.T
        regression = Regression(X, settings.penalties.p, settings.fit_intercept)
        problem = problem._replace(regression=regression)
    return problem


def node_graph(nodes: NodeGraph, c: int) -> Problem:
    """The problem of changing the graph of representatives."""
    idx, A = affinity.rows_on_simplex(nodes.A)
    root = np.sqrt(nodes.mass)[:, None]
    own = Nodes(nodes.size, nodes.X, nodes.min_size, nodes.standing, nodes.mass, root)
    return given_graph(idx, A, c, own)


def problem_on(
    nodes: NodeGraph, frame: Frame, settings: Settings, c: int, regress: bool
) -> Problem:
    """The problem on representatives: their links are the graph that is given.

    The regression sees them as rows that count for what is linked to them.
    """
    n, d = nodes.X.shape
    weights = _weights(settings.penalties, n, c, d, frame.scaled)
    problem = node_graph(nodes, c)._replace(weights=weights)
    if not regress:
        return problem
    X = nodes.X
    if not settings.fit_intercept:
        X = X + frame.scaled.shift / frame.scaled.scale  # uncentred, as `eq:27` has them
    return problem._replace(regression=Regression(X, settings.penalties.p, settings.fit_intercept))


def _weights(
    penalties: Penalties, n: int, c: int, d: int, scaled: scaling.Scaled | None
) -> Callable[[float], Weights]:
    alpha, beta, gamma, relative, _ = penalties
    if relative:
        n_varying = scaled.n_varying if scaled else d
        return relative_weights(alpha, beta, gamma, n, c, max(n_varying, 1))
    # gamma ||P||^2 is meant for P in units of X; here X is divided by its scale. Where each column
    # has a unit of its own it is meant for these.
    if scaled is None:
        return paper_weights(alpha, beta, gamma)
    scale = scaled.scale if np.ndim(scaled.unit) == 0 else scaled.scatter
    # Beyond any bound it leaves P zero, whatever it is.
    return paper_weights(alpha, beta, min(gamma / scale / scale, LARGEST))
