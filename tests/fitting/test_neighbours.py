"""Neighbour search: exact, or by others."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from dogc import DOGC
from dogc.fitting import neighbours


def rows(n=3000, d=8, seed=0):
    return make_blobs(n, n_features=d, centers=5, cluster_std=2.0, random_state=seed)[0]


def true_neighbours(X, k):
    return NearestNeighbors(algorithm="brute").fit(X).kneighbors(X, k + 1)[1][:, 1:]


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree"])
def test_every_search_finds_the_neighbours(algorithm):
    X = rows()
    index = neighbours.fit_index(X, algorithm, 11)
    idx, _ = neighbours.neighbours_among(index, X, 10, None)
    assert idx.shape == (3000, 10)
    assert not (idx == np.arange(3000)[:, None]).any()
    share = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(idx, true_neighbours(X, 10),
                                                                    strict=True)])  # fmt: skip
    assert share == neighbours.recall(index, X, idx) == 1.0


def test_the_recall_of_an_approximate_search_is_measured():
    class Sloppy(KNeighborsTransformer):
        """Finds every second neighbour."""

        def transform(self, X):
            D = super().transform(X).tolil()
            for row in range(D.shape[0]):
                columns = np.array(D.rows[row])
                order = columns[np.argsort(D.data[row])]
                D[row, order[1::2]] = 0
            return D.tocsr()

    X = rows(600)
    sloppy = Sloppy(mode="distance", n_neighbors=40).fit(X)
    index = neighbours.Index("transformer", sloppy, 600)
    idx, _ = neighbours.neighbours_among(index, X, 10, None)
    share = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(idx, true_neighbours(X, 10),
                                                                    strict=True)])  # fmt: skip
    assert 0.4 < share < 0.7
    assert abs(neighbours.recall(index, X, idx) - share) < 0.05


@pytest.mark.parametrize("algorithm", ["brute", KNeighborsTransformer(mode="distance")])
def test_clusters_and_new_rows_by_every_search(algorithm):
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


def test_a_search_that_finds_too_few_is_told_so():
    class Stingy(KNeighborsTransformer):
        def get_params(self, deep=True):
            return {}

    with pytest.raises(ValueError, match="neighbors_algorithm found only 6 neighbours"):
        DOGC(3, n_neighbors=10, neighbors_algorithm=Stingy(mode="distance", n_neighbors=3)).fit(
            rows(100)
        )


@pytest.mark.parametrize(
    "algorithm", ["hnsw", "cells", None, 3, KNeighborsTransformer, NearestNeighbors()]
)
def test_bad_algorithm(algorithm):
    with pytest.raises(ValueError, match="neighbors_algorithm must be"):
        DOGC(3, neighbors_algorithm=algorithm).fit(rows(100))
