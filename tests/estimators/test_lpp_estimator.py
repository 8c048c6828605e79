import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import reference_baselines as dense
from dogc import LPP, RatioCut
from dogc.fitting import fixed_graph

X, _ = make_blobs(80, n_features=5, centers=3, cluster_std=2.0, random_state=0)


def graph_of(rows, k=None):
    A = dense.gaussian_graph(rows, min(15, len(rows) - 1) if k is None else k)
    return A, A.sum(axis=1), dense.laplacian(A)


def assert_solves(model, rows, A):
    """The eigen-equation on degree-centred rows, and a' X'DX a = I."""
    degree, L = A.sum(axis=1), dense.laplacian(A)
    Xc = rows - degree @ rows / degree.sum()
    a, mu = model.components_.T, model.eigenvalues_
    left, right = Xc.T @ L @ Xc @ a, Xc.T @ (degree[:, None] * Xc) @ a
    scale = np.abs(left).max() + np.abs(right).max()
    np.testing.assert_allclose(left, right * mu, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(a.T @ right, np.eye(len(mu)), atol=1e-8)


@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("k", [6, 20, 79])
def test_directions_are_those_of_the_dense_problem(m, k):
    model = LPP(m, n_neighbors=k).fit(X + 3.0)
    A, degree, L = graph_of(X, k)
    Xc = X - degree @ X / degree.sum()
    mu, a = scipy.linalg.eigh(Xc.T @ L @ Xc, Xc.T @ (degree[:, None] * Xc))
    np.testing.assert_allclose(model.eigenvalues_, mu[:m], rtol=1e-8)
    signs = np.sign((model.components_.T * a[:, :m]).sum(axis=0))
    np.testing.assert_allclose(model.components_.T, a[:, :m] * signs, atol=1e-8)
    np.testing.assert_allclose(model.mean_, degree @ X / degree.sum() + 3.0)
    assert_solves(model, X, A)


@pytest.mark.parametrize("offset", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_directions_of_rows_as_they_are(offset, kind):
    rows = X + offset
    model = LPP(5, n_neighbors=8, center=False).fit(kind(rows))
    _, degree, L = graph_of(X, 8)
    mu, a = scipy.linalg.eigh(rows.T @ L @ rows, rows.T @ (degree[:, None] * rows))
    np.testing.assert_allclose(model.eigenvalues_, mu, rtol=1e-6)
    signs = np.sign((model.components_.T * a).sum(axis=0))
    np.testing.assert_allclose(model.components_.T, a * signs, atol=1e-6)
    np.testing.assert_array_equal(model.mean_, 0.0)
    np.testing.assert_allclose(model.transform(rows), rows @ model.components_.T, atol=1e-9)


def test_rows_as_they_are_may_be_few_alike_or_of_any_scale():
    few = np.random.default_rng(0).standard_normal((10, 30))
    model = LPP(4, n_neighbors=4, center=False).fit(few)
    np.testing.assert_allclose(model.eigenvalues_[0], 0.0, atol=1e-9)  # a constant is in reach
    assert np.isfinite(LPP(2, center=False).fit_transform(np.ones((6, 2)))).all()
    Z = LPP(3, center=False).fit_transform(X)
    for factor in (1e-100, 1e100):
        np.testing.assert_allclose(LPP(3, center=False).fit_transform(factor * X), Z, atol=1e-8)


def test_a_center_that_is_no_flag_is_refused():
    with pytest.raises(ValueError, match="center must be True or False"):
        LPP(2, center="mean").fit(X)


def test_transform_maps_the_weighted_mean_to_zero():
    model = LPP(3).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, (X - model.mean_) @ model.components_.T)
    _, degree, _ = graph_of(X)
    np.testing.assert_allclose(degree @ Z, 0.0, atol=1e-9)
    np.testing.assert_array_equal(LPP(3).fit_transform(X), Z)


def test_full_kernel_and_fixed_bandwidth():
    model = LPP(2, affinity="full", bandwidth=2.0).fit(X)
    assert_solves(model, X, dense.gaussian_graph(X, len(X) - 1, 2.0))


@pytest.mark.parametrize("d", [20, 21, 200])
def test_more_features_than_rows_are_safe(d):
    rows = np.random.default_rng(0).standard_normal((20, d))
    model = LPP(6, n_neighbors=5).fit(rows)
    A, _, _ = graph_of(rows, 5)
    assert_solves(model, rows, A)
    Z = model.transform(rows)
    assert np.isfinite(Z).all()
    assert ((model.eigenvalues_ >= -1e-9) & (model.eigenvalues_ <= 2 + 1e-9)).all()
    # The directions lie in the span of the rows, so that new rows are not mapped at random.
    residual = np.linalg.lstsq(dense.centred(rows).T, model.components_.T, rcond=None)[1]
    assert residual.size == 0 or residual.max() < 1e-20


def test_more_directions_than_the_rank_are_zero_and_have_no_eigenvalue():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 6))
    model = LPP(5, n_neighbors=8).fit(rows)
    np.testing.assert_array_equal(model.components_[2:], 0.0)
    assert np.isnan(model.eigenvalues_[2:]).all()
    assert np.isfinite(model.eigenvalues_[:2]).all()
    np.testing.assert_array_equal(model.transform(rows)[:, 2:], 0.0)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_rows_give_the_directions_of_dense_rows(kind):
    rows = np.where(np.abs(X) < 1.0, 0.0, X)
    plain, model = LPP(3).fit(rows), LPP(3).fit(kind(rows))
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-8)
    np.testing.assert_allclose(model.transform(kind(rows)), plain.transform(rows), atol=1e-8)
    np.testing.assert_allclose(model.transform(rows), plain.transform(kind(rows)), atol=1e-8)


@pytest.mark.parametrize("factor", [1e-100, 1e-6, 1.0, 1e6, 1e100])
def test_offset_and_scale_of_the_rows_do_not_matter(factor):
    Z = LPP(3).fit_transform(X)
    np.testing.assert_allclose(LPP(3).fit_transform(factor * X), Z, atol=1e-8)
    np.testing.assert_allclose(LPP(3).fit_transform(factor * (X + 100.0)), Z, atol=1e-7)


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(len(X))
    Z = LPP(3).fit_transform(X)
    np.testing.assert_allclose(LPP(3).fit_transform(X[order]), Z[order], atol=1e-8)


def test_constant_columns_do_not_matter():
    wider = np.hstack([np.full((80, 1), 1e8), X, np.zeros((80, 2))])
    plain, model = LPP(3).fit(X), LPP(3).fit(wider)
    np.testing.assert_array_equal(model.components_[:, [0, 6, 7]], 0.0)
    np.testing.assert_allclose(model.components_[:, 1:6], plain.components_, atol=1e-9)


def test_copies_of_rows_and_constant_rows_are_harmless():
    assert np.isfinite(LPP(2, n_neighbors=4).fit_transform(np.repeat(X[:5], 6, axis=0))).all()
    model = LPP(2, n_neighbors=3).fit(np.ones((10, 4)))
    np.testing.assert_array_equal(model.transform(np.ones((2, 4))), np.zeros((2, 2)))


def test_two_rows_are_enough():
    np.testing.assert_allclose(LPP(1).fit(X[:2]).eigenvalues_, [2.0])


def test_float32_stays_float32():
    model = LPP(3).fit(X.astype(np.float32))
    for array in (model.components_, model.mean_, model.eigenvalues_, model.transform(X[:3])):
        assert array.dtype in (np.float32, X.dtype)
    assert model.components_.dtype == model.mean_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.eigenvalues_, LPP(3).fit(X).eigenvalues_, rtol=1e-3)


def test_names_and_output_containers():
    frame = load_iris(as_frame=True).data
    model = LPP(2).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(model.get_feature_names_out()) == ["lpp0", "lpp1"]
    assert out.index.equals(frame.index)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(out, LPP(2).fit_transform(frame.to_numpy()))


def test_pipeline_and_pickle():
    pipeline = make_pipeline(LPP(3), RatioCut(3)).fit(X)
    copy = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(copy.predict(X), pipeline.predict(X))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_components": 6}, "n_components=6 is too large: X has only 5 features"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"n_components": None}, "n_components must be an integer of at least 1"),
        ({"n_neighbors": 80}, "n_neighbors=80 is too large.*at most 79"),
        ({"affinity": "precomputed"}, "affinity must be one of 'neighbors', 'full'; got"),
        ({"bandwidth": -1.0}, "bandwidth must be 'local' or a finite number above 0"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
    ],
)
def test_parameters(parameters, says):
    model = LPP(**parameters)
    with pytest.raises(ValueError, match=says):
        model.fit(X)
    assert set(vars(model)) - set(model.get_params()) <= {"n_features_in_"}


def test_bad_rows_are_refused():
    with pytest.raises(NotFittedError):
        LPP().transform(X)
    with pytest.raises(ValueError, match="NaN"):
        LPP().fit(np.where(X[0, 0] == X, np.nan, X))
    with pytest.raises(ValueError, match="features"):
        LPP().fit(X).transform(X[:, :3])


def test_a_full_kernel_of_too_many_rows_is_refused(monkeypatch):
    monkeypatch.setattr(fixed_graph, "FULL_UP_TO", 50)
    with pytest.raises(ValueError, match="80 x 80 numbers; use affinity='neighbors' beyond 50"):
        LPP(affinity="full").fit(X)
