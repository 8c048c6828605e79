"""What a fit is said to need is what it takes, within a factor."""

import tracemalloc

import numpy as np
import pytest

from dogc import DOGC
from dogc.rows import memory


def peak_of(function):
    tracemalloc.start()
    function()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(("n", "d", "k", "c"), [(1500, 300, 5, 2), (2500, 2, 40, 2)])
def test_the_peak_of_a_fit_is_about_what_was_said(n, d, k, c):
    X = np.random.default_rng(0).standard_normal((n, d))
    model = DOGC(c, n_neighbors=k, geometry="given", n_components=None, max_iter=2)
    peak = peak_of(lambda: model.fit(X))
    needed = memory.needed_bytes(n, d, k, c, X.itemsize)
    assert 0.95 * peak < needed < 1.2 * peak


def test_rows_columns_neighbours_and_clusters_all_count():
    least = memory.needed_bytes(1000, 10, 10, 3, 8)
    assert memory.needed_bytes(2000, 10, 10, 3, 8) == 2 * least
    assert memory.needed_bytes(1000, 20, 10, 3, 8) - least == 1000 * 10 * 8 * memory.COPIES_OF_X
    assert memory.needed_bytes(1000, 10, 20, 3, 8) > least
    assert memory.needed_bytes(1000, 10, 10, 6, 8) > least
    assert memory.needed_bytes(1000, 10, 10, 3, 4) < least
