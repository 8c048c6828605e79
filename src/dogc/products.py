"""Products with a large sparse array in threads, the same to the last bit for any number."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import numpy as np
import scipy.sparse as sp

from .arrays import Matrix

# Below this many rows a thread costs more than it gains.
MANY_ROWS = 20_000


class RowParts:
    """A sparse array, cut into blocks of rows; each thread multiplies one.

    Rows of a product do not depend on one another, so neither does the result on the cuts.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> with RowParts(A, 2, many=1) as parts:
    ...     parts @ np.array([[1.0], [3.0]])
    array([[6.],
           [1.]])
    """

    def __init__(self, A: Matrix, threads: int, many: int = MANY_ROWS):
        """Cut A into as many blocks as there are threads, of about equal work."""
        self.A, self.parts = A, []
        self.shape = A.shape
        self._pool: ThreadPoolExecutor | None = None
        if threads > 1 and A.shape[0] >= many and sp.issparse(A) and A.format == "csr":
            cuts = np.searchsorted(A.indptr, np.linspace(0, A.indptr[-1], threads + 1)[1:-1])
            ends = [0, *np.unique(cuts), A.shape[0]]
            self.parts = [_block(A, a, b) for a, b in itertools.pairwise(ends) if a < b]
            self._pool = ThreadPoolExecutor(len(self.parts))

    def __matmul__(self, B: np.ndarray) -> np.ndarray:
        """The product A B."""
        if self._pool is None:
            return self.A @ B
        return np.concatenate(list(self._pool.map(lambda part: part @ B, self.parts)))

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


def _block(A: Matrix, first: int, last: int) -> sp.csr_array:
    start, stop = A.indptr[first], A.indptr[last]
    entries = (A.data[start:stop], A.indices[start:stop], A.indptr[first : last + 1] - start)
    return sp.csr_array(entries, shape=(last - first, A.shape[1]))
