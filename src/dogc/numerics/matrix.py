"""Types that all numerics share, the one bound that all can use, and work in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

import numpy as np

# A NumPy array or a SciPy sparse array or matrix, rows first. SciPy's two sparse families
# share no base class, so this cannot be said more exactly.
Matrix: TypeAlias = Any
# Asked between the steps of a long computation, which ends roughly from the first True on.
Ended = Callable[[], bool]
# A symmetric operator: its product with an array, a column or several.
Apply = Callable[[np.ndarray], np.ndarray]


def never() -> bool:
    """There is all the time that it takes.

    Examples
    --------
    >>> never()
    False
    """
    return False


def norm_bound(A: Matrix) -> float:
    """Largest absolute row sum: no eigenvalue of the symmetric A is larger.

    Examples
    --------
    >>> import numpy as np
    >>> norm_bound(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    2.0
    """
    return float(abs(A).sum(axis=1).max())


# Rows of a block: what belongs to it stays in a processor's cache.
BLOCK_ROWS = 16_384

Found = TypeVar("Found")


def over_rows(
    function: Callable[[slice], Found], n: int, threads: int = 1, block: int = BLOCK_ROWS
) -> list[Found]:
    """Results of a function for each block of n rows, in their order.

    Examples
    --------
    >>> over_rows(lambda rows: rows.stop - rows.start, 5, block=3)
    [3, 2]
    """
    blocks = [slice(i, min(i + block, n)) for i in range(0, n, block)]
    if threads == 1 or len(blocks) == 1:
        return list(map(function, blocks))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, blocks))
