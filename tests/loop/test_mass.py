"""Nodes that stand for several rows: the same as so many rows."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.fitting.problems import given_graph
from dogc.loop import methods, objective
from dogc.loop.initial_states import starts
from dogc.loop.penalties import paper_weights
from dogc.loop.state import Nodes, Regression
from dogc.loop.steps import step_F, step_S, with_graph
from dogc.numerics import affinity, graph
from reference_loop import first_state, total

METHODS = [m for m in vars(methods).values() if isinstance(m, methods.Method) and m.name != "PCAN"]
each = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)


def links(rng, n, d=2):
    """A symmetric graph in which nearby points are tied."""
    X = rng.standard_normal((n, d)) + 3.0 * rng.integers(0, 3, (n, 1))
    apart = np.sum((X[:, None] - X) ** 2, axis=2)
    A = np.exp(-apart / 2) * (apart <= np.sort(apart, axis=1)[:, [min(6, n - 1)]])
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0.0)
    return X, A


def problem_with(X, A, c, mass, weights=None, p=1.0):
    idx, weight = affinity.rows_on_simplex(sp.csr_array(A))
    nodes = Nodes(np.ones(len(X)), X)
    if mass is not None:
        mass = mass.astype(float)
        nodes = Nodes(mass, X, mass=mass, root=np.sqrt(mass)[:, None])
    problem = given_graph(idx, weight, c, nodes)
    weights = weights or paper_weights(0.05, 0.02, 0.01)
    return problem._replace(weights=weights, regression=Regression(X, p, True))


def block(state, name):
    """One of the paper's variables, or what is known of the graph."""
    return getattr(state if name in state._fields else state.graph, name)


def suited(problem, method):
    """The problem without penalties that the method does not know."""
    linked = objective.link in method.terms
    return problem if linked else problem._replace(weights=paper_weights(0.0, 0.0, 0.0))


def iterate(problem, method, state, times=3):
    for _ in range(times):
        for step in method.steps:
            state = step(problem, state)
    return state


@st.composite
def situations(draw):
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, c = draw(st.integers(8, 30)), draw(st.integers(1, 4))
    X, A = links(rng, n)
    degree = A.sum(axis=1)
    masses = [rng.integers(1, 6, n), rng.random(n) + 0.01, np.maximum(degree / degree.mean(), 1e-6)]
    mass = draw(st.sampled_from(masses)).astype(float)
    alpha, beta = (draw(st.sampled_from([0.0, 1e-3, 0.1, 10.0])) for _ in range(2))
    gamma, p = draw(st.sampled_from([1e-3, 1.0])), draw(st.sampled_from([0.5, 1.0, 2.0]))
    problem = problem_with(X, A, c, mass, paper_weights(alpha, beta, gamma), p)
    return problem, draw(st.sampled_from(["spectral", "random"])), seed


@each
@settings(deadline=None, max_examples=20)
@given(situations())
def test_no_step_raises_the_objective(method, situation):
    problem, init, seed = situation
    problem = suited(problem, method)
    state = first_state(problem, method, init, seed)
    value = total(problem, method, state)
    for _ in range(3):
        for step in method.steps:
            state = step(problem, state)
            new = total(problem, method, state)
            assert new <= value + 1e-10 * max(abs(value), abs(new), 1e-3), step.__name__
            value = new


# ------------------------------------------------------------------------- nodes as copies


def as_copies(problem, state):
    """Every node as often as its mass says; a copy is tied to the first copy of a neighbour."""
    mass = problem.nodes.mass.astype(int)
    rows = np.repeat(np.arange(problem.n), mass)
    first = np.concatenate([[0], np.cumsum(mass)[:-1]])

    def moved(idx):
        return np.where(idx >= 0, first[idx], -1)[rows]

    copies = problem._replace(
        candidates=problem.candidates._replace(
            idx=moved(problem.candidates.idx),
            d=problem.candidates.d[rows],
            xi=problem.candidates.xi[rows],
            A=problem.candidates.A[rows],
        ),
        nodes=Nodes(np.ones(len(rows)), problem.nodes.coordinates[rows]),
        regression=problem.regression._replace(X=problem.regression.X[rows]),
    )
    spread = state._replace(
        F=(state.F / problem.nodes.root)[rows],
        dx=state.dx[rows],
        Y=state.Y[rows],
        graph=state.graph._replace(idx=moved(state.graph.idx)),
    )
    return copies, with_graph(copies, spread, state.graph.S[rows]), rows


def massive_case(method, seed=0, n=20):
    rng = np.random.default_rng(seed)
    X, A = links(rng, n)
    problem = suited(problem_with(X, A, 3, rng.integers(1, 5, n)), method)
    return problem, iterate(problem, method, first_state(problem, method))


@each
@pytest.mark.parametrize("seed", range(2))
def test_every_term_is_that_of_the_copies(method, seed):
    problem, state = massive_case(method, seed)
    copies, spread, _ = as_copies(problem, state)
    np.testing.assert_allclose(spread.F.T @ spread.F, np.eye(3), atol=1e-12)
    for term in method.terms:
        wanted = term(copies, spread)
        assert term(problem, state) == pytest.approx(wanted, rel=1e-9, abs=1e-12), term.__name__


@each
def test_every_step_but_that_of_F_is_that_of_the_copies(method):
    # F may tell copies apart that nothing ties to each other; no other block can.
    problem, state = massive_case(method)
    for step in method.steps:
        copies, spread, rows = as_copies(problem, state)
        after, wanted = step(problem, state), step(copies, spread)
        if step is not step_F:
            for name in ("S", "Q", "P", "intercept", "Y"):
                got, slow = block(after, name), block(wanted, name)
                got = got[rows] if name in "SY" else got
                np.testing.assert_allclose(got, slow, atol=1e-8, err_msg=f"{step.__name__} {name}")
        state = after


# -------------------------------------------------------------------------------- optimality


@pytest.mark.parametrize("seed", range(2))
def test_without_labels_F_has_the_least_smoothness_that_the_masses_allow(seed):
    problem, state = massive_case(methods.CAN, seed)
    problem = problem._replace(weights=paper_weights(0.0, 0.0, 0.0))
    state = step_F(problem, step_S(problem, state))
    S = graph.to_csr(state.graph.idx, state.graph.S, problem.n).toarray()
    L = reference.laplacian(problem.nodes.mass[:, None] * S)
    values = scipy.linalg.eigh(L, np.diag(problem.nodes.mass), eigvals_only=True)[:3]
    found = np.trace(state.F.T @ (state.graph.L @ state.F))
    assert found == pytest.approx(values.sum(), abs=1e-8)


# ------------------------------------------------------------------------------- the start


@pytest.mark.parametrize("seed", range(2))
def test_the_start_with_degrees_for_masses_is_the_normalised_cut(seed):
    X, A = links(np.random.default_rng(seed), 50)
    A += 1e-3 * (1.0 - np.eye(50))  # one component, eigenvalues apart
    degree = A.sum(axis=1)
    problem = problem_with(X, A, 3, degree / degree.mean())
    state = next(starts(problem, "spectral", 1, np.random.default_rng(0)))
    values, vectors = scipy.linalg.eigh(np.diag(degree) - A, np.diag(degree))
    assert values[3] - values[2] > 1e-3
    F = state.F / problem.nodes.root
    # The same space: what the eigenvectors leave of F, in the norm of the degrees, is nothing.
    V = vectors[:, :3]
    left = F - V @ (V.T @ (degree[:, None] * F))
    np.testing.assert_allclose(left, 0.0, atol=1e-7 * np.abs(F).max())
    smooth = np.trace(state.F.T @ (state.graph.L @ state.F))
    assert smooth == pytest.approx(values[:3].sum(), abs=1e-8)
