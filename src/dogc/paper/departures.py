"""The effect of each departure from the paper: ``dogc paper departures``.

Each departure is a class that overrides one step of the printed algorithm. The table has the
algorithm as printed, with one departure at a time, with all of them, what the authors' published
code does, and the library itself.
Nothing is chosen by ground truth; the number of clusters is that of the classes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import DOGC, DOGCOS
from ..datasets import UCI_NAMES
from ..metrics import clustering_accuracy
from .protocol import rows_and_classes
from .published import PublishedDOGC
from .runs import Results, code_version, fitted, in_parallel
from .variants import METHODS, printed_with

DATA = (*UCI_NAMES, "moons 0.08 0", "clusters36 0.05 0", "gaussians 2.0 0")
# The printed algorithm seldom comes to rest, so this is what ends most of its runs.
MAX_ITER = 30
PRINTED, ALL, PUBLISHED = "as printed", "all of these", "published code"
SAME, DEFAULTS = "library, same k, m, penalties", "library"
# Nothing random is left in these, so they run once.
CERTAIN = ("start from the data", ALL, SAME, DEFAULTS)

# Of departures.csv: how the runs of a variant ended. Column -> measure of a run, and what is taken
# over the runs. `exact` and `rose` are shares of the runs, `seconds` are of processor time.
MEASURES: dict[str, tuple[str, Any]] = {
    "seeds": ("acc", "size"),
    "acc_median": ("acc", lambda acc: np.quantile(acc, 0.5)),
    "acc_q1": ("acc", lambda acc: np.quantile(acc, 0.25)),
    "acc_q3": ("acc", lambda acc: np.quantile(acc, 0.75)),
    "acc_best": ("acc", "max"),
    "exact": ("exact", "mean"),
    "empty": ("empty", "mean"),
    "rose": ("rose", "mean"),
    "iterations": ("iterations", "median"),
    "seconds": ("seconds", "mean"),
}
COLUMNS = ["data", "method", "variant", *MEASURES, "extent", "version"]


def lines_of(method: str) -> list[str]:
    """The lines of the table for a method."""
    lines = [PRINTED, *METHODS[method][1], ALL, PUBLISHED, SAME, DEFAULTS]
    return lines if method == "DOGC-OS" else [line for line in lines if line != PUBLISHED]


def settings(method: str, X: np.ndarray, c: int) -> dict[str, Any]:
    """The text's recommendation: k = n/10, penalties as in its study of Vote, m = c of `eq:7`."""
    n, d = X.shape
    setting = {"n_clusters": c, "n_neighbors": max(1, round(n / 10)), "n_components": min(c, d)}
    penalties = {"alpha": 1e-4, "beta": 1e-2, "gamma": 1e-4, "p": 1.25}
    return {**setting, **(penalties if method == "DOGC-OS" else {"alpha": 1e-4})}


def model_for(method: str, variant: str, X: np.ndarray, c: int, seed: int) -> Any:
    """The estimator of one line of the table."""
    library = DOGC if method == "DOGC" else DOGCOS
    if variant == DEFAULTS:
        return library(c, init="spectral", n_jobs=1)
    setting = settings(method, X, c)
    if variant == PUBLISHED:
        return PublishedDOGC(c, n_neighbors=setting["n_neighbors"], random_state=seed)
    if variant == SAME:
        return library(**setting, penalties="paper", geometry="given", n_jobs=1)
    names = METHODS[method][1] if variant == ALL else () if variant == PRINTED else (variant,)
    return printed_with(method, *names)(**setting, max_iter=MAX_ITER, random_state=seed)


def execute(data: str, method: str, variant: str, seed: int) -> dict[str, Any]:
    """One fit on one data set, z-scored if it is not synthetic."""
    X, y = rows_and_classes(data, "z-score")
    c = int(y.max()) + 1
    began = time.process_time()
    model = fitted(model_for(method, variant, X, c, seed), X)
    return {
        **{"data": data, "method": method, "variant": variant},
        "acc": clustering_accuracy(y, model.labels_),
        "exact": model.history_[-1].n_components == c,  # components of the graph
        "empty": c - len(np.unique(model.labels_)),  # clusters without a row
        "rose": np.nan if variant == PUBLISHED else ever_rose(model.history_),
        "iterations": len(model.history_),
        "seconds": time.process_time() - began,
    }


def ever_rose(history: Sequence[Any]) -> bool:
    """Whether the objective rose where it can be compared: at one lambda and one xi."""
    if hasattr(history[0], "objective_before"):
        pairs = [(record.objective_before, record.objective) for record in history]
    else:
        follow = itertools.pairwise(history)
        pairs = [(a.objective, b.objective) for a, b in follow if a.lam == b.lam]
    return any(after > before + 1e-9 * abs(before) for before, after in pairs)


def departures_table(data: str, how: Results) -> list[dict[str, Any]]:
    """Every variant of both methods on a data set, each with all seeds."""
    seeds = {**dict.fromkeys(CERTAIN, 1), PUBLISHED: min(10, 2 * how.n_runs)}
    runs = [
        (data, method, variant, seed)
        for method in METHODS
        for variant in lines_of(method)
        for seed in range(seeds.get(variant, how.n_runs))
    ]
    fits = pd.DataFrame(in_parallel(execute, runs, how.jobs, data, how.quiet))
    rows = fits.groupby(["data", "method", "variant"], sort=False).agg(**MEASURES).reset_index()
    return rows.assign(extent="full", version=code_version()).to_dict("records")
