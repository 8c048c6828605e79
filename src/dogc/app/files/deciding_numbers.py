"""A column of numbers that decides the clusters alone: cut at the right values, it gives them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# Share of the rows that the pieces of a deciding column may place wrongly.
WRONG = 0.01
# Of the rows outside the largest cluster, the share that its pieces must place rightly at least,
# and those of every other column at most: clusters that several columns show are no column's alone.
PLACED, PLACED_BY_OTHERS = 0.9, 0.4
# Rows that are looked at, columns up to which they are, and the share of values to be known.
ROWS, COLUMNS, KNOWN = 20_000, 200, 0.5


def deciding_number(
    columns: Iterable[tuple[str, np.ndarray]], labels: np.ndarray
) -> tuple[str, list[float]] | None:
    """The one column of numbers that gives the clusters, and where to cut it.

    Parameters
    ----------
    columns : pairs of a name and an array of shape (n,)
        All columns of numbers that were used; NaN where a value is missing.
    labels : int array of shape (n,)
        Clusters; rows with a negative label are not looked at.

    Returns
    -------
    tuple of str and list of float, or None
        None too where another column gives many of the clusters as well, or is the only one.

    Examples
    --------
    >>> import numpy as np
    >>> revenue = np.array([10.0, 12.0, 11.0, 990.0, 1000.0, 1010.0])
    >>> noise = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> deciding_number([("revenue", revenue), ("noise", noise)], labels)
    ('revenue', [501.0])
    >>> deciding_number([("revenue", revenue), ("cost", revenue / 2)], labels)
    """
    columns = list(columns)
    rows = np.flatnonzero(labels >= 0)
    rows = rows[:: -(-len(rows) // ROWS) or 1]
    largest = np.unique(labels[rows], return_counts=True)[1].max(initial=0)
    outside = 1.0 - largest / max(len(rows), 1)
    if not 2 <= len(columns) <= COLUMNS or outside == 0.0:
        return None
    found = {name: pieces_of(values[rows], labels[rows]) for name, values in columns}
    placed = {name: 1.0 - wrong / outside for name, (wrong, _) in found.items()}
    best = max(placed, key=lambda name: placed[name])
    others = max(share for name, share in placed.items() if name != best)
    wrong, cuts = found[best]
    alone = wrong < WRONG and placed[best] > PLACED and others < PLACED_BY_OTHERS
    return (best, cuts) if alone else None


def pieces_of(values: np.ndarray, labels: np.ndarray) -> tuple[float, list[float]]:
    """The column cut into pieces in the order of the medians of the clusters, as well as can be.

    Returned are the share of the rows in the piece of another cluster, and the cuts.

    The most rows that are right with the first i rows and the first k clusters follow from those
    with one cluster fewer, for all i at once.

    Examples
    --------
    >>> import numpy as np
    >>> pieces_of(np.array([3.0, 1.0, 2.0, 9.0, 8.0, 7.0]), np.array([0, 0, 0, 1, 1, 0]))
    (0.0, [7.5])
    """
    known = np.isfinite(values)
    if known.sum() <= KNOWN * len(values):
        return 1.0, []
    order = np.argsort(values[known], kind="stable")
    x, y = values[known][order], labels[known][order]
    clusters = sorted(np.unique(y), key=lambda name: float(np.median(x[y == name])))
    ends = np.append(0, np.flatnonzero(np.append(np.diff(x) > 0, True)) + 1)  # equal values stay
    right = np.zeros(len(ends), dtype=np.int64)
    begun = []
    for name in clusters:
        mine = np.append(0, np.cumsum(y == name))[ends]
        gain = right - mine  # if this piece begins here
        best = np.maximum.accumulate(gain)
        begun.append(np.maximum.accumulate(np.where(gain == best, np.arange(len(ends)), 0)))
        right = best + mine
    place, cuts = len(ends) - 1, []
    for starts in reversed(begun[1:]):
        place = int(starts[place])
        at = min(max(int(ends[place]), 1), len(x) - 1)
        cuts.append(float(0.5 * x[at - 1] + 0.5 * x[at]))
    return 1.0 - float(right[-1]) / len(x), cuts[::-1]
