"""Distances other than the Euclidean: cosine and manhattan."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import KNeighborsTransformer
from sklearn.preprocessing import normalize

from conftest import ESTIMATORS, made
from dogc import CAN, DOGC, DOGCOS
from dogc.fitting import links
from dogc.numerics import graph

by_metric = pytest.mark.parametrize("metric", ["cosine", "manhattan"])
by_class = pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], ids=lambda cls: cls.__name__)
by_kind = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
seeds = st.integers(0, 2**32 - 1)


def directions(n=200, d=10, seed=0):
    """Rows of four kinds that point different ways, none of them negative."""
    rng = np.random.default_rng(seed)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])[np.arange(n) % 10]
    return np.abs(rng.normal(size=(n, d))) + 6.0 * np.eye(4, d)[y], y


def lengths(n, seed=0):
    return 10.0 ** np.random.default_rng(seed).uniform(-3, 3, (n, 1))


# ---------------------------------------------------------------------------- numerics


@settings(deadline=None, max_examples=30)
@given(seeds, st.sampled_from([1, 4, 32, 33, 60]), st.sampled_from(["manhattan", "euclidean"]))
def test_distances_of_pairs_are_the_definition(seed, width, metric):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(7, width)), rng.normal(size=(9, width))
    idx = rng.integers(-1, 9, (7, 4))
    power = {"manhattan": 1, "euclidean": 2}[metric]
    expected = np.full((7, 4), np.inf)
    for i, j in np.argwhere(idx >= 0):
        difference = np.abs(A[i] - B[idx[i, j]])
        expected[i, j] = (difference**power).sum() ** (2 / power)
    for kind in (np.asarray, sp.csr_array):
        d = graph.pair_distances(kind(A), kind(B), idx, metric=metric)
        np.testing.assert_allclose(d, expected, rtol=1e-12)


@pytest.mark.parametrize("width", [5, 50])
def test_rows_in_chunks_have_the_same_distances(monkeypatch, width):
    rng = np.random.default_rng(0)
    A, idx = rng.normal(size=(40, width)), rng.integers(40, size=(40, 6))
    expected = np.abs(A[:, None] - A[idx]).sum(axis=2) ** 2
    monkeypatch.setattr(graph, "CHUNK_ELEMENTS", 700)
    for rows in (A, sp.csr_array(A)):
        d = graph.pair_distances(rows, rows, idx, threads=2, metric="manhattan")
        np.testing.assert_allclose(d, expected, rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 8), st.sampled_from(["manhattan", "euclidean"]))
def test_the_nearest_representatives_are_those_of_all_distances(seed, q, metric):
    rng = np.random.default_rng(seed)
    R, Z = 7.0 + rng.normal(size=(40, q)), 7.0 + 2.0 * rng.normal(size=(15, q))
    search = links.make_search(R, metric)
    idx, d = links.nearest(search, Z, 6)
    D = pairwise_distances(Z, R, metric=metric)
    np.testing.assert_allclose(np.sqrt(d), np.sort(D, axis=1)[:, :6], rtol=1e-3)
    np.testing.assert_allclose(np.take_along_axis(D, idx, axis=1), np.sqrt(d), rtol=1e-3)


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 8), st.sampled_from(["manhattan", "euclidean"]))
def test_a_label_that_is_sure_is_that_of_all_links(seed, q, metric):
    rng = np.random.default_rng(seed)
    labels = np.arange(40) % 2
    R, Z = rng.normal(size=(40, q)) + 5.0 * labels[:, None], rng.normal(size=(60, q)) * 4.0 + 2.0
    search = links.make_search(R, metric)
    label, sure = links.surely(links.labelled(search, labels, 4), Z)
    D = pairwise_distances(Z, R, metric=metric)
    voters = labels[np.argsort(D, axis=1)[:, :4]]
    assert (voters[sure] == label[sure, None]).all()
    if q <= links.TREE_UP_TO or metric == "euclidean":
        near = links.surely(links.labelled(search, labels, 4), R[[0]])
        assert near[0] == 0


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


def test_manhattan_stands_single_columns_that_run_away():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 30)) + 2.0 * np.eye(3).repeat(10, axis=1)[y]
    X[np.arange(300), rng.integers(30, size=300)] += 10.0 * rng.choice([-1, 1], 300)
    manhattan = DOGC(3, metric="manhattan", n_neighbors=15).fit_predict(X)
    euclidean = DOGC(3, geometry="given", n_components=None, n_neighbors=15).fit_predict(X)
    assert adjusted_rand_score(y, manhattan) > adjusted_rand_score(y, euclidean) + 0.5


# ------------------------------------------------------------------------------ cosine


@by_kind
@by_class
def test_the_lengths_of_rows_have_no_say_in_cosines(cls, kind):
    X, y = directions()
    model = made(cls, 4, metric="cosine").fit(kind(X))
    other = made(cls, 4, metric="cosine").fit(kind(X * lengths(200)))
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert np.array_equal(model.labels_, other.labels_)
    np.testing.assert_allclose(model.outlier_scores_, other.outlier_scores_, rtol=1e-6)
    new, long = directions(80, seed=1)[0], lengths(80, 1)
    assert np.array_equal(model.predict(kind(new)), model.predict(kind(new * long)))
    assert adjusted_rand_score(y, made(cls, 4).fit_predict(X * lengths(200))) < 0.5


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


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e140])
def test_cosines_of_huge_and_tiny_rows(scale):
    X, _ = directions()
    labels = DOGC(4, metric="cosine").fit_predict(X)
    assert np.array_equal(DOGC(4, metric="cosine").fit_predict(scale * X), labels)


@pytest.mark.parametrize("length", [1e140, 1e-10, 1e-20, 1e-140])
@by_kind
def test_one_length_for_some_rows_changes_no_cosine(kind, length):
    X, _ = directions()
    labels = DOGC(4, metric="cosine").fit_predict(kind(X))
    X[::3] *= length
    assert np.array_equal(DOGC(4, metric="cosine").fit_predict(kind(X)), labels)


def test_rows_are_copied_before_they_are_brought_to_length_one():
    X, _ = directions()
    before, sparse = X.copy(), sp.csr_array(X)
    model = DOGC(4, metric="cosine").fit(X)
    model.predict(X)
    DOGC(4, metric="cosine").fit(sparse).predict(sparse)
    assert np.array_equal(X, before)
    assert np.array_equal(sparse.toarray(), before)


# -------------------------------------------------------------------------------- both


@by_metric
@by_kind
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
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
@by_class
@pytest.mark.parametrize("d", [4, 10])
def test_many_rows_have_representatives(cls, kind, metric, d):
    X, y = directions(3200, d)
    new, y_new = directions(400, d, seed=1)
    model = made(cls, 4, metric=metric, n_jobs=1).fit(kind(X))
    assert model.n_representatives_ is not None
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(y_new, model.predict(kind(new))) > 0.95
    shares = model.predict_membership(kind(new))
    assert np.array_equal(shares.argmax(axis=1), model.predict(kind(new)))
    assert 0.7 < np.median(model.score_outliers(kind(new))) < 1.4
    two = made(cls, 4, metric=metric, n_jobs=2).fit(kind(X))
    assert np.array_equal(two.labels_, model.labels_)
    assert np.array_equal(two.outlier_scores_, model.outlier_scores_)


@by_metric
def test_representatives_see_the_metric(metric):
    X, y = directions(3200)
    X = X * lengths(3200) if metric == "cosine" else X
    model = DOGC(4, metric=metric).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    Z = normalize(X) if metric == "cosine" else X
    norm, R = "euclidean" if metric == "cosine" else metric, model.representatives_
    D, between = pairwise_distances(Z, R, metric=norm), pairwise_distances(R, metric=norm)
    usual = np.sort(between, axis=1)[:, 1 : model.n_neighbors_ + 1].mean(axis=1)
    near = np.argsort(D, axis=1)[:, : model.n_neighbors_]
    scores = np.sort(D, axis=1)[:, : model.n_neighbors_].mean(axis=1)
    scores = scores / np.median(usual[near], axis=1)
    np.testing.assert_allclose(model.outlier_scores_, scores, atol=2e-3)


@by_metric
def test_several_jobs_give_the_same(metric):
    X, _ = directions(300)
    one, two = (DOGC(4, metric=metric, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert np.array_equal(one.labels_, two.labels_)
    assert np.array_equal(one.outlier_scores_, two.outlier_scores_)
    assert np.array_equal(one.predict(X), two.predict(X))


@by_metric
@by_class
@pytest.mark.parametrize("n", [200, 3200])
def test_a_saved_model_keeps_its_metric(cls, metric, n, tmp_path):
    pytest.importorskip("skops")
    from dogc.app.models import saving

    X, new = directions(n)[0], directions(100, seed=1)[0] * lengths(100)
    model = made(cls, 4, metric=metric).fit(X)
    saving.save(model, tmp_path / "model.skops")
    again = saving.load(tmp_path / "model.skops")
    assert again.metric == metric
    assert np.array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.score_outliers(new), model.score_outliers(new))
    np.testing.assert_array_equal(again.predict_membership(new), model.predict_membership(new))


@by_metric
def test_single_precision(metric):
    X, y = directions()
    model = DOGC(4, metric=metric).fit(X.astype(np.float32))
    assert model.outlier_scores_.dtype == np.float32
    assert adjusted_rand_score(y, model.labels_) > 0.95


@by_metric
def test_clusters_are_counted_by_the_metric(metric):
    X, _ = directions(300)
    X = X * lengths(300) if metric == "cosine" else X
    assert DOGC("auto", metric=metric).fit(X).n_clusters_ == 4


# ---------------------------------------------------------------- what cannot be had


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "manhattan", "n_components": 2}, r"n_components needs .* n_components=None\.$"),
        ({"metric": "cosine", "geometry": "within"}, r"geometry='within' needs dense"),
        ({"metric": "manhattan", "geometry": "standard"}, r"geometry='standard' needs dense"),
        ({"metric": "minkowski"}, r"metric must be one of 'euclidean', 'cosine', 'manhattan'"),
    ],
)
@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda cls: cls.__name__)
def test_what_a_metric_does_not_give_is_said(cls, parameters, message):
    with pytest.raises(ValueError, match=message) as said:
        cls(4, **parameters).fit(directions()[0])
    assert "\n" not in str(said.value)
    assert str(said.value).endswith((".", ")."))


def test_cosines_can_be_projected():
    X, y = directions()
    model = DOGC(4, metric="cosine", n_components=3).fit(X * lengths(200))
    assert model.components_.shape == (3, 10)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    expected = normalize(X[:5]) @ model.components_.T
    np.testing.assert_allclose(model.transform(X[:5]), expected, atol=1e-9)
