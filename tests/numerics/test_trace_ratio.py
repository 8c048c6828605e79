import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import trace_ratio

thorough = settings(deadline=None, max_examples=40)


def orthonormal(rng, r, m):
    return np.linalg.qr(rng.standard_normal((r, m)))[0]


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
        np.testing.assert_allclose(W.T @ W, np.eye(m), rtol=0, atol=1e-12)
        np.testing.assert_allclose(dense_ratio(A, B, W), least, rtol=1e-9, atol=1e-11)


def test_the_optimum_is_no_worse_than_many_random_subspaces():
    rng = np.random.default_rng(0)
    A, B = random_pair(rng, 4)
    best = min(dense_ratio(A, B, orthonormal(rng, 4, 2)) for _ in range(3000))
    W = trace_ratio.trace_ratio(A, B, np.eye(4, 2))
    assert dense_ratio(A, B, W) <= best


@pytest.mark.parametrize("seed", range(5))
def test_every_iteration_lowers_the_ratio(seed):
    rng = np.random.default_rng(seed)
    A, B = random_pair(rng, 7)
    start = orthonormal(rng, 7, 3)
    runs = [trace_ratio.trace_ratio(A, B, start, max_iter=stop) for stop in range(8)]
    values = np.array([dense_ratio(A, B, W) for W in runs])
    assert np.array_equal(runs[0], start)
    assert (np.diff(values) <= 1e-14).all()
    assert values[1] < values[0]


def test_the_answer_satisfies_the_fixed_point_equation():
    rng = np.random.default_rng(1)
    A, B = random_pair(rng, 6)
    W = trace_ratio.trace_ratio(A, B, orthonormal(rng, 6, 2))
    V = A - dense_ratio(A, B, W) * B
    np.testing.assert_allclose(V @ W, W @ (W.T @ V @ W), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(W.T @ V @ W), np.linalg.eigvalsh(V)[:2], rtol=0, atol=1e-9
    )


def test_an_optimal_start_is_not_made_worse():
    for seed in range(40):
        A, B = random_pair(np.random.default_rng(seed), 5)
        W = trace_ratio.trace_ratio(A, B, np.eye(5, 2))
        again = trace_ratio.trace_ratio(A, B, W)
        assert trace_ratio.ratio_at(A, B, again) <= trace_ratio.ratio_at(A, B, W)


def test_a_numerator_that_can_vanish_is_made_to():
    A, B = np.diag([0.0, 0.0, 1.0, 3.0]), np.diag([1.0, 2.0, 3.0, 4.0])
    W = trace_ratio.trace_ratio(A, B, np.eye(4)[:, 2:])
    np.testing.assert_allclose(dense_ratio(A, B, W), 0.0, rtol=0, atol=1e-12)


def test_all_directions_together_leave_no_choice():
    rng = np.random.default_rng(3)
    A, B = random_pair(rng, 4)
    W = trace_ratio.trace_ratio(A, B, orthonormal(rng, 4, 4))
    np.testing.assert_allclose(dense_ratio(A, B, W), np.trace(A) / np.trace(B), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_units_of_numerator_and_denominator_do_not_matter(scale):
    rng = np.random.default_rng(4)
    A, B = random_pair(rng, 5)
    start = orthonormal(rng, 5, 2)
    expected = dense_ratio(A, B, trace_ratio.trace_ratio(A, B, start))
    W = trace_ratio.trace_ratio(scale * A, B, start)
    np.testing.assert_allclose(dense_ratio(A, B, W), expected, rtol=1e-10)
    W = trace_ratio.trace_ratio(A, scale * B, start)
    np.testing.assert_allclose(dense_ratio(A, B, W), expected, rtol=1e-10)


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


def data(kind, rng):
    if kind == "tall":
        return rng.standard_normal((30, 5)) + 3.0
    if kind == "wide":
        return rng.standard_normal((6, 20)) + 3.0
    if kind == "square":
        return rng.standard_normal((8, 8)) + 3.0
    if kind == "tall of low rank":
        return rng.standard_normal((30, 3)) @ rng.standard_normal((3, 7)) + 1.0
    if kind == "wide of low rank":
        return rng.standard_normal((9, 2)) @ rng.standard_normal((2, 15)) + 1.0
    if kind == "constant column":
        return np.hstack([rng.standard_normal((20, 3)), np.full((20, 1), 0.1)])
    if kind == "one feature":
        return rng.standard_normal((10, 1))
    return np.repeat(rng.standard_normal((2, 4)), 5, axis=0)  # two distinct rows


RANKS = {
    "tall": 5,
    "wide": 5,
    "square": 7,
    "tall of low rank": 3,
    "wide of low rank": 2,
    "constant column": 3,
    "one feature": 1,
    "two distinct rows": 1,
}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("kind", RANKS)
def test_coordinates_and_basis_reproduce_the_centred_rows(kind, make):
    X = data(kind, np.random.default_rng(6))
    R, V = trace_ratio.row_space(make(X), X.mean(axis=0))
    assert R.shape == (len(X), RANKS[kind])
    assert V.shape == (X.shape[1], RANKS[kind])
    assert R.dtype == V.dtype == np.float64
    np.testing.assert_allclose(V.T @ V, np.eye(RANKS[kind]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ V.T, X - X.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["tall", "wide", "tall of low rank", "wide of low rank"])
def test_single_precision_rows_have_the_same_rank(kind, make):
    X = data(kind, np.random.default_rng(7)).astype(np.float32)
    mean = X.mean(axis=0, dtype=np.float64)
    R, V = trace_ratio.row_space(make(X), mean)
    assert R.shape[1] == RANKS[kind]
    np.testing.assert_allclose(V.T @ V, np.eye(RANKS[kind]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ V.T, X - mean, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (1, 5), (5, 1)])
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1234.567])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_constant_rows_span_nothing(make, shape, value):
    X = np.full(shape, value)
    R, V = trace_ratio.row_space(make(X), X.mean(axis=0))
    assert R.shape == (shape[0], 0)
    assert V.shape == (shape[1], 0)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (40, 3)])
def test_rows_that_differ_by_rounding_alone_span_nothing(shape):
    X = np.zeros(shape)
    X[:, 0] = 1234.567
    X[::2, 0] = np.nextafter(1234.567, 0.0)
    R, _ = trace_ratio.row_space(X, X.mean(axis=0))
    assert R.shape == (shape[0], 0)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_the_unit_of_the_rows_does_not_matter(shape, scale):
    X = np.random.default_rng(8).standard_normal(shape)
    R, V = trace_ratio.row_space(scale * X, scale * X.mean(axis=0))
    np.testing.assert_allclose(R @ V.T, scale * (X - X.mean(axis=0)), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_directions_of_very_different_spread_are_kept(shape):
    rng = np.random.default_rng(9)
    spread = np.array([1.0, 1e-2, 1e-4, 1e-5])
    X = (orthonormal(rng, shape[0], 4) * spread) @ orthonormal(rng, shape[1], 4).T
    X -= X.mean(axis=0)
    R, V = trace_ratio.row_space(X, np.zeros(shape[1]))
    assert R.shape[1] == 4
    np.testing.assert_allclose(V.T @ V, np.eye(4), rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ V.T, X, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", RANKS)
def test_coordinates_are_principal_axes_with_the_widest_first(kind):
    X = data(kind, np.random.default_rng(13))
    R, _ = trace_ratio.row_space(X, X.mean(axis=0))
    scatter = R.T @ R
    expected = np.linalg.svd(X - X.mean(axis=0))[1][: RANKS[kind]] ** 2
    np.testing.assert_allclose(scatter, np.diag(expected), rtol=0, atol=1e-10 * expected[0])


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_only_the_smaller_gram_matrix_is_formed(monkeypatch, shape):
    sizes = []
    positive_part = trace_ratio._positive_part

    def watched(gram, *args):
        sizes.append(gram.shape)
        return positive_part(gram, *args)

    monkeypatch.setattr(trace_ratio, "_positive_part", watched)
    X = np.random.default_rng(14).standard_normal(shape)
    trace_ratio.row_space(X, X.mean(axis=0))
    assert sizes == [(4, 4)]


def test_sparse_rows_of_few_columns_are_not_made_dense():
    class Sparse(sp.csr_array):
        def toarray(self, *args, **kwargs):
            assert self.shape != (30, 4)
            return super().toarray(*args, **kwargs)

    X = np.random.default_rng(15).standard_normal((30, 4))
    R, V = trace_ratio.row_space(Sparse(X), X.mean(axis=0))
    np.testing.assert_allclose(R @ V.T, X - X.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("shape", [(40, 3), (3, 40)])
def test_rows_far_from_the_origin_keep_their_span(shape, offset):
    X = np.random.default_rng(10).standard_normal(shape) + offset
    mean = X.mean(axis=0)
    R, V = trace_ratio.row_space(X, mean)
    assert R.shape[1] == min(shape[0] - 1, shape[1])
    np.testing.assert_allclose(R @ V.T, X - mean, rtol=0, atol=1e-14 * offset)


# -------------------------------------------------------- complete_basis and settle_signs


@pytest.mark.parametrize(
    ("d", "have", "m"), [(6, 2, 4), (6, 2, 6), (5, 1, 2), (3, 0, 2), (9, 8, 9)]
)
@pytest.mark.parametrize("aligned", [False, True])
def test_added_columns_are_orthonormal_and_the_old_ones_stay(d, have, m, aligned):
    W = np.eye(d, have) if aligned else orthonormal(np.random.default_rng(11), d, have)
    full = trace_ratio.complete_basis(W, m)
    assert full.shape == (d, m)
    assert np.array_equal(full[:, :have], W)
    np.testing.assert_allclose(full.T @ full, np.eye(m), rtol=0, atol=1e-12)


@pytest.mark.parametrize("m", [1, 3])
def test_a_basis_that_is_large_enough_is_returned_as_it_is(m):
    W = orthonormal(np.random.default_rng(12), 5, 3)
    assert np.array_equal(trace_ratio.complete_basis(W, m), W)


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


def test_a_column_of_zeros_stays():
    W = np.array([[0.0, -2.0], [0.0, 1.0]])
    assert np.array_equal(trace_ratio.settle_signs(W), [[0.0, 2.0], [0.0, -1.0]])
