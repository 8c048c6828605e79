"""Rows far from everything have no say in what is learned."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from dogc import CAN, DOGC, DOGCOS
from dogc.fitting import distinct, outlier_scores
from dogc.numerics import outliers

IRIS = load_iris().data
WINE = scale(load_wine().data)


def beside(X, k, together, away=100.0):
    """The rows, and k far ones."""
    drawn = np.random.default_rng(k).standard_normal((k, X.shape[1]))
    return np.vstack([X, away + drawn if together else away * drawn])


@pytest.mark.parametrize("X", [IRIS, WINE], ids=["iris", "wine"])
@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda cls: cls.__name__)
def test_a_few_of_them_move_no_other_row(cls, X):
    plain = cls(3).fit(X)
    for k, together in ((1, True), (2, False), (4, True), (4, False)):
        model = cls(3).fit(beside(X, k, together))
        assert np.array_equal(model.labels_[: len(X)], plain.labels_)
        assert model.outliers_[len(X) :].all()
        assert (model.outlier_scores_[len(X) :] > outliers.FAR).all()
        assert (model.membership_[len(X) :] < 0.5).all()


def test_without_this_they_would(monkeypatch):
    X = beside(IRIS, 4, True)
    monkeypatch.setattr(outliers, "FAR", np.inf)
    assert adjusted_rand_score(DOGC(3).fit_predict(X)[:150], DOGC(3).fit_predict(IRIS)) < 0.9


def test_they_hang_on_the_learned_graph():
    model = DOGC(3).fit(beside(IRIS, 3, False))
    count, member = connected_components(model.affinity_matrix_, directed=False)
    assert count == 3
    assert all(len(np.unique(member[model.labels_ == label])) == 1 for label in range(3))


def test_a_far_group_that_is_large_enough_is_a_cluster():
    X = beside(IRIS, 15, True)
    assert np.array_equal(np.unique(DOGC(3).fit_predict(X)[150:]), [2])
    assert DOGC("auto").fit(X).labels_[150:].std() == 0.0


@pytest.mark.parametrize("given", [{"min_cluster_size": 1}, {"penalties": "paper"}], ids=str)
def test_who_counts_as_the_paper_does_has_every_row_count(given):
    X = beside(IRIS, 1, True)
    model = DOGC(3, n_neighbors=10, **given).fit(X)
    assert model._fitted_rows.labels.size == len(np.unique(X, axis=0))
    assert DOGC(3).fit(X)._fitted_rows.labels.size == len(np.unique(IRIS, axis=0))


def test_weights_and_labels_to_start_from_go_with_the_rows():
    X = beside(IRIS, 2, True)
    weight = np.arange(152) % 5 > 0
    start = np.arange(152) % 3
    model = DOGC(3, init=start, outlier_label=-1).fit(X, sample_weight=weight)
    assert set(model.labels_[:150]) == {0, 1, 2}
    assert (model.labels_[150:] == -1).all()


@pytest.mark.parametrize("cls", [DOGC, CAN], ids=lambda cls: cls.__name__)
def test_copies_of_a_few_values_are_not_far(cls):
    rng = np.random.default_rng(0)
    X = np.rint(2.0 * rng.standard_normal((600, 2)))
    assert not cls(3).fit(X).outliers_.any()
    rows = distinct.distinct_rows(np.arange(3.0)[:, None], np.array([0.1, 0.3, 0.8]))
    np.testing.assert_allclose(outlier_scores.whole_rows(rows), [1.0, 1.0, 2.0])  # the mean is 0.4


def test_clusters_that_change_with_the_number_of_neighbours_are_said():
    X = np.random.default_rng(0).random((300, 10))
    with pytest.warns(UserWarning, match=r"change with the number of neighbours \(best score 0"):
        DOGC(6, geometry="given").fit(X)
