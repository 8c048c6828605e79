"""First states of a run: spectral, by modularity, random, by labels; S, F at lambda = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ..numerics import discrete, fragments, graph, modularity
from .state import LambdaSearch, LearnedGraph, Problem, State, similarities, symmetric
from .steps import bottom_of, graph_at, projected_distances, step_W, with_graph


def starts(
    problem: Problem, init: str | np.ndarray, n_init: int, rng: np.random.Generator
) -> Iterator[State]:
    """The states to begin from: ``n_init`` of them if chance is involved, else one."""
    if not isinstance(init, str):
        yield labels_start(problem, init)
    elif init == "spectral" and not problem.ended():
        yield spectral_start(problem)
    elif init != "random":  # eigenvectors of many clusters take longer than a partition
        yield modularity_start(problem)
    else:
        yield from random_starts(problem, n_init, rng)


def spectral_start(problem: Problem) -> State:
    """No chance at all: the data's own graph, its eigenvectors, a pivoted rotation."""
    state = embedded(problem, own_state(problem))
    F = problem.nodes.root * state.F
    Q, Y = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
    return state._replace(Q=Q, Y=Y)


def modularity_start(problem: Problem, known: State | None = None) -> State:
    """No chance either: the modularity partition of the data's own graph.

    Another start may be known, with the same S and W. Where no partition has c clusters, the labels
    are those of the spectral start.
    """
    A, order = own_graph(problem)
    labels = modularity.partition(A, problem.c, order, problem.ended)
    if labels.max() + 1 != problem.c:
        return known or spectral_start(problem)
    return labels_start(problem, labels, known)


def own_graph(problem: Problem) -> tuple[sp.csr_array, np.ndarray]:
    """The graph of rows at lambda = 0 without directions, and an order of its nodes.

    Each row has a regulariser of its own (`eq:24`): in many columns distances hardly differ, and
    with one for all some rows have one neighbour and others all.
    """
    candidates, nodes = problem.candidates, problem.nodes
    counts = candidates.counts(candidates.idx[:, : candidates.k])
    xi = graph.neighbour_xi(candidates.d, candidates.k, copies=counts)
    problem = problem._replace(candidates=candidates._replace(xi=xi))
    state = _blank(problem)
    S = similarities(graph_at(problem, state, state.dx))
    if nodes.mass is not None:
        S = sp.csr_array(S * nodes.mass[:, None])
    Z = nodes.coordinates
    return symmetric(S), np.arange(problem.n) if Z is None else modularity.from_the_middle(Z)


def labels_start(problem: Problem, labels: np.ndarray, known: State | None = None) -> State:
    """From given labels: F indicates them, and the rotation fits both.

    Another start may be known, with the same S and W.
    """
    state, root = known or own_state(problem), problem.nodes.root
    F = root * discrete.times(labels, np.eye(problem.c))
    F /= np.linalg.norm(F, axis=0)
    return state._replace(F=F, Q=discrete.procrustes(root * F, labels), Y=labels)


def warm_start(
    problem: Problem,
    *,
    S: sp.csr_array | None = None,
    F: np.ndarray | None = None,
    W: np.ndarray | None = None,
    Q: np.ndarray | None = None,
    Y: np.ndarray | None = None,
) -> State:
    """A state from some of its blocks; the others are what these and the data ask for.

    Parameters
    ----------
    problem : Problem
    S : sparse array of shape (n, n), default=None
        Weights on the candidates of each row, which sum to one. None: the solution at lambda = 0.
    F : array of shape (n, c), default=None
        Continuous labels, F'F = I. None: the bottom eigenvectors of the graph.
    W : array of shape (d, m), default=None
        The projection, W'W = I. None: the one that the graph asks for.
    Q : array of shape (c, c), default=None
        The rotation, Q'Q = I. None: the one that fits F and Y.
    Y : int array of shape (n,), default=None
        Labels from 0 to c - 1. None: the argmax of FQ, or where Q is None too, a pivoted rotation.

    Returns
    -------
    state : State
    """
    n, c, root = problem.n, problem.c, problem.nodes.root
    state = own_state(problem)
    if W is not None:
        if problem.subspace is None or problem.nodes.coordinates is None:
            raise ValueError("W was given, and the problem has no projection; set n_components.")
        Z = problem.nodes.coordinates @ W
        seen = np.linalg.lstsq(problem.subspace.R, Z - Z.mean(axis=0), rcond=None)[0]
        W = np.linalg.qr(seen)[0] * np.sign(np.diag(np.linalg.qr(seen)[1]))
        dx = projected_distances(problem, problem.subspace.R @ W, state.graph.idx)
        state = graph_at(problem, state._replace(W=W, dx=dx), dx)
    if S is not None:
        weights = sp.csr_array(S)[np.arange(n)[:, None], state.graph.idx].toarray()
        if not np.allclose(weights.sum(axis=1), 1.0) or weights.min() < 0:
            raise ValueError("each row of S must hold weights of its candidates that sum to one.")
        state = with_graph(problem, state, weights)
    for name, given, shape in (("F", F, (n, c)), ("Q", Q, (c, c))):
        if given is not None and not (
            given.shape == shape and np.allclose(given.T @ given, np.eye(c), atol=1e-6)
        ):
            raise ValueError(f"{name} must be of shape {shape} and have orthonormal columns.")
    if Y is not None and (np.shape(Y) != (n,) or set(np.unique(Y)) != set(range(c))):
        raise ValueError(f"Y must hold a label from 0 to {c - 1} for each row, and each of them.")
    state = embedded(problem, state) if F is None else state._replace(F=F)
    F = root * state.F
    if Q is None:
        turned = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
        Q, Y = turned if Y is None else (discrete.procrustes(F, Y), Y)
    return state._replace(Q=Q, Y=discrete.assign(F @ Q) if Y is None else np.asarray(Y))


def random_starts(problem: Problem, n_init: int, rng: np.random.Generator) -> Iterator[State]:
    """Q and Y drawn at random, as in Algorithm 1, each time anew.

    S, W and F solve their own blocks once for all: their optima do not depend on Q and Y.
    """
    state = embedded(problem, own_state(problem))
    for _ in range(n_init):
        Q = discrete.random_rotation(rng, problem.c)
        Y = discrete.assign(rng.random((problem.n, problem.c)))
        yield state._replace(Q=Q, Y=Y)


def embedded(problem: Problem, state: State) -> State:
    """The state with the F that its graph asks for.

    Where the graph already has more components than clusters, F indicates the components
    merged down to c: vectors of the null space, so no eigensolver is needed.
    """
    group = state.graph.member
    if state.graph.n_components > problem.c:
        group = fragments.merge_components(problem.nodes.coordinates, group, problem.c)
    return state._replace(F=bottom_of(problem, state, group))


def own_state(problem: Problem) -> State:
    """S at lambda = 0, the projection that it asks for, S seen in that; no F and no labels yet."""
    state = _blank(problem)
    state = graph_at(problem, state, state.dx)
    if problem.subspace is not None:
        state = step_W(problem, state)
        state = graph_at(problem, state, state.dx)
    return state


def _blank(problem: Problem) -> State:
    """The candidates in the space of all features, and nothing learned."""
    n, c, (k, idx, d, *_) = problem.n, problem.c, problem.candidates
    subspace, regression = problem.subspace, problem.regression
    # By index from here on, as a CSR row stores them: S then needs no sorting in any step.
    by_index = np.argsort(idx[:, :k], axis=1, kind="stable")
    idx, nowhere = np.take_along_axis(idx, by_index, axis=1), np.zeros(n, dtype=np.int64)
    return State(
        graph=LearnedGraph(idx, np.empty((n, 0)), None, nowhere, 0, nowhere > 0),
        F=np.empty((n, 0)),
        W=None if subspace is None else np.eye(subspace.R.shape[1], subspace.m),
        Q=np.eye(c),
        Y=nowhere,
        P=np.zeros((0 if regression is None else regression.X.shape[1], c)),
        intercept=np.full(c, 0.0 if regression and not regression.fit_intercept else 1.0 / c),
        dx=np.take_along_axis(d, by_index, axis=1),
        lam=0.0,
        search=LambdaSearch(0.0, np.inf, None, 1.0, False),
    )
