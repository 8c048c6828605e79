"""The settings of the methods that learn no graph: each must do what the defaults do."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from dogc import (
    CAN,
    CLGR,
    CLR,
    DOGC,
    DOGCOS,
    LSC,
    PCAN,
    SEC,
    USPEC,
    DiscriminativeKMeans,
    DOGCFixedGraph,
    LocalLearningClustering,
    NMFClustering,
    NormalizedCut,
    RatioCut,
)

PRECOMPUTING = (RatioCut, NormalizedCut, NMFClustering, CLR)
ROTATING = (RatioCut, NormalizedCut, SEC, LocalLearningClustering, CLGR)
RANDOM = (*ROTATING, NMFClustering, LSC, USPEC)
KERNELS = (RatioCut, NMFClustering, CLR, SEC, LocalLearningClustering, CLGR, LSC, USPEC)
MODES = [
    RatioCut(affinity="full"),
    NormalizedCut(affinity="full"),
    NormalizedCut(normalize_rows=True),
    NormalizedCut(normalize_rows=True, assign_labels="rotation"),
    NMFClustering(affinity="full"),
    NMFClustering(assign_labels="argmax"),
    NMFClustering(source="features"),
    NMFClustering(source="features", n_init=5, random_state=0),
    CLR(norm="l1"),
    CLR(affinity="full"),
    SEC(affinity="full"),
    SEC(laplacian="normalized"),
    CLGR(affinity="full"),
    CLGR(lam=0.0),
    LocalLearningClustering(assign_labels="kmeans"),
    DiscriminativeKMeans(kernel="rbf"),
    LSC(),
    LSC(landmarks="random", n_landmarks=25),
    LSC(n_landmarks=25, normalize_rows=False),
    USPEC(),
    USPEC(n_landmarks=25, normalize_rows=False),
    *(cls(assign_labels="rotation") for cls in ROTATING),
    *(cls(n_init=5, random_state=0) for cls in RANDOM),
]
LAPLACIANS = ("unnormalized", "normalized")
LEARNED = "the graph has more components than n_clusters.*n_neighbors"
each_mode = pytest.mark.parametrize("mode", MODES, ids=repr)
each_precomputing = pytest.mark.parametrize("cls", PRECOMPUTING, ids=lambda e: e.__name__)
each_random = pytest.mark.parametrize("cls", RANDOM, ids=lambda e: e.__name__)


def fitted(mode, X, c):
    model = clone(mode).set_params(n_clusters=c).fit(X)
    assert set(model.labels_) == set(range(c))
    assert np.isfinite(getattr(model, "embedding_", 0.0)).all()
    assert set(model.predict(X)) <= set(range(c))
    return model


def far_blobs(n=90, d=4, c=3):
    return make_blobs(n, n_features=d, centers=c, random_state=3)


# ------------------------------------------------------------------------------ all modes


@each_mode
def test_far_blobs_are_found_in_every_unit_and_kind_of_rows(mode):
    X, truth = far_blobs(180)
    model = fitted(mode, X[::2], 3)
    assert adjusted_rand_score(truth[::2], model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)
    # A linear function of the row, as in SEC, need not reach the mean of its cluster.
    least = 0.9 if isinstance(mode, SEC) else 1.0
    assert adjusted_rand_score(truth[1::2], model.predict(X[1::2])) >= least
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    positive = (X - X.min())[::2]
    for rows in (1e-140 * X[::2], 1e140 * X[::2], sp.csr_array(positive), np.float32(positive)):
        model = fitted(mode, rows, 3)
        assert adjusted_rand_score(truth[::2], model.labels_) == 1.0
        assert getattr(model, "embedding_", rows).dtype == rows.dtype


@each_mode
def test_few_rows_copies_lone_rows_and_more_features_than_rows(mode):
    X, _ = far_blobs(30)
    labels = fitted(mode, np.repeat(X, 4, axis=0), 3).labels_
    assert all(len(set(copies)) == 1 for copies in np.split(labels, 30))
    fitted(mode, np.vstack([X, [[1e3] * 4, [-1e3] * 4]]), 3)
    rng = np.random.default_rng(0)
    fitted(mode, rng.standard_normal((15, 60)), 3)
    for c in (1, 9, 10):
        fitted(mode, rng.standard_normal((10, 3)), c)


@each_random
def test_random_starts_are_drawn_from_random_state_alone(cls):
    X, _ = make_blobs(80, n_features=4, centers=4, cluster_std=4.0, random_state=0)
    np.random.seed(7)  # noqa: NPY002
    untouched = np.random.random(3)  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    for seed in (lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)):
        labels = [cls(4, n_init=3, random_state=seed()).fit(X).labels_ for _ in range(2)]
        np.testing.assert_array_equal(*labels)
    np.testing.assert_array_equal(np.random.random(3), untouched)  # noqa: NPY002


# --------------------------------------------------------------- precomputed affinities


def overlapping():
    return make_blobs(100, n_features=4, centers=3, cluster_std=2.5, random_state=1)[0]


@pytest.mark.parametrize("cls", PRECOMPUTING[:3], ids=lambda e: e.__name__)
@pytest.mark.parametrize("affinity", ["neighbors", "full"])
def test_the_graph_passed_back_in_gives_the_same_labels(cls, affinity):
    plain = cls(3, affinity=affinity).fit(overlapping())
    A = plain.affinity_matrix_
    int64 = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), A.shape)
    for given in (A, int64, sp.csr_matrix(A), sp.csc_array(A), sp.coo_array(A), A.toarray()):
        model = cls(3, affinity="precomputed").fit(given)
        # Clusters of one size are numbered by their rows' values, which a graph does not tell.
        assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
        np.testing.assert_allclose(model.affinity_matrix_.toarray(), A.toarray())


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_clr_of_a_full_kernel_is_clr_of_the_kernel_passed_in(norm):
    X = overlapping()
    A = RatioCut(3, affinity="full").fit(X).affinity_matrix_
    plain = CLR(3, norm=norm, affinity="full").fit(X)
    for given in (A, A.toarray()):
        model = CLR(3, norm=norm, affinity="precomputed").fit(given)
        assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
    again = CLR(3, norm=norm, affinity="precomputed").fit(plain.affinity_matrix_)
    assert adjusted_rand_score(again.labels_, plain.labels_) == 1.0


@each_precomputing
def test_scale_diagonal_type_and_order_of_given_affinities_do_not_matter(cls):
    A = RatioCut(3).fit(overlapping()).affinity_matrix_.toarray()
    labels = cls(3, affinity="precomputed").fit_predict(A)
    for scale in (1e-140, 1e-20, 1e140):
        np.testing.assert_array_equal(cls(3, affinity="precomputed").fit_predict(scale * A), labels)
    model = cls(3, affinity="precomputed").fit(A + 5.0 * np.eye(100))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.affinity_matrix_.diagonal(), 0.0)
    float32 = cls(3, affinity="precomputed").fit(A.astype(np.float32))
    assert float32.embedding_.dtype == np.float32
    assert adjusted_rand_score(float32.labels_, labels) > 0.95
    order = np.random.default_rng(0).permutation(100)
    shuffled = cls(3, affinity="precomputed").fit_predict(A[np.ix_(order, order)])
    assert adjusted_rand_score(labels[order], shuffled) == 1.0


@each_precomputing
def test_new_rows_by_their_affinities(cls):
    X, truth = far_blobs(180)
    A = rbf_kernel(X, gamma=0.05)
    model = cls(3, affinity="precomputed").fit(A[::2, ::2])
    np.testing.assert_array_equal(model.predict(A[::2, ::2]), model.labels_)
    new = A[1::2, ::2]
    predicted = model.predict(new)
    assert adjusted_rand_score(truth[1::2], predicted) == 1.0
    np.testing.assert_array_equal(model.predict(sp.csr_array(new)), predicted)
    np.testing.assert_array_equal(predicted, (new @ np.eye(3)[model.labels_]).argmax(axis=1))


@each_precomputing
def test_given_graphs_with_too_many_components_or_no_edge_at_all(cls):
    cliques = np.kron(np.eye(5), np.ones((4, 4)))
    model = cls(5, affinity="precomputed").fit(cliques)
    assert adjusted_rand_score(np.repeat(np.arange(5), 4), model.labels_) == 1.0
    for graph in (cliques, np.zeros((12, 12)), sp.csr_array((12, 12)), np.ones((12, 12))):
        model = cls(3, affinity="precomputed").fit(graph)
        assert set(model.labels_) == {0, 1, 2}
        assert np.isfinite(model.embedding_).all()


# ------------------------------------------------------------------- extreme parameters


@pytest.mark.parametrize(
    "mode",
    [
        *(cls(bandwidth=width) for cls in KERNELS for width in (1e-140, 1e-3, 1e140)),
        *(SEC(mu=mu, laplacian=kind) for mu in (1e-12, 1e12) for kind in LAPLACIANS),
        *(SEC(gamma=gamma) for gamma in (0.0, 1e12)),
        *(CLGR(ridge=ridge) for ridge in (1e-12, 1e12)),
        CLGR(lam=1e12),
        *(LocalLearningClustering(ridge=ridge) for ridge in (1e-12, 1e12)),
        *(cls(lam=lam) for cls in (DiscriminativeKMeans, CLR) for lam in (1e-12, 1e12)),
        DiscriminativeKMeans(kernel="rbf", gamma=1e6),
        NMFClustering(tol=0.0, max_iter=20),
    ],
    ids=repr,
)
def test_extreme_penalties_and_bandwidths_stay_finite(mode):
    fitted(mode, far_blobs()[0], 3)


@pytest.mark.parametrize(
    ("model", "rows", "says"),
    [
        (RatioCut(3, n_neighbors=3), "apart", "raise n_neighbors to avoid"),
        (RatioCut(3, affinity="full", bandwidth=1e-3), "apart", "raise bandwidth to avoid"),
        (RatioCut(3, affinity="precomputed"), "blocks", "pass a graph with more edges to avoid"),
        (SEC(3, n_neighbors=3), "apart", "the regression decides which go together"),
        (LocalLearningClustering(3, n_neighbors=3), "apart", "may be split or joined"),
        (DOGCFixedGraph(3, n_neighbors=3), "apart", "stopped before it converged: the graph has"),
        *((cls(3, n_neighbors=3), "apart", LEARNED) for cls in (DOGC, DOGCOS, CAN, PCAN, CLR)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_graph_in_too_many_pieces_is_said_with_a_remedy_that_fits(model, rows, says):
    blobs, _ = make_blobs(80, centers=8, cluster_std=0.1, random_state=0)
    X = {"apart": blobs, "blocks": np.kron(np.eye(5), np.ones((4, 4)))}[rows]
    with pytest.warns(ConvergenceWarning, match=says):
        model.fit(X)
