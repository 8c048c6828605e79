"""The graph: weight between clusters as blocks, or its edges in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _canvas, _models
from ._blocks import MOST_BINS, Blocks, block_structure, share_inside
from ._clusters import ClusterDisplay, dot_size

KINDS = ("blocks", "edges")
REMEDY = "pass a fitted clusterer on a graph, such as DOGC, CAN, CLR or NormalizedCut"
# More rows than this are a ball of wool.
MOST_ROWS_WITH_EDGES = 5_000
# Cells with less than this share of the heaviest cell's weight look alike.
FAINTEST = 1e-3
# Many weak edges between clusters must not look like a few strong ones: they have less ink.
FAINTEST_LINE = 0.05
# A smaller share of the rows has no room for the name of its cluster.
SMALLEST_NAMED = 0.05


class GraphDisplay:
    """The graph: weights within and between clusters.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Symmetric weights, such as ``affinity_matrix_``.
    labels : int array of shape (n_samples,)
        Clusters; negative numbers are outliers.
    points : array of shape (n_samples, 2), default=None
        Rows in the plane, for ``kind="edges"``.
    axis_names : pair of str, default=None
        What the two axes of the plane mean.
    weights : array of shape (n_samples,), default=None
        For a graph of representatives, their weights, such as ``representative_weights_``. They
        set the areas of the dots.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    inside_ : float, share of the weight that joins rows of one cluster
    mesh_ : the blocks, with ``kind="blocks"``
    borders_ : list of frames around the clusters, with ``kind="blocks"``; up to 240 clusters
    edges_ : list of line collections, within and between clusters, with ``kind="edges"``

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import GraphDisplay
    >>> model = DOGC(n_clusters=3).fit(load_iris().data)
    >>> display = GraphDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        graph: Any,
        labels: Any,
        *,
        points: Any = None,
        axis_names: tuple[str, str] | None = None,
        weights: Any = None,
    ):
        """Take a graph and labels, to be drawn by ``plot``."""
        self.graph = graph
        self.labels = labels
        self.points = points
        self.axis_names = axis_names
        self.weights = weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, kind: str = "blocks", ax: Any = None
    ) -> GraphDisplay:
        """Draw the graph of a fitted clusterer: of its rows, or of its representatives.

        Parameters
        ----------
        estimator : fitted clusterer with ``affinity_matrix_``, or a pipeline that ends in one
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The rows that it was fitted on. Needed for ``kind="edges"``, except for a graph of
            representatives.
        kind : {"blocks", "edges"}, default="blocks"
            See ``plot``.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : GraphDisplay
        """
        graph = _models.fitted_attribute(estimator, "affinity_matrix_", REMEDY)
        labels = _models.fitted_labels(estimator, X)
        view, weights = None, None
        if model := _models.model_with_representatives(estimator):
            labels, weights = model.representative_labels_, model.representative_weights_
            view = _models.view_of_representatives(model)
        elif X is not None:
            view = _models.view_of_fitted(estimator, X)
        points, names = view or (None, None)
        display = cls(graph, labels, points=points, axis_names=names, weights=weights)
        return display.plot(kind=kind, ax=ax)

    @classmethod
    def from_predictions(
        cls, graph: Any, labels: Any, *, X: Any = None, kind: str = "blocks", ax: Any = None
    ) -> GraphDisplay:
        """Draw a graph with given labels.

        Parameters
        ----------
        graph : sparse matrix of shape (n_samples, n_samples)
            Symmetric weights.
        labels : int array of shape (n_samples,)
            Clusters; negative numbers are outliers.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The rows; needed for ``kind="edges"``.
        kind : {"blocks", "edges"}, default="blocks"
            See ``plot``.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : GraphDisplay
        """
        points, names = (None, None) if X is None else _models.view_of_rows(X)
        return cls(graph, labels, points=points, axis_names=names).plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "blocks", ax: Any = None) -> GraphDisplay:
        """Draw the graph.

        Parameters
        ----------
        kind : {"blocks", "edges"}, default="blocks"
            "blocks" sorts rows by cluster and shows the mean weight between bins of them, on
            a logarithmic scale. "edges" draws each edge in the plane, up to 5,000 rows.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        self : GraphDisplay
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be 'blocks' or 'edges'; got {kind!r}.")
        graph = sp.csr_array(self.graph)
        labels = _models.check_labels(self.labels, graph.shape[0])
        if kind == "edges":
            _check_points(self.points, len(labels))
        ax = _canvas.axes_or_new(ax, (4.6, 4.8) if kind == "blocks" else (5.6, 4.4))
        self.inside_ = share_inside(graph, labels)
        if kind == "blocks":
            self.mesh_, self.borders_ = _draw_blocks(ax, block_structure(graph, labels))
        else:
            self.edges_ = _draw_edges(ax, graph, labels, np.asarray(self.points))
            size = None if self.weights is None else _dot_sizes(np.asarray(self.weights))
            shown = ClusterDisplay(self.points, labels, axis_names=self.axis_names)
            shown.plot(ax=ax, size=size)
        title = f"{_percent(self.inside_)} of the weight inside clusters"
        if self.weights is not None:
            title += f"\n{len(labels):,} representatives"
        ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _percent(share: float) -> str:
    """A share that says 100% only where nothing is missing."""
    text = f"{share:.1%}"
    return "more than 99.9%" if text == "100.0%" and share < 1.0 - 1e-12 else text


def _dot_sizes(weights: np.ndarray) -> np.ndarray:
    """Areas of dots by weight, on average as usual; none is too small to be seen."""
    usual = dot_size(len(weights))
    return np.clip(usual * weights / (weights.mean() or 1.0), 0.2 * usual, 8.0 * usual)


def _check_points(points: Any, n: int) -> None:
    if points is None:
        raise ValueError("kind='edges' draws edges between points; pass X, or use kind='blocks'.")
    if n > MOST_ROWS_WITH_EDGES:
        raise ValueError(
            f"kind='edges' can show up to {MOST_ROWS_WITH_EDGES:,} rows, and there are {n:,}; use "
            "kind='blocks'."
        )


def _draw_blocks(ax: Any, blocks: Blocks) -> tuple[Any, list[Any]]:
    from matplotlib.colors import LogNorm

    heaviest = blocks.density.max() or 1.0
    mesh = ax.pcolormesh(
        blocks.edges,
        blocks.edges,
        np.ma.masked_less_equal(np.maximum(blocks.density, 0.0), 0.0),
        norm=LogNorm(FAINTEST * heaviest, heaviest),
        cmap=_canvas.fading_map(ax, lowest=0.2),
        rasterized=True,
    )
    named = zip(blocks.clusters, blocks.borders[:-1], np.diff(blocks.borders), strict=True)
    frames = [
        _canvas.frame(ax, start, size, _canvas.colour_of(int(cluster)))
        for cluster, start, size in named
        if len(blocks.clusters) <= MOST_BINS  # more are finer than the cells
    ]
    sizes = np.diff(blocks.borders)
    named_clusters = np.flatnonzero(sizes >= SMALLEST_NAMED * blocks.borders[-1])
    middle = (blocks.borders[:-1] + 0.5 * sizes)[named_clusters]
    names = ["out" if c < 0 else str(c) for c in blocks.clusters[named_clusters]]
    ax.set_xticks(middle, names)
    ax.set_yticks(middle, names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    n = int(blocks.borders[-1])
    ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xlabel="cluster", ylabel="cluster")
    return mesh, frames


def _draw_edges(ax: Any, graph: sp.csr_array, labels: np.ndarray, points: np.ndarray) -> list[Any]:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    edges = sp.triu(graph, 1).tocoo()
    i, j = edges.row, edges.col
    share = edges.data / max(float(edges.data.max(initial=0.0)), np.finfo(float).tiny)
    within = (labels[i] == labels[j]) & (labels[i] >= 0)
    drawn = []
    for these, inside in ((within, True), (~within, False)):
        names = [_canvas.colour_of(int(c)) if inside else _canvas.ink(ax) for c in labels[i[these]]]
        colours = to_rgba_array(names)
        colours[:, 3] = 0.45 if inside else np.maximum(0.9 * np.sqrt(share[these]), FAINTEST_LINE)
        lines = LineCollection(
            list(np.stack([points[i[these]], points[j[these]]], axis=1)),
            linewidths=0.3 + 1.4 * share[these],
            colors=colours,
            zorder=0.5 if inside else 0.6,
            rasterized=len(i) > _canvas.RASTER_FROM,
        )
        drawn.append(ax.add_collection(lines))
    return drawn
