"""What of a fitted model goes into a file, and the model made from it again.

Search trees are left out: their inner arrays are read unchecked, so a forged file could crash
the process, and to build them anew gives the same tree. Sparse arrays go in by parts. Long arrays
of few distinct values, such as labels, go in as these values and the place of each item among them.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.neighbors import BallTree, KDTree

from ...rows import labelling, neighbours
from ...rows.repeatable import single_blas_thread

# All that a model file may hold beside what skops trusts by itself: Python's containers, NumPy's
# arrays and scikit-learn's estimators.
TRUSTED_TYPES = (
    "dogc.counting.CountEvidence",
    "dogc.estimators._ablations.DOGCFixedGraph",
    "dogc.estimators._ablations.DOGCRelaxed",
    "dogc.estimators._affinity.GraphSettings",
    "dogc.estimators._affinity.Voters",
    "dogc.estimators._can.CAN",
    "dogc.estimators._can.PCAN",
    "dogc.estimators._clr.CLR",
    "dogc.estimators._cuts.NormalizedCut",
    "dogc.estimators._cuts.RatioCut",
    "dogc.estimators._data.Scaled",
    "dogc.estimators._dkm.DiscriminantSpace",
    "dogc.estimators._dkm.DiscriminativeKMeans",
    "dogc.estimators._dogc.DOGC",
    "dogc.estimators._dogc.DOGCOS",
    "dogc.estimators._local.CLGR",
    "dogc.estimators._local.LocalLearningClustering",
    "dogc.estimators._lpp.LPP",
    "dogc.estimators._neighbours.Index",
    "dogc.estimators._nmf.NMFClustering",
    "dogc.estimators._predict.FittedRows",
    "dogc.estimators._representatives.Frame",
    "dogc.estimators._representatives.Representatives",
    "dogc.estimators._sec.SEC",
    "dogc.resolutions.ResolutionChoice",
    "dogc.scales.ScaleChoice",
    "dogc.solver.Record",
    "dogc.storable.StoredRepeats",
    "dogc.storable.StoredSparse",
    "dogc.tables.preparing.Preparation",
    "numpy.dtype",  # in scikit-learn's imputers
)

# An array of one number for each row is stored by its distinct values from this length on, if they
# are few enough for 16 bits.
LONG, MOST_VALUES = 10_000, 1 << 16

_TREES = {"kd_tree": KDTree, "ball_tree": BallTree}
_SPARSE = {
    kind.__name__: kind for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)
}


class StoredSparse(NamedTuple):
    """A sparse array in a file: by parts, under a name that no release of SciPy changes."""

    kind: str
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


class StoredRepeats(NamedTuple):
    """A long array in a file: its distinct values, and the place of each item among them."""

    values: np.ndarray
    place: np.ndarray


def pack(value: Any) -> Any:
    """The same with search trees and callbacks left out and large arrays by parts."""
    if type(value).__name__ in _SPARSE and sp.issparse(value):
        n, d = map(int, value.shape)
        return StoredSparse(type(value).__name__, value.data, value.indices, value.indptr, (n, d))
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) >= LONG:
        return _without_repeats(value)
    if isinstance(value, neighbours.Index) and value.kind == "pynndescent":
        return value._replace(search=int(value.search.n_neighbors))
    if isinstance(value, BaseEstimator):
        packed: Any = object.__new__(type(value))
        vars(packed).update({name: pack(item) for name, item in vars(value).items()})
        if type(value).__module__.startswith("dogc.") and hasattr(value, "callback"):
            packed.callback = None
        if isinstance(getattr(value, "_tree", None), tuple(_TREES.values())):
            packed._tree = None
        return packed
    return _each(pack, value)


def unpack(value: Any) -> Any:
    """What :func:`pack` was given."""
    if isinstance(value, StoredSparse):
        parts = (value.data, value.indices, value.indptr)
        array = _SPARSE[value.kind](parts, shape=value.shape)
        array.check_format(full_check=True)  # indices out of range would be read unchecked
        return array
    if isinstance(value, StoredRepeats):
        return value.values[value.place]
    if isinstance(value, BaseEstimator):
        stored = {name: unpack(item) for name, item in vars(value).items()}
        vars(value).update(_later_parameters(value) | stored)
        tree = _TREES.get(getattr(value, "_fit_method", ""))
        if tree is not None and value._tree is None:
            metric, options = value.effective_metric_, value.effective_metric_params_
            value._tree = tree(value._fit_X, value.leaf_size, metric=metric, **options)
        return value
    value = _each(unpack, value)
    if isinstance(value, labelling.FittedRows):
        return value._replace(search=_searchable(value))
    return value


def _later_parameters(model: BaseEstimator) -> dict[str, Any]:
    """What an earlier release did not ask for, as it is by default."""
    if not type(model).__module__.startswith("dogc."):
        return {}
    return {name: given.default for name, given in signature(type(model)).parameters.items()}


def _without_repeats(value: np.ndarray) -> np.ndarray | StoredRepeats:
    """An array of plain numbers by its distinct values, to the last bit, if they are few."""
    if value.dtype.kind not in "biuf" or value.itemsize not in (1, 2, 4, 8):
        return value
    values, place = np.unique(value.view(f"u{value.itemsize}"), return_inverse=True)
    if len(values) > MOST_VALUES:
        return value
    return StoredRepeats(
        values.view(value.dtype), place.astype(np.min_scalar_type(len(values) - 1))
    )


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """Containers with the function applied to each of their items; others as they are."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(function, value))
    if type(value) in (list, tuple):
        return type(value)(map(function, value))
    if type(value) is dict:
        return {key: function(item) for key, item in value.items()}
    return value


def _searchable(fitted: labelling.FittedRows) -> neighbours.Index | None:
    """The search over fitted rows; one by pynndescent is built again, the same as it was."""
    index = fitted.search
    if index is None or index.kind != "pynndescent" or fitted.scaled is None:
        return index
    with single_blas_thread:
        X, lookup = fitted.scaled.X, fitted.lookup
        rows = X if lookup is None else np.asarray(X @ lookup)
        return neighbours.fit_index(rows, "pynndescent", index.search)
