"""Wide neighbourhoods: as many neighbours as stand for a share of all rows, copies counted.

A table of categories has few distinct rows, and some of them occur often. A neighbourhood of a
share of the distinct rows would see nothing of that.
"""

from __future__ import annotations

import numpy as np

from ..loop.state import Candidates
from .settings import wide_scale


def with_copies(candidates: Candidates, copies: np.ndarray, c: int, part: float) -> Candidates:
    """Candidates by the number of rows that they stand for; a part of them for a smaller scale."""
    idx, d = until_wide(candidates.idx, candidates.d, copies, c, part)
    return candidates._replace(k=idx.shape[1] - 1, idx=idx, d=d, copies=copies)


def until_wide(
    idx: np.ndarray, d: np.ndarray, copies: np.ndarray, c: int, part: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest candidates of each row that are enough, and behind them the next one.

    They are enough if they stand for a wide neighbourhood of all rows, and if they are one of the
    distinct rows.

    Parameters
    ----------
    idx, d : arrays of shape (n, q), candidates and squared distances, nearest first.
    copies : how many rows each of the distinct rows stands for.
    c : number of clusters.
    part : how wide, in units of a wide neighbourhood.

    Returns
    -------
    idx, d : arrays of shape (n, k+1), where rows that need fewer than k have candidates -1 at an
        infinite distance. In the last column is the next one.

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.arange(5)[None], np.arange(5.0)[None]
    >>> until_wide(idx, d, np.ones(15), 2)
    (array([[0, 1, 2, 3]]), array([[0., 1., 2., 3.]]))
    >>> until_wide(idx, d, np.array([1, 7, 1, 1, 1, 1]), 2)[0]
    array([[0, 1, 2]])
    """
    rows, q = np.arange(len(idx)), idx.shape[1]
    enough = part * wide_scale(int(copies.sum()), c)
    least = max(1, int(part * wide_scale(len(copies), c)))
    needed = 1 + (np.cumsum(copies[idx], axis=1) < enough).sum(axis=1)
    needed = np.clip(needed, least, max(q - 1, 1))
    following = np.minimum(needed, q - 1)
    k = int(needed.max(initial=1))
    beyond = np.arange(k) >= needed[:, None]
    near, far = np.where(beyond, -1, idx[:, :k]), np.where(beyond, np.inf, d[:, :k])
    return (
        np.column_stack([near, idx[rows, following]]),
        np.column_stack([far, d[rows, following]]),
    )
