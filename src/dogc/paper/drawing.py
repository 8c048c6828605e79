"""What the figures share: axes, files, and scores over draws and starts."""

from __future__ import annotations

import io
import pathlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._atomic import draft_of
from .protocol import seeded
from .runs import Cache, Options, make_run, run_all

BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d9772b", "#3c8d5a", "#8a8a8a"
METRICS = ("acc", "nmi_max")
SPREADS = ("worst", "median", "best")
SCORES = tuple(f"{metric}_{name}" for metric in METRICS for name in SPREADS)


class FigureOptions(NamedTuple):
    """What every figure may need."""

    cache: Cache
    out: pathlib.Path
    how: Options

    @property
    def n_runs(self) -> int:
        """Seeds of each setting."""
        return self.how.n_runs


class Case(NamedTuple):
    """A method with one setting, on one data set or on draws of it ("moons 0.1")."""

    method: str
    data: str
    setting: dict[str, Any]
    preprocessing: str = "z-score"


def scores(
    options: FigureOptions, cases: Sequence[Case], seeds: range, *, drawn: bool, title: str
) -> list[dict[str, np.ndarray]]:
    """ACC and NMI of each case over seeds; ``drawn`` data are drawn anew by each."""
    runs = [
        [
            make_run(
                case.method,
                f"{case.data} {seed}" if drawn else case.data,
                seeded(case.method, case.setting, seed),
                case.preprocessing,
            )
            for seed in seeds
        ]
        for case in cases
    ]
    every = [run for of_case in runs for run in of_case]
    run_all(every, options.cache, options.how, title)
    return [
        {metric: np.array([_result(options, run)[metric] for run in of_case]) for metric in METRICS}
        for of_case in runs
    ]


def _result(options: FigureOptions, run: Any) -> dict[str, Any]:
    result = options.cache.get(run) or {}
    if "error" in result:
        raise ValueError(f"{run.method} on {run.data} with {run.setting}: {result['error']}")
    return result


def spread(values: Any) -> tuple[float, float, float]:
    """Worst, median and best."""
    return float(np.min(values)), float(np.median(values)), float(np.max(values))


def digits(values: Iterable[float]) -> list[str]:
    """Numbers for a CSV file."""
    return [f"{value:.4f}" for value in values]


def score_cells(found: dict[str, np.ndarray]) -> list[str]:
    """The cells under ``SCORES``."""
    return [cell for metric in METRICS for cell in digits(spread(found[metric]))]


def figure_axes(n_columns: int, n_rows: int = 1, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure and its axes, without a display."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (width * n_columns, height * n_rows)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)


def write_figure(figure: Any, path: pathlib.Path) -> pathlib.Path:
    """Write a figure whole or not at all; in 256 colours, a third of the bytes."""
    import matplotlib.pyplot as plt
    from PIL import Image  # matplotlib needs it, too

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    plt.close(figure)
    with draft_of(path) as draft:
        Image.open(drawn).convert("RGB").quantize(256).save(draft, format="png", optimize=True)
    return path


def fitted(model: Any, X: np.ndarray) -> Any:
    """A fitted model, without its warnings: figures show where it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def scatter(axis: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Rows in the plane, one colour a cluster."""
    axis.scatter(X[:, 0], X[:, 1], c=labels % 20, cmap="tab20", s=9, linewidths=0)
    axis.set_title(title, fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def edges(axis: Any, X: np.ndarray, graph: Any) -> None:
    """The edges of a graph between rows in the plane."""
    from matplotlib.collections import LineCollection

    graph = graph.tocoo()
    pairs = X[np.column_stack([graph.row, graph.col])][:, :, :2]
    axis.add_collection(LineCollection(pairs, colors=GREY, linewidths=0.3, zorder=0))
