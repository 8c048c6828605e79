"""Rows as users pass them, checked: arrays, dask collections and tensors; results of their kind."""

from __future__ import annotations

import contextlib
import copy
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .._checks import check_device, check_unmasked
from .._extras import needed
from ..fitting.distinct import check_sample_weight
from ..fitting.in_memory import RowsInMemory
from ..fitting.repeatable import single_blas_thread
from ..fitting.representatives import Representatives, RowSet
from ..fitting.scaling import LARGEST, is_dask, is_tensor, unit_rows, within_range
from ..numerics.matrix import Matrix

# What a fit leaves for each row.
ROW_ATTRIBUTES = ("labels_", "membership_", "outlier_scores_", "outliers_")
# Where device="cuda" is; tests without a GPU set it to "cpu".
CUDA = "cuda"
Method = TypeVar("Method", bound=Callable[..., Any])
# How errors begin that have a sentence of their own here.
REFUSALS = {
    r"Input \w+ contains NaN": "Input {name} contains NaN; fill the gaps, for example with "
    "sklearn.impute.SimpleImputer, or drop their rows.",
    "Complex data": "Complex data not supported: {name} must hold real numbers; pass {name}.real "
    "and {name}.imag as columns.",
    r"could not convert|setting an array|float\(\) argument|int too large": "{name} must hold "
    "numbers, one for each row and column ({reason}); encode or drop non-numeric columns (see "
    "dogc.MixedEncoder), and make vectors of texts (for example with TfidfVectorizer).",
    r"Found array with dim [3-9]": "{name} must have two dimensions ({reason}); pass "
    "{name}.reshape(len({name}), -1), one row for each sample.",
}


def rows_elsewhere(estimator: Any, X: Any, sample_weight: Any) -> RowSet | None:
    """Rows for a fit that Dask or torch works on; None: NumPy does."""
    if is_dask(X) and hasattr(estimator, "n_representatives"):
        return dask_rows(estimator, X, sample_weight)
    device = torch_device(estimator, X)
    return None if device is None else torch_rows(estimator, X, sample_weight, device, reset=True)


def dask_rows(estimator: Any, X: Any, sample_weight: Any) -> RowSet:
    """Rows of Dask's for a fit; their names and number of columns are remembered."""
    from ..fitting.dask_rows import DaskRows, as_dask_weights

    if check_device(getattr(estimator, "device", "auto")).startswith("cuda"):
        raise ValueError(
            f"device={estimator.device!r} cannot be used with Dask input; leave it out: workers "
            "use their processors."
        )
    X = checked_dask(estimator, X, reset=True)
    weight = None if sample_weight is None else as_dask_weights(sample_weight, X)
    return DaskRows(X, weight, getattr(estimator, "metric", None) == "cosine", estimator.n_jobs)


def checked_dask(estimator: Any, X: Any, reset: bool) -> Any:
    """A dask array whose columns are those of the fit; its values are looked at block by block."""
    from ..fitting.dask_rows import as_dask_array, is_frame

    array = as_dask_array(X)
    named = X._meta if is_frame(X) else array
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    return array


def torch_device(estimator: Any, X: Any) -> Any:
    """The device of torch that works on the rows; None: NumPy does."""
    device = check_device(getattr(estimator, "device", "auto"))
    if not device.startswith("cuda"):
        away = device == "auto" and is_tensor(X) and X.device.type != "cpu"
        return X.device if away else None
    torch = needed("torch", f"device={device!r}")
    where = torch.device(device.replace("cuda", CUDA, 1))
    if where.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} needs a GPU that torch can use, and it finds none; "
            "set_params(device='auto') works where X is."
        )
    if sp.issparse(X):
        raise ValueError(
            f"device={device!r} works on dense rows; pass X.toarray(), or use device='cpu'."
        )
    return where


def torch_rows(estimator: Any, X: Any, sample_weight: Any, device: Any, reset: bool) -> Any:
    """Rows that torch works on."""
    from ..fitting.torch_rows import TorchRows

    if is_tensor(X):
        kind = on_host(X.new_zeros((min(len(X), 2), *X.shape[1:])))
        kind = validate_rows(estimator, kind, reset)  # their number, columns and type
        X = X.detach().float() if kind.dtype == np.float32 else X.detach().double()
        low, high = X.aminmax()
        if not -LARGEST[kind.dtype] <= low <= high <= LARGEST[kind.dtype]:
            validate_rows(estimator, on_host(X), reset)  # refuses them
    else:
        X = validate_rows(estimator, X, reset)
    if getattr(estimator, "metric", None) == "cosine":  # the sample goes by the last bits of these
        X = like(unit_rows(on_host(X)), X)
    return TorchRows(X, check_sample_weight(on_host(sample_weight), len(X)), device)


def on_host(X: Any) -> Any:
    """A tensor as an array, floats of 16 bits in 32; anything else as it is."""
    if not is_tensor(X):
        return X
    if str(X.layout) != "torch.strided":
        raise ValueError("X must be a dense tensor; pass X.to_dense().")
    X = X.detach().cpu()
    return (X.float() if X.is_floating_point() and X.itemsize < 4 else X).numpy()


def in_memory(found: Any) -> np.ndarray:
    """An array, a tensor or a dask array as an array."""
    return np.asarray(on_host(found))


def like(found: Any, X: Any) -> Any:
    """An array or tensor of the kind of X, where X is."""
    if not is_tensor(X):
        return on_host(found)
    import torch

    return torch.as_tensor(found, device=X.device)


def follow(estimator: Any, X: Any) -> None:
    """Give what was found for each row the kind of X, where X is."""
    for name in ROW_ATTRIBUTES:
        if hasattr(estimator, name):
            setattr(estimator, name, like(getattr(estimator, name), X))


def check_where(estimator: Any, rows: RowSet) -> None:
    """Refuse what needs all rows at once, where they are not in memory."""
    if isinstance(rows, RowsInMemory):
        return
    for name in ("metric", "affinity"):
        value = getattr(estimator, name, None)
        if value in ("precomputed", "full"):
            raise ValueError(
                f"{name}={value!r} needs all rows in memory; pass them there, or leave {name} out."
            )
    if is_dask(rows.X) and not isinstance(getattr(estimator, "init", ""), str):
        raise ValueError("init must be 'spectral' or 'random' with Dask input; leave labels out.")


def row_model(estimator: Any) -> Any:
    """The estimator without what it holds for each row, where representatives tell the rest."""
    model, few = copy.copy(estimator), not isinstance(_fitted(estimator), Representatives)
    for name in ROW_ATTRIBUTES[few:]:
        if hasattr(model, name):
            setattr(model, name, np.empty(0, dtype=np.int64))
    if few:  # their labels may be needed
        model.labels_ = in_memory(model.labels_)
    return unwatched(model)


def unwatched(model: Any) -> Any:
    """The model without its callbacks, which see one fit only."""
    vars(model).pop("_skl_callbacks", None)
    if hasattr(model, "callback"):
        model.callback = None
    return model


def _fitted(estimator: Any) -> Any:
    return getattr(estimator, "_fitted_rows", getattr(estimator, "_voters", None))


def storable(estimator: Any) -> Any:
    """The estimator as a file holds it: rows of Dask's are left out, tensors are arrays.

    Its evidence is computed, as a file is to hold no rows for it.
    """
    getattr(estimator, "evidence_", None)
    if is_dask(getattr(estimator, "labels_", None)):
        return row_model(estimator)
    model = unwatched(copy.copy(estimator))
    follow(model, None)
    return model


def of_each_row(method: Method) -> Method:
    """A method that makes something of each row, in memory or elsewhere; it sees checked rows.

    Of dask rows block by block, when asked for; of tensors by torch, and the result follows X.
    """

    @functools.wraps(method)
    def wrapped(self: Any, X: Any) -> Any:
        check_is_fitted(self, "labels_")
        if is_dask(X):
            return over_blocks(self, method.__name__, X)
        device = torch_device(self, X)
        found = None if device is None else by_torch(self, method.__name__, X, device)
        if found is None:
            with single_blas_thread:
                found = method(self, self._validate(on_host(X), reset=False))
        return like(found, X)

    return wrapped  # type: ignore[return-value]


def over_blocks(estimator: Any, name: str, X: Any) -> Any:
    """A method of a fitted estimator for each block of dask rows."""
    import dask

    X = checked_dask(estimator, X, reset=False)
    model = row_model(estimator)
    vars(model).pop("feature_names_in_", None)  # blocks have none: they were compared just now
    if hasattr(model, "device"):
        model.device = "auto"  # whatever the client has
    meta = getattr(model, name)(np.ones((1, X.shape[1]), X.dtype))[:0]
    shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (X.chunks[0], meta.shape[1:])}
    model = dask.delayed(model, traverse=False, pure=False)
    return X.map_blocks(_of_block, model, name, meta, dtype=meta.dtype, meta=meta, **shape)


def _of_block(block: Any, model: Any, name: str, none: np.ndarray) -> np.ndarray:
    return np.asarray(getattr(model, name)(block)) if len(block) else none


def by_torch(estimator: Any, name: str, X: Any, device: Any) -> Any:
    """The labels of new rows by representatives, on a device; None where NumPy computes."""
    from ..fitting.torch_rows import TorchLinks

    fitted, mark = _fitted(estimator), getattr(estimator, "outlier_label", None)
    by_votes = isinstance(fitted, Representatives) and not hasattr(estimator, "coef_")
    if name != "predict" or mark is not None or not by_votes:
        return None
    rows = torch_rows(estimator, X, None, device, reset=False)
    return TorchLinks(rows, fitted).facts(fitted._replace(stray=None)).labels


def check_rows(X: Any) -> Matrix:
    """Rows as an array or CSR, float32 or float64, for functions that are no estimators."""
    with refused_in_a_sentence("X", X):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    return within_range(X)


def validate_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Matrix:
    """Rows as a C-ordered array or CSR, float32 or float64; two at least where it is a fit."""
    if is_dask(X):
        raise ValueError(
            f"{type(estimator).__name__} needs all rows in memory; pass X.compute(), or use a "
            "method that learns on representatives, such as DOGC."
        )
    with refused_in_a_sentence("X", X):
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
def refused_in_a_sentence(name: str, X: Any) -> Iterator[None]:
    """Scikit-learn and NumPy judge; what they say in a page, or of single cells, in a sentence."""
    check_unmasked(name, X)
    columns = list(getattr(X, "columns", ()))
    if len(set(columns)) < len(columns):
        raise ValueError(f"{name} has columns of the same name; give each its own.")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers are refused there
            yield
    except (TypeError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        for beginning, sentence in REFUSALS.items():
            if re.match(beginning, reason):
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(sentence.format(name=name, reason=reason)) from None
        raise
