"""The figures on synthetic data: 36 clusters, two moons, two Gaussians."""

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
from . import reproduction_page as pages
from .protocol import SYNTHETIC, Setting, make_model, seeded
from .runs import Results, fitted, make_run

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


def clusters36(results: Results, out: pathlib.Path) -> Any:
    """36 clusters by k-means, DOGC-I and DOGC-OS, the learned graph, and ACC against noise."""
    names = ("KM", "DOGC-I", "DOGC-OS")
    view = np.linalg.qr(np.array([[1.0, 0.2, 0.1], [0.1, 1.0, 0.4], [0.2, 0.3, 1.0]]))[0]
    figure, axis = _clusters_and_graph(names, "clusters36", 0.05, OF_CLUSTERS36, view)
    table = out / "clusters36.csv"
    for name, found in _against_noise(results, table, NOISES, names, OF_CLUSTERS36):
        look = {"color": COLOURS[name], "lw": 4.0 if name == "DOGC-I" else 1.5}
        axis.plot(NOISES, found.acc_best, label=f"{name}, best", **look)
        axis.plot(NOISES, found.acc_median, ls=":", label=f"{name}, median", **look)
    axis.set(xlabel="noise", ylabel="ACC")
    axis.set_title(f"{results.n_runs} runs", fontsize=10)
    axis.legend(fontsize=7, frameon=False)
    return figure


def moons(results: Results, out: pathlib.Path) -> Any:
    """Two moons by k-means, DOGC-II and DOGC-OS, the learned graph, and who finds them."""
    names = ("KM", "DOGC-II", "DOGC-OS")
    figure, axis = _clusters_and_graph(names, "moons", 0.1, OF_MOONS, np.eye(2))
    table = out / "moons.csv"
    for name, found in _against_noise(results, table, MOON_NOISES, names, OF_MOONS, RIGHT):
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


def gaussians(results: Results, out: pathlib.Path) -> Any:
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
    pages.write_csv(out / "gaussians.csv", rows)
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


FIGURES = {"clusters36": clusters36, "moons": moons, "gaussians": gaussians}
