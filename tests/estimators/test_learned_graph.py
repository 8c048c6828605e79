"""The learned graph: S itself, with directions, and the graph without."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dogc import CAN, CLR, DOGC, DOGCOS, PCAN, DOGCRelaxed

LEARNERS = (DOGC, DOGCOS, CAN, PCAN, CLR, DOGCRelaxed)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_rows_of_S_are_weights_that_sum_to_one_and_copies_lead_to_the_first(learner, dtype):
    X, _ = make_blobs(90, centers=3, cluster_std=2.0, random_state=0)
    model = learner(3).fit(np.vstack([X, X[:5]]).astype(dtype))
    S = model.similarity_matrix_
    assert S.dtype == dtype
    assert S.data.min() >= 0
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=1e-5)
    assert abs(S - S.T).max() > 1e-3  # it has directions
    if learner is not CLR:  # which takes copies for neighbours
        np.testing.assert_array_equal(S[90:].toarray(), np.eye(95)[:5])
    half = (S + S.T) / 2
    np.testing.assert_allclose(half.toarray(), model.affinity_matrix_.toarray(), atol=1e-7)
