"""How columns are stretched, and how that is chosen."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from conftest import refused
from dogc import DOGC, DOGCOS
from dogc.fitting import column_maps as columns
from dogc.fitting import few
from dogc.fitting.auto import geometry
from dogc.fitting.scaling import apply_scale, feature_map, scale_rows

ids = {"ids": lambda cls: cls.__name__}


def stretched(n=300, seed=0):
    """Three long, thin clusters beside each other, their columns in units of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = np.column_stack([8.0 * rng.standard_normal(n), rng.standard_normal(n) + 7.0 * y])
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    return X @ turn * [1.0, 40.0], y


# ---------------------------------------------------------------------------- numerics


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-180, 1.0, 1e150]))
def test_standard_columns_are_numpys_deviations(seed, scale):
    rng = np.random.default_rng(seed)
    X = scale * (rng.standard_normal((20, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5.0, 1.0])
    size = rng.integers(1, 4, 20)
    unit = columns.standard_columns(X, size.astype(float)).unit
    expected = scale * (X / scale).repeat(size, axis=0).std(axis=0)
    np.testing.assert_allclose(unit, expected, rtol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_rows_that_are_whitened_have_the_unit_matrix_as_scatter_within(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(3, size=60)
    Z = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4)) + 9.0 * label[:, None]
    size = rng.integers(1, 3, 60).astype(float)
    T = columns.within_columns(columns.GIVEN, Z, label, size).T
    scatter = np.zeros((4, 4))
    for j in np.unique(label):  # row by row, as it is defined
        rows, weight = Z[label == j], size[label == j]
        away = rows - np.average(rows, axis=0, weights=weight)
        scatter += sum(w * np.outer(a, a) for w, a in zip(weight, away, strict=True))
    values = np.linalg.eigvalsh(scatter / size.sum())
    whitened = T @ (scatter / size.sum()) @ T
    if values[0] >= columns.LEAST_SCATTER * values.mean():
        np.testing.assert_allclose(whitened, np.eye(4), atol=1e-8)
    assert np.linalg.eigvalsh(whitened).max() <= 1.0 + 1e-8
    np.testing.assert_allclose(T, T.T, atol=1e-9 * np.abs(T).max())


def test_a_column_that_could_be_the_clusters_is_not_whitened():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((90, 2)), rng.integers(2, size=90)])
    assert columns.has_codes(X, 2)
    assert not columns.has_codes(X, 1)
    assert not columns.has_codes(X[:, :2], 2)
    model = DOGC(2).fit(X)
    assert (model.geometry_, list(model.geometries_)) == ("given", ["given"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_are_mapped_as_the_fitted_ones(dtype):
    X = stretched(80)[0].astype(dtype)
    T = np.array([[2.0, 1.0], [1.0, 3.0]])
    mixed = columns.standard_columns(X, np.ones(80))._replace(T=T)
    scaled = scale_rows(X, mixed)
    np.testing.assert_array_equal(apply_scale(scaled, X), scaled.X)
    np.testing.assert_array_equal(apply_scale(scaled, X[3:4]), scaled.X[3:4])
    assert scaled.X.dtype == dtype
    assert np.square(scaled.X).sum() == pytest.approx(1.0, rel=1e-5)
    to = feature_map(scaled, None)
    moved = (X.astype(float) - X.astype(float).mean(axis=0)) @ to.T / scaled.scatter
    np.testing.assert_allclose(scaled.X, moved, atol=1e-5 if dtype == np.float32 else 1e-9)


# ------------------------------------------------------------------------ the choice


def test_long_clusters_are_found_in_any_units():
    X, y = stretched()
    given = DOGC(3, geometry="given").fit(X)
    model = DOGC(3).fit(X)
    assert model.geometry_ == "within"
    assert set(model.geometries_) == {"standard", "within"}
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(y, given.labels_) < 0.7
    other = DOGC(3, geometry="within").fit(X * [1e-3, 7.0] + [5.0, -1.0])
    assert adjusted_rand_score(model.labels_, other.labels_) > 0.99


@pytest.mark.parametrize(
    ("load", "floor"), [(load_iris, 0.85), (load_wine, 0.85), (load_breast_cancer, 0.7)]
)
def test_real_columns_need_no_scaling(load, floor):
    X, y = load(return_X_y=True)
    model = DOGC(y.max() + 1).fit(X)
    assert adjusted_rand_score(y, model.labels_) > floor


def test_columns_stay_as_given_where_all_scales_agree():
    X, _ = make_blobs(200, centers=3, cluster_std=0.5, random_state=0)
    model = DOGC(3).fit(X)
    assert model.geometry_ == "given"
    assert list(model.geometries_) == ["given"]
    assert model.components_ is None
    assert model.geometries_["given"].agreement is model.scales_.agreement


@pytest.mark.parametrize(
    ("scores", "taken"),
    [((0.3, 0.69), 0), ((0.3, 0.71), 1), ((0.8, 0.79), 1), ((0.8, 0.77), 0)],
)
def test_the_columns_change_where_agreement_is_evidence_and_higher(scores, taken):
    names = ("given", "standard")
    looks = [one_look(*both) for both in zip(names, scores, strict=True)]
    assert geometry.best_look(looks) is looks[taken]


def one_look(name, score):
    return SimpleNamespace(columns=SimpleNamespace(name=name), score=score)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS], **ids)
@pytest.mark.parametrize("name", ["standard", "within"])
def test_the_map_is_applied_to_new_rows(cls, name):
    X, _ = stretched()
    model = cls(3, geometry=name).fit(X)
    assert model.geometry_ == name
    assert model.components_.shape == (2, 2)
    np.testing.assert_allclose(model.transform(X[:5]), X[:5] @ model.components_.T)
    if cls is DOGC:
        assert (model.predict(X) == model.labels_).mean() > 0.98
    else:
        scores = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), scores)


def test_a_sample_decides_where_rows_are_many():
    X, y = stretched(3600)
    model = DOGC(3).fit(X)
    assert model.n_representatives_ is not None
    assert model.geometry_ == "standard"
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert np.array_equal(model.predict(X), model.labels_)
    # Representatives are rows as the user knows them.
    low, high = X.min(axis=0), X.max(axis=0)
    assert ((model.representatives_ >= low) & (model.representatives_ <= high)).all()


# ------------------------------------------------------------------- what cannot be had


def test_columns_that_cannot_be_stretched():
    X, _ = make_moons(60, noise=0.1, random_state=0)
    with pytest.raises(ValueError, match="geometry='within' needs dense features"):
        DOGC(2, geometry="within").fit(sp.csr_array(np.tile(X, 26)))
    assert DOGC(2).fit(sp.csr_array(np.tile(X, 26))).geometry_ == "given"
    refused("geometry must be one of 'auto', 'given'", DOGC(2, geometry="round").fit, X)
    few = np.column_stack([X, np.arange(60) % 2])
    refused(r"use geometry='standard'\.$", DOGC(2, geometry="within").fit, few)


@pytest.mark.parametrize(
    "parameters", [{"n_components": 1}, {"penalties": "paper"}, {"geometry": "given"}]
)
def test_auto_leaves_the_columns_where_something_else_is_measured_in_them(parameters):
    X, _ = stretched(90)
    assert DOGC(3, **parameters).fit(X).geometry_ == "given"


# ------------------------------------------------------------ belief in what is learned


def test_a_solution_that_cuts_far_less_than_its_start_is_believed(monkeypatch):
    X, y = make_moons(200, noise=0.08, random_state=2)
    parameters = {"n_neighbors": 10, "geometry": "given", "init": "spectral"}
    model = DOGC(2, **parameters).fit(X)
    monkeypatch.setattr(few, "FEWER", 0.0)  # nothing is believed
    held = DOGC(2, **parameters).fit(X)
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, held.labels_) + 0.1


@pytest.mark.parametrize("name", ["auto", "within"])
@pytest.mark.parametrize("n", [300, pytest.param(3600, marks=pytest.mark.slow)])
def test_a_column_that_varies_in_lonely_rows_only_is_constant(name, n):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 3)), np.zeros(n)])
    X[0, 3] = 1e4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        model = DOGC(3, geometry=name).fit(X)
    assert len(np.unique(model.labels_)) == 3


# ------------------------------------------------------------------------------ one unit


def alike(kind):
    rng = np.random.default_rng(0)
    if kind == "pixels":  # of which the border hardly varies
        return 16 * rng.random((200, 20)) * np.repeat([1.0, 1e-3], [16, 4])
    if kind == "counts":
        return 1e3 * rng.poisson(np.repeat([0.3, 0.4, 30], [10, 6, 4]), (200, 20))
    X = rng.normal(size=(200, 20)) * np.geomspace(1, 1e3, 20)  # embeddings
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["pixels", "counts", "embeddings"])
def test_columns_of_one_unit_stay_as_they_are(kind):
    X = alike(kind)
    assert columns.own_columns(X, np.ones(200), None, 2) is columns.GIVEN
    # A distance of its own, a shift and a unit of its own take away what made them alike.
    mixed = 1.0 + X * np.geomspace(1, 1e9, 20)
    found = columns.own_columns(mixed, np.ones(200), None, 2)
    np.testing.assert_allclose(found.unit[mixed.std(axis=0) > 0], mixed.std(axis=0))
    assert columns.own_columns(mixed, np.ones(200), "given", 2) is columns.GIVEN


@pytest.mark.parametrize("n", [300, 3600])
def test_units_of_columns_do_not_matter_where_they_differ(n):
    X, y = make_blobs(n, 4, centers=3, cluster_std=1.7, random_state=0)
    one = DOGC(3).fit(X * [1.0, 1e3, 30.0, 1e-2])
    assert one.geometry_ != "given"
    assert np.array_equal(one.labels_, DOGC(3).fit(X * [1e-3, 5.0, 400.0, 0.1]).labels_)
    assert adjusted_rand_score(y, one.labels_) > 0.9
