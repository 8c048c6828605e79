"""Free memory, the memory that a fit needs, and the refusal of fits that need more than is free.

Imports nothing but Python's own library: a command looks at its limits before it loads NumPy.
"""

from __future__ import annotations

import bisect
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# Addresses that a command takes whatever it reads, for packages and their threads: OpenBLAS, where
# it gets no buffer, asks for it again without end. Some of them are still to come in any fit.
LEAST, TO_COME = 3.1e9, 7e8
# Control groups of version 2 and of version 1: mount, limit, use, and counts of the file cache.
GROUPS = (
    ("sys/fs/cgroup", "memory.max", "memory.current", ""),
    ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)
MACHINE = "the machine's memory"
ROOT = pathlib.Path("/")
FEWEST = 50  # rows; fewer are not worth a fit
# Beside all phases: blocks that are worked on at a time, small arrays, what libraries keep.
FLOOR = 25_000_000
# The bytes that a phase of a fit holds at its peak, beside X itself, in the terms of needed.
# The numbers were fitted to peaks that benchmarks/memory.py measured.
PHASES: dict[str, dict[str, float]] = {
    "rows": {"X": 2.1, "n": 100},
    "sparse rows": {"X": 7.0, "n": 300},
    "row space": {"X": 2.0, "nd": 1.5, "square": 3.5},
    "loop": {"X": 2.0, "n": 2000, "nk": 165, "nc": 50},
    "regression": {"X": 2.0, "nd": 2.5, "n": 2000, "nk": 110, "nc": 50, "square": 1.5},
    "sparse regression": {"X": 5.0, "n": 2000, "nk": 110, "nc": 50, "square": 3.0},
    "neighbors graph": {"X": 2.0, "n": 300, "nk": 130, "nc": 40},
    "changed neighbors graph": {"X": 2.0, "n": 300, "nk": 200, "nc": 40},
    "full graph": {"nn": 76},
    "changed full graph": {"nn": 112},
    "precomputed graph": {"X": 8.0},
    "changed precomputed graph": {"X": 19.0},
    "local models": {"X": 2.0, "n": 300, "nk": 300, "nkk": 20},
    "features": {"X": 2.0, "nd": 2.5, "n": 300, "nk": 130, "nc": 40, "square": 3.0},
    "applied regression": {"X": 7.0, "n": 2000, "nk": 110, "nc": 100},
    "directions": {"X": 2.0, "nd": 2.8, "square": 3.0},
    "kernel map": {"X": 2.0, "n": 16_000},
    "sample": {"X": 2.0, "nd": 2.1, "n": 100},
    "links": {"n": 5, "nk": 12},
    "landmarks": {"X": 1.8, "n": 60, "nk": 27, "nc": 20, "md": 4.0},
}


def room(root: pathlib.Path = ROOT) -> tuple[float, str]:
    """Bytes that this process can still take, and what sets their end.

    Without end where the system does not say. Everything is read from files below ``root``; where
    there are none, as on macOS, the machine's memory counts.

    Examples
    --------
    >>> room()[0] >= 0
    True
    """
    found = [*_addresses(root), *_groups(root)]
    if (available := _number(root / "proc/meminfo", r"^MemAvailable:\s+(\d+)")) is not None:
        found.append((1024.0 * available, MACHINE))
    elif not found and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        found.append((float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")), MACHINE))
    free, limit = min(found, default=(float("inf"), "nothing"))
    return max(free, 0.0), limit


def check_addresses(root: pathlib.Path = ROOT) -> None:
    """Refuse to begin a command under a limit on addresses that leaves too few of them."""
    for free, limit in _addresses(root):
        if free + TO_COME < LEAST:
            raise MemoryError(
                f"dogc needs {gigabytes(LEAST)} of address space for the packages that it uses; "
                f"raise the limit {limit}."
            )


def row_bytes(rows: Any) -> float:
    """Bytes of a row; sparse ones have indices beside their numbers."""
    if rows.sparse:
        return float(rows.X.nnz * (rows.X.dtype.itemsize + rows.X.indices.itemsize) / rows.n)
    return float(rows.dtype.itemsize * rows.d)


def needed(phase: str, n: int, d: int, row: float, k: int = 0, c: int = 0, m: int = 0) -> float:
    """About the peak of a phase, in bytes.

    Parameters
    ----------
    phase : one of ``PHASES``.
    n, d : numbers of rows and columns.
    row : bytes of a row as it came.
    k : neighbours, links or landmarks of a row.
    c : number of clusters.
    m : rows that are drawn.

    Examples
    --------
    >>> needed("precomputed graph", n=1000, d=1000, row=8000) - FLOOR
    64000000.0
    """
    k, terms = min(k, n), {"X": n * row, "n": n, "nc": n * c, "nn": n * n}
    terms |= {"nk": n * k, "nkk": n * k * k, "md": 8.0 * min(m, n) * d}
    terms["nd"] = 8.0 * n * (d + max(d - n, 0))  # of more columns than rows there is a basis
    terms["square"] = 8.0 * min(n, d) ** 2
    return FLOOR + sum(times * terms[name] for name, times in PHASES[phase].items())


def check_phases(rows: Any, phases: Sequence[str], remedy: str, **given: int) -> None:
    """Refuse a fit of a row set that is too large for one of its phases."""
    d, row, phases = rows.d, row_bytes(rows), [*phases, "sparse rows" if rows.sparse else "rows"]
    most = rows.n or 0  # None: not known yet
    check_room(lambda n: max(needed(phase, n, d, row, **given) for phase in phases), most, remedy)


def check_room(estimate: Callable[[int], float], n: int, remedy: str) -> None:
    """Refuse a fit to n rows that cannot fit, and say how many would.

    Parameters
    ----------
    estimate : bytes that a fit to so many rows needs; they grow with them.
    n : number of rows.
    remedy : what to do with the other rows or what else can be done, for the method at hand.
    """
    wanted, (free, limit) = estimate(n), room()
    if wanted <= free:
        return
    rows = bisect.bisect_right(range(n), free, key=estimate) - 1
    digits = 10 ** max(0, len(str(rows)) - 2)
    fewer = f"fit on about {rows // digits * digits:,} of them{remedy}"
    raise MemoryError(
        f"X has {n:,} rows, which need about {gigabytes(wanted)} where {gigabytes(free)} are free "
        f"(the limit is {limit}); {fewer if rows >= FEWEST else 'make room, or drop columns'}."
    )


def gigabytes(number: float) -> str:
    """Bytes for people.

    Examples
    --------
    >>> gigabytes(2.34e9), gigabytes(5.6e7)
    ('2.3 GB', '0.06 GB')
    """
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e9:.2f} GB"


def _addresses(root: pathlib.Path) -> Iterator[tuple[float, str]]:
    """The limit on addresses less those in use and those that threads are to take."""
    most = _number(root / "proc/self/limits", r"^Max address space\s+(\d+)")
    used = _number(root / "proc/self/status", r"^VmSize:\s+(\d+)")
    if most is not None and used is not None:
        yield most - 1024.0 * used - TO_COME, "RLIMIT_AS (ulimit -v)"


def _groups(root: pathlib.Path) -> Iterator[tuple[float, str]]:
    """Room in the process's own control group and in each that this is part of.

    The file cache that counts there can be given back. In a container the group's own path may not
    be there: the mount is its group then.
    """
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, limit, used, prefix = GROUPS[bool(controllers)]
        own = root / mount / path.lstrip("/")
        for folder in (own, *own.parents):
            most, taken = _number(folder / limit), _number(folder / used)
            if most is not None and taken is not None and most < 1 << 60:  # version 1: no limit
                counts = [rf"^{prefix}{age}active_file (\d+)" for age in ("", "in")]
                cache = sum(_number(folder / "memory.stat", count) or 0 for count in counts)
                yield float(most - max(taken - cache, 0)), "the container's limit"


def _number(path: pathlib.Path, pattern: str = r"\A(\d+)\s*\Z") -> int | None:
    """The number in a file that is nothing else, or in the first line of a pattern."""
    found = re.search(pattern, _text(path), re.MULTILINE)
    return int(found[1]) if found else None


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
