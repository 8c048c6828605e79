"""Scores that the method must reach, on data that ships with scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.preprocessing import scale

from dogc import DOGC, DOGCOS
from dogc.metrics import clustering_accuracy as accuracy


@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda e: e.__name__)
def test_wine_from_every_random_start(cls):
    X, truth = load_wine(return_X_y=True)
    X = scale(X)
    scores = [
        accuracy(truth, cls(3, n_neighbors=17, init="random", random_state=s).fit(X).labels_)
        for s in range(20)
    ]
    assert min(scores) >= 0.95


@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda e: e.__name__)
def test_two_moons_from_every_random_start(cls):
    X, truth = make_moons(200, noise=0.08, random_state=0)
    for seed in range(20):
        labels = cls(2, init="random", random_state=seed).fit(X).labels_
        assert accuracy(truth, labels) == 1.0


def test_regression_labels_the_other_half_of_wine():
    X, truth = load_wine(return_X_y=True)
    X = scale(X)
    half = np.random.default_rng(0).permutation(len(X))
    fitted, new = half[::2], half[1::2]
    model = DOGCOS(3).fit(X[fitted])
    assert accuracy(truth[new], model.predict(X[new])) >= 0.9
