"""The most typical rows of each cluster."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix

# Rows of each cluster that are named, and those among which they are looked for.
EACH, AMONG = 5, 2_000


def exemplars(Z: Matrix, labels: np.ndarray, membership: np.ndarray, c: int) -> np.ndarray:
    """Numbers of the rows nearest to the middle of each cluster, of the half most inside it.

    Of many rows some are looked at. Of equal rows the first alone counts. Clusters of fewer rows
    are filled up with -1.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [3.0], [9.0]])
    >>> exemplars(Z, np.array([0, 0, 0, 1]), np.ones(4), 2)
    array([[ 1,  0,  2, -1, -1],
           [ 3, -1, -1, -1, -1]])
    """
    found = np.full((c, EACH), -1)
    for cluster in range(c):
        rows = np.flatnonzero(labels == cluster)
        if not len(rows):
            continue
        share = np.nan_to_num(membership[rows]).round(9)  # 1 and 1 - 1e-16 are one
        rows = rows[share >= np.median(share)]
        rows = rows[:: len(rows) // AMONG + 1]
        away = _from_middle(Z[rows].astype(np.float64))
        first = np.sort(np.unique(away, return_index=True)[1])
        rows, away = rows[first], away[first]
        nearest = rows[np.argsort(away, kind="stable")[:EACH]]
        found[cluster, : len(nearest)] = nearest
    return found


def _from_middle(part: Matrix) -> np.ndarray:
    """Squared distances of rows from their mean; of sparse rows less a number common to all."""
    middle = np.asarray(part.mean(axis=0)).ravel()
    if sp.issparse(part):
        return np.asarray(part.power(2).sum(axis=1)).ravel() - 2.0 * (part @ middle)
    return np.square(part - middle).sum(axis=1)
