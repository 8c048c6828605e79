"""Rows that are not in this process's memory: who takes them, and methods that work on them."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_device
from ..fitting.in_memory import RowsInMemory
from ..fitting.representatives import Representatives, RowSet
from ..fitting.whereabouts import is_dask, is_tensor
from ..numerics import discrete
from ._tensors import ROW_ATTRIBUTES, in_memory, on_tensor, torch_device

Method = TypeVar("Method", bound=Callable[..., Any])


def dask_rows(estimator: Any, X: Any, sample_weight: Any) -> Any:
    """Rows of Dask's for a fit; their names and number of columns are remembered."""
    from ..fitting.dask_input import as_dask_weights
    from ..fitting.dask_rows import DaskRows

    if check_device(getattr(estimator, "device", "auto")).startswith("cuda"):
        raise ValueError(
            f"device={estimator.device!r} cannot be used with Dask input; leave it out: workers "
            "use their processors."
        )
    X = checked_dask(estimator, X, reset=True)
    weight = None if sample_weight is None else as_dask_weights(sample_weight, X)
    cosine = getattr(estimator, "metric", None) == "cosine"
    return DaskRows(X, weight, cosine, estimator.n_jobs)


def checked_dask(estimator: Any, X: Any, reset: bool) -> Any:
    """A dask array whose columns are those of the fit; its values are looked at block by block."""
    from ..fitting.dask_input import as_dask_array, is_frame

    array = as_dask_array(X)
    named = X._meta if is_frame(X) else array
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    return array


def check_where(estimator: Any, rows: RowSet) -> None:
    """Refuse what needs all rows at once, where they are not in memory."""
    if isinstance(rows, RowsInMemory):
        return
    for name in ("metric", "affinity"):
        if getattr(estimator, name, None) == "precomputed":
            raise ValueError(
                f"{name}='precomputed' needs a sparse graph in memory; pass that, or features."
            )
    if getattr(estimator, "affinity", "neighbors") != "neighbors":
        raise ValueError(
            f"affinity={estimator.affinity!r} needs all rows in memory; use affinity='neighbors'."
        )
    if is_dask(rows.X) and not isinstance(getattr(estimator, "init", ""), str):
        raise ValueError("init must be 'spectral' or 'random' with Dask input; leave labels out.")


def row_model(estimator: Any) -> Any:
    """The estimator without what it holds for each row, where representatives tell the rest."""
    model = copy.copy(estimator)
    fitted = getattr(model, "_fitted_rows", getattr(model, "_voters", None))
    if not isinstance(fitted, Representatives):  # few rows, whose labels may be needed
        model.labels_ = in_memory(model.labels_)
    for name in ROW_ATTRIBUTES[not isinstance(fitted, Representatives) :]:
        if hasattr(model, name):
            setattr(model, name, np.empty(0, dtype=np.int64))
    if hasattr(model, "callback"):
        model.callback = None
    return model


def storable(estimator: Any) -> Any:
    """The estimator as a file holds it: rows of Dask's are left out, tensors are arrays."""
    held = {name: getattr(estimator, name) for name in ROW_ATTRIBUTES if hasattr(estimator, name)}
    if any(map(is_dask, held.values())):
        return row_model(estimator)
    if not any(map(is_tensor, held.values())):
        return estimator
    model = copy.copy(estimator)
    for name, value in held.items():
        setattr(model, name, in_memory(value))
    return model


def agreement(one: Any, other: Any) -> float:
    """The adjusted Rand index of two labellings; of Dask's, from how often labels come together."""
    if not is_dask(one):
        return float(adjusted_rand_score(in_memory(one), in_memory(other)))
    from ..fitting.dask_rows import paired_counts

    pairs, count = paired_counts(one, other)
    first, second = (np.unique(labels, return_inverse=True)[1] for labels in pairs)
    return discrete.adjusted_rand(first, second, count)


def of_each_row(
    width: str | None = None, dtype: Any = np.float64, by: str | None = None
) -> Callable[[Method], Method]:
    """A method that makes something of each row, in memory or elsewhere.

    Of dask rows block by block, when asked for; of tensors by torch, and the result follows X.

    ``width`` names the attribute that says how many numbers it makes; None: one. They are of
    ``dtype``, or what X times the attribute ``by`` is.
    """

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def wrapped(self: Any, X: Any) -> Any:
            if is_dask(X):
                return over_blocks(self, method.__name__, X, width, by or dtype)
            device = torch_device(self, X)
            if device is None and not is_tensor(X):
                return method(self, X)
            return on_tensor(self, method, X, device)

        return wrapped  # type: ignore[return-value]

    return decorate


def over_blocks(estimator: Any, name: str, X: Any, width: str | None, dtype: Any) -> Any:
    """A method of a fitted estimator for each block of dask rows."""
    import dask

    check_is_fitted(estimator, "labels_")
    X = checked_dask(estimator, X, reset=False)
    model = row_model(estimator)
    vars(model).pop("feature_names_in_", None)  # blocks have none: they were compared just now
    if hasattr(model, "device"):
        model.device = "auto"  # whatever the client has
    model = dask.delayed(model, traverse=False, pure=False)
    columns: tuple[int, ...] = ()
    if isinstance(dtype, str):
        factor = getattr(estimator, dtype)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        dtype = dtype if factor is None else np.result_type(dtype, factor)
    dtype = np.dtype(dtype)
    if width is None:
        shape: dict[str, Any] = {"drop_axis": 1, "meta": np.empty(0, dtype)}
    else:
        columns = (int(getattr(estimator, width)),)
        shape = {"chunks": (X.chunks[0], columns), "meta": np.empty((0, 0), dtype)}
    return X.map_blocks(_of_block, model, name, columns, dtype, dtype=dtype, **shape)


def _of_block(block: Any, model: Any, name: str, columns: tuple[int, ...], dtype: Any) -> Any:
    if not len(block):
        return np.empty((0, *columns), dtype=dtype)
    return np.asarray(getattr(model, name)(block)).astype(dtype, copy=False)
