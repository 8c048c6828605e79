import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import reference
from dogc.numerics import graph

thorough = settings(deadline=None, max_examples=40)

ordinary_or_tied = st.one_of(st.floats(-5, 5), st.integers(-2, 2).map(float))
scales = st.sampled_from([1.0, 1e9, 1e-9])


def matrices(elements, max_rows=5, max_columns=8):
    shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=max(max_rows, max_columns))
    return shapes.filter(lambda s: s[0] <= max_rows and s[1] <= max_columns).flatmap(
        lambda shape: arrays(float, shape, elements=elements)
    )


def random_candidates(rng, n, n_b, k):
    idx = rng.integers(-1, n_b, (n, k))
    idx[0, 0] = -1
    return idx


# ------------------------------------------------------------------------ pair_distances


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("width", [4, 40])
@pytest.mark.parametrize("chunk", [1, 40, 1 << 22])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_pair_distances_are_those_of_differences(monkeypatch, make, chunk, width, metric):
    monkeypatch.setattr(graph, "CHUNK_ELEMENTS", chunk)
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, width)) * (rng.random((n, width)) < 0.6) for n in (13, 9))
    idx = random_candidates(rng, 13, 9, 5)
    d = graph.pair_distances(make(A), make(B), idx, metric=metric)
    assert d.dtype == np.float64
    assert np.array_equal(np.isinf(d), idx < 0)
    expected = reference.pair_distances(A, B, idx, metric)
    np.testing.assert_allclose(d, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_near_duplicates_far_from_the_origin_keep_their_digits(make):
    A = np.array([[1e8, -1e8], [1e8 + 0.25, -1e8]])
    d = graph.pair_distances(make(A), make(A), np.array([[1], [0]]))
    assert np.array_equal(d, [[0.0625], [0.0625]])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_float32_rows_are_subtracted_in_double_precision(make):
    rng = np.random.default_rng(2)
    A = (100 + rng.random((8, 3))).astype(np.float32)
    idx = random_candidates(rng, 8, 8, 4)
    d = graph.pair_distances(make(A), make(A), idx)
    np.testing.assert_allclose(d, reference.pair_distances(A, A, idx), rtol=1e-13)


# --------------------------------------------------------------- project_rows_to_simplex


@thorough
@given(matrices(ordinary_or_tied), scales)
def test_projection_matches_bisection(V, scale):
    expected = [reference.project_to_simplex(v) for v in V * scale]
    S = graph.project_rows_to_simplex(V * scale)
    np.testing.assert_allclose(S, expected, rtol=0, atol=1e-12)


@thorough
@given(matrices(ordinary_or_tied), scales, st.data())
def test_minus_infinity_is_as_good_as_absent(V, scale, data):
    V = V * scale
    absent = data.draw(arrays(bool, V.shape))
    absent[:, data.draw(st.integers(0, V.shape[1] - 1))] = False
    S = graph.project_rows_to_simplex(np.where(absent, -np.inf, V))
    assert (S[absent] == 0).all()
    for s, v, gone in zip(S, V, absent, strict=True):
        expected = reference.project_to_simplex(v[~gone])
        np.testing.assert_allclose(s[~gone], expected, rtol=0, atol=1e-12)


def test_rounding_noise_is_not_an_edge():
    S = graph.project_rows_to_simplex(np.array([[0.0, -1.0 + 1e-15], [0.0, -1.0 + 1e-6]]))
    assert S[0, 1] == 0.0
    assert S[1, 1] > 0.0


# ---------------------------------------------------------------------------- solve_rows


@thorough
@given(matrices(st.floats(0, 10), max_rows=3, max_columns=6), st.floats(1e-2, 100))
def test_rows_solve_the_row_problem(d, xi):
    S = graph.solve_rows(d, np.full(len(d), xi))
    for s, row in zip(S, d, strict=True):
        best = reference.solve_row(row, xi)
        # Values a rounding error apart belong to weights its square root apart.
        np.testing.assert_allclose(s, best, rtol=0, atol=1e-7)
        value = reference.row_problem_value(s, row, xi)
        least = reference.row_problem_value(best, row, xi)
        assert value <= least + 1e-10 * max(1.0, abs(least))


def test_a_row_far_from_zero_keeps_its_digits_beside_one_that_is_near():
    d, xi = np.array([[0.0, 0.25, 0.5], [0.0, 0.25, 0.5]]), np.array([0.3, 0.3])
    S = graph.solve_rows(d + np.array([[0.0], [2.0**40]]), xi)
    np.testing.assert_allclose(S[1], S[0], rtol=0, atol=1e-14)


# -------------------------------------------------------------------------- neighbour_xi


def ascending_rows(k, elements=st.floats(0, 10)):  # noqa: B008
    return st.integers(1, 5).flatmap(
        lambda n: arrays(float, (n, k + 1), elements=elements).map(lambda d: np.sort(d, axis=1))
    )


@thorough
@given(st.integers(1, 7).flatmap(ascending_rows))
def test_xi_is_the_literal_equation(d):
    k = d.shape[1] - 1
    expected = [reference.neighbour_xi(row, k) for row in d]
    xi = graph.neighbour_xi(d, k, floor=0.0)
    np.testing.assert_allclose(xi, expected, rtol=0, atol=1e-13)
    assert (xi > 0).all()


def test_a_row_of_copies_is_lifted_to_a_share_of_the_mean_and_others_are_not():
    d = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [1.0, 1.0, 3.5]])
    assert np.array_equal(graph.neighbour_xi(d, 2, floor=0.3), [0.3 * 5 / 3, 2.5, 2.5])


def test_the_floor_is_a_thousandth_of_the_mean_unless_told():
    d = np.array([[7.0, 7.0, 7.0], [1.0, 2.0, 4.0]])
    np.testing.assert_allclose(graph.neighbour_xi(d, 2), [1e-3 * 1.25, 2.5])


@pytest.mark.parametrize("distance", [0.0, 0.1, 1e9])
@pytest.mark.parametrize("floor", [0.0, 1e-3])
def test_equal_distances_give_uniform_finite_weights(distance, floor):
    d = np.full((4, 6), distance)
    xi = graph.neighbour_xi(d, 5, floor=floor)
    assert np.isfinite(xi).all()
    assert (xi > 0).all()
    np.testing.assert_allclose(graph.solve_rows(d, xi), 1 / 6, rtol=1e-12)


def test_without_a_further_candidate_the_last_distance_stands_in():
    d = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 1.0]])
    expected = graph.neighbour_xi(np.column_stack([d, d[:, -1]]), 3)
    assert np.array_equal(graph.neighbour_xi(d, 3), expected)
    assert np.array_equal(expected, [2.5, 1.0])


def test_padding_counts_for_nothing():
    d = np.array([[1.0, 2.0, 4.0, np.inf, np.inf], [1.0, 2.0, 4.0, 9.0, np.inf]])
    xi = graph.neighbour_xi(d, 4)
    short = graph.neighbour_xi(np.array([[1.0, 2.0, 4.0]]), 3)
    whole = graph.neighbour_xi(np.array([[1.0, 2.0, 4.0, 9.0]]), 4)
    assert np.array_equal(xi, [short[0], whole[0]])


# ----------------------------------------------------------- to_csr, laplacian, components


def test_csr_holds_exactly_the_positive_weights_in_order():
    idx = np.array([[2, 0, -1], [3, 1, 0], [-1, -1, -1]])
    S = np.array([[0.25, 0.75, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]])
    graph_ = graph.to_csr(idx, S, 4)
    expected = [[0.75, 0, 0.25, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]]
    assert np.array_equal(graph_.toarray(), expected)
    assert graph_.nnz == 4
    assert graph_.has_canonical_format


def test_indices_are_short_unless_there_are_too_many_columns():
    idx, S = np.array([[1, 2**31 + 3]]), np.array([[0.25, 0.75]])
    wide = graph.to_csr(idx, S, 2**31 + 5)
    assert wide.indices.tolist() == [1, 2**31 + 3]
    assert wide.data.tolist() == [0.25, 0.75]
    narrow = graph.to_csr(np.array([[1, 2]]), S, 3)
    assert narrow.indices.dtype == narrow.indptr.dtype == np.int32


def random_weights(seed, n, density):
    rng = np.random.default_rng(seed)
    return rng.random((n, n)) * (rng.random((n, n)) < density)


@thorough
@given(st.integers(1, 10), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_laplacian_matches_the_dense_one_and_is_positive_semidefinite(n, density, seed):
    S = random_weights(seed, n, density)
    L = graph.laplacian(sp.csr_array(S)).toarray()
    np.testing.assert_allclose(L, reference.laplacian(S), rtol=0, atol=1e-14)
    assert np.array_equal(L, L.T)
    np.testing.assert_allclose(L.sum(axis=1), 0.0, rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(L)[0] >= -1e-13


@thorough
@given(st.integers(1, 10), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_the_normalised_cut_is_that_of_the_dense_graph(n, density, seed):
    S = 0.1 * random_weights(seed, n, density)
    labels = np.random.default_rng(seed).integers(0, 4, n)  # some names may be nobody's
    cut = graph.normalised_cut(sp.csr_array(S), labels)
    np.testing.assert_allclose(cut, reference.normalised_cut(S, labels), rtol=1e-12, atol=1e-14)


@thorough
@given(st.integers(1, 14), st.floats(0, 0.3), st.integers(0, 2**32 - 1))
def test_components_match_breadth_first_search(n, density, seed):
    S = random_weights(seed, n, density)
    count, member = graph.components(sp.csr_array(S))
    expected_count, expected = reference.components(S)
    assert count == expected_count
    assert np.array_equal(member, expected)


# -------------------------------------------------------------------------- solve_rows_l1


@st.composite
def weights_and_costs(draw):
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cost = draw(arrays(float, (n, k), elements=st.floats(0, 6) | st.integers(0, 4).map(float)))
    return rng.dirichlet(np.full(k, 0.5), size=n), cost


@settings(thorough, max_examples=40)
@given(weights_and_costs())
def test_rows_in_the_L1_norm_solve_the_linear_program(problem):
    A, cost = problem
    S = graph.solve_rows_l1(A, cost)
    assert (S >= 0).all()
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    for s, a, q in zip(S, A, cost, strict=True):
        least = reference.l1_row_minimum(a, q)
        # The linear program is solved to 1e-7 per constraint, and can come out below the minimum.
        np.testing.assert_allclose(reference.l1_row_value(s, a, q), least, rtol=0, atol=1e-6)


def test_padding_gets_no_weight_in_the_L1_norm():
    A, cost = np.array([[0.0, 0.4, 0.6]]), np.array([[np.inf, 5.0, 1.0]])
    assert np.array_equal(graph.solve_rows_l1(A, cost), [[0.0, 0.0, 1.0]])
    assert np.array_equal(graph.solve_rows_l1(np.array([[0.0, 1.0]]), cost[:, :2]), [[0.0, 1.0]])
