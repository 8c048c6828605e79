"""The figures of the paper.

On synthetic data: 36 clusters, two moons, two Gaussians. On Vote and Ecoli: alpha, beta, gamma, p,
and the objective by iteration, all in the paper's own units and without an intercept, from random
starts, as it has them.
"""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from .. import DOGC, DOGCOS, LPP
from ..metrics import clustering_accuracy
from . import protocol
from . import reproduction_page as pages
from .protocol import PAPER_RANGE, POWERS, SYNTHETIC, Setting, make_model, rows_and_classes, seeded
from .runs import Results, fitted, make_run

# ------------------------------------------------------------------------------ synthetic data

# A component of any size is a cluster, columns are as given, as in the paper.
AS_PRINTED: Setting = {"geometry": "given", "min_cluster_size": 1}
# A tenth of the rows, which the paper recommends, is more than the 20 rows of a cluster.
OF_CLUSTERS36: Setting = {**AS_PRINTED, "n_neighbors": 15, "max_iter": 30}
OF_MOONS: Setting = {**AS_PRINTED, "n_neighbors": 20}
OF_GAUSSIANS: Setting = {"n_components": 1, "n_neighbors": 40, "min_cluster_size": 1}

NOISES = tuple(round(0.01 * i, 2) for i in range(2, 11))
MOON_NOISES = (0.08, 0.1, 0.12, 0.14, 0.16)
RIGHT = 0.98  # ACC from which two moons count as found
DISTANCES = {"far": 4.0, "relatively close": 1.8, "fairly close": 1.2, "closer still": 0.5}
DRAWS = 30  # of the Gaussians
# Of the directions; that of DOGC lies under that of DOGC-OS.
LOOKS = ((pages.GREEN, "-", 2), ("#a03a8c", "--", 2), (pages.BLUE, "-", 5), (pages.ORANGE, ":", 2))
COLOURS = {"KM": pages.GREY, "DOGC-I": pages.ORANGE, "DOGC-II": pages.ORANGE, "DOGC-OS": pages.BLUE}


def clusters36(results: Results, path: pathlib.Path) -> Any:
    """36 clusters by k-means, DOGC-I and DOGC-OS, the learned graph, and ACC against noise."""
    names = ("KM", "DOGC-I", "DOGC-OS")
    view = np.linalg.qr(np.array([[1.0, 0.2, 0.1], [0.1, 1.0, 0.4], [0.2, 0.3, 1.0]]))[0]
    figure, axis = _clusters_and_graph(names, "clusters36", 0.05, OF_CLUSTERS36, view)
    for name, found in _against_noise(results, path, NOISES, names, OF_CLUSTERS36):
        look = {"color": COLOURS[name], "lw": 4.0 if name == "DOGC-I" else 1.5}
        axis.plot(NOISES, found.acc_best, label=f"{name}, best", **look)
        axis.plot(NOISES, found.acc_median, ls=":", label=f"{name}, median", **look)
    axis.set(xlabel="noise", ylabel="ACC")
    axis.set_title(f"{results.n_runs} runs", fontsize=10)
    axis.legend(fontsize=7, frameon=False)
    return figure


def moons(results: Results, path: pathlib.Path) -> Any:
    """Two moons by k-means, DOGC-II and DOGC-OS, the learned graph, and who finds them."""
    names = ("KM", "DOGC-II", "DOGC-OS")
    figure, axis = _clusters_and_graph(names, "moons", 0.1, OF_MOONS, np.eye(2))
    for name, found in _against_noise(results, path, MOON_NOISES, names, OF_MOONS, RIGHT):
        axis.plot(MOON_NOISES, found.right, "o-", color=COLOURS[name], ms=4, label=name)
    axis.set(xlabel="noise", ylabel=f"draws with ACC ≥ {RIGHT}")
    axis.set_title(f"{results.n_runs} draws", fontsize=10)
    axis.legend(fontsize=8, frameon=False)
    return figure


def _clusters_and_graph(
    names: Sequence[str], data: str, noise: float, setting: Setting, view: np.ndarray
) -> tuple[Any, Any]:
    """A figure with the clusters of each method and the graph of the last; its last, empty axis."""
    from matplotlib.collections import LineCollection

    X, y = SYNTHETIC[data](noise, 0)
    figure, axes = pages.figure_axes(5, width=2.7, height=2.8)
    figure.suptitle(f"The first four panels: noise {noise}", fontsize=9, x=0.01, ha="left")
    place = (X @ view)[:, :2]
    for axis, name in zip(axes[0], names, strict=False):
        own = seeded(name, {} if name == "KM" else setting, 0)
        model = fitted(make_model(name, int(y.max()) + 1).set_params(**own), X)
        labels = model.labels_
        _scatter(axis, place, labels, f"{name}, ACC {clustering_accuracy(y, labels):.3f}")
    graph = model.affinity_matrix_.tocoo()
    edges = place[np.column_stack([graph.row, graph.col])]
    axes[0, 3].add_collection(LineCollection(edges, colors=pages.GREY, linewidths=0.3, zorder=0))
    _scatter(axes[0, 3], place, labels, "its learned graph")
    return figure, axes[0, 4]


def _scatter(axis: Any, place: np.ndarray, labels: np.ndarray, title: str) -> None:
    from matplotlib import colormaps

    colours = np.vstack([colormaps[name](range(20)) for name in ("tab20", "tab20b")])
    axis.scatter(*place.T, c=colours[labels], s=9, linewidths=0)
    axis.set(xticks=[], yticks=[])
    axis.set_title(title, fontsize=10)


def _against_noise(
    results: Results, path: pathlib.Path, noises: Sequence[float], methods: Iterable[str],
    setting: Setting, right: float | None = None,
) -> Iterable[tuple[Any, pd.DataFrame]]:  # fmt: skip
    """Scores against noise by method; data and start are drawn anew for every run."""
    points: pages.Points = []
    for noise, name in itertools.product(noises, methods):
        own = {} if name == "KM" else setting
        drawn = {f"{path.stem} {noise} {i}": seeded(name, own, i) for i in range(results.n_runs)}
        runs = [make_run(name, data, one, "as drawn") for data, one in drawn.items()]
        points.append(({"noise": str(noise), "method": name, "runs": results.n_runs}, runs))
    return pages.write_scores(results, path, points, right).groupby("method", sort=False)


def gaussians(results: Results, path: pathlib.Path) -> Any:
    """Directions of PCA, LPP, DOGC and DOGC-OS on two Gaussians that come closer."""
    figure, axes = pages.figure_axes(4, height=3.2)
    draws = range(min(DRAWS, results.n_runs))
    rows = []
    for axis, (title, distance) in zip(axes[0], DISTANCES.items(), strict=True):
        X, y = SYNTHETIC["gaussians"](distance, 0)
        axis.scatter(X[:, 0], X[:, 1], c=np.where(y, "#c9c9c9", "#8f8f8f"), s=7, linewidths=0)
        axis.set_title(f"{title}: {distance}", fontsize=10)
        axis.set(xticks=[], yticks=[], xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
        for (name, line), (colour, style, width) in zip(directions(X).items(), LOOKS, strict=True):
            ends = 2.2 * np.array([-line, line])
            axis.plot(*ends.T, style, color=colour, lw=width, label=name)
        drawn = [SYNTHETIC["gaussians"](distance, seed) for seed in draws]
        acc, other = np.median([_apart(*data) for data in drawn], axis=0)
        cosines = pd.DataFrame([directions(X) for X, _ in drawn]).map(lambda line: abs(line[1]))
        rows += [
            {"title": title, "distance": str(distance), "method": name, "draws": len(draws),
             **pages.spread(cosines[name]), "acc_of_the_right_direction": acc,
             "neighbours_in_the_other_cloud": other}
            for name in cosines
        ]  # fmt: skip
    axes[0, 3].legend(fontsize=8, frameon=False, loc="lower right")
    pages.write_csv(path, rows)
    return figure


def _apart(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Two measures of how far the clouds can be told apart.

    The ACC of the two sides of the middle between the means, and the share of the nearest
    neighbours that lie in the other cloud.
    """
    search = NearestNeighbors(n_neighbors=OF_GAUSSIANS["n_neighbors"]).fit(X)
    neighbours = search.kneighbors(return_distance=False)
    other = float(np.mean(y[neighbours] != y[:, None]))
    return clustering_accuracy(y, (X[:, 1] > 0).astype(int)), other


def directions(X: np.ndarray) -> dict[str, np.ndarray]:
    """The first direction that each method projects on, of length 1."""
    models: dict[str, Any] = {
        "PCA": PCA(1),
        "LPP": LPP(1, n_neighbors=OF_GAUSSIANS["n_neighbors"]),
        "DOGC": DOGC(2, **OF_GAUSSIANS),
        "DOGC-OS": DOGCOS(2, **OF_GAUSSIANS),
    }
    lines = {name: fitted(model, X).components_[0] for name, model in models.items()}
    return {name: line / np.linalg.norm(line) for name, line in lines.items()}


# ------------------------------------------------------------------------------ Vote and Ecoli

STARTS = 10
NAMES = ("alpha", "beta", "gamma")
# The values at which fig:4 (Vote) and fig:5 (Ecoli) hold the parameter that a panel fixes.
FIXED = {
    "vote": {"alpha": 1e-4, "beta": 1e-2, "gamma": 1e-4},
    "ecoli": {"alpha": 1e-6, "beta": 1e-3, "gamma": 1e-6},
}
# The paper does not print the three groups of fig:6: its values on Vote, those on Ecoli, and
# the largest alpha that it recommends.
GROUPS = (*FIXED.values(), {"alpha": 1e-2, "beta": 1e-2, "gamma": 1e-4})
# The lines of fig:7: the paper's units, ours, and the paper's without a projection.
IN_UNITS: Setting = {"penalties": "paper", "n_components": 3}
LINES: dict[str, Setting] = {
    "paper units": IN_UNITS,
    "relative units": {**IN_UNITS, "penalties": "relative"},
    "no projection": {**IN_UNITS, "n_components": None},
}
CURVES = ((pages.BLUE, 4.0), (pages.ORANGE, 1.5), (pages.GREEN, 1.5))  # a line may lie upon another
TOLERANCES = (1e-3, 1e-6)


def base_setting(data: str, method: str) -> Setting:
    """The parameters that are the same in all of these figures.

    The paper does not print m; its code has 3 for Vote. k is a tenth of the rows.
    """
    k = round(len(rows_and_classes(data, "z-score")[0]) / 10)
    return {**protocol.fixed(method, "paper"), "n_neighbors": k, "n_components": 3, "max_iter": 30}


def _over_starts(
    results: Results, path: pathlib.Path, method: str, points: Sequence[Setting]
) -> pd.DataFrame:
    """Scores of points (data, parameters) over random starts."""
    starts = range(min(STARTS, results.n_runs))
    lines: pages.Points = []
    for point in points:
        data = point["data"]
        own = {key: value for key, value in point.items() if key not in ("data", "panel")}
        setting = base_setting(data, method) | own
        runs = [make_run(method, data, seeded(method, setting, i), "z-score") for i in starts]
        texts = {key: _text(value) for key, value in point.items()}
        lines.append(({"method": method, **texts, "starts": len(starts)}, runs))
    return pages.write_scores(results, path, lines)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def alpha(results: Results, path: pathlib.Path) -> Any:
    """ACC and NMI of DOGC against alpha: the paper's units, ours, and without a projection."""
    return _curves(results, path, "DOGC", LINES, PAPER_RANGE, xscale="log")


def power(results: Results, path: pathlib.Path) -> Any:
    """ACC and NMI of DOGC-OS against p, with three groups of alpha, beta and gamma."""
    groups = {", ".join(f"{value:g}" for value in group.values()): group for group in GROUPS}
    return _curves(results, path, "DOGC-OS", groups, POWERS, title="alpha, beta, gamma")


def _curves(
    results: Results, path: pathlib.Path, method: str, lines: dict[str, Setting],
    values: Sequence[float], xscale: str = "linear", title: str | None = None,
) -> Any:  # fmt: skip
    """The median over starts and the range around it against a parameter, by data and measure."""
    name = path.stem
    every = itertools.product(FIXED, lines.values(), values)
    points = [{"data": data, **line, name: value} for data, line, value in every]
    found = _over_starts(results, path, method, points)
    figure, axes = pages.figure_axes(4)
    panels = itertools.product(FIXED, {"acc": "ACC", "nmi_max": "NMI"}.items())
    for axis, (data, (metric, measure)) in zip(axes[0], panels, strict=True):
        of_data = found[found.data == data]
        for i, (label, (colour, width)) in enumerate(zip(lines, CURVES, strict=True)):
            rows = of_data[i * len(values) : (i + 1) * len(values)]
            low, middle, high = (rows[f"{metric}_{end}"] for end in ("worst", "median", "best"))
            axis.plot(values, middle, "o-", color=colour, ms=4, lw=width, label=label)
            axis.fill_between(values, low, high, color=colour, alpha=0.15, lw=0)
        axis.set(ylim=(0, 1), xscale=xscale, xlabel=name)
        axis.set_title(f"{data}, {measure}", fontsize=10)
    axes[0, 0].legend(fontsize=8, frameon=False, title=title, title_fontsize=8)
    return figure


def sensitivity(results: Results, path: pathlib.Path) -> Any:
    """ACC of DOGC-OS over two of alpha, beta and gamma, the third fixed, at p = 1.25."""
    panels = list(itertools.product(FIXED, ("alpha", "gamma", "beta")))
    points = []
    for data, name in panels:
        ranges = dict.fromkeys(NAMES, PAPER_RANGE) | {name: (FIXED[data][name],)}
        panel = {"data": data, "panel": name}
        points += [panel | one | {"p": 1.25} for one in protocol.combinations(**ranges)]
    found = _over_starts(results, path, "DOGC-OS", points)
    figure, axes = pages.figure_axes(3, 2, width=3.6, height=3.3)
    ticks = [f"{value:g}" for value in PAPER_RANGE]
    for axis, (data, name) in zip(axes.flat, panels, strict=True):
        rows = found[(found.data == data) & (found.panel == name)]
        table = rows.acc_median.to_numpy().reshape(len(ticks), -1)
        image = axis.imshow(table, vmin=0, vmax=1, cmap="viridis")
        for (i, j), value in np.ndenumerate(table):
            colour = "white" if value < 0.6 else "black"
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
        axis.set_xticks(range(len(ticks)), ticks, fontsize=7)
        axis.set_yticks(range(len(ticks)), ticks, fontsize=7)
        down, across = (other for other in NAMES if other != name)
        axis.set(xlabel=across, ylabel=down)
        axis.set_title(f"{data}, {name} = {FIXED[data][name]:g}", fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.6, label="ACC")
    return figure


def descent(method: str, data: str, at: str, seed: int) -> tuple[float, np.ndarray]:
    """One run at a fixed lambda: that with which its own search begins ("first") or ends ("last").

    Returns lambda, and the objective by iteration.
    """
    X, y = rows_and_classes(data, "z-score")
    own = {"alpha": FIXED[data]["alpha"]} if method == "DOGC" else {**FIXED[data], "p": 1.25}
    setting = seeded(method, base_setting(data, method) | own, seed)
    model = make_model(method, int(y.max()) + 1).set_params(**setting)
    lam = fitted(model, X).history_[0 if at == "first" else -1].lam
    # The end is where rounding leaves it, or the 300th iteration.
    history = fitted(model.set_params(lam=lam, tol=1e-15, max_iter=300), X).history_
    return lam, np.array([record.objective for record in history])


def settling_iteration(values: np.ndarray, tolerance: float) -> int:
    """Iterations until an objective is within a relative tolerance of its end, for good."""
    far = np.flatnonzero(np.abs(values - values[-1]) > tolerance * abs(values[-1]))
    return int(far[-1]) + 2 if len(far) else 1


def largest_rise(values: np.ndarray) -> float:
    """The largest relative rise from one iteration to the next; 0 if there is none."""
    return float(np.max(np.diff(values) / np.abs(values[:-1]), initial=0.0))


def convergence(results: Results, path: pathlib.Path) -> Any:
    """Objective against iteration, at the lambdas with which the search begins and ends."""
    figure, axes = pages.figure_axes(4)
    starts = min(STARTS, results.n_runs)
    panels = itertools.product(("DOGC", "DOGC-OS"), ("ecoli", "vote"))
    rows = []
    for axis, (method, data) in zip(axes[0], panels, strict=True):
        for at, colour in (("first", pages.ORANGE), ("last", pages.BLUE)):
            descents = [descent(method, data, at, seed) for seed in range(starts)]
            lam, runs = descents[0][0], [run for _, run in descents]
            for values in runs:
                above = np.maximum(values / values[-1] - 1.0, 1e-12)
                axis.semilogy(range(1, len(above) + 1), above, color=colour, lw=0.8, alpha=0.6)
            axis.plot([], [], color=colour, label=f"{at} lambda, {lam:.2g}")
            rise = f"{max(map(largest_rise, runs)):.1e}"
            for tolerance in TOLERANCES:
                counts = [settling_iteration(run, tolerance) for run in runs]
                rows.append({
                    "method": method, "data": data, "lambda": at, "value": f"{lam:.4g}",
                    "within": f"{tolerance:g}", "starts": starts,
                    "median": f"{np.median(counts):g}", "least": min(counts), "most": max(counts),
                    "largest_rise": rise,
                })  # fmt: skip
        axis.set(xlabel="iteration", xlim=(0, 60), ylim=(1e-9, 2))
        axis.set_title(f"{method}, {data}", fontsize=10)
        axis.axvline(10, color="#cccccc", lw=1, zorder=0)
        axis.legend(fontsize=8, frameon=False, loc="upper right")
    axes[0, 0].set_ylabel("objective / its end - 1")
    pages.write_csv(path, rows)
    return figure


FIGURES = {"clusters36": clusters36, "moons": moons, "gaussians": gaussians}
FIGURES |= {"alpha": alpha, "p": power, "sensitivity": sensitivity, "convergence": convergence}
