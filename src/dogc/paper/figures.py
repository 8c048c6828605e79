"""The figures: synthetic data, sensitivity to parameters, convergence (needs matplotlib)."""

from __future__ import annotations

import functools
import pathlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from .. import DOGC, DOGCOS, LPP, DOGCFixedGraph, DOGCRelaxed
from .._atomic import draft_of, write_csv
from ..metrics import clustering_accuracy
from .protocol import SYNTHETIC, rows_and_classes
from .runs import Cache, make_run, run_all

NOISES = tuple(round(0.01 * i, 2) for i in range(2, 11))
DISTANCES = {"far": 4.0, "relatively close": 1.2, "fairly close": 0.5}
ALPHAS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)
POWERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
GRID = (1e-4, 1e-2, 1.0, 1e2)
BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d9772b", "#3c8d5a", "#8a8a8a"


class FigureOptions(NamedTuple):
    """What every figure may need."""

    cache: Cache
    out: pathlib.Path
    n_runs: int
    jobs: int
    progress: bool | None


def figure_axes(n_columns: int, n_rows: int = 1, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure and its axes, without a display."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (width * n_columns, height * n_rows)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)


def write_figure(figure: Any, path: pathlib.Path) -> pathlib.Path:
    """Write a figure whole or not at all."""
    import matplotlib.pyplot as plt

    with draft_of(path) as draft:
        figure.savefig(draft, format="png", dpi=110)
    plt.close(figure)
    return path


def scatter(axis: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Rows in the plane, one colour a cluster."""
    axis.scatter(X[:, 0], X[:, 1], c=labels % 20, cmap="tab20", s=9, linewidths=0)
    axis.set_title(title, fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def scatter_fits(
    axes: Any, models: dict[str, Any], X: np.ndarray, y: np.ndarray, view: np.ndarray
) -> None:
    """The clusters that each model finds, and how right they are."""
    for axis, (name, model) in zip(axes, models.items(), strict=False):
        labels = model.fit_predict(X)
        scatter(axis, view, labels, f"{name}, ACC {clustering_accuracy(y, labels):.3f}")


def clusters36(options: FigureOptions) -> pathlib.Path:
    """36 clusters on a sphere by k-means, DOGC-I and DOGC-OS, and ACC against noise."""
    X, y = SYNTHETIC["clusters36"](0.05, 0)
    models = {
        "KM": KMeans(36, n_init=1, random_state=0),
        "DOGC-I": DOGCRelaxed(36),
        "DOGC-OS": DOGCOS(36),
    }
    figure, axes = figure_axes(4)
    view = X @ np.linalg.qr(np.array([[1.0, 0.2, 0.1], [0.1, 1.0, 0.4], [0.2, 0.3, 1.0]]))[0]
    scatter_fits(axes[0], models, X, y, view)
    colours = {"KM": GREY, "DOGC-I": ORANGE, "DOGC-OS": BLUE}
    for name, colour in colours.items():
        low, middle, best = noise_curve(options, name)
        axes[0, 3].plot(NOISES, best, color=colour, label=f"{name}, best")
        axes[0, 3].plot(NOISES, middle, color=colour, ls=":", label=f"{name}, median")
        axes[0, 3].fill_between(NOISES, low, best, color=colour, alpha=0.12, lw=0)
    axes[0, 3].set(xlabel="noise", ylabel="ACC")
    axes[0, 3].set_title(f"{options.n_runs} runs", fontsize=10)
    axes[0, 3].legend(fontsize=7, frameon=False)
    return write_figure(figure, options.out / "clusters36.png")


def noise_curve(options: FigureOptions, method: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Worst, median and best ACC at every noise level, data and start drawn anew each run."""
    curves = []
    for noise in NOISES:
        runs = [
            make_run(method, f"clusters36 {noise} {seed}", _start(method, seed), "as drawn")
            for seed in range(options.n_runs)
        ]
        title = f"noise {noise} {method}"
        run_all(runs, options.cache, jobs=options.jobs, title=title, progress=options.progress)
        scores = [(options.cache.get(run) or {})["acc"] for run in runs]
        curves.append((min(scores), float(np.median(scores)), max(scores)))
    return tuple(np.array(curve) for curve in zip(*curves, strict=True))  # type: ignore[return-value]


def _start(method: str, seed: int) -> dict[str, Any]:
    if method == "KM":
        return {"n_init": 1, "random_state": seed}
    return {"init": "random", "random_state": seed} if method == "DOGC-OS" else {}


def moons(options: FigureOptions) -> pathlib.Path:
    """Two moons by k-means, DOGC-II and DOGC-OS, and the learned graph."""
    X, y = SYNTHETIC["moons"](0.08, 0)
    models = {
        "KM": KMeans(2, n_init=10, random_state=0),
        "DOGC-II": DOGCFixedGraph(2),
        "DOGC-OS": DOGCOS(2),
    }
    figure, axes = figure_axes(4)
    scatter_fits(axes[0], models, X, y, X)
    graph = models["DOGC-OS"].affinity_matrix_.tocoo()
    for i, j in zip(graph.row, graph.col, strict=True):
        axes[0, 3].plot(X[[i, j], 0], X[[i, j], 1], color=GREY, lw=0.3, zorder=0)
    scatter(axes[0, 3], X, models["DOGC-OS"].labels_, "the learned graph")
    return write_figure(figure, options.out / "moons.png")


def gaussians(options: FigureOptions) -> pathlib.Path:
    """Directions of PCA, LPP, DOGC and DOGC-OS on two Gaussians at three distances."""
    figure, axes = figure_axes(3, width=4.0, height=3.4)
    for axis, (title, distance) in zip(axes[0], DISTANCES.items(), strict=True):
        X, y = SYNTHETIC["gaussians"](distance, 0)
        scatter(axis, X, y, f"{title}: means {distance} apart")
        axis.set_aspect("equal", "datalim")
        for name, direction, colour, style in directions(X):
            length = 1.6 * direction / np.linalg.norm(direction)
            line = np.array([-length, length])
            axis.plot(line[:, 0], line[:, 1], color=colour, ls=style, lw=2, label=name)
        axis.legend(fontsize=7, frameon=False)
    rows = [
        (title, distance, name, *(f"{value:.3f}" for value in alignment(distance, name)))
        for title, distance in DISTANCES.items()
        for name in ("PCA", "LPP", "DOGC", "DOGC-OS")
    ]
    header = ("title", "distance", "method", "worst", "median", "best")
    write_csv(options.out / "gaussians.csv", header, rows)
    return write_figure(figure, options.out / "gaussians.png")


@functools.cache
def _alignments(distance: float) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for seed in range(10):
        X, _ = SYNTHETIC["gaussians"](distance, seed)
        for name, direction, *_ in directions(X):
            found.setdefault(name, []).append(abs(direction[1]) / np.linalg.norm(direction))
    return found


def alignment(distance: float, method: str) -> tuple[float, float, float]:
    """Worst, median and best of the cosine to the line between the means, over ten draws."""
    values = _alignments(distance)[method]
    return min(values), float(np.median(values)), max(values)


def directions(X: np.ndarray) -> list[tuple[str, np.ndarray, str, str]]:
    """The first direction that each method projects on, with a colour and a line style."""
    models: list[tuple[str, Any, str, str]] = [
        ("PCA", PCA(1), GREY, "-"),
        ("LPP", LPP(1), GREEN, "--"),
        ("DOGC", DOGC(2, n_components=1, xi="row"), BLUE, "-"),
        ("DOGC-OS", DOGCOS(2, n_components=1, xi="row"), ORANGE, ":"),
    ]
    return [(name, model.fit(X).components_[0], *look) for name, model, *look in models]


def _curve(
    options: FigureOptions, method: str, data: str, name: str, values: Any
) -> dict[str, Any]:
    k = max(2, round(len(rows_and_classes(data, "z-score")[0]) / 10))
    runs = [make_run(method, data, {name: v, "n_neighbors": k}, "z-score") for v in values]
    title = f"{data} {name}"
    run_all(runs, options.cache, jobs=options.jobs, title=title, progress=options.progress)
    results = [options.cache.get(run) or {} for run in runs]
    return {metric: [result[metric] for result in results] for metric in ("acc", "nmi_max")}


def alpha(options: FigureOptions) -> pathlib.Path:
    """ACC and NMI of DOGC against alpha on Vote and Ecoli."""
    return _sensitivity_curves(options, "DOGC", "alpha", ALPHAS, log=True)


def power(options: FigureOptions) -> pathlib.Path:
    """ACC and NMI of DOGC-OS against p on Vote and Ecoli."""
    return _sensitivity_curves(options, "DOGC-OS", "p", POWERS, log=False)


def _sensitivity_curves(
    options: FigureOptions, method: str, name: str, values: Any, *, log: bool
) -> pathlib.Path:
    figure, axes = figure_axes(2)
    for data, colour in (("vote", BLUE), ("ecoli", ORANGE)):
        curves = _curve(options, method, data, name, values)
        for axis, metric, label in zip(axes[0], curves, ("ACC", "NMI (max)"), strict=True):
            axis.plot(values, curves[metric], "o-", color=colour, label=data, ms=4)
            axis.set(xlabel=name, ylabel=label, ylim=(0, 1))
            axis.legend(fontsize=8, frameon=False)
            if log:
                axis.set_xscale("log")
    return write_figure(figure, options.out / f"{name}.png")


def sensitivity(options: FigureOptions) -> pathlib.Path:
    """ACC of DOGC-OS over alpha, beta and gamma on Vote and Ecoli."""
    figure, axes = figure_axes(len(GRID), 2, width=2.6, height=2.5)
    for line, data in zip(axes, ("vote", "ecoli"), strict=True):
        k = max(2, round(len(rows_and_classes(data, "z-score")[0]) / 10))
        for axis, a in zip(line, GRID, strict=True):
            runs = [
                make_run(
                    "DOGC-OS",
                    data,
                    {"alpha": a, "beta": b, "gamma": g, "n_neighbors": k},
                    "z-score",
                )
                for b in GRID
                for g in GRID
            ]
            title = f"{data} grid"
            run_all(runs, options.cache, jobs=options.jobs, title=title, progress=options.progress)
            table = np.array([(options.cache.get(run) or {})["acc"] for run in runs])
            image = axis.imshow(table.reshape(len(GRID), -1), vmin=0, vmax=1, cmap="viridis")
            ticks = [f"{value:g}" for value in GRID]
            axis.set_xticks(range(len(GRID)), ticks, fontsize=7)
            axis.set_yticks(range(len(GRID)), ticks, fontsize=7)
            axis.set(xlabel="gamma", ylabel="beta")
            axis.set_title(f"{data}, alpha={a:g}", fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.6, label="ACC")
    return write_figure(figure, options.out / "sensitivity.png")


def convergence(options: FigureOptions) -> pathlib.Path:
    """Objective against iteration at fixed lambda on Vote and Ecoli."""
    figure, axes = figure_axes(2)
    for axis, data in zip(axes[0], ("vote", "ecoli"), strict=True):
        X, y = rows_and_classes(data, "z-score")
        k, c = max(2, round(len(X) / 10)), int(y.max()) + 1
        first = _history(DOGC(c, n_neighbors=k, max_iter=1), X)[0].lam
        for cls, colour, style in ((DOGC, BLUE, "o-"), (DOGCOS, ORANGE, "x--")):
            model = cls(c, n_neighbors=k, lam=first, tol=1e-9, max_iter=20, init="random")
            values = [r.objective for r in _history(model.set_params(random_state=0), X)]
            steps = range(1, len(values) + 1)
            axis.plot(steps, values, style, color=colour, ms=4, label=cls.__name__)
        axis.set(xlabel="iteration", ylabel="objective")
        axis.set_title(f"{data}, lambda fixed at {first:.2g}", fontsize=10)
        axis.legend(fontsize=8, frameon=False)
    return write_figure(figure, options.out / "convergence.png")


def _history(model: DOGC, X: np.ndarray) -> list[Any]:
    """The history of a fit that may end before it has converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X).history_


FIGURES: dict[str, Callable[[FigureOptions], pathlib.Path]] = {
    "clusters36": clusters36,
    "moons": moons,
    "gaussians": gaussians,
    "alpha": alpha,
    "p": power,
    "sensitivity": sensitivity,
    "convergence": convergence,
}
