"""The choice of a scale: the number of neighbours, or of representatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..fitting.auto.n_neighbors import ScaleChoice
from ..fitting.auto.n_representatives import ResolutionChoice
from . import _canvas, _models

# The share of the axes that the table takes, and the corners of a square around the origin.
TABLE_HEIGHT = 0.72
SQUARE = np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]])


class ScaleDisplay:
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

    def __init__(
        self,
        choice: ScaleChoice | ResolutionChoice,
        geometries: Mapping[str, ScaleChoice] | None = None,
        starts: Mapping[str, ScaleChoice | ResolutionChoice] | None = None,
    ):
        """Take a choice, to be drawn by ``plot``."""
        self.choice = choice
        self.geometries, self.starts = dict(geometries or {}), dict(starts or {})

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
        if model := _models.model_with_representatives(estimator):
            return cls(model.resolutions_, None, getattr(model, "starts_", None)).plot(ax=ax)
        model = _models.last_step(estimator)
        remedy = "pass a fitted DOGC, DOGCOS, CAN, PCAN or ablation"
        if not hasattr(type(model), "_method"):
            raise ValueError(f"{type(model).__name__} does not choose a scale; {remedy}.")
        choice = _models.fitted_attribute(model, "scales_", remedy)
        return cls(choice, model.geometries_, getattr(model, "starts_", None)).plot(ax=ax)

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
        look = {"color": _canvas.ACCENT, "lw": 2, "clip_on": False}
        ax.plot(chosen + 0.5 * SQUARE[0], 0.5 * (s - 1) + 0.5 * s * SQUARE[1], **look)
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
        ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_others(self, axes: Any) -> None:
        """The scores of the other start and in the other geometries that were tried; a legend."""
        sizes, _, score, _ = self.choice
        named: dict[str, Any] = dict(self.geometries) if len(self.geometries) > 1 else {}
        if len(self.starts) > 1:
            named |= {f"{name} start": choice for name, choice in self.starts.items()}
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
