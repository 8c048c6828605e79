"""Splits and merges of clusters as their number grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..fitting.auto.splits import followed, steps_between
from . import _canvas, _models
from ._flow import Block, Ribbon, flow_between

# The width of a column, where the next one is 1 away; a lower block has no room for its name.
THICK, LOWEST = 0.16, 0.025
NAMED_UP_TO = 40


class SplitDisplay:
    """Splits and merges of clusters as their number grows.

    Each column holds the clusters of one number, as high as they have rows. A band between two
    columns is rows that two clusters share. A cluster keeps its name and its colour where most of
    its rows stay together.

    Parameters
    ----------
    labels : mapping from int to int array of shape (n_samples,)
        Labels of the same rows at each number of clusters; negative numbers are outliers.
    agreement : mapping from int to float, default=None
        Agreement over scales for each number, to be written below it.
    proposed : int, default=None
        The number to mark.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    blocks_ : list of patches, one for each cluster of each number
    bands_ : list of patches between them
    steps_ : list of steps, each with the rows that clusters share and the changes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC, explore
    >>> from dogc.plotting import SplitDisplay
    >>> found = explore(DOGC(), load_iris().data, range(2, 5))
    >>> display = SplitDisplay.from_exploration(found)  # doctest: +SKIP
    """

    def __init__(
        self,
        labels: Mapping[int, Any],
        *,
        agreement: Mapping[int, float] | None = None,
        proposed: int | None = None,
    ):
        """Take labels at several numbers of clusters, to be drawn by ``plot``."""
        self.labels = labels
        self.agreement = agreement
        self.proposed = proposed

    @classmethod
    def from_exploration(cls, exploration: Any, *, ax: Any = None) -> SplitDisplay:
        """Draw what :func:`dogc.explore` found.

        Parameters
        ----------
        exploration : Exploration
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : SplitDisplay
        """
        agreement = {row.n_clusters: row.figures["scales"] for row in exploration}
        display = cls(exploration.labels, agreement=agreement, proposed=exploration.proposed)
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(cls, labels: Mapping[int, Any], *, ax: Any = None) -> SplitDisplay:
        """Draw labels from anywhere.

        Parameters
        ----------
        labels : mapping from int to int array of shape (n_samples,)
            Labels of the same rows at each number of clusters.
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        display : SplitDisplay
        """
        return cls(labels).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SplitDisplay:
        """Draw the columns and the bands.

        Parameters
        ----------
        ax : matplotlib axes to draw into; None makes new ones.

        Returns
        -------
        self : SplitDisplay
        """
        if not self.labels:
            raise ValueError("labels is empty; pass labels for at least one number of clusters.")
        n = len(np.asarray(next(iter(self.labels.values()))))
        named = followed({c: _models.check_labels(y, n) for c, y in self.labels.items()})
        self.steps_ = steps_between(named)
        flow = flow_between(named, self.steps_)
        place = {count: float(at) for at, count in enumerate(named)}
        ax = _canvas.axes_or_new(ax, (1.6 + 0.95 * len(named), 3.8))
        self.bands_ = [_draw_band(ax, ribbon, place) for ribbon in flow.ribbons]
        self.blocks_ = [_draw_block(ax, block, place, flow.blocks) for block in flow.blocks]
        ax.set(xlim=(-0.5, len(named) - 0.5), ylim=(1.0, 0.0), yticks=[])
        ax.set_xticks(list(place.values()), [self._below(count) for count in named])
        known = self.agreement and not all(np.isnan(v) for v in self.agreement.values())
        ax.set_xlabel("number of clusters" + ("\nagreement over scales" if known else ""))
        if self.proposed in place:
            ax.get_xticklabels()[list(place).index(self.proposed)].set_fontweight("bold")
            ax.set_title(f"{self.proposed} clusters proposed", fontsize="medium")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _below(self, count: int) -> str:
        agreement = (self.agreement or {}).get(count, np.nan)
        return f"{count}" if np.isnan(agreement) else f"{count}\n{agreement:.2f}"


def _draw_block(ax: Any, block: Block, place: Mapping[int, float], every: list[Block]) -> Any:
    from matplotlib.patches import Rectangle

    x, height = place[block.n_clusters], block.bottom - block.top
    colour = _canvas.colour_of(block.cluster)
    patch = Rectangle((x - THICK / 2, block.top), THICK, height, fc=colour, ec="none", zorder=2)
    if height > LOWEST and len(every) <= NAMED_UP_TO:
        ink = _canvas.readable_on(colour)
        look = {"ha": "center", "va": "center", "fontsize": 7, "color": ink, "zorder": 3}
        ax.text(x, block.top + height / 2, str(block.cluster), **look)
    return ax.add_patch(patch)


def _draw_band(ax: Any, ribbon: Ribbon, place: Mapping[int, float]) -> Any:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    left, right = place[ribbon.fewer] + THICK / 2, place[ribbon.more] - THICK / 2
    middle = 0.5 * (left + right)
    (a, b), (c, d) = ribbon.left, ribbon.right
    corners = [(left, a), (middle, a), (middle, c), (right, c),
               (right, d), (middle, d), (middle, b), (left, b), (left, a)]  # fmt: skip
    bend = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *bend, Path.LINETO, *bend, Path.CLOSEPOLY]
    colour = _canvas.colour_of(ribbon.target)
    return ax.add_patch(PathPatch(Path(corners, codes), fc=colour, ec="none", alpha=0.35))
