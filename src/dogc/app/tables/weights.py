"""How much each column of a table counts: as much as it has in common with the others.

Clusters show in columns that depend on each other. A column that depends on no other, such as a
coin that was tossed for each row, only blurs them; in a graph of neighbours a yes/no column of
that kind cuts the rows in two and becomes the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# With more features than this every column counts the same: all pairs of them are compared.
MOST_FEATURES = 1000
# No column counts for less; weights are rounded, so that sums in another order do not change them.
LEAST, DIGITS = 0.01, 3
# Columns of few values matter from this share of the variance on: see ``discrete_share_``. A
# judgement, not a fit: it is to keep out columns whose weights are near the least.
MATTERS = 0.05


def learned_weights(covariance: np.ndarray, widths: Sequence[int], n: int) -> np.ndarray:
    """A weight for each column from the covariances of the features that columns become.

    The features of a column have a total variance of 1. What two columns have in common is the sum
    of the squared covariances of their features, less what chance alone gives n rows: the squared
    correlation of two numbers, or its likes for categories. The variance of a column is to be the
    sum of what it has in common with all others, in units of the largest such sum.

    Parameters
    ----------
    covariance : array of shape (d, d)
    widths : features of each column; they sum to d.
    n : number of rows.

    Returns
    -------
    weights : array with a factor from 0.01 to 1 for each column.

    Examples
    --------
    >>> import numpy as np
    >>> together = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> learned_weights(together, [1, 1, 1], 100)
    array([1.  , 1.  , 0.01])
    """
    starts = np.cumsum([0, *widths[:-1]])
    shared = np.add.reduceat(np.add.reduceat(covariance**2, starts, axis=0), starts, axis=1)
    shared = np.maximum(shared - 1.0 / max(n - 1, 1), 0.0)
    np.fill_diagonal(shared, 0.0)
    total = shared.sum(axis=1)
    if not total.max(initial=0.0) > 0.0:
        return np.ones(len(widths))
    return np.maximum(np.sqrt(total / total.max()).round(DIGITS), LEAST)


def has_two_values(low: float, high: float, mean: float, variance: float) -> bool:
    """Whether numbers between two bounds are all at one of them: only then do they vary so much.

    Examples
    --------
    >>> has_two_values(0.0, 1.0, 0.5, 0.25), has_two_values(0.0, 1.0, 0.5, 0.2)
    (True, False)
    """
    most = (mean - low) * (high - mean)
    return bool(variance >= (1.0 - 1e-9) * most)
