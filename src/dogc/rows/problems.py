"""From validated rows and settings to a Problem, and from a State back to features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from ..choices import n_components as spectrum
from ..loop.state import Problem, State, Weights, paper_weights, relative_weights
from ..numerics import affinity, fragments, trace_ratio
from ..numerics.matrix import Matrix
from . import neighbours, scaling
from .columns import GIVEN, Columns
from .representatives import Frame, Nodes
from .settings import Settings


def lookup_dimension(m: int) -> int:
    """Principal directions to look neighbours up in: room for W to choose m from."""
    return 2 * m + 2


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
    gram: np.ndarray | None = None  # (n, n) products of sparse rows that are regressed on


def locate(
    X: Matrix,
    size: np.ndarray,
    settings: Settings,
    k: int,
    columns: Columns = GIVEN,
    report: neighbours.Report | None = None,
) -> Place:
    """Scale the rows and list k + 1 candidates of each, nearest first."""
    if settings.precomputed:
        idx, squared = scaling.neighbours_in_graph(X, k + 1, skip_self=True)
        unit = float(squared[np.isfinite(squared)].mean()) or 1.0
        geometry = Geometry(None, None, None, None, X.dtype)
        return Place(X, size, geometry, idx, squared / unit, None, None, unit)
    geometry = geometry_of(X, settings, columns)
    Z = points(geometry)
    others = min(k + 1, X.shape[0] - 1)
    index = neighbours.fit_index(Z, settings.algorithm, others + 1, settings.norm)
    idx, d = neighbours.neighbours_among(index, Z, others, settings.n_jobs, report)
    return Place(X, size, geometry, idx, d, index, neighbours.recall(index, Z, idx))


def points(geometry: Geometry) -> Matrix:
    """The rows as points among which neighbours are looked up."""
    assert geometry.scaled is not None
    if geometry.lookup is None:
        return geometry.scaled.X
    return np.asarray(geometry.scaled.X @ geometry.lookup)


def geometry_of(X: Matrix, settings: Settings, columns: Columns = GIVEN) -> Geometry:
    """Rows on a scale of their own, and the subspace to look them up in."""
    scaled = scaling.scale_rows(X, columns)
    if isinstance(settings.n_components, str):
        # Columns that are whitened within clusters have no common level of noise.
        return _denoised(X, scaled) if columns.T is None else _plain(X, scaled)
    m, space = settings.n_components, None
    if m is not None and m < X.shape[1]:
        space = _row_space(scaled)
    return Geometry(scaled, space, None, m, X.dtype)


def _plain(X: Matrix, scaled: scaling.Scaled) -> Geometry:
    """All directions alike."""
    return Geometry(scaled, None, None, None, X.dtype)


def _denoised(X: Matrix, scaled: scaling.Scaled) -> Geometry:
    """The directions above the noise and as many again, where the rest is noise; else all."""
    n, d = X.shape
    if not sp.issparse(X) and d < n:
        space = trace_ratio.row_space(scaled.X, scaled.mean)
        m = spectrum.signal_dimension(np.einsum("ij,ij->j", space.R, space.R), n)
        if m is not None:
            space = _leading(space, lookup_dimension(m))
            return Geometry(scaled, space, space.V.astype(X.dtype), m, X.dtype)
    return _plain(X, scaled)


def _row_space(scaled: scaling.Scaled) -> trace_ratio.RowSpace | None:
    """Coordinates in the span of the rows; None where constant rows span nothing."""
    space = trace_ratio.row_space(scaled.X, scaled.mean)
    return space if space.R.shape[1] else None


def _leading(space: trace_ratio.RowSpace, q: int) -> trace_ratio.RowSpace:
    return trace_ratio.RowSpace(np.ascontiguousarray(space.R[:, :q]), space.V[:, :q])


def given_graph(
    idx: np.ndarray,
    A: np.ndarray,
    c: int,
    coordinates: Matrix | None,
    size: np.ndarray | None = None,
    mass: np.ndarray | None = None,
) -> Problem:
    r"""The problem of changing a given graph A, its rows on the simplex.

    In the row problem `eq:10` the distance is :math:`2 (\max_l a_{il} - a_{ij})` and xi is one:
    up to a constant that is :math:`\|s_i - a_i\|^2`, so at lambda = 0 its solution is A.
    """
    n, k = idx.shape
    return Problem(
        n=n,
        c=c,
        k=k,
        weights=paper_weights(0.0, 0.0, 0.0),
        p=2.0,
        fit_intercept=True,
        xi_rule=lambda d, k: np.ones(len(d)),
        idx=idx,
        d=np.where(idx < 0, np.inf, 2.0 * (A.max(axis=1, keepdims=True) - A)),
        X=None,
        R=None,
        m=0,
        coordinates=coordinates,
        size=np.ones(n) if size is None else size,
        A=A,
        mass=mass,
    )


def problem_at(place: Place, settings: Settings, c: int, k: int, regress: bool) -> Problem:
    """Everything that the loop reads, on a scale of its own, with k neighbours."""
    n, d = place.X.shape
    scaled, space = place.geometry.scaled, place.geometry.space
    idx, squared = place.idx[:, : k + 1], place.d[:, : k + 1]
    min_size = settings.min_size(float(place.size.sum()), c)
    if scaled is not None:
        Z = points(place.geometry)
        idx, squared = fragments.bridge_small(idx, squared, k, Z, place.size, min_size)
    return Problem(
        n=n,
        c=c,
        k=k,
        weights=_weights(settings, n, c, d, scaled),
        p=settings.p,
        fit_intercept=settings.fit_intercept,
        xi_rule=settings.xi_rule,
        idx=idx,
        d=squared,
        X=_regressors(place.X, scaled, settings.fit_intercept) if regress and scaled else None,
        R=space.R if space else None,
        m=min(place.geometry.m or 0, space.R.shape[1]) if space else 0,
        coordinates=scaled.X if scaled else None,
        size=place.size,
        min_size=min_size,
        threads=effective_n_jobs(settings.n_jobs),
        gram=place.gram if regress else None,
    )


def with_gram(place: Place) -> Place:
    """The products of rows, once for all scales, where a regression needs them."""
    scaled, (n, d) = place.geometry.scaled, place.X.shape
    if scaled is None or not sp.issparse(scaled.X) or d <= n:
        return place
    X = scaled.X.astype(np.float64)
    return place._replace(gram=(X @ X.T).toarray())


def node_graph(nodes: Nodes, c: int) -> Problem:
    """The problem of changing the graph of representatives."""
    idx, A = affinity.row_weights(nodes.A)
    problem = given_graph(idx, A, c, nodes.X, nodes.size, nodes.mass)
    return problem._replace(min_size=nodes.min_size)


def problem_on(nodes: Nodes, frame: Frame, settings: Settings, c: int, regress: bool) -> Problem:
    """The problem on representatives: their links are the graph that is given.

    The regression sees them as rows that count for what is linked to them.
    """
    scaled = frame.scaled
    (n, d), X = nodes.X.shape, nodes.X
    if not settings.fit_intercept:
        X = X + scaled.shift / scaled.scale  # uncentred, as `eq:27` has them
    return node_graph(nodes, c)._replace(
        weights=_weights(settings, n, c, d, scaled),
        p=settings.p,
        fit_intercept=settings.fit_intercept,
        X=X if regress else None,
    )


def _weights(
    settings: Settings, n: int, c: int, d: int, scaled: scaling.Scaled | None
) -> Callable[[float], Weights]:
    alpha, beta, gamma = settings.alpha, settings.beta, settings.gamma
    if settings.relative:
        n_varying = scaled.n_varying if scaled else d
        return relative_weights(alpha, beta, gamma, n, c, max(n_varying, 1))
    # gamma ||P||^2 is meant for P in units of X; here X is divided by its scale. Where each column
    # has a unit of its own it is meant for these.
    if scaled is None:
        return paper_weights(alpha, beta, gamma)
    scale = scaled.scale if np.ndim(scaled.unit) == 0 else scaled.scatter
    return paper_weights(alpha, beta, gamma / scale**2)


def _regressors(X: Matrix, scaled: scaling.Scaled, fit_intercept: bool) -> Matrix:
    """The regression's features; without an intercept, uncentred as `eq:27` has them."""
    if fit_intercept or sp.issparse(X):
        return scaled.X
    rows = X / scaled.scale
    return rows if scaled.T is None else rows @ scaled.T


def projection(geometry: Geometry, state: State, d: int) -> np.ndarray | None:
    """W in the space of the features, of shape (m, d); None where none was learned."""
    if geometry.m is None:
        return None
    if geometry.space is None or state.W is None:
        return np.eye(geometry.m, d, dtype=geometry.dtype)
    W = trace_ratio.settle_signs(geometry.space.V @ state.W)
    W = trace_ratio.complete_basis(W, geometry.m)
    return np.ascontiguousarray(W.T.astype(geometry.dtype))
