"""Attempts on what is passed to estimators and measures in Python."""

from __future__ import annotations

import pathlib
import pickle
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from conftest import CLUSTERERS, ESTIMATORS
from dogc import LPP, compare, metrics, quality, spectral_rotation
from fuzz.harness import Broken
from fuzz.odd_rows import Rng, contained, pick, values

# Where scikit-learn is asked to look at what was passed: what it says there is for users.
DOORS = ("_elsewhere.py", "_discretising.py", "comparison.py", "quality.py")
WRONG = (RuntimeWarning, DeprecationWarning, FutureWarning, PendingDeprecationWarning)
QUESTIONS = ("predict", "transform", "predict_membership", "score_outliers", "decision_function")
SILLY = (-1, 0, 1e300, 1e-300, np.nan, np.inf, "big", None, 1.5, 10**400, True, [1], 5e-324)
SCORES = [name for name in metrics.__all__ if name != "match_labels"]
NUMBERS = {"alpha", "beta", "gamma", "lam", "mu", "ridge", "tol", "bandwidth", "p", "max_time"}
CHOICES: dict[str, tuple[Any, ...]] = {
    "geometry": ("auto", "given", "standard", "within"),
    "metric": ("euclidean", "cosine", "manhattan", "precomputed"),
    "affinity": ("neighbors", "full", "precomputed"),
    "xi": ("row", "mean"),
    "penalties": ("relative", "paper"),
    "rule": ("logistic", "paper", "auto"),
    "fit_intercept": (True, False),
    "outlier_label": (None, -1),
    "n_components": ("auto", None, 1, 2),
    "min_cluster_size": ("auto", 1, 3),
    "init": ("spectral", "random"),
    "n_init": (1, 2),
    "n_neighbors": (None, 1, 2, 5, 59, "wide", "wide"),
    "n_representatives": ("auto", None, 5, 20),
    "n_landmarks": (None, 2, 10),
    "neighbors_algorithm": ("auto", "brute", "kd_tree"),
}


def attempt(rng: Rng, folder: pathlib.Path) -> str:
    """One odd input to one estimator or function."""
    X = values(rng)
    given = contained(rng, X, folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if rng.random() < 0.1:
            kind, done = "functions", _refused(lambda: _functions(rng, X, given))
        else:
            model = _estimator(rng, X)
            kind, done = type(model).__name__, _refused(lambda: _use(rng, model, X, given, folder))
    for warning in said:
        if issubclass(warning.category, WRONG):
            where = "/".join(pathlib.Path(warning.filename).parts[-2:])
            raise Broken(
                f"{kind}: {warning.category.__name__} {warning.message} at {where}:{warning.lineno}"
            )
    return f"{kind} {done}"


def _refused(use: Callable[[], None]) -> str:
    """Whether the input was taken or refused; a refusal must be one sentence."""
    try:
        use()
    except (ValueError, TypeError, NotFittedError) as error:
        frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        ours = [frame for frame in frames if "/src/dogc/" in frame]
        text = f"{type(error).__name__}: {error} ({'/'.join(frames[-1].split('/')[-2:])})"
        if frames[-1] not in ours:
            # A fault of the frame that asked, unless it asked whether X is any good.
            if "/sklearn/" not in frames[-1] or not ours or not ours[-1].endswith(DOORS):
                raise Broken(f"not ours to say: {text}") from error
        elif "\n" in str(error) or not str(error).endswith("."):
            raise Broken(f"no sentence: {text}") from error
        return "refused"
    return "taken"


def _estimator(rng: Rng, X: np.ndarray) -> Any:
    cls = pick(rng, [*CLUSTERERS, *CLUSTERERS[:2], LPP])
    n = len(X)
    has = cls().get_params()
    given = {name: pick(rng, CHOICES[name]) for name in has if name in CHOICES}
    # Few at once: what is refused at once says little.
    given = {name: value for name, value in given.items() if rng.random() < 0.15}
    if rng.random() < 0.3:
        name = pick(rng, sorted(has))
        given[name] = pick(rng, SILLY)
        if name in NUMBERS and rng.random() < 0.7:
            given[name] = float(10.0 ** rng.uniform(-101, 101))
    if cls is not LPP:
        given.setdefault("n_clusters", pick(rng, [1, 2, 3, 3, 3, n - 1, n]))
    if "random_state" in has:
        given.setdefault("random_state", 0)
    if given.get("n_init") in (10**400,):
        given.pop("n_init")  # no end otherwise
    return cls(**{name: value for name, value in given.items() if name in has})


def _weights(rng: Rng, n: int) -> Any:
    spread = 10.0 ** rng.uniform(-300, 300, n)
    odd = [spread, np.zeros(n), np.full(n, np.nan), -np.ones(n), np.ones(n + 1), ["a"] * n, 2.0]
    return pick(rng, [rng.integers(0, 3, n), rng.random(n), *odd])


def _use(rng: Rng, model: Any, X: np.ndarray, given: Any, folder: pathlib.Path) -> None:
    """Fit, and ask all that can be asked."""
    if "precomputed" in (getattr(model, "metric", ""), getattr(model, "affinity", "")):
        given = _square(rng, model, X, given)
    weight = {}
    if isinstance(model, ESTIMATORS) and rng.random() < 0.2:
        weight = {"sample_weight": _weights(rng, len(X))}
    fitted = clone(model).fit(given, **weight)
    _look(fitted, weight)
    if not weight and rng.random() < 0.3 and hasattr(model, "fit_predict"):
        _same(model, clone(model).fit_predict(given), fitted.labels_)
    _ask(fitted, given)
    if rng.random() < 0.5:
        new, width = values(rng), fitted.n_features_in_
        new = np.resize(new, (len(new), width)) if rng.random() < 0.9 else new
        _ask(fitted, contained(rng, new, folder))
    if rng.random() < 0.2:
        again = pickle.loads(pickle.dumps(fitted))
        if hasattr(model, "predict"):
            _refused(lambda: _same(model, again.predict(given), fitted.predict(given)))


def _same(model: Any, one: Any, other: Any) -> None:
    if not np.array_equal(one, other) and model.random_state is not None:
        raise Broken(f"{model}: other labels at the second time")


def _square(rng: Rng, model: Any, X: np.ndarray, given: Any) -> Any:
    """Mostly a graph, with weights as odd as the rows."""
    if rng.random() < 0.2:
        return given
    n = len(X)
    with np.errstate(all="ignore"):
        A = np.abs(np.resize(X, (n, n)))
        A = np.maximum(A, A.T)
    A[rng.random((n, n)) < 0.3] = 0.0
    A = np.maximum(A, A.T)
    return sp.csr_array(A) if rng.random() < 0.8 else A


def _look(model: Any, weight: Any) -> None:
    """All that a fit leaves must be numbers, and all clusters have rows."""
    unknown = ("membership_", "outlier_scores_") if weight else ()
    unknown = (*unknown, "eigenvalues_")  # of directions that there are not
    for name, value in vars(model).items():
        held = value.data if sp.issparse(value) else value
        known = name.endswith("_") and name not in unknown and isinstance(held, np.ndarray | float)
        if known and np.asarray(held).dtype.kind == "f" and not np.isfinite(held).all():
            raise Broken(f"{model}: {name} is not finite")
    if not hasattr(model, "labels_"):
        return
    labels, marked = np.asarray(model.labels_), getattr(model, "outlier_label", None) is not None
    found = set(labels[labels >= 0].tolist())
    most = getattr(model, "n_clusters_", model.n_clusters)
    least = model.outlier_label if marked else 0
    if labels.dtype.kind != "i" or labels.min() < least or labels.max() >= most:
        raise Broken(f"{model}: labels {sorted(found)}")
    if not marked and found != set(range(len(found))):
        raise Broken(f"{model}: a cluster has no rows: {sorted(found)}")


def _ask(model: Any, X: Any) -> None:
    """Ask each method about rows: any may refuse them."""
    for name in QUESTIONS:
        if hasattr(model, name):
            _refused(lambda name=name: _answer(model, name, X))


def _answer(model: Any, name: str, X: Any) -> None:
    """An answer must be numbers, and labels only those that fit produced."""
    found = getattr(model, name)(X)
    held = found.data if sp.issparse(found) else np.asarray(found)
    if not np.isfinite(held).all():
        raise Broken(f"{model}: {name} is not finite")
    if name == "predict_membership" and not np.allclose(held.sum(axis=1), 1.0, atol=1e-4):
        raise Broken(f"{model}: shares do not sum to 1")
    if name == "predict":
        known = set(np.asarray(model.labels_).tolist())
        if getattr(model, "outlier_label", None) is not None:
            known |= {model.outlier_label, *range(model.n_clusters_)}
        if not set(held.tolist()) <= known:
            raise Broken(f"{model}: predict gives {set(held.tolist()) - known}")


def _functions(rng: Rng, X: np.ndarray, given: Any) -> None:
    """Measures and the other functions."""
    labels = rng.integers(0, 3, len(X))
    other = pick(rng, [labels, labels.tolist(), labels.astype(str), given, X[:, 0], labels[1:]])
    measure = pick(rng, [getattr(metrics, name) for name in SCORES])
    found = measure(*((labels, other) if rng.random() < 0.5 else (other, labels)))
    found = list(found.values()) if isinstance(found, dict) else [found]
    if not all(-1.0 <= value <= 1.0 + 1e-9 for value in found):
        raise Broken(f"{measure.__name__} gives {found}")
    ask = pick(rng, ["rotation", "evidence", "compare"])
    if ask == "rotation":
        found = spectral_rotation(given, random_state=0)
        if set(found.tolist()) != set(range(np.shape(given)[1])):
            raise Broken(f"spectral_rotation gives {set(found.tolist())}")
    elif ask == "evidence":
        found = quality.evidence(given, labels).stability
        if not (np.isnan(found) or 0.0 <= found <= 1.0):
            raise Broken(f"stability is {found}")
    else:
        compare(given, 2, ["KM", "N-cut", "DOGC"], pick(rng, [None, other]), progress=False)
