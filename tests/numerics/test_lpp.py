import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import lpp
from graphs import blobs, clique, laplacian

thorough = settings(deadline=None, max_examples=40)


def degree_of(A):
    return np.asarray(A.sum(axis=1)).ravel()


def solve(R, A, m):
    return lpp.locality_projection(R, laplacian(A), degree_of(A), m)


@st.composite
def situations(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    r = draw(st.integers(1, 5))
    n = draw(st.integers(r + 3, 15))
    A = rng.random((n, n)) + 0.05
    A = A + A.T
    np.fill_diagonal(A, 0.0)
    return rng.standard_normal((n, r)), A, draw(st.integers(1, r))


@thorough
@given(situations())
def test_the_values_are_those_of_the_dense_problem(situation):
    X, A, m = situation
    a, mu = solve(X, A, m)
    assert a.shape == (X.shape[1], m)
    np.testing.assert_allclose(mu, reference.locality_values(X, A, m), rtol=1e-8, atol=1e-10)
    assert (np.diff(mu) >= 0).all()
    assert mu[0] >= -1e-12
    assert mu[-1] <= 2 + 1e-12


@thorough
@given(situations())
def test_the_directions_solve_the_problem_and_are_normal_in_D(situation):
    X, A, m = situation
    a, mu = solve(X, A, m)
    D = np.diag(degree_of(A))
    left, right = X.T @ (D - A) @ X, X.T @ D @ X
    np.testing.assert_allclose(left @ a, right @ a * mu, rtol=0, atol=1e-9 * np.trace(right))
    np.testing.assert_allclose(a.T @ right @ a, np.eye(m), rtol=0, atol=1e-9)


@thorough
@given(situations(), st.integers(0, 2**32 - 1))
def test_values_depend_on_the_span_of_the_columns_only(situation, seed):
    X, A, m = situation
    rng = np.random.default_rng(seed)
    r = X.shape[1]
    M = np.linalg.qr(rng.standard_normal((r, r)))[0] * rng.uniform(0.5, 2.0, r)
    _, mu = solve(X, A, m)
    np.testing.assert_allclose(solve(X @ M, A, m)[1], mu, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_the_unit_of_the_rows_does_not_matter(scale):
    X, A = np.random.default_rng(0).standard_normal((40, 3)), blobs(1, [40], gap=0.0)
    a, mu = solve(X, A, 2)
    scaled, values = solve(X * scale, A, 2)
    np.testing.assert_allclose(values, mu, rtol=1e-9)
    np.testing.assert_allclose(np.abs(scaled * scale), np.abs(a), rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_the_graph_does_not_matter(scale):
    X, A = np.random.default_rng(2).standard_normal((40, 3)), blobs(3, [40], gap=0.0)
    np.testing.assert_allclose(solve(X, A * scale, 3)[1], solve(X, A, 3)[1], rtol=1e-9)


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(4)
    X, A, order = rng.standard_normal((40, 3)), blobs(5, [40], gap=0.0), rng.permutation(40)
    np.testing.assert_allclose(
        solve(X[order], A[np.ix_(order, order)], 3)[1], solve(X, A, 3)[1], rtol=1e-10
    )


def test_the_first_direction_separates_two_blobs():
    rng = np.random.default_rng(6)
    Z = rng.standard_normal((60, 4)) * [1.0, 30.0, 1.0, 1.0]
    Z[:, 2] += 20.0 * (np.arange(60) % 2)
    same = np.equal.outer(np.arange(60) % 2, np.arange(60) % 2).astype(float)
    Z -= Z.mean(axis=0)
    a, mu = solve(Z, same - np.eye(60), 2)
    along = (Z @ a)[:, 0]
    assert abs(along[::2].mean() - along[1::2].mean()) > 10 * along[::2].std()
    assert mu[0] < 0.1 < 0.5 < mu[1]


def test_as_many_directions_as_rows():
    # d > n: the coordinates of n rows in their own row space.
    X = np.random.default_rng(7).standard_normal((6, 30))
    U, values, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    R = (U * values)[:, :5]
    _, mu = solve(R, clique(6), 5)
    np.testing.assert_allclose(mu, 6 / 5, rtol=1e-9)


def test_directions_of_rows_without_edges_come_to_no_harm():
    R = np.vstack([np.random.default_rng(8).standard_normal((8, 2)), np.zeros((2, 2))])
    R = np.hstack([R, np.zeros((10, 1))])
    R[8:, 2] = [1.0, -1.0]
    A = np.zeros((10, 10))
    A[:8, :8] = clique(8)
    a, mu = solve(R, A, 3)
    assert np.isfinite(a).all()
    expected = reference.locality_values(R[:8, :2], clique(8), 2)
    np.testing.assert_allclose(np.sort(mu)[1:], expected, rtol=1e-6)


def test_a_graph_without_any_edge_comes_to_no_harm():
    R = np.random.default_rng(9).standard_normal((6, 2))
    a, mu = solve(R, np.zeros((6, 6)), 2)
    assert np.isfinite(a).all()
    assert np.isfinite(mu).all()


def test_directions_that_only_rounding_spans_come_to_no_harm():
    # All rows lie on one line. Sums over 400 of them round more than a sum of two numbers does.
    A = clique(400)
    for seed in (56, 69, 87, 100, 147):
        rng = np.random.default_rng(seed)
        a, mu = solve(np.outer(rng.standard_normal(400), rng.standard_normal(2)), A, 2)
        assert np.isfinite(a).all()
        assert np.isfinite(mu).all()


def test_rows_whose_squares_vanish_come_to_no_harm():
    a, mu = solve(np.array([[-1e-200], [1e-200]]), clique(2), 1)
    assert np.isfinite(a).all()
    assert np.isfinite(mu).all()


def test_a_laplacian_stored_densely_or_sparsely_gives_the_same():
    X, A = np.random.default_rng(10).standard_normal((12, 3)), clique(12)
    A[0, 1] = A[1, 0] = 5.0
    dense = np.diag(degree_of(A)) - A
    one = lpp.locality_projection(X, dense, degree_of(A), 2)
    other = lpp.locality_projection(X, sp.csr_array(dense), degree_of(A), 2)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-12)
