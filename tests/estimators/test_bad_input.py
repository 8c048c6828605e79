import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsTransformer

from conftest import CLUSTERERS, FAMILIES, made, refused
from dogc import CAN, CLGR, DOGC, DOGCOS
from dogc.fitting.auto import task

X = np.random.default_rng(0).standard_normal((30, 3))
each = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda e: e.__name__)
each_family = pytest.mark.parametrize("cls", FAMILIES, ids=lambda e: e.__name__)


def message_of(estimator, rows=X):
    with pytest.raises(ValueError) as raised:
        estimator.fit(rows)
    text = str(raised.value)
    assert "\n" not in text
    return text


def having(classes, cases):
    """Each case with each class that has the parameters of the case."""
    return pytest.mark.parametrize(
        ("cls", "parameters", "says"),
        [
            pytest.param(cls, parameters, says, id=f"{cls.__name__}-{parameters}")
            for cls in classes
            for parameters, says in cases
            if set(parameters) <= set(cls().get_params())
        ],
    )


@having(
    CLUSTERERS,
    [
        ({"n_clusters": 31}, "n_clusters=31 is too large.*at most 30"),
        ({"n_clusters": 0}, "n_clusters must be ('auto' or )?an integer of at least 1"),
        ({"n_clusters": 2.5}, "n_clusters must be ('auto' or )?an integer"),
        ({"n_clusters": True}, "n_clusters must be ('auto' or )?an integer"),
        ({"n_neighbors": 30}, "n_neighbors=30 is too large.*at most 29"),
        ({"n_neighbors": 0}, "n_neighbors must be .*an integer of at least 1"),
        ({"xi": "median"}, "xi must be one of 'row', 'mean'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1e-3}, "tol must be a finite number of at least 0"),
        ({"callback": "print"}, "callback must be None or a function"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ({"lam": "big"}, "lam must be ('auto' or )?a finite number"),
        ({"metric": "hamming"}, "metric must be one of 'euclidean', 'cosine', 'manhattan'"),
    ],
)
def test_common_parameters(cls, parameters, says):
    assert re.search(says, message_of(cls(**{"n_clusters": 2, **parameters})))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"p": 0.0}, "p must be a finite number above 0; got 0.0"),
        ({"p": 5e-324}, "p=.* is too small; choose at least 1e-06"),
        ({"p": 2.1}, "p=2.1 is too large; choose at most 2"),
        ({"p": "two"}, "p must be a finite number"),
        ({"alpha": 10**400}, "alpha=1000.* is too large"),
        ({"alpha": -1.0}, "alpha must be a finite number of at least 0"),
        ({"beta": -1.0}, "beta must be a finite number of at least 0"),
        ({"gamma": np.nan}, "gamma must be a finite number of at least 0"),
        ({"n_components": 4}, "n_components=4 is too large: X has only 3 features"),
        ({"n_components": 0}, "n_components must be 'auto', None or an integer of at least 1"),
        ({"n_components": "all"}, "n_components must be 'auto', None or an integer"),
        ({"penalties": "absolute"}, "penalties must be one of 'relative', 'paper'"),
        ({"n_init": 0}, "n_init must be an integer of at least 1"),
        ({"init": "kmeans"}, "init must be one of 'auto', 'spectral', 'modularity', 'random'"),
        ({"init": np.zeros(29)}, "init must be .* one label for each of the 30 rows"),
        ({"init": np.zeros(30)}, "init has 1 distinct labels but n_clusters=2"),
        ({"fit_intercept": "maybe"}, "fit_intercept must be True or False"),
        ({"metric": "precomputed"}, "X must be a sparse graph"),
    ],
)
def test_parameters_of_the_full_method(parameters, says):
    assert re.search(says, message_of(DOGCOS(2, **parameters)))


@pytest.mark.parametrize("cls", [DOGC, DOGCOS])
def test_copies_of_a_row_confirm_its_label(cls):
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match="could not reach exactly n_clusters components"):
        model = cls(3).fit(rows)
    assert np.bincount(model.labels_).tolist() == [20, 20, 20]
    np.testing.assert_array_equal(model.membership_, 1.0)


@each_family
def test_rows_that_are_no_numbers_or_too_large_are_refused_in_a_fit_and_after_it(cls):
    model = cls(99)
    message_of(model)
    assert not hasattr(model, "labels_")
    with pytest.raises(NotFittedError):
        model.predict(X)
    model = cls(2).fit(np.ma.masked_array(X))  # no entry is masked
    large = r"X has the value -?\d.*e\+170 in row \d+, and squares .* beyond 1e\+150.*; rescale X"
    bad = [(np.where(X > 2, number, X), "NaN|infinity") for number in (np.nan, np.inf)]
    bad += [(np.ma.masked_array(X, mask=X > 2), "X is an array with masked entries")]
    bad += [(kind(X * 1e170), large) for kind in (np.asarray, sp.csr_array, sp.coo_matrix)]
    for rows, says in bad:
        assert re.search(says, message_of(cls(2), rows))
        refused(says, model.predict, rows)
    refused("features", model.predict, X[:, :2])
    assert "X has no number as large as 1e-150" in message_of(cls(2), X * 1e-170)
    assert "in row 7, and squares of numbers beyond 1e+35" in message_of(
        cls(2), np.where(np.arange(30)[:, None] == 7, 1e37, X).astype(np.float32)
    )


@each_family
def test_new_rows_in_other_units_get_some_label_in_silence(cls):
    model = cls(2).fit(X)
    for scale in (1e-300, 1e-140, 1e140):
        assert set(model.predict(X * scale)) <= {0, 1}
    assert set(cls(2).fit(X * 1e-140).predict(X * 1e140)) <= {0, 1}


@each
def test_fewer_distinct_rows_than_clusters_warns_and_gives_what_there_is(cls):
    rows = np.repeat(np.eye(3), 5, axis=0)
    says = r"n_clusters=4 is larger than .* distinct rows in X, 3.*smaller n_clusters"
    with pytest.warns(ConvergenceWarning, match=says):
        model = made(cls, 4, n_neighbors=6).fit(rows)
    assert len(set(model.labels_)) == 3
    with pytest.warns(ConvergenceWarning, match="distinct rows in X, 1,"):
        model = made(cls, 2, n_neighbors=4).fit(np.ones((10, 3)))
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), [0, 0])


def test_starting_labels_are_dropped_where_there_are_fewer_distinct_rows():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct rows in X, 2,"):
        model = DOGC(3, init=[0, 1, 2, 0, 1, 2, 0, 1, 2, 0], n_neighbors=3).fit(rows)
    assert set(model.labels_) == {0, 1}


def test_predict_after_an_interrupted_fit_says_not_fitted(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(task, "spectral_start", interrupt)
    model = DOGC(2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_numbers_below_the_range_count_as_zero_and_what_was_passed_stays():
    rows = np.column_stack([X, np.full(30, 1e-200)])
    before = rows.copy()
    model = DOGC(2).fit(rows)
    assert np.array_equal(rows, before)
    rows[:, 3] = 0.0
    assert np.array_equal(DOGC(2).fit_predict(rows), model.labels_)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [["a", "b"], ["c", "d"]],
            "X must hold numbers.*'a'.*; encode or drop non-numeric columns .*MixedEncoder",
        ),
        (np.zeros((4, 2, 2)), r"X must have two dimensions .*; pass X.reshape\(len\(X\), -1\)"),
        ([[1, 2], [3]], "X must hold numbers, one for each row and column"),
        (np.array([[1.0], [10**400]], dtype=object), "X must hold numbers.*too large"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"]), "X has columns of the same name"),
        (pd.DataFrame({"x": pd.Categorical(["a", "b"])}), "X must hold numbers"),
        (
            pd.Series([1.0, 2.0]),
            "Expected a 2-dimensional container but got <class 'pandas.Series'>",
        ),
        (X + 1j, "Complex data not supported: X must hold real numbers; pass X.real and X.imag"),
        (np.full((3, 2), np.nan), "Input X contains NaN; fill the gaps, for example with sklearn"),
    ],
)
def test_what_is_no_number_is_named(rows, says):
    assert re.match(says, message_of(DOGC(2), rows))


@having(
    CLUSTERERS,
    [
        ({"alpha": 1e300}, r"alpha=1e\+300 is too large; choose at most 1e\+30"),
        ({"beta": 1e300}, r"beta=1e\+300 is too large"),
        ({"lam": 1e300}, r"lam=1e\+300 is too large"),
        ({"lam": 1e-300}, r"lam=1e-300 is too small; choose at least 1e-30"),
        ({"bandwidth": 1e-300}, r"bandwidth=1e-300 is too small; choose at least 1e-150"),
        ({"ridge": 1e-300}, r"ridge=1e-300 is too small"),
        ({"n_jobs": 10**9}, "n_jobs=1000.* is too large; choose at most 10000"),
    ],
)
def test_parameters_have_bounds(cls, parameters, says):
    if cls is CLGR and parameters == {"lam": 1e-300}:
        pytest.skip("it may be zero")
    assert re.match(says, message_of(cls(2, **parameters)))


def test_a_good_run_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DOGC(2, n_neighbors=5).fit(np.vstack([X, X + 20.0]))


def neighbour_graph(k=8):
    return sp.csr_array(KNeighborsTransformer(n_neighbors=k, mode="distance").fit_transform(X))


@pytest.mark.parametrize(
    ("graph", "k", "says"),
    [
        (lambda: neighbour_graph()[:10], 5, "must be square"),
        (lambda: neighbour_graph() * -1.0, 5, "negative distances"),
        (lambda: sp.triu(neighbour_graph(29)) * 1.5 + sp.tril(neighbour_graph(29)), 5,
         r"not symmetric.*X\.maximum\(X\.T\)"),
        (neighbour_graph, 9, "n_neighbors=9 is too large: row 0 .* holds only 8"),
    ],
    ids=["shape", "sign", "symmetry", "neighbours"],
)  # fmt: skip
def test_a_precomputed_graph_that_cannot_be_is_refused(graph, k, says):
    assert re.search(says, message_of(CAN(2, n_neighbors=k, metric="precomputed"), graph()))


def test_precomputed_graph_has_nothing_to_project_or_regress():
    says = message_of(DOGC(2, metric="precomputed", n_components=2), neighbour_graph())
    assert "n_components" in says
    assert "metric='precomputed'" in message_of(DOGCOS(2, metric="precomputed"), neighbour_graph())
    model = DOGC(2, n_neighbors=5, metric="precomputed").fit(neighbour_graph())
    refused("no subspace", model.transform, neighbour_graph())


def test_precomputed_prediction_needs_a_neighbour_for_every_row():
    model = CAN(2, n_neighbors=5, metric="precomputed").fit(neighbour_graph())
    empty = sp.csr_array((2, 30))
    refused("without any distance to a fitted row", model.predict, empty)
