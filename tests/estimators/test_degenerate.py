"""Shapes and data at the edge of what makes sense."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from conftest import CLUSTERERS, ESTIMATORS, FAMILIES, made
from dogc import CAN, DOGC, DOGCOS, DiscriminativeKMeans, DOGCFixedGraph
from dogc.datasets import load_uci

each = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda e: e.__name__)
each_family = pytest.mark.parametrize("cls", FAMILIES, ids=lambda e: e.__name__)


def check(cls, X, c, **parameters):
    model = made(cls, c, **parameters).fit(X)
    assert set(model.labels_) == set(range(c))
    assert np.isfinite(getattr(model, "embedding_", 0.0)).all()
    assert set(model.predict(X)) <= set(model.labels_)
    return model


@each
def test_one_cluster_as_many_as_rows_and_nearly_as_many(cls):
    rng = np.random.default_rng(0)
    assert getattr(check(cls, rng.standard_normal((20, 3)), 1), "converged_", True)
    pieces = np.concatenate([np.linspace(0, 1, 8) + 50.0 * k for k in range(4)])[:, None]
    assert getattr(check(cls, pieces, 1, n_neighbors=3), "converged_", True)
    for n, c in ((2, 2), (3, 3), (3, 2), (5, 5), (8, 7)):
        check(cls, rng.standard_normal((n, 3)), c)


@each
def test_n_barely_above_n_neighbors(cls):
    X, _ = make_blobs(10, centers=2, random_state=0)
    for k in (1, 2, 8, 9):
        check(cls, X, 2, n_neighbors=k)


@each
def test_one_column_and_isolated_points(cls):
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 25)])[:, None]
    np.testing.assert_array_equal(np.bincount(check(cls, X, 2, n_neighbors=5).labels_), [25, 20])
    X, _ = make_blobs(60, centers=2, random_state=0)
    check(cls, np.vstack([X, [[1e3, 1e3]], [[-1e3, 1e3]]]), 2, n_neighbors=5)


@each_family
def test_constant_columns_do_not_matter(cls):
    X, _ = make_blobs(60, n_features=3, centers=3, cluster_std=2.0, random_state=0)
    wider = np.hstack([np.full((60, 2), 1e8), X, np.zeros((60, 1))])
    np.testing.assert_array_equal(
        check(cls, wider, 3, n_components=2).labels_, check(cls, X, 3, n_components=2).labels_
    )


@each
def test_copies_of_rows_share_their_label(cls):
    X, truth = make_blobs(30, n_features=3, centers=3, random_state=0)
    model = check(cls, np.repeat(X, 6, axis=0), 3, n_neighbors=20)
    assert adjusted_rand_score(np.repeat(truth, 6), model.labels_) == 1.0
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]]), 30, axis=0)
    model = check(cls, X, 3, n_neighbors=5)  # neighbours are nothing but copies
    assert all(len(set(part)) == 1 for part in np.split(model.labels_, 3))


@each_family
def test_more_features_than_rows(cls):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 15)
    X = rng.standard_normal((30, 200))
    X[:, :5] += 6.0 * truth[:, None]
    # Discriminative k-means takes 29 directions of noise for as good as that of the clusters.
    smooth = {"lam": 100.0} if cls is DiscriminativeKMeans else {}
    for n_components in (None, 2, 10) if cls in ESTIMATORS else (None,):
        model = check(cls, X, 2, n_neighbors=6, n_components=n_components, **smooth)
        assert adjusted_rand_score(truth, model.labels_) == 1.0


@pytest.mark.parametrize("cls", [c for c in ESTIMATORS if c is not CAN], ids=lambda e: e.__name__)
def test_more_components_than_the_rank_of_the_rows(cls):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 8))
    model = check(cls, X, 3, n_neighbors=6, n_components=5)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)
    flat = X - X.mean(axis=0)
    np.testing.assert_allclose(
        np.linalg.norm(flat @ model.components_.T), np.linalg.norm(flat), rtol=1e-10
    )


@each
def test_float32_at_extreme_scales_and_clusters_of_very_different_density(cls):
    X, truth = make_blobs(60, n_features=4, centers=3, random_state=0)
    for unit in (1e-30, 1e30):
        model = check(cls, (X * unit).astype(np.float32), 3)
        assert adjusted_rand_score(truth, model.labels_) == 1.0
    rng = np.random.default_rng(0)
    X = np.vstack([1e-4 * rng.standard_normal((40, 2)), 10.0 + rng.standard_normal((40, 2))])
    model = check(cls, X, 2, n_neighbors=10)
    assert adjusted_rand_score(np.repeat([0, 1], 40), model.labels_) == 1.0


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e6])
@pytest.mark.parametrize("beta", [0.0, 1e6])
def test_extreme_penalties_stay_finite(alpha, beta):
    X, _ = make_blobs(50, n_features=3, centers=3, cluster_std=3.0, random_state=0)
    for p in (0.1, 2.0):
        check(DOGCOS, X, 3, alpha=alpha, beta=beta, gamma=0.0, p=p, n_neighbors=8)
    for unit in (1e-140, 1e140):
        assert np.isfinite(DOGCOS(2, penalties="paper").fit(X[:30] * unit).coef_).all()


def test_random_labels_never_lose_a_cluster():
    X = np.random.default_rng(0).standard_normal((40, 2))
    for seed in range(10):
        check(DOGC, X, 8, n_neighbors=6, init="random", random_state=seed, alpha=1.0)


def test_crowded_eigenvalues_of_the_projection():
    """LAPACK's search for some eigenvectors fails: 'Internal Error'."""
    X = scale(load_uci("lenses").data)
    model = DOGCOS(3, alpha=1.0, beta=10.0, init="random", max_iter=30, min_cluster_size=1,
                   n_components=2, n_neighbors=2, random_state=90).fit(X)  # fmt: skip
    assert model.components_.shape == (2, 4)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, DOGCFixedGraph], ids=lambda cls: cls.__name__)
def test_without_a_pull_of_labels_the_answer_is_its_limit(cls):
    """An alpha too weak to hold the labels of a start by modularity: F cut three rows off."""
    X = scale(load_uci("wine").data)
    limit, at = (cls(3, alpha=alpha).fit(X).labels_ for alpha in (1e-6, 0.0))
    assert np.bincount(at).min() > 40
    assert adjusted_rand_score(limit, at) == 1.0
