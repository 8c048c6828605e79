r"""Ever smaller versions of a graph, to solve approximately with its Laplacian.

Rows that hang together most strongly become one row of the next version, whose matrix is
:math:`P^\top A P` with P their indicators. What is slow to settle on the graph itself, the
long waves, is quick to settle on a small version of it: this is the preconditioner of both
large solvers, and the eigenvectors of the smallest version are where the search for those of
the graph begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .arrays import Matrix, norm_bound
from .products import BLOCK_ROWS, RowParts

# Versions get smaller until they have so many rows; a dense solve is instant there.
COARSEST = 1500
# Of a version that is not smaller than this share of the last one nothing is gained.
STALLED = 0.8
# The step of Jacobi's iteration, which settles short waves at every level.
DAMPING = 0.6
# The least shift: a matrix with a null space, divided by its norm bound, has an inverse with it.
SHIFT = 1e-6
# Equal weights are made unequal by up to this share: ties would join rows in long chains.
JITTER = 0.1


class Level(NamedTuple):
    """From one version of the graph to the next smaller one."""

    group: np.ndarray  # (n,) which row of the smaller version each row becomes part of
    gather: sp.csr_array  # (m, n) P': sums over the rows of a group
    A: sp.csr_array  # (m, m) the smaller version
    size: np.ndarray  # (m,) rows of the graph itself in each of its rows


class Hierarchy(NamedTuple):
    """A graph's smaller versions. Of the graph itself nothing is kept.

    So it can go on to serve where weights of the graph have changed since, and that only
    costs pace.
    """

    n: int
    levels: tuple[Level, ...]
    values: np.ndarray  # of the smallest version, with the sizes as its masses
    vectors: np.ndarray


def coarsen(A: Matrix) -> Hierarchy:
    """The smaller versions of a symmetric graph matrix, such as a Laplacian.

    They are those of the matrix divided by its norm bound: the solvers divide by it too.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(5000, 5000)).tocsr()
    >>> hierarchy = coarsen(path)
    >>> len(hierarchy.values) <= 1500
    True
    """
    n = A.shape[0]
    A, size, levels = sp.csr_array(A) * (1.0 / (norm_bound(A) or 1.0)), np.ones(n), []
    while A.shape[0] > COARSEST:
        count, group = _groups(A)
        if count > STALLED * A.shape[0]:
            break
        rows = np.arange(A.shape[0] + 1, dtype=A.indices.dtype)
        P = sp.csr_array((np.ones(A.shape[0]), group, rows), shape=(A.shape[0], count))
        gather = P.T.tocsr()
        A, size = (gather @ (A @ P)).tocsr(), gather @ size
        levels.append(Level(group, gather, A, size))
    values, vectors = _modes(A, size)
    return Hierarchy(n, tuple(levels), values, vectors)


def _groups(A: sp.csr_array) -> tuple[int, np.ndarray]:
    """Every row with the neighbour that it hangs on most: what is connected so is a group."""
    n = A.shape[0]
    chance = np.random.default_rng(0).random(n)
    partner = np.arange(n)
    for first in range(0, n, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, n)
        start, stop = A.indptr[first], A.indptr[last]
        counts = np.diff(A.indptr[first : last + 1])
        row, column = np.repeat(np.arange(first, last), counts), A.indices[start:stop]
        shuffle = (1e4 * (chance[row] + chance[column])) % 1.0  # the same from both ends
        hold = np.where(row == column, 0.0, -A.data[start:stop]) * (1.0 + JITTER * shuffle)
        filled = counts > 0
        most = np.zeros(last - first)
        most[filled] = np.maximum.reduceat(hold, A.indptr[first:last][filled] - start)
        strongest = np.flatnonzero((hold == most[row - first]) & (hold > 0))
        # Backwards, so that of several equals the first one stays.
        partner[row[strongest[::-1]]] = column[strongest[::-1]]
    links = sp.csr_array((np.ones(n), partner, np.arange(n + 1)), shape=A.shape)
    return connected_components(links, directed=True, connection="weak")


def _modes(A: sp.csr_array, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors of the smallest version in the geometry of the graph itself.

    A version that could not be made small is treated as diagonal: no coordinates, no values.
    """
    if A.shape[0] > COARSEST:
        return np.empty(0), np.empty((A.shape[0], 0))
    root = np.sqrt(size)
    values, vectors = np.linalg.eigh(A.toarray() / root[:, None] / root)
    return np.maximum(values, 0.0), vectors / root[:, None]


class Preconditioner:
    """About (A / unit + shift I)^-1, by one V-cycle over the versions: symmetric, positive.

    ``unit`` is the norm bound of A, which need not be what the hierarchy was made from.
    """

    def __init__(self, A: RowParts, unit: float, hierarchy: Hierarchy, shift: float):
        """Make ready what every cycle needs."""
        self.hierarchy, self.shift = hierarchy, shift
        self.levels = [A, *(A.beside(level.A) for level in hierarchy.levels)]
        self.factors = [1.0 / unit, *(1.0 for _ in hierarchy.levels)]
        sizes = [np.ones(hierarchy.n), *(level.size for level in hierarchy.levels)]
        self.mass = [shift * size[:, None] for size in sizes]
        self.step = [
            _damped(factor * parts.A.diagonal()[:, None] + mass)
            for factor, parts, mass in zip(self.factors, self.levels, self.mass, strict=True)
        ]

    def __call__(self, R: np.ndarray) -> np.ndarray:
        """The cycle, for the columns of R at once."""
        return self._cycle(R if R.ndim == 2 else R[:, None], 0).reshape(R.shape)

    def _cycle(self, R: np.ndarray, depth: int) -> np.ndarray:
        values, vectors = self.hierarchy.values, self.hierarchy.vectors
        step, width = self.step[depth], R.shape[1]
        if depth == len(self.hierarchy.levels):
            if not len(values):
                return step * R
            return vectors @ ((vectors.T @ R) / (values + self.shift)[:, None])
        level, parts = self.hierarchy.levels[depth], self.levels[depth]
        factor, mass = self.factors[depth], self.mass[depth]

        def residual(A: Matrix, rows: slice) -> np.ndarray:
            return R[rows] - factor * (A @ X) - mass[rows] * X[rows]

        X = parts.fill(lambda A, rows: step[rows] * R[rows], width)
        below = self._cycle(level.gather @ parts.fill(residual, width), depth + 1)
        X = parts.fill(lambda A, rows: X[rows] + below[level.group[rows]], width)
        return parts.fill(lambda A, rows: X[rows] + step[rows] * residual(A, rows), width)


def _damped(diagonal: np.ndarray) -> np.ndarray:
    return DAMPING / np.where(diagonal > 0, diagonal, 1.0)


def guess(A: RowParts, hierarchy: Hierarchy, count: int) -> np.ndarray:
    """About A's bottom eigenvectors: those of the smallest version, smoothed on the way up.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(5000, 5000)).tocsr()
    >>> F = guess(RowParts(A), coarsen(A), 1)
    >>> bool(F.T @ (A @ F) / (F.T @ F) < 1e-5)
    True
    """
    levels = hierarchy.levels
    X = hierarchy.vectors[:, :count]
    for depth in reversed(range(len(levels))):
        X = X[levels[depth].group]
        parts = A.beside(levels[depth - 1].A) if depth else A
        step = _damped(parts.A.diagonal()[:, None])
        for _ in range(2):
            X = X - step * (parts @ X)
    return X
