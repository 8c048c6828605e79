"""From rows and settings to the Problem that the loop solves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from .._checks import LARGEST
from ..loop.penalties import Penalties, Weights, paper_weights, relative_weights
from ..loop.state import Candidates, Nodes, Problem, Regression, Subspace
from ..numerics import affinity, fragments, separation
from ..numerics.matrix import Matrix
from . import scaling, wide
from .places import Place, points
from .representatives import Frame, NodeGraph
from .settings import Settings


def given_graph(
    idx: np.ndarray,
    A: np.ndarray,
    c: int,
    coordinates: Matrix | None,
    size: np.ndarray | None = None,
    mass: np.ndarray | None = None,
    min_size: float = 0.0,
    standing: np.ndarray | None = None,
) -> Problem:
    r"""The problem of changing a given graph A, its rows on the simplex.

    In the row problem `eq:10` the distance is :math:`2 (\max_l a_{il} - a_{ij})` and xi is one:
    up to a constant that is :math:`\|s_i - a_i\|^2`, so at lambda = 0 its solution is A.
    """
    n, k = idx.shape
    nodes = Nodes(np.ones(n) if size is None else size, coordinates, min_size, standing)
    if mass is not None:
        nodes = nodes._replace(mass=mass, root=np.sqrt(mass)[:, None])
    d = np.where(idx < 0, np.inf, 2.0 * (A.max(axis=1, keepdims=True) - A))
    return Problem(
        c=c,
        candidates=Candidates(k, idx, d, lambda d, k: np.ones(len(d)), A),
        nodes=nodes,
        weights=paper_weights(0.0, 0.0, 0.0),
    )


def problem_at(place: Place, settings: Settings, c: int, k: int, regress: bool) -> Problem:
    """Everything that the loop reads, on a scale of its own, with k neighbours."""
    n, d = place.X.shape
    scaled, space = place.geometry.scaled, place.geometry.space
    min_size = settings.smallest.size(float(place.size.sum()), c)
    nodes = Nodes(place.size, scaled.X if scaled else None, min_size)
    candidates = Candidates(k, place.idx[:, : k + 1], place.d[:, : k + 1], settings.xi_rule)
    if settings.wanted.wide:
        copies = settings.smallest.copies(place.size)
        part = k / (settings.wanted.n_neighbors or k)
        candidates = wide.with_copies(candidates, copies, c, part)
        nodes = nodes._replace(mass=place.size, root=np.sqrt(place.size)[:, None])
    if scaled is not None:
        k, idx, squared = candidates.k, candidates.idx, candidates.d
        Z, size = points(place.geometry), place.size
        if place.piece is not None and settings.may_stand:
            stands = separation.stands(size, place.piece, c, min_size)
            idx, squared = separation.set_apart(idx, squared, stands)
            size = separation.standing(size, stands, min_size)
            nodes = nodes._replace(standing=size)
        idx, squared = fragments.bridge_small(idx, squared, k, Z, size, min_size)
        candidates = candidates._replace(idx=idx, d=squared)
    problem = Problem(
        c=c,
        candidates=candidates,
        nodes=nodes,
        weights=_weights(settings.penalties, n, c, d, scaled),
        threads=effective_n_jobs(settings.lookup.n_jobs),
    )
    if space is not None:
        R, m = space.R, min(place.geometry.m or 0, space.R.shape[1])
        if nodes.mass is not None:
            centred = R - np.average(R, axis=0, weights=nodes.mass)
            R = nodes.root * (centred if centred.any() else R)  # equal rows span what rounding does
        problem = problem._replace(subspace=Subspace(R, m))
    if regress and scaled is not None:
        X = _regressors(place.X, scaled, settings.fit_intercept)
        regression = Regression(X, settings.p, settings.fit_intercept)
        problem = problem._replace(regression=regression)
    return problem


def node_graph(nodes: NodeGraph, c: int) -> Problem:
    """The problem of changing the graph of representatives."""
    idx, A = affinity.rows_on_simplex(nodes.A)
    return given_graph(idx, A, c, nodes.X, nodes.size, nodes.mass, nodes.min_size, nodes.standing)


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
    return problem._replace(regression=Regression(X, settings.p, settings.fit_intercept))


def _weights(
    penalties: Penalties, n: int, c: int, d: int, scaled: scaling.Scaled | None
) -> Callable[[float], Weights]:
    alpha, beta, gamma, relative = penalties
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


def _regressors(X: Matrix, scaled: scaling.Scaled, fit_intercept: bool) -> Matrix:
    """The regression's features; without an intercept, uncentred as `eq:27` has them."""
    if fit_intercept or sp.issparse(X):
        return scaled.X
    rows = X / scaled.scale
    return rows if scaled.T is None else rows @ scaled.T
