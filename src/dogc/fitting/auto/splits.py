"""Splits and merges from one number of clusters to the next."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

# A cluster that has at least this share of its rows from another cluster than most, merges both.
MERGED = 0.1


class Change(NamedTuple):
    """One cluster that splits into parts, or that is merged of parts."""

    kind: str  # "split" or "merge"
    cluster: int  # at the smaller number if it splits, at the larger if it is merged
    parts: tuple[int, ...]  # clusters at the other number, the largest part first
    rows: tuple[int, ...]  # of the cluster in each part


class Step(NamedTuple):
    """From one number of clusters to the next."""

    fewer: int
    more: int
    table: np.ndarray  # rows of each cluster of the smaller number in each of the larger
    nested: float  # share of rows that are in the main parent of their cluster
    changes: tuple[Change, ...]


def followed(found: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Labels by number of clusters, renamed so that a cluster keeps its name along the numbers.

    The clusters of a number are matched with those of the number before, so that as many rows as
    possible keep their label. A cluster without a partner gets the smallest free name. Negative
    labels stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> followed({2: np.array([0, 0, 1, 1]), 3: np.array([2, 2, 0, 1])})
    {2: array([0, 0, 1, 1]), 3: array([0, 0, 1, 2])}
    """
    result: dict[int, np.ndarray] = {}
    before = None
    for count in sorted(found):
        labels = np.asarray(found[count]).astype(np.int64)
        if before is not None:
            labels = renamed(before, labels)
        result[count] = before = labels
    return result


def renamed(before: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels under the names that their rows have before, as far as possible."""
    table = shared_rows(before, labels)
    olds, news = linear_sum_assignment(-table)
    # Names that nobody has are empty lines and columns of the table.
    name = {int(new): int(old) for old, new in zip(olds, news, strict=True) if table[old, new]}
    free = (label for label in itertools.count() if label not in name.values())
    for cluster in np.unique(labels[labels >= 0]).tolist():
        if cluster not in name:
            name[cluster] = next(free)
    names = np.array([name.get(cluster, -1) for cluster in range(table.shape[1])], dtype=np.int64)
    return np.where(labels < 0, labels, names[labels])


def shared_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rows that each cluster of one labelling shares with each of another; outliers are in none.

    Examples
    --------
    >>> import numpy as np
    >>> shared_rows(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]))
    array([[1, 1],
           [0, 1]])
    """
    inside = (one >= 0) & (other >= 0)
    rows, columns = one.max(initial=-1) + 1, other.max(initial=-1) + 1
    flat = one[inside] * columns + other[inside]
    return np.bincount(flat, minlength=rows * columns).reshape(rows, columns)


def steps_between(found: Mapping[int, np.ndarray]) -> list[Step]:
    """Splits and merges from each number of clusters to the next one that is there.

    Parameters
    ----------
    found : mapping from int to int array of shape (n_samples,)
        The labels of the same rows at each number of clusters.

    Returns
    -------
    steps : list of Step
        In rising order.

    Examples
    --------
    >>> import numpy as np
    >>> (step,) = steps_between({2: np.array([0, 0, 1, 1, 1]), 3: np.array([0, 0, 1, 1, 2])})
    >>> step.changes
    (Change(kind='split', cluster=1, parts=(1, 2), rows=(2, 1)),)
    """
    return [
        step_between(fewer, more, shared_rows(np.asarray(found[fewer]), np.asarray(found[more])))
        for fewer, more in itertools.pairwise(sorted(found))
    ]


def step_between(fewer: int, more: int, table: np.ndarray) -> Step:
    """The step of a table of shared rows."""
    parent, size = table.argmax(axis=0), table.sum(axis=0)
    changes = []
    for cluster in range(len(table)):
        children = [int(j) for j in np.flatnonzero((parent == cluster) & (size > 0))]
        if len(children) > 1:
            changes.append(_change("split", cluster, children, table[cluster, children]))
    for cluster in range(table.shape[1]):
        sources = np.flatnonzero(table[:, cluster] >= max(MERGED * size[cluster], 1)).tolist()
        if len(sources) > 1:
            changes.append(_change("merge", cluster, sources, table[sources, cluster]))
    nested = float(table.max(axis=0).sum() / max(table.sum(), 1))
    return Step(fewer, more, table, nested, tuple(changes))


def _change(kind: str, cluster: int, parts: list[int], rows: np.ndarray) -> Change:
    order = np.argsort(-rows, kind="stable")
    return Change(kind, cluster, tuple(parts[i] for i in order), tuple(rows[order].tolist()))


def change_words(change: Change) -> str:
    """A change in one sentence.

    Examples
    --------
    >>> change_words(Change("split", 1, (1, 2), (60, 40)))
    'Cluster 1 splits into 1 and 2 (60 and 40 rows).'
    >>> change_words(Change("merge", 2, (0, 1), (9, 4)))
    'Cluster 2 takes rows of 0 and 1 (9 and 4 rows).'
    """
    parts, rows = _listed(change.parts), _listed(change.rows)
    does = "splits into" if change.kind == "split" else "takes rows of"
    return f"Cluster {change.cluster} {does} {parts} ({rows} rows)."


def _listed(numbers: tuple[int, ...]) -> str:
    *most, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(most)} and {last}"
