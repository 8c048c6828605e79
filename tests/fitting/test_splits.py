"""Splits and merges of clusters, against counts by hand."""

import numpy as np
import pytest

from dogc.fitting.auto.splits import Change, change_words, followed, shared_rows, steps_between


def test_shared_rows_are_counted_and_outliers_are_in_none():
    one, other = np.array([0, 0, 1, 1, -1, 2]), np.array([1, 1, 0, -1, 0, 1])
    expected = np.zeros((3, 2), dtype=int)
    for i, j in zip(one, other, strict=True):
        if i >= 0 and j >= 0:
            expected[i, j] += 1
    np.testing.assert_array_equal(shared_rows(one, other), expected)


@pytest.mark.parametrize("seed", range(5))
def test_names_follow_the_rows_whatever_they_were(seed):
    rng = np.random.default_rng(seed)
    tree = {c: np.minimum(np.arange(120) // 15, c - 1) for c in (2, 3, 4, 6, 8)}
    shuffled = {c: rng.permutation(c)[labels] for c, labels in tree.items()}
    found = followed(shuffled)
    for c, labels in found.items():
        assert sorted(set(labels.tolist())) == list(range(c))
        # The same groups of rows as before.
        pairs = set(zip(labels.tolist(), tree[c].tolist(), strict=True))
        assert len(pairs) == c
    assert all(step.nested == 1.0 for step in steps_between(found))
    # A cluster that stays whole keeps its name.
    np.testing.assert_array_equal(found[8][:15], np.full(15, found[2][0]))


def test_splits_and_merges_are_found_and_said():
    two = np.repeat([0, 1], [6, 4])
    three = np.array([0, 0, 0, 2, 2, 2, 2, 1, 1, 1])
    (step,) = steps_between({2: two, 3: three})
    assert step.changes == (Change("split", 0, (0, 2), (3, 3)), Change("merge", 2, (0, 1), (3, 1)))
    assert step.nested == 0.9
    assert [change_words(change) for change in step.changes] == [
        "Cluster 0 splits into 0 and 2 (3 and 3 rows).",
        "Cluster 2 takes rows of 0 and 1 (3 and 1 rows).",
    ]
    assert step.changes[0].kind == "split"


def test_one_number_has_no_steps():
    assert steps_between({3: np.array([0, 1, 2])}) == []
