"""Defaults that a user gets: scale, outliers, units, counts, weights."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from conftest import ESTIMATORS, made, refused
from dogc import CAN, DOGC, DOGCOS
from dogc.loop import running

ids = {"ids": lambda e: e.__name__}


def overlapping(n=240, seed=0):
    return make_blobs(n, centers=3, cluster_std=2.0, random_state=seed)


def apart(n, c):
    """Clusters around the corners of a regular polygon."""
    angle = 2 * np.pi * np.arange(c) / c
    centers = 2.0 * c * np.column_stack([np.cos(angle), np.sin(angle)])
    return make_blobs(n, centers=centers, random_state=4)


@pytest.fixture
def moons_with_strays():
    """Two moons, and five rows far away whose nearest rows are one another."""
    X, y = make_moons(200, noise=0.06, random_state=0)
    return np.vstack([X, 9.0 + 0.01 * np.random.default_rng(0).random((5, 2))]), y


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], **ids)
def test_outliers_do_not_become_clusters(cls, moons_with_strays):
    X, y = moons_with_strays
    model = cls(2).fit(X)
    assert adjusted_rand_score(y, model.labels_[:200]) == 1.0
    assert np.bincount(model.labels_).min() >= 100
    assert model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counted = cls(3, min_cluster_size=1, n_neighbors=4, xi="row").fit(X)
    assert np.bincount(counted.labels_).min() == 5


@pytest.mark.parametrize("cls", ESTIMATORS, **ids)
def test_a_weight_is_that_many_copies(cls):
    X, _ = overlapping()
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 5, len(X))
    new = rng.normal(size=(50, 2)) * 5
    weighted = cls(3).fit(X, sample_weight=weight)
    copied = cls(3).fit(X.repeat(weight, axis=0))
    assert np.array_equal(weighted.labels_.repeat(weight), copied.labels_)
    assert np.array_equal(weighted.predict(new), copied.predict(new))
    none = weight == 0
    assert np.array_equal(weighted.labels_[none], weighted.predict(X[none]))
    doubled = cls(3).fit(np.vstack([X, X]))
    assert np.array_equal(doubled.labels_, np.tile(cls(3).fit(X).labels_, 2))


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (np.ones((60, 1)), "one number for each of the 60 rows"),
        ("heavy", "one number for each of the 60 rows"),
        (-np.ones(60), "finite numbers of at least 0"),
        (np.eye(60)[3], "zero for all rows but one at most"),
    ],
)
def test_wrong_weights_are_one_sentence(weight, says):
    refused(f"^sample_weight.*{says}", DOGC(3).fit, overlapping(60)[0], sample_weight=weight)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"n_neighbors": "few"}, "n_neighbors must be 'auto', 'wide' or an integer"),
        ({"min_cluster_size": 0}, "min_cluster_size must be 'auto' or an integer of at least 1"),
        ({"min_cluster_size": 21}, "min_cluster_size=21 is too large"),
        ({"n_clusters": "auto", "min_cluster_size": 61}, "min_cluster_size=61 is too large"),
        ({"outlier_label": 0}, "outlier_label must be None or an integer below 0"),
        ({"n_clusters": "auto", "init": [0, 1] * 30}, "n_clusters cannot be 'auto'"),
    ],
)
def test_wrong_settings_are_one_sentence(parameters, says):
    refused(says, DOGC(**{"n_clusters": 3, **parameters}).fit, overlapping(60)[0])


@pytest.mark.parametrize("cls", ESTIMATORS, **ids)
def test_the_number_of_clusters_is_proposed(cls):
    (X, y), c = apart(250, 5), 5
    model = made(cls, "auto").fit(X)
    assert model.n_clusters_ == c
    assert adjusted_rand_score(y, model.labels_) > 0.99
    best, *others = model.cluster_counts_
    assert best.n_clusters == c
    assert all(best.score >= other.score for other in others)
    assert cls(c).fit(X).cluster_counts_ == []


def test_the_choice_of_scale_can_be_read():
    X, _ = overlapping()
    model = DOGC(3).fit(X)
    choice = model.scales_
    assert model.n_neighbors_ == choice.chosen
    assert choice.agreement.shape == (len(choice.n_neighbors),) * 2
    fixed = DOGC(3, n_neighbors=model.n_neighbors_).fit(X)
    assert np.array_equal(fixed.labels_, model.labels_)
    assert fixed.scales_.n_neighbors == (model.n_neighbors_,)


def test_clusters_that_overlap_are_held_together_by_their_labels(monkeypatch):
    centers = [(i, j) for i in range(3) for j in range(3)]
    X, y = make_blobs(900, centers=np.array(centers, float), cluster_std=0.33, random_state=0)
    model = DOGC(9, n_neighbors=15).fit(X)
    assert model.converged_
    monkeypatch.setattr(running, "FIRMER", 1.0)
    loose = DOGC(9, n_neighbors=15).fit(X)
    gain = adjusted_rand_score(y, model.labels_) - adjusted_rand_score(y, loose.labels_)
    assert gain > 0.1


def test_noise_columns_are_projected_away():
    X, y = make_moons(300, noise=0.05, random_state=0)
    X = np.hstack([X, 0.2 * np.random.default_rng(0).standard_normal((300, 40))])
    found = DOGC(2).fit(X)
    assert found.components_.shape == (2, 42)
    plain = DOGC(2, n_components=None).fit(X)
    assert plain.components_ is None
    assert adjusted_rand_score(y, found.labels_) > adjusted_rand_score(y, plain.labels_) + 0.1
    new, truth = make_moons(200, noise=0.05, random_state=1)
    new = np.hstack([new, 0.2 * np.random.default_rng(1).standard_normal((200, 40))])
    assert adjusted_rand_score(truth, found.predict(new)) > 0.9


def test_the_least_size_is_counted_in_weight():
    X, _ = overlapping(60)
    weight = np.full(60, 100)
    model = DOGC(3, min_cluster_size=1500).fit(X, sample_weight=weight)
    copied = DOGC(3, min_cluster_size=1500).fit(X.repeat(weight, axis=0))
    assert np.array_equal(copied.labels_, model.labels_.repeat(weight))
    light = np.where(np.arange(60) < 30, 1, 0)
    with pytest.raises(ValueError, match=r"min_cluster_size=11 is too large.* choose at most 10"):
        DOGC(3, min_cluster_size=11).fit(X, sample_weight=light)
