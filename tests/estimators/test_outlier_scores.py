"""Outlier scores: how they are defined, who is an outlier, and what becomes of its label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsTransformer

from conftest import made
from dogc import CAN, DOGC, DOGCOS

CLASSES = (DOGC, DOGCOS, CAN)
PLAIN = {"geometry": "given", "n_components": None}
by_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


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


# ------------------------------------------------------------------------- fitted rows


@pytest.mark.parametrize("n", [12, 41, 240])
@by_class
def test_scores_are_the_definition(cls, n):
    X = groups(n)
    model = made(cls, 2, **PLAIN).fit(X)
    np.testing.assert_allclose(model.outlier_scores_, brute_scores(X), rtol=1e-6)
    assert np.array_equal(model.outliers_, model.outlier_scores_ > 3.0)


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


# ----------------------------------------------------------------------- rows far away


@by_class
def test_a_row_far_from_the_irises_is_marked(cls):
    dtype = np.float32
    X = np.vstack([load_iris().data, np.full((1, 4), 100.0)]).astype(dtype)
    model = made(cls, 3, outlier_label=-1).fit(X)
    assert model.outlier_scores_.argmax() == 150
    assert model.outlier_scores_[150] > 100
    assert np.flatnonzero(model.outliers_).tolist() == [150]
    assert np.array_equal(model.labels_ == -1, model.outliers_)
    assert set(model.labels_[:150]) == {0, 1, 2}
    assert np.array_equal(model.predict(X) == -1, model.outliers_)
    assert model.membership_[150] == pytest.approx(1 / 3, abs=0.02)
    assert np.median(model.membership_) > 0.9
    assert model.outlier_scores_.dtype == model.membership_.dtype == dtype
    unmarked = made(cls, 3).fit(X)
    assert set(unmarked.predict(X)) == set(unmarked.labels_) == {0, 1, 2}
    assert np.array_equal(unmarked.outliers_, model.outliers_)


@pytest.mark.parametrize(
    ("cls", "kind"), [(DOGC, np.float32), (DOGCOS, np.asarray), (CAN, sp.csr_array)]
)
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
    assert model.membership_[3600] == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_memberships_of_far_rows_are_even_but_lead_as_predict_does(cls, n):
    model = made(cls, 3).fit(groups(n))
    new = np.vstack([groups(60, seed=2), 100.0 * groups(60, seed=3), np.full((1, 4), -1e7)])
    shares, scores = model.predict_membership(new), model.score_outliers(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    near = slice(60) if hasattr(model, "coef_") else slice(None)  # a plane goes on for ever
    assert np.array_equal(shares.argmax(axis=1)[near], model.predict(new)[near])
    assert (shares.max(axis=1) <= 1 / 3 + 2 / 3 * np.clip(3.0 / scores, 1e-6, 1.0) + 1e-9).all()
    np.testing.assert_allclose(shares[-1], 1 / 3, atol=1e-4)
    assert shares[:60].max(axis=1).mean() > 0.9


# --------------------------------------------------------------------- degenerate data


@pytest.mark.parametrize(
    "X",
    [np.ones((2, 2)), np.arange(3.0)[:, None], np.repeat(np.arange(3.0), 20)[:, None]],
    ids=["two equal", "three", "three copied"],
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
    assert np.isfinite(model.membership_).all()


@by_class
def test_rows_without_weight_have_neither_score_nor_membership(cls):
    # The last of them is a copy of a row that has weight.
    X = np.vstack([groups(120), np.full((1, 4), 100.0), groups(12, seed=1)])
    X[-1] = X[0]
    weight = np.append(np.ones(121), np.zeros(12))
    model = made(cls, 3).fit(X, sample_weight=weight)
    for known in (model.outlier_scores_, model.membership_):
        assert np.array_equal(np.isnan(known), weight == 0)
    np.testing.assert_allclose(
        model.outlier_scores_[:121], made(cls, 3).fit(X[:121]).outlier_scores_
    )
    assert np.isfinite(model.score_outliers(X)).all()
