"""Free memory (limits of the process, containers, machine) and the refusal of what exceeds it.

Imports nothing but Python's own library: a command looks at its limits before it loads NumPy.
"""

from __future__ import annotations

import bisect
import os
import pathlib
from collections.abc import Callable, Iterator

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
    if (available := _table(root / "proc/meminfo").get("MemAvailable")) is not None:
        found.append((1024.0 * available, MACHINE))
    elif not found and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        found.append((float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")), MACHINE))
    free, limit = min(found, default=(float("inf"), "nothing"))
    return max(free, 0.0), limit


def free_bytes() -> float:
    """Bytes that this process can still take; infinite where the system does not say."""
    return room()[0]


def check_addresses(root: pathlib.Path = ROOT) -> None:
    """Refuse to begin a command under a limit on addresses that leaves too few of them."""
    for free, limit in _addresses(root):
        if free + TO_COME < LEAST:
            raise MemoryError(
                f"dogc needs {gigabytes(LEAST)} of address space for the packages that it uses; "
                f"raise the limit {limit}."
            )


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
    used = _table(root / "proc/self/status").get("VmSize")
    for words in map(str.split, _lines(root / "proc/self/limits")):
        if words[:3] == ["Max", "address", "space"] and words[3].isdigit() and used is not None:
            yield int(words[3]) - 1024.0 * used - TO_COME, "RLIMIT_AS (ulimit -v)"


def _groups(root: pathlib.Path) -> Iterator[tuple[float, str]]:
    """Room in the process's own control group and in each that this is part of.

    The file cache that counts there can be given back. In a container the group's own path may not
    be there: the mount is its group then.
    """
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, limit, used, prefix = GROUPS[bool(controllers)]
        own = root / mount / path.lstrip("/")
        for folder in (own, *own.parents):
            most, taken = _number(folder / limit), _number(folder / used)
            if most is not None and taken is not None and most < 1 << 60:  # version 1: no limit
                counts = _table(folder / "memory.stat")
                cache = sum(counts.get(f"{prefix}{age}active_file", 0) for age in ("", "in"))
                yield float(most - max(taken - cache, 0)), "the container's limit"


def _table(path: pathlib.Path) -> dict[str, int]:
    """Lines of a name and a number, such as ``VmSize:  1234 kB``."""
    words = [line.replace(":", " ").split() for line in _lines(path)]
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}


def _number(path: pathlib.Path) -> int | None:
    """The one number in a file; None where it says "max" or there is none."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None


def _lines(path: pathlib.Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return []
