"""Where a run begins: spectral, random, or from given labels."""

from __future__ import annotations

import numpy as np

from . import discrete, graph, stiefel
from .lambda_search import begin_search, refresh_candidates
from .state import LambdaSearch, Problem, State
from .steps import projected_distances, step_W


def spectral_start(problem: Problem) -> State:
    """No chance at all: the data's own graph, its eigenvectors, a pivoted rotation."""
    state = _learned_subspace(problem, _data_graph(problem))
    Q, Y = discrete.rotate_to_labels(state.F, discrete.pivoted_rotation(state.F))
    return begin_search(problem, state._replace(Q=Q, Y=Y))


def labels_start(problem: Problem, labels: np.ndarray) -> State:
    """From given labels: the rotation that fits them best."""
    state = _learned_subspace(problem, _data_graph(problem))
    return begin_search(problem, state._replace(Q=discrete.procrustes(state.F, labels), Y=labels))


def random_start(problem: Problem, rng: np.random.Generator) -> State:
    """W, Q and Y drawn at random, as in Algorithm 1; S and F solve their own blocks."""
    state = _data_graph(problem)
    if problem.R is not None:
        W = _orthonormal(rng, problem.R.shape[1], problem.m)
        state = state._replace(W=W, dx=projected_distances(problem.R, W, state.idx))
    Q = _orthonormal(rng, problem.c, problem.c)
    Y = discrete.assign(rng.random((problem.n, problem.c)))
    return begin_search(problem, state._replace(Q=Q, Y=Y))


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    Q, R = np.linalg.qr(rng.standard_normal((rows, columns)))
    return Q * np.sign(np.diag(R))


def _data_graph(problem: Problem) -> State:
    """S at lambda = 0 in the space of all features, and F from it.

    Where the graph already has more components than clusters, F indicates the components
    merged down to c: a null space vector each, so no eigensolver is needed.
    """
    k, c = problem.k, problem.c
    idx, dx, xi = problem.idx[:, :k], problem.d[:, :k], problem.xi_rule(problem.d, k)
    S = graph.solve_rows(dx, xi)
    csr = graph.to_csr(idx, S, problem.n)
    L = graph.laplacian(csr)
    count, member = graph.components(csr)
    group = member if count <= c else graph.merge_components(problem.coordinates, member, c)
    return State(
        S=S,
        L=L,
        member=member,
        n_components=count,
        F=stiefel.bottom_eigenvectors(L, c, group),
        W=None if problem.R is None else np.eye(problem.R.shape[1], problem.m),
        dx=dx,
        Q=np.eye(c),
        Y=np.zeros(problem.n, dtype=np.int64),
        P=np.zeros((0 if problem.X is None else problem.X.shape[1], c)),
        intercept=np.full(c, 1.0 / c),
        lam=0.0,
        xi=xi,
        idx=idx,
        search=LambdaSearch(0.0, np.inf, None, 1.0, False),
    )


def _learned_subspace(problem: Problem, state: State) -> State:
    """The projection that this graph asks for, and the candidates seen in it."""
    return refresh_candidates(problem, step_W(problem, state))
