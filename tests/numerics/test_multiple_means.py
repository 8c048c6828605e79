"""Shares of rows in prototypes against the row problem and the cut of all nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import reference_landmarks as dense
from dogc.numerics import multiple_means
from dogc.numerics.multiple_means import candidates, constrained_shares, cut_cost, shares_at

thorough = settings(deadline=None, max_examples=40)


def problem(rows, prototypes, k, omega=None):
    """Candidates from two sets of points."""
    D = dense.squared_distances(rows, prototypes)
    idx = np.argsort(D, axis=1, kind="stable")[:, : k + 1]
    omega = np.ones(len(rows)) if omega is None else omega
    return candidates(idx, np.take_along_axis(D, idx, axis=1), k, omega, len(prototypes))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, d = draw(st.integers(6, 40)), draw(st.integers(3, 12)), draw(st.integers(1, 4))
    k = draw(st.integers(1, m - 1))
    rows, prototypes = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    omega = rng.integers(1, 4, n).astype(float)
    return problem(rows, prototypes, k, omega), rng.random((n, k)), draw(st.floats(0, 10))


@thorough
@given(problems())
def test_every_row_solves_its_problem(case):
    given_rows, cost, lam = case
    found = shares_at(given_rows, cost, lam)
    for i, row in enumerate(given_rows.d + lam * cost):
        np.testing.assert_allclose(
            found.S[i], reference.solve_row(row, given_rows.xi[i]), atol=1e-8
        )


@thorough
@given(problems())
def test_components_are_those_of_the_bipartite_graph(case):
    given_rows, cost, lam = case
    found = shares_at(given_rows, cost, lam)
    S = dense.dense(given_rows.idx, found.S, given_rows.m)
    member, count = dense.components(S)
    assert found.n_components == count
    own = given_rows.idx[np.arange(len(S)), found.S.argmax(axis=1)]
    assert dense.same_partition(found.member[own], member)
    np.testing.assert_array_equal(found.member >= 0, S.sum(axis=0) > 0)


@thorough
@given(problems(), st.integers(1, 4))
def test_the_cost_of_pairs_adds_up_to_the_trace(case, more):
    given_rows, _, _ = case
    found = shares_at(given_rows, np.zeros_like(given_rows.d), 0.0)
    used = int((found.member >= 0).sum())
    c = min(found.n_components + more, used)
    S = dense.dense(given_rows.idx, found.S, given_rows.m) * given_rows.omega[:, None]
    gamma, _ = dense.normalised_cut(S[:, S.sum(axis=0) > 0])
    if gamma[c - 1] > 1 - 1e-3:
        return  # a column that tells nothing
    cost = cut_cost(given_rows, found, c)
    trace = float((given_rows.omega[:, None] * found.S * cost).sum())
    assert trace == pytest.approx(gamma[:c].sum(), abs=1e-8)


def test_costs_are_those_of_the_dense_cut():
    rng = np.random.default_rng(0)
    given_rows = problem(rng.standard_normal((40, 2)), rng.standard_normal((9, 2)), 4)
    found = shares_at(given_rows, np.zeros_like(given_rows.d), 0.0)
    S = dense.dense(given_rows.idx, found.S, 9)
    expected = np.take_along_axis(dense.cut_distances(S, 3), given_rows.idx, axis=1)
    np.testing.assert_allclose(cut_cost(given_rows, found, 3), expected, atol=1e-10)


def blobs(c, std=0.8, seed=0, n=60):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % c
    return 4.0 * np.eye(c, 4)[truth] + std * rng.standard_normal((n, 4)), truth


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("c", [2, 3, 4])
def test_there_are_as_many_components_as_asked_for(c, seed):
    rows, _ = blobs(c, 1.0, seed)
    given_rows = problem(rows, rows[:20], 5)
    assert shares_at(given_rows, np.zeros_like(given_rows.d), 0.0).n_components < c
    found = constrained_shares(given_rows, c)
    assert found.n_components == c
    np.testing.assert_allclose(found.S.sum(axis=1), 1.0)
    expected = dense.constrained(dense.squared_distances(rows, rows[:20]), c, 5)
    np.testing.assert_allclose(dense.dense(given_rows.idx, found.S, 20), expected, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 30.0, 1e3, 1e6])
def test_a_search_from_anywhere_ends_with_as_many_components(factor):
    rows, truth = blobs(3, 1.0)
    given_rows = problem(rows, rows[:20], 5)
    start = multiple_means.balanced_lambda(given_rows, 3) * factor
    found = constrained_shares(given_rows, 3, start)
    assert found.n_components == 3
    own = given_rows.idx[np.arange(len(rows)), found.S.argmax(axis=1)]
    assert dense.same_partition(found.member[own], truth)


def test_a_graph_in_enough_pieces_stays_as_it_is():
    rows, truth = blobs(3, 0.05)
    for c in (2, 3):
        found = constrained_shares(problem(rows, rows, 3), c)
        assert found.n_components >= 3
        assert found.lam == 0.0
    assert all(len(set(found.member[truth == j])) == 1 for j in range(3)) or found.n_components > 3


def test_a_weight_is_as_many_copies():
    rows, _ = blobs(3, 1.0)
    omega = np.random.default_rng(0).integers(1, 4, len(rows))
    weighed = constrained_shares(problem(rows, rows[:20], 5, omega.astype(float)), 3)
    copies = np.repeat(np.arange(len(rows)), omega)
    counted = constrained_shares(problem(rows[copies], rows[:20], 5), 3)
    np.testing.assert_array_equal(weighed.member, counted.member)


def test_alike_rows_and_prototypes_have_a_lambda_to_start_with():
    given_rows = problem(np.zeros((4, 1)), np.zeros((3, 1)), 2)
    assert multiple_means.balanced_lambda(given_rows, 2) == 1.0
    found = constrained_shares(given_rows, 2)
    assert np.isfinite(found.S).all()
