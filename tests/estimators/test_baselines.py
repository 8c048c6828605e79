"""The methods that learn no graph against dense references."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import dogc
import reference_baselines as dense
from conftest import made

# Overlapping enough that the graph is connected and no label comes for free.
X, TRUTH = make_blobs(120, n_features=4, centers=3, cluster_std=3.0, random_state=0)
K = 10
GRAPHS = [{"n_neighbors": K}, {"affinity": "full"}, {"affinity": "full", "bandwidth": 2.5}]
each_graph = pytest.mark.parametrize("graph", GRAPHS, ids=repr)


def dense_graph(graph):
    k = len(X) - 1 if graph.get("affinity") == "full" else graph["n_neighbors"]
    return dense.gaussian_graph(X, k, graph.get("bandwidth"))


def projector(F):
    Q, _ = np.linalg.qr(F)
    return Q @ Q.T


def assert_bottom_eigenvectors(F, M, c=3):
    """F has orthonormal columns that span the c bottom eigenvectors of M."""
    values, vectors = scipy.linalg.eigh(M)
    assert values[c] - values[c - 1] > 1e-4 * values[-1], "the reference is ambiguous"
    np.testing.assert_allclose(F.T @ F, np.eye(c), atol=1e-10)
    np.testing.assert_allclose(F @ F.T, vectors[:, :c] @ vectors[:, :c].T, atol=1e-6)
    assert np.trace(F.T @ M @ F) == pytest.approx(values[:c].sum(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "cls", [dogc.RatioCut, dogc.NormalizedCut, dogc.NMFClustering, dogc.SEC, dogc.CLGR]
)
@each_graph
def test_the_graph_is_the_gaussian_kernel(cls, graph):
    A = cls(3, **graph).fit(X).affinity_matrix_
    assert sp.issparse(A)
    np.testing.assert_allclose(A.toarray(), dense_graph(graph), rtol=1e-9, atol=1e-15)


# ------------------------------------------------------------------------------- the cuts


@each_graph
def test_ratio_cut_embeds_by_the_laplacian(graph):
    F = dogc.RatioCut(3, **graph).fit(X).embedding_
    assert_bottom_eigenvectors(F, dense.laplacian(dense_graph(graph)))


@each_graph
def test_normalised_cut_embeds_by_the_generalised_problem(graph):
    A = dense_graph(graph)
    D, L = np.diag(A.sum(axis=1)), dense.laplacian(A)
    V = dogc.NormalizedCut(3, **graph).fit(X).embedding_
    np.testing.assert_allclose(V.T @ D @ V, np.eye(3), atol=1e-10)
    values, vectors = scipy.linalg.eigh(L, D)
    np.testing.assert_allclose(projector(V), projector(vectors[:, :3]), atol=1e-6)
    assert np.trace(V.T @ L @ V) == pytest.approx(values[:3].sum(), rel=1e-6)


@pytest.mark.parametrize("cls", [dogc.NormalizedCut, dogc.LSC, dogc.USPEC])
def test_labels_are_the_nearest_means_of_rows_of_length_one(cls):
    given = {"n_neighbors": K, "n_landmarks": 30}
    plain = made(cls, 3, **given, normalize_rows=False).fit(X).embedding_
    model = made(cls, 3, **given, normalize_rows=True).fit(X)
    F, labels = model.embedding_, model.labels_
    np.testing.assert_allclose(F, plain / np.linalg.norm(plain, axis=1, keepdims=True))
    centres = np.array([F[labels == j].mean(axis=0) for j in range(3)])
    distance = ((F[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distance.argmin(axis=1), labels)


@pytest.mark.parametrize("cls", [dogc.RatioCut, dogc.NormalizedCut])
def test_kmeans_starts_from_the_means_of_the_rotation_unless_told(cls):
    c = 9
    model = cls(c, n_neighbors=K).fit(X)
    F, rotated = model.embedding_, dogc.spectral_rotation(model.embedding_)
    means = np.array([F[rotated == j].mean(axis=0) for j in range(c)])
    expected = KMeans(c, init=means, n_init=1).fit(F)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1.0
    drawn = [cls(c, n_neighbors=K, n_init=1, random_state=seed).fit(X) for seed in range(5)]
    assert len({tuple(other.labels_) for other in drawn}) > 1


@pytest.mark.parametrize("cls", [dogc.RatioCut, dogc.NormalizedCut, dogc.NMFClustering, dogc.CLGR])
def test_more_components_than_clusters_are_merged_smallest_first_and_said(cls):
    pieces = [np.linspace(at, at + 1, n) for at, n in ((0, 30), (100, 30), (110, 8))]
    with pytest.warns(ConvergenceWarning, match="3 components, more than n_clusters=2"):
        labels = cls(2, n_neighbors=4).fit(np.concatenate(pieces)[:, None]).labels_
    np.testing.assert_array_equal(labels, np.repeat([1, 0], [30, 38]))


# ---------------------------------------------------------------------------------- SEC


@pytest.mark.parametrize("laplacian", ["unnormalized", "normalized"])
@pytest.mark.parametrize(("mu", "gamma"), [(1e-3, 1.0), (1.0, 0.01), (100.0, 0.1)])
def test_sec_embeds_by_graph_and_regression(mu, gamma, laplacian):
    model = dogc.SEC(3, mu=mu, gamma=gamma, laplacian=laplacian, n_neighbors=K).fit(X)
    A = dense.gaussian_graph(X, K)
    M = dense.sec_operator(A, X, mu, gamma, laplacian)
    F, W, b = model.embedding_, model.coef_.T, model.intercept_
    assert_bottom_eigenvectors(F, M)
    value = dense.sec_objective(A, X, F, W, b, mu, gamma, laplacian)
    assert value == pytest.approx(scipy.linalg.eigvalsh(M)[:3].sum(), rel=1e-6)
    means = np.array([F[model.labels_ == j].mean(axis=0) for j in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, means)
    distance = (((X @ W + b)[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), distance.argmin(axis=1))


def test_sec_with_the_normalised_laplacian_comes_to_the_normalised_cut():
    F = dogc.SEC(3, mu=1e-9, laplacian="normalized", n_neighbors=K).fit(X).embedding_
    cut = dogc.NormalizedCut(3, n_neighbors=K).fit(X)
    root = np.sqrt(cut.affinity_matrix_.sum(axis=1))
    np.testing.assert_allclose(projector(F), projector(root[:, None] * cut.embedding_), atol=1e-5)


def test_sec_with_the_normalised_laplacian_on_many_rows():
    rows, truth = make_blobs(500, n_features=3, centers=3, random_state=2)
    model = dogc.SEC(3, laplacian="normalized").fit(rows)  # beyond a dense solve
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    F, A = model.embedding_, model.affinity_matrix_.toarray()
    M = dense.sec_operator(A, rows, 1e-3, 1.0, "normalized")
    assert np.trace(F.T @ M @ F) == pytest.approx(scipy.linalg.eigvalsh(M)[:3].sum(), rel=1e-6)


# ----------------------------------------------------------------------- local predictors


@pytest.mark.parametrize("parameters", [{}, {"ridge": 1.0}, {"bandwidth": 4.0}], ids=repr)
def test_local_learning_embeds_by_what_neighbours_predict(parameters):
    model = dogc.LocalLearningClustering(3, n_neighbors=K, **parameters).fit(X)
    A = dense.kernel_predictors(X, K, parameters.get("ridge", 0.1), parameters.get("bandwidth"))
    F, M = model.embedding_, dense.residual(A)
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-10)
    best = scipy.linalg.eigvalsh(M)[:3].sum()
    assert np.trace(F.T @ M @ F) == pytest.approx(best, rel=1e-6)


def test_local_learning_from_all_rows_is_leave_one_out():
    n, ridge, bandwidth = len(X), 0.5, 3.0
    model = dogc.LocalLearningClustering(
        3, ridge=ridge, bandwidth=bandwidth, n_neighbors=n - 1
    ).fit(X)
    kernel = np.exp(-dense.squared_distances(X) / (2 * bandwidth**2))
    G = kernel @ np.linalg.inv(kernel + ridge * np.eye(n))
    left_out = (np.eye(n) - G) / np.diag(np.eye(n) - G)[:, None]
    assert_bottom_eigenvectors(model.embedding_, left_out.T @ left_out)


@pytest.mark.parametrize(("lam", "ridge"), [(10.0, 1.0), (0.1, 0.1), (1.0, 100.0)])
def test_clgr_embeds_by_predictors_and_graph(lam, ridge):
    model = dogc.CLGR(3, lam=lam, ridge=ridge, n_neighbors=K).fit(X)
    T = dense.residual(dense.linear_predictors(X, K, ridge))
    A = dense.gaussian_graph(X, K)
    mean_degree = A.sum() / len(X)
    assert_bottom_eigenvectors(model.embedding_, T + lam / mean_degree * dense.laplacian(A))


@pytest.mark.parametrize("k", [4, K, 30])
def test_clgr_on_a_full_kernel_keeps_its_models_local(k):
    model = dogc.CLGR(3, n_neighbors=k, affinity="full").fit(X)
    T = dense.residual(dense.linear_predictors(X, k, 1.0))
    A = dense.gaussian_graph(X, len(X) - 1)
    mean_degree = A.sum() / len(X)
    assert_bottom_eigenvectors(model.embedding_, T + 10.0 / mean_degree * dense.laplacian(A))
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), A, atol=1e-8)


# -------------------------------------------------------------------- discriminative k-means


@pytest.mark.parametrize("lam", [1e-2, 1.0, 100.0])
def test_discriminative_inertia_is_that_of_the_kernel(lam):
    model = dogc.DiscriminativeKMeans(3, lam=lam).fit(X)
    Xc = dense.centred(X)
    kernel = Xc @ Xc.T
    kernel = dense.discriminative_kernel(kernel, lam * np.trace(kernel) / X.shape[1])
    assert model.inertia_ == pytest.approx(dense.within_clusters(kernel, model.labels_))
    assert model.inertia_ <= dense.within_clusters(kernel, TRUTH)


def test_discriminative_inertia_of_a_gaussian_kernel():
    model = dogc.DiscriminativeKMeans(3, kernel="rbf", gamma=0.02).fit(X)
    H = np.eye(len(X)) - 1 / len(X)
    kernel = H @ rbf_kernel(X, gamma=0.02) @ H
    kernel = dense.discriminative_kernel(kernel, np.trace(kernel) / len(X))
    assert model.inertia_ == pytest.approx(dense.within_clusters(kernel, model.labels_), rel=1e-6)
    default = dogc.DiscriminativeKMeans(3, kernel="rbf").fit(X)
    same = dogc.DiscriminativeKMeans(3, kernel="rbf", gamma=1 / (4 * X.var(axis=0).mean())).fit(X)
    np.testing.assert_array_equal(default.labels_, same.labels_)


def test_discriminative_kmeans_starts_ten_times_from_one_seed_unless_told():
    def inertia(**given):
        return dogc.DiscriminativeKMeans(12, **given).fit(X).inertia_

    assert len({inertia() for _ in range(4)}) == 1
    assert inertia() == inertia(n_init=10, random_state=0)
    assert len({inertia(n_init=n, random_state=seed) for n in (1, 2) for seed in range(4)}) > 4


def test_discriminative_kmeans_does_not_see_a_linear_map_of_the_rows_at_small_lambda():
    rows = X @ np.array([[1.0, 5.0, 0.0, 0.0], [0.0, 1.0, 0.0, 9.0], [3.0, 0, 1, 0], [0, 0, 2, 1]])
    plain, mapped = (dogc.DiscriminativeKMeans(3, lam=1e-9, n_init=50).fit(Z) for Z in (X, rows))
    assert mapped.inertia_ == pytest.approx(plain.inertia_, rel=1e-5)


# ---------------------------------------------------------------------------------- NMF


def test_graph_factors_are_non_negative_and_stationary():
    given = {"n_neighbors": K, "tol": 1e-6, "max_iter": 5000, "assign_labels": "argmax"}
    model = dogc.NMFClustering(3, **given).fit(X)
    W = model.embedding_
    assert adjusted_rand_score(W.argmax(axis=1), model.labels_) == 1.0
    N = dense.normalised_graph(dense.gaussian_graph(X, K))
    assert (W >= 0).all()
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(N - W @ W.T), rel=1e-9)
    gradient = 4 * (W @ W.T - N) @ W
    assert np.abs(np.minimum(W, gradient)).max() < 1e-4
    others = scipy.linalg.eigvalsh(N)[:-3]
    assert np.linalg.norm(others) <= model.reconstruction_err_


def test_feature_factors_are_non_negative_and_leave_what_they_say():
    model = dogc.NMFClustering(3, source="features", max_iter=5000).fit(X)
    W = model.embedding_
    unit = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    assert (W >= 0).all()
    left = np.linalg.norm([nnls(W, column)[1] for column in unit.T])
    assert left <= model.reconstruction_err_ * (1 + 1e-9)
    assert model.reconstruction_err_ == pytest.approx(left, rel=0.02)


def test_sparse_features_are_factored_as_dense_ones():
    rows = np.tile(np.abs(X), 13) * np.linspace(1.0, 9.0, 52)  # beyond columns that become dense
    rows[:2] = 0.0  # so that the least of each column is zero, as sparse ones take it to be
    dense_, sparse = (
        dogc.NMFClustering(3, source="features", n_neighbors=K).fit(kind(rows)).embedding_
        for kind in (np.asarray, sp.csr_array)
    )
    np.testing.assert_allclose(sparse, dense_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("source", ["graph", "features"])
def test_more_starts_of_a_factorisation_never_leave_more(source):
    errors = [
        dogc.NMFClustering(3, source=source, n_init=n, random_state=0).fit(X).reconstruction_err_
        for n in (1, 4)
    ]
    assert errors[1] <= errors[0]


# ---------------------------------------------------------------------------------- CLR


def row_stochastic(graph):
    """The rows of the directed graph that CLR starts from, scaled to sum to one."""
    n, D = len(X), dense.squared_distances(X)
    A, near = dense_graph(graph), dense.neighbours(D, graph.get("n_neighbors", len(X) - 1))
    mask = np.zeros((n, n))
    for i in range(n):
        mask[i, near[i]] = 1.0
    return A * mask / (A * mask).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("norm", ["l2", "l1"])
@each_graph
def test_clr_finds_as_many_components_as_clusters(norm, graph):
    model = dogc.CLR(3, norm=norm, **graph).fit(X)
    S = model.affinity_matrix_
    assert S.min() >= 0
    assert S.sum() == pytest.approx(len(X))
    assert (S[dense_graph(graph) == 0.0] == 0.0).all()
    count, member = sp.csgraph.connected_components(S)
    assert model.stopping_reason_ == "converged"
    assert count == 3
    assert adjusted_rand_score(member, model.labels_) == 1.0


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_clr_with_next_to_no_lambda_keeps_the_given_graph(norm):
    S = dogc.CLR(3, norm=norm, lam=1e-12, n_neighbors=K).fit(X).affinity_matrix_.toarray()
    given = row_stochastic({"n_neighbors": K})
    np.testing.assert_allclose(S, (given + given.T) / 2, atol=1e-8)


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_clr_takes_the_components_where_there_are_c_already(norm):
    rows = np.concatenate([np.linspace(0, 1, 9) + 100.0 * k for k in range(4)])[:, None]
    model = dogc.CLR(4, norm=norm, n_neighbors=3).fit(rows)
    assert model.converged_
    np.testing.assert_array_equal(model.labels_, np.repeat(np.arange(4), 9))
