"""Labels for new rows by the paper's own row problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..loop.state import Problem
from ..numerics import discrete, graph
from ..numerics.matrix import Matrix
from . import links, neighbours, scaling
from .problems import Place, until_wide
from .repeatable import in_chunks, over_blocks
from .representatives import Representatives, as_points
from .settings import wide_scale


class FittedRows(NamedTuple):
    """All of the fitted rows that `eq:10` needs to weigh them for a new one."""

    search: neighbours.Index | None  # None if precomputed
    scaled: scaling.Scaled | None
    components: np.ndarray | None
    labels: np.ndarray  # of the fitted rows
    k: int
    xi: float | None  # the common xi; None where each row has its own
    wide: bool = False  # whether neighbourhoods are counted by the rows that they stand for
    copies: Any = None  # (n,) rows that each stands for
    reach: Any = None  # (n,) mean distance of each to its nearest distinct rows
    stray: Any = None  # (n,) whether each is in a group too small for a cluster


Labeller = FittedRows | Representatives


def fitted_rows(
    place: Place,
    components: np.ndarray | None,
    labels: np.ndarray,
    k: int,
    xi: float | None,
    wide: bool = False,
) -> FittedRows:
    """Keep what the fitted rows are found by; distances that are given come as they are."""
    xi = None if xi is None else xi * place.unit
    return FittedRows(place.search, place.geometry.scaled, components, labels, k, xi, wide)


def repeated(fitted: FittedRows, place: Place) -> np.ndarray:
    """Whether each fitted row, seen as a new one, gets its label again.

    It is its own nearest neighbour then; the others are known from the fit.
    """
    n = len(fitted.labels)
    idx = np.column_stack([np.arange(n), place.idx[:, : fitted.k]])
    d = np.column_stack([np.zeros(n), place.d[:, : fitted.k] * place.unit])
    if fitted.components is not None:
        idx, d = in_subspace(fitted, None, idx)
    return _weighed(fitted, idx, d).argmax(axis=1) == fitted.labels


def in_subspace(fitted: FittedRows, X: Matrix | None, idx: np.ndarray) -> links.Nearest:
    """Candidates by their distances in the learned subspace, for scaled rows or fitted ones."""
    assert fitted.scaled is not None
    Z = project(fitted.scaled.X, fitted.components)
    own = Z if X is None else project(X, fitted.components)
    return neighbours.nearest_first(idx, neighbours.distances(fitted.search, own, Z, idx))


def project(X: Matrix, components: np.ndarray | None) -> Matrix:
    """X W, or X itself where no projection was learned."""
    return X if components is None else np.asarray(X @ components.T)


def new_labels(fitted: Labeller, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The label with the most weight in the row problem of each new row, lowest in a tie."""
    if isinstance(fitted, Representatives):
        return linked_labels(fitted, X, n_jobs)
    return in_chunks(lambda rows: new_shares(fitted, rows, n_jobs).argmax(axis=1), X)


def new_shares(fitted: Labeller, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The weight of each label in the row problem of each new row, of shape (n, c)."""
    if isinstance(fitted, Representatives):
        search = links.make_search(fitted.R, fitted.metric)
        return of_points(fitted, X, n_jobs, lambda Z: _linked_shares(fitted, search, Z))
    m = fitted.k + 1
    return in_chunks(lambda rows: _weighed(fitted, *nearest_fitted(fitted, rows, m, n_jobs)), X)


def membership(problem: Problem, labels: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """For each fitted row, the weight of its own label among its neighbours in the data.

    By the row problem before anything was learned: the learned graph has no other neighbours.
    The copies of a row, counted with itself, are its nearest neighbours.
    """
    candidates = problem.candidates
    k, idx = candidates.k, candidates.idx[:, : candidates.k]
    counts = candidates.counts(idx)
    weight = graph.solve_rows(candidates.d[:, :k], candidates.xi, problem.threads, counts)
    own = np.einsum("ij,ij->i", weight, labels[idx] == labels[:, None])
    usual = k if counts is None else wide_scale(int(copies.sum()), problem.c)
    near = np.minimum((copies - 1.0) / usual, 1.0)
    return near + (1.0 - near) * own


def _weighed(fitted: FittedRows, idx: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The weight of each label by `eq:10`, from k+1 neighbours, nearest first."""
    labels, k, counts = fitted.labels, fitted.k, None
    c = int(labels.max()) + 1
    if fitted.wide:
        idx, d = until_wide(idx, d, fitted.copies, c)
        k = idx.shape[1] - 1
        counts = fitted.copies[idx[:, :k]]
    if fitted.xi is None:
        xi = graph.neighbour_xi(d, k, floor=0.0, copies=counts)
    else:
        xi = np.full(len(d), max(fitted.xi, np.finfo(float).tiny))
    weight = graph.solve_rows(d[:, :k], xi, copies=counts)
    return discrete.label_shares(labels[idx[:, :k]], weight, c)


def nearest_fitted(fitted: FittedRows, X: Matrix, m: int, n_jobs: int | None) -> links.Nearest:
    """The m nearest fitted rows of each new row and their squared distances.

    As in the fit: who is a candidate is decided in the space of all features, how far it
    is in the learned subspace.
    """
    if fitted.search is None or fitted.scaled is None:
        neighbours.check_entries(X, "metric", "distances")
        idx, d = neighbours.neighbours_in_graph(X, m, skip_self=False)
        if (idx[:, 0] < 0).any():
            raise ValueError(
                "X has rows without any distance to a fitted row; pass the transform of the "
                "KNeighborsTransformer that was fitted on the same rows as this estimator."
            )
        return idx, d
    X = scaling.apply_scale(fitted.scaled, scaling.same_kind(X, fitted.scaled.X))
    directions = fitted.search.directions
    at = X if directions is None else np.asarray(X @ directions)
    idx = neighbours.query(fitted.search, at, min(m, len(fitted.labels)), n_jobs)
    return in_subspace(fitted, X, np.sort(idx, axis=1))


def of_points(
    fitted: Representatives, X: Matrix, n_jobs: int | None, function: Callable[..., np.ndarray]
) -> np.ndarray:
    """A function of rows as points, computed a block at a time."""

    def block(rows: slice) -> np.ndarray:
        return function(as_points(fitted.frame, X[rows]))

    return np.concatenate(list(over_blocks(block, X, n_jobs, links=fitted.n_links)))


def linked_labels(fitted: Representatives, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The label with the largest share, the lowest in a tie.

    Rows well inside a cluster are told by their nearest representatives alone.
    """
    search = links.make_search(fitted.R, fitted.metric)
    surely = links.sure_labels(search, fitted.labels, min(fitted.n_votes, fitted.n_links))

    def votes(Z: np.ndarray) -> np.ndarray:
        labels, sure = surely(Z)
        if not sure.all():
            labels[~sure] = _linked_shares(fitted, search, Z[~sure]).argmax(axis=1)
        return labels

    return of_points(fitted, X, n_jobs, votes)


def _linked_shares(fitted: Representatives, search: links.Search, Z: np.ndarray) -> np.ndarray:
    found = links.link_rows(search, Z, fitted.n_links, fitted.width)
    votes = links.votes(found, fitted.labels, fitted.n_votes)
    return votes / votes.sum(axis=1, keepdims=True)
