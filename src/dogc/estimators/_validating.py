"""What users pass as rows, checked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from .._checks import check_numbers
from ..fitting.scaling import is_dask, within_range
from ..numerics.matrix import Matrix


def check_rows(X: Any) -> Matrix:
    """Rows as an array or CSR, float32 or float64, for functions that are no estimators."""
    check_numbers("X", X)
    with _refused_in_a_sentence():
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    return within_range(X)


def validate_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Matrix:
    """Rows as a C-ordered array or CSR, float32 or float64; two at least where it is a fit."""
    if is_dask(X):
        raise ValueError(
            f"{type(estimator).__name__} needs all rows in memory; pass X.compute(), or use a "
            "method that learns on representatives, such as DOGC."
        )
    check_numbers("X", X)
    with _refused_in_a_sentence():
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",  # sums run in the same order whatever X came in
            ensure_min_samples=2 if reset else 1,
        )
    return within_range(X, some=reset)


@contextlib.contextmanager
def _refused_in_a_sentence() -> Iterator[None]:
    """Scikit-learn judges; of gaps it says a page, with classifiers that allow for them."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers are refused there
            yield
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError(
            "Input X contains NaN; fill the gaps, for example with sklearn.impute.SimpleImputer, "
            "or drop their rows."
        ) from None
