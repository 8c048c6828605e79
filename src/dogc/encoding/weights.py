"""How much each column of a table counts: as much as it has in common with the others.

Clusters show in columns that depend on each other. A column that depends on no other, such as a
coin that was tossed for each row, only blurs them; in a graph of neighbours a yes/no column of
that kind cuts the rows in two and becomes the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

# With more features than this every column counts the same: all pairs of them are compared.
MOST_FEATURES = 1000
# No column counts for less; weights are rounded, so that sums in another order do not change them.
LEAST, DIGITS = 0.01, 3
# How much more a column may have in common with its nearest relative than with the second.
BEYOND = 10.0
# The chance that independent columns are taken for related ones.
CHANCE = 0.001
# Columns of few values matter from this share of the variance on: see ``discrete_share_``. A
# judgement, not a fit: it is to keep out columns whose weights are near the least.
MATTERS = 0.05


def learned_weights(
    covariance: np.ndarray, widths: Sequence[int], n: int, discrete: np.ndarray
) -> np.ndarray:
    """A weight for each column from the covariances of the features that columns become.

    The features of a column have a total variance of 1. What two columns have in common is the sum
    of the squared covariances of their features, less what chance alone gives n rows: the squared
    correlation of two numbers, or its likes for categories. The variance of a column is to be the
    sum of what it has in common with all others, in units of the largest such sum; two columns
    that only repeat each other do not count for it, see :func:`relevance`.

    If no column has more in common with the others than chance explains, these sums are noise.
    Then numbers count the same, since their own values may show clusters, and columns of few values
    get the least weight, since one of them would cut the rows in two. Where there are no numbers,
    the sums are all that is known.

    Parameters
    ----------
    covariance : array of shape (d, d)
    widths : features of each column; they sum to d.
    n : number of rows.
    discrete : whether each column has few values.

    Returns
    -------
    weights : array with a factor from 0.01 to 1 for each column.

    Examples
    --------
    >>> import numpy as np
    >>> together = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> learned_weights(together, [1, 1, 1], 100, np.array([False, False, True]))
    array([1.  , 1.  , 0.01])
    >>> learned_weights(np.eye(3), [1, 1, 1], 100, np.array([False, False, True]))
    array([1.  , 1.  , 0.01])
    """
    starts = np.cumsum([0, *widths[:-1]])
    shared = np.add.reduceat(np.add.reduceat(covariance**2, starts, axis=0), starts, axis=1)
    np.fill_diagonal(shared, 0.0)
    total = relevance(np.maximum(shared - 1.0 / max(n - 1, 1), 0.0))
    none = not total.max(initial=0.0) > 0.0
    if not discrete.all() and (none or not are_related(shared, n)):
        return np.where(discrete, LEAST, 1.0)
    if none:
        return np.ones(len(widths))
    return np.maximum(np.sqrt(total / total.max()).round(DIGITS), LEAST)


def relevance(shared: np.ndarray) -> np.ndarray:
    """Sums of what columns have in common with the others; two that only repeat each other do not.

    Two columns that are related to each other and to nothing else, such as the first and the last
    order of a customer, say nothing of clusters that other columns show. So a pair counts for ten
    times as much as the column has in common with its second relative, at most; for the column of
    the two for which that is more.

    Examples
    --------
    >>> relevance(np.array([[0.0, 0.8, 0.0, 0.0], [0.8, 0.0, 0.01, 0.0],
    ...                     [0.0, 0.01, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]))
    array([0.1 , 0.11, 0.01, 0.  ])
    """
    if len(shared) < 3:
        return shared.sum(axis=1)
    most = BEYOND * np.sort(shared, axis=1)[:, -2]
    return np.minimum(shared, np.maximum(most[:, None], most)).sum(axis=1)


def are_related(shared: np.ndarray, n: int) -> bool:
    """Whether a column has more in common with the others than chance gives n rows.

    n times the squared correlation of two independent columns of numbers is about chi-squared
    with one degree of freedom; what categories have in common varies less.

    Examples
    --------
    >>> import numpy as np
    >>> are_related(np.array([[0.0, 0.05], [0.05, 0.0]]), 50)
    False
    >>> are_related(np.array([[0.0, 0.05], [0.05, 0.0]]), 500)
    True
    """
    k = len(shared)
    return k > 1 and bool(n * shared.sum(axis=1).max() > chi2.ppf(1.0 - CHANCE / k, k - 1))


def has_two_values(low: float, high: float, mean: float, variance: float) -> bool:
    """Whether numbers between two bounds are all at one of them: only then do they vary so much.

    Examples
    --------
    >>> has_two_values(0.0, 1.0, 0.5, 0.25), has_two_values(0.0, 1.0, 0.5, 0.2)
    (True, False)
    """
    most = (mean - low) * (high - mean)
    return bool(variance >= (1.0 - 1e-9) * most)
