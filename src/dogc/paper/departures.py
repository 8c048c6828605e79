"""What each departure from the paper buys: ``dogc paper departures``.

Each departure is a class that overrides one step of the printed algorithm. The table has the
algorithm as printed, with one departure at a time, with all of them, and the library itself.
Nothing is chosen by ground truth; the number of clusters is that of the classes.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from .. import DOGC, DOGCOS
from ..datasets import UCI_NAMES
from ..metrics import clustering_accuracy
from .protocol import rows_and_classes
from .reproduction_page import markdown_table, text_table
from .runs import Options, code_version
from .variants import METHODS, printed_with

SYNTHETIC = ("moons 0.08 0", "clusters36 0.05 0", "gaussians 2.0 0")
DATA = (*UCI_NAMES, *SYNTHETIC)
# The printed algorithm seldom comes to rest, so this is what ends most of its runs.
MAX_ITER = 30
PRINTED, ALL = "as printed", "all of these"
SAME, DEFAULTS = "library, same k, m, penalties", "library"
# Nothing random is left in these, so they run once.
CERTAIN = ("start from the data", ALL, SAME, DEFAULTS)


def lines_of(method: str) -> list[str]:
    """The lines of the table for a method."""
    return [PRINTED, *METHODS[method][1], ALL, SAME, DEFAULTS]


# ----------------------------------------------------------------------------------- the table


class Fit(NamedTuple):
    """One run."""

    acc: float
    exact: bool  # the graph has exactly c components
    empty: int  # clusters without a row
    rose: bool  # whether the objective ever rose at the lambda and xi of an iteration
    iterations: int
    seconds: float  # of processor time


class Row(NamedTuple):
    """The runs of one variant on one data set: ACC and its spread, and how they ended."""

    data: str
    method: str
    variant: str
    seeds: int
    acc_median: float
    acc_q1: float
    acc_q3: float
    acc_best: float
    exact: float  # share of runs
    empty: float  # mean number
    rose: float  # share of runs
    iterations: float  # median
    seconds: float  # of processor time, mean of a run
    extent: str
    version: str  # of the code that was run


def settings(method: str, X: np.ndarray, c: int) -> dict[str, Any]:
    """What the text recommends: k = n/10, penalties as in its study of Vote, m = c of `eq:7`."""
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
    if variant == SAME:
        return library(**setting, penalties="paper", geometry="given", n_jobs=1)
    names = METHODS[method][1] if variant == ALL else () if variant == PRINTED else (variant,)
    return printed_with(method, *names)(**setting, max_iter=MAX_ITER, random_state=seed)


def execute(data: str, method: str, variant: str, seed: int) -> Fit:
    """One fit on one data set, z-scored if it is not synthetic."""
    X, y = rows_and_classes(data, "z-score")
    c = int(y.max()) + 1
    model = model_for(method, variant, X, c, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return Fit(
        clustering_accuracy(y, model.labels_),
        model.history_[-1].n_components == c,
        c - len(np.unique(model.labels_)),
        ever_rose(model.history_),
        model.n_iter_,
        time.process_time() - began,
    )


def ever_rose(history: Sequence[Any]) -> bool:
    """Whether the objective rose where it can be compared: at one lambda and one xi."""
    if hasattr(history[0], "objective_before"):
        pairs = [(record.objective_before, record.objective) for record in history]
    else:
        follow = itertools.pairwise(history)
        pairs = [(a.objective, b.objective) for a, b in follow if a.lam == b.lam]
    return any(after > before + 1e-9 * abs(before) for before, after in pairs)


def departures_table(data: str, options: Options) -> list[Row]:
    """Every variant of both methods on a data set, each with all seeds."""
    lines = [(data, method, variant) for method in METHODS for variant in lines_of(method)]
    runs = [
        (line, seed)
        for line in lines
        for seed in range(1 if line[2] in CERTAIN else options.n_runs)
    ]
    done = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(execute)(*line, seed) for line, seed in runs
    )
    fits: dict[tuple[str, str, str], list[Fit]] = {line: [] for line in lines}
    disable = None if options.progress is None else not options.progress
    bar = tqdm(zip(runs, done, strict=True), total=len(runs), desc=data, disable=disable)
    for (line, _), fit in bar:
        fits[line].append(fit)
    return [_row(line, fits[line]) for line in lines]


def _row(line: tuple[str, str, str], fits: Sequence[Fit]) -> Row:
    acc, exact, empty, rose, iterations, seconds = (
        np.array(part) for part in zip(*fits, strict=True)
    )
    q1, median, q3 = np.quantile(acc, [0.25, 0.5, 0.75])
    shares = exact.mean(), empty.mean(), rose.mean()
    ends = *shares, np.median(iterations), seconds.mean()
    values = [float(x) for x in (median, q1, q3, acc.max(), *ends)]
    return Row._make([*line, len(fits), *values, "full", code_version()])


def is_known(data: str, n_runs: int, rows: Sequence[Row]) -> bool:
    """Whether a data set stands there already, of this code and with as many seeds."""
    seeds = [row.seeds for row in rows if (row.data, row.version) == (data, code_version())]
    return bool(seeds) and max(seeds) >= n_runs


def text(rows: Sequence[Row]) -> str:
    """The table as lines for a terminal."""
    lines = [
        [f"{row.data.split()[0]} {row.method}, {row.variant}", f"{row.acc_median:.4f}",
         f"{row.acc_best:.4f}", f"{row.exact:.0%}", f"{row.rose:.0%}"]
        for row in rows
    ]  # fmt: skip
    return text_table(["", "ACC", "best", "exact", "rose"], lines)


# ------------------------------------------------------------------------------------ the page

CLOSE = 0.005  # medians this near are the same


def markdown(rows: Sequence[Row]) -> str:
    """Three tables: each method by departure, and the data sets."""
    parts = []
    for method in METHODS:
        own = [row for row in rows if row.method == method]
        base = {row.data: row.acc_median for row in own if row.variant == PRINTED}
        lines = [_summary(name, [row for row in own if row.variant == name], base)
                 for name in lines_of(method)]  # fmt: skip
        head = [method, "ACC", "change", "better / worse", "spread", "exact", "empty", "rose"]
        parts.append(markdown_table(head, lines))
    short = (PRINTED, ALL, DEFAULTS)
    found = {(row.data, row.method, row.variant): row for row in rows}
    lines = [[data.split()[0], *(_spread(found[data, method, name]) for method in METHODS
                                 for name in short)]
             for data in dict.fromkeys(row.data for row in rows)]  # fmt: skip
    head = ["ACC", *(f"{method}, {name}" for method in METHODS for name in short)]
    return "\n\n".join([*parts, markdown_table(head, lines)])


def _summary(name: str, rows: Sequence[Row], base: Mapping[str, float]) -> list[str]:
    """One departure over all data sets."""
    change = np.array([row.acc_median - base[row.data] for row in rows])
    mean = np.mean([row[4:11] for row in rows], axis=0)
    median, q1, q3, _, exact, empty, rose = mean
    counts = f"{np.sum(change > CLOSE)} / {np.sum(change < -CLOSE)}"
    shown = ["", ""] if name == PRINTED else [f"{change.mean():+.3f}", counts]
    return [name, f"{median:.3f}", *shown, f"{q3 - q1:.3f}", f"{exact:.0%}", f"{empty:.2f}",
            f"{rose:.0%}"]  # fmt: skip


def _spread(row: Row) -> str:
    wide = f" [{row.acc_q1:.3f}, {row.acc_q3:.3f}]" if row.acc_q3 - row.acc_q1 > 5e-4 else ""
    return f"{row.acc_median:.3f}{wide}"
