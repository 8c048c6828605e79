"""The benchmarks' claims on the UCI sets, where the files are at hand."""

import pathlib
import sys

import numpy as np

# At the end: a benchmark there has the name of a package.
sys.path.append(str(pathlib.Path(__file__).parents[2] / "benchmarks"))
import uci
import uci_data


def test_every_set_has_the_papers_number_of_classes(shared_data):
    classes = {name: uci_data.load(name, shared_data)[1].max() + 1 for name in uci_data.NAMES}
    assert list(classes.values()) == [6, 4, 2, 8, 3, 6, 3, 2, 7, 3, 6, 3]


def test_oracle_setting_reaches_the_published_medians_on_nine_sets(shared_data):
    reached = 0
    for name in uci_data.NAMES:
        X, truth = uci_data.load(name, shared_data)
        k = max(2, round(len(X) / 10))
        scores = uci.accuracies(uci.DOGCOS, X, truth, 3, n_neighbors=k, **uci.ORACLE)
        reached += np.median(scores) >= uci.PUBLISHED[name]
    assert reached >= 9
