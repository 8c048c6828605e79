"""Choices with their evidence: the scale, and the number of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fitting.auto.n_clusters import CountEvidence
from ..fitting.auto.n_neighbors import ScaleChoice
from ..fitting.auto.n_representatives import ResolutionChoice
from . import _canvas

# The share of the axes that the table takes.
TABLE_HEIGHT = 0.72
REMEDY = "pass a DOGC, DOGCOS, CAN, PCAN or ablation fitted with n_clusters='auto'"


@dataclass(eq=False, repr=False)
class ScaleDisplay(_canvas.Display):
    """Numbers of neighbours that were tried, their agreement, and the choice.

    For a model with representatives, the numbers of representatives are shown instead.

    Parameters
    ----------
    choice : ScaleChoice or ResolutionChoice
        The ``scales_`` or the ``resolutions_`` of a fitted model.
    geometries, starts : dict of str to ScaleChoice or ResolutionChoice, or None
        The ``geometries_`` and the ``starts_`` of the model. The scores of each are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    image_ : the table of agreement
    line_ : the score of each scale

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> from dogc.plotting import ScaleDisplay
    >>> model = DOGC(n_clusters=3).fit(load_iris().data)
    >>> display = ScaleDisplay.from_estimator(model)  # doctest: +SKIP
    """

    choice: ScaleChoice | ResolutionChoice
    geometries: Mapping[str, ScaleChoice] | None = None
    starts: Mapping[str, ScaleChoice | ResolutionChoice] | None = None

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ScaleDisplay:
        """Draw the choice that a fitted model made.

        Parameters
        ----------
        estimator : fitted DOGC, DOGCOS, CAN, PCAN or ablation, any other model that has
            representatives, or a pipeline that ends in one
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : ScaleDisplay
        """
        model = _canvas.last_step(estimator)
        starts = getattr(model, "starts_", None)
        if getattr(model, "representatives_", None) is not None:
            return cls(model.resolutions_, None, starts).plot(ax=ax)
        remedy = "pass a fitted DOGC, DOGCOS, CAN, PCAN or ablation"
        choice = _canvas.fitted_attribute(model, "scales_", remedy)
        return cls(choice, model.geometries_, starts).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ScaleDisplay:
        """Draw the agreement of each pair of numbers as a table, with the scores above it.

        Parameters
        ----------
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        self : ScaleDisplay
        """
        sizes, agreement, score, chosen_size = self.choice
        s = len(sizes)
        what, title = "neighbours", f"agreement of labels; {chosen_size} neighbours taken"
        if isinstance(self.choice, ResolutionChoice):
            what, title = "representatives", f"agreement of labels\n{chosen_size} representatives"
            title += f" taken, confirmed to {self.choice.confirmed:.2f}" if s > 1 else " asked for"
        ax = _canvas.axes_or_new(ax, (max(3.8, 1.8 + 0.55 * s), 2.4 + 0.35 * s))
        place, chosen = np.arange(s), sizes.index(chosen_size)
        colours = _canvas.fading_map(ax)
        self.image_ = ax.imshow(agreement, vmin=0, vmax=1, cmap=colours, aspect="auto")
        texts = np.array([[f"{value:.2f}" for value in row] for row in agreement])
        _canvas.write_cells(ax, self.image_, texts, 8)
        _canvas.frame(ax, (chosen - 0.5, -0.5), (1, s), _canvas.ACCENT)
        ax.set_xlabel(what)
        ax.set_ylabel(what, y=0.5 * TABLE_HEIGHT)
        ax.set_xticks(place, sizes)
        ax.set_yticks(place, sizes)
        ax.spines[:].set_visible(False)
        # The scores stand above the table in the same axes, so that any layout has room for them.
        ax.set_ylim(s - 0.5, s - 0.5 - s / TABLE_HEIGHT)
        above = ax.inset_axes((0, TABLE_HEIGHT + 0.03, 1, 0.97 - TABLE_HEIGHT), sharex=ax)
        (self.line_,) = above.plot(place, score, "o-", color=_canvas.PALETTE[0], ms=4)
        above.plot(chosen, score[chosen], "o", color=_canvas.ACCENT, ms=8, clip_on=False)
        self._draw_others(above)
        above.set(ylabel="score", ylim=(min(0.0, score.min()) - 0.05, 1.08))
        above.tick_params(labelbottom=False, bottom=False)
        _canvas.without_frame(above)
        return self._drawn(ax, title)

    def _draw_others(self, axes: Any) -> None:
        """The scores of the other start and in the other geometries that were tried; a legend."""
        sizes, _, score, _ = self.choice
        geometries, starts = self.geometries or {}, self.starts or {}
        named: dict[str, Any] = {**geometries} if len(geometries) > 1 else {}
        if len(starts) > 1:
            named |= {f"{name} start": choice for name, choice in starts.items()}
        taken = []
        for name, other in named.items():
            if np.array_equal(other.score, score):
                taken.append(name)
            elif shared := [k for k in other[0] if k in sizes]:
                at, there = [sizes.index(k) for k in shared], [other[0].index(k) for k in shared]
                dashes = ":" if name.endswith("start") else "--"
                axes.plot(at, other.score[there], f"o{dashes}", color="0.55", ms=3, label=name)
        self.line_.set_label(", ".join(taken) or "_taken")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=6.5, frameon=False, ncols=3, loc="lower right")


@dataclass(eq=False, repr=False)
class CountDisplay(_canvas.Display):
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

    counts: Sequence[CountEvidence]

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
        model = _canvas.last_step(estimator)
        counts = _canvas.fitted_attribute(model, "cluster_counts_", REMEDY)
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
        blue, empty = _canvas.PALETTE[0], ax.get_facecolor()
        ax.axhline(0.0, color=_canvas.GREY, lw=1, ls=":")
        (self.line_,) = ax.plot(numbers, scores, "-", color=blue, lw=1, alpha=0.6)
        for row in rows:
            colour, size = (_canvas.ACCENT, 9) if row == self.counts[0] else (blue, 6)
            mark = "o" if row.votes or row.n_clusters == 1 else "x"
            inside = empty if mark == "o" and row.votes != row.n_scales else colour
            look = {"color": colour, "mfc": inside, "ms": size}
            ax.plot(row.n_clusters, row.score, mark, zorder=3, **look)
        for mark, inside, words in (
            ("o", blue, "firm at all scales"),
            ("o", empty, "at some"),
            ("x", blue, "at none"),
        ):
            ax.plot([], [], mark, color=blue, mfc=inside, ms=6, label=words)
        ax.legend(fontsize=8, frameon=False)
        ax.set_xticks(numbers, numbers, fontsize=8)
        ax.set(xlabel="number of clusters", ylabel="score (one cluster has 0)")
        first = self.counts[0].n_clusters
        ax.margins(y=0.15)
        _canvas.without_frame(ax)
        return self._drawn(ax, f"{first} cluster{'' if first == 1 else 's'} proposed")
