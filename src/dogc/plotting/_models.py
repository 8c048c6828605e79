"""Attributes of a fitted model for the displays, and its rows in the plane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..numerics.matrix import Matrix
from ._islands import graph_layout
from ._plane import kept_apart, main_plane

LEARNED = "learned subspace, direction"


class View(NamedTuple):
    """Rows in the plane and what the axes mean."""

    points: np.ndarray  # (n, 2)
    names: tuple[str, str]


def last_step(estimator: Any) -> Any:
    """The clusterer itself, where it is the end of a pipeline."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def prepared(estimator: Any, X: Any) -> Any:
    """X as the clusterer at the end of a pipeline sees it."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) else X


def fitted_attribute(estimator: Any, name: str, remedy: str) -> Any:
    """An attribute of the fitted clusterer, or one sentence that says what to do."""
    model = last_step(estimator)
    check_is_fitted(model, msg="This %(name)s is not fitted yet; call fit before drawing it.")
    value = getattr(model, name, None)
    if value is None:
        raise ValueError(f"{type(model).__name__} has no {name} to draw; {remedy}.")
    return value


def fitted_labels(estimator: Any, X: Any = None) -> np.ndarray:
    """The labels of the rows that the clusterer was fitted on, which X must be."""
    labels = np.asarray(fitted_attribute(estimator, "labels_", "pass a fitted clusterer"))
    if X is not None and (n := _num_samples(X)) != len(labels):
        name = type(last_step(estimator)).__name__
        raise ValueError(
            f"X has {n} rows but {name} was fitted on {len(labels)}; pass the rows it was fitted "
            "on, or draw new rows with from_predictions and the labels that predict gives."
        )
    return labels


def check_labels(labels: Any, n: int) -> np.ndarray:
    """Labels as whole numbers, one for each of n rows."""
    found = np.asarray(labels)
    if found.shape != (n,):
        raise ValueError(
            f"labels must hold one label for each of the {n} rows; got shape {found.shape}."
        )
    if not np.issubdtype(found.dtype, np.integer):
        raise ValueError(
            "labels must be whole numbers, such as labels_ or the second result of "
            f"np.unique(labels, return_inverse=True); got {found.dtype}."
        )
    return found


def view_of_fitted(estimator: Any, X: Any) -> View:
    """X itself if it has two features, else the main directions of the learned subspace."""
    model, X = last_step(estimator), prepared(estimator, X)
    if "precomputed" in (getattr(model, "metric", None), getattr(model, "affinity", None)):
        raise ValueError(
            f"this {type(model).__name__} was fitted on a precomputed graph, which has no points "
            "to draw; pass your own points with their labels to from_predictions."
        )
    if getattr(model, "components_", None) is None or _as_rows(X).shape[1] <= 2:
        return view_of_rows(X)
    return _main_directions(_as_rows(model.transform(X)), LEARNED)


def islands_of_fitted(estimator: Any, X: Any, labels: np.ndarray) -> np.ndarray:
    """Rows by the learned graph, each cluster apart."""
    remedy = "pass a clusterer on a graph, such as DOGC, or layout='plane'"
    graph = fitted_attribute(estimator, "affinity_matrix_", remedy)
    if graph.shape[0] != len(labels):
        raise ValueError(
            "layout='graph' needs a graph of all rows, and this one joins representatives; fit "
            "with n_representatives=None, or use layout='plane'."
        )
    return graph_layout(graph, labels, _as_rows(prepared(estimator, X)))


def model_with_representatives(estimator: Any) -> Any:
    """The clusterer, where its graph is one of representatives; else None."""
    model = last_step(estimator)
    return None if getattr(model, "representatives_", None) is None else model


def view_of_representatives(model: Any) -> View:
    """Representatives as :func:`view_of_fitted` would see rows."""
    R, W = model.representatives_, getattr(model, "components_", None)
    if W is None or R.shape[1] <= 2:
        return view_of_rows(R, [str(name) for name in getattr(model, "feature_names_in_", ())])
    return _main_directions(R @ W.T, LEARNED)


def view_of_rows(X: Any, names: list[str] | None = None) -> View:
    """X itself if it has one or two features, else its two main directions."""
    rows = _as_rows(X)
    if rows.shape[1] > 2:
        return _main_directions(rows, "principal direction")
    dense = rows.toarray() if sp.issparse(rows) else rows
    names = names or [str(name) for name in getattr(X, "columns", ())]
    return _view(dense, names or [f"feature {i}" for i in range(dense.shape[1])])


def _main_directions(Z: Matrix, name: str) -> View:
    return _view(Z if Z.shape[1] == 1 else main_plane(Z).at, [f"{name} 1", f"{name} 2"])


def _view(at: np.ndarray, names: list[str]) -> View:
    """Two columns, or one with places along the second axis that only keep rows apart."""
    if at.shape[1] == 1:
        return View(np.column_stack([at[:, 0], kept_apart(len(at))]), (names[0], ""))
    return View(at, (names[0], names[1]))


def _as_rows(X: Any) -> Matrix:
    rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"X must be a table of shape (n_samples, n_features); got shape {rows.shape}."
        )
    return rows
