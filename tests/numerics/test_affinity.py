import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import affinity

thorough = settings(deadline=None, max_examples=30)

seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1.0, 1e-150, 1e150])


def all_pairs(X):
    """Every other row as a candidate, in an order of no meaning, and its squared distance."""
    n = len(X)
    rng = np.random.default_rng(n)
    idx = np.array([rng.permutation(np.delete(np.arange(n), i)) for i in range(n)])
    return idx, reference.pair_distances(X, X, idx)


@st.composite
def symmetric_weights(draw, max_side=9):
    n, rng = draw(st.integers(1, max_side)), np.random.default_rng(draw(seeds))
    W = rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0, 1)))
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    return W


# ----------------------------------------------------------------------- local_bandwidth


@pytest.mark.parametrize("rank", [1, 2, 7, 11])
def test_the_bandwidth_is_the_distance_to_the_neighbour_of_that_rank(rank):
    X = np.random.default_rng(0).standard_normal((12, 3))
    expected = [reference.bandwidth(X, i, rank) for i in range(12)]
    np.testing.assert_allclose(affinity.local_bandwidth(all_pairs(X)[1], rank), expected)


def test_the_bandwidth_is_that_of_the_seventh_unless_told():
    d = all_pairs(np.random.default_rng(1).standard_normal((12, 3)))[1]
    assert np.array_equal(affinity.local_bandwidth(d), affinity.local_bandwidth(d, 7))


def test_the_farthest_stands_in_and_copies_get_a_share_of_the_median_of_the_others():
    d = np.array([[9.0, 1.0, 4.0], [1.0, 16.0, 1.0]])
    assert np.array_equal(affinity.local_bandwidth(d), [3.0, 4.0])
    assert np.array_equal(affinity.local_bandwidth(d[:, 1:2]), [1.0, 4.0])
    d = np.array([[0.0], [4.0], [16.0], [36.0], [0.0]])
    np.testing.assert_allclose(affinity.local_bandwidth(d), [4e-3, 2.0, 4.0, 6.0, 4e-3])


# -------------------------------------------------------------------- gaussian_exponents


@thorough
@given(st.integers(2, 9), st.integers(1, 4), scales, seeds)
def test_on_all_pairs_the_graph_is_the_dense_kernel(n, m, scale, seed):
    X = np.random.default_rng(seed).standard_normal((n, m))
    idx, d = all_pairs(X)
    sigma = affinity.local_bandwidth(d, 3)
    d, reached = d * scale * scale, sigma * scale
    weights = np.exp(-affinity.gaussian_exponents(d, idx, reached, reached))
    A = affinity.symmetric_graph(idx, weights).toarray()
    np.testing.assert_allclose(A, reference.gaussian_kernel(X, sigma), rtol=1e-11, atol=1e-300)


def test_exponents_beyond_all_numbers_are_finite_and_equal():
    d, sigma = np.array([[1.0, 1e9], [0.0, 1e300]]), np.full(2, 1e-200)
    exponents = affinity.gaussian_exponents(d, np.array([[1, 0], [0, 1]]), sigma, sigma)
    assert exponents[1, 0] == 0.0
    assert exponents[0, 0] == exponents[0, 1] == exponents[1, 1]
    assert np.array_equal(exponents - exponents.min(axis=1, keepdims=True) > 0, [[0, 0], [0, 1]])
    assert np.array_equal(np.exp(-exponents), [[0.0, 0.0], [1.0, 0.0]])


# ----------------------------------------------------------------------- symmetric_graph


@thorough
@given(st.integers(2, 9), seeds)
def test_an_edge_is_there_if_one_end_lists_it(n, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n))
    idx = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    weights = rng.random((n, k)) * (rng.random((n, k)) < 0.8)
    dense = np.zeros((n, n))
    for i in range(n):
        for j, weight in zip(idx[i], weights[i], strict=True):
            dense[i, j] = max(dense[i, j], weight)
            dense[j, i] = max(dense[j, i], weight)
    A = affinity.symmetric_graph(idx, weights)
    assert isinstance(A, sp.csr_array)
    assert np.array_equal(A.toarray(), dense)
    assert A.nnz == (dense > 0).sum()
    assert A.has_canonical_format


# --------------------------------------------------------------------------- rows_on_simplex


@thorough
@given(symmetric_weights(), scales)
def test_rows_as_lists_are_the_rows_of_the_graph_divided_by_their_sum(W, scale):
    idx, weights = affinity.rows_on_simplex(sp.csr_array(W * scale))
    assert idx.shape == weights.shape
    assert idx.shape[1] == max(1, (W > 0).sum(axis=1).max())
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    for i, (listed, given_) in enumerate(zip(idx, weights, strict=True)):
        real = listed >= 0
        wanted = np.flatnonzero(W[i]) if W[i].any() else np.array([i])
        assert np.array_equal(listed[real], wanted)
        assert np.array_equal(np.sort(real), real)  # padding stands in front
        assert (given_[~real] == 0).all()
        expected = W[i, wanted] / W[i].sum() if W[i].any() else [1.0]
        np.testing.assert_allclose(given_[real], expected, rtol=1e-13)


# ------------------------------------------------------------------ normalised_laplacian


@thorough
@given(symmetric_weights(), scales)
def test_the_normalised_laplacian_is_the_dense_one_and_positive_semidefinite(W, scale):
    L, root = affinity.normalised_laplacian(sp.csr_array(W * scale))
    dense = L.toarray()
    np.testing.assert_allclose(dense, reference.normalised_laplacian(W), rtol=0, atol=1e-13)
    np.testing.assert_allclose(dense, dense.T, rtol=0, atol=1e-15)
    values = np.linalg.eigvalsh(dense)
    assert values[0] >= -1e-13
    assert values[-1] <= 2 + 1e-13
    unit = root / np.sqrt(np.where(W.any(axis=1), scale, 1.0))
    assert (unit > 0).all()
    np.testing.assert_allclose(dense @ unit, 0.0, rtol=0, atol=1e-12)


# -------------------------------------------------------------- generalised_eigenvectors


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_generalised_eigenvectors_are_the_dense_ones_with_lone_and_faint_rows(scale):
    W = np.zeros((12, 12))
    half = np.random.default_rng(0).random((10, 10))
    W[:10, :10] = half + half.T - np.diag(2 * half.diagonal())
    W[10, 3] = W[3, 10] = 1e-60  # row 10 hangs on row 3 by next to nothing, row 11 on no row
    A = sp.csr_array(W * scale)
    L, root = affinity.normalised_laplacian(A)
    U = np.linalg.eigh(L.toarray())[1][:, :4]
    U[10] = 1e-16 * np.arange(1, 5)  # what rounding may leave
    V = affinity.generalised_eigenvectors(A, U, root)
    others = np.arange(12) != 10
    np.testing.assert_array_equal(V[others], U[others] / root[others, None])
    np.testing.assert_allclose(V[10], V[3])
