import itertools

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

import reference
from dogc.numerics import discrete

thorough = settings(deadline=None, max_examples=60)

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


def rotation(rng, c):
    return np.linalg.qr(rng.standard_normal((c, c)))[0]


def assert_rotation(Q):
    np.testing.assert_allclose(Q.T @ Q, np.eye(len(Q)), rtol=0, atol=1e-12)


def scaled_indicator(labels, c):
    """Y (Y'Y)^(-1/2)."""
    Y = reference.one_hot(labels, c)
    return Y / np.sqrt(Y.sum(axis=0))


# ---------------------------------------------------------------- products with labels


@thorough
@given(label_vectors, seeds)
def test_products_with_labels_are_products_with_the_indicator_matrix(labelled, seed):
    labels, c = labelled
    rng = np.random.default_rng(seed)
    Y, M, N = reference.one_hot(labels, c), rng.random((c, 3)), rng.random((len(labels), 2))
    np.testing.assert_allclose(discrete.times(labels, M), Y @ M, atol=1e-14)
    np.testing.assert_allclose(discrete.transpose_times(labels, N, c), Y.T @ N, atol=1e-14)
    np.testing.assert_allclose(discrete.times(Y, M), Y @ M, atol=1e-14)
    np.testing.assert_allclose(discrete.transpose_times(Y, N, c), Y.T @ N, atol=1e-14)


# ----------------------------------------------------------------------------- procrustes


@thorough
@given(label_vectors, seeds)
def test_the_rotation_is_the_one_scipy_finds(labelled, seed):
    labels, c = labelled
    F = np.random.default_rng(seed).standard_normal((len(labels), c))
    Y = reference.one_hot(labels, c)
    Q = discrete.procrustes(F, labels)
    assert_rotation(Q)
    expected, _ = scipy.linalg.orthogonal_procrustes(F, Y)
    gap, least = reference.rotation_gap(F, Q, labels), reference.rotation_gap(F, expected, labels)
    np.testing.assert_allclose(gap, least, rtol=1e-10)
    if np.linalg.svd(F.T @ Y)[1].min() > 1e-3:  # otherwise the answer is not unique
        np.testing.assert_allclose(Q, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(discrete.procrustes(F, Y), expected, rtol=0, atol=1e-9)


def test_no_random_rotation_is_better():
    rng = np.random.default_rng(0)
    F, labels = rng.standard_normal((12, 3)), rng.integers(0, 3, 12)
    best = min(reference.rotation_gap(F, rotation(rng, 3), labels) for _ in range(2000))
    assert reference.rotation_gap(F, discrete.procrustes(F, labels), labels) <= best


def test_an_empty_cluster_still_gives_a_rotation():
    F = np.random.default_rng(1).standard_normal((6, 3))
    assert_rotation(discrete.procrustes(F, np.array([0, 0, 2, 2, 0, 2])))


# --------------------------------------------------------------------------------- assign


@thorough
@given(gains(ordinary_or_tied))
def test_labels_are_the_exact_optimum_without_an_empty_cluster(gain):
    n, c = gain.shape
    labels = discrete.assign(gain)
    assert set(labels.tolist()) == set(range(c))
    best = reference.best_gain_without_empty_cluster(gain)
    np.testing.assert_allclose(gain[np.arange(n), labels].sum(), best, rtol=0, atol=1e-12)


@thorough
@given(gains(ordinary_or_tied))
def test_labels_are_the_largest_entries_where_these_fill_every_cluster(gain):
    first_choice = np.array([list(row).index(max(row)) for row in gain])
    assume(len(set(first_choice.tolist())) == gain.shape[1])
    assert np.array_equal(discrete.assign(gain), first_choice)


def test_ties_go_to_the_lowest_column():
    gain = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [5.0, 5.0, 5.0], [0.0, 0.0, 1.0]])
    assert np.array_equal(discrete.assign(gain), [0, 1, 0, 2])


@pytest.mark.parametrize("seed", range(10))
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


def test_rows_without_a_promise_keep_their_first_choice():
    gain = np.zeros((20, 3))
    gain[:, 1] = 1.0
    gain[4] = [0.9, 1.0, 0.0]
    gain[7] = [0.0, 1.0, 0.8]
    labels = discrete.assign(gain)
    assert labels[4] == 0
    assert labels[7] == 2
    assert (np.delete(labels, [4, 7]) == 1).all()


def test_equal_gains_fill_every_cluster():
    for c in range(1, 7):
        labels = discrete.assign(np.zeros((c + 2, c)))
        assert len(np.unique(labels)) == c


def test_as_many_rows_as_clusters_is_a_permutation_of_the_largest_total():
    gain = np.array([[9.0, 8.0, 0.0], [9.0, 1.0, 0.0], [9.0, 8.0, 7.0]])
    assert np.array_equal(discrete.assign(gain), [1, 0, 2])


def test_fewer_rows_than_clusters_take_their_largest_entry():
    assert np.array_equal(discrete.assign(np.array([[0.0, 3.0, 1.0], [0.0, 3.0, 1.0]])), [1, 1])


def test_assign_leaves_its_argument_alone():
    gain = np.array([[3.0, 1.0], [3.0, 2.5]])
    discrete.assign(gain)
    assert np.array_equal(gain, [[3.0, 1.0], [3.0, 2.5]])


# ----------------------------------------------------- pivoted_rotation, rotate_to_labels


@thorough
@given(label_vectors, seeds)
def test_turned_indicators_are_recovered_up_to_a_permutation(labelled, seed):
    labels, c = labelled
    assume(len(np.unique(labels)) == c)
    F = scaled_indicator(labels, c) @ rotation(np.random.default_rng(seed), c)
    Q = discrete.pivoted_rotation(F)
    assert_rotation(Q)
    found = (F @ Q).argmax(axis=1)
    assert reference.best_agreement(found, labels, c) == len(labels)
    expected = scaled_indicator(found, c)
    np.testing.assert_allclose(F @ Q, expected, rtol=0, atol=1e-10)


def hard(kind, rng):
    if kind == "zeros":
        return np.zeros((8, 3))
    if kind == "zero rows":
        F = np.linalg.qr(rng.standard_normal((10, 3)))[0]
        F[2:6] = 0.0
        return F
    if kind == "rank one":
        return np.outer(rng.standard_normal(9), rng.standard_normal(3))
    if kind == "equal rows":
        return np.full((7, 3), 0.5)
    if kind == "as many rows as columns":
        return rotation(rng, 4)
    if kind == "one column":
        return np.full((5, 1), -np.sqrt(0.2))
    return 1e-150 * rng.standard_normal((9, 3))


HARD = [
    "zeros",
    "zero rows",
    "rank one",
    "equal rows",
    "as many rows as columns",
    "one column",
    "tiny",
]


@pytest.mark.parametrize("kind", HARD)
def test_hard_input_gives_a_rotation_and_no_empty_cluster(kind):
    F = hard(kind, np.random.default_rng(2))
    start = discrete.pivoted_rotation(F)
    assert_rotation(start)
    Q, labels = discrete.rotate_to_labels(F, start)
    assert_rotation(Q)
    assert len(np.unique(labels)) == F.shape[1]


@pytest.mark.parametrize("kind", ["ordinary", *HARD])
@pytest.mark.parametrize("seed", range(4))
def test_alternating_never_widens_the_gap(kind, seed):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((40, 4)) if kind == "ordinary" else hard(kind, rng)
    start = rotation(rng, F.shape[1])
    gaps = [reference.rotation_gap(F, start, discrete.assign(F @ start))]
    for stop in range(1, 15):
        Q, labels = discrete.rotate_to_labels(F, start, max_iter=stop)
        gaps.append(reference.rotation_gap(F, Q, labels))
    assert (np.diff(gaps) <= 1e-11).all()


def test_alternating_ends_where_neither_half_step_moves():
    rng = np.random.default_rng(3)
    F = np.linalg.qr(rng.standard_normal((60, 4)))[0]
    start = rotation(rng, 4)
    Q, labels = discrete.rotate_to_labels(F, start)
    assert np.array_equal(discrete.assign(F @ Q), labels)
    np.testing.assert_allclose(discrete.procrustes(F, labels), Q, rtol=0, atol=1e-12)
    first = reference.rotation_gap(F, start, discrete.assign(F @ start))
    assert reference.rotation_gap(F, Q, labels) < first


@pytest.mark.parametrize("seed", range(5))
def test_noisy_indicators_give_back_their_labels(seed):
    rng = np.random.default_rng(seed)
    planted = np.concatenate([np.arange(4), rng.integers(0, 4, 60)])
    F = scaled_indicator(planted, 4) @ rotation(rng, 4) + 0.01 * rng.standard_normal((64, 4))
    _, labels = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
    assert reference.best_agreement(labels, planted, 4) == 64


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
@given(label_vectors, st.randoms(use_true_random=False))
def test_matching_undoes_a_permutation(labelled, random):
    labels, c = labelled
    names = list(range(c))
    random.shuffle(names)
    shuffled = np.array(names)[labels]
    assert np.array_equal(discrete.match_labels(shuffled, labels, c)[shuffled], labels)


@thorough
@given(label_vectors, st.randoms(use_true_random=False))
def test_names_by_size_do_not_depend_on_the_names_before(labelled, random):
    labels, c = labelled
    names = list(range(c))
    random.shuffle(names)
    shuffled = np.array(names)[labels]
    ordered = discrete.size_order(labels, c)[labels]
    assert np.array_equal(discrete.size_order(shuffled, c)[shuffled], ordered)


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


# ------------------------------------------------------------------------- random_rotation


@thorough
@given(st.integers(1, 7), seeds)
def test_a_random_rotation_is_one_and_depends_on_the_generator_alone(c, seed):
    Q = discrete.random_rotation(np.random.default_rng(seed), c)
    assert Q.shape == (c, c)
    assert_rotation(Q)
    assert np.array_equal(discrete.random_rotation(np.random.default_rng(seed), c), Q)


@pytest.mark.parametrize("c", [1, 2, 3])
def test_random_rotations_have_no_preferred_direction(c):
    rng = np.random.default_rng(2)
    drawn = np.array([discrete.random_rotation(rng, c) for _ in range(4000)])
    # Uniform: every entry has mean 0 and variance 1/c, and both signs of det are as likely.
    np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=5 / np.sqrt(4000 * c))
    np.testing.assert_allclose((drawn**2).mean(axis=0), 1 / c, atol=0.05)
    np.testing.assert_allclose(np.linalg.det(drawn).mean(), 0.0, atol=0.08)


# ---------------------------------------------------------------------------- weighted_vote


@thorough
@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4), seeds)
def test_the_vote_is_counted_label_by_label(n, k, c, seed):
    rng = np.random.default_rng(seed)
    votes, weight = rng.integers(0, c, (n, k)), rng.integers(1, 4, (n, k)).astype(float)
    elected = discrete.weighted_vote(votes, weight, c)
    for i in range(n):
        tally = [sum(weight[i, votes[i] == label]) for label in range(c)]
        assert elected[i] == tally.index(max(tally))  # the lowest in a tie


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_only_ratios_of_the_votes_count(scale):
    votes, weight = np.array([[2, 0, 0], [1, 1, 2]]), np.array([[5.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert np.array_equal(discrete.weighted_vote(votes, weight * scale, 4), [2, 1])


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


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_nearest_centre_does_not_depend_on_the_unit(scale):
    rng = np.random.default_rng(3)
    Z, centres = rng.standard_normal((30, 2)), rng.standard_normal((4, 2))
    expected = discrete.nearest_centre(Z, centres)
    assert np.array_equal(discrete.nearest_centre(Z * scale, centres * scale), expected)


def test_every_centre_is_nearest_to_itself_and_means_of_apart_clusters_to_their_rows():
    rng = np.random.default_rng(4)
    labels = np.arange(30) % 3
    Z = 20.0 * np.eye(3)[labels] + rng.standard_normal((30, 3))
    centres = discrete.cluster_means(Z, labels)
    assert np.array_equal(discrete.nearest_centre(centres, centres), [0, 1, 2])
    assert np.array_equal(discrete.nearest_centre(Z, centres), labels)


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
    expected = reference.adjusted_rand(np.repeat(a, size), np.repeat(b, size))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("labels", [np.zeros(5, dtype=int), np.arange(5), np.zeros(1, dtype=int)])
def test_all_together_or_each_alone_agrees_with_itself(labels):
    assert discrete.adjusted_rand(labels, labels, np.ones(len(labels))) == 1.0


def test_agreement_is_that_of_each_two():
    rng = np.random.default_rng(3)
    labellings, size = list(rng.integers(0, 3, (4, 12))), rng.integers(1, 4, 12).astype(float)
    agreement = discrete.mutual_agreement(labellings, size)
    for i, j in itertools.product(range(4), repeat=2):
        expected = discrete.adjusted_rand(labellings[i], labellings[j], size)
        assert agreement[i, j] == pytest.approx(expected, abs=1e-12)
