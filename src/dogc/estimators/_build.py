"""From validated rows and settings to a Problem, and from a State back to features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import graph, trace_ratio
from ..arrays import Matrix
from ..state import Problem, State, paper_weights, relative_weights
from . import _checks, _data
from ._checks import Settings


class Geometry(NamedTuple):
    """How the numbers of a Problem relate to the features that the user passed."""

    scaled: _data.Scaled | None  # None for a precomputed graph
    space: trace_ratio.RowSpace | None  # None where no projection is learned
    dtype: Any


def build_problem(
    X: Matrix, settings: Settings, n_clusters: int, regress: bool
) -> tuple[Problem, Geometry]:
    """Everything that the loop reads, on a scale of its own."""
    n, d = X.shape
    geometry, idx, squared = _locate(X, settings)
    scaled, space = geometry.scaled, geometry.space
    alpha, beta, gamma = settings.alpha, settings.beta, settings.gamma
    if settings.relative:
        n_varying = scaled.n_varying if scaled else d
        weights = relative_weights(alpha, beta, gamma, n, n_clusters, max(n_varying, 1))
    else:
        # gamma ||P||^2 is meant for P in units of X; here X is divided by its scale.
        weights = paper_weights(alpha, beta, gamma / (scaled.scale**2 if scaled else 1.0))
    problem = Problem(
        n=n,
        c=n_clusters,
        k=settings.n_neighbors,
        weights=weights,
        p=settings.p,
        fit_intercept=settings.fit_intercept,
        xi_rule=settings.xi_rule,
        idx=idx,
        d=squared,
        X=_regressors(X, scaled, settings.fit_intercept) if regress and scaled else None,
        R=space.R if space else None,
        m=min(settings.n_components or 0, space.R.shape[1]) if space else 0,
        coordinates=scaled.X if scaled else None,
    )
    return problem, geometry


def _locate(X: Matrix, settings: Settings) -> tuple[Geometry, np.ndarray, np.ndarray]:
    """Scale the rows and list the candidates of each, nearest first."""
    n, d = X.shape
    k = settings.n_neighbors
    if settings.precomputed:
        _checks.check_neighbour_graph(X, k)
        idx, squared = _data.neighbours_in_graph(X, k + 1, skip_self=True)
        reach = float(squared[np.isfinite(squared)].mean())
        return Geometry(None, None, X.dtype), idx, squared / (reach or 1.0)
    scaled = _data.scale_rows(X)
    idx = _data.neighbours_among(scaled.X, min(k + 1, n - 1), settings.n_jobs)
    squared = graph.pair_distances(scaled.X, scaled.X, idx)
    space = None
    if settings.n_components is not None and settings.n_components < d:
        space = trace_ratio.row_space(scaled.X, scaled.mean)
        space = space if space.R.shape[1] else None  # constant rows span nothing
    return Geometry(scaled, space, X.dtype), idx, squared


def _regressors(X: Matrix, scaled: _data.Scaled, fit_intercept: bool) -> Matrix:
    """The regression's features; without an intercept, uncentred as `eq:27` has them."""
    if fit_intercept or sp.issparse(X):
        return scaled.X
    return X / scaled.scale


def projection(geometry: Geometry, state: State, settings: Settings, d: int) -> np.ndarray | None:
    """W in the space of the features, of shape (m, d); None where none was learned."""
    if settings.n_components is None:
        return None
    if geometry.space is None or state.W is None:
        return np.eye(settings.n_components, d, dtype=geometry.dtype)
    W = trace_ratio.settle_signs(geometry.space.V @ state.W)
    W = trace_ratio.complete_basis(W, settings.n_components)
    return np.ascontiguousarray(W.T.astype(geometry.dtype))


def linear_predictor(
    geometry: Geometry, state: State, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """P and its intercept for features as the user has them: (c, d) and (c,)."""
    assert geometry.scaled is not None
    coef = state.P / geometry.scaled.scale
    intercept = state.intercept - (geometry.scaled.shift @ coef if fit_intercept else 0.0)
    return np.ascontiguousarray(coef.T.astype(geometry.dtype)), intercept.astype(geometry.dtype)
