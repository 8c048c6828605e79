import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from dogc.numerics.matrix import norm_bound, over_rows

MAKERS = [np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_bound_is_the_largest_sum_of_sizes_in_a_row(make):
    # Row sums 6, 3 and 2; column sums 4, 4 and 3; signed row sums 2, 3 and 0.
    A = np.array([[-2.0, 1.0, 3.0], [1.0, 2.0, 0.0], [1.0, -1.0, 0.0]])
    assert norm_bound(make(A)) == 6.0
    assert norm_bound(make(np.diag([1.0, -5.0, 3.0]))) == 5.0


def bounds(rows):
    return rows.start, rows.stop


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("n", "block"), [(1, 1), (6, 3), (7, 3), (3, 7), (20, 1)])
def test_the_blocks_hold_every_row_once_and_in_order(n, block, threads):
    found = over_rows(bounds, n, threads, block)
    rows = [row for start, stop in found for row in range(start, stop)]
    assert rows == list(range(n))
    assert all(stop - start == block for start, stop in found[:-1])


def test_results_stand_in_the_order_of_the_rows_and_not_of_the_clock():
    def slow_first(rows):
        time.sleep(0.02 * (rows.start == 0))
        return rows.start

    assert over_rows(slow_first, 4, threads=4, block=1) == [0, 1, 2, 3]


@pytest.mark.parametrize(("n", "threads"), [(6, 1), (2, 4)])
def test_one_thread_or_one_block_stays_where_it_is(n, threads):
    where = over_rows(lambda rows: threading.get_ident(), n, threads, block=2)
    assert set(where) == {threading.get_ident()}
