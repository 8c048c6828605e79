import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

import reference
from dogc.numerics import discrete
from graphs import assert_orthonormal, orthonormal

thorough = settings(deadline=None, max_examples=30)

seeds = st.integers(0, 2**32 - 1)
label_vectors = st.integers(1, 4).flatmap(
    lambda c: st.tuples(
        st.lists(st.integers(0, c - 1), min_size=c, max_size=9).map(np.array), st.just(c)
    )
)


def gains(elements):
    shapes = st.integers(1, 4).flatmap(lambda c: st.tuples(st.integers(c, 6), st.just(c)))
    return shapes.filter(lambda s: s[1] ** s[0] <= 1024).flatmap(
        lambda shape: arrays(float, shape, elements=elements)
    )


ordinary_or_tied = st.one_of(st.floats(-5, 5), st.integers(-2, 2).map(float))


def scaled_indicator(labels, c):
    """Y (Y'Y)^(-1/2)."""
    Y = reference.one_hot(labels, c)
    return Y / np.sqrt(Y.sum(axis=0))


# ----------------------------------------------------------------------------- procrustes


@thorough
@given(label_vectors, seeds)
def test_the_rotation_is_the_one_scipy_finds(labelled, seed):
    labels, c = labelled
    F = np.random.default_rng(seed).standard_normal((len(labels), c))
    Y = reference.one_hot(labels, c)
    Q = discrete.procrustes(F, labels)
    assert_orthonormal(Q)
    expected, _ = scipy.linalg.orthogonal_procrustes(F, Y)
    gap, least = reference.rotation_gap(F, Q, labels), reference.rotation_gap(F, expected, labels)
    np.testing.assert_allclose(gap, least, rtol=1e-10)
    if np.linalg.svd(F.T @ Y)[1].min() > 1e-3:  # otherwise the answer is not unique
        np.testing.assert_allclose(Q, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(discrete.procrustes(F, Y), expected, rtol=0, atol=1e-9)


def test_the_polar_factor_is_the_nearest_orthonormal_matrix():
    M = np.random.default_rng(14).standard_normal((9, 4))
    np.testing.assert_allclose(discrete.polar(M), reference.nearest_orthonormal(M), atol=1e-12)


# --------------------------------------------------------------------------------- assign


@thorough
@given(gains(ordinary_or_tied))
def test_labels_are_the_exact_optimum_without_an_empty_cluster(gain):
    n, c = gain.shape
    labels = discrete.assign(gain)
    assert set(labels.tolist()) == set(range(c))
    best = reference.best_gain_without_empty_cluster(gain)
    np.testing.assert_allclose(gain[np.arange(n), labels].sum(), best, rtol=0, atol=1e-12)


def test_ties_go_to_the_lowest_column():
    gain = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1.0]])
    assert np.array_equal(discrete.assign(gain), [0, 1, 0, 2])


@pytest.mark.parametrize("seed", range(3))
def test_promises_among_the_cheapest_rows_are_as_good_as_among_all(seed):
    rng = np.random.default_rng(seed)
    n, c = 150, 8
    # All rows prefer the first two clusters; a few rows are the cheapest for many clusters.
    gain = rng.random((n, c)) - np.arange(c) * 0.4 - rng.random((n, 1)) * (np.arange(c) > 1)
    loss = gain.max(axis=1, keepdims=True) - gain
    row, column = linear_sum_assignment(loss)
    labels = discrete.assign(gain)
    assert len(np.unique(labels)) == c
    lost = loss[np.arange(n), labels].sum()
    np.testing.assert_allclose(lost, loss[row, column].sum(), rtol=1e-12)


def test_fewer_rows_than_clusters_take_their_largest_entry():
    assert np.array_equal(discrete.assign(np.array([[0.0, 3.0, 1.0], [0.0, 3.0, 1.0]])), [1, 1])


# ----------------------------------------------------- pivoted_rotation, rotate_to_labels


@thorough
@given(label_vectors, seeds)
def test_turned_indicators_are_recovered_up_to_a_permutation(labelled, seed):
    labels, c = labelled
    assume(len(np.unique(labels)) == c)
    F = scaled_indicator(labels, c) @ orthonormal(np.random.default_rng(seed), c, c)
    Q = discrete.pivoted_rotation(F)
    assert_orthonormal(Q)
    found = (F @ Q).argmax(axis=1)
    assert reference.best_agreement(found, labels, c) == len(labels)
    expected = scaled_indicator(found, c)
    np.testing.assert_allclose(F @ Q, expected, rtol=0, atol=1e-10)


HARD = {
    "zeros": lambda rng: np.zeros((8, 3)),
    "zero rows": lambda rng: np.eye(10, 3)[rng.permutation(10)],
    "rank one": lambda rng: np.outer(rng.standard_normal(9), rng.standard_normal(3)),
    "equal rows": lambda rng: np.full((7, 3), 0.5),
    "as many rows as columns": lambda rng: orthonormal(rng, 4, 4),
    "one column": lambda rng: np.full((5, 1), -np.sqrt(0.2)),
    "tiny": lambda rng: 1e-150 * rng.standard_normal((9, 3)),
}


@pytest.mark.parametrize("kind", HARD)
def test_hard_input_gives_a_rotation_and_no_empty_cluster(kind):
    F = HARD[kind](np.random.default_rng(2))
    start = discrete.pivoted_rotation(F)
    assert_orthonormal(start)
    Q, labels = discrete.rotate_to_labels(F, start)
    assert_orthonormal(Q)
    assert len(np.unique(labels)) == F.shape[1]


@pytest.mark.parametrize("kind", ["ordinary", *HARD])
def test_alternating_never_widens_the_gap(kind):
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 4)) if kind == "ordinary" else HARD[kind](rng)
    start = orthonormal(rng, F.shape[1], F.shape[1])
    gaps = [reference.rotation_gap(F, start, discrete.assign(F @ start))]
    for stop in range(1, 15):
        Q, labels = discrete.rotate_to_labels(F, start, max_iter=stop)
        gaps.append(reference.rotation_gap(F, Q, labels))
    assert (np.diff(gaps) <= 1e-11).all()


# -------------------------------------------------------------- match_labels, size_order


@thorough
@given(label_vectors, seeds)
def test_matched_names_agree_as_often_as_the_best_permutation(labelled, seed):
    labels, c = labelled
    other = np.random.default_rng(seed).integers(0, c, len(labels))
    new_name = discrete.match_labels(labels, other, c)
    assert sorted(new_name.tolist()) == list(range(c))
    agreement = (new_name[labels] == other).sum()
    assert agreement == reference.best_agreement(labels, other, c)


@thorough
@given(label_vectors)
def test_names_by_size_are_a_permutation_with_falling_sizes_and_ties_by_first_row(labelled):
    labels, c = labelled
    new_name = discrete.size_order(labels, c)
    assert sorted(new_name.tolist()) == list(range(c))
    rank = [(-list(labels).count(old), [*labels, old].index(old)) for old in range(c)]
    present = [old for old in range(c) if old in labels]
    expected = sorted(present, key=lambda old: rank[old])
    assert [int(new_name[old]) for old in expected] == list(range(len(present)))


# ---------------------------------------------------------------------------- label_shares


@thorough
@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), seeds)
def test_the_vote_is_counted_label_by_label(n, k, c, seed):
    rng = np.random.default_rng(seed)
    votes, weight = rng.integers(0, c, (n, k)), rng.integers(1, 4, (n, k)).astype(float)
    shares = discrete.label_shares(votes, weight, c)
    for i in range(n):
        assert shares[i].tolist() == [sum(weight[i, votes[i] == label]) for label in range(c)]


# ---------------------------------------------------------- cluster_means, nearest_centre


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@thorough
@given(labelled=label_vectors, seed=seeds)
def test_means_are_taken_cluster_by_cluster(dtype, labelled, seed):
    labels, c = labelled
    assume(set(labels) == set(range(c)))
    Z = (100 + np.random.default_rng(seed).standard_normal((len(labels), 3))).astype(dtype)
    means = discrete.cluster_means(Z, labels)
    assert means.dtype == dtype
    expected = [np.mean(Z[labels == name].astype(float), axis=0) for name in range(c)]
    np.testing.assert_allclose(means, expected, rtol=np.finfo(dtype).eps * 4)


@thorough
@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 4), seeds)
def test_the_nearest_centre_is_the_one_a_loop_finds(n, c, m, seed):
    # Whole numbers: distances are exact, and many tie.
    rng = np.random.default_rng(seed)
    Z, centres = rng.integers(-3, 4, (n, m)) / 1.0, rng.integers(-3, 4, (c, m)) / 1.0
    found = discrete.nearest_centre(Z, centres)
    for z, name in zip(Z, found, strict=True):
        squared = [float(np.sum((z - centre) ** 2)) for centre in centres]
        assert name == squared.index(min(squared))


def test_clusters_are_numbered_by_what_their_rows_count_for():
    labels = np.array([0, 0, 0, 1, 2])
    assert discrete.size_order(labels, 3).tolist() == [0, 1, 2]
    assert discrete.size_order(labels, 3, np.array([1.0, 1.0, 1.0, 4.0, 9.0])).tolist() == [2, 1, 0]
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 to the last digit; the first to appear goes first.
    weights = np.array([0.3, 0.1, 0.2, 0.2, 0.1, 0.3])
    assert discrete.size_order(np.array([1, 0, 1, 0, 1, 0]), 2, weights).tolist() == [1, 0]


# ------------------------------------------------------------------ agreement of labellings


@thorough
@given(st.integers(1, 9), seeds)
def test_the_adjusted_rand_index_counts_pairs_of_rows(n, seed):
    rng = np.random.default_rng(seed)
    a, b, size = rng.integers(0, 3, n), rng.integers(0, 4, n), rng.integers(1, 4, n)
    found = discrete.adjusted_rand(a, b, size.astype(float))
    expected = adjusted_rand_score(np.repeat(a, size), np.repeat(b, size))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
