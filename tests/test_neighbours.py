"""Neighbour search: exact, in cells, by others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from dogc import DOGC
from dogc.estimators import _cells, _neighbours


def rows(n=3000, d=8, seed=0):
    return make_blobs(n, n_features=d, centers=5, cluster_std=2.0, random_state=seed)[0]


def true_neighbours(X, k):
    return NearestNeighbors(algorithm="brute").fit(X).kneighbors(X, k + 1)[1][:, 1:]


@pytest.fixture
def small_cells(monkeypatch):
    monkeypatch.setattr(_cells, "CELL_ROWS", 50)
    monkeypatch.setattr(_cells, "CANDIDATES", 400)
    monkeypatch.setattr(_cells, "SHARE", 1.0)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "cells"])
def test_every_search_finds_the_neighbours(algorithm, small_cells):
    X = rows()
    index = _neighbours.fit_index(X, algorithm, 11)
    idx = _neighbours.neighbours_among(index, X, 10, None)
    assert idx.shape == (3000, 10)
    assert not (idx == np.arange(3000)[:, None]).any()
    share = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(idx, true_neighbours(X, 10),
                                                                    strict=True)])  # fmt: skip
    measured = _neighbours.recall(index, X, idx)
    if algorithm == "cells":
        assert share > 0.9
        assert abs(measured - share) < 0.05
    else:
        assert share == measured == 1.0


def test_cells_hold_every_row_once(small_cells):
    X = rows()
    index = _cells.build_cells(X, 10)
    members = np.concatenate([index.members(cell) for cell in range(len(index.near))])
    assert np.array_equal(np.sort(members), np.arange(3000))
    sizes = np.diff(index.first)
    assert sizes.min() >= 1
    assert sizes.max() <= 50
    assert np.array_equal(index.near[:, 0], np.arange(len(sizes)))


def test_every_row_is_searched_from_the_cell_it_is_nearest_to(small_cells):
    X = rows()
    index = _cells.build_cells(X, 10)
    apart = ((X[:, None] - index.centre) ** 2).sum(axis=2)
    nearest = np.empty(3000, dtype=int)
    for cell, found in _cells.cells_of(index, X):
        nearest[found] = cell
    assert (nearest == apart.argmin(axis=1)).mean() > 0.95


def test_cells_do_not_straddle_a_gap(small_cells):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (700, 3)), rng.normal(30, 1, (300, 3))])
    index = _cells.build_cells(X, 10)
    for cell in range(len(index.near)):
        assert len(np.unique(index.members(cell) < 700)) == 1


@pytest.mark.parametrize("X", [np.zeros((400, 2)), np.repeat(np.arange(4.0), 100)[:, None]])
def test_rows_that_cannot_be_told_apart_make_cells_too(X, small_cells):
    index = _neighbours.fit_index(X, "cells", 6)
    idx = _neighbours.neighbours_among(index, X, 5, None)
    assert np.array_equal(X[idx], np.repeat(X[:, None], 5, axis=1))


def test_cells_search_sparse_rows(small_cells):
    X = np.maximum(rows(600), 0.0)
    dense = _neighbours.fit_index(X, "cells", 8)
    thin = _neighbours.fit_index(sp.csr_array(X), "cells", 8)
    assert _neighbours.recall(thin, sp.csr_array(X), _neighbours.neighbours_among(
        thin, sp.csr_array(X), 7, None)) > 0.8  # fmt: skip
    assert len(thin.search.near) == pytest.approx(len(dense.search.near), rel=0.5)


def test_the_number_of_threads_changes_nothing(small_cells):
    X = rows()
    index = _neighbours.fit_index(X, "cells", 11)
    one, two = (_neighbours.neighbours_among(index, X, 10, jobs) for jobs in (1, 2))
    assert np.array_equal(one, two)
    new = rows(500, seed=1)
    one, two = (_neighbours.query(index, new, 10, jobs) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_a_new_row_is_searched_as_if_it_came_alone(small_cells):
    index = _neighbours.fit_index(rows(), "cells", 11)
    new = rows(60, seed=1) * 1.5
    together = _neighbours.query(index, new, 10, None)
    alone = np.vstack([_neighbours.query(index, new[[i]], 10, None) for i in range(60)])
    assert np.array_equal(np.sort(together), np.sort(alone))


def test_rows_in_sparse_regions_are_searched_wider(small_cells, monkeypatch):
    X = rows()
    index = _neighbours.fit_index(X, "cells", 11)
    monkeypatch.setattr(_neighbours, "SPARSE_SHARE", 0.0)
    narrow = _neighbours.neighbours_among(index, X, 10, None)
    monkeypatch.setattr(_neighbours, "SPARSE_SHARE", 1.0)
    wide = _neighbours.neighbours_among(index, X, 10, None)
    true = true_neighbours(X, 10)
    found = [np.mean([len(np.intersect1d(a, b)) for a, b in zip(idx, true, strict=True)])
             for idx in (narrow, wide)]  # fmt: skip
    assert found[0] < found[1]


def test_progress_is_reported_to_the_end(small_cells):
    X, seen = rows(), []
    for algorithm in ("brute", "cells"):
        index = _neighbours.fit_index(X, algorithm, 11)
        _neighbours.neighbours_among(index, X, 10, 1, lambda *at: seen.append(at))
        assert seen[-1][0] == seen[-1][1]


def test_auto_goes_by_rows_and_dimensions(monkeypatch):
    monkeypatch.setattr(_neighbours, "FEW_ROWS", 1000)
    assert _neighbours.fit_index(rows(1000)).kind == "exact"
    assert _neighbours.fit_index(rows(1001)).kind == "cells"
    assert _neighbours.fit_index(rows(1001, d=6)).kind == "exact"


@pytest.mark.parametrize("algorithm", ["cells", "brute", KNeighborsTransformer(mode="distance")])
def test_clusters_and_new_rows_by_every_search(algorithm, small_cells):
    X, _ = make_blobs(1500, n_features=8, centers=4, random_state=0)
    model = DOGC(4, n_neighbors=10, neighbors_algorithm=algorithm).fit(X[:1000])
    plain = DOGC(4, n_neighbors=10).fit(X[:1000])
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert model.neighbors_recall_ == (1.0 if algorithm == "brute" else pytest.approx(1.0, abs=0.1))


def test_pynndescent_is_one_of_them():
    pytest.importorskip("pynndescent")
    X, _ = make_blobs(1500, n_features=8, centers=4, random_state=0)
    fits = [DOGC(4, n_neighbors=10, neighbors_algorithm="pynndescent", n_jobs=jobs).fit(X)
            for jobs in (1, 2)]  # fmt: skip
    assert np.array_equal(fits[0].labels_, DOGC(4, n_neighbors=10).fit(X).labels_)
    assert np.array_equal(fits[0].affinity_matrix_.data, fits[1].affinity_matrix_.data)
    assert fits[0].neighbors_recall_ > 0.9
    assert np.array_equal(fits[0].predict(X[:50]), fits[0].labels_[:50])


def test_without_pynndescent_the_remedy_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ValueError, match="pip install 'dogc\\[ann\\]', or use 'cells'"):
        DOGC(3, neighbors_algorithm="pynndescent").fit(rows(100))


def test_a_search_that_finds_too_few_is_told_so():
    class Stingy(KNeighborsTransformer):
        def get_params(self, deep=True):
            return {}

    with pytest.raises(ValueError, match="neighbors_algorithm found only 6 neighbours"):
        DOGC(3, n_neighbors=10, neighbors_algorithm=Stingy(mode="distance", n_neighbors=3)).fit(
            rows(100)
        )


@pytest.mark.parametrize("algorithm", ["hnsw", None, 3, KNeighborsTransformer, NearestNeighbors()])
def test_bad_algorithm(algorithm):
    with pytest.raises(ValueError, match="neighbors_algorithm must be"):
        DOGC(3, neighbors_algorithm=algorithm).fit(rows(100))


def test_low_recall_is_said():
    from dogc.estimators._base import warn_of_recall

    with pytest.warns(UserWarning, match="found 45% of the true neighbours.*'brute'"):
        warn_of_recall(0.45)
    for fine in (None, 0.6, 1.0):
        warn_of_recall(fine)
