import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dogc.metrics import clustering_accuracy, purity

labelled = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12)


@given(labelled)
def test_accuracy_is_the_best_of_all_renamings(pairs):
    truth, found = map(np.array, zip(*pairs, strict=True))
    best = max(
        np.mean(np.array(new_name)[found] == truth) for new_name in itertools.permutations(range(5))
    )
    assert clustering_accuracy(truth, found) == pytest.approx(best)


@given(labelled)
def test_purity_counts_the_commonest_class_of_each_cluster(pairs):
    truth, found = map(np.array, zip(*pairs, strict=True))
    right = sum(np.bincount(truth[found == k]).max() for k in set(found))
    assert purity(truth, found) == pytest.approx(right / len(truth))
    assert purity(truth, found) >= clustering_accuracy(truth, found)


def test_perfect_labels_under_any_names():
    assert clustering_accuracy(["x", "y", "y"], [7, 3, 3]) == 1.0


@pytest.mark.parametrize("metric", [clustering_accuracy, purity])
@pytest.mark.parametrize("bad", [([0, 1], [0]), ([], []), ([[0]], [[0]])])
def test_bad_labels_get_one_sentence(metric, bad):
    with pytest.raises(ValueError, match="labels_true and labels_pred must be"):
        metric(*bad)
