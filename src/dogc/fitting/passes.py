"""Passes over rows, a block at a time: the same to the last bit for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed

from ..numerics.matrix import Matrix
from .repeatable import thread_pools

# Numbers in a block of rows; rows and numbers of the larger blocks that labels are made in, whole
# blocks of the neighbour search.
BLOCK_ELEMENTS = 1 << 20
LEAST_CHUNK, CHUNK_ROWS, CHUNK_ELEMENTS = 1 << 12, 1 << 16, 1 << 22

# What is told of blocks done and blocks in all; a pass ends early where it answers yes.
Report = Callable[[int, int], bool | None]
Found = TypeVar("Found")


def over_blocks(
    function: Callable[[slice], Found], X: Matrix, n_jobs: int | None, report: Report | None = None
) -> Iterator[Found]:
    """What a function makes of each block of rows, in their order, made by threads."""
    n, d = X.shape
    rows = max(1024, BLOCK_ELEMENTS // max(d, 1))
    return in_blocks(function, n, rows, n_jobs, report)


def in_blocks(
    function: Callable[[slice], Found],
    n: int,
    size: int,
    n_jobs: int | None,
    report: Report | None = None,
) -> Iterator[Found]:
    """What a function makes of each block of n rows, in their order, made by threads.

    Few blocks are held at a time, whatever their number.
    """

    def task(rows: slice) -> Found:
        # A setting of this thread alone.
        with thread_pools().limit(limits=1, user_api="openmp"):
            return function(rows)

    blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    for done, found in enumerate(run(delayed(task)(rows) for rows in blocks), 1):
        enough = report is not None and report(done, len(blocks))
        yield found
        if enough:
            return


def in_chunks(label: Callable[[Matrix], np.ndarray], X: Matrix) -> np.ndarray:
    """The labels of many rows, some at a time, so that memory does not grow with them."""
    n, d = X.shape
    rows = min(CHUNK_ROWS, max(1, CHUNK_ELEMENTS // max(d, 1) // LEAST_CHUNK) * LEAST_CHUNK)
    if n <= rows:
        return label(X)
    return np.concatenate([label(X[s : s + rows]) for s in range(0, n, rows)])
