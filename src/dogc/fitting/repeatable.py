"""Repeatable runs: one BLAS thread, passes over blocks of rows by any number of threads, a seed."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from ..numerics.matrix import Matrix

# Numbers in a block of rows; rows and numbers of the larger blocks that labels are made in, whole
# blocks of the neighbour search.
BLOCK_ELEMENTS = 1 << 20
LEAST_CHUNK, CHUNK_ROWS, CHUNK_ELEMENTS = 1 << 12, 1 << 16, 1 << 22

# What is told of blocks done and blocks in all; a pass ends early where it answers yes.
Report = Callable[[int, int], bool | None]
Found = TypeVar("Found")


@functools.cache
def thread_pools() -> ThreadpoolController:
    """The libraries that compute with threads; to look for them takes milliseconds."""
    return ThreadpoolController()


class _SingleBlasThread:
    """A context that limits BLAS to one thread: more would change the order of sums.

    The limit belongs to the process. When fits overlap in several threads the first one in
    sets it and the last one out restores what was there before.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits: Any = thread_pools().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


single_blas_thread = _SingleBlasThread()


def generator(random_state: Any) -> np.random.Generator:
    """scikit-learn's random_state as a Generator; None draws fresh, not from the global state."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    try:
        return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise ValueError(
            "random_state must be None, an integer of at least 0, a RandomState or a Generator; "
            f"got {random_state!r}."
        ) from None


def over_blocks(
    function: Callable[[slice], Found],
    X: Matrix,
    n_jobs: int | None,
    report: Report | None = None,
    links: int = 1,
) -> Iterator[Found]:
    """Results of a function for each block of rows, in their order, made by threads.

    A block is the shorter the more columns its rows have, or the more links are made for each.
    """
    n, d = X.shape
    rows = max(1024, BLOCK_ELEMENTS // max(d, links))
    return in_blocks(function, n, rows, n_jobs, report)


def in_blocks(
    function: Callable[[slice], Found],
    n: int,
    size: int,
    n_jobs: int | None,
    report: Report | None = None,
) -> Iterator[Found]:
    """Results of a function for each block of n rows, in their order, made by threads.

    Few blocks are held at a time, whatever their number.
    """

    def task(rows: slice) -> Found:
        # A setting of this thread alone.
        with thread_pools().limit(limits=1, user_api="openmp"):
            return function(rows)

    blocks = [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]
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
