"""How far rows belong to their clusters."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from conftest import ESTIMATORS, made
from dogc import DOGC, DOGCOS
from dogc.estimators import _rows
from dogc.fitting import repeatable


def overlapping(n=240, seed=1):
    return make_blobs(n, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=1.1, random_state=seed)[0]


def row_weights(d, k):
    """`eq:10` for one row by its closed form: k neighbours, d ascending with the (k+1)-th."""
    xi = 0.5 * k * d[k] - 0.5 * d[:k].sum()
    return np.maximum((d[k] - d[:k]) / (2.0 * xi), 0.0)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_membership_is_the_weight_of_neighbours_in_the_own_cluster(cls):
    X, k = overlapping(), 8
    model = made(cls, 3, n_neighbors=k, n_components=None, geometry="given", xi="row")
    model.fit(X)
    distance, idx = NearestNeighbors(n_neighbors=k + 2).fit(X).kneighbors()
    for i in range(0, len(X), 17):
        weight = row_weights(distance[i, : k + 1] ** 2, k)
        expected = weight[model.labels_[idx[i, :k]] == model.labels_[i]].sum()
        assert model.membership_[i] == pytest.approx(expected, abs=1e-6)
    assert model.membership_.min() < 0.9  # some rows lie between
    assert np.median(model.membership_) > 0.99


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_fit_and_predict_have_the_same_membership_of_the_same_row(cls):
    X = overlapping()
    for n, c in ((None, 3), (40, 3)):
        model = made(cls, c, n_representatives=n).fit(X)
        shares = model.predict_membership(X)
        own = shares[np.arange(len(X)), model.labels_]
        np.testing.assert_allclose(own, model.membership_, rtol=1e-6)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        sure = model.membership_ > 0.5
        assert sure.mean() > 0.95
        assert (shares.max(axis=1) == own)[sure].all()
        np.testing.assert_allclose(model.predict_membership(np.full((1, 2), 1e9)), 1 / 3, atol=0.01)


def test_rows_in_chunks_have_the_same_membership(monkeypatch):
    X = overlapping()
    model = DOGC(3, n_neighbors=8).fit(X)
    whole = model.predict_membership(X)
    monkeypatch.setattr(repeatable, "CHUNK_ROWS", 50)
    assert np.array_equal(model.predict_membership(X), whole)


def test_copies_have_the_same_membership():
    model = DOGC(3, n_neighbors=8).fit(np.repeat(overlapping(120), 2, axis=0))
    assert np.array_equal(model.membership_[::2], model.membership_[1::2])


@pytest.mark.parametrize("cls", [DOGC, DOGCOS])
def test_top_memberships_are_the_largest_of_all(cls, monkeypatch):
    X = overlapping()
    model = cls(3).fit(X)
    shares = model.predict_membership(X)
    by_its_usual_name = model.predict_proba(X)
    assert np.array_equal(by_its_usual_name, shares)
    np.testing.assert_allclose(by_its_usual_name.sum(axis=1), 1.0)
    assert np.array_equal(by_its_usual_name.argmax(axis=1), model.predict(X))
    monkeypatch.setattr(_rows, "BLOCK_ROWS", 100)
    clusters, top = model.top_memberships(X, 2)
    assert np.array_equal(clusters[:, 0], shares.argmax(axis=1))
    np.testing.assert_allclose(top, -np.sort(-shares, axis=1)[:, :2])
    np.testing.assert_allclose(np.take_along_axis(shares, clusters, axis=1), top)
    with pytest.raises(ValueError, match="m=4 is too large: there are no more clusters"):
        model.top_memberships(X, 4)
