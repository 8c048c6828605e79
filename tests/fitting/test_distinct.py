"""Rows sorted by value, and back."""

import numpy as np
import pytest
import scipy.sparse as sp

from dogc.fitting.distinct import distinct_rows, sorted_rows

RNG = np.random.default_rng(0)
TIED = RNG.integers(-1, 2, (60, 3)).astype(float)


def both_kinds(X):
    return X, sp.csr_array(X)


@pytest.mark.parametrize("place", [0, 1], ids=["dense", "sparse"])
def test_rows_are_sorted_as_lists_are(place):
    ordered = sorted_rows(both_kinds(TIED)[place])
    rows = ordered.X.toarray() if place else ordered.X
    assert rows.tolist() == sorted(TIED.tolist())
    assert np.array_equal(ordered.as_given(rows), TIED)
    assert [len(set(map(tuple, rows[ordered.group == g]))) for g in set(ordered.group)] == [1] * (
        len(np.unique(TIED, axis=0))
    )


def test_the_order_of_columns_and_their_unit_do_not_matter():
    X = RNG.normal(size=(50, 4))
    for kind in both_kinds(X):
        first = distinct_rows(kind, None, any_columns=True).first
        changed = distinct_rows(1024.0 * kind[:, [2, 0, 3, 1]], None, any_columns=True)
        assert np.array_equal(changed.first, first)


def test_a_graph_goes_back_with_its_rows():
    ordered = sorted_rows(TIED)
    distances = np.abs(ordered.X[:, None] - ordered.X[None]).sum(axis=2)
    given = np.abs(TIED[:, None] - TIED[None]).sum(axis=2)
    back = ordered.graph_as_given(sp.csr_array(distances))
    assert np.array_equal(back.toarray(), given)
    assert back.has_sorted_indices


def test_copies_take_the_label_of_most():
    X = np.array([[5.0], [1.0], [5.0], [5.0], [1.0], [2.0]])
    ordered = sorted_rows(X)
    assert ordered.X.ravel().tolist() == [1, 1, 2, 5, 5, 5]
    assert ordered.one_label_each(np.array([0, 0, 1, 1, 1, 0])).tolist() == [0, 0, 1, 1, 1, 1]
    tied = ordered.one_label_each(np.array([1, 0, 1, 1, 1, 0]))
    assert tied.tolist() == [0, 0, 1, 1, 1, 1]


def test_copies_lose_no_cluster():
    ordered = sorted_rows(np.array([[1.0], [1.0], [1.0], [2.0], [2.0]]))
    assert ordered.one_label_each(np.array([0, 0, 1, 0, 0])).tolist() in (
        [0, 0, 0, 1, 1],
        [1, 1, 1, 0, 0],
    )
