"""Representatives of rows: the means of cells, by a few steps of Lloyd's algorithm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from .exact import exact_bits, rounded, usual_unit, varying
from .matrix import Ended, never, over_rows

# Rounding of sums of shares.
SLACK = 1e-9
# Rows at a time: what a block needs stays in a processor's cache.
ELEMENTS = 1 << 17

# The nearest row of the second array for each row of the first.
Assign = Callable[[np.ndarray, np.ndarray], np.ndarray]


def nearest_mean(Z: np.ndarray, R: np.ndarray, threads: int = 1) -> np.ndarray:
    """The nearest row of R for each row of Z, the first in a tie.

    Blocks have a fixed size, so that the result is the same for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_mean(np.array([[0.0], [0.9], [3.0]]), np.array([[0.0], [1.0]]))
    array([0, 1, 1])
    """
    squares = np.einsum("ij,ij->i", R, R)
    twice = -2.0 * R.T

    def block(rows: slice) -> np.ndarray:
        scores = Z[rows] @ twice
        scores += squares
        return scores.argmin(axis=1)

    return np.concatenate(over_rows(block, len(Z), threads, max(64, ELEMENTS // len(R))))


def cell_means(Z: np.ndarray, weight: np.ndarray, cell: np.ndarray, p: int) -> np.ndarray:
    """The weighted mean of the rows of each cell that has any.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [5.0]])
    >>> cell_means(Z, np.array([1, 3, 1]), np.array([0, 0, 2]), 3)
    array([[0.75],
           [5.  ]])
    """
    rows = np.arange(len(Z) + 1)
    within = sp.csr_array((weight.astype(float), cell, rows), shape=(len(Z), p))
    total = np.bincount(cell, weights=weight, minlength=p)
    used = total > 0
    return np.asarray(within.T @ Z)[used] / total[used, None]


def halved_cells(Z: np.ndarray, weight: np.ndarray, p: int) -> np.ndarray:
    """At most p cells of about the same weight: halves of halves along the widest column.

    Rows that move a little stay in their cells, all but a few beside the cuts. Cells around rows
    that chance picks would be others for rows that differ in their last digit.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 1.0], [5.0, 1.0], [1.0, 1.0], [6.0, 1.0]])
    >>> halved_cells(Z, np.ones(4), 2), halved_cells(Z, np.array([1, 1, 1, 9]), 2)
    (array([0, 1, 0, 1]), array([0, 0, 0, 1]))
    """
    found, count = np.empty(len(Z), dtype=np.int64), 0
    parts = [(np.arange(len(Z)), p)]
    while parts:
        rows, p = parts.pop()
        if p == 1 or len(rows) == 1:
            found[rows], count = count, count + 1
            continue
        part, share = Z[rows], weight[rows] / weight[rows].sum()
        scatter = share @ np.square(part - share @ part)
        order = np.lexsort((part.sum(axis=1), part[:, scatter.argmax()]))  # sums decide in a tie
        cut = int(np.searchsorted(np.cumsum(share[order]), (p // 2) / p - SLACK)) + 1
        cut = min(cut, len(rows) - 1)
        parts += [(rows[order[cut:]], p - p // 2), (rows[order[:cut]], p // 2)]
    return found


def cells(
    Z: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    steps: int,
    assign: Assign = nearest_mean,
    ended: Ended = never,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Cells of rows that are near to each other, at most one for each first mean, and their means.

    Lloyd's steps towards :math:`\min \sum_i \omega_i \|z_i - r_{j(i)}\|^2`.

    Parameters
    ----------
    Z : array of shape (m, q)
    weight : array of shape (m,), what each row counts for.
    start : array of shape (p, q), the means to begin with.
    steps : their number.
    assign : what finds the nearest mean of each row. Coordinates are rounded before so that
        products are exact: whoever computes them, the cells are the same.
    ended : says whether there is no more time; no further step is taken then.

    Returns
    -------
    cell : int array of shape (m,)
    R : array of shape (at most p, q), the means of the cells.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [5.0], [1.0], [6.0]])
    >>> cells(Z, np.ones(4, dtype=int), Z[:2], 3)
    (array([0, 1, 0, 1]), array([[0.5],
           [5.5]]))
    """
    middle = np.median(Z, axis=0)  # squares lose digits far from the origin
    near, R = Z - middle, start - middle
    unit, bits = usual_unit(near), exact_bits(varying(near))
    coarse = rounded(near, unit, bits)
    for _ in range(steps):
        if ended():
            break
        cell = assign(coarse, rounded(R, unit, bits))
        R = cell_means(near, weight, cell, len(R))
    cell = np.unique(assign(coarse, rounded(R, unit, bits)), return_inverse=True)[1]
    return cell, cell_means(Z, weight, cell, int(cell.max()) + 1)
