"""Reaches, scores, discounts and lone rows on arrays; test_outlier_scores.py has the rest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dogc.numerics import outliers

thorough = settings(deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)

# ----------------------------------------------------------------------------- mean_reach


def brute_reach(d, count, own, nearest):
    """The mean over a list of all neighbours one by one, copies of the row itself first."""
    every = [0.0] * own
    for squared, copies in zip(d, count, strict=True):
        every += [np.sqrt(squared)] * copies if np.isfinite(squared) else []
    return np.mean(every[:nearest]) if every else np.inf


@thorough
@given(seeds, st.integers(1, 9))
def test_the_reach_is_the_mean_over_every_neighbour_one_by_one(seed, nearest):
    rng = np.random.default_rng(seed)
    d = np.sort(np.where(rng.random((5, 4)) < 0.3, np.inf, 9.0 * rng.random((5, 4))), axis=1)
    count, own = rng.integers(1, 4, (5, 4)), rng.integers(0, 12, 5)
    reach = outliers.mean_reach(d, count.astype(float), own.astype(float), nearest)
    expected = [brute_reach(*row, nearest) for row in zip(d, count, own, strict=True)]
    np.testing.assert_allclose(reach, expected, rtol=0, atol=1e-12)


def test_twenty_neighbours_make_a_reach_unless_told():
    d = np.arange(30.0)[None, :] ** 2
    assert outliers.mean_reach(d, np.ones((1, 30)), np.zeros(1)) == np.arange(20).mean()


# ------------------------------------------------------------------------- relative_reach


def test_scores_are_the_reach_over_the_median_reach_around():
    around = np.array([[1.0, 2.0, 4.0], [1.0, np.nan, 3.0], [np.nan] * 3, [5.0, np.inf, 5.0]])
    score = outliers.relative_reach(np.array([6.0, 6.0, 6.0, 0.0]), around, 4.0)
    # The third row knows nobody: the unit takes their place. What is not finite is unknown.
    np.testing.assert_allclose(score, [3.0, 3.0, 1.5, 0.0], rtol=0, atol=1e-7)


def test_no_score_is_larger_than_a_trillion():
    reach = np.array([1e-2, 1.0, 1e300, np.inf])
    score = outliers.relative_reach(reach, np.full((4, 1), 1e-13), 1e-13)
    np.testing.assert_allclose(score, [1e11, 1e12, 1e12, 1e12], rtol=1e-6)
    assert (score <= 1e12).all()


# ------------------------------------------------------------------------------- discount


def test_shares_are_drawn_to_even_ones_as_three_over_the_score():
    shares = np.tile([0.8, 0.2, 0.0], (5, 1))
    score = np.array([[0.0], [3.0], [6.0], [300.0], [1e12]])
    kept = np.array([[1.0], [1.0], [0.5], [0.01], [1e-6]])
    expected = 1 / 3 + kept * (shares - 1 / 3)
    np.testing.assert_allclose(outliers.discount(shares, score, 3), expected, rtol=1e-14)


# ----------------------------------------------------------------------------------- lone


def brute_lone(score, idx, d, count, least):
    """Far rows, the groups that they make, and which of those are too small for a cluster."""
    n, far = len(score), [s > 30.0 for s in score]
    weight = sum(c for c, is_far in zip(count, far, strict=True) if is_far)
    if weight == 0 or weight >= 0.1 * sum(count):
        return [False] * n
    beside = {i: set() for i in range(n)}
    for i in np.flatnonzero(far):
        listed = [(np.sqrt(x), j) for x, j in zip(d[i], idx[i], strict=True) if j >= 0]
        rest = min([x for x, j in listed if not far[j]], default=np.sqrt(d[i, -1]))
        for x, j in listed:
            if far[j] and x < rest / 2:
                beside[i].add(j)
                beside[j].add(i)
    aside = []
    for i in range(n):
        group, queue = {i}, [i]
        while queue:
            new = beside[queue.pop()] - group
            group |= new
            queue += new
        aside.append(bool(far[i]) and sum(count[j] for j in group) < least)
    return aside


@thorough
@given(seeds)
def test_lone_rows_are_those_of_groups_too_small(seed):
    rng = np.random.default_rng(seed)
    crowd, away = 40, int(rng.integers(1, 7))
    places = 100.0 + 10.0 * rng.integers(0, 3, (away, 1)) + rng.random((away, 1))
    Z = np.vstack([rng.random((crowd, 1)), places])
    D = (Z - Z.T) ** 2
    np.fill_diagonal(D, np.inf)
    k = int(rng.integers(1, 8))
    idx = np.argsort(D, axis=1)[:, :k]
    d = np.take_along_axis(D, idx, axis=1)
    score = np.append(np.ones(crowd), rng.choice([25.0, 40.0], away))
    count = rng.integers(1, 3, len(Z)).astype(float)
    least = float(rng.integers(1, 9))
    expected = brute_lone(score, idx, d, count, least)
    assert outliers.lone(score, idx, d, count, least).tolist() == expected


FAR_PAIR = (
    np.array([[1, 2], [0, 2], [0, 1], [4, 2], [3, 2]]),
    np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [100.0, 900.0], [100.0, 900.0]]),
)


def test_two_far_rows_are_one_group_if_they_lie_nearer_than_half_the_way_to_the_rest():
    idx, d = FAR_PAIR
    score, count = np.array([1.0, 1, 1, 90, 90]), np.array([90.0, 90, 90, 2, 2])
    assert outliers.lone(score, idx, d, count, 5.0).tolist() == [False] * 3 + [True] * 2
    assert not outliers.lone(score, idx, d, count, 4.0).any()
    halfway = np.where(d == 100.0, 225.0, d)
    assert outliers.lone(score, idx, halfway, count, 3.0).tolist() == [False] * 3 + [True] * 2
    just_nearer = np.where(d == 100.0, 224.0, d)
    assert not outliers.lone(score, idx, just_nearer, count, 3.0).any()


@pytest.mark.parametrize(("score", "is_far"), [(30.0, False), (30.1, True)])
def test_a_row_is_far_from_a_score_of_thirty_on(score, is_far):
    idx, d = FAR_PAIR
    scores, count = np.array([1.0, 1, 1, 1, score]), np.array([90.0, 90, 90, 2, 2])
    assert outliers.lone(scores, idx, d, count, 9.0)[4] == is_far


def test_the_first_row_is_part_of_the_rest_like_any_other():
    idx, d = FAR_PAIR[0].copy(), FAR_PAIR[1].copy()
    idx[3:, 1], d[3:, 1] = 0, 400.0
    score, count = np.array([1.0, 1, 1, 90, 90]), np.array([90.0, 90, 90, 2, 2])
    assert outliers.lone(score, idx, d, count, 3.0)[3:].all()  # 10 is half of 20: not nearer
    idx, d = np.column_stack([idx, [2, 1, 2, 1, 1]]), np.column_stack([d, [9, 9, 9, 900, 900]])
    assert outliers.lone(score, idx, d, count, 3.0)[3:].all()


@pytest.mark.parametrize(("weight", "aside"), [(9.0, True), (10.0, False), (11.0, False)])
def test_where_a_tenth_is_far_none_is_set_aside(weight, aside):
    idx, d = FAR_PAIR
    scores, count = np.array([1.0, 1, 1, 1, 90]), np.array([20.0, 30, 20, 20, weight])
    count[0] += 10.0 - weight
    assert outliers.lone(scores, idx, d, count, 99.0)[4] == aside
