"""Refusals of nonsense by the methods that learn no graph."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from test_bad_input import X, having, message_of

from conftest import BASELINES, refused
from dogc import CLGR, CLR, SEC, DiscriminativeKMeans, NMFClustering, NormalizedCut, RatioCut
from dogc.fitting import fixed_graph

PRECOMPUTING = (RatioCut, NormalizedCut, NMFClustering, CLR)
FULL = (*PRECOMPUTING, SEC, CLGR)
each_precomputing = pytest.mark.parametrize("cls", PRECOMPUTING, ids=lambda e: e.__name__)

NONSENSE = [
    ({"affinity": "cosine"}, "affinity must be one of 'neighbors', 'full'.*got 'cosine'"),
    ({"bandwidth": 0.0}, "bandwidth must be '(local|mean)' or a finite number above 0; got 0.0"),
    ({"bandwidth": np.nan}, "bandwidth must be '(local|mean)' or a finite number above 0"),
    ({"bandwidth": "wide"}, "bandwidth must be '(local|mean)' or a finite number above 0"),
    ({"bandwidth": True}, "bandwidth must be '(local|mean)' or a finite number above 0"),
    ({"assign_labels": "best"}, "assign_labels must be one of 'kmeans', '(rotation|argmax)'"),
    ({"n_init": 0}, "n_init must be ('auto' or )?an integer of at least 1"),
    ({"n_init": 1.5}, "n_init must be ('auto' or )?an integer of at least 1"),
    ({"n_init": "ten"}, "n_init must be ('auto' or )?an integer of at least 1"),
    ({"normalize_rows": "yes"}, "normalize_rows must be True or False; got 'yes'"),
    ({"source": "rows"}, "source must be one of 'features', 'graph'"),
    ({"landmarks": "grid"}, "landmarks must be one of 'kmeans', 'random'; got 'grid'"),
    ({"norm": "l3"}, "norm must be one of 'l1', 'l2'"),
    ({"mu": 0.0}, "mu must be a finite number above 0"),
    ({"mu": "small"}, "mu must be a finite number above 0"),
    ({"ridge": 0.0}, "ridge must be a finite number above 0"),
    ({"ridge": np.inf}, "ridge must be a finite number above 0"),
    ({"kernel": "poly"}, "kernel must be one of 'linear', 'rbf'"),
    ({"n_neighbors": 2.5}, "n_neighbors must be an integer of at least 1"),
    ({"tol": np.nan}, "tol must be a finite number of at least 0"),
    ({"max_iter": 1.5}, "max_iter must be an integer of at least 1"),
    ({"n_jobs": 1.5}, "n_jobs must be None or an integer other than 0"),
    ({"random_state": "seed"}, "random_state"),
]


@having(BASELINES, NONSENSE)
def test_parameters_are_refused_and_nothing_is_fitted_or_changed(cls, parameters, says):
    model = cls(2, **parameters)
    before = model.get_params()
    assert re.search(says, message_of(model))
    assert model.get_params() == before
    assert set(vars(model)) - set(before) <= {"n_features_in_"}


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (SEC(2, gamma=-1.0), "gamma must be a finite number of at least 0; got -1.0"),
        (SEC(2, laplacian="random walk"), "laplacian must be one of 'unnormalized', 'normalized'"),
        (CLGR(2, lam=-1.0), "lam must be a finite number of at least 0; got -1.0"),
        (CLGR(2, lam="auto"), "lam must be a finite number of at least 0"),
        (DiscriminativeKMeans(2, lam=0.0), "lam must be a finite number above 0"),
        (DiscriminativeKMeans(2, kernel="rbf", gamma=-1.0), "gamma must be .* above 0; got -1.0"),
        (DiscriminativeKMeans(2, kernel="rbf", gamma=True), "gamma must be .*; got True"),
        (NMFClustering(2, source="features", affinity="precomputed"), "set source='graph'"),
        (CLR(2, callback=1), "callback must be None or a function"),
        (SEC(2, affinity="precomputed"), "affinity must be one of 'neighbors', 'full'; got"),
        (CLGR(2, affinity="precomputed"), "affinity must be one of 'neighbors', 'full'; got"),
    ],
    ids=repr,
)
def test_parameters_that_mean_something_else_elsewhere(model, says):
    assert re.search(says, message_of(model))


@pytest.mark.parametrize("cls", FULL, ids=lambda e: e.__name__)
def test_a_full_kernel_of_too_many_rows_is_refused(cls, monkeypatch):
    assert fixed_graph.FULL_UP_TO == 20_000
    monkeypatch.setattr(fixed_graph, "FULL_UP_TO", 20)
    says = message_of(cls(2, affinity="full"))
    assert re.search("affinity='full' .* 30 x 30 .* use affinity='neighbors' beyond 20", says)
    cls(2, affinity="full").fit(X[:20])


def test_negative_sparse_features_cannot_be_factored():
    wide = np.tile(X, 51)  # sparse rows of few columns are worked on dense
    says = message_of(NMFClustering(2, source="features"), sp.csr_array(wide))
    assert re.search("X is sparse and has negative entries.*X.toarray\\(\\)", says)
    NMFClustering(2, source="features").fit(sp.csr_array(np.abs(X)))


def test_factors_that_did_not_settle_say_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 before its factors settled; raise"):
        NMFClustering(3, n_init=1, random_state=0, max_iter=1).fit(X)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 before its factors settled; raise"):
        NMFClustering(3, source="features", max_iter=1).fit(X)


# ---------------------------------------------------------------- precomputed affinities


def as_dense_and_sparse(A):
    return [A, sp.csr_array(A), sp.csr_matrix(A), sp.coo_array(A)]


def changed(value, *places):
    A = np.ones((10, 10))
    for place in places:
        A[place] = value
    return A


@each_precomputing
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (np.ones((10, 9)), r"X must be square .*affinity='precomputed'; got shape \(10, 9\)"),
        (changed(-0.5, (2, 3), (3, 2)), "negative affinities"),
        (changed(0.5, (2, 3)), r"not symmetric.*0.5 \* \(X \+ X.T\)"),
    ],
    ids=["shape", "sign", "symmetry"],
)
def test_affinities_that_cannot_be_are_refused(cls, bad, says):
    for A in as_dense_and_sparse(bad):
        assert re.search(says, message_of(cls(2, affinity="precomputed"), A))


@each_precomputing
def test_affinities_of_new_rows_must_reach_a_fitted_row(cls):
    model = cls(2, affinity="precomputed").fit(np.ones((10, 10)))
    for new in as_dense_and_sparse(np.eye(3, 10) * [[1.0], [1.0], [0.0]]):
        refused("row 2 of X has no affinity to any fitted row; pass", model.predict, new)
    refused("negative affinities", model.predict, -np.ones((2, 10)))
    refused("features", model.predict, np.ones((2, 9)))
