"""Splits and merges of clusters as their number grows."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..fitting.auto.splits import Step, followed, steps_between
from . import _canvas

# The width of a column, where the next one is 1 away; a lower block has no room for its name.
THICK, LOWEST = 0.16, 0.025
NAMED_UP_TO = 40
# The room between two clusters above each other, as a share of all rows.
GAP = 0.03


@dataclass(eq=False, repr=False)
class SplitDisplay(_canvas.Display):
    """Splits and merges of clusters as their number grows.

    Each column holds the clusters of one number, as high as they have rows. A band between two
    columns is rows that two clusters share. A cluster keeps its name and its colour where most of
    its rows stay together.

    Parameters
    ----------
    labels : mapping from int to int array of shape (n_samples,)
        Labels of the same rows at each number of clusters; negative numbers are outliers.
    verdicts : mapping from int to str, default=None
        The verdict on the clusters of each number, to be written below it.
    proposed : int, default=None
        The number to mark.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
    blocks_ : list of patches, one for each cluster of each number
    bands_ : list of areas between them
    steps_ : list of steps, each with the rows that clusters share and the changes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import explore
    >>> from dogc.plotting import SplitDisplay
    >>> found = explore(load_iris().data, range(2, 5))
    >>> display = SplitDisplay.from_exploration(found)  # doctest: +SKIP
    """

    labels: Mapping[int, Any]
    _: KW_ONLY
    verdicts: Mapping[int, str] | None = None
    proposed: int | None = None

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
        verdicts = {row.n_clusters: row.evidence.verdict for row in exploration if row.evidence}
        display = cls(exploration.labels, verdicts=verdicts, proposed=exploration.proposed)
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
        n = len(np.asarray(next(iter(self.labels.values()))))
        named = followed({c: _canvas.check_labels(y, n) for c, y in self.labels.items()})
        self.steps_ = steps_between(named)
        blocks, ribbons = flow_between(named, self.steps_)
        place = {count: float(at) for at, count in enumerate(named)}
        ax = _canvas.axes_or_new(ax, (1.6 + 0.95 * len(named), 3.8))
        self.bands_ = [_draw_band(ax, ribbon, place) for ribbon in ribbons]
        named_too = len(blocks) <= NAMED_UP_TO
        self.blocks_ = [_draw_block(ax, b, place[b["n_clusters"]], named_too) for b in blocks]
        ax.set(xlim=(-0.5, len(named) - 0.5), ylim=(1.0, 0.0), yticks=[])
        known = {c: f"\n{verdict}" for c, verdict in (self.verdicts or {}).items()}
        ax.set_xticks(list(place.values()), [f"{c}{known.get(c, '')}" for c in named])
        ax.set_xlabel("number of clusters" + ("\nverdict" if known else ""))
        title = None
        if self.proposed in place:
            ax.get_xticklabels()[list(place).index(self.proposed)].set_fontweight("bold")
            title = f"{self.proposed} clusters proposed"
        _canvas.without_lines(ax)
        return self._drawn(ax, title)


def _draw_block(ax: Any, block: Mapping[str, Any], x: float, named: bool) -> Any:
    colour, height = _canvas.colour_of(block["cluster"]), block["bottom"] - block["top"]
    bar = ax.bar(x, height, THICK, block["top"], color=colour, zorder=2)
    if named and height > LOWEST:
        ink = _canvas.readable_on(colour)
        ax.bar_label(bar, [block["cluster"]], label_type="center", fontsize=7, color=ink)
    return bar[0]


def _draw_band(ax: Any, ribbon: Mapping[str, Any], place: Mapping[int, float]) -> Any:
    left, right = place[ribbon["fewer"]] + THICK / 2, place[ribbon["more"]] - THICK / 2
    part = np.linspace(0.0, 1.0, 50)
    bend = part**2 * (3.0 - 2.0 * part)
    top, bottom = (a + (b - a) * bend for a, b in zip(ribbon["left"], ribbon["right"], strict=True))
    colour = _canvas.colour_of(ribbon["target"])
    return ax.fill_between(left + (right - left) * part, top, bottom, fc=colour, alpha=0.35, lw=0)


def flow_between(
    labels: Mapping[int, np.ndarray], steps: list[Step]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Place clusters so that those that share rows lie side by side; plain data, ready for JSON.

    The clusters of the smallest number come in order. All others come in the order of the mean
    place that their rows have in the column before.

    Returns
    -------
    blocks : the clusters of each number, from 0 at the top to 1 at the bottom
    ribbons : rows that two clusters of neighbouring numbers share, each with its two ends

    Examples
    --------
    >>> import numpy as np
    >>> from dogc.fitting.auto.splits import steps_between
    >>> labels = {1: np.array([0, 0, 0]), 2: np.array([1, 1, 0])}
    >>> blocks, ribbons = flow_between(labels, steps_between(labels))
    >>> [(block["n_clusters"], block["cluster"], block["rows"]) for block in blocks]
    [(1, 0, 3), (2, 0, 1), (2, 1, 2)]
    """
    counts = sorted(labels)
    most = max(int(labels[count].max(initial=0)) + 1 for count in counts)
    total = max(int(np.count_nonzero(labels[count] >= 0)) for count in counts)
    unit = 1.0 / (total * (1.0 + GAP * max(most - 1, 0)))
    tables = dict(zip(counts[1:], (step.table for step in steps), strict=True))
    columns: dict[int, dict[int, dict[str, Any]]] = {}
    middles = np.empty(0)
    for count in counts:
        sizes = np.bincount(labels[count][labels[count] >= 0])
        order = np.flatnonzero(sizes).tolist()
        if count in tables:  # by the mean place of their rows in the column before
            rows = np.maximum(tables[count].sum(axis=0), 1)
            mean = (middles @ tables[count] / rows).round(9)
            order.sort(key=mean.__getitem__)
        gap = GAP * total * unit
        top = 0.5 * (1.0 - unit * float(sizes.sum()) - gap * (len(order) - 1))
        columns[count], middles = {}, np.zeros(len(sizes))
        for cluster in order:
            size = int(sizes[cluster])
            columns[count][cluster] = {"n_clusters": count, "cluster": cluster, "rows": size,
                                       "top": top, "bottom": top + unit * size}  # fmt: skip
            middles[cluster] = top + 0.5 * unit * size
            top += unit * size + gap
    ribbons = []
    for step in steps:
        left, right = columns[step.fewer], columns[step.more]
        leaving, arriving = ({c: b["top"] for c, b in side.items()} for side in (left, right))
        # In the order of both columns, so that ribbons of a block do not cross.
        for source, target in itertools.product(left, right):
            if rows := int(step.table[source, target]):
                a, b, height = leaving[source], arriving[target], unit * rows
                leaving[source], arriving[target] = a + height, b + height
                names = {"fewer": step.fewer, "more": step.more, "source": source}
                places = {"left": [a, a + height], "right": [b, b + height]}
                ribbons.append({**names, "target": target, "rows": rows, **places})
    return [block for column in columns.values() for block in column.values()], ribbons
