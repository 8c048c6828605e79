"""Minimising over all F whose columns lie in a small span: what both large solvers do.

The span has three blocks of columns: F itself, directions to go in, and the last move, which
makes it a conjugate gradient method (LOBPCG: Knyazev, 2001). Only products of the blocks with
one another are needed to find the minimum within the span.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from .arrays import Matrix
from .products import RowParts

# Directions that the others span up to this share of their length add nothing.
INDEPENDENT = 1e-6
ROUNDING = 1e-12


class Spans:
    """The blocks [F, directions, last move], and their products with an operator.

    Parameters
    ----------
    apply : the operator, which takes an array of shape (n, b).
    parts : the rows, cut into blocks, and the threads that share them.
    F, AF : arrays of shape (n, b), orthonormal columns and the operator's product with them.
    """

    def __init__(
        self,
        apply: Callable[[np.ndarray], np.ndarray],
        parts: RowParts,
        F: np.ndarray,
        AF: np.ndarray,
    ):
        """Make room for the blocks."""
        n, self.b = F.shape
        self.apply, self.parts = apply, parts
        self.U, self.AU = np.empty((n, 3 * self.b)), np.empty((n, 3 * self.b))
        self.F[:], self.AF[:] = F, AF
        self.width = 2 * self.b  # there is no last move yet

    @property
    def F(self) -> np.ndarray:
        """Where we are."""
        return self.U[:, : self.b]

    @property
    def AF(self) -> np.ndarray:
        """The operator's product with it."""
        return self.AU[:, : self.b]

    def cross(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """X'Y."""
        return np.sum(self.parts.map(lambda _, rows: X[rows].T @ Y[rows]), axis=0)

    def without(self, X: np.ndarray, N: np.ndarray) -> np.ndarray:
        """X less its part in the span of N, whose columns are orthonormal."""
        overlap = self.cross(N, X)
        return self.parts.fill(lambda _, rows: X[rows] - N[rows] @ overlap, X.shape[1])

    def extend(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take directions in: an orthonormal basis of the span, and the operator within it.

        The basis is given by its coordinates in the blocks; its first columns are F.
        """
        b, w = self.b, self.width
        lengths = np.linalg.norm(directions, axis=0)
        directions = self.without(directions, self.F)
        # Of what lay within F's span only rounding is left, and that leads nowhere.
        directions[:, np.linalg.norm(directions, axis=0) <= ROUNDING * lengths] = 0.0
        self.U[:, b : 2 * b], self.AU[:, b : 2 * b] = directions, self.apply(directions)
        U, AU = self.U[:, :w], self.AU[:, :w]
        products = self.parts.map(lambda _, rows: U[rows].T @ np.hstack([U[rows], AU[rows]]))
        gram, inner = np.hsplit(np.sum(products, axis=0), 2)
        basis = _orthonormal(gram, b)
        inner = basis.T @ inner @ basis
        return basis, 0.5 * (inner + inner.T)

    def within(self, basis: np.ndarray, B: np.ndarray) -> np.ndarray:
        """The coordinates of B in the basis."""
        return basis.T @ self.cross(self.U[:, : self.width], B)

    def move_to(self, new: np.ndarray) -> None:
        """Let F be the combination of the blocks with these coordinates."""
        b, w = self.b, self.width
        move = new.copy()
        move[:b] = 0.0
        both = np.hstack([new, move])

        def update(_: Matrix, rows: slice) -> None:
            for blocks in (self.U[rows], self.AU[rows]):
                combined = blocks[:, :w] @ both
                blocks[:, :b], blocks[:, 2 * b :] = combined[:, :b], combined[:, b:]

        self.parts.map(update)
        self.width = 3 * b

    def orthonormal_F(self) -> np.ndarray:
        """F without the rounding that the moves have left."""
        F, own = self.F, _whitened(self.cross(self.F, self.F))
        return self.parts.fill(lambda _, rows: F[rows] @ own, self.b)


def _whitened(gram: np.ndarray) -> np.ndarray:
    """What makes columns with these products orthonormal, each from those before it."""
    return scipy.linalg.inv(scipy.linalg.cholesky(gram))


def _orthonormal(gram: np.ndarray, b: int) -> np.ndarray:
    """Coordinates of an orthonormal basis of the blocks; its first b columns are F's own."""
    own = _whitened(gram[:b, :b])
    across = own @ (own.T @ gram[:b, b:])
    rest = gram[b:, b:] - gram[b:, :b] @ across
    squares, before = np.diag(rest), np.diag(gram)[b:]
    # Of a column that lies all but within F's span, what is left is rounding.
    left = squares > INDEPENDENT * before
    inverse = np.divide(1.0, np.sqrt(np.abs(squares)), out=np.zeros(len(rest)), where=left)
    values, vectors = np.linalg.eigh(rest * inverse[:, None] * inverse)
    kept = values > INDEPENDENT
    others = inverse[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    basis = np.zeros((len(gram), b + others.shape[1]))
    basis[:b, :b], basis[:b, b:], basis[b:, b:] = own, -across @ others, others
    return basis
