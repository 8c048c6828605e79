"""LSC and U-SPEC against dense references."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from test_bad_input import message_of

import reference_landmarks as dense
from dogc import LSC, USPEC
from dogc.fitting import landmarks

BOTH = (LSC, USPEC)
each = pytest.mark.parametrize("cls", BOTH, ids=lambda e: e.__name__)
# Overlapping enough that the graph is connected.
X, TRUTH = make_blobs(150, n_features=3, centers=3, cluster_std=3.0, random_state=0)


def span(F):
    Q, _ = np.linalg.qr(F)
    return Q @ Q.T


@pytest.mark.parametrize("parameters", [{}, {"bandwidth": 1.5}, {"n_neighbors": 9}], ids=repr)
@pytest.mark.parametrize("how", ["kmeans", "random"])
def test_lsc_embeds_by_the_left_singular_vectors(how, parameters):
    model = LSC(3, n_landmarks=30, landmarks=how, normalize_rows=False, **parameters).fit(X)
    B, width = dense.kernel(X, model.landmarks_, **parameters)
    U, values = dense.left_singular_vectors(B / B.sum(axis=1, keepdims=True), 3)
    assert values[2] - values[3] > 1e-3, "the reference is ambiguous"
    assert model.bandwidth_ == pytest.approx(width)
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, U @ U.T, atol=1e-8)


@pytest.mark.parametrize("parameters", [{}, {"bandwidth": 1.5}, {"n_neighbors": 9}], ids=repr)
def test_uspec_embeds_by_the_normalised_cut_of_all_nodes(parameters):
    model = USPEC(3, n_landmarks=30, normalize_rows=False, **parameters).fit(X)
    B, width = dense.kernel(X, model.landmarks_, **parameters)
    gamma, vectors = dense.normalised_cut(B)
    assert gamma[3] - gamma[2] > 1e-3, "the reference is ambiguous"
    assert model.bandwidth_ == pytest.approx(width)
    np.testing.assert_allclose(span(model.embedding_), span(vectors[: len(X), :3]), atol=1e-8)


@each
def test_few_landmarks_are_enough_for_many_rows_in_any_number_of_threads(cls):
    rows, truth = make_moons(6_000, noise=0.08, random_state=0)
    model, two = (cls(2, n_landmarks=300, n_jobs=jobs).fit(rows[::2]) for jobs in (1, 2))
    assert adjusted_rand_score(truth[::2], model.labels_) > 0.98
    assert adjusted_rand_score(truth[1::2], model.predict(rows[1::2])) > 0.98
    assert len(model.landmarks_) <= 300
    np.testing.assert_array_equal(model.embedding_, two.embedding_)
    np.testing.assert_array_equal(model.predict(rows), two.predict(rows))


@each
def test_the_seed_draws_landmarks_whatever_the_order_of_rows(cls):
    order = np.random.default_rng(0).permutation(150)
    straight, shuffled = (cls(3, n_landmarks=30).fit(rows) for rows in (X, X[order]))
    np.testing.assert_array_equal(straight.landmarks_, shuffled.landmarks_)
    np.testing.assert_array_equal(straight.labels_[order], shuffled.labels_)
    np.testing.assert_array_equal(straight.embedding_[order], shuffled.embedding_)
    other = cls(3, n_landmarks=30, random_state=1).fit(X)
    assert not np.array_equal(straight.landmarks_, other.landmarks_)


@each
def test_copies_count_as_often_as_they_occur(cls):
    copies = np.random.default_rng(0).integers(1, 5, 150)
    model = cls(3, n_landmarks=200, normalize_rows=False).fit(np.repeat(X, copies, axis=0))
    B, _ = dense.kernel(np.repeat(X, copies, axis=0), model.landmarks_, 5)
    assert len(model.landmarks_) == 150
    if cls is LSC:
        U, _ = dense.left_singular_vectors(B / B.sum(axis=1, keepdims=True), 3)
        np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, U @ U.T, atol=1e-8)
    first = np.concatenate([[0], np.cumsum(copies)[:-1]])
    np.testing.assert_array_equal(np.repeat(model.labels_[first], copies), model.labels_)


@each
@pytest.mark.parametrize("n_landmarks", [40, 1000])
def test_fitted_rows_get_their_label_again(cls, n_landmarks):
    rng = np.random.default_rng(0)
    for rows in (rng.standard_normal((400, 2)), rng.standard_normal((400, 12)).round(1)):
        model = cls(5, n_landmarks=n_landmarks).fit(rows)
        np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_random_landmarks_are_rows():
    R = LSC(3, n_landmarks=30, landmarks="random").fit(X).landmarks_
    assert R.shape == (30, 3)
    assert dense.squared_distances(R, X).min(axis=1).max() < 1e-20
    assert len(np.unique(R, axis=0)) == 30


@each
def test_pieces_are_merged_by_where_they_lie(cls):
    rows, truth = make_blobs(
        [60, 10, 20], centers=[[0, 0], [2, 0], [50, 50]], cluster_std=0.1, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="3 components, more than n_clusters=2.*raise n_ne"):
        labels = cls(2, n_landmarks=90).fit_predict(rows)
    np.testing.assert_array_equal(labels, truth // 2)


@each
def test_lost_cells_leave_a_landmark_for_each_cluster(cls, monkeypatch):
    monkeypatch.setattr(landmarks.lloyd, "cells", lambda Z, *_: (None, Z[:2]))
    model = cls(6, n_landmarks=12).fit(X)
    assert len(model.landmarks_) == 12
    assert set(model.labels_) == set(range(6))


@each
def test_too_few_landmarks_are_refused(cls):
    says = message_of(cls(np.int64(9), n_landmarks=8))
    assert "n_landmarks=8 is too small for n_clusters=9: every cluster needs one" in says
    says = "n_landmarks must be None or an integer of at least 2"
    assert says in message_of(cls(1, n_landmarks=1))
    assert says in message_of(cls(2, n_landmarks="auto"))


def test_many_rows_are_discretised_on_some_of_them(monkeypatch):
    from dogc.estimators import _landmarks

    rows, truth = make_blobs(2_000, centers=3, cluster_std=0.5, random_state=1)
    monkeypatch.setattr(_landmarks, "KMEANS_ROWS", 200)
    model = LSC(3, n_landmarks=100).fit(rows)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


@each
def test_few_rows_have_fewer_landmarks_than_rows(cls):
    """With every row its own landmark, a single far row would be a cluster."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    rows[:100] += 4
    rows[100:200, 0] -= 5
    model = cls(3).fit(rows)
    assert len(model.landmarks_) == 60
    assert np.bincount(model.labels_).min() > 90


@pytest.mark.parametrize("cls", BOTH)
def test_ties_are_broken_alike_in_every_unit(cls):
    lattice = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    labels = cls(4).fit_predict(lattice)
    for unit in (0.1, 3.7, 1e-5):
        np.testing.assert_array_equal(cls(4).fit_predict(unit * lattice), labels)


@pytest.mark.parametrize("cls", BOTH)
def test_fewer_clusters_than_asked_for_are_said(cls):
    rows = np.vstack([X, np.full((1, X.shape[1]), 1e140)])  # the others are one point beside it
    with pytest.warns(ConvergenceWarning, match="only [12] of n_clusters=3 clusters"):
        model = cls(3).fit(rows)
    assert set(model.labels_) == set(model.predict(rows)) <= {0, 1}
