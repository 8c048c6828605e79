"""The figures on synthetic data: 36 clusters, two moons, two Gaussians."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from .. import DOGC, DOGCOS, LPP, DOGCFixedGraph, DOGCRelaxed
from .._atomic import write_csv
from ..metrics import clustering_accuracy
from .drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SCORES,
    SPREADS,
    Case,
    FigureOptions,
    digits,
    edges,
    figure_axes,
    fitted,
    scatter,
    score_cells,
    scores,
    spread,
    write_figure,
)
from .protocol import SYNTHETIC

# A component of any size is a cluster, columns are as given, as in the paper.
AS_PRINTED: dict[str, Any] = {"geometry": "given", "min_cluster_size": 1}
# A tenth of the rows, which the paper recommends, is more than the 20 rows of a cluster.
OF_CLUSTERS36: dict[str, Any] = {**AS_PRINTED, "n_neighbors": 15, "max_iter": 30}
OF_MOONS: dict[str, Any] = {**AS_PRINTED, "n_neighbors": 20}
OF_GAUSSIANS: dict[str, Any] = {"n_components": 1, "n_neighbors": 40, "min_cluster_size": 1}

NOISES = tuple(round(0.01 * i, 2) for i in range(2, 11))
MOON_NOISES = (0.08, 0.1, 0.12, 0.14, 0.16)
SHOWN_NOISE = {"clusters36": 0.05, "moons": 0.1}
RIGHT = 0.98  # ACC from which two moons count as found
DISTANCES = {"far": 4.0, "relatively close": 1.8, "fairly close": 1.2, "closer still": 0.5}
DRAWS = 30  # of the Gaussians
DIRECTIONS = ("PCA", "LPP", "DOGC", "DOGC-OS")
LOOKS = {
    "KM": (GREY, 1.5),
    "DOGC-I": (ORANGE, 4.0),
    "DOGC-II": (ORANGE, 1.5),
    "DOGC-OS": (BLUE, 1.5),
}


def clusters36(options: FigureOptions) -> pathlib.Path:
    """36 clusters by k-means, DOGC-I and DOGC-OS, the learned graph, and ACC against noise."""
    X, y = SYNTHETIC["clusters36"](SHOWN_NOISE["clusters36"], 0)
    models = {
        "KM": KMeans(36, n_init=1, random_state=0),
        "DOGC-I": DOGCRelaxed(36, **OF_CLUSTERS36),
        "DOGC-OS": DOGCOS(36, init="random", random_state=0, **OF_CLUSTERS36),
    }
    figure, axes = figure_axes(5, width=2.7, height=2.6)
    view = X @ np.linalg.qr(np.array([[1.0, 0.2, 0.1], [0.1, 1.0, 0.4], [0.2, 0.3, 1.0]]))[0]
    _clusters_and_graph(axes[0], models, X, y, view)
    found = _against_noise(options, "clusters36", NOISES, list(models), OF_CLUSTERS36)
    axis = axes[0, 4]
    for name in models:
        _, middle, best = np.array([spread(found[noise, name]["acc"]) for noise in NOISES]).T
        colour, width = LOOKS[name]
        axis.plot(NOISES, best, color=colour, lw=width, label=f"{name}, best")
        axis.plot(NOISES, middle, color=colour, lw=width, ls=":", label=f"{name}, median")
    axis.set(xlabel="noise", ylabel="ACC")
    axis.set_title(f"{options.n_runs} runs", fontsize=10)
    axis.legend(fontsize=7, frameon=False)
    rows = [
        (noise, name, options.n_runs, *score_cells(values))
        for (noise, name), values in found.items()
    ]
    write_csv(options.out / "clusters36.csv", ("noise", "method", "runs", *SCORES), rows)
    return write_figure(figure, options.out / "clusters36.png")


def moons(options: FigureOptions) -> pathlib.Path:
    """Two moons by k-means, DOGC-II and DOGC-OS, the learned graph, and who finds them."""
    X, y = SYNTHETIC["moons"](SHOWN_NOISE["moons"], 0)
    models = {
        "KM": KMeans(2, n_init=1, random_state=0),
        "DOGC-II": DOGCFixedGraph(2, init="random", random_state=0, **OF_MOONS),
        "DOGC-OS": DOGCOS(2, init="random", random_state=0, **OF_MOONS),
    }
    figure, axes = figure_axes(5, width=2.7, height=2.6)
    _clusters_and_graph(axes[0], models, X, y, X)
    found = _against_noise(options, "moons", MOON_NOISES, list(models), OF_MOONS)
    right = {case: int(np.sum(values["acc"] >= RIGHT)) for case, values in found.items()}
    axis = axes[0, 4]
    for name in models:
        counts = [right[noise, name] for noise in MOON_NOISES]
        axis.plot(MOON_NOISES, counts, "o-", color=LOOKS[name][0], ms=4, label=name)
    axis.set(xlabel="noise", ylabel=f"draws with ACC ≥ {RIGHT}")
    axis.set_title(f"{options.n_runs} draws", fontsize=10)
    axis.legend(fontsize=8, frameon=False)
    rows = [
        (noise, name, options.n_runs, right[noise, name], *score_cells(values))
        for (noise, name), values in found.items()
    ]
    write_csv(options.out / "moons.csv", ("noise", "method", "runs", "right", *SCORES), rows)
    return write_figure(figure, options.out / "moons.png")


def _clusters_and_graph(
    axes: Any, models: dict[str, Any], X: np.ndarray, y: np.ndarray, view: np.ndarray
) -> None:
    """The clusters that each model finds, and in the next panel the graph of the last."""
    for axis, (name, model) in zip(axes, models.items(), strict=False):
        labels = fitted(model, X).labels_
        scatter(axis, view, labels, f"{name}, ACC {clustering_accuracy(y, labels):.3f}")
    axis = axes[len(models)]
    edges(axis, view, model.affinity_matrix_)
    scatter(axis, view, labels, "its learned graph")


def _against_noise(
    options: FigureOptions, data: str, noises: Any, methods: list[str], setting: dict[str, Any]
) -> dict[tuple[float, str], dict[str, np.ndarray]]:
    """Scores by noise and method; data and start are drawn anew for every run."""
    keys = [(noise, name) for noise in noises for name in methods]
    cases = [
        Case(name, f"{data} {noise}", {} if name == "KM" else setting, "as drawn")
        for noise, name in keys
    ]
    found = scores(options, cases, range(options.n_runs), drawn=True, title=data)
    return dict(zip(keys, found, strict=True))


def gaussians(options: FigureOptions) -> pathlib.Path:
    """Directions of PCA, LPP, DOGC and DOGC-OS on two Gaussians that come closer."""
    figure, axes = figure_axes(4, height=3.2)
    rows: list[Any] = []
    for axis, (title, distance) in zip(axes[0], DISTANCES.items(), strict=True):
        X, y = SYNTHETIC["gaussians"](distance, 0)
        axis.scatter(X[:, 0], X[:, 1], c=np.where(y, "#c9c9c9", "#8f8f8f"), s=7, linewidths=0)
        axis.set_title(f"{title}: {distance}", fontsize=10)
        axis.set(xticks=[], yticks=[], xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
        for name, direction, colour, style in directions(X):
            end = 2.2 * direction / np.linalg.norm(direction)
            line = [-end[0], end[0]], [-end[1], end[1]]
            width = 5 if name == "DOGC" else 2  # it lies under DOGC-OS
            axis.plot(*line, style, color=colour, lw=width, label=name)
        draws = min(DRAWS, options.n_runs)
        apart = np.median([_apart(distance, seed) for seed in range(draws)], axis=0)
        rows += [
            (title, distance, name, draws, *digits(spread(values)), *digits(apart))
            for name, values in alignments(distance, draws).items()
        ]
    axes[0, 3].legend(fontsize=8, frameon=False, loc="lower right")
    header = ("title", "distance", "method", "draws", *SPREADS)
    of_data = ("acc_of_the_right_direction", "neighbours_in_the_other_cloud")
    write_csv(options.out / "gaussians.csv", (*header, *of_data), rows)
    return write_figure(figure, options.out / "gaussians.png")


def alignments(distance: float, draws: int) -> dict[str, list[float]]:
    """Cosine of each method's direction to the line between the means, over draws."""
    found: dict[str, list[float]] = {name: [] for name in DIRECTIONS}
    for seed in range(draws):
        X, _ = SYNTHETIC["gaussians"](distance, seed)
        for name, direction, *_ in directions(X):
            found[name].append(float(abs(direction[1]) / np.linalg.norm(direction)))
    return found


def _apart(distance: float, seed: int) -> tuple[float, float]:
    """How far the clouds can be told apart.

    The ACC of the two sides of the middle between the means, and the share of the nearest
    neighbours that lie in the other cloud.
    """
    X, y = SYNTHETIC["gaussians"](distance, seed)
    search = NearestNeighbors(n_neighbors=OF_GAUSSIANS["n_neighbors"]).fit(X)
    neighbours = search.kneighbors(return_distance=False)
    other = float(np.mean(y[neighbours] != y[:, None]))
    return clustering_accuracy(y, (X[:, 1] > 0).astype(int)), other


def directions(X: np.ndarray) -> list[tuple[str, np.ndarray, str, str]]:
    """The first direction that each method projects on, with a colour and a line style."""
    models: list[tuple[Any, str, str]] = [
        (PCA(1), GREEN, "-"),
        (LPP(1, n_neighbors=OF_GAUSSIANS["n_neighbors"]), "#a03a8c", "--"),
        (DOGC(2, **OF_GAUSSIANS), BLUE, "-"),
        (DOGCOS(2, **OF_GAUSSIANS), ORANGE, ":"),
    ]
    return [
        (name, fitted(model, X).components_[0], *look)
        for name, (model, *look) in zip(DIRECTIONS, models, strict=True)
    ]
