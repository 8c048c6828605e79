"""Distances other than the Euclidean: cosine and manhattan."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer
from sklearn.preprocessing import normalize

from conftest import made
from dogc import CAN, DOGC, DOGCOS

by_metric = pytest.mark.parametrize("metric", ["cosine", "manhattan"])
by_class = pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], ids=lambda cls: cls.__name__)
by_kind = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def directions(n=200, d=10, seed=0):
    """Rows of four kinds that point different ways, none of them negative."""
    rng = np.random.default_rng(seed)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])[np.arange(n) % 10]
    return np.abs(rng.normal(size=(n, d))) + 6.0 * np.eye(4, d)[y], y


# --------------------------------------------------------------------------- manhattan


@by_kind
@pytest.mark.parametrize("cls", [DOGC, CAN], ids=lambda cls: cls.__name__)
def test_manhattan_is_the_graph_of_manhattan_distances(cls, kind):
    X, _ = directions()
    search = KNeighborsTransformer(n_neighbors=60, metric="manhattan", mode="distance").fit(X)
    given_graph = cls(4, metric="precomputed", n_neighbors=10).fit(search.transform(X))
    model = cls(4, metric="manhattan", n_neighbors=10).fit(kind(X))
    assert np.array_equal(model.labels_, given_graph.labels_)
    difference = abs(model.affinity_matrix_ - given_graph.affinity_matrix_)
    assert difference.max() < 1e-6
    new = directions(60, seed=1)[0]
    assert np.array_equal(model.predict(kind(new)), given_graph.predict(search.transform(new)))
    np.testing.assert_allclose(
        model.score_outliers(kind(new)), given_graph.score_outliers(search.transform(new)), 1e-6
    )
    euclidean = made(cls, 4, n_neighbors=10, geometry="given", n_components=None).fit(X)
    assert abs(model.affinity_matrix_ - euclidean.affinity_matrix_).max() > 1e-3


# ------------------------------------------------------------------------------ cosine


@by_class
def test_cosines_are_distances_of_rows_of_length_one(cls):
    X, new = directions()[0], directions(50, seed=1)[0]
    model = made(cls, 4, metric="cosine").fit(X)
    other = made(cls, 4, geometry="given").fit(normalize(X))
    assert np.array_equal(model.labels_, other.labels_)
    assert abs(model.affinity_matrix_ - other.affinity_matrix_).max() < 1e-6
    np.testing.assert_allclose(
        model.predict_membership(new), other.predict_membership(normalize(new)), atol=1e-6
    )
    if cls is DOGCOS:
        scores = normalize(new) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(new), scores)


# -------------------------------------------------------------------------------- both


@by_metric
@by_kind
@pytest.mark.parametrize("cls", [DOGC, CAN], ids=lambda cls: cls.__name__)
def test_zero_rows_are_rows_like_others(cls, kind, metric):
    X = np.vstack([directions(120)[0], np.zeros((2, 10))])
    model = made(cls, 4, metric=metric).fit(kind(X))
    assert model.labels_[-1] == model.labels_[-2]
    assert np.isfinite(model.outlier_scores_).all()
    assert model.geometry_ == "given"
    zero = kind(np.zeros((1, 10)))
    assert model.predict(zero)[0] == model.labels_[-1]
    assert model.predict_membership(zero).sum() == pytest.approx(1.0)
    assert np.isfinite(model.score_outliers(zero)).all()


@by_metric
@by_kind
@pytest.mark.parametrize("d", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_many_rows_have_representatives(kind, metric, d):
    X, y = directions(3200, d)
    new, y_new = directions(400, d, seed=1)
    model = CAN(4, metric=metric, n_jobs=1).fit(kind(X))
    assert model.n_representatives_ is not None
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(y_new, model.predict(kind(new))) > 0.95
    shares = model.predict_membership(kind(new))
    assert np.array_equal(shares.argmax(axis=1), model.predict(kind(new)))
    assert 0.7 < np.median(model.score_outliers(kind(new))) < 1.4
    two = CAN(4, metric=metric, n_jobs=2).fit(kind(X))
    assert np.array_equal(two.labels_, model.labels_)
    assert np.array_equal(two.outlier_scores_, model.outlier_scores_)


# ---------------------------------------------------------------- what cannot be had


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "manhattan", "n_components": 2}, r"n_components needs .* n_components=None\.$"),
        ({"metric": "cosine", "geometry": "within"}, r"geometry='within' needs dense"),
        ({"metric": "manhattan", "geometry": "standard"}, r"geometry='standard' needs dense"),
    ],
)
@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda cls: cls.__name__)
def test_what_a_metric_does_not_give_is_said(cls, parameters, message):
    with pytest.raises(ValueError, match=message) as said:
        cls(4, **parameters).fit(directions()[0])
    assert "\n" not in str(said.value)
    assert str(said.value).endswith((".", ")."))
