"""Rows in the plane, one colour a cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from . import _canvas, _plane
from ._canvas import Display, fitted_attribute, last_step

# Above this many clusters a legend says nothing.
LEGEND_UP_TO = 20
# Axes of equal scale show distances as the method sees them, but not a strip of points.
FLATTEST = 4.0


@dataclass(eq=False, repr=False)
class ClusterDisplay(Display):
    """Scatter plot of the rows, coloured by cluster.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        Rows in the plane.
    labels : int array of shape (n_samples,)
        Their clusters; negative numbers are outliers.
    outliers : bool array of shape (n_samples,), default=None
        Rows to mark as outliers, whatever their label.
    axis_names : pair of str, default=None
        What the two axes mean.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    scatter_ : list of collections, one for each ten clusters
    outliers_ : collection of the outliers, or None if there are none
    legend_ : the legend, or None
    note_ : text that says how many rows are shown, or None if all are

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import ClusterDisplay
    >>> X = load_iris().data
    >>> model = DOGC(n_clusters=3).fit(X)
    >>> display = ClusterDisplay.from_estimator(model, X)  # doctest: +SKIP
    """

    points: Any
    labels: Any
    _: KW_ONLY
    outliers: Any = None
    axis_names: tuple[str, str] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, layout: str = "plane", **options: Any
    ) -> ClusterDisplay:
        """Draw the rows that a clusterer was fitted on.

        Parameters
        ----------
        estimator : fitted clusterer, or a pipeline that ends in one
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that it was fitted on.
        layout : {"plane", "graph"}, default="plane"
            "plane" draws X as it is if it has one or two features. With more it draws the two main
            directions of the learned subspace, or of X if none was learned. "graph" draws each
            cluster apart, with its rows laid out by the learned graph: use it where many clusters
            overlap in the plane. Distances between clusters then mean little.
        **options : passed to ``plot``

        Returns
        -------
        display : ClusterDisplay
        """
        if layout not in ("plane", "graph"):
            raise ValueError(f"layout must be 'plane' or 'graph'; got {layout!r}.")
        labels = _canvas.fitted_labels(estimator, X)
        outliers = getattr(last_step(estimator), "outliers_", None)
        if layout == "plane":
            points, names = _plane.view_of_fitted(estimator, X)
            return cls(points, labels, outliers=outliers, axis_names=names).plot(**options)
        remedy = "pass a clusterer on a graph, such as DOGC, or layout='plane'"
        graph = fitted_attribute(estimator, "affinity_matrix_", remedy)
        if graph.shape[0] != len(labels):
            raise ValueError(
                "layout='graph' needs a graph of all rows, and this one joins representatives; fit "
                "with n_representatives=None, or use layout='plane'."
            )
        points = _plane.graph_layout(graph, labels, _plane.seen_rows(estimator, X))
        drawn = cls(points, labels, outliers=outliers).plot(**options)
        drawn.ax_.set(xticks=[], yticks=[], xlabel="layout of the learned graph")
        drawn.ax_.spines[:].set_visible(False)
        return drawn

    @classmethod
    def from_predictions(
        cls, X: Any, labels: Any, *, outliers: Any = None, **options: Any
    ) -> ClusterDisplay:
        """Draw rows with given labels.

        With one or two features, X is drawn as given; otherwise its first two principal
        components. Pass ``model.transform(X)`` to draw a learned subspace.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        labels : int array of shape (n_samples,)
            Clusters; negative numbers are outliers.
        outliers : bool array of shape (n_samples,), default=None
            Rows to mark as outliers, whatever their label.
        **options : passed to ``plot``

        Returns
        -------
        display : ClusterDisplay
        """
        points, names = _plane.view_of_rows(X)
        return cls(points, labels, outliers=outliers, axis_names=names).plot(**options)

    def plot(
        self,
        *,
        ax: Any = None,
        legend: bool | str = "auto",
        max_points: int = 20_000,
        size: float | np.ndarray | None = None,
    ) -> ClusterDisplay:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib axes to draw into; None makes new ones.
        legend : bool or "auto", default="auto"
            Whether to show a legend with cluster sizes. "auto" shows it in a new figure with up to
            20 clusters.
        max_points : int, default=20_000
            Maximum number of rows drawn. If there are more, an even sample is drawn.
        size : float or array of shape (n_samples,), default=None
            Area of a dot in square points. None chooses it from the number of rows.

        Returns
        -------
        self : ClusterDisplay
        """
        own = ax is None
        ax = _canvas.axes_or_new(ax, (5.6, 4.2))
        points = np.asarray(self.points)
        labels = _canvas.check_labels(self.labels, len(points))
        outlier = labels < 0
        if self.outliers is not None:
            outlier = outlier | np.asarray(self.outliers, dtype=bool)
        # In an order in which no cluster hides another.
        shown = np.random.default_rng(0).permutation(len(points))[:max_points]
        size = dot_size(len(shown)) if size is None else size
        self.scatter_ = _draw_clusters(ax, points, labels, shown[~outlier[shown]], size)
        self.outliers_, apart = None, points[shown[outlier[shown]]]
        if len(apart):
            self.outliers_ = ax.scatter(*apart.T, s=30, c=[_canvas.ink(ax)], marker="x", lw=1.0)
        self.note_ = None
        if len(shown) < len(points):
            words = f"{len(shown):,} of {len(points):,} rows"
            self.note_ = ax.set_title(words, loc="right", fontsize="small", color=_canvas.GREY)
        few = len(np.unique(labels[labels >= 0])) <= LEGEND_UP_TO
        wanted = (own and few) if legend == "auto" else legend
        self.legend_ = _draw_legend(ax, labels, outlier) if wanted else None
        _set_axes(ax, points, self.axis_names)
        return self._drawn(ax)


def dot_size(n: int) -> float:
    """The area of a dot that n of them leave each other room with.

    Examples
    --------
    >>> dot_size(100), dot_size(1_000_000)
    (28.0, 3.0)
    """
    return float(np.clip(12_000 / max(n, 1), 3.0, 28.0))


def _draw_clusters(
    ax: Any, points: np.ndarray, labels: np.ndarray, shown: np.ndarray, size: float | np.ndarray
) -> list[Any]:
    drawn = []
    palette, each = np.array(_canvas.PALETTE), _canvas.EACH_MARK
    for group in np.unique(labels[shown] // each):
        rows = shown[labels[shown] // each == group]
        area = size if np.ndim(size) == 0 else np.asarray(size)[rows]
        mark, colours = _canvas.mark_of(int(group) * each), palette[labels[rows] % len(palette)]
        dots = ax.scatter(*points[rows].T, s=area, c=colours, marker=mark)
        # An edge keeps touching dots apart.
        dots.set(linewidths=0.3 if np.mean(size) > 12 else 0.0, edgecolors=[ax.get_facecolor()])
        dots.set_rasterized(len(shown) > _canvas.RASTER_FROM)
        drawn.append(dots)
    return drawn


def _draw_legend(ax: Any, labels: np.ndarray, outlier: np.ndarray) -> Any:
    last, handles = np.iinfo(np.int64).max, []
    shown, sizes = np.unique(np.where(outlier, np.int64(last), labels), return_counts=True)
    for cluster, size in zip(shown, sizes, strict=True):
        name, mark, colour = "outliers", "x", _canvas.ink(ax)
        if cluster < last:
            name, mark, colour = str(cluster), _canvas.mark_of(cluster), _canvas.colour_of(cluster)
        handles += ax.plot([], [], mark, ms=6, color=colour, label=f"{name}  ({size:,})")
    title, columns = "cluster  (rows)", 1 + len(handles) // 12
    return _canvas.legend_beside(ax, handles=handles, title=title, alignment="left",
                                 handletextpad=0.2, ncols=columns)  # fmt: skip


def _set_axes(ax: Any, points: np.ndarray, names: tuple[str, str] | None) -> None:
    _canvas.without_frame(ax)
    if names is not None:
        ax.set(xlabel=names[0], ylabel=names[1])
    if names is not None and not names[1]:  # the second axis only keeps rows apart
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        return
    width, height = np.ptp(points, axis=0)
    if max(width, height) <= FLATTEST * min(width, height):
        ax.set_aspect("equal", adjustable="datalim")
