"""Outlier scores: how they are defined, who is an outlier, and what becomes of its label."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsTransformer

from conftest import made
from dogc import CAN, DOGC, DOGCOS
from dogc.numerics import outliers

CLASSES = (DOGC, DOGCOS, CAN)
PLAIN = {"geometry": "given", "n_components": None}
by_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
seeds = st.integers(0, 2**32 - 1)


def groups(n=240, d=4, seed=0):
    """Three round groups of rows, eight deviations apart, of densities of their own."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return 8.0 * np.eye(3, d)[y] + rng.normal(size=(n, d)) * np.array([1.0, 0.5, 0.2])[y, None]


def brute_scores(X, nearest=20, around=45):
    """Mean distance to the nearest others, over the median of the same among those around."""
    D = pairwise_distances(X)
    np.fill_diagonal(D, np.inf)
    nearest = min(nearest, (len(X) - 1) // 2)
    reach = np.array([np.sort(row)[:nearest].mean() for row in D])
    beside = [np.argsort(row, kind="stable")[: min(around, len(X) - 1)] for row in D]
    return reach / np.array([np.median(reach[rows]) for rows in beside])


# ---------------------------------------------------------------------------- numerics


@settings(deadline=None, max_examples=80)
@given(seeds, st.integers(1, 9))
def test_the_reach_counts_every_copy(seed, nearest):
    rng = np.random.default_rng(seed)
    n, k = 6, rng.integers(1, 5)
    d = np.sort(9.0 * rng.random((n, k)), axis=1)
    d[rng.random((n, k)) < 0.2] = np.inf
    d.sort(axis=1)
    count, own = rng.integers(1, 4, (n, k)), rng.integers(0, 3, n)
    reach = outliers.mean_reach(d, count.astype(float), own.astype(float), nearest)
    for i in range(n):
        known = np.isfinite(d[i])
        every = [0.0] * own[i] + np.repeat(np.sqrt(d[i][known]), count[i][known]).tolist()
        taken = every[:nearest]
        assert reach[i] == pytest.approx(np.mean(taken) if taken else np.inf, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(seeds)
def test_the_score_is_the_reach_over_the_median_of_those_known(seed):
    rng = np.random.default_rng(seed)
    reach, around = 5.0 * rng.random(5), 0.1 + rng.random((5, 7))
    around[rng.random((5, 7)) < 0.4] = np.nan
    around[0] = np.nan  # nobody is around: the mean of all rows takes their place
    score = outliers.relative_reach(reach, around, 2.0)
    for i in range(5):
        known = around[i][~np.isnan(around[i])]
        usual = np.median(known) if len(known) else 2.0
        assert score[i] == pytest.approx(reach[i] / usual, rel=1e-5, abs=1e-6)


def test_among_copies_a_score_is_still_a_number():
    none = np.zeros((1, 3))
    assert outliers.relative_reach(np.zeros(1), none, 0.0) == 1.0
    assert outliers.relative_reach(np.zeros(1), none, 1.0) == 1.0
    assert outliers.relative_reach(np.ones(1), none, 1.0) == pytest.approx(1e9)
    assert outliers.relative_reach(np.full(1, np.inf), none, 1.0) == outliers.MOST


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), st.floats(0.0, 1e12))
def test_a_discount_keeps_the_sum_and_the_order(seed, c, score):
    shares = np.random.default_rng(seed).dirichlet(np.ones(c), 4)
    doubted = outliers.discount(shares, np.full((4, 1), score), c)
    np.testing.assert_allclose(doubted.sum(axis=1), 1.0)
    assert np.array_equal(doubted.argmax(axis=1), shares.argmax(axis=1))
    if score <= outliers.OUTLYING:
        np.testing.assert_array_equal(doubted, shares)
    else:
        distance = np.abs(doubted - 1.0 / c) / np.abs(shares - 1.0 / c)
        np.testing.assert_allclose(distance, max(3.0 / score, 1e-6), rtol=1e-4)


# ------------------------------------------------------------------------- fitted rows


@pytest.mark.parametrize("n", [12, 41, 240])
@by_class
def test_scores_are_the_definition(cls, n):
    X = groups(n)
    model = made(cls, 2, **PLAIN).fit(X)
    np.testing.assert_allclose(model.outlier_scores_, brute_scores(X), rtol=1e-6)
    assert np.array_equal(model.outliers_, model.outlier_scores_ > 3.0)


@pytest.mark.parametrize("n_neighbors", [3, 10, 60])
def test_the_number_of_neighbours_in_the_graph_has_no_say(n_neighbors):
    X = groups()
    scores = DOGC(3, n_neighbors=n_neighbors, **PLAIN).fit(X).outlier_scores_
    np.testing.assert_allclose(scores, DOGC(3, **PLAIN).fit(X).outlier_scores_, rtol=1e-9)


def test_a_graph_of_distances_gives_the_scores_of_its_features():
    X, new = groups(), groups(9, seed=1)
    new[-1] = 60.0
    search = KNeighborsTransformer(n_neighbors=50, mode="distance").fit(X)
    graph = DOGC(3, metric="precomputed").fit(search.transform(X))
    model = DOGC(3, **PLAIN).fit(X)
    np.testing.assert_allclose(graph.outlier_scores_, model.outlier_scores_, rtol=1e-6)
    scores = graph.score_outliers(search.transform(new))
    np.testing.assert_allclose(scores, model.score_outliers(new), rtol=1e-6)
    assert scores[-1] > 20


def test_scores_in_a_subspace_are_those_of_the_projected_rows():
    X = np.column_stack([groups(), 3.0 * np.random.default_rng(1).normal(size=(240, 2))])
    model = DOGC(3, n_components=2, n_neighbors=100, geometry="given").fit(X)
    scores = brute_scores(model.transform(X))
    # Candidates are found among all features, so a few neighbours may be others.
    assert np.median(np.abs(model.outlier_scores_ / scores - 1.0)) < 0.02
    assert np.median(np.abs(model.outlier_scores_ / brute_scores(X) - 1.0)) > 0.05


@by_class
def test_a_weight_is_a_number_of_copies(cls):
    X = groups(90)
    weight = np.random.default_rng(0).integers(1, 4, 90)
    model = made(cls, 3, **PLAIN).fit(X, sample_weight=weight)
    copied = made(cls, 3, **PLAIN).fit(X.repeat(weight, axis=0))
    scores = model.outlier_scores_.repeat(weight)
    np.testing.assert_allclose(copied.outlier_scores_, scores, rtol=1e-9)
    plain = made(cls, 3, **PLAIN).fit(X).outlier_scores_
    assert np.abs(model.outlier_scores_ / plain - 1.0).max() > 0.05
    np.testing.assert_allclose(copied.score_outliers(X), model.score_outliers(X), rtol=1e-9)


def test_copies_shorten_the_reach_but_not_what_is_usual():
    X = groups(90)
    copies = np.random.default_rng(0).integers(1, 8, 90)
    every = X.repeat(copies, axis=0)
    D = np.sort(pairwise_distances(X, every), axis=1)[:, 1:21]  # the row itself left out
    between = pairwise_distances(X)
    usual = np.sort(between, axis=1)[:, 1:21].mean(axis=1)
    around = np.argsort(between, axis=1)[:, 1:46]
    expected = D.mean(axis=1) / np.median(usual[around], axis=1)
    scores = DOGC(3, **PLAIN).fit(every).outlier_scores_
    np.testing.assert_allclose(scores, expected.repeat(copies), rtol=1e-5)


@pytest.mark.parametrize(("scale", "shift"), [(1e-5, 0.0), (1e6, -3.0), (1.0, 1e4)])
@by_class
def test_units_do_not_matter(cls, scale, shift):
    X = groups(120)
    scores = made(cls, 3).fit(X).outlier_scores_
    other = made(cls, 3).fit(scale * (X + shift)).outlier_scores_
    np.testing.assert_allclose(other, scores, rtol=1e-5)


@by_class
def test_the_order_of_rows_does_not_matter(cls):
    X = groups(120)
    order = np.random.default_rng(0).permutation(120)
    scores = made(cls, 3).fit(X).outlier_scores_
    np.testing.assert_allclose(made(cls, 3).fit(X[order]).outlier_scores_, scores[order])


# ----------------------------------------------------------------------- rows far away


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@by_class
def test_a_row_far_from_the_irises_is_marked(cls, dtype):
    X = np.vstack([load_iris().data, np.full((1, 4), 100.0)]).astype(dtype)
    model = made(cls, 3, outlier_label=-1).fit(X)
    assert model.outlier_scores_.argmax() == 150
    assert model.outlier_scores_[150] > 100
    assert np.flatnonzero(model.outliers_).tolist() == [150]
    assert np.array_equal(model.labels_ == -1, model.outliers_)
    assert set(model.labels_[:150]) == {0, 1, 2}
    assert np.array_equal(model.predict(X) == -1, model.outliers_)
    assert model.confidence_[150] == pytest.approx(1 / 3, abs=0.02)
    assert np.median(model.confidence_) > 0.9
    assert model.outlier_scores_.dtype == model.confidence_.dtype == dtype
    unmarked = made(cls, 3).fit(X)
    assert set(unmarked.predict(X)) == set(unmarked.labels_) == {0, 1, 2}
    assert np.array_equal(unmarked.outliers_, model.outliers_)


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sp.csr_array])
@by_class
def test_the_same_with_representatives(cls, kind):
    X = np.vstack([groups(3600), np.full((1, 4), 100.0)])
    model = made(cls, 3, outlier_label=-1).fit(kind(X))
    assert model.n_representatives_ is not None
    assert model.outlier_scores_.argmax() == 3600
    assert model.outliers_[3600]
    assert model.outliers_.mean() < 0.01
    assert np.array_equal(model.labels_ == -1, model.outliers_)
    assert (model.predict(kind(X)) == model.labels_).mean() > 0.995
    new = model.predict(kind(np.vstack([X[:30], np.full((1, 4), 1e4)])))
    assert new[-1] == -1
    assert set(new[:-1]) == {0, 1, 2}
    assert model.confidence_[3600] == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_scores_of_representatives_and_of_rows_say_the_same_of_new_rows(cls, n):
    model = made(cls, 3).fit(groups(n))
    new = groups(300, seed=1)
    scores = model.score_outliers(new)
    assert 0.8 < np.median(scores) < 1.25
    assert (scores < 3.0).mean() > 0.98
    far = new + 8.0 * 2.0 ** np.arange(300)[:, None] / 2.0**280  # ever farther from everything
    assert (np.diff(model.score_outliers(far)[285:]) > 0).all()
    assert model.score_outliers(far)[-1] > 1e3


def test_few_rows_far_away_together_are_outliers():
    X = np.vstack([groups(), 60.0 + 0.1 * np.random.default_rng(1).normal(size=(5, 4))])
    assert DOGC(3, **PLAIN).fit(X).outliers_.nonzero()[0].tolist() == list(range(240, 245))


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_memberships_of_far_rows_are_even_but_lead_as_predict_does(cls, n):
    model = made(cls, 3).fit(groups(n))
    new = np.vstack([groups(60, seed=2), 100.0 * groups(60, seed=3), np.full((1, 4), -1e7)])
    shares, scores = model.predict_membership(new), model.score_outliers(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(shares.argmax(axis=1), model.predict(new))
    assert (shares.max(axis=1) <= 1 / 3 + 2 / 3 * np.clip(3.0 / scores, 1e-6, 1.0) + 1e-9).all()
    np.testing.assert_allclose(shares[-1], 1 / 3, atol=1e-4)
    assert shares[:60].max(axis=1).mean() > 0.9


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_at_the_end_of_the_numbers_a_score_is_finite(cls, n):
    model = made(cls, 3, outlier_label=-1).fit(groups(n))
    end = np.array([[1e140] * 4, [-1e140] * 4, [1e100, 0.0, 0.0, 0.0]])
    scores = model.score_outliers(end)
    assert np.isfinite(scores).all()
    assert scores.min() > 1e6
    assert (model.predict(end) == -1).all()


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_at_the_end_of_the_numbers_shares_are_finite(cls, n):
    model = made(cls, 3).fit(groups(n))
    shares = model.predict_membership([[1e140] * 4, [-1e140] * 4])
    np.testing.assert_allclose(shares, 1 / 3, atol=1e-4)


# --------------------------------------------------------------------- degenerate data


@pytest.mark.parametrize(
    "X",
    [
        np.ones((2, 2)),
        np.ones((30, 3)),
        np.arange(2.0)[:, None],
        np.arange(3.0)[:, None],
        np.repeat(np.arange(3.0), 20)[:, None],
        np.column_stack([np.arange(30.0), np.full(30, 7.0)]),
    ],
    ids=["two equal", "constant", "two", "three", "three copied", "constant column"],
)
@pytest.mark.filterwarnings("ignore:n_clusters")
@by_class
def test_degenerate_rows_have_scores_and_are_no_outliers(cls, X):
    model = made(cls, 2, outlier_label=-1).fit(X)
    for scores in (model.outlier_scores_, model.score_outliers(X)):
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        assert (scores <= 3).all()
    assert not model.outliers_.any()
    assert model.labels_.min() == 0
    assert np.isfinite(model.confidence_).all()


def test_copies_make_no_outliers_of_the_others():
    X = np.random.default_rng(0).integers(0, 7, (400, 2)).astype(float)
    X[:200] = 3.0
    assert not DOGC(2, **PLAIN).fit(X).outliers_.any()
    X[7] = 60.0
    assert np.flatnonzero(DOGC(2, **PLAIN).fit(X).outliers_).tolist() == [7]


@by_class
def test_rows_without_weight_have_no_score(cls):
    X = np.vstack([groups(120), np.full((1, 4), 100.0), groups(12, seed=1)])
    weight = np.append(np.ones(121), np.zeros(12))
    model = made(cls, 3).fit(X, sample_weight=weight)
    assert np.array_equal(np.isnan(model.outlier_scores_), weight == 0)
    np.testing.assert_allclose(
        model.outlier_scores_[:121], made(cls, 3).fit(X[:121]).outlier_scores_
    )
    assert np.isfinite(model.score_outliers(X)).all()


@by_class
def test_rows_without_weight_are_outliers_only_where_predict_says_so(cls):
    X = np.vstack([groups(120), np.full((1, 4), 100.0), groups(12, seed=1), np.full((1, 4), -90.0)])
    weight = np.append(np.ones(121), np.zeros(13))
    model = made(cls, 3, outlier_label=-1).fit(X, sample_weight=weight)
    assert np.flatnonzero(model.labels_ == -1).tolist() == [120, 133]
    assert not model.outliers_[121:133].any()


def test_a_model_of_an_earlier_release_says_that_it_has_no_scores():
    model = DOGC(3).fit(groups(60))
    del model.outlier_scores_
    with pytest.raises(ValueError, match="kept no outlier scores; fit it again"):
        model.score_outliers(groups(3))
    assert model.predict_membership(groups(3)).shape == (3, 3)
