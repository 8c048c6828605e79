"""Draw the pictures of the pages: ``python docs/pictures.py [NAME ...]``.

Writes SVG and PNG files into docs/_static/pictures. They are committed, so that the pages show them
without running anything; run this again after a change of the method.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import sys
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE

from dogc import DOGC, DOGCOS, DOGCFixedGraph
from dogc.datasets import make_two_gaussians
from dogc.plotting import PALETTE

OUT = pathlib.Path(__file__).parent / "_static" / "pictures"
BLUE, ORANGE, RED, GREY, INK = "#2f6fab", "#d9772b", "#c0392b", "#9aa3ad", "#222b35"
COLOURS = np.array([BLUE, ORANGE])
CLUSTERS = np.array([BLUE, ORANGE, "#2e8b57", "#8e5ea2", "#1b9aaa", INK])  # the last for -1
NEIGHBOURS = 10


def moons() -> tuple[np.ndarray, np.ndarray]:
    """Two moons that touch, so that some neighbours lie on the other one."""
    return make_moons(160, noise=0.1, random_state=2)


def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Three round clusters that touch."""
    return make_blobs(
        [60, 60, 30], cluster_std=1.2, random_state=4, centers=[[0, 0], [5, 0], [2, 4]]
    )


def stripes() -> tuple[np.ndarray, np.ndarray]:
    """Three long clusters beside each other."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = np.column_stack([8.0 * rng.standard_normal(150), rng.standard_normal(150) + 7.0 * y])
    return X @ np.array([[0.8, 0.6], [-0.6, 0.8]]), y


def rays() -> tuple[np.ndarray, np.ndarray]:
    """Two directions, rows near and far along each."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 70)
    angle = np.where(y == 0, 0.5, 1.0) + 0.06 * rng.standard_normal(140)
    return rng.uniform(0.3, 6, 140)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def strays() -> tuple[np.ndarray, np.ndarray]:
    """Three clusters, a small group and single rows far from them."""
    X, y = blobs()
    far = [[12, 9], [12.4, 9], [12, 9.4], [12.4, 9.4], [-6, 9], [11, -6]]
    return np.vstack([X, far]), np.append(y, [3, 3, 3, 3, 4, 4])


def noisy() -> tuple[np.ndarray, np.ndarray]:
    """The three round clusters with 40 more columns of noise."""
    X, y = blobs()
    return np.hstack([X, 1.5 * np.random.default_rng(0).standard_normal((len(X), 40))]), y


def uneven() -> tuple[np.ndarray, np.ndarray]:
    """One wide cluster and four small ones that run into each other."""
    return make_blobs(
        [80, 25, 25, 25, 25], cluster_std=[1.6, 0.7, 0.7, 0.7, 0.7], random_state=1,
        center_box=(-5, 5),
    )  # fmt: skip


def loose() -> tuple[np.ndarray, np.ndarray]:
    """Two moons that run into each other."""
    return make_moons(160, noise=0.16, random_state=1)


def pair() -> tuple[np.ndarray, np.ndarray]:
    """A large cluster beside a small one."""
    return make_blobs([100, 20], cluster_std=[1.2, 0.6], random_state=0, centers=[[0, 0], [4, 2]])


def copies() -> tuple[np.ndarray, np.ndarray]:
    """Two moons on a coarse grid, so that many rows are equal."""
    X, y = make_moons(300, noise=0.08, random_state=0)
    return np.round(5 * X) / 5, y


# For each parameter the rows, the values side by side, and all else that is set.
TWO = {"n_clusters": 2}
FIXED = {"n_clusters": 2, "n_neighbors": NEIGHBOURS}
START = {**FIXED, "init": "random", "random_state": 0}
DRAWN = {"n_clusters": 5, "n_neighbors": NEIGHBOURS, "init": "random"}
RULE = {"n_clusters": 2, "rule": "paper"}
PARAMETERS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "n_clusters": (blobs, (2, 3, "auto"), {}),
    "rule": (moons, ("logistic", "paper", "auto"), TWO),
    "n_neighbors": (moons, (3, 10, 70), {"n_clusters": 2, "init": "spectral"}),
    "metric": (rays, ("euclidean", "cosine", "manhattan"), TWO),
    "n_representatives": (moons, (8, 24, None), TWO),
    "outlier_label": (strays, (None, -1), {"n_clusters": 3}),
    "geometry": (stripes, ("given", "standard", "within"), {"n_clusters": 3}),
    "min_cluster_size": (strays, (1, "auto"), {"n_clusters": 3, "n_neighbors": 5}),
    "n_components": (noisy, (None, 1, "auto"), {"n_clusters": 3}),
    "init": (uneven, ("spectral", "modularity", "random"), {"n_clusters": 5, "random_state": 0}),
    "n_init": (uneven, (1, 5), {**DRAWN, "random_state": 0}),
    "random_state": (uneven, (0, 2), DRAWN),
    "max_iter": (loose, (1, 2, 100), START),
    "candidates": (moons, ("nearest", "all"), FIXED),
    "merge_copies": (copies, (True, False), FIXED),
    "xi": (loose, ("row", "mean"), START),
    "lam": (moons, (1e-3, 1.0, "auto"), TWO),
    "alpha": (loose, (0.0, 1e-3, 1.0), START),
    "beta": (moons, (0.0, 0.1, 10.0), RULE),
    "gamma": (moons, (1e-4, 1.0, 100.0), {**RULE, "beta": 3.0}),
    "p": (strays, (0.5, 1.0, 2.0), {**RULE, "beta": 3.0}),
    "fit_intercept": (pair, (True, False), {**RULE, "beta": 1.0}),
    "penalties": (moons, ("relative", "paper"), RULE),
}


def main(only: tuple[str, ...] = ()) -> None:
    """Draw those that are named, or all."""
    OUT.mkdir(parents=True, exist_ok=True)
    style = {
        "svg.fonttype": "none", "svg.hashsalt": "dogc", "font.size": 11, "text.color": INK,
        "axes.edgecolor": GREY, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.titlesize": 12,
    }  # fmt: skip
    with plt.rc_context(style):
        for draw in (graphs, one_row, embedding, projection, search, texts):
            if not only or draw.__name__ in only:
                save(draw(), draw.__name__)
        for name in PARAMETERS:
            if not only or f"parameter_{name}" in only:
                save_small(parameter(name), OUT / f"parameter_{name}.png")


def graphs() -> Any:
    """Rows, their neighbour graph, and the graph that was learned from it."""
    X, y = moons()
    before = DOGCFixedGraph(2, n_neighbors=NEIGHBOURS).fit(X)
    after = DOGC(2, n_neighbors=NEIGHBOURS).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.9), layout="constrained")
    for ax, title in zip(axes, ("rows", "neighbours", "the learned graph"), strict=True):
        bare(ax, title)
    dots(axes[0], X, INK)
    edges(axes[1], X, before.affinity_matrix_, ~crossing(before.affinity_matrix_, y), GREY, 0.6)
    edges(axes[1], X, before.affinity_matrix_, crossing(before.affinity_matrix_, y), RED, 1.4)
    dots(axes[1], X, INK)
    for cluster, colour in enumerate(COLOURS):
        start = after.affinity_matrix_.tocoo().row
        edges(axes[2], X, after.affinity_matrix_, after.labels_[start] == cluster, colour, 0.6)
    dots(axes[2], X, COLOURS[after.labels_])
    return figure


def one_row() -> Any:
    """The weights of one row near the border, before and after learning."""
    X, y = moons()
    fits = [model(2, n_neighbors=NEIGHBOURS).fit(X) for model in (DOGCFixedGraph, DOGC)]
    A = fits[0].affinity_matrix_.tocoo()
    row = int(np.bincount(A.row, crossing(A, y) * A.data, len(X)).argmax())
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.0), layout="constrained")
    titles = ("lambda = 0: distances alone", "in the end: F has its say")
    near = (np.abs(X - X[row]) < [0.62, 0.45]).all(axis=1)
    for ax, model, title in zip(axes, fits, titles, strict=True):
        bare(ax, title)
        dots(ax, X[near], COLOURS[fits[1].labels_[near]], 30)
        weights = model.affinity_matrix_.tocsr()[[row]].tocoo()
        for other, weight in zip(weights.col, weights.data, strict=True):
            far = y[other] != y[row]
            ax.plot(*X[[row, other]].T, color=RED if far else INK, lw=30 * weight, zorder=1,
                    solid_capstyle="butt")  # fmt: skip
        dots(ax, X[[row]], INK, 90)
        ax.set(xlim=X[row, 0] + [-0.62, 0.62], ylim=X[row, 1] + [-0.45, 0.45])
    return figure


def embedding() -> Any:
    """Rows of F on the way, turned by Q, and snapped to labels Y."""
    X, _ = moons()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is meant to stop early
        model = DOGC(2, n_neighbors=NEIGHBOURS, max_iter=4).fit(X)
    F = np.sqrt(len(X) / 2) * model.embedding_
    turned, colour = F @ model.rotation_, COLOURS[model.labels_]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
    panels = (
        ("F: continuous labels", F, INK),
        ("F Q: turned", turned, colour),
        ("Y: the nearest axis", np.eye(2)[model.labels_], colour),
    )
    for ax, (title, points, paint) in zip(axes, panels, strict=True):
        ax.axhline(0, color=GREY, lw=0.8, zorder=0)
        ax.axvline(0, color=GREY, lw=0.8, zorder=0)
        dots(ax, points, paint, 120 if title[0] == "Y" else 16)
        bare(ax, title)
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4))
    axes[2].text(0.7, 0.16, "cluster 0")
    axes[2].text(0.14, 1.0, "cluster 1")
    return figure


def projection() -> Any:
    """The direction that PCA takes and the one that is learned, with what they see."""
    X, y = make_two_gaussians(300, distance=1.2, random_state=0)
    learned = DOGC(2, n_components=1).fit(X).components_[0]
    principal = np.linalg.svd(X - X.mean(axis=0))[2][0]
    figure, axes = plt.subplot_mosaic(
        [["rows", "rows"], ["pca", "w"]], figsize=(7.6, 4.6), layout="constrained"
    )
    bare(axes["rows"], "rows, and two directions")
    dots(axes["rows"], X, COLOURS[y])
    for direction, name, place in ((principal, "PCA", (1.35, 0.1)), (learned, "W", (0.1, 0.95))):
        tip = 1.2 * direction * np.sign(direction.sum())
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 2, "shrinkA": 0, "shrinkB": 0}
        axes["rows"].annotate("", tip, (0, 0), arrowprops=arrow)
        axes["rows"].text(*place, name, weight="bold")
    axes["rows"].set(ylim=(-1.1, 1.35))
    for name, direction in (("pca", principal), ("w", learned)):
        for cluster in (0, 1):
            seen = X[y == cluster] @ direction
            axes[name].hist(seen, bins=np.linspace(-3, 3, 41), histtype="stepfilled",
                            color=COLOURS[cluster], alpha=0.75)  # fmt: skip
        axes[name].set(title=f"seen along {'PCA' if name == 'pca' else 'W'}", yticks=[])
        axes[name].spines[["top", "right", "left"]].set_visible(False)
    return figure


def search() -> Any:
    """Lambda and the number of components, iteration by iteration."""
    X, _ = make_blobs(300, centers=6, cluster_std=1.5, random_state=1)
    history = DOGC(6, n_neighbors=NEIGHBOURS).fit(X).history_
    step = [record.iteration for record in history]
    count = np.array([record.n_components for record in history])
    figure, axes = plt.subplots(2, 1, figsize=(6.4, 3.9), sharex=True, layout="constrained")
    axes[0].semilogy(step, [record.lam for record in history], "o-", color=BLUE)
    axes[0].set(ylabel="lambda")
    axes[1].axhline(6, color=GREY, ls="--", lw=1)
    axes[1].step(step, count, where="mid", color=INK, lw=1)
    axes[1].scatter(step, count, c=np.where(count == 6, BLUE, ORANGE), zorder=3)
    axes[1].set(ylabel="components", xlabel="iteration", xticks=step, ylim=(0, 8))
    axes[1].text(1, 6.25, "n_clusters = 6", size=10)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def texts() -> Any:
    """The texts of docs/guides/texts.md by cluster, with their exemplars: its blocks are run."""
    page = (pathlib.Path(__file__).parent / "guides" / "texts.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in re.findall(r"```python\n(.*?)```", page, flags=re.S)[:2]:
            exec(block, found)
    names, X, model = found["names"], found["X"], found["model"]
    places = TSNE(metric="cosine", perplexity=40, random_state=0).fit_transform(X)
    figure, ax = plt.subplots(figsize=(10, 4.6), layout="constrained")
    bare(ax, "")
    ax.set_aspect("auto")
    dots(ax, places, np.array(PALETTE)[model.labels_], 22)
    low, high = places.min(axis=0), places.max(axis=0)
    left_first = np.argsort(places[model.exemplars_[:, 0], 0])
    for side, clusters in enumerate(np.array_split(left_first, 2)):
        by_height = clusters[np.argsort(places[model.exemplars_[clusters, 0], 1])]
        heights = np.linspace(low[1], high[1], 2 * len(by_height) + 1)[1::2]
        for cluster, height in zip(by_height, heights, strict=True):
            typical = model.exemplars_[cluster, :3]
            ax.plot(*places[typical].T, "o", mfc="none", mec=INK, ms=7, mew=1.2)
            ax.annotate(
                "\n".join(names[row] for row in typical if row >= 0), places[typical[0]],
                ((low, high)[side][0] + (side - 0.5) * 14, height), size=9, va="center",
                ha=("right", "left")[side], color=INK,
                arrowprops={"arrowstyle": "-", "color": PALETTE[cluster], "lw": 1},
            )  # fmt: skip
    return figure


def parameter(name: str) -> Any:
    """The learned graph and the labels at several values of one parameter."""
    rows, values, others = PARAMETERS[name]
    X, _ = rows()
    figure, axes = plt.subplots(
        1, len(values), figsize=(3.2 * len(values), 2.7), layout="constrained"
    )
    for ax, value in zip(axes, values, strict=True):
        method = DOGCOS if "rule" in (name, *others) else DOGC
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that do not suit the rows
            model = method(**others, **{name: value}).fit(X)
        bare(ax, f"{name}={value!r}")
        A = model.affinity_matrix_
        points = X[:, :2] if model.n_representatives_ is None else model.representatives_
        if "rule" in (name, *others):
            regions(ax, X, model)
        edges(ax, points, A, np.ones(A.nnz, dtype=bool), GREY, 0.4)
        dots(ax, X[:, :2], CLUSTERS[model.labels_], 9)
    return figure


def regions(ax: Any, X: np.ndarray, model: Any) -> None:
    """Where new rows get which label, in light colours."""
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.meshgrid(*(np.linspace(*ends, 120) for ends in zip(low, high, strict=True)))
    labels = model.predict(np.column_stack([axis.ravel() for axis in grid]))
    ax.contourf(*grid, labels.reshape(grid[0].shape), np.arange(-0.5, 5), alpha=0.15,
                colors=CLUSTERS)  # fmt: skip


def bare(ax: Any, title: str) -> None:
    """Axes of a map: one scale, no numbers."""
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


def dots(ax: Any, X: np.ndarray, colour: Any, size: float = 12) -> None:
    """Rows as points, those of one colour together."""
    colours = np.broadcast_to(colour, len(X))
    for one in np.unique(colours):
        ax.plot(*X[colours == one].T, "o", color=one, ms=np.sqrt(size), mew=0, clip_on=False)


def crossing(A: Any, y: np.ndarray) -> np.ndarray:
    """True for the entries of a graph that join rows of different classes."""
    A = A.tocoo()
    return y[A.row] != y[A.col]


def edges(ax: Any, X: np.ndarray, A: Any, which: np.ndarray, colour: str, width: float) -> None:
    """Edges of a graph as one path, which keeps the file small."""
    A = A.tocoo()
    which = which & (A.row < A.col) & (A.data > 1e-6)
    ends = np.stack([X[A.row[which]], X[A.col[which]], np.full((which.sum(), 2), np.nan)], axis=1)
    ax.plot(*ends.reshape(-1, 2).T, color=colour, lw=width, zorder=1, alpha=0.8)


def save_small(figure: Any, path: pathlib.Path) -> None:
    """Write a figure of 128 colours, about a third of the bytes of all of them."""
    figure.savefig(path, dpi=72, metadata={"Software": None})
    plt.close(figure)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{path.name}  {path.stat().st_size // 1000} kB")


def save(figure: Any, name: str) -> None:
    """Write a figure with coordinates to a tenth of a point, and nothing that changes daily."""
    path = OUT / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = re.sub(r"\n\s*", "\n", path.read_text(encoding="utf-8"))
    short = re.sub(r"(?<=[ \"-])\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}", text)
    path.write_text(short, encoding="utf-8")
    print(f"{path.name}  {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
