import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from conftest import refused
from dogc.metrics import (
    clustering_accuracy,
    clustering_report,
    match_labels,
    normalized_mutual_info,
    purity,
)

labelled = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12)


@given(labelled)
def test_accuracy_is_the_best_of_all_renamings(pairs):
    truth, found = map(np.array, zip(*pairs, strict=True))
    every = itertools.permutations(range(5))
    best = max(np.mean(np.array(names)[found] == truth) for names in every)
    assert clustering_accuracy(truth, found) == pytest.approx(best)


@given(labelled)
def test_purity_counts_the_commonest_class_of_each_cluster(pairs):
    truth, found = map(np.array, zip(*pairs, strict=True))
    right = sum(np.bincount(truth[found == k]).max() for k in set(found))
    assert purity(truth, found) == pytest.approx(right / len(truth))
    assert purity(truth, found) >= clustering_accuracy(truth, found)


@pytest.mark.parametrize("average", ["max", "min", "geometric", "arithmetic"])
@given(labelled)
def test_nmi_is_that_of_scikit_learn_with_the_same_mean(average, pairs):
    truth, found = map(np.array, zip(*pairs, strict=True))
    expected = normalized_mutual_info_score(truth, found, average_method=average)
    found = normalized_mutual_info(truth, found, average=average)
    assert found == pytest.approx(expected, abs=1e-9)


def test_nmi_divides_by_the_larger_entropy_unless_told():
    truth, found = [0, 0, 1, 1], [0, 0, 1, 2]  # entropies of 1 and 1.5 bits, 1 bit in common
    assert normalized_mutual_info(truth, found) == pytest.approx(1 / 1.5)
    printed = normalized_mutual_info(truth, found, average="geometric")  # eq:54
    assert printed == pytest.approx(1 / 1.5**0.5)


def test_an_unknown_average_gets_one_sentence():
    with pytest.raises(ValueError, match="average must be one of 'max', 'geometric'"):
        normalized_mutual_info([0, 1], [0, 1], average="mean")


def test_the_report_holds_every_measure():
    truth, found = ["a", "a", "b", "b", "b"], [0, 0, 1, 2, 2]  # of unequal entropies
    report = clustering_report(truth, found)
    assert report["nmi_max"] < report["nmi_geometric"]
    assert list(report) == ["acc", "nmi_max", "nmi_geometric", "purity", "ari"]
    assert report["acc"] == clustering_accuracy(truth, found)
    assert report["purity"] == purity(truth, found)
    assert report["nmi_max"] == normalized_mutual_info(truth, found, average="max")
    assert report["nmi_geometric"] == normalized_mutual_info(truth, found, average="geometric")
    assert report["ari"] == pytest.approx(adjusted_rand_score(truth, found))
    assert set(clustering_report(truth, truth).values()) == {1.0}


@pytest.mark.parametrize(
    ("truth", "found", "says"),
    [
        ([0, 1], [0], "labels_true and labels_pred must be"),
        ([], [], "labels_true and labels_pred must be"),
        ([[0]], [[0]], "labels_true and labels_pred must be"),
        ([0, 1, 1], [0, "b", 1], "labels_pred mixes labels that cannot be compared"),
        ([0.0, np.nan, 1.0], [0, 1, 1], "labels_true has a missing value at row 1"),
        ([0.0, None, 1.0], [0, 1, 1], "labels_true has a missing value at row 1"),
    ],
)
def test_bad_labels_get_one_sentence(truth, found, says):
    refused(says, clustering_report, np.array(truth, dtype=object), np.array(found, dtype=object))


def test_every_measure_reads_its_labels_in_the_same_way():
    for measure in (clustering_accuracy, purity, normalized_mutual_info):
        refused("labels_true and labels_pred must be", measure, [0, 1], [0])


def test_clusters_keep_their_numbers_where_most_of_their_rows_are():
    old = np.array([0, 0, 0, 1, 1, 2, -1])
    new = np.array([3, 3, 1, 0, 0, 1, -1])
    assert match_labels(new, old).tolist() == [0, 0, 2, 1, 1, 2, -1]
    refused("one entry for each row", match_labels, [0, 1], [0, 1, 2])
