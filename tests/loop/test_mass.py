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
from dogc.loop.lambda_search import begin_search
from dogc.loop.penalties import Weights, paper_weights
from dogc.loop.solver import alternate
from dogc.loop.state import Nodes, Regression, Subspace
from dogc.loop.steps import step_F, step_Q, step_S, step_S_l1, step_W, step_Y, with_graph
from dogc.numerics import affinity, graph

METHODS = (
    methods.DOGC,
    methods.DOGC_OS,
    methods.DOGC_RELAXED,
    methods.DOGC_FIXED_GRAPH,
    methods.CAN,
    methods.CLR_L1,
    methods.CLR_L2,
)
each = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
TOLERANCE = 1e-10


def total(problem, method, state):
    return sum(term(problem, state) for term in method.terms)


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
    size = np.ones(len(X)) if mass is None else mass.astype(float)
    problem = given_graph(idx, weight, c, X, size, None if mass is None else mass.astype(float))
    weights = weights or paper_weights(0.05, 0.02, 0.01)
    return problem._replace(weights=weights, regression=Regression(X, p, True))


def block(state, name):
    """One of the paper's variables, or what is known of the graph."""
    return getattr(state if name in state._fields else state.graph, name)


def suited(problem, method):
    """The problem without penalties that the method does not know."""
    linked = objective.link in method.terms
    return problem if linked else problem._replace(weights=paper_weights(0.0, 0.0, 0.0))


def first_state(problem, method, init="spectral", seed=0):
    state = next(starts(problem, init, 1, np.random.default_rng(seed)))
    return begin_search(problem, method.enter(problem, state))


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
    mass = draw(
        st.sampled_from(
            [
                rng.integers(1, 6, n).astype(float),
                rng.random(n) + 0.01,
                np.where(rng.random(n) < 0.2, 1e3, 1.0),
                np.maximum(A.sum(axis=1) / A.sum(axis=1).mean(), 1e-6),
            ]
        )
    )
    weights = Weights(
        draw(st.sampled_from([0.0, 1e-3, 0.1, 10.0])),
        draw(st.sampled_from([0.0, 0.1, 10.0])),
        draw(st.sampled_from([1e-3, 1.0])),
    )
    p = draw(st.sampled_from([0.5, 1.0, 2.0]))
    problem = problem_with(X, A, c, mass, paper_weights(*weights), p)
    return problem, draw(st.sampled_from(["spectral", "random"])), seed


@each
@settings(deadline=None, max_examples=30)
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
            assert new <= value + TOLERANCE * max(abs(value), abs(new), 1e-3), step.__name__
            value = new


@each
@settings(deadline=None, max_examples=15)
@given(situations())
def test_blocks_stay_feasible(method, situation):
    problem, init, seed = situation
    problem = suited(problem, method)
    state = iterate(problem, method, first_state(problem, method, init, seed))
    np.testing.assert_allclose(state.graph.S.sum(axis=1), 1.0, atol=1e-9)
    assert state.graph.S.min() >= 0.0
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(problem.c), atol=1e-9)
    F = state.F / problem.nodes.root
    np.testing.assert_allclose(
        F.T @ (problem.nodes.mass[:, None] * F), np.eye(problem.c), atol=1e-9
    )
    np.testing.assert_allclose(state.Q.T @ state.Q, np.eye(problem.c), atol=1e-9)
    if state.Y.ndim == 1:
        assert set(state.Y) == set(range(problem.c))


@each
@pytest.mark.parametrize("seed", range(3))
def test_masses_of_one_change_nothing(method, seed):
    X, A = links(np.random.default_rng(seed), 40)
    plain, massive = (suited(problem_with(X, A, 3, mass), method) for mass in (None, np.ones(40)))
    one, other = (first_state(problem, method) for problem in (plain, massive))
    for _ in range(3):
        for step in method.steps:
            one, other = step(plain, one), step(massive, other)
            for name in ("S", "F", "Q", "Y", "P", "member"):
                # Up to the order of the sums in a sparse product.
                np.testing.assert_allclose(
                    block(one, name),
                    block(other, name),
                    atol=1e-10,
                    err_msg=f"{step.__name__} {name}",
                )
        wanted = total(plain, method, one)
        assert total(massive, method, other) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


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
            A=problem.candidates.A[rows],
        ),
        nodes=Nodes(np.ones(len(rows)), problem.nodes.coordinates[rows]),
        regression=problem.regression._replace(X=problem.regression.X[rows]),
    )
    spread = state._replace(
        F=(state.F / problem.nodes.root)[rows],
        dx=state.dx[rows],
        Y=state.Y[rows],
        xi=state.xi[rows],
        idx=moved(state.idx),
    )
    return copies, with_graph(copies, spread, state.graph.S[rows]), rows


def massive_case(method, seed=0, n=20):
    rng = np.random.default_rng(seed)
    X, A = links(rng, n)
    problem = suited(problem_with(X, A, 3, rng.integers(1, 5, n)), method)
    return problem, iterate(problem, method, first_state(problem, method))


@each
@pytest.mark.parametrize("seed", range(3))
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


def test_the_laplacian_is_that_of_the_copies():
    problem, state = massive_case(methods.CAN)
    copies, spread, rows = as_copies(problem, state)
    F = np.random.default_rng(0).standard_normal((problem.n, 2))
    inside = problem.nodes.root * F
    np.testing.assert_allclose(
        inside.T @ (state.graph.L @ inside), F[rows].T @ (spread.graph.L @ F[rows]), atol=1e-12
    )
    dense = graph.to_csr(spread.idx, spread.graph.S, copies.n).toarray()
    np.testing.assert_allclose(spread.graph.L.toarray(), reference.laplacian(dense), atol=1e-14)


# -------------------------------------------------------------------------------- optimality


@pytest.mark.parametrize("seed", range(4))
def test_without_labels_F_has_the_least_smoothness_that_the_masses_allow(seed):
    problem, state = massive_case(methods.CAN, seed)
    problem = problem._replace(weights=paper_weights(0.0, 0.0, 0.0))
    state = step_F(problem, step_S(problem, state))
    S = graph.to_csr(state.idx, state.graph.S, problem.n).toarray()
    L = reference.laplacian(problem.nodes.mass[:, None] * S)
    values = scipy.linalg.eigh(L, np.diag(problem.nodes.mass), eigvals_only=True)[:3]
    found = np.trace(state.F.T @ (state.graph.L @ state.F))
    assert found == pytest.approx(values.sum(), abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_with_labels_no_F_nearby_is_better(seed):
    problem, state = massive_case(methods.DOGC, seed)
    for _ in range(5):
        state = step_F(problem, state)
    value, rng = total(problem, methods.DOGC, state), np.random.default_rng(seed)
    for reach in (1e-3, 1e-2, 1e-1):
        for _ in range(30):
            moved = reference.nearest_orthonormal(
                state.F + reach * rng.standard_normal(state.F.shape)
            )
            assert total(problem, methods.DOGC, state._replace(F=moved)) >= value - 1e-7


@pytest.mark.parametrize("seed", range(3))
def test_each_row_of_S_is_the_best_on_its_candidates(seed):
    problem, state = massive_case(methods.CLR_L2, seed)
    after = step_S(problem, state)
    F = state.F / problem.nodes.root
    far = state.lam * reference.pair_distances(F, F, state.idx)
    for i in range(problem.n):
        d = state.dx[i] + far[i]
        wanted = reference.solve_row(d, 1.0)
        np.testing.assert_allclose(after.graph.S[i], wanted, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_each_row_of_S_in_the_L1_norm_is_the_best(seed):
    problem, state = massive_case(methods.CLR_L1, seed)
    after = step_S_l1(problem, state)
    F = state.F / problem.nodes.root
    # A as the state has it: by index, which is how row_weights lists candidates.
    cost = state.lam * reference.pair_distances(F, F, state.idx)
    for i in range(problem.n):
        on = state.idx[i] >= 0
        least = reference.l1_row_minimum(problem.candidates.A[i, on], cost[i, on])
        value = reference.l1_row_value(
            after.graph.S[i, on], problem.candidates.A[i, on], cost[i, on]
        )
        assert value == pytest.approx(least, abs=1e-9)


def test_rotation_and_labels_are_the_best_for_the_masses():
    problem, state = massive_case(methods.DOGC)
    F = state.F / problem.nodes.root
    rotated = step_Q(problem, state)
    Y = reference.one_hot(state.Y, 3)
    U, _, Vt = np.linalg.svd(F.T @ (problem.nodes.mass[:, None] * Y))
    np.testing.assert_allclose(rotated.Q, U @ Vt, atol=1e-9)
    gain = problem.nodes.mass[:, None] * (F @ rotated.Q)
    labels = step_Y(problem, rotated).Y
    assert gain[np.arange(problem.n), labels].sum() == pytest.approx(gain.max(axis=1).sum())


@pytest.mark.parametrize("within", [False, True])
def test_the_projection_step_finds_the_least_ratio_of_all_rows(within):
    # Rows scattered about nodes, nodes standing for them: the ratio is that of the rows.
    rng = np.random.default_rng(0)
    problem, state = massive_case(methods.CAN)
    R = problem.nodes.root * rng.standard_normal((problem.n, 4))
    scatter = np.diag([0.1, 2.0, 0.5, 1.0]) if within else np.zeros((4, 4))
    problem = problem._replace(subspace=Subspace(R, 2, scatter if within else None))
    state = step_W(problem, state._replace(W=np.eye(4, 2)))
    above, below = R.T @ (state.graph.L @ R) + scatter, R.T @ R + scatter
    found = np.trace(state.W.T @ above @ state.W) / np.trace(state.W.T @ below @ state.W)
    assert found == pytest.approx(reference.trace_ratio_minimum(above, below, 2), rel=1e-6)


# ------------------------------------------------------------------------------- the start


@pytest.mark.parametrize("seed", range(5))
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


def test_the_start_with_other_masses_is_another():
    X, A = links(np.random.default_rng(0), 50)
    A += 1e-3 * (1.0 - np.eye(50))
    even, uneven = (
        next(starts(problem_with(X, A, 3, mass), "spectral", 1, np.random.default_rng(0)))
        for mass in (np.ones(50), np.r_[np.full(25, 0.1), np.full(25, 10.0)])
    )
    assert np.abs(even.F @ even.F.T - uneven.F @ uneven.F.T).max() > 0.01


def test_the_root_of_the_masses_is_known():
    problem, _ = massive_case(methods.CAN)
    np.testing.assert_allclose(problem.nodes.root**2, problem.nodes.mass[:, None])
    np.testing.assert_array_equal(Nodes(np.ones(3), None).root, [[1.0]])


@pytest.mark.parametrize("method", [methods.DOGC, methods.CAN, methods.CLR_L1, methods.CLR_L2],
                         ids=lambda m: m.name)  # fmt: skip
def test_two_groups_are_found_whatever_their_nodes_stand_for(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) + 8.0 * np.repeat([0, 1], 30)[:, None]
    apart = np.sum((X[:, None] - X) ** 2, axis=2)
    A = np.exp(-apart / 4) * (1.0 - np.eye(60))
    for mass in (np.ones(60), rng.integers(1, 50, 60), np.r_[np.full(30, 100.0), np.ones(30)]):
        problem = suited(problem_with(X, A, 2, np.asarray(mass, dtype=float)), method)
        start = first_state(problem, method)
        result = alternate(problem, method, start, max_iter=50, tol=1e-4)
        labels = method.final_labels(problem, result.state)
        assert (labels == labels[0]).tolist() == [True] * 30 + [False] * 30
