"""Rows sorted by value, and back."""

import numpy as np
import pytest
import scipy.sparse as sp

from dogc.fitting.distinct import distinct_rows, graph_as_given, one_label_each, sorted_rows

RNG = np.random.default_rng(0)
TIED = RNG.integers(-1, 2, (60, 3)).astype(float)


def both_kinds(X):
    return X, sp.csr_array(X)


@pytest.mark.parametrize("place", [0, 1], ids=["dense", "sparse"])
def test_rows_are_sorted_as_lists_are(place):
    rows, as_given, group = sorted_rows(both_kinds(TIED)[place])
    rows = rows.toarray() if place else rows
    assert rows.tolist() == sorted(TIED.tolist())
    assert np.array_equal(rows[as_given], TIED)
    assert [len(set(map(tuple, rows[group == g]))) for g in set(group)] == [1] * (
        len(np.unique(TIED, axis=0))
    )


def test_the_order_of_columns_and_their_unit_do_not_matter():
    X = RNG.normal(size=(50, 4))
    for kind in both_kinds(X):
        first = distinct_rows(kind, None, any_columns=True).first
        changed = distinct_rows(1024.0 * kind[:, [2, 0, 3, 1]], None, any_columns=True)
        assert np.array_equal(changed.first, first)


@pytest.mark.parametrize("place", [0, 1], ids=["dense", "sparse"])
def test_columns_of_the_same_ends_are_told_apart_by_their_values(place):
    X, columns = (RNG.random((80, 6)) < 0.4).astype(float), [2, 5, 0, 3, 1, 4]
    changed = 3.7 * RNG.permutation(np.repeat(X, 2, axis=0))[:, columns] + (0.1, 0.0)[place]
    one, other = (
        distinct_rows(both_kinds(Z)[place], None, any_columns=True).X for Z in (X, changed)
    )
    if place:
        one, other = one.toarray(), other.toarray()
    assert np.array_equal(other > 1, one > 0)


def test_a_graph_goes_back_with_its_rows():
    rows, place, _ = sorted_rows(TIED)
    distances = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    given = np.abs(TIED[:, None] - TIED[None]).sum(axis=2)
    back = graph_as_given(sp.csr_array(distances), place)
    assert np.array_equal(back.toarray(), given)
    assert back.has_sorted_indices


def test_copies_take_the_label_of_most():
    X = np.array([[5.0], [1.0], [5.0], [5.0], [1.0], [2.0]])
    rows, _, group = sorted_rows(X)
    assert rows.ravel().tolist() == [1, 1, 2, 5, 5, 5]
    assert one_label_each(np.array([0, 0, 1, 1, 1, 0]), group).tolist() == [0, 0, 1, 1, 1, 1]
    tied = one_label_each(np.array([1, 0, 1, 1, 1, 0]), group)
    assert tied.tolist() == [0, 0, 1, 1, 1, 1]


def test_copies_lose_no_cluster():
    _, _, group = sorted_rows(np.array([[1.0], [1.0], [1.0], [2.0], [2.0]]))
    assert one_label_each(np.array([0, 0, 1, 0, 0]), group).tolist() in (
        [0, 0, 0, 1, 1],
        [1, 1, 1, 0, 0],
    )
