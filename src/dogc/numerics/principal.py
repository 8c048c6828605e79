"""Principal directions: the leading ones, and those that stand out from permuted columns."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .matrix import Matrix
from .trace_ratio import settle_signs

# Principal directions in which rows of more columns are compared with representatives.
DIRECTIONS = 50
# Numbers in the rows that tell the leading directions: more would only take longer.
ELEMENTS = 1 << 25
# Up to so many rows or columns directions are exact, so that no turn of the columns matters.
EXACT = 2_000
# Rounds of the power iteration beyond, and directions that it has beside those asked for.
ROUNDS, SPARE = 5, 10
# No more directions stand out.
MOST = 100


def leading_directions(X: Matrix, weight: np.ndarray, q: int) -> np.ndarray:
    """The q directions of the most scatter of rows that count for their weight, as (q, d).

    Sparse rows are not centred: their mean is then one of the directions.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 0.1, 0.0], [-3.0, 0.2, 0.0], [0.0, -0.3, 0.0]])
    >>> np.abs(leading_directions(X, np.ones(3), 1)).round(1)
    array([[1., 0., 0.]])
    """
    rows = slice(max(4 * q, ELEMENTS // X.shape[1]))
    X, weight = X[rows].astype(np.float64), weight[rows].astype(np.float64)
    if not sp.issparse(X):
        X -= weight @ X / weight.sum()
    root = np.sqrt(weight)
    return _leading(sp.diags_array(root) @ X if sp.issparse(X) else root[:, None] * X, q)[1]


def own_axes(Z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Points in axes of their own: the principal directions, each towards its longer tail.

    They do not depend on the axes in which the points came. Points of many columns are in principal
    directions already.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 5.0]])
    >>> own_axes(Z, np.ones(3)).round(6)[:, 0]
    array([-2., -1.,  3.])
    """
    if Z.shape[1] >= DIRECTIONS:
        return Z
    share = weight / weight.sum()
    Z = Z - share @ Z
    _, V = np.linalg.eigh((Z.T * share) @ Z)
    Z = Z @ V[:, ::-1]
    return Z * np.where(share @ Z**3 < 0, -1.0, 1.0)


def standing_out(X: np.ndarray) -> np.ndarray:
    """The principal directions with more scatter than any of permuted columns, as (d, q).

    Permuting each column on its own keeps its values and takes away what columns have in common
    (parallel analysis; Horn, 1965). Rows are centred.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 200))
    >>> X[:30, :20] += 2.0
    >>> standing_out(X - X.mean(axis=0)).shape
    (200, 1)
    """
    X = X.astype(np.float64)
    scatter, V = _leading(X, min(MOST, min(X.shape) - 1))
    chance, _ = _leading(np.random.default_rng(0).permuted(X, axis=0), 1)
    return V[scatter > chance[0]].T


def _leading(X: Matrix, q: int) -> tuple[np.ndarray, np.ndarray]:
    """The q largest singular values and their directions, nearly so where X is large."""
    n, d = X.shape
    if min(n, d) <= EXACT:
        squares = X.T @ X if d <= n else X @ X.T
        squares = squares.toarray() if sp.issparse(squares) else squares
        last = len(squares) - 1
        _, V = scipy.linalg.eigh(squares, subset_by_index=(max(last - q + 1, 0), last))
        V = V if d <= n else np.linalg.qr(X.T @ V)[0]
    else:
        V = np.random.default_rng(0).standard_normal((d, min(q + SPARE, d)))
        for _ in range(ROUNDS):
            V, _ = np.linalg.qr(X.T @ (X @ V))
    _, scatter, turn = np.linalg.svd(X @ V, full_matrices=False)
    return scatter[:q], settle_signs(V @ turn[:q].T).T
