import numpy as np
import pytest
import scipy.sparse as sp

from dogc.numerics.matrix import norm_bound

MAKERS = [np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array]
by_kind = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@by_kind
def test_the_bound_is_the_largest_sum_of_sizes_in_a_row(make):
    # Row sums 6, 3 and 2; column sums 4, 4 and 3; signed row sums 2, 3 and 0.
    A = np.array([[-2.0, 1.0, 3.0], [1.0, 2.0, 0.0], [1.0, -1.0, 0.0]])
    assert norm_bound(make(A)) == 6.0


@by_kind
def test_the_bound_is_reached_by_a_diagonal_and_leaves_the_matrix_alone(make):
    A = make(np.diag([1.0, -5.0, 3.0]))
    assert norm_bound(A) == 5.0
    kept = A.toarray() if sp.issparse(A) else A
    assert np.array_equal(kept, np.diag([1.0, -5.0, 3.0]))
