"""Estimators and torch: where rows are worked on, and results that follow X."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _checks
from ..fitting.distinct import check_sample_weight
from ..fitting.representatives import Representatives
from ..fitting.whereabouts import is_tensor
from ._validating import validate_rows

# What a fit leaves for each row.
ROW_ATTRIBUTES = ("labels_", "confidence_", "outlier_scores_", "outliers_")


def torch_device(estimator: Any, X: Any) -> Any:
    """The device of torch that is to do the work; None: NumPy does it."""
    device = _checks.check_device(getattr(estimator, "device", "auto"))
    if device.startswith("cuda"):
        try:
            import torch  # noqa: F401
        except ImportError:
            raise ValueError(
                f'device={device!r} needs torch; pip install "dogc[gpu]", or use device="auto".'
            ) from None
    if not is_tensor(X) and not device.startswith("cuda"):
        return None
    from ..fitting.torch_rows import device_for

    where = device_for(device, X)
    if where is not None and sp.issparse(X):
        raise ValueError(
            f"device={device!r} works on dense rows; pass X.toarray(), or use device='cpu'."
        )
    return where


def torch_rows(estimator: Any, X: Any, sample_weight: Any, device: Any, reset: bool) -> Any:
    """Rows that are worked on by torch."""
    from ..fitting.torch_rows import TorchRows, checked_tensor, within_range

    if is_tensor(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        X = within_range(checked_tensor(X), some=reset)
        if reset:
            _checks.check_enough_rows(len(X))
    else:
        X = validate_rows(estimator, X, reset)
    weight = check_sample_weight(on_host(sample_weight), len(X))
    return TorchRows(X, weight, device, getattr(estimator, "metric", None) == "cosine")


def on_host(X: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    return X.detach().cpu().numpy() if is_tensor(X) else X


def rows_on_host(X: Any) -> Any:
    """Rows of a tensor as an array, checked; anything else as it is."""
    if not is_tensor(X):
        return X
    from ..fitting.torch_rows import checked_tensor

    return on_host(checked_tensor(X))


def in_memory(found: Any) -> np.ndarray:
    """An array, a tensor or what Dask holds as an array."""
    return np.asarray(on_host(found))


def follow(estimator: Any, X: Any) -> None:
    """Let what was found for each row be of the kind of X, where X is."""
    for name in ROW_ATTRIBUTES:
        if hasattr(estimator, name):
            setattr(estimator, name, like(getattr(estimator, name), X))


def like(found: Any, X: Any) -> Any:
    """An array or tensor of the kind of X, where X is."""
    if not is_tensor(X):
        return on_host(found)
    import torch

    return torch.as_tensor(found, device=X.device)


def on_tensor(estimator: Any, method: Any, X: Any, device: Any) -> Any:
    """What a method makes of each row: by torch, where that knows how, else by NumPy."""
    check_is_fitted(estimator, "labels_")
    make = None if device is None else by_torch(estimator, method.__name__)
    if make is None:
        return like(method(estimator, rows_on_host(X)), X)
    return like(make(torch_rows(estimator, X, None, device, reset=False)), X)


def by_torch(estimator: Any, name: str) -> Callable[[Any], Any] | None:
    """What makes of rows on a device what a method makes of rows in memory; None: nothing."""
    from ..fitting import torch_rows as torch_

    fitted = getattr(estimator, "_fitted_rows", getattr(estimator, "_voters", None))
    linear = hasattr(estimator, "coef_")
    marks = getattr(estimator, "outlier_label", None) is not None
    # Rows without a direction are outliers that no score tells.
    scored = isinstance(fitted, Representatives) and getattr(estimator, "metric", "") != "cosine"
    if name == "transform":
        W = estimator.components_
        return torch_.as_compared if W is None else (lambda rows: torch_.products(rows, W))
    if name == "decision_function" or (name == "predict" and linear and not marks):
        coef, intercept = estimator.coef_, estimator.intercept_
        last = (lambda z: z) if name == "decision_function" else (lambda z: z.argmax(dim=1))
        return lambda rows: torch_.products(rows, coef, intercept, last)
    if linear or not isinstance(fitted, Representatives):
        return None
    if name == "predict" and not marks:
        return lambda rows: torch_.of_new_rows(rows, fitted, torch_.torch_labels.labels)
    if name == "predict_membership" and scored:
        return lambda rows: torch_.of_new_rows(rows, fitted, torch_.discounted)
    if name == "score_outliers" and scored:
        return lambda rows: torch_.of_new_rows(rows, fitted, torch_.torch_labels.outlier_scores)
    return None
