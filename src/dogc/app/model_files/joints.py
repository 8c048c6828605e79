"""Where the parts of a model meet: what the table of single attributes cannot say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from ...estimators import DOGCOS
from ...estimators._base import GraphClusterer
from ...estimators._dkm import DiscriminantSpace
from ...estimators._fixed import FixedGraphClusterer
from ...estimators._landmarks import LandmarkClusterer
from ...fitting import landmarks, neighbours, scaling
from ...fitting.labelling import FittedRows
from ...fitting.representatives import Frame, Representatives
from .archive import Misfit
from .shapes import ABOVE, LARGEST, Sizes, either, label, moderate, same, sparse, whole


def check(value: Any, sizes: Sizes) -> None:
    """Check a part that fits its lines of the table."""
    for cls, join in JOINTS.items():
        if isinstance(value, cls):
            join(value, sizes)


def need(true: Any, words: str) -> None:
    """Refuse what is not so."""
    if not true:
        raise Misfit(words)


def _scaled(scaled: scaling.Scaled, sizes: Sizes) -> None:
    """Rows near the origin stay numbers in units of the columns that vary."""
    with np.errstate(over="ignore"):
        far = ~np.isfinite(scaled.origin / scaled.unit)
    if scaled.constant is not None:
        far &= ~scaled.constant
    if scaled.T is None:
        need(scaled.X.shape[1] == sizes["d"], "Scaled.X has other columns than its origin")
    need(not far.any(), "Scaled.origin is too far away")


def _index(index: neighbours.Index, sizes: Sizes) -> None:
    """A search over n rows with q coordinates."""
    search = index.search
    if index.kind == "pynndescent":
        if type(search).__name__ != "NNDescent":  # not built yet
            whole(1, sizes["n"])(search, sizes)
        return
    last = search.steps[-1][1] if isinstance(search, Pipeline) else search
    known = isinstance(getattr(last, "n_samples_fit_", None), int)
    need(known and hasattr(last, "_fit_X"), "Index.search must be a search over rows")
    plain = last.metric_params is None and not getattr(last, "effective_metric_params_", None)
    need(plain, "Index.search must be a search with a plain metric")
    if index.kind == "exact":
        exact = type(search) is NearestNeighbors and search.effective_metric_ == index.metric
        need(exact, "Index.search must be an exact search")
        X = search._fit_X
        need(
            np.abs(X.data if sp.issparse(X) else X).max() <= LARGEST,
            "Index.search must be moderate",
        )
    need(hasattr(search, "transform") or index.kind == "exact", "Index.search cannot search")
    same("n", last.n_samples_fit_, sizes)
    same("q", int(search.n_features_in_), sizes)


def _fitted_rows(fitted: FittedRows, sizes: Sizes) -> None:
    given = fitted.scaled is not None
    need((fitted.search is not None) == given == (fitted.Z is not None), "FittedRows lacks a part")
    need(sizes["n"] and fitted.k <= sizes["n"], "FittedRows.k is larger than the number of rows")
    if fitted.scaled is None:
        need(fitted.lookup is None and fitted.components is None, "FittedRows has too many parts")
        return
    width = fitted.scaled.X.shape[1]
    if fitted.components is None:
        same("q", width, sizes)
    if fitted.lookup is None:
        same("l", width, sizes)
    kept = sp.issparse(fitted.scaled.X) and fitted.components is None
    need(sp.issparse(fitted.Z) == kept, "FittedRows.Z is not of the kind of the rows")


def _frame(frame: Frame, sizes: Sizes) -> None:
    if frame.directions is None:
        same("q", sizes["d"], sizes)


def _representatives(fitted: Representatives, sizes: Sizes) -> None:
    need(sizes["p"], "Representatives are none")


def _landmarks(fitted: landmarks.Landmarks, sizes: Sizes) -> None:
    need(sizes["p"] and sizes["c"], "Landmarks are none")


def _space(space: DiscriminantSpace, sizes: Sizes) -> None:
    """The map before the discriminant: nothing, or landmarks of a Gaussian kernel."""
    mapped = space.kernel_map
    need(sizes["e"], "DiscriminantSpace.shift must not be empty")
    if type(mapped) is FunctionTransformer:
        need(
            mapped.func is None and mapped.kw_args is None, "FunctionTransformer.func must be None"
        )
        same("f", sizes["d"], sizes)
        return
    fits = type(mapped) is Nystroem and mapped.kernel == "rbf" and mapped.kernel_params is None
    need(
        fits and hasattr(mapped, "normalization_"), "DiscriminantSpace.kernel_map must be Nystroem"
    )
    ABOVE(mapped.gamma, sizes)
    either(moderate("f", "d"), sparse("f", "d"))(mapped.components_, sizes)
    moderate("f", "f")(mapped.normalization_, sizes)


def _learned_graph(model: GraphClusterer, sizes: Sizes) -> None:
    fitted = model._fitted_rows
    given = isinstance(fitted, FittedRows) and fitted.search is None
    need((model.metric == "precomputed") == given, "metric does not fit what was learned")
    if given:
        need(len(fitted.labels) == sizes["d"], "FittedRows.labels must be as many as features")
    need(fitted.labels.max() + 1 == sizes["c"], "n_clusters_ does not fit the labels")
    if hasattr(model, "outlier_scores_"):
        known = fitted.reach is not None and getattr(fitted, "copies", 1) is not None
        need(known, "the reach of rows is missing")
    if isinstance(model, DOGCOS):
        linear = hasattr(model, "coef_")
        need(linear == hasattr(model, "intercept_"), "coef_ and intercept_ go together")
        need(linear or getattr(model, "rule_", "paper") == "neighbors", "coef_ is missing")
        if linear:
            same("e", sizes["c"], sizes)


def _fixed_graph(model: FixedGraphClusterer, sizes: Sizes) -> None:
    """Labels of rows are looked up where nothing else knows them."""
    voters = model._voters
    if len(model.labels_):
        need(model.labels_.max() + 1 == sizes.get("c"), "labels_ does not fit what gives labels")
    if isinstance(voters, Representatives):
        return
    own = getattr(voters, "labels", None)
    need(len(model.labels_) or own is not None, "labels_ must not be empty")
    if own is None:
        label("n")(model.labels_, sizes)
        rows = sizes["d"] if voters is None else len(voters.sigma)
        need(len(model.labels_) == rows, "labels_ must be as many as rows")
    need(
        voters is not None or getattr(model, "affinity", "") == "precomputed", "_voters is missing"
    )


def _own_labels(model: Any, sizes: Sizes) -> None:
    """New rows get the labels that the fitted ones have."""
    need(model.labels_.max() + 1 == sizes["c"], "labels_ does not fit what gives labels")


JOINTS: dict[type, Callable[[Any, Sizes], None]] = {
    scaling.Scaled: _scaled,
    neighbours.Index: _index,
    FittedRows: _fitted_rows,
    Frame: _frame,
    Representatives: _representatives,
    landmarks.Landmarks: _landmarks,
    DiscriminantSpace: _space,
    GraphClusterer: _learned_graph,
    FixedGraphClusterer: _fixed_graph,
    LandmarkClusterer: _own_labels,
}
