import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import trace_ratio
from graphs import assert_orthonormal, orthonormal

thorough = settings(deadline=None, max_examples=40)


def random_pair(rng, r):
    """A positive semidefinite, B positive definite."""
    M, N = rng.standard_normal((r, max(1, r - 1))), rng.standard_normal((r, r + 2))
    return M @ M.T, N @ N.T / r + 0.1 * np.eye(r)


def dense_ratio(A, B, W):
    return np.trace(W.T @ A @ W) / np.trace(W.T @ B @ W)


# ---------------------------------------------------------------------------- trace_ratio


@thorough
@given(st.integers(1, 8), st.data(), st.integers(0, 2**32 - 1))
def test_every_start_reaches_the_global_optimum(r, data, seed):
    m = data.draw(st.integers(1, r))
    rng = np.random.default_rng(seed)
    A, B = random_pair(rng, r)
    least = reference.trace_ratio_minimum(A, B, m)
    for start in [np.eye(r, m), *(orthonormal(rng, r, m) for _ in range(3))]:
        W = trace_ratio.trace_ratio(A, B, start)
        assert_orthonormal(W)
        np.testing.assert_allclose(dense_ratio(A, B, W), least, rtol=1e-9, atol=1e-11)


def test_an_optimal_start_is_not_made_worse():
    for seed in range(40):
        A, B = random_pair(np.random.default_rng(seed), 5)
        W = trace_ratio.trace_ratio(A, B, np.eye(5, 2))
        again = trace_ratio.trace_ratio(A, B, W)
        assert trace_ratio.ratio_at(A, B, again) <= trace_ratio.ratio_at(A, B, W)


def test_the_ratio_is_the_graph_term_over_the_scatter():
    rng = np.random.default_rng(5)
    X, W = rng.standard_normal((9, 4)), orthonormal(rng, 4, 2)
    S = rng.random((9, 9))
    Z = X @ W
    graph_term = sum(S[i, j] * np.sum((Z[i] - Z[j]) ** 2) for i in range(9) for j in range(9))
    scatter = np.sum((Z - Z.mean(axis=0)) ** 2)
    centred = X - X.mean(axis=0)
    A, B = centred.T @ reference.laplacian(S) @ centred, centred.T @ centred
    # eq:12 counts every pair twice, eq:12.5 once.
    expected = graph_term / scatter / 2
    np.testing.assert_allclose(trace_ratio.ratio_at(A, B, W), expected, rtol=1e-12)


# ------------------------------------------------------------------------------ row_space


def low_rank(rng, n, d, rank):
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 1.0


# Rows, and the rank of what is left of them without their mean.
RANKS = {
    "tall": (5, lambda rng: rng.standard_normal((30, 5)) + 3.0),
    "wide": (5, lambda rng: rng.standard_normal((6, 20)) + 3.0),
    "square": (7, lambda rng: rng.standard_normal((8, 8)) + 3.0),
    "tall of low rank": (3, lambda rng: low_rank(rng, 30, 7, 3)),
    "wide of low rank": (2, lambda rng: low_rank(rng, 9, 15, 2)),
    "constant column": (3, lambda rng: rng.standard_normal((20, 4)) * [1, 1, 1, 0] + 0.1),
    "two distinct rows": (1, lambda rng: np.repeat(rng.standard_normal((2, 4)), 5, axis=0)),
}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("kind", RANKS)
def test_coordinates_and_basis_reproduce_the_centred_rows(kind, make):
    rank, made = RANKS[kind]
    X = made(np.random.default_rng(6))
    R, V = trace_ratio.row_space(make(X), X.mean(axis=0))
    assert R.shape == (len(X), rank)
    assert V.shape == (X.shape[1], rank)
    assert R.dtype == V.dtype == np.float64
    assert_orthonormal(V)
    np.testing.assert_allclose(R @ V.T, X - X.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (1, 5), (40, 3)])
@pytest.mark.parametrize("kind", ["zero", "constant", "sparse constant", "rounding"])
def test_rows_that_are_equal_or_differ_by_rounding_alone_span_nothing(kind, shape):
    X = np.full(shape, 0.0 if kind == "zero" else 1234.567)
    if kind == "rounding":
        X[:, 1:] = 0.0
        X[::2, 0] = np.nextafter(1234.567, 0.0)
    rows = sp.csr_array(X) if kind.startswith("sparse") else X
    R, V = trace_ratio.row_space(rows, X.mean(axis=0))
    assert R.shape == (shape[0], 0)
    assert V.shape == (shape[1], 0)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_directions_of_very_different_spread_are_kept(shape):
    rng = np.random.default_rng(9)
    spread = np.array([1.0, 1e-2, 1e-4, 1e-5])
    X = (orthonormal(rng, shape[0], 4) * spread) @ orthonormal(rng, shape[1], 4).T
    X -= X.mean(axis=0)
    R, V = trace_ratio.row_space(X, np.zeros(shape[1]))
    assert R.shape[1] == 4
    assert_orthonormal(V)
    np.testing.assert_allclose(R @ V.T, X, rtol=0, atol=1e-10)


# -------------------------------------------------------- complete_basis and settle_signs


@pytest.mark.parametrize(("d", "have", "m"), [(6, 2, 4), (6, 2, 6), (3, 0, 2)])
def test_added_columns_are_orthonormal_and_the_old_ones_stay(d, have, m):
    W = orthonormal(np.random.default_rng(11), d, have)
    full = trace_ratio.complete_basis(W, m)
    assert full.shape == (d, m)
    assert np.array_equal(full[:, :have], W)
    assert_orthonormal(full)


@thorough
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_largest_entry_of_every_column_becomes_positive(d, m, seed):
    W = np.random.default_rng(seed).standard_normal((d, m))
    settled = trace_ratio.settle_signs(W)
    assert np.array_equal(np.abs(settled), np.abs(W))
    for column, original in zip(settled.T, W.T, strict=True):
        assert column[np.abs(column).argmax()] > 0
        assert np.array_equal(column, original) or np.array_equal(column, -original)
    flips = np.random.default_rng(seed + 1).choice([-1.0, 1.0], m)
    assert np.array_equal(trace_ratio.settle_signs(W * flips), settled)
