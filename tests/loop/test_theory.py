"""Duties of each method by its own theory: shapes it solves, limits it collapses to."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import dogc
from dogc.comparison import METHODS
from reference_baselines import kernel_predictors
from reference_landmarks import squared_distances

SHAPES = {
    "moons": make_moons(300, noise=0.03, random_state=0),
    "circles": make_circles(300, factor=0.4, noise=0.05, random_state=0),
    "blobs": make_blobs(300, centers=[[-6, 0], [6, 0], [0, 8]], cluster_std=1.0, random_state=0),
}

# k-means and discriminative k-means part the plane by straight lines. The others follow
# edges of a graph, whatever its shape. SEC and DOGC-OS stand between: their labels come from
# a graph, but a linear function of X has a say.
LINEAR = ("KM", "DKM")
QUICK = ["DOGC", "DOGC-OS", "CAN", "CLR1", "DKM"]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in METHODS if name not in QUICK]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", QUICK + SLOW)
def test_graph_methods_solve_what_straight_lines_cannot(method, shape):
    X, truth = SHAPES[shape]
    model = METHODS[method](truth.max() + 1)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    score = adjusted_rand_score(truth, model.fit_predict(X))
    if method in LINEAR and shape != "blobs":
        assert score < 0.6
    else:
        assert score == 1.0


def test_factors_of_the_features_are_linear_and_those_of_the_graph_are_not():
    X, truth = SHAPES["circles"]
    assert adjusted_rand_score(truth, dogc.NMFClustering(2, source="features").fit_predict(X)) < 0.2
    assert adjusted_rand_score(truth, dogc.NMFClustering(2, source="graph").fit_predict(X)) == 1.0


def span(F):
    F, _ = np.linalg.qr(F)
    return F @ F.T


def overlapping(seed=0):
    X, _ = make_blobs(150, n_features=4, centers=3, cluster_std=3.0, random_state=seed)
    return X


# ------------------------------------------------------------------------------- limits


def assert_ends_at_ratio_cut(model_at, values):
    X = overlapping()
    cut = dogc.RatioCut(3).fit(X)
    fits = [model_at(value).fit(X) for value in values]
    gaps = [np.abs(span(fit.embedding_) - span(cut.embedding_)).max() for fit in fits]
    assert gaps[0] > 10 * gaps[1] > 10 * gaps[2]
    assert gaps[2] < 1e-5
    np.testing.assert_array_equal(fits[2].labels_, cut.labels_)


def test_sec_with_mu_to_zero_is_ratio_cut():
    assert_ends_at_ratio_cut(lambda mu: dogc.SEC(3, mu=mu), (1e-1, 1e-4, 1e-8))


def test_clgr_with_a_large_lambda_is_the_laplacian_method():
    assert_ends_at_ratio_cut(lambda lam: dogc.CLGR(3, lam=lam), (1e0, 1e4, 1e8))


def test_discriminative_kmeans_with_a_large_lambda_is_kmeans():
    X = overlapping()
    plain = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    for lam, alike in ((1e6, True), (1e-3, False)):
        labels = dogc.DiscriminativeKMeans(3, lam=lam).fit_predict(X)
        assert (adjusted_rand_score(plain, labels) == 1.0) == alike


def test_local_learning_with_one_neighbourhood_is_leave_one_out_kernel_ridge():
    X = overlapping()[:40]
    n, sigma, ridge = len(X), 4.0, 0.5
    model = dogc.LocalLearningClustering(3, n_neighbors=n - 1, bandwidth=sigma, ridge=ridge).fit(X)
    K = np.exp(-squared_distances(X, X) / (2 * sigma**2))
    residual = np.eye(n) - kernel_predictors(X, n - 1, ridge, sigma)
    G = K @ np.linalg.inv(K + ridge * np.eye(n))
    np.testing.assert_allclose(residual, (np.eye(n) - G) / np.diag(np.eye(n) - G)[:, None])
    bottom = np.linalg.eigh(residual.T @ residual)[1][:, :3]
    np.testing.assert_allclose(span(model.embedding_), span(bottom), atol=1e-8)


# ------------------------------------------------------------------------- the two CLR


def two_blocks_with_false_edges(seed, share, weight):
    """Affinities of two groups of 30, and a few strong edges between them that lie."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], 30)
    A = np.where(truth[:, None] == truth[None, :], rng.uniform(0.5, 1.0, (60, 60)), 0.0)
    lies = (rng.random((60, 60)) < share) & (truth[:, None] != truth[None, :])
    A[lies] = weight
    A = np.triu(A, 1)
    return A + A.T, truth


@pytest.mark.parametrize("seed", range(3))
def test_clr_in_the_l1_norm_changes_few_edges_and_in_the_l2_norm_many(seed):
    A, truth = two_blocks_with_false_edges(seed, share=0.05, weight=3.0)
    rows = A / A.sum(axis=1, keepdims=True)
    within = truth[:, None] == truth[None, :]
    changed, largest = {}, {}
    for norm in ("l1", "l2"):
        model = dogc.CLR(2, norm=norm, affinity="precomputed").fit(A)
        assert model.converged_
        assert adjusted_rand_score(truth, model.labels_) == 1.0
        difference = np.abs(model.affinity_matrix_.toarray() - (rows + rows.T) / 2)[within]
        changed[norm], largest[norm] = np.mean(difference > 1e-9), difference.max()
    # Both cut all false edges; L1 hands their weight to a few true ones, L2 spreads it.
    assert changed["l1"] < 0.1
    assert changed["l2"] > 0.8
    assert largest["l1"] > 5 * largest["l2"]


def test_clr_in_the_l1_norm_stands_outliers_that_mislead_the_l2_norm():
    scores = {"l1": [], "l2": []}
    for seed in range(4):
        A, truth = two_blocks_with_false_edges(seed, share=0.02, weight=10.0)
        for norm, found in scores.items():
            labels = dogc.CLR(2, norm=norm, affinity="precomputed").fit(A).labels_
            found.append(adjusted_rand_score(truth, labels))
    assert np.mean(scores["l1"]) > 0.8
    assert np.mean(scores["l2"]) < 0.5
