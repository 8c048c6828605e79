"""What users pass of Dask's, as arrays of whole rows; nothing is computed."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np

from .distinct import check_sample_weight
from .whereabouts import is_dask


def is_frame(X: Any) -> bool:
    """Whether X is a dask dataframe."""
    return hasattr(type(X), "map_partitions") and getattr(X, "ndim", 0) == 2


def as_dask_array(X: Any) -> da.Array:
    """A dask array or dataframe as an array of whole rows; nothing is computed."""
    if is_frame(X):
        words = [str(name) for name, kind in X.dtypes.items() if kind.kind not in "biuf"]
        if words:
            raise ValueError(
                f"X has columns that hold no numbers ({', '.join(words[:5])}); encode or drop "
                "them, or use dogc cluster, which does."
            )
        dtype = np.float32 if set(X.dtypes) == {np.dtype(np.float32)} else np.float64
        shape, meta = (np.nan, len(X.columns)), np.empty((0, len(X.columns)), dtype=dtype)
        # Partition by partition: Dask would put small files together, and blocks would not be
        # those of X.
        numbers = dask.delayed(_numbers, pure=True)
        parts = [
            da.from_delayed(numbers(part, dtype), shape, meta=meta)
            for part in X.to_delayed(optimize_graph=False)
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)
    if not isinstance(X, da.Array):
        raise ValueError(
            f"X is a {type(X).__name__} of Dask's; pass a dask array or a dask dataframe."
        )
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; got a dask array of shape {X.shape}.")
    if np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns; name it in its shape.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers; got a dask array of {X.dtype}.")
    if type(X._meta).__module__.partition(".")[0] != "numpy":
        raise ValueError("X must be a dask array of NumPy blocks; convert its blocks first.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _numbers(frame: Any, dtype: Any) -> np.ndarray:
    return frame.to_numpy(dtype=dtype, na_value=np.nan)


def as_dask_weights(weight: Any, X: da.Array) -> da.Array:
    """Weights in the blocks of the rows."""
    if not is_dask(weight):
        if np.isnan(X.shape[0]):
            raise ValueError(
                "sample_weight must be a dask array in the blocks of X where their lengths are "
                "not known; or pass X.to_dask_array(lengths=True) of a dataframe, or call "
                "X.compute_chunk_sizes() of an array."
            )
        return da.from_array(check_sample_weight(weight, X.shape[0]), chunks=(X.chunks[0],))
    if not isinstance(weight, da.Array):
        parts = weight.to_delayed(optimize_graph=False)
        meta = np.empty(0, dtype=np.float64)
        numbers = dask.delayed(_numbers, pure=True)
        parts = [da.from_delayed(numbers(p, np.float64), (np.nan,), meta=meta) for p in parts]
        weight = da.concatenate(parts, allow_unknown_chunksizes=True)
    known = not np.isnan(X.shape[0]) and not np.isnan(weight.shape[0])
    if weight.ndim != 1 or (known and weight.shape != X.shape[:1]):
        raise ValueError(
            f"sample_weight must hold one number for each of the {X.shape[0]} rows; got a dask "
            f"array of shape {weight.shape}."
        )
    if known and weight.chunks != X.chunks[:1]:
        weight = weight.rechunk(X.chunks[:1])
    if weight.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"sample_weight has {weight.numblocks[0]} blocks and X has {X.numblocks[0]}; give "
            "both the same."
        )
    return weight
