r"""Outlier scores: how far a row lies from its neighbours, where they lie so far from theirs.

The reach of a row is its mean distance to its nearest neighbours. Its score is that reach divided
by the median reach of the rows around it: about 1 inside a cluster, however dense it is, and large
for a row that lies far from everything, alone or with a few others.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import graph

# Neighbours that make the reach of a row, and those that say how large a reach is usual. More are
# needed for the second: in a small group of outliers all have the same reach.
NEAREST, AROUND = 20, 45
# From this score on a row counts as an outlier.
OUTLYING = 3.0
# From this score on it is so far away that no cluster should hang on it.
FAR = 30.0
# Reaches are lifted by this share of their mean, so that among copies nothing is divided by zero.
LIFT = 1e-9
# No score is larger: beyond it there is nothing to tell apart.
MOST = 1e12


def mean_reach(
    d: np.ndarray, count: np.ndarray, own: np.ndarray, nearest: int = NEAREST
) -> np.ndarray:
    """The mean distance of rows to their nearest neighbours, copies counted.

    Parameters
    ----------
    d : array of shape (n, k)
        Squared distances, nearest first; infinite where there is no neighbour.
    count : array of shape (n, k)
        How many rows each neighbour stands for.
    own : array of shape (n,)
        How many more rows are equal to the row itself.
    nearest : int
        How many neighbours make the mean.

    Examples
    --------
    >>> import numpy as np
    >>> d = np.array([[1.0, 9.0, 100.0]])
    >>> mean_reach(d, np.ones((1, 3)), np.zeros(1), nearest=2)
    array([2.])
    >>> mean_reach(d, np.ones((1, 3)), np.ones(1), nearest=2)
    array([0.5])
    """
    known = np.isfinite(d)
    count = np.where(known, count, 0.0)
    before = np.cumsum(count, axis=1) - count + own[:, None]
    taken = np.clip(nearest - before, 0.0, count)
    total = taken.sum(axis=1) + np.minimum(own, nearest)
    distance = np.sqrt(np.where(known, d, 0.0))
    reach = np.einsum("ij,ij->i", taken, distance) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, reach, np.inf)


def relative_reach(reach: np.ndarray, around: np.ndarray, unit: float) -> np.ndarray:
    """Scores of rows from their reach and from that of the rows around them.

    Parameters
    ----------
    reach : array of shape (n,)
    around : array of shape (n, m)
        The reach of each neighbour; NaN where there is none.
    unit : float
        The mean reach of the fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> relative_reach(np.array([1.0, 8.0, 0.0]), np.array([[1.0, 1.0, 9.0]] * 3), 1.0).round(6)
    array([1., 8., 0.])
    """
    lift = LIFT * unit or np.finfo(float).tiny
    known = np.isfinite(around)
    alone = ~known.any(axis=1)
    around = np.where(alone[:, None], unit, np.where(known, around, np.nan))
    with np.errstate(over="ignore"):
        score = (reach + lift) / (np.nanmedian(around, axis=1) + lift)
    return np.minimum(score, MOST)


def discount(shares: np.ndarray, score: np.ndarray, c: int) -> np.ndarray:
    """Shares of c clusters, drawn towards even ones as far as a row is an outlier.

    Examples
    --------
    >>> import numpy as np
    >>> discount(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [30.0]]), 2)
    array([[1.  , 0.  ],
           [0.55, 0.45]])
    """
    # Never all the way: the label that leads stays in the lead.
    kept = np.maximum(OUTLYING / np.maximum(score, OUTLYING), 1e-6)
    return np.minimum(kept * shares + (1.0 - kept) / c, 1.0)  # no more than one by rounding


def lone(
    score: np.ndarray, idx: np.ndarray, d: np.ndarray, count: np.ndarray, least: float
) -> np.ndarray:
    """Mask of the rows that lie so far away that they are to be set aside.

    Not those of a group that is large enough for a cluster: far rows are in one group if they lie
    nearer to each other than half the way to the rest. And none where a tenth of all rows is far:
    then that is how the data are.

    Parameters
    ----------
    score : array of shape (n,)
    idx, d : arrays of shape (n, k)
        Neighbours and squared distances, nearest first.
    count : array of shape (n,)
        How many rows each stands for.
    least : float
        The fewest rows that make a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> idx = np.array([[1, 2], [0, 2], [1, 0], [2, 1]])
    >>> d = np.array([[1.0, 4.0], [1.0, 1.0], [1.0, 4.0], [9604.0, 9801.0]])
    >>> lone(np.array([1.0, 1.0, 1.0, 90.0]), idx, d, np.full(4, 5.0), 6.0)
    array([False, False, False, False])
    >>> lone(np.array([1.0, 1.0, 1.0, 90.0]), idx, d, np.array([9.0, 9.0, 9.0, 1.0]), 6.0)
    array([False, False, False,  True])
    """
    far = score > FAR
    if not 0.0 < count[far].sum() < 0.1 * count.sum():
        return np.zeros(len(score), dtype=bool)
    rest = np.where(far[idx] | (idx < 0), np.inf, d).min(axis=1, keepdims=True)
    rest = np.where(np.isfinite(rest), rest, d[:, -1:])
    row, place = np.nonzero(far[:, None] & far[idx] & (d < 0.25 * rest))
    links = sp.csr_array((np.ones(len(row)), (row, idx[row, place])), shape=(len(score),) * 2)
    _, member = graph.components(links)
    return far & (np.bincount(member, count)[member] < least)
