"""What users pass as rows, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..numerics.matrix import Matrix
from ..rows.whereabouts import is_dask


def validate_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Matrix:
    """Rows as a C-ordered array or CSR, float32 or float64; two at least where it is a fit."""
    if is_dask(X):
        raise ValueError(
            f"{type(estimator).__name__} needs all rows in memory; pass X.compute(), or use a "
            "method that learns on representatives, such as DOGC."
        )
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",  # sums run in the same order whatever X came in
        ensure_min_samples=2 if reset else 1,
    )
