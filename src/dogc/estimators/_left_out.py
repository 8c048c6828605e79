"""Rows that had no say in the fit: those without weight, and those that lie alone far away."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..fitting import distinct, labelling
from ..loop.state import symmetric
from ..numerics.matrix import Matrix


def label_left_out(model: Any, X: Matrix, rows: distinct.DistinctRows, lone: np.ndarray) -> None:
    """Label them as new rows; lone ones are outliers and hang on the row that is nearest."""
    left_out = np.flatnonzero(rows.inverse < 0)
    if not len(left_out):
        return
    model.labels_[left_out] = model._marked(model._labels_of(X[left_out]), X[left_out])
    model.outliers_[left_out] = model._outliers_among(X[left_out])
    if not lone.any():
        return
    fitted, far = model._fitted_rows, X[lone]
    model.outlier_scores_[lone] = model._scores_of(far)
    shares = model._discounted(labelling.new_shares(fitted, far, model.n_jobs), far)
    model.confidence_[lone] = shares.max(axis=1)
    nearest = rows.first[labelling.nearest_fitted(fitted, far, 1, model.n_jobs)[0][:, 0]]
    S = model.similarity_matrix_
    ties = np.ones(len(nearest), S.dtype), (np.flatnonzero(lone), nearest)
    tied = sp.csr_array(ties, shape=S.shape)
    model.similarity_matrix_ = (S + tied).tocsr()
    model.affinity_matrix_ = (model.affinity_matrix_ + symmetric(tied)).tocsr()
