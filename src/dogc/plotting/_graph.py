"""The graph: weight between clusters as blocks, or its edges in the plane."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from . import _canvas, _plane
from ._clusters import ClusterDisplay, dot_size

# More cells than this are finer than a screen.
MOST_BINS = 240
REMEDY = "pass a fitted clusterer on a graph, such as DOGC, CAN, CLR or NormalizedCut"
# More rows than this are a ball of wool.
MOST_ROWS_WITH_EDGES = 5_000
# Cells with less than this share of the heaviest cell's weight look alike.
FAINTEST = 1e-3
# Many weak edges between clusters must not look like a few strong ones: they have less ink.
FAINTEST_LINE = 0.05
# A smaller share of the rows has no room for the name of its cluster.
SMALLEST_NAMED = 0.05


@dataclass(eq=False, repr=False)
class GraphDisplay(_canvas.Display):
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

    graph: Any
    labels: Any
    _: KW_ONLY
    points: Any = None
    axis_names: tuple[str, str] | None = None
    weights: Any = None

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
        graph = _canvas.fitted_attribute(estimator, "affinity_matrix_", REMEDY)
        labels = _canvas.fitted_labels(estimator, X)
        model, points, names, weights = _canvas.last_step(estimator), None, None, None
        if getattr(model, "representatives_", None) is not None:
            labels, weights = model.representative_labels_, model.representative_weights_
            points, names = _plane.view_of_representatives(model)
        elif X is not None:
            points, names = _plane.view_of_fitted(estimator, X)
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
        points, names = (None, None) if X is None else _plane.view_of_rows(X)
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
        if kind not in ("blocks", "edges"):
            raise ValueError(f"kind must be 'blocks' or 'edges'; got {kind!r}.")
        graph = sp.csr_array(self.graph)
        labels = _canvas.check_labels(self.labels, graph.shape[0])
        if kind == "edges" and self.points is None:
            raise ValueError(
                "kind='edges' joins points in the plane; pass X, or use kind='blocks'."
            )
        if kind == "edges" and len(labels) > MOST_ROWS_WITH_EDGES:
            raise ValueError(
                f"kind='edges' can show up to {MOST_ROWS_WITH_EDGES:,} rows, and there are "
                f"{len(labels):,}; use kind='blocks'."
            )
        ax = _canvas.axes_or_new(ax, (4.6, 4.8) if kind == "blocks" else (5.6, 4.4))
        self.inside_ = share_inside(graph, labels)
        if kind == "blocks":
            self.mesh_, self.borders_ = _draw_blocks(ax, *block_structure(graph, labels))
        else:
            self.edges_ = _draw_edges(ax, graph, labels, np.asarray(self.points))
            size = None
            if self.weights is not None:  # areas by weight, on average as usual, none too small
                usual, weights = dot_size(len(labels)), np.asarray(self.weights)
                area = usual * weights / (weights.mean() or 1.0)
                size = np.clip(area, 0.2 * usual, 8.0 * usual)
            shown = ClusterDisplay(self.points, labels, axis_names=self.axis_names)
            shown.plot(ax=ax, size=size)
        percent = f"{self.inside_:.1%}"
        if percent == "100.0%" and self.inside_ < 1.0 - 1e-12:
            percent = "more than 99.9%"
        title = f"{percent} of the weight inside clusters"
        if self.weights is not None:
            title += f"\n{len(labels):,} representatives"
        return self._drawn(ax, title)


def _draw_blocks(
    ax: Any, edges: np.ndarray, density: np.ndarray, clusters: np.ndarray, borders: np.ndarray
) -> tuple[Any, list[Any]]:
    from matplotlib.colors import LogNorm

    heaviest, n = density.max() or 1.0, int(borders[-1])
    norm, colours = LogNorm(FAINTEST * heaviest, heaviest), _canvas.fading_map(ax, lowest=0.2)
    mesh = ax.pcolormesh(edges, edges, density, norm=norm, cmap=colours, rasterized=True)
    starts, sizes = borders[:-1], np.diff(borders)
    frames = []
    if len(clusters) <= MOST_BINS:  # more are finer than the cells
        frames = [
            _canvas.frame(ax, (start, start), (size, size), _canvas.colour_of(int(cluster)))
            for cluster, start, size in zip(clusters, starts, sizes, strict=True)
        ]
    named = np.flatnonzero(sizes >= SMALLEST_NAMED * n)
    middle = (starts + 0.5 * sizes)[named]
    names = ["out" if c < 0 else str(c) for c in clusters[named]]
    ax.set_xticks(middle, names)
    ax.set_yticks(middle, names)
    _canvas.without_lines(ax)
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
        ends = np.stack([points[i[these]], points[j[these]]], axis=1)
        lines = LineCollection(list(ends), linewidths=0.3 + 1.4 * share[these], colors=colours)
        lines.set(zorder=0.5 if inside else 0.6, rasterized=len(i) > _canvas.RASTER_FROM)
        drawn.append(ax.add_collection(lines))
    return drawn


def bin_rows(codes: np.ndarray, along: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each row and the group of each bin.

    Rows are sorted by group and then by ``along``. Bins are shared out by size, about ``most`` in
    all and one at least to every group, so that none crosses a border.

    Examples
    --------
    >>> import numpy as np
    >>> bin_rows(np.array([0, 1, 0, 0]), np.array([3.0, 0.0, 1.0, 2.0]), 3)
    (array([1, 2, 0, 0]), array([0, 0, 1]))
    """
    n, size = len(codes), np.bincount(codes)
    per_group = np.where(size > 0, np.maximum(1, size * min(most, n) // n), 0)
    order = np.lexsort((along, codes))
    group = codes[order]
    rank = np.arange(n) - (np.cumsum(size) - size)[group]
    bins = np.empty(n, dtype=np.int64)
    first = np.cumsum(per_group) - per_group
    bins[order] = first[group] + rank * per_group[group] // size[group]
    return bins, np.repeat(np.arange(len(size)), per_group)


def sum_blocks(graph: Any, member: np.ndarray, count: int) -> np.ndarray:
    """Sums of a matrix over blocks of rows and columns."""
    n = len(member)
    G = sp.csr_array((np.ones(n), (np.arange(n), member)), shape=(n, count))
    result = G.T @ (graph @ G)
    return np.asarray(result.toarray() if sp.issparse(result) else result, dtype=np.float64)


def share_inside(graph: sp.csr_array, labels: np.ndarray) -> float:
    """Share of a graph's weight that joins rows of one cluster; outliers are in none.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 3, 1], [3, 0, 0], [1, 0, 0]]))
    >>> share_inside(A, np.array([0, 0, 1]))
    0.75
    """
    edges = graph.tocoo()
    i, j = edges.row, edges.col
    same = (labels[i] == labels[j]) & (labels[i] >= 0)
    total = float(edges.data.sum())
    return float(edges.data[same].sum()) / total if total > 0 else 1.0


def block_structure(
    graph: sp.csr_array, labels: np.ndarray, most: int = MOST_BINS
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort the rows of a graph by cluster and gather them into about ``most`` bins.

    Within a cluster rows come in the order of a walk from one of its ends (reverse Cuthill-McKee).
    No bin holds rows of two clusters, unless there are more clusters than bins.

    Returns
    -------
    edges : (b + 1,) ends of the bins, counted in rows
    density : (b, b) mean weight between a row of one bin and a row of another
    clusters : (c,) labels in the order of the blocks, outliers last
    borders : (c + 1,) ends of the clusters, counted in rows

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 0, 1], [0, 0, 0], [1, 0, 0]]))
    >>> _, density, _, borders = block_structure(A, np.array([0, 1, 0]), most=2)
    >>> borders.tolist(), density.tolist()
    ([0, 2, 3], [[0.5, 0.0], [0.0, 0.0]])
    """
    last = np.iinfo(np.int64).max
    clusters, codes = np.unique(np.where(labels < 0, last, labels), return_inverse=True)
    edges = graph.tocoo()
    within = codes[edges.row] == codes[edges.col]
    ends = (edges.row[within], edges.col[within])
    inside = sp.csr_matrix((np.ones(len(ends[0])), ends), graph.shape)
    walk = reverse_cuthill_mckee(inside, symmetric_mode=True)
    along = np.argsort(walk[np.argsort(codes[walk], kind="stable")])
    few = len(clusters) <= most
    bins, owner = bin_rows(codes if few else np.zeros_like(codes), along, most)
    size = np.bincount(bins)
    density = sum_blocks(graph, bins, len(owner)) / np.outer(size, size)
    names = np.where(clusters == last, -1, clusters)
    bin_ends, borders = (np.append(0, np.cumsum(of)) for of in (size, np.bincount(codes)))
    return bin_ends, density, names, borders
