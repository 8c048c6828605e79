"""Where a run begins: spectral, random, or from given labels; S and F at lambda = 0."""

from __future__ import annotations

import numpy as np

from ..numerics import discrete, fragments, graph
from .state import LambdaSearch, Problem, State, by_mass
from .steps import bottom_of, step_W, with_graph


def spectral_start(problem: Problem) -> State:
    """No chance at all: the data's own graph, its eigenvectors, a pivoted rotation."""
    state = _embed(problem, _data_graph(problem))
    F = by_mass(problem, state.F)
    Q, Y = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
    return state._replace(Q=Q, Y=Y)


def labels_start(problem: Problem, labels: np.ndarray) -> State:
    """From given labels: the rotation that fits them best."""
    state = _embed(problem, _data_graph(problem))
    return state._replace(Q=discrete.procrustes(by_mass(problem, state.F), labels), Y=labels)


def random_start(problem: Problem, rng: np.random.Generator) -> State:
    """Q and Y drawn at random, as in Algorithm 1.

    S, W and F solve their own blocks: their optima do not depend on where they start.
    """
    Q = discrete.random_rotation(rng, problem.c)
    Y = discrete.assign(rng.random((problem.n, problem.c)))
    return _embed(problem, _data_graph(problem))._replace(Q=Q, Y=Y)


def _data_graph(problem: Problem) -> State:
    """S at lambda = 0 in the space of all features; no embedding and no labels yet."""
    k, c = problem.k, problem.c
    # By index from here on, as a CSR row stores them: S then needs no sorting in any step.
    by_index = np.argsort(problem.idx[:, :k], axis=1, kind="stable")
    blank = State(
        S=np.empty((problem.n, 0)),
        L=None,
        member=np.zeros(problem.n, dtype=np.int64),
        n_components=0,
        stray=np.zeros(problem.n, dtype=bool),
        F=np.empty((problem.n, 0)),
        W=None if problem.R is None else np.eye(problem.R.shape[1], problem.m),
        dx=np.take_along_axis(problem.d, by_index, axis=1),
        Q=np.eye(c),
        Y=np.zeros(problem.n, dtype=np.int64),
        P=np.zeros((0 if problem.X is None else problem.X.shape[1], c)),
        intercept=np.full(c, 1.0 / c if problem.fit_intercept else 0.0),
        lam=0.0,
        xi=problem.xi_rule(problem.d, k),
        idx=np.take_along_axis(problem.idx, by_index, axis=1),
        search=LambdaSearch(0.0, np.inf, None, 1.0, False),
    )
    return _solve_rows(problem, blank)


def _embed(problem: Problem, state: State) -> State:
    """The projection that the graph asks for, the graph seen in it, and F from that.

    Where the graph already has more components than clusters, F indicates the components
    merged down to c: vectors of the null space, so no eigensolver is needed.
    """
    if problem.R is not None:
        state = _solve_rows(problem, step_W(problem, state))
    group = state.member
    if state.n_components > problem.c:
        group = fragments.merge_components(problem.coordinates, group, problem.c)
    return state._replace(F=bottom_of(problem, state, group))


def _solve_rows(problem: Problem, state: State) -> State:
    return with_graph(problem, state, graph.solve_rows(state.dx, state.xi, problem.threads))
