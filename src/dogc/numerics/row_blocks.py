"""Work on many rows in threads, the same to the last bit for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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
