"""The order in which rows come changes no label, also where rows are full of ties."""

import numpy as np
import pytest
import scipy.sparse as sp

from dogc import DOGC, DOGCOS, LPP, PCAN, NMFClustering, RatioCut
from dogc.comparison import METHODS, named_estimator
from dogc.datasets import load_uci

# Peers draw by the place of rows, or break ties by it.
PEERS = ("KM", "GaussianMixture", "HDBSCAN", "Leiden", "UMAP + k-means")
OURS = [name for name in METHODS if name not in PEERS]
FIXED = ("R-cut", "N-cut", "SC", "NMF", "CLR0", "CLR1", "SEC", "DKM", "LL", "CLGR")

GRID = np.stack(np.meshgrid(np.arange(7.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
COPIES = np.random.default_rng(0).integers(0, 3, (70, 3)).astype(float)
LENSES = load_uci("lenses", return_X_y=True)[0].astype(float)
ZOO = load_uci("zoo", return_X_y=True)[0].astype(float)
SETS = {"grid": (GRID, 4), "copies": (COPIES, 3), "lenses": (LENSES, 3), "zoo": (ZOO, 7)}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(method, X, c):
    return named_estimator(method, c, {"random_state": 0}).fit(X)


@pytest.mark.parametrize("method", OURS)
@pytest.mark.parametrize("data", SETS)
def test_the_order_of_rows_changes_no_label(method, data):
    X, c = SETS[data]
    labels = fitted(method, X, c).labels_
    order = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(fitted(method, X[order], c).labels_, labels[order])


@pytest.mark.parametrize("method", [DOGC, DOGCOS, PCAN])
@pytest.mark.parametrize("shape", [(240, 60), (3200, 12)])
def test_neither_do_the_order_of_columns_nor_zeros_left_out_where_rows_are_full_of_ties(
    method, shape
):
    (n, columns), rng = shape, np.random.default_rng(1)
    answers = 2.0 + 1.2 * rng.normal(size=(4, columns))[np.arange(n) % 4] + rng.normal(size=shape)
    X = np.clip(np.rint(answers), 0, 4)
    labels = method(4).fit(X).labels_
    for changed in (X[:, ::-1], X[:, rng.permutation(columns)], sp.csr_array(X)):
        assert np.array_equal(method(4).fit(changed).labels_, labels)


@pytest.mark.parametrize("method", FIXED)
def test_what_is_found_for_rows_is_in_their_order(method):
    X = np.random.default_rng(0).standard_normal((60, 3)).round(3)  # no copies
    order = np.random.default_rng(1).permutation(60)
    model, moved = fitted(method, X, 3), fitted(method, X[order], 3)
    for name in ("labels_", "embedding_"):
        assert np.array_equal(getattr(moved, name, X[order]), getattr(model, name, X)[order])
    if hasattr(model, "affinity_matrix_"):
        A, B = model.affinity_matrix_.toarray(), moved.affinity_matrix_.toarray()
        assert np.array_equal(B, A[np.ix_(order, order)])
        assert np.array_equal(A > 0, A.T > 0)
    for name in ("coef_", "intercept_", "cluster_centers_"):
        assert np.array_equal(getattr(moved, name, 0), getattr(model, name, 0))
    assert np.array_equal(moved.predict(X + 0.01), model.predict(X + 0.01))


@pytest.mark.parametrize("method", [*FIXED, "features"])
def test_sparse_rows_may_come_in_any_order(method):
    order = np.random.default_rng(0).permutation(len(COPIES))
    labels = []
    for X in (COPIES, COPIES[order]):
        if method == "features":
            model = NMFClustering(3, source="features").fit(sp.csr_array(X))
        else:
            model = fitted(method, sp.csr_array(X), 3)
        labels.append(model.labels_)
    assert np.array_equal(labels[1], labels[0][order])


def test_random_starts_and_directions_see_the_same_order():
    order = np.random.default_rng(0).permutation(len(GRID))
    plain, moved = (
        RatioCut(4, n_init=1, random_state=3).fit(X).labels_ for X in (GRID, GRID[order])
    )
    assert np.array_equal(moved, plain[order])
    plain, moved = (LPP(2, n_neighbors=6).fit(X).components_ for X in (GRID, GRID[order]))
    assert np.array_equal(moved, plain)
