import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import symnmf
from graphs import blobs, neighbour_graph

thorough = settings(deadline=None, max_examples=40)


def nonnegative_problem(seed, n, c):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n))
    return A + A.T, rng.random((n, c))


def planted(seed, n=12, c=3):
    """HH' for an H with one positive entry per row, and a start near it."""
    rng = np.random.default_rng(seed)
    H = reference.one_hot(np.arange(n) % c, c) * rng.uniform(0.5, 2.0, (n, 1))
    return H, H + 0.2 * rng.random((n, c))


problems = st.builds(
    nonnegative_problem, st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 4)
)


@thorough
@given(problems)
def test_value_and_gradient_are_the_dense_ones(problem):
    A, H = problem
    value, gradient = symnmf._objective(sp.csr_array(A), H, float(np.sum(A**2)))
    np.testing.assert_allclose(value, reference.factor_value(A, H), rtol=1e-10)
    expected = reference.factor_gradient(A, H)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@thorough
@given(problems, st.integers(1, 60))
def test_no_iteration_goes_up_and_H_stays_nonnegative(problem, max_iter):
    A, start = problem
    H, objective, _ = symnmf.symmetric_nmf(A, start, max_iter=max_iter)
    assert (H >= 0).all()
    assert (np.diff(objective) <= 0).all()
    assert len(objective) <= max_iter + 1
    scale = np.sum(A**2)
    np.testing.assert_allclose(objective[0], reference.factor_value(A, start), atol=1e-12 * scale)
    np.testing.assert_allclose(objective[-1], reference.factor_value(A, H), atol=1e-12 * scale)


@pytest.mark.parametrize(("seed", "tol"), [(0, 1e-1), (1, 1e-2), (2, 1e-3), (3, 1e-4), (4, 1e-4)])
def test_it_stops_as_soon_as_the_projected_gradient_is_below_tol(seed, tol):
    A, start = nonnegative_problem(seed, 10, 3)

    def projected_gradient(H):
        gradient, first = H @ (H.T @ H) - A @ H, start @ (start.T @ start) - A @ start
        return np.linalg.norm(np.minimum(H, gradient / np.linalg.norm(first)))

    H, objective, converged = symnmf.symmetric_nmf(A, start, tol=tol)
    assert converged
    assert projected_gradient(H) <= tol
    H, _, converged = symnmf.symmetric_nmf(A, start, max_iter=len(objective) - 2, tol=tol)
    assert not converged
    assert projected_gradient(H) > tol


@pytest.mark.parametrize("scale", [1e-40, 1e-3, 1.0, 1e6, 1e40])
@pytest.mark.parametrize("seed", range(3))
def test_planted_factors_are_found_in_any_unit(seed, scale):
    H, start = planted(seed)
    root = np.sqrt(scale)
    A, start = scale * (H @ H.T), root * start
    kept_A, kept = A.copy(), start.copy()
    found, objective, _ = symnmf.symmetric_nmf(A, start, max_iter=3000, tol=1e-7)
    np.testing.assert_allclose(found / root, H, rtol=0, atol=1e-3)
    assert objective[-1] <= 1e-8 * objective[0]
    assert np.array_equal(A, kept_A)
    assert np.array_equal(start, kept)


def test_the_best_single_factor_is_the_leading_eigenvector():
    A, start = nonnegative_problem(1, 10, 1)
    values, vectors = np.linalg.eigh(A)
    H = symnmf.symmetric_nmf(A, start, tol=1e-7)[0]
    np.testing.assert_allclose(H[:, 0], np.sqrt(values[-1]) * np.abs(vectors[:, -1]), atol=1e-5)
    # Entries that would be negative end at exactly zero.
    A = np.array([[2.0, -1.0], [-1.0, 2.0]])
    H = symnmf.symmetric_nmf(A, np.array([[1.0, 0.3], [0.3, 1.0]]), tol=1e-8)[0]
    assert H[0, 1] == H[1, 0] == 0.0
    np.testing.assert_allclose(np.diag(H), np.sqrt(2.0), rtol=1e-6)


def test_few_iterations_are_enough_on_a_graph():
    Z = np.random.default_rng(2).standard_normal((150, 2)) + 6.0 * np.eye(3, 2)[np.arange(150) % 3]
    A = neighbour_graph(Z, 8)
    start = np.random.default_rng(3).random((150, 3)) / 4
    _, objective, converged = symnmf.symmetric_nmf(A, start, tol=1e-4)
    assert converged
    assert len(objective) < 150


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_a_sparse_graph_gives_what_the_dense_one_gives(make):
    S = blobs(4, [20, 20], gap=10.0)
    start = np.random.default_rng(5).random((40, 2))
    H, objective, _ = symnmf.symmetric_nmf(make(S), start)
    expected, values, _ = symnmf.symmetric_nmf(S, start)
    assert isinstance(H, np.ndarray)
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(objective, values, rtol=1e-8)


def test_a_start_of_zeros_stays_and_running_out_of_iterations_is_said():
    A, start = nonnegative_problem(11, 10, 3)
    assert not symnmf.symmetric_nmf(A, np.zeros((10, 3)))[0].any()
    _, objective, converged = symnmf.symmetric_nmf(A, start, max_iter=2, tol=1e-9)
    assert not converged
    assert len(objective) == 3


def test_without_a_tolerance_the_search_ends_where_nothing_is_gained_but_rounding():
    ended_so = 0
    for seed in range(8):
        A, start = nonnegative_problem(seed, 8, 2)
        _, objective, converged = symnmf.symmetric_nmf(A, start, max_iter=5000, tol=0.0)
        assert converged
        gained = -np.diff(objective) / np.linalg.norm(A) ** 2
        # Half and double: the gains themselves are rounded here.
        assert (gained[:-1] > 0.5 * symnmf.ROUNDING).all()
        ended_so += gained[-1] <= 2.0 * symnmf.ROUNDING
    assert ended_so >= 1  # in the others no step goes down at all
