"""A fitted model as plain containers and arrays, and the model made from these again.

What is ours goes into a file as ``{"dogc": name, "state": {field: value}}``, under the names in
:data:`STORED`, so that a file does not know where a class stands in the source. Search trees are
left out: their inner arrays are read unchecked, so a forged file could crash the process, and to
build them anew gives the same tree. Sparse arrays go in by parts. Long lists of plain items, such
as the names of columns, go in as one JSON text; skops would write a node for each item.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, RadiusNeighborsTransformer

from ... import estimators, results
from ..._words import shown
from ...encoding import MixedEncoder
from ...estimators import _dkm
from ...estimators._elsewhere import storable
from ...fitting import fixed_graph, labelling, landmarks, neighbours, representatives
from ...fitting import scaling as scales
from ...fitting.repeatable import single_blas_thread

TAG, STATE = "dogc", "state"

OURS = tuple(
    cls for name, cls in vars(estimators).items()
    if name in estimators.__all__ and isinstance(cls, type)
)  # fmt: skip
# All that is made from a file under its name: estimators, and the named tuples that they hold. A
# class may move, and a tuple may get more fields with defaults; a name in files must stay.
STORED: dict[str, type] = {cls.__name__: cls for cls in OURS} | {
    name: cls
    for module in (fixed_graph, labelling, landmarks, neighbours, representatives,
                   scales, results, _dkm)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, tuple) and cls.__module__.startswith("dogc.")
} | {"Preparation": MixedEncoder}  # fmt: skip
_NAMES = {cls: name for name, cls in STORED.items()}

# A list or mapping of plain items is stored as one text from this length on.
MANY_ITEMS = 1000

_SEARCHES = (NearestNeighbors, KNeighborsTransformer, RadiusNeighborsTransformer)
_SPARSE = {
    kind.__name__: kind for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix)
}


class Misfit(ValueError):
    """The fault of a model or of a file, in words that fit into a sentence."""


def pack(value: Any) -> Any:
    """The same in containers and arrays, with search trees and callbacks left out."""
    if isinstance(value, BaseEstimator):
        value = storable(value)
    if type(value) in _NAMES:
        return {TAG: _NAMES[type(value)], STATE: _each(pack, _state_of(value))}
    if type(value).__name__ in _SPARSE:
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        shape = tuple(map(int, value.shape))
        return {TAG: "sparse", STATE: {"kind": type(value).__name__, **parts, "shape": shape}}
    if isinstance(value, BaseEstimator):
        packed: Any = object.__new__(type(value))
        vars(packed).update(_each(pack, vars(value)))
        if isinstance(value, _SEARCHES):
            packed._tree = None
        return packed
    if type(value) in (list, dict) and len(value) >= MANY_ITEMS and _is_plain(value):
        return {TAG: "json", STATE: {"text": json.dumps(value)}}
    value = _each(pack, value)
    return {TAG: "dict", STATE: value} if type(value) is dict and TAG in value else value


def unpack(value: Any) -> Any:
    """Inverse of :func:`pack`."""
    if type(value) is dict and TAG in value:
        return _made(value[TAG], _each(unpack, value[STATE]))
    if isinstance(value, BaseEstimator):
        vars(value).update(_each(unpack, vars(value)))
        return _searching(value) if isinstance(value, _SEARCHES) else value
    return _each(unpack, value)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """Containers with the function applied to each of their items; others as they are."""
    if type(value) in (list, tuple):
        return type(value)(map(function, value))
    if type(value) is dict:
        return {key: function(item) for key, item in value.items()}
    return value


def _state_of(value: Any) -> dict[str, Any]:
    """The fields of a tuple or the attributes of an estimator, as far as a file can hold them."""
    if isinstance(value, neighbours.Index) and value.kind == "pynndescent":
        value = value._replace(search=int(value.search.n_neighbors))
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    return vars(value)


def _made(name: Any, state: Any) -> Any:
    """The object that a name and a state stand for; nothing but this makes one of ours."""
    if name == "dict":
        return state
    if name == "json":
        return json.loads(state["text"])
    if name == "sparse":
        parts = (state["data"], state["indices"], state["indptr"])
        array = _SPARSE[state["kind"]](parts, shape=state["shape"])
        array.check_format(full_check=True)  # indices out of range would be read unchecked
        return array
    if name not in STORED:
        raise Misfit(f"this dogc does not know {shown(name)}")
    cls: Any = STORED[name]
    if not issubclass(cls, tuple):
        return _estimator(cls, state)
    made = cls(**state)
    return _with_descent(made) if cls is labelling.FittedRows else made


def _estimator(cls: type, state: dict[str, Any]) -> Any:
    """An estimator with these attributes; parameters that came later are at their defaults."""
    parameters = {name: given.default for name, given in signature(cls).parameters.items()}
    for name in state:
        if name not in parameters and not (name.startswith("_") or name.endswith("_")):
            raise Misfit(f"this dogc does not know {cls.__name__}.{name}")
    made: Any = object.__new__(cls)
    vars(made).update(parameters | state)
    return made


def _searching(value: Any) -> Any:
    """A search over the rows that it holds, fitted anew; one that is not fitted stays as it is."""
    again = type(value)(**value.get_params(deep=False))
    if not hasattr(value, "_fit_X"):
        return again
    again.fit(value._fit_X)
    if hasattr(value, "feature_names_in_"):
        again.feature_names_in_ = value.feature_names_in_
    return again


def _with_descent(fitted: labelling.FittedRows) -> labelling.FittedRows:
    """Fitted rows with their search by pynndescent built again, the same as it was."""
    index, scaled = fitted.search, fitted.scaled
    if index is None or index.kind != "pynndescent" or scaled is None:
        return fitted
    rows = scaled.X if index.directions is None else np.asarray(scaled.X @ index.directions)
    with single_blas_thread:
        search = neighbours.fit_index(rows, "pynndescent", int(index.search), index.metric)
    return fitted._replace(search=index._replace(search=search.search))


def _is_plain(value: Any) -> bool:
    """Whether a value comes back from JSON as it was."""
    if type(value) is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, str, int, float)
