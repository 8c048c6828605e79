"""Rows that flow from the clusters of one number to those of the next; without matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..fitting.auto.splits import Step

# The room between two clusters above each other, as a share of all rows.
GAP = 0.03


class Block(NamedTuple):
    """A cluster as a part of a column, from 0 at the top to 1 at the bottom."""

    n_clusters: int
    cluster: int
    rows: int
    top: float
    bottom: float


class Ribbon(NamedTuple):
    """Rows that two clusters of neighbouring columns share."""

    fewer: int
    more: int
    source: int  # cluster of the smaller number
    target: int  # cluster of the larger
    rows: int
    left: tuple[float, float]  # top and bottom
    right: tuple[float, float]


class Flow(NamedTuple):
    """All columns, and what is between them."""

    blocks: list[Block]
    ribbons: list[Ribbon]


def flow_between(labels: Mapping[int, np.ndarray], steps: list[Step]) -> Flow:
    """Place clusters so that those that share rows lie side by side.

    The clusters of the smallest number come in order. All others come in the order of the mean
    place that their rows have in the column before.

    Examples
    --------
    >>> import numpy as np
    >>> from dogc.fitting.auto.splits import steps_between
    >>> labels = {1: np.array([0, 0, 0]), 2: np.array([1, 1, 0])}
    >>> flow = flow_between(labels, steps_between(labels))
    >>> [(block.n_clusters, block.cluster, block.rows) for block in flow.blocks]
    [(1, 0, 3), (2, 0, 1), (2, 1, 2)]
    """
    counts = sorted(labels)
    most = max(int(labels[count].max(initial=0)) + 1 for count in counts)
    total = max(int(np.count_nonzero(labels[count] >= 0)) for count in counts)
    unit = 1.0 / (total * (1.0 + GAP * max(most - 1, 0)))
    columns: dict[int, dict[int, Block]] = {}
    for place, count in enumerate(counts):
        sizes = np.bincount(labels[count][labels[count] >= 0])
        order = np.flatnonzero(sizes).tolist()
        if place:
            order = _beside(order, steps[place - 1].table, columns[counts[place - 1]])
        columns[count] = _column(count, order, sizes, unit, GAP * total * unit)
    ribbons = [ribbon for step in steps for ribbon in _ribbons(step, columns, unit)]
    return Flow([block for column in columns.values() for block in column.values()], ribbons)


def _beside(order: list[int], table: np.ndarray, before: Mapping[int, Block]) -> list[int]:
    middles = np.zeros(len(table))
    for cluster, block in before.items():
        middles[cluster] = 0.5 * (block.top + block.bottom)
    mean = (middles @ table) / np.maximum(table.sum(axis=0), 1)
    return sorted(order, key=lambda cluster: (round(float(mean[cluster]), 9), cluster))


def _column(
    count: int, order: list[int], sizes: np.ndarray, unit: float, gap: float
) -> dict[int, Block]:
    """Blocks above each other, in the middle of the column."""
    height = unit * float(sizes.sum()) + gap * (len(order) - 1)
    top, column = 0.5 * (1.0 - height), {}
    for cluster in order:
        bottom = top + unit * float(sizes[cluster])
        column[cluster] = Block(count, cluster, int(sizes[cluster]), top, bottom)
        top = bottom + gap
    return column


def _ribbons(step: Step, columns: Mapping[int, Mapping[int, Block]], unit: float) -> list[Ribbon]:
    left, right = columns[step.fewer], columns[step.more]
    leaving = {cluster: block.top for cluster, block in left.items()}
    arriving = {cluster: block.top for cluster, block in right.items()}
    found = []
    for source in left:  # in the order of the column, so that ribbons of a block do not cross
        for target in right:
            rows = int(step.table[source, target])
            if rows:
                a, b, height = leaving[source], arriving[target], unit * rows
                ends = ((a, a + height), (b, b + height))
                found.append(Ribbon(step.fewer, step.more, source, target, rows, *ends))
                leaving[source], arriving[target] = a + height, b + height
    return found
