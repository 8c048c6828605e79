"""Whether what a file holds is a model: the table is gone through once, when it is loaded."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ... import _checks, estimators
from ...encoding import MixedEncoder
from ...encoding.values import DATE_FORMATS
from ...estimators._base import GraphClusterer
from ...estimators._elsewhere import storable
from ...fitting import fixed_graph, neighbours
from ...fitting.column_maps import GEOMETRIES
from ...fitting.settings import METRICS, RULES, XI_RULES
from ...loop.running import STARTS
from . import joints
from .archive import Misfit
from .contents import ATTRIBUTES, FITTED, NEEDED, check_fields, jobs
from .shapes import (
    Check,
    Sizes,
    anything,
    asked,
    by_name,
    each,
    either,
    flag,
    label,
    loose,
    maybe,
    moderate,
    number,
    one_of,
    positive,
    real,
    size_of,
    text,
    whole,
)

OURS = tuple(getattr(estimators, name) for name in estimators.__all__
             if isinstance(getattr(estimators, name), type))  # fmt: skip


def _labels(value: Any, sizes: Sizes) -> None:
    if type(value) is not np.ndarray or value.ndim != 1:
        raise Misfit("must be 'spectral', 'random' or labels")


def _seed(value: Any, sizes: Sizes) -> None:
    if not isinstance(value, np.random.RandomState | np.random.Generator):
        whole()(value, sizes)


COUNT = whole(1)
POSITIVE = asked(_checks.check_positive, "it")
WEIGHT = asked(_checks.check_weight, "it")
AUTO = one_of("auto")
# Of all estimators, as their own checks have it; a fit looks closer.
PARAMETERS: dict[str, Check] = {
    "affinity": one_of(*fixed_graph.KINDS),
    "alpha": WEIGHT,
    "assign_labels": one_of("kmeans", "rotation", "argmax"),
    "bandwidth": either(one_of("local", "mean"), POSITIVE),
    "base_clusters": maybe(each(COUNT)),
    "beta": WEIGHT,
    "callback": maybe(anything),
    "center": flag,
    "device": asked(_checks.check_device),
    "fit_intercept": flag,
    "gamma": maybe(WEIGHT),
    "geometry": one_of("auto", *GEOMETRIES),
    "init": either(one_of("auto", *STARTS, "random"), each(anything), _labels),
    "kernel": one_of("linear", "rbf"),
    "lam": either(AUTO, WEIGHT),
    "landmarks": one_of("kmeans", "random"),
    "laplacian": one_of("unnormalized", "normalized"),
    "max_iter": COUNT,
    "max_time": asked(_checks.check_time),
    "metric": one_of(*METRICS),
    "min_cluster_size": either(AUTO, COUNT),
    "mu": POSITIVE,
    "n_clusters": either(AUTO, COUNT),
    "n_components": maybe(either(AUTO, COUNT)),
    "n_estimators": COUNT,
    "n_init": either(AUTO, COUNT),
    "n_jobs": jobs,
    "n_landmarks": maybe(COUNT),
    "n_neighbors": maybe(either(one_of("auto", _checks.WIDE), COUNT)),
    "n_prototypes": maybe(COUNT),
    "n_representatives": maybe(either(AUTO, COUNT)),
    "neighbors_algorithm": asked(_checks.check_algorithm, after=(neighbours.ALGORITHMS,)),
    "norm": one_of("l1", "l2"),
    "normalize_rows": flag,
    "outlier_label": asked(_checks.check_outlier_label),
    "p": asked(_checks.check_power),
    "penalties": one_of("relative", "paper"),
    "random_state": maybe(_seed),
    "ridge": POSITIVE,
    "rule": one_of(*RULES),
    "source": one_of("features", "graph"),
    "tol": WEIGHT,
    "verbose": asked(_checks.check_verbose),
    "xi": one_of(*XI_RULES),
}

# Of scikit-learn's, what is met most often; others are tried out on rows.
SCIKIT: dict[type, dict[str, Check]] = {
    StandardScaler: {"mean_": maybe(real("d")), "scale_": maybe(positive("d"))},
    MinMaxScaler: {"min_": real("d"), "scale_": real("d")},
    MaxAbsScaler: {"scale_": positive("d")},
    RobustScaler: {"center_": maybe(real("d")), "scale_": maybe(positive("d"))},
    SimpleImputer: {"statistics_": either(loose("d"), each(anything, (np.ndarray,), "d"))},
    PCA: {"components_": real("k", "d"), "mean_": real("d"), "explained_variance_": real("k")},
    TruncatedSVD: {"components_": real("k", "d")},
    KMeans: {"cluster_centers_": moderate("c", "d"), "labels_": label("n"),
             "_n_threads": whole(1, 1024)},
}  # fmt: skip


def _middle(value: Any, sizes: Sizes) -> None:
    number(-_checks.LONGEST)(value, sizes)
    number(-_checks.LONGEST)(-value, sizes)


_PLANS: dict[str, dict[str, Check]] = {
    "number": {"style": one_of("plain", "days", "decimal comma", "thousands"), "median": _middle},
    "date": {"format": one_of(*DATE_FORMATS), "median": _middle},
    "boolean": {"yes": text, "no": text, "usual": number()},
    "category": {"levels": each(text), "others": each(text), "missing": whole()},
    "left out": {},
    "label": {},
    "id": {},
}
_PREPARATION: dict[str, Check] = {
    "scale": flag,
    "drop": either(text, each(text)),
    "label_column": maybe(text),
    "id_column": maybe(text),
    "columns_": each(text),
    "feature_names_": each(text, letter="f"),
    "id_column_": maybe(text),
    "steps_": each(text),
    "mean_": real("f"),
    "scale_": positive("f"),
    "plans_": by_name(by_name(anything)),
    "weights": maybe(either(AUTO, by_name(number()))),
    "keep": either(text, each(text)),
    "weights_": by_name(number()),
    "discrete_share_": number(),
}


# What files of earlier releases do not have.
_SINCE = ("weights_", "discrete_share_")


def check_model(model: Any) -> None:
    """Refuse what is no fitted model of this library, or k-means beside which it stands."""
    found = check_all(model)
    ours = any(isinstance(part, OURS) for part in found)
    if not isinstance(model, BaseEstimator) or not (ours or type(model) is KMeans):
        raise Misfit("it does not contain a model of this library")
    if isinstance(model, Pipeline):
        _try_steps(model)


def check_all(value: Any) -> list[BaseEstimator]:
    """Check all estimators in a value; these."""
    if isinstance(value, BaseEstimator):
        value = storable(value)
        _check_estimator(value)
        inside = list(vars(value).values())
        return [value, *(found for item in inside for found in check_all(item))]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [found for item in value for found in check_all(item)]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return check_all(value.tolist())
    return []


def check_preparation(preparation: Any) -> None:
    """Refuse a preparation whose parts do not fit together."""
    if preparation is None:
        return
    if type(preparation) is not MixedEncoder:
        raise Misfit("its preparation is not one of this library")
    held = vars(preparation)
    for name in _PREPARATION:
        if name not in held and name not in _SINCE:
            raise Misfit(f"MixedEncoder.{name} is missing")
    check_fields(held, _PREPARATION, {}, "MixedEncoder")
    for name, plan in preparation.plans_.items():
        checks = _PLANS.get(plan.get("kind", ""))
        if checks is None or not checks.keys() <= plan.keys():
            raise Misfit(f"MixedEncoder.plans_ does not say what becomes of {name!r}")
        check_fields(plan, checks, {}, "MixedEncoder.plans_")
    with np.errstate(over="ignore"):  # of the largest number that a table may hold
        scaled = (_checks.LONGEST + np.abs(preparation.mean_)) / preparation.scale_
    if not (np.isfinite(scaled) & (np.abs(preparation.mean_) <= _checks.LONGEST)).all():
        raise Misfit("MixedEncoder.scale_ leaves no finite numbers")
    again = MixedEncoder()
    again._adopt(preparation.plans_)
    made = (preparation.columns_, preparation.feature_names_)
    if (again.columns_, again.feature_names_) != made:
        raise Misfit("MixedEncoder.feature_names_ does not fit its plans")


def _check_estimator(model: BaseEstimator) -> None:
    name, held = type(model).__name__, vars(model)
    sizes: Sizes = {}
    if type(model) not in OURS:
        _check_scikit(model, sizes)
        return
    parameters = signature(type(model)).parameters
    check_fields({key: held[key] for key in parameters if key in held}, PARAMETERS, sizes, name)
    fitted = {key: value for key, value in held.items() if key not in parameters}
    if not any(key.endswith("_") for key in fitted):
        return  # a part that is not fitted, such as the one that a search makes copies of
    families = [family for family in NEEDED if isinstance(model, family)]
    for key in [
        "n_features_in_",
        *(word for family in families for word in NEEDED[family].split()),
    ]:
        if key not in fitted:
            raise Misfit(f"{name}.{key} is missing")
    check_fields(fitted, ATTRIBUTES, sizes, name)
    for family, check in FITTED.items():
        if isinstance(model, family):
            check_fields(fitted, {"_fitted_rows": check}, sizes, name)
            break
    if not isinstance(model, GraphClusterer) and "labels_" in fitted:
        check_fields(fitted, {"labels_": label("n")}, sizes, name)
    if isinstance(model, estimators.LPP) and model.components_ is None:
        raise Misfit("LPP.components_ is missing")
    joints.check(model, sizes)


def _check_scikit(model: BaseEstimator, sizes: Sizes) -> None:
    """A part of scikit-learn: its parameters as it has them, its arrays as far as we know them."""
    name, held = type(model).__name__, vars(model)
    if isinstance(model, MixedEncoder):
        check_preparation(model)
        return
    if not hasattr(model, "_parameter_constraints"):
        return  # not scikit-learn's own, and in no file
    missing = set(model._get_param_names()) - set(held)
    if missing:
        raise Misfit(f"{name}.{sorted(missing)[0]} is missing")
    model._validate_params()
    check_fields(
        held, {"n_jobs": PARAMETERS["n_jobs"], "n_features_in_": size_of("d", 0)}, sizes, name
    )
    if "n_features_in_" not in held:
        return
    checks = SCIKIT.get(type(model), {})
    for key in checks:
        if key not in held:
            raise Misfit(f"{name}.{key} is missing")
    check_fields(held, checks, sizes, name)


def _try_steps(model: Pipeline) -> None:
    """Steps before the last are tried on rows of zeros; what may happen there is a refusal."""
    before = model[:-1]
    d = getattr(model[0], "n_features_in_", None)
    if d is None or _holds_text(before):
        return
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            rows = before.transform(np.zeros((2, d)))
    except ValueError:
        return  # rows of zeros may be refused, and then others are, in words
    except Exception as error:
        raise Misfit(f"its steps do not work on rows ({type(error).__name__})") from None
    if rows.shape[1:] != (getattr(model[-1], "n_features_in_", None),):
        raise Misfit("its last step does not fit the steps before")


def _holds_text(value: Any) -> bool:
    if isinstance(value, BaseEstimator):
        return type(value).__module__.startswith("sklearn.feature_extraction") or any(
            _holds_text(item) for item in vars(value).values()
        )
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(_holds_text(item) for item in value if not isinstance(item, str))
    return isinstance(value, np.ndarray) and value.dtype.kind in "OSUmM"
