import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import reference
from dogc.numerics import graph

thorough = settings(deadline=None, max_examples=60)

ordinary_or_tied = st.one_of(st.floats(-5, 5), st.integers(-2, 2).map(float))
scales = st.sampled_from([1.0, 1e9, 1e-9])


def matrices(elements, max_rows=5, max_columns=8):
    shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=max(max_rows, max_columns))
    return shapes.filter(lambda s: s[0] <= max_rows and s[1] <= max_columns).flatmap(
        lambda shape: arrays(float, shape, elements=elements)
    )


def random_candidates(rng, n, n_b, k, padded=True):
    idx = rng.integers(-1 if padded else 0, n_b, (n, k))
    idx[0, 0] = -1 if padded else 0
    return idx


# ------------------------------------------------------------------------ pair_distances


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("width", [4, 40])
@pytest.mark.parametrize("chunk", [1, 7, 40, 1 << 22])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_pair_distances_match_a_double_loop(monkeypatch, make, dtype, chunk, width, metric):
    monkeypatch.setattr(graph, "CHUNK_ELEMENTS", chunk)
    rng = np.random.default_rng(0)
    A = (rng.standard_normal((13, width)) * (rng.random((13, width)) < 0.6)).astype(dtype)
    B = (rng.standard_normal((9, width)) * (rng.random((9, width)) < 0.6)).astype(dtype)
    idx = random_candidates(rng, 13, 9, 5)
    d = graph.pair_distances(make(A), make(B), idx, metric=metric)
    assert d.dtype == np.float64
    assert np.array_equal(np.isinf(d), idx < 0)
    expected = reference.pair_distances(A, B, idx, metric)
    np.testing.assert_allclose(d, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_pair_distances_are_independent_of_the_chunks(monkeypatch, make):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((30, 3))
    idx = random_candidates(rng, 30, 30, 4)
    whole = graph.pair_distances(make(A), make(A), idx)
    monkeypatch.setattr(graph, "CHUNK_ELEMENTS", 50)
    assert np.array_equal(graph.pair_distances(make(A), make(A), idx), whole)


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


def test_no_candidates_at_all_give_an_empty_array():
    A = np.ones((3, 2))
    assert graph.pair_distances(A, A, np.empty((3, 0), dtype=int)).shape == (3, 0)


# --------------------------------------------------------------- project_rows_to_simplex


@thorough
@given(matrices(ordinary_or_tied), scales)
def test_projection_matches_bisection(V, scale):
    expected = [reference.project_to_simplex(v) for v in V * scale]
    S = graph.project_rows_to_simplex(V * scale)
    np.testing.assert_allclose(S, expected, rtol=0, atol=1e-12)


@thorough
@given(matrices(ordinary_or_tied), scales)
def test_projection_is_feasible_and_optimal(V, scale):
    V = V * scale
    S = graph.project_rows_to_simplex(V)
    assert (S >= 0).all()
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    for v, s in zip(V - V.max(axis=1, keepdims=True), S, strict=True):
        threshold = (v - s)[s > 0]  # KKT: the same for every entry of the support ...
        assert np.ptp(threshold) <= 1e-12
        assert (v[s == 0] <= threshold.mean() + 1e-12).all()  # ... and above all the others


@thorough
@given(matrices(ordinary_or_tied), st.floats(-100, 100))
def test_projection_ignores_a_shift_of_the_row(V, shift):
    moved = graph.project_rows_to_simplex(V + shift)
    np.testing.assert_allclose(moved, graph.project_rows_to_simplex(V), rtol=0, atol=1e-12)


@thorough
@given(matrices(ordinary_or_tied), st.randoms(use_true_random=False))
def test_projection_follows_a_permutation(V, random):
    order = list(range(V.shape[1]))
    random.shuffle(order)
    S = graph.project_rows_to_simplex(V)
    assert np.array_equal(graph.project_rows_to_simplex(V[:, order]), S[:, order])


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


@pytest.mark.parametrize("value", [0.0, -7.5, 1e300, -1e-300])
def test_a_single_entry_gets_all_the_weight(value):
    assert np.array_equal(graph.project_rows_to_simplex(np.array([[value]])), [[1.0]])


@pytest.mark.parametrize("k", [2, 3, 7, 1000])
@pytest.mark.parametrize("value", [0.0, 3.3, -1e9])
def test_equal_entries_share_equally(k, value):
    S = graph.project_rows_to_simplex(np.full((2, k), value))
    np.testing.assert_allclose(S, 1.0 / k, rtol=1e-12)
    assert len(np.unique(S)) == 1


def test_a_point_of_the_simplex_is_left_alone():
    V = np.random.default_rng(3).dirichlet(np.ones(6), size=20)
    np.testing.assert_allclose(graph.project_rows_to_simplex(V), V, rtol=0, atol=1e-15)


def test_projection_leaves_its_argument_alone():
    V = np.array([[3.0, 1.0], [0.2, 0.1]])
    kept = V.copy()
    graph.project_rows_to_simplex(V)
    assert np.array_equal(V, kept)


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


def test_every_row_has_its_own_xi():
    d = np.tile([1.0, 2.0, 4.0], (3, 1))
    xi = np.array([0.1, 1.0, 50.0])
    expected = [reference.solve_row(row, x) for row, x in zip(d, xi, strict=True)]
    np.testing.assert_allclose(graph.solve_rows(d, xi), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("xi", [1e-300, 1e-30, 1e-9])
def test_a_tiny_xi_leaves_only_the_nearest(xi):
    d = np.array([[2.0, 1.0, 3.0, np.inf], [5.0, 5.0, 1e9, 6.0]])
    S = graph.solve_rows(d, np.full(2, xi))
    np.testing.assert_allclose(S, [[0, 1, 0, 0], [0.5, 0.5, 0, 0]], rtol=0, atol=1e-12)


@pytest.mark.parametrize("xi", [1e12, 1e30, 1e300])
def test_a_huge_xi_spreads_over_all_candidates(xi):
    d = np.array([[2.0, 1.0, 3.0, np.inf], [5.0, 5.0, 1e-9, 6.0]])
    S = graph.solve_rows(d, np.full(2, xi))
    np.testing.assert_allclose(S, [[1 / 3] * 3 + [0], [1 / 4] * 4], rtol=0, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_rows_do_not_change_with_the_unit_of_distance(scale):
    d = np.random.default_rng(4).random((20, 6))
    xi = np.full(20, 0.2)
    S = graph.solve_rows(d * scale, xi * scale)
    np.testing.assert_allclose(S, graph.solve_rows(d, xi), rtol=0, atol=1e-12)


def test_rows_are_not_troubled_by_distances_far_from_zero():
    d = np.array([[0.0, 0.25, 0.5]])
    xi = np.array([0.5])
    assert np.array_equal(graph.solve_rows(d + 2.0**40, xi), graph.solve_rows(d, xi))


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


@thorough
@given(st.integers(1, 7).flatmap(lambda k: ascending_rows(k, st.integers(0, 50).map(float))))
def test_with_that_xi_a_row_has_exactly_k_neighbours(d):
    k = d.shape[1] - 1
    assume((d[:, k - 1] < d[:, k]).all())
    S = graph.solve_rows(d, graph.neighbour_xi(d, k, floor=0.0))
    assert ((S > 0).sum(axis=1) == k).all()
    assert (S[:, k] == 0).all()


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3])
def test_a_row_far_from_all_others_has_exactly_k_neighbours_too(offset):
    d = np.sort(offset + 1e-3 * np.random.default_rng(0).random((200, 11)), axis=1)
    S = graph.solve_rows(d, graph.neighbour_xi(d, 10, floor=0.0))
    assert ((S > 0).sum(axis=1) == 10).all()


def test_a_larger_xi_admits_the_next_neighbour():
    d = np.array([[1.0, 2.0, 4.0, 7.0]])
    xi = graph.neighbour_xi(d, 3)
    assert (graph.solve_rows(d, xi) > 0).sum() == 3
    assert (graph.solve_rows(d, 1.01 * xi) > 0).sum() == 4


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


def test_copies_among_other_rows_share_equally():
    d = np.array([[0.0, 0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    S = graph.solve_rows(d, graph.neighbour_xi(d, 4))
    assert S[0, 0] == S[0, 1] == S[0, 2] > S[0, 3] > 0


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


def test_a_row_with_one_candidate_gives_it_all():
    d = np.array([[3.0, np.inf, np.inf], [1.0, 2.0, 3.0]])
    S = graph.solve_rows(d, graph.neighbour_xi(d, 2))
    assert np.array_equal(S[0], [1.0, 0.0, 0.0])


# ----------------------------------------------------------- to_csr, laplacian, components


def test_csr_holds_exactly_the_positive_weights_in_order():
    idx = np.array([[2, 0, -1], [3, 1, 0], [-1, -1, -1]])
    S = np.array([[0.25, 0.75, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 0.0]])
    graph_ = graph.to_csr(idx, S, 4)
    expected = [[0.75, 0, 0.25, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]]
    assert np.array_equal(graph_.toarray(), expected)
    assert graph_.nnz == 4
    assert graph_.has_canonical_format


@thorough
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_csr_agrees_with_filling_a_dense_array(n, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n + 1))
    idx = np.array([rng.permutation(n)[:k] for _ in range(n)])
    S = np.maximum(rng.standard_normal((n, k)), 0.0)
    dense = np.zeros((n, n))
    for i in range(n):
        for place in range(k):
            dense[i, idx[i, place]] = S[i, place]
    csr = graph.to_csr(idx, S, n)
    assert np.array_equal(csr.toarray(), dense)
    assert csr.nnz == (dense > 0).sum()


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


def test_laplacian_form_is_half_the_weighted_sum_of_squared_differences():
    rng = np.random.default_rng(5)
    S, F = random_weights(6, 12, 0.4), rng.standard_normal((12, 3))
    total = sum(S[i, j] * np.sum((F[i] - F[j]) ** 2) for i in range(12) for j in range(12))
    L = graph.laplacian(sp.csr_array(S))
    np.testing.assert_allclose(2.0 * np.trace(F.T @ (L @ F)), total, rtol=1e-13)


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


def test_one_directed_edge_is_enough_to_connect():
    count, member = graph.components(sp.csr_array(np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])))
    assert count == 1
    assert np.array_equal(member, [0, 0, 0])


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


@thorough
@given(weights_and_costs(), st.floats(-5, 5), st.randoms(use_true_random=False))
def test_rows_in_the_L1_norm_follow_a_permutation_and_ignore_a_shift(problem, shift, random):
    A, cost = np.array(problem[0]), np.round(problem[1] * 64) / 64
    order = list(range(A.shape[1]))
    random.shuffle(order)
    S = graph.solve_rows_l1(A, cost)
    permuted = graph.solve_rows_l1(A[:, order], cost[:, order])
    np.testing.assert_allclose(permuted, S[:, order], rtol=0, atol=1e-14)
    moved = graph.solve_rows_l1(A, cost + np.round(shift * 64) / 64)
    np.testing.assert_allclose(moved, S, rtol=0, atol=1e-14)


def test_at_no_price_or_at_one_price_the_given_rows_are_kept():
    A = np.random.default_rng(8).dirichlet(np.ones(5), size=6)
    assert np.array_equal(graph.solve_rows_l1(A, np.zeros((6, 5))), A)
    assert np.array_equal(graph.solve_rows_l1(A, np.full((6, 5), 1e9)), A)


def test_an_entry_moves_only_if_it_is_dearer_than_the_cheapest_by_more_than_two():
    A = np.full((2, 2), 0.5)
    S = graph.solve_rows_l1(A, np.array([[1.0, 3.0], [1.0, 3.0 + 1e-9]]))
    assert np.array_equal(S, [[0.5, 0.5], [1.0, 0.0]])


@pytest.mark.parametrize("rounding", [0.0, 1e-12, -1e-12])
def test_what_is_freed_goes_to_the_one_of_largest_weight_among_the_cheapest(rounding):
    A, cost = np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[0.0, 1.0, rounding, 9.0]])
    np.testing.assert_allclose(graph.solve_rows_l1(A, cost), [[0.1, 0.2, 0.7, 0.0]], rtol=1e-14)
    dearer = graph.solve_rows_l1(A, np.array([[0.0, 1.0, 1e-6, 9.0]]))
    np.testing.assert_allclose(dearer, [[0.5, 0.2, 0.3, 0.0]], rtol=1e-14)


def test_a_cheapest_entry_without_weight_can_receive():
    S = graph.solve_rows_l1(np.array([[0.5, 0.0, 0.5]]), np.array([[9.0, 0.0, 9.0]]))
    assert np.array_equal(S, [[0.0, 1.0, 0.0]])


def test_rows_in_the_L1_norm_leave_their_arguments_alone():
    A, cost = np.array([[0.5, 0.5]]), np.array([[0.0, 9.0]])
    graph.solve_rows_l1(A, cost)
    assert np.array_equal(A, [[0.5, 0.5]])
    assert np.array_equal(cost, [[0.0, 9.0]])


def test_padding_gets_no_weight_in_the_L1_norm():
    A, cost = np.array([[0.0, 0.4, 0.6]]), np.array([[np.inf, 5.0, 1.0]])
    assert np.array_equal(graph.solve_rows_l1(A, cost), [[0.0, 0.0, 1.0]])
    assert np.array_equal(graph.solve_rows_l1(np.array([[0.0, 1.0]]), cost[:, :2]), [[0.0, 1.0]])
