"""Where a run begins: spectral, random, or from given labels; S and F at lambda = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import discrete, fragments
from .state import LambdaSearch, LearnedGraph, Problem, State
from .steps import bottom_of, solved_rows, step_W, with_graph


def starts(
    problem: Problem, init: str | np.ndarray, n_init: int, rng: np.random.Generator
) -> Iterator[State]:
    """The states to begin from: ``n_init`` of them if chance is involved, else one."""
    if not isinstance(init, str):
        yield labels_start(problem, init)
    elif init == "spectral":
        yield spectral_start(problem)
    else:
        yield from random_starts(problem, n_init, rng)


def spectral_start(problem: Problem) -> State:
    """No chance at all: the data's own graph, its eigenvectors, a pivoted rotation."""
    state = embedded(problem)
    F = problem.nodes.root * state.F
    Q, Y = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
    return state._replace(Q=Q, Y=Y)


def labels_start(problem: Problem, labels: np.ndarray) -> State:
    """From given labels: the rotation that fits them best."""
    state = embedded(problem)
    return state._replace(Q=discrete.procrustes(problem.nodes.root * state.F, labels), Y=labels)


def random_starts(problem: Problem, n_init: int, rng: np.random.Generator) -> Iterator[State]:
    """Q and Y drawn at random, as in Algorithm 1, each time anew.

    S, W and F solve their own blocks once for all: their optima do not depend on Q and Y.
    """
    state = embedded(problem)
    for _ in range(n_init):
        Q = discrete.random_rotation(rng, problem.c)
        Y = discrete.assign(rng.random((problem.n, problem.c)))
        yield state._replace(Q=Q, Y=Y)


def embedded(problem: Problem) -> State:
    """S at lambda = 0, the projection that it asks for, S seen in that, and F; no labels yet.

    Where the graph already has more components than clusters, F indicates the components
    merged down to c: vectors of the null space, so no eigensolver is needed.
    """
    state = _solve_rows(problem, _blank(problem))
    if problem.subspace is not None:
        state = _solve_rows(problem, step_W(problem, state))
    group = state.graph.member
    if state.graph.n_components > problem.c:
        group = fragments.merge_components(problem.nodes.coordinates, group, problem.c)
    return state._replace(F=bottom_of(problem, state, group))


def _blank(problem: Problem) -> State:
    """The candidates in the space of all features, and nothing learned."""
    n, c, (k, idx, d, *_) = problem.n, problem.c, problem.candidates
    subspace, regression = problem.subspace, problem.regression
    # By index from here on, as a CSR row stores them: S then needs no sorting in any step.
    by_index = np.argsort(idx[:, :k], axis=1, kind="stable")
    nobody, nowhere = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    return State(
        graph=LearnedGraph(np.empty((n, 0)), None, nowhere, 0, nobody),
        F=np.empty((n, 0)),
        W=None if subspace is None else np.eye(subspace.R.shape[1], subspace.m),
        Q=np.eye(c),
        Y=nowhere,
        P=np.zeros((0 if regression is None else regression.X.shape[1], c)),
        intercept=np.full(c, 0.0 if regression and not regression.fit_intercept else 1.0 / c),
        idx=np.take_along_axis(idx, by_index, axis=1),
        dx=np.take_along_axis(d, by_index, axis=1),
        xi=problem.candidates.xi,
        lam=0.0,
        search=LambdaSearch(0.0, np.inf, None, 1.0, False),
    )


def _solve_rows(problem: Problem, state: State) -> State:
    return with_graph(problem, state, solved_rows(problem, state, state.dx))
