"""The evidence for each number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..fitting.auto.n_clusters import CountEvidence
from . import _canvas, _models

REMEDY = "pass a DOGC, DOGCOS, CAN, PCAN or ablation fitted with n_clusters='auto'"


class CountDisplay:
    """Evidence for each number of clusters; the score of one cluster is zero.

    A full dot: the clusters are well separated at every scale. A ring: at some scales. A cross: at
    no scale.

    Parameters
    ----------
    counts : list of CountEvidence
        The ``cluster_counts_`` of a fitted model.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    line_ : the score of each number

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import CountDisplay
    >>> model = DOGC(n_clusters="auto").fit(load_iris().data)
    >>> display = CountDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(self, counts: Sequence[CountEvidence]):
        """Take the evidence, to be drawn by ``plot``."""
        self.counts = list(counts)
        if not self.counts:
            raise ValueError(
                "there is no evidence for numbers of clusters: n_clusters was given, or there are "
                f"fewer than four distinct rows; {REMEDY}."
            )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> CountDisplay:
        """Draw the evidence that a fitted model found.

        Parameters
        ----------
        estimator : clusterer fitted with ``n_clusters="auto"``, or a pipeline that ends in one
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : CountDisplay
        """
        model = _models.last_step(estimator)
        counts = _models.fitted_attribute(model, "cluster_counts_", REMEDY)
        return cls(counts).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CountDisplay:
        """Draw the score of each number.

        Parameters
        ----------
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        self : CountDisplay
        """
        ax = _canvas.axes_or_new(ax, (5.6, 3.0))
        rows = sorted(self.counts)
        numbers, scores = [row.n_clusters for row in rows], [row.score for row in rows]
        ax.axhline(0.0, color=_canvas.GREY, lw=1, ls=":")
        (self.line_,) = ax.plot(numbers, scores, "-", color=_canvas.PALETTE[0], lw=1, alpha=0.6)
        for row in rows:
            self._draw_number(ax, row)
        self._explain(ax)
        ax.set_xticks(numbers, numbers, fontsize=8)
        ax.set(xlabel="number of clusters", ylabel="score (one cluster has 0)")
        first = self.counts[0].n_clusters
        ax.set_title(f"{first} cluster{'' if first == 1 else 's'} proposed", fontsize="medium")
        ax.margins(y=0.15)
        _canvas.without_frame(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _explain(self, ax: Any) -> None:
        """A legend of the marks."""
        colour = _canvas.PALETTE[0]
        for mark, inside, words in (
            ("o", colour, "firm at all scales"),
            ("o", ax.get_facecolor(), "at some"),
            ("x", colour, "at none"),
        ):
            ax.plot([], [], mark, color=colour, mfc=inside, ms=6, label=words)
        ax.legend(fontsize=8, frameon=False, title_fontsize=8)

    def _draw_number(self, ax: Any, row: CountEvidence) -> None:
        chosen = row == self.counts[0]
        colour = _canvas.ACCENT if chosen else _canvas.PALETTE[0]
        mark = "o" if row.votes or row.n_clusters == 1 else "x"
        inside = colour if row.votes == row.n_scales else ax.get_facecolor()
        look = {"color": colour, "mfc": inside if mark == "o" else colour, "ms": 9 if chosen else 6}
        ax.plot(row.n_clusters, row.score, mark, zorder=3, **look)
