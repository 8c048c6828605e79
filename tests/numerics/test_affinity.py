import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import affinity
from graphs import blobs, clique

thorough = settings(deadline=None, max_examples=60)

seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1.0, 1e-150, 1e-9, 1e9, 1e150])


def all_pairs(X):
    """Every other row as a candidate, in an order of no meaning, and its squared distance."""
    n = len(X)
    rng = np.random.default_rng(n)
    idx = np.array([rng.permutation(np.delete(np.arange(n), i)) for i in range(n)])
    return idx, reference.pair_distances(X, X, idx)


def nearest(X, k):
    idx, d = all_pairs(X)
    order = np.argsort(d, axis=1)[:, :k]
    return np.take_along_axis(idx, order, axis=1), np.take_along_axis(d, order, axis=1)


def neighbour_kernel(X, k):
    idx, d = nearest(X, k)
    sigma = affinity.local_bandwidth(d)
    exponents = affinity.gaussian_exponents(d, idx, sigma, sigma)
    return affinity.symmetric_graph(idx, np.exp(-exponents))


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
    X = np.random.default_rng(1).standard_normal((12, 3))
    d = all_pairs(X)[1]
    assert np.array_equal(affinity.local_bandwidth(d), affinity.local_bandwidth(d, 7))


def test_the_farthest_stands_in_where_there_are_too_few():
    d = np.array([[9.0, 1.0, 4.0], [1.0, 16.0, 1.0]])
    assert np.array_equal(affinity.local_bandwidth(d), [3.0, 4.0])
    assert np.array_equal(affinity.local_bandwidth(d[:, 1:2]), [1.0, 4.0])


def test_copies_get_a_share_of_the_median_of_the_others():
    d = np.array([[0.0], [4.0], [16.0], [36.0], [0.0]])
    np.testing.assert_allclose(affinity.local_bandwidth(d), [4e-3, 2.0, 4.0, 6.0, 4e-3])


def test_a_bandwidth_that_is_positive_but_far_below_the_others_is_lifted_too():
    d = np.array([[1e-20], [1.0], [1.0]])
    np.testing.assert_allclose(affinity.local_bandwidth(d), [1e-3, 1.0, 1.0])


def test_nothing_but_copies_still_has_a_positive_bandwidth():
    sigma = affinity.local_bandwidth(np.zeros((4, 8)))
    assert (sigma > 0).all()
    assert len(np.unique(sigma)) == 1


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_the_bandwidth_is_in_the_unit_of_the_rows(scale):
    d = all_pairs(np.random.default_rng(2).standard_normal((9, 2)))[1]
    d[3] = 0.0
    sigma = affinity.local_bandwidth(d * scale * scale)
    np.testing.assert_allclose(sigma / scale, affinity.local_bandwidth(d), rtol=1e-12)


def test_the_bandwidth_leaves_its_argument_alone():
    d = np.array([[9.0, 1.0, 4.0]])
    affinity.local_bandwidth(d)
    assert np.array_equal(d, [[9.0, 1.0, 4.0]])


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


def test_new_rows_have_bandwidths_of_their_own():
    d, idx = np.array([[8.0, 6.0], [1.0, 2.0], [3.0, 0.0]]), np.array([[4, 1], [0, 3], [2, 4]])
    rows, columns = np.array([2.0, 4.0, 0.5]), np.array([1.0, 3.0, 5.0, 7.0, 9.0])
    expected = [
        [d[i, place] / (rows[i] * columns[idx[i, place]]) for place in range(2)] for i in range(3)
    ]
    exponents = affinity.gaussian_exponents(d, idx, rows, columns)
    np.testing.assert_allclose(exponents, expected, rtol=1e-15)


def test_bandwidths_too_small_to_be_multiplied_do_no_harm():
    sigma = np.full(2, 1e-200)
    exponents = affinity.gaussian_exponents(np.zeros((2, 1)), np.array([[1], [0]]), sigma, sigma)
    assert np.array_equal(exponents, np.zeros((2, 1)))


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


@pytest.mark.parametrize("k", [1, 4, 12])
def test_the_order_of_the_rows_only_renames_the_graph(k):
    rng = np.random.default_rng(3)
    X, order = rng.standard_normal((20, 2)), rng.permutation(20)
    A = neighbour_kernel(X, k).toarray()
    assert np.array_equal(A, A.T)
    np.testing.assert_allclose(
        neighbour_kernel(X[order], k).toarray(), A[np.ix_(order, order)], rtol=1e-13
    )


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_graph_depends_neither_on_the_unit_nor_on_the_origin(scale):
    X = np.random.default_rng(4).integers(-9, 9, (20, 2)).astype(float)
    X += 0.25 * np.arange(20)[:, None] ** 2
    A = neighbour_kernel(X, 8).toarray()
    np.testing.assert_allclose(neighbour_kernel(X * scale, 8).toarray(), A, rtol=1e-12)
    np.testing.assert_allclose(neighbour_kernel(X + 2.0**20, 8).toarray(), A, rtol=1e-12)


def test_copies_are_joined_with_weight_one_and_nothing_is_infinite():
    X = np.vstack([np.zeros((10, 2)), np.random.default_rng(5).standard_normal((5, 2))])
    A = neighbour_kernel(X, 14).toarray()
    assert np.isfinite(A).all()
    assert np.array_equal(A[:10, :10], clique(10))
    assert np.array_equal(neighbour_kernel(np.ones((4, 2)), 3).toarray(), clique(4))


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


def test_a_graph_without_edges_joins_every_row_with_itself():
    idx, weights = affinity.rows_on_simplex(sp.csr_array((3, 3)))
    assert np.array_equal(idx, [[0], [1], [2]])
    assert np.array_equal(weights, np.ones((3, 1)))


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


def test_a_row_without_edges_is_a_component_of_its_own():
    W = np.zeros((4, 4))
    W[0, 2] = W[2, 0] = 9.0
    L, root = affinity.normalised_laplacian(sp.csr_array(W))
    assert np.array_equal(root, [3.0, 1.0, 3.0, 1.0])
    assert np.array_equal(L.toarray()[[1, 3]], np.zeros((2, 4)))
    np.testing.assert_allclose(np.linalg.eigvalsh(L.toarray()), [0, 0, 0, 2], atol=1e-14)


def test_the_unit_of_the_weights_does_not_change_the_normalised_laplacian():
    S = sp.csr_array(blobs(6, [25], gap=0.0))
    L, root = affinity.normalised_laplacian(S)
    scaled, scaled_root = affinity.normalised_laplacian(S * 1e8)
    np.testing.assert_allclose(scaled.toarray(), L.toarray(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(scaled_root, 1e4 * root, rtol=1e-13)


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
