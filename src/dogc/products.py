"""Work on the rows of a large sparse array in threads, the same to the last bit for any number."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from .arrays import Matrix

# Rows of a block: what belongs to it stays in a processor's cache.
BLOCK_ROWS = 16_384

Found = TypeVar("Found")


def over_rows(
    function: Callable[[slice], Found], n: int, threads: int = 1, block: int = BLOCK_ROWS
) -> list[Found]:
    """What a function makes of each block of n rows, in their order.

    Examples
    --------
    >>> over_rows(lambda rows: rows.stop - rows.start, 5, block=3)
    [3, 2]
    """
    blocks = [slice(i, min(i + block, n)) for i in range(0, n, block)]
    if threads == 1 or len(blocks) == 1:
        return [function(rows) for rows in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, blocks))


class RowParts:
    """A sparse array in blocks of rows, whatever the number of threads that share them.

    A sum over blocks is taken in their order, so it does not depend on the threads either.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> with RowParts(A, 2, block=1) as parts:
    ...     parts @ np.array([[1.0], [3.0]])
    array([[6.],
           [1.]])
    """

    def __init__(self, A: Matrix, threads: int = 1, block: int = BLOCK_ROWS):
        """Cut A into blocks."""
        n = A.shape[0]
        self.A = A
        whole = n <= block or not sp.issparse(A) or A.format != "csr"
        self.shape = A.shape
        self.rows = [slice(0, n)] if whole else [slice(i, i + block) for i in range(0, n, block)]
        self.parts = [A] if whole else [_block(A, rows) for rows in self.rows]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 and len(self.rows) > 1 else None

    def beside(self, A: Matrix) -> RowParts:
        """Another array, worked on by the same threads; only as long as they are there."""
        other = RowParts(A)
        other._pool = self._pool
        return other

    def map(self, function: Callable[[Matrix, slice], Found]) -> list[Found]:
        """What a function makes of each block: of its part of A and the rows it stands for."""
        if self._pool is None:
            return [function(part, rows) for part, rows in zip(self.parts, self.rows, strict=True)]
        return list(self._pool.map(function, self.parts, self.rows))

    def fill(self, function: Callable[[Matrix, slice], np.ndarray], width: int) -> np.ndarray:
        """An array of which a function gives the rows, block by block."""
        filled = np.empty((self.shape[0], width))

        def put(part: Matrix, rows: slice) -> None:
            filled[rows] = function(part, rows)

        self.map(put)
        return filled

    def __matmul__(self, B: np.ndarray) -> np.ndarray:
        """The product A B."""
        if len(self.parts) == 1:
            return np.asarray(self.parts[0] @ B)
        if B.ndim == 1:
            return np.concatenate(self.map(lambda part, rows: part @ B))
        return self.fill(lambda part, rows: part @ B, B.shape[1])

    def __enter__(self) -> RowParts:
        """Threads are ready."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()


def _block(A: Matrix, rows: slice) -> sp.csr_array:
    last = min(rows.stop, A.shape[0])
    start, stop = A.indptr[rows.start], A.indptr[last]
    entries = (A.data[start:stop], A.indices[start:stop], A.indptr[rows.start : last + 1] - start)
    return sp.csr_array(entries, shape=(last - rows.start, A.shape[1]))
