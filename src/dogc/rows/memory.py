"""How much memory a fit needs, told before it starts."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix
from .links import LINKS
from .representatives import FEW_ROWS
from .settings import Settings

# Bytes for each row: so many copies of its features, so many numbers for each neighbour and each
# cluster. Checked against the peaks that benchmarks/scale.py prints.
COPIES_OF_X = 5
PER_NEIGHBOUR = 175
PER_CLUSTER = 130
# The same on representatives: for each row, for each of its links, and for the sample.
PER_ROW, PER_LINK = 60, 8
SAMPLE_BYTES = 300_000_000
# Neighbours and clusters to reckon with where they are left open.
USUAL = 20


def needed_bytes(n: int, d: int, k: int, c: int, itemsize: int) -> int:
    """About the peak of a fit, beside what is held already."""
    return n * (COPIES_OF_X * d * itemsize + PER_NEIGHBOUR * k + PER_CLUSTER * c)


def needed_for_links(n: int, n_links: int) -> int:
    """About the peak of a fit on representatives: links, labels and what is said of them."""
    return SAMPLE_BYTES + n * (PER_LINK * n_links + PER_ROW)


def free_bytes() -> float:
    """What this process can still take; infinite where the system does not say."""
    free = [_meminfo(), _cgroup()]
    known = [value for value in free if value is not None]
    if known:
        return float(min(known))
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float(np.inf)


def _meminfo() -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup() -> int | None:
    """What is left of a container's limit; its file cache can be given back."""
    limit = _lines("/sys/fs/cgroup/memory.max")
    used = _lines("/sys/fs/cgroup/memory.current")
    if not limit or not used or not limit[0].isdigit():
        return None
    cache = [line.split()[1] for line in _lines("/sys/fs/cgroup/memory.stat")
             if line.split()[0] == "file"]  # fmt: skip
    return int(limit[0]) - int(used[0]) + sum(map(int, cache))


def _lines(path: str) -> list[str]:
    try:
        return pathlib.Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []


def check_memory(X: Matrix, settings: Settings) -> None:
    """Refuse a fit that cannot fit, and say how many rows would."""
    n, d = X.shape
    if sp.issparse(X):
        d = int(np.ceil(1.5 * X.nnz / n))  # an index for each number
    wanted = settings.wanted
    p = wanted.n_representatives
    if n > FEW_ROWS if p == "auto" else isinstance(p, int) and p < n:
        needed = needed_for_links(n, wanted.n_neighbors or LINKS)
    else:
        k, c = wanted.n_neighbors or USUAL, wanted.n_clusters or USUAL
        needed = needed_bytes(n, d, k, c, X.dtype.itemsize)
    free = free_bytes()
    if needed > free:
        rows = int(free / needed * n)
        digits = max(0, len(str(rows)) - 2)
        raise MemoryError(
            f"X has {n:,} rows, which need about {needed / 1e9:.1f} GB where {free / 1e9:.1f} GB "
            f"are free; fit on about {rows // 10**digits * 10**digits:,} of them and predict the "
            "rest."
        )
