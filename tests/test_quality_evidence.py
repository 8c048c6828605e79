"""Evidence for a clustering without ground truth."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from dogc import CAN, DOGC, DOGCOS, quality


def blobs(n=150, seed=0):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)[0]


def noise(n=200, d=6):
    return np.random.default_rng(0).random((n, d))


@pytest.mark.parametrize("kind", [sp.csr_array, np.ndarray.tolist])
def test_the_evidence_for_any_labels_is_that_of_a_model_in_the_same_columns(kind):
    model = DOGC(3, geometry="given").fit(blobs())
    found = quality.evidence(kind(blobs()), model.labels_.tolist())
    assert found.verdict == model.evidence_.verdict == "clear"
    assert found.stability == model.evidence_.stability
    wrong = quality.evidence(blobs(), np.arange(150) % 3)
    assert wrong.verdict == "none"


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="labels must hold one label for each of the 150 rows"):
        quality.evidence(blobs(), np.zeros(149, int))


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], ids=lambda cls: cls.__name__)
def test_the_score_of_clear_clusters_is_one(cls):
    model = cls(3).fit(blobs())
    assert model.score(blobs(90, seed=1)) == 1.0
    assert model.score(blobs(90, seed=1), np.zeros(90)) == 1.0


def test_the_score_compares_predict_with_a_new_fit():
    X, new = noise(150, 3), noise(250, 3)[150:]
    model = DOGC(4, n_neighbors=12).fit(X)
    again = DOGC(4, n_neighbors=12).fit_predict(new)
    expected = adjusted_rand_score(model.predict(new), again)
    labels = model.labels_.copy()
    assert model.score(new) == pytest.approx(expected)
    assert model.score(new) < 0.95
    assert np.array_equal(model.labels_, labels)


def test_the_score_asks_for_the_number_that_was_found():
    model = DOGC("auto").fit(blobs())
    assert model.n_clusters_ == 3
    part = blobs(150, seed=2)
    part = part[model.predict(part) > 0]
    assert DOGC("auto").fit(part).n_clusters_ == 2
    expected = adjusted_rand_score(model.predict(part), DOGC(3).fit_predict(part))
    assert model.score(part) == expected < 1.0


def test_a_grid_is_searched_without_ground_truth():
    X = blobs(180)
    search = GridSearchCV(DOGC(2), {"n_clusters": [2, 3, 5]}, cv=3, error_score="raise").fit(X)
    assert np.isfinite(search.best_score_)
    assert search.best_params_["n_clusters"] in (2, 3)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == 1.0
    assert scores[2] < 0.95
    assert len(np.unique(search.predict(X))) == search.best_params_["n_clusters"]
