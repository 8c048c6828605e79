"""How much memory a fit needs, told before it starts.

A fit goes through phases, and its peak is that of the phase that needs most. What each phase holds
is in one table, in a few named terms. The numbers were fitted to measured peaks by
``benchmarks/memory.py``, which compares the two over many shapes: above 100 MB they agree within a
factor of 1.5, but for one shape of 154. Below that the constant ``FLOOR`` may say more than the
terms do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import scipy.sparse as sp

from ..numerics.matrix import Matrix

# Beside all phases: blocks that are worked on at a time, small arrays, what libraries keep.
FLOOR = 25_000_000
# Neighbours of neighbours are the fewer the more neighbours there are: this power of them.
FILL = 1.7


class Size(NamedTuple):
    """The rows of a fit, and what is asked of them."""

    n: int
    d: int
    row: float  # bytes of a row as it came
    k: int = 0  # neighbours, links or landmarks of a row
    c: int = 0
    m: int = 0  # rows that are drawn of them
    sparse: bool = False


class Phase(NamedTuple):
    """What a phase holds at its peak, beside X itself."""

    copies: float = 0.0  # of X as it came
    doubles: float = 0.0  # n x d numbers of 8 bytes
    row: float = 0.0  # bytes for each row
    neighbour: float = 0.0  # for each neighbour of a row
    models: float = 0.0  # for each two neighbours of a row, of which some are counted already
    cluster: float = 0.0  # for each row and cluster
    square: float = 0.0  # s x s numbers of 8 bytes, s the smaller of n and d
    graph: float = 0.0  # n x n numbers of 8 bytes
    drawn: float = 0.0  # m x d numbers of 8 bytes, for m rows that are drawn


PHASES = {
    # Rows that are sorted and scaled. Keys of sparse rows are larger than the rows.
    "rows": Phase(copies=2.1, row=100),
    "sparse rows": Phase(copies=7.0, row=300),
    # Coordinates in the span of the rows; with more columns than rows, its basis as well.
    "row space": Phase(copies=2.0, doubles=1.5, square=3.5),
    "wide row space": Phase(copies=2.0, doubles=5.0, square=2.0),
    # The loop on a graph of all rows, and what is said of them afterwards.
    "loop": Phase(copies=2.0, row=2000, neighbour=165, cluster=50),
    "loop in a subspace": Phase(copies=2.0, doubles=1.2, row=2000, neighbour=165, cluster=50),
    "regression": Phase(2.0, 2.5, row=2000, neighbour=110, cluster=50, square=1.5),
    "sparse regression": Phase(copies=5.0, row=2000, neighbour=110, cluster=50, square=3.0),
    "applied regression": Phase(copies=7.0, row=2000, neighbour=110, cluster=100),
    # Methods on a fixed graph.
    "graph": Phase(copies=2.0, row=300, neighbour=130, cluster=40),
    "changed graph": Phase(copies=2.0, row=300, neighbour=200, cluster=40),
    "full graph": Phase(graph=9.5),
    "full changed graph": Phase(graph=14.0),
    "given graph": Phase(copies=8.0),
    "given changed graph": Phase(copies=19.0),
    "regressed graph": Phase(2.0, 2.0, row=300, neighbour=130, cluster=40, square=2.0),
    "local models": Phase(copies=2.0, row=300, neighbour=130, models=70),
    "factors of features": Phase(copies=2.0, doubles=3.0, row=300, neighbour=130, cluster=40),
    "locality": Phase(copies=2.0, doubles=2.5, square=6.0),
    "discriminants": Phase(copies=2.0, doubles=2.8, square=3.0),
    "kernel map": Phase(copies=2.0, row=4 * 500 * 8),
    # Representatives and landmarks, made of rows that are drawn.
    "sample": Phase(copies=2.0, doubles=2.1, row=100),
    "links": Phase(row=5, neighbour=12),
    "landmarks": Phase(copies=1.8, row=60, neighbour=27, cluster=20, drawn=4.0),
}


def size_of(X: Matrix, k: int = 0, c: int = 0, m: int = 0) -> Size:
    """The size of a fit to X."""
    n, d = X.shape
    if sp.issparse(X):
        row = X.nnz * (X.dtype.itemsize + X.indices.itemsize) / n
        return Size(n, d, row, k, c, m, True)
    return Size(n, d, d * X.dtype.itemsize, k, c, m)


def bytes_in(phase: Phase, size: Size) -> float:
    """The peak of a phase.

    Examples
    --------
    >>> bytes_in(Phase(copies=2.0, row=8), Size(n=1000, d=10, row=80))
    168000.0
    """
    n, d, s = size.n, size.d, min(size.n, size.d)
    of_row = (
        phase.copies * size.row
        + phase.doubles * 8.0 * d
        + phase.row
        + phase.neighbour * size.k
        + phase.models * size.k**FILL
        + phase.cluster * size.c
    )
    numbers = phase.square * s**2 + phase.graph * n**2 + phase.drawn * min(size.m, n) * d
    return n * of_row + 8.0 * numbers


def needed(phases: Sequence[str], size: Size) -> float:
    """About the peak of a fit, beside what is held already."""
    return FLOOR + max(bytes_in(PHASES[name], size) for name in phases)
