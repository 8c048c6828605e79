"""K-multiple-means against a loop by full matrices."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from test_bad_input import message_of

import reference_landmarks as dense
from dogc import KMultipleMeans
from dogc.estimators import _multiple_means
from dogc.fitting import landmarks
from dogc.fitting.repeatable import generator
from dogc.numerics import multiple_means

X, TRUTH = make_blobs(90, n_features=3, centers=3, cluster_std=2.5, random_state=0)


def components(model):
    """The components of the learned graph: their number and that of each row."""
    S = model.bipartite_graph_
    count, member = connected_components(sp.block_array([[None, S], [S.T, None]]))
    return count, member[: S.shape[0]]


@pytest.mark.parametrize(("n_prototypes", "k"), [(None, 3), (None, 5), (25, 3), (25, 5), (500, 5)])
def test_the_loop_is_that_of_full_matrices(n_prototypes, k):
    model = KMultipleMeans(3, n_prototypes=n_prototypes, n_neighbors=k).fit(X)
    rows = landmarks.ready_rows(X, 1)
    start = _multiple_means.first_prototypes(rows, n_prototypes, 3, generator(0))
    Z = landmarks.as_points(rows.frame, X)
    S, A, labels = dense.multiple_means(Z, start, 3, k)
    kept = S.sum(axis=0) > 0
    np.testing.assert_allclose(model.bipartite_graph_.toarray(), S[:, kept], atol=1e-5)
    scaled = rows.frame.scaled
    np.testing.assert_allclose(model.prototypes_, A[kept] * scaled.scale + scaled.shift, atol=1e-5)
    assert dense.same_partition(model.labels_, labels)
    assert model.converged_


@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_the_components_of_the_learned_graph(seed):
    rows, _ = make_blobs(200, n_features=4, centers=4, cluster_std=3.0, random_state=seed)
    model = KMultipleMeans(4).fit(rows)
    count, member = components(model)
    assert model.converged_
    assert count == 4
    assert dense.same_partition(member, model.labels_)
    np.testing.assert_allclose(np.asarray(model.bipartite_graph_.sum(axis=1)).ravel(), 1.0)
    assert model.lam_ > 0
    named = model.prototype_labels_[np.asarray(model.bipartite_graph_.argmax(axis=1)).ravel()]
    np.testing.assert_array_equal(named, model.labels_)


def test_many_rows_in_curved_clusters():
    rows, truth = make_moons(6_000, noise=0.08, random_state=0)
    model = KMultipleMeans(2).fit(rows[::2])
    assert adjusted_rand_score(truth[::2], model.labels_) > 0.98
    assert adjusted_rand_score(truth[1::2], model.predict(rows[1::2])) > 0.98
    assert (model.predict(rows[::2]) == model.labels_).mean() > 0.99
    assert len(model.prototypes_) <= round(np.sqrt(3_000 * 2))


def test_neither_order_nor_threads_change_the_clusters():
    order = np.random.default_rng(0).permutation(90)
    models = [KMultipleMeans(3, n_jobs=j).fit(rows) for j, rows in ((1, X), (2, X), (1, X[order]))]
    np.testing.assert_array_equal(models[0].prototypes_, models[1].prototypes_)
    np.testing.assert_array_equal(models[0].prototypes_, models[2].prototypes_)
    np.testing.assert_array_equal(models[0].labels_[order], models[2].labels_)


def test_copies_count_as_often_as_they_occur():
    copies = np.random.default_rng(0).integers(1, 5, 90)
    model = KMultipleMeans(3, n_prototypes=30).fit(np.repeat(X, copies, axis=0))
    S, first = model.bipartite_graph_, np.concatenate([[0], np.cumsum(copies)[:-1]])
    assert (S[np.repeat(first, copies)] != S).nnz == 0
    np.testing.assert_array_equal(np.repeat(model.labels_[first], copies), model.labels_)


def test_new_rows_are_labelled_by_the_row_problem():
    model = KMultipleMeans(3, n_prototypes=30, n_neighbors=4).fit(X)
    new = np.random.default_rng(1).uniform(X.min(axis=0), X.max(axis=0), (100, 3))
    D = dense.squared_distances(new, model.prototypes_)
    S = dense.row_problems(D, np.zeros_like(D), 0.0, 4)
    votes = S @ np.eye(3)[model.prototype_labels_]
    np.testing.assert_array_equal(model.predict(new), votes.argmax(axis=1))


def test_a_graph_in_too_many_pieces_is_merged_and_said():
    rows, truth = make_blobs(80, centers=8, cluster_std=0.1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="more than n_clusters=3.*raise n_neighbors"):
        model = KMultipleMeans(3, n_prototypes=60).fit(rows)
    assert set(model.labels_) == {0, 1, 2}
    assert all(len(set(model.labels_[truth == j])) == 1 for j in range(8))
    assert not model.converged_


def test_where_no_lambda_is_found_the_cut_gives_the_labels(monkeypatch):
    monkeypatch.setattr(multiple_means, "MOST_STEPS", 0)
    with pytest.warns(ConvergenceWarning, match="no lambda gave n_clusters=3; k-means on its cut"):
        model = KMultipleMeans(3).fit(X)
    assert set(model.labels_) == {0, 1, 2}
    assert set(model.prototype_labels_) <= {0, 1, 2}
    assert (model.predict(X) == model.labels_).mean() > 0.8
    assert not model.converged_


def test_an_early_end_is_said():
    rows, _ = make_blobs(300, n_features=8, centers=6, cluster_std=5.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="ended after 1 iterations .*; raise max_iter"):
        model = KMultipleMeans(6, max_iter=1).fit(rows)
    assert model.n_iter_ == 1
    assert not model.converged_


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_prototypes": 1}, "n_prototypes=1 is too small for n_clusters=2: every cluster needs"),
        ({"n_prototypes": 2.5}, "n_prototypes must be an integer of at least 1"),
        ({"n_prototypes": "auto"}, "n_prototypes must be an integer of at least 1"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    ],
    ids=repr,
)
def test_nonsense_is_refused(parameters, says):
    assert re.search(says, message_of(KMultipleMeans(2, **parameters)))
