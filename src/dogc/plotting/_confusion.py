"""Clusters beside known classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..metrics import contingency
from . import _canvas

# Beyond this many classes or clusters numbers no longer fit into the cells.
WRITTEN_UP_TO = 20


@dataclass(eq=False, repr=False)
class ConfusionDisplay(_canvas.Display):
    """Confusion matrix of classes and clusters; each cluster is matched with one class.

    Parameters
    ----------
    table : int array of shape (n_classes, n_clusters)
        Counts of rows; entry (i, i) belongs to a class and the cluster matched with it.
    classes, clusters : sequences of names
        What the rows and columns of the table are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    accuracy_ : float, share of rows in matched pairs (ACC)
    image_ : the table; its colours are shares of a class
    frames_ : list of frames around the matched pairs

    Examples
    --------
    >>> from dogc.plotting import ConfusionDisplay
    >>> display = ConfusionDisplay([[9, 1], [0, 5]], ["a", "b"], [1, 0])
    >>> display.plot().accuracy_.round(3)  # doctest: +SKIP
    0.933
    """

    table: Any
    classes: Sequence[Any]
    clusters: Sequence[Any]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, class_names: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw the labels of a fitted clusterer against known classes.

        Parameters
        ----------
        estimator : fitted clusterer, or a pipeline that ends in one
        X : array-like or sparse matrix of shape (n_samples, n_features), or None
            Rows to label with ``predict``; None takes the ``labels_`` of the fitted rows.
        y : array-like of shape (n_samples,)
            Their classes.
        class_names : sequence of str, default=None
            What the classes are called, in sorted order of the values of y.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : ConfusionDisplay
        """
        labels = _canvas.fitted_labels(estimator)
        if X is not None:
            if not hasattr(estimator, "predict"):
                raise ValueError(
                    f"{type(_canvas.last_step(estimator)).__name__} cannot label new rows; pass "
                    "X=None for the rows that it was fitted on."
                )
            labels = estimator.predict(X)
        return cls.from_predictions(y, labels, class_names=class_names, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, labels: Any, *, class_names: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Draw given labels against known classes.

        Parameters
        ----------
        y_true, labels : array-like of shape (n_samples,)
            Classes and clusters. Labels may have any names.
        class_names : sequence of str, default=None
            What the classes are called, in sorted order of the values of ``y_true``.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : ConfusionDisplay
        """
        return cls(*match_clusters(y_true, labels, class_names)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ConfusionDisplay:
        """Draw the table; the colour of a cell is its share of the class.

        Parameters
        ----------
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        self : ConfusionDisplay
        """
        table = np.asarray(self.table)
        rows, columns = table.shape
        size = [min(max(0.75 * count, 2.2), 6.5) for count in (columns, rows)]
        ax = _canvas.axes_or_new(ax, (size[0] + 1.4, size[1] + 1.0))
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        self.image_ = ax.imshow(share, vmin=0, vmax=1, cmap=_canvas.fading_map(ax))
        if max(rows, columns) <= WRITTEN_UP_TO:
            texts = np.array([[f"{value:,}" if value else "" for value in row] for row in table])
            _canvas.write_cells(ax, self.image_, texts, 10 if max(rows, columns) <= 10 else 7)
        else:
            ax.figure.colorbar(self.image_, ax=ax, label="share of the class", shrink=0.7)
        corners = np.arange(min(table.shape)) - 0.5
        self.frames_ = [_canvas.frame(ax, (at, at), (1, 1), _canvas.ACCENT) for at in corners]
        ax.set(xlabel="cluster", ylabel="class")
        names = ["outliers" if isinstance(c, int) and c < 0 else str(c) for c in self.clusters]
        ax.set_xticks(range(columns), names)
        ax.set_yticks(range(rows), [str(name) for name in self.classes])
        _canvas.without_lines(ax)
        self.accuracy_ = float(np.trace(table) / table.sum())
        return self._drawn(ax, f"ACC {self.accuracy_:.3f}")


def match_clusters(
    y_true: Any, labels: Any, class_names: Any = None
) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Count rows by class and cluster and put the best one to one matching on the diagonal.

    Classes stay in order, clusters follow their class; what is left without a partner comes
    last.

    Examples
    --------
    >>> match_clusters(["a", "a", "b", "b"], [1, 1, 0, 1])
    (array([[2, 0],
           [1, 1]]), ['a', 'b'], [1, 0])
    """
    table = contingency(y_true, labels, ("y_true", "labels"))
    classes, clusters = np.unique(y_true).tolist(), np.unique(labels).tolist()
    if class_names is not None:
        if len(class_names) != len(classes):
            raise ValueError(
                f"class_names must name the {len(classes)} classes of y_true; got "
                f"{len(class_names)} names."
            )
        classes = [str(name) for name in class_names]
    rows, columns = (
        [*matched, *np.setdiff1d(np.arange(size), matched)]
        for matched, size in zip(linear_sum_assignment(-table), table.shape, strict=True)
    )
    shown = table[np.ix_(rows, columns)]
    return shown, [classes[r] for r in rows], [clusters[k] for k in columns]
