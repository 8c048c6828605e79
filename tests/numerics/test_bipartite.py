"""The transfer cut against the normalised cut of all nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_landmarks as dense
from dogc.numerics import bipartite

thorough = settings(deadline=None, max_examples=60)


@st.composite
def graphs(draw):
    """Landmarks of rows, their weights, and what rows count for."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, n = draw(st.integers(2, 12)), draw(st.integers(12, 60))
    k = draw(st.integers(1, p))
    idx = np.argsort(rng.random((n, p)), axis=1)[:, :k]
    T = rng.random((n, k)) + 0.1
    return idx, T / T.sum(axis=1, keepdims=True), rng.integers(1, 5, n).astype(float), p


@thorough
@given(graphs())
def test_the_graph_of_landmarks_is_the_product(given_graph):
    idx, T, omega, p = given_graph
    B = dense.dense(idx, T, p)
    E = bipartite.landmark_graph(idx, T, omega, p)
    np.testing.assert_allclose(E.toarray(), B.T @ np.diag(omega) @ B, atol=1e-12)
    assert (E != E.T).nnz == 0


def test_blocks_add_up_to_the_graph_of_all_rows():
    rng = np.random.default_rng(0)
    n = 40_000
    idx, T = rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :2], rng.random((n, 2))
    E = bipartite.landmark_graph(idx, T, np.ones(n), 6).toarray()
    B = dense.dense(idx, T, 6)
    np.testing.assert_allclose(E, B.T @ B, rtol=1e-10)


@thorough
@given(graphs())
def test_rows_and_landmarks_together_solve_the_normalised_cut(given_graph):
    idx, T, omega, p = given_graph
    E = bipartite.landmark_graph(idx, T, omega, p)
    count, member = bipartite.landmark_components(E)
    assert count == member.max() + 1
    used = member >= 0
    c = min(int(used.sum()), member.max() + 2)
    V = bipartite.transfer_cut(E, c, member)
    B = (omega[:, None] * dense.dense(idx, T, p))[:, used]
    W = dense.bipartite(B)
    D = W.sum(axis=1)
    gamma, _ = dense.normalised_cut(B)
    sigma = 1 - gamma[:c]
    told = sigma > 1e-5
    f = np.vstack([bipartite.place_rows(idx, T, V), V[used] * sigma])[:, told]
    # L f = gamma D f with gamma = 1 - sigma, and columns that tell something are not zero.
    np.testing.assert_allclose(
        D[:, None] * f - W @ f, gamma[:c][told] * D[:, None] * f, atol=1e-6 * D.max()
    )
    assert (np.linalg.norm(f, axis=0) > 0).all()


def test_rows_are_the_left_singular_vectors():
    rng = np.random.default_rng(1)
    idx, T = np.argsort(rng.random((80, 9)), axis=1)[:, :4], rng.random((80, 4))
    T /= T.sum(axis=1, keepdims=True)
    E = bipartite.landmark_graph(idx, T, np.ones(80), 9)
    U = bipartite.place_rows(idx, T, bipartite.transfer_cut(E, 3, np.zeros(9, dtype=int)))
    expected, _ = dense.left_singular_vectors(dense.dense(idx, T, 9), 3)
    np.testing.assert_allclose(U @ U.T, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(U * expected, axis=0)), 1.0)


def test_components_lie_apart_and_a_landmark_without_rows_nowhere():
    idx, T = np.array([[0, 1], [0, 1], [2, 3], [2, 3]]), np.full((4, 2), 0.5)
    E = bipartite.landmark_graph(idx, T, np.ones(4), 5)
    count, member = bipartite.landmark_components(E)
    assert (count, member.tolist()) == (2, [0, 0, 1, 1, -1])
    V = bipartite.transfer_cut(E, 2, member)
    U = bipartite.place_rows(idx, T, V)
    np.testing.assert_allclose(np.abs(U), [[0.5**0.5, 0]] * 2 + [[0, 0.5**0.5]] * 2, atol=1e-12)
    assert (V[4] == 0).all()


def test_a_column_that_tells_nothing_is_zero():
    # All rows alike: one direction is left, the others have singular value zero.
    idx, T = np.tile([0, 1, 2], (9, 1)), np.tile([0.5, 0.25, 0.25], (9, 1))
    E = bipartite.landmark_graph(idx, T, np.ones(9), 3)
    V = bipartite.transfer_cut(E, 3, np.zeros(3, dtype=int))
    assert (V != 0).all(axis=0).tolist() == [True, False, False]
    np.testing.assert_array_equal(V[:, 1:], 0.0)


@thorough
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-150, 1.0, 1e150]))
def test_links_are_the_kernel(seed, unit):
    rng = np.random.default_rng(seed)
    d = np.sort(rng.random((8, 4)), axis=1) * unit**2
    T, total = bipartite.gaussian_links(d, 0.5 * unit)
    B = np.exp(-d / unit**2 / (2 * 0.25))
    np.testing.assert_allclose(T * total[:, None], B, rtol=1e-10)
    np.testing.assert_allclose(T.sum(axis=1), 1.0)


@pytest.mark.parametrize("far", [1e6, 1e300, np.inf])
def test_a_row_far_from_everything_keeps_finite_weights(far):
    T, total = bipartite.gaussian_links(np.array([[far, far], [0.0, 1.0]]), 1.0)
    np.testing.assert_allclose(T[0], 0.5)
    assert total[0] == bipartite.LEAST_WEIGHT
    assert total[1] > 1.0
