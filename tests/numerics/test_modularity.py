import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from dogc.numerics import modularity
from dogc.numerics.modularity import partition

quick = settings(deadline=None, max_examples=40)


def value(A, labels, r):
    """Modularity as it is written: over clusters, weight inside less r volume^2 / total."""
    total = A.sum()
    inside = sum(A[np.ix_(labels == k, labels == k)].sum() for k in np.unique(labels))
    volumes = [A[labels == k].sum() for k in np.unique(labels)]
    return inside - r * sum(volume**2 for volume in volumes) / total


def all_partitions(n, c):
    for labels in itertools.product(range(c), repeat=n):
        if len(set(labels)) == c:
            yield np.array(labels)


@st.composite
def graphs(draw):
    """Symmetric weights, some of them zero; every node has an edge."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 40))
    A = rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0.1, 1.0)))
    A = A + A.T + 0.1 * (np.eye(n, k=1) + np.eye(n, k=-1))
    np.fill_diagonal(A, 0.0)
    return A, draw(st.integers(1, max(1, n // 3)))


def planted(sizes, inside=1.0, between=0.02, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    mean = np.where(truth[:, None] == truth, inside, between)
    A = mean * rng.uniform(0.5, 1.5, mean.shape)
    A = A + A.T
    np.fill_diagonal(A, 0.0)
    return A, truth


def in_order(A, c):
    return partition(sp.csr_array(A), c, np.arange(len(A)))


@quick
@given(graphs())
def test_there_are_exactly_as_many_clusters_as_asked_for(graph):
    A, c = graph
    labels = in_order(A, c)
    np.testing.assert_array_equal(np.unique(labels), np.arange(c))


@quick
@given(graphs(), st.integers(0, 2**32 - 1))
def test_only_the_order_in_which_nodes_are_looked_at_matters(graph, seed):
    A, c = graph
    place = np.random.default_rng(seed).permutation(len(A))
    labels = partition(sp.csr_array(A), c, place)
    moved = partition(sp.csr_array(A[np.ix_(place, place)]), c, np.arange(len(A)))
    np.testing.assert_array_equal(labels[place], moved)


@pytest.mark.parametrize("seed", range(2))
def test_no_partition_into_as_many_clusters_is_better(seed):
    """Against all partitions of a few nodes, at the r at which it was found."""
    A, _ = planted((3, 2, 3), between=0.3, seed=seed)
    seen = []

    def spy(A, r, rounds, leiden=modularity._leiden):
        seen.append(r)
        return leiden(A, r, rounds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modularity, "_leiden", spy)
        labels = in_order(A, 3)
    best = max(value(A, other, seen[-1]) for other in all_partitions(len(A), 3))
    assert value(A, labels, seen[-1]) == pytest.approx(best)


def test_components_are_merged_where_they_are_too_many():
    A = np.kron(np.eye(5), np.ones((4, 4)) - np.eye(4))
    labels = in_order(A, 3)
    component = connected_components(A)[1]
    assert len(np.unique(labels)) == 3
    for name in range(5):
        assert len(np.unique(labels[component == name])) == 1


@quick
@given(graphs())
def test_the_two_clusters_that_a_falling_r_joins_first_are_joined(graph):
    A, _ = graph
    labels = np.arange(len(A)) % 5 if len(A) >= 5 else np.arange(len(A))
    count = labels.max() + 1
    joined, r = modularity._joined(sp.csr_array(A), labels, count - 1)
    pairs = itertools.combinations(range(count), 2)
    others = [np.where(labels == j, i, labels) for i, j in pairs]
    # At that r the two gain nothing, and no other two gain anything.
    assert value(A, joined, r) == pytest.approx(value(A, labels, r))
    assert max(value(A, other, r) for other in others) <= value(A, labels, r) + 1e-9


def test_a_search_that_must_end_has_its_clusters_all_the_same():
    A, _ = planted((30, 30, 30), between=0.5)
    labels = partition(sp.csr_array(A), 2, np.arange(90), ended=lambda: True)
    assert set(labels) == {0, 1}
