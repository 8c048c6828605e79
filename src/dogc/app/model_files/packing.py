"""A fitted model as plain containers and arrays, and the model made from these again.

What is ours goes into a file as ``{"dogc": name, "state": {field: value}}``, under the names in
:data:`STORED`, so that a file does not know where a class stands in the source. Search trees are
left out: their inner arrays are read unchecked, so a forged file could crash the process, and to
build them anew gives the same tree. Sparse arrays go in by parts. Long arrays of few distinct
values, such as labels, go in as these values and the place of each item among them. Long lists of
plain items, such as the names of columns, go in as one JSON text; skops would write a node for
each item.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.neighbors import (
    BallTree,
    KDTree,
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsTransformer,
)

from ... import estimators
from ...encoding import MixedEncoder
from ...estimators._dkm import DiscriminantSpace
from ...estimators._elsewhere import storable
from ...fitting import neighbours
from ...fitting.fixed_graph import GraphSettings, Voters
from ...fitting.labelling import FittedRows
from ...fitting.landmarks import Ensemble, Landmarks
from ...fitting.prototypes import Prototypes
from ...fitting.repeatable import single_blas_thread
from ...fitting.representatives import Frame, Representatives
from ...fitting.scaling import Scaled
from ...results import CountEvidence, Record, ResolutionChoice, ScaleChoice
from .archive import MOST_DIGITS, Misfit, parse
from .contents import ATTRIBUTES

TAG, STATE = "dogc", "state"

# All classes of ours that a file may hold, by their names there. A class may move and be renamed,
# and a tuple may get more fields with defaults; a name that stands in files must stay.
STORED: dict[str, type] = {
    **{name: cls for name, cls in vars(estimators).items()
       if name in estimators.__all__ and isinstance(cls, type)},
    "Preparation": MixedEncoder,
    "CountEvidence": CountEvidence,
    "DiscriminantSpace": DiscriminantSpace,
    "Ensemble": Ensemble,
    "FittedRows": FittedRows,
    "Frame": Frame,
    "GraphSettings": GraphSettings,
    "Index": neighbours.Index,
    "Landmarks": Landmarks,
    "Prototypes": Prototypes,
    "Record": Record,
    "Representatives": Representatives,
    "ResolutionChoice": ResolutionChoice,
    "ScaleChoice": ScaleChoice,
    "Scaled": Scaled,
    "Voters": Voters,
}  # fmt: skip
_NAMES = {cls: name for name, cls in STORED.items()}

# An array of one number for each row is stored by its distinct values from this length on, if they
# are few enough for 16 bits.
LONG, MOST_VALUES = 10_000, 1 << 16
# A list or mapping of plain items is stored as one text from this length on.
MANY_ITEMS = 1000

_TREES = (KDTree, BallTree)
_SEARCHES = (NearestNeighbors, KNeighborsTransformer, RadiusNeighborsTransformer)
_SPARSE = {
    kind.__name__: kind for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)
}


class UnknownContentError(ValueError):
    """Something in a file that this release does not know, by its name."""


def pack(value: Any) -> Any:
    """The same in containers and arrays, with search trees and callbacks left out."""
    if isinstance(value, BaseEstimator):
        value = storable(value)
    if type(value) in _NAMES:
        return _tagged(_NAMES[type(value)], {k: pack(v) for k, v in _state_of(value).items()})
    if type(value).__name__ in _SPARSE and sp.issparse(value):
        n, d = map(int, value.shape)
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return _tagged("sparse", {"kind": type(value).__name__, **parts, "shape": (n, d)})
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) >= LONG:
        return _without_repeats(value)
    if isinstance(value, BaseEstimator):
        packed: Any = object.__new__(type(value))
        vars(packed).update({name: pack(item) for name, item in vars(value).items()})
        if isinstance(getattr(value, "_tree", None), _TREES):
            packed._tree = None
        return packed
    if type(value) in (list, dict) and len(value) >= MANY_ITEMS and _is_plain(value):
        return _tagged("json", {"text": json.dumps(value)})
    value = _each(pack, value)
    return _tagged("dict", value) if type(value) is dict and TAG in value else value


def unpack(value: Any) -> Any:
    """What :func:`pack` was given."""
    if type(value) is dict and TAG in value:
        state = {name: unpack(item) for name, item in value[STATE].items()}
        return _made(value[TAG], state)
    if isinstance(value, BaseEstimator):
        for name in vars(value):
            if name.startswith("__") or callable(getattr(type(value), name, None)):
                raise UnknownContentError(f"{type(value).__name__}.{name}")
        vars(value).update({name: unpack(item) for name, item in vars(value).items()})
        return _searching(value) if isinstance(value, _SEARCHES) else value
    return _each(unpack, value)


def _searching(value: Any) -> Any:
    """A search over the rows that it holds, fitted anew; one that is not fitted stays as it is."""
    if not hasattr(value, "_fit_X"):
        return type(value)(**value.get_params(deep=False))
    again = type(value)(**value.get_params(deep=False)).fit(value._fit_X)
    names = getattr(value, "feature_names_in_", None)
    if names is not None:
        again.feature_names_in_ = np.array(names, dtype=object)
    return again


def _tagged(name: str, state: dict[str, Any]) -> dict[str, Any]:
    return {TAG: name, STATE: state}


def _state_of(value: Any) -> dict[str, Any]:
    """The fields of a tuple or the attributes of an estimator, as far as a file can hold them."""
    if isinstance(value, neighbours.Index) and value.kind == "pynndescent":
        value = value._replace(search=int(value.search.n_neighbors))
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    return vars(value) | ({"callback": None} if hasattr(value, "callback") else {})


def _made(name: str, state: dict[str, Any]) -> Any:
    """The object that a name and a state stand for; nothing but this makes one from a file."""
    if name == "dict":
        return state
    if name == "sparse":
        return _sparse(**state)
    if name == "repeats":
        return _repeated(**state)
    if name == "json":
        return parse(state["text"].encode())
    cls = STORED.get(name)
    if cls is None:
        raise UnknownContentError(str(name))
    return _estimator(cls, state) if issubclass(cls, BaseEstimator) else _tuple(cls, state)


def _tuple(cls: Any, state: dict[str, Any]) -> Any:
    """A named tuple; a field that an earlier release did not store has its default."""
    for field in state:
        if field not in cls._fields:
            raise UnknownContentError(f"{cls.__name__}.{field}")
    return cls(**state)


def _estimator(cls: type, state: dict[str, Any]) -> Any:
    """An estimator with these attributes, none of which may hide what its class defines.

    A parameter that an earlier release did not ask for is at its default.
    """
    parameters = {name: given.default for name, given in signature(cls).parameters.items()}
    for name in state:
        fitted = name in ATTRIBUTES or (cls is MixedEncoder and name.endswith("_"))
        if name not in parameters and (not fitted or hasattr(cls, name)):
            raise UnknownContentError(f"{cls.__name__}.{name}")
    made: Any = object.__new__(cls)
    vars(made).update(parameters | state | ({"callback": None} if "callback" in parameters else {}))
    return made


def _repeated(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Few values at many places, none of them larger than a number."""
    if values.ndim != 1 or values.dtype.kind not in "biuf" or place.ndim != 1:
        raise Misfit("an array of few values is damaged")
    return values[place]


def _sparse(kind: str, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    if not all(a.ndim == 1 and a.dtype.kind in "if" for a in (data, indices, indptr)):
        raise Misfit("a sparse array is none")
    array = _SPARSE[kind]((data, indices, indptr), shape=shape)
    array.check_format(full_check=True)  # indices out of range would be read unchecked
    return array


def _without_repeats(value: np.ndarray) -> np.ndarray | dict[str, Any]:
    """An array of plain numbers by its distinct values, to the last bit, if they are few."""
    if value.dtype.kind not in "biuf" or value.itemsize not in (1, 2, 4, 8):
        return value
    values, place = np.unique(value.view(f"u{value.itemsize}"), return_inverse=True)
    if len(values) > MOST_VALUES:
        return value
    place = place.astype(np.min_scalar_type(len(values) - 1))
    return _tagged("repeats", {"values": values.view(value.dtype), "place": place})


def _is_plain(value: Any) -> bool:
    """Whether a value comes back from JSON as it was."""
    if type(value) is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    if type(value) is list:
        return all(map(_is_plain, value))
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is int:
        return abs(value) < 10 ** (MOST_DIGITS - 1)
    return value is None or type(value) in (bool, str)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """Containers with the function applied to each of their items; others as they are."""
    if type(value) in (list, tuple):
        return type(value)(map(function, value))
    if type(value) is dict:
        return {key: function(item) for key, item in value.items()}
    return value


def searchable(model: Any) -> None:
    """Build the searches of pynndescent in a model again, the same as they were."""
    if isinstance(model, BaseEstimator):
        fitted = getattr(model, "_fitted_rows", None)
        if isinstance(fitted, FittedRows):
            model._fitted_rows = fitted._replace(search=_index(fitted))
        model = list(vars(model).values())
    for item in model.values() if isinstance(model, dict) else model:
        if isinstance(item, BaseEstimator | list | tuple | dict):
            searchable(item)


def _index(fitted: FittedRows) -> neighbours.Index | None:
    index = fitted.search
    if index is None or index.kind != "pynndescent" or fitted.scaled is None:
        return index
    with single_blas_thread:
        X, lookup = fitted.scaled.X, fitted.lookup
        rows = X if lookup is None else np.asarray(X @ lookup)
        return neighbours.fit_index(rows, "pynndescent", index.search, index.metric)
