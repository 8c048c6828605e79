"""Free memory (rlimits, cgroups, machine) and the check that refuses fits beyond it.

Imports nothing but Python's own library: a command looks at its limits before it loads NumPy.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator

ROOT = pathlib.Path("/")
# Fewer rows than this are not worth a fit.
FEWEST = 50
# The two limits of a process, and what counts against each: addresses, not pages that are in use.
PROCESS = {
    "Max address space": ("VmSize", "RLIMIT_AS (ulimit -v)"),
    "Max data size": ("VmData", "RLIMIT_DATA (ulimit -d)"),
}
# Addresses that a command takes whatever it reads, for packages, their threads and their buffers;
# and what of it may be to come yet whenever something is measured. Measured with two cores.
# OpenBLAS, where it gets no buffer, asks for it again without end.
LEAST, TO_COME = 3.1e9, 7e8
_aside: list[float] = []
# Control groups of version 2 and of version 1: the mount, the limits, what is used, and how counts
# of a group with all within it begin. Version 1 says "no limit" by a number near the largest one.
GROUPS = (
    ("sys/fs/cgroup", ("memory.max", "memory.high"), "memory.current", ""),
    ("sys/fs/cgroup/memory", ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_"),
)
UNLIMITED = 1 << 60
Room = tuple[float, str]  # bytes that can still be taken, and what sets their end
CACHE = ("active_file", "inactive_file")
MACHINE = "the machine's memory"


def room(root: pathlib.Path = ROOT) -> Room:
    """The narrowest of all limits; without end where the system does not say.

    Everything is read from files below ``root``. Where there are none, as on macOS and Windows,
    the machine's memory counts, if that is known.

    Examples
    --------
    >>> room()[0] >= 0
    True
    """
    found = [*_process(root), *_groups(root)]
    if (available := _table(root / "proc/meminfo").get("MemAvailable")) is not None:
        found.append((1024.0 * available, MACHINE))
    if not found:
        with contextlib.suppress(AttributeError, ValueError, OSError):
            if (pages := os.sysconf("SC_PHYS_PAGES")) > 0:
                found.append((float(pages * os.sysconf("SC_PAGE_SIZE")), MACHINE))
    free, limit = min(found, default=(float("inf"), "nothing"))
    return max(free, 0.0), limit


def free_bytes() -> float:
    """Bytes that this process can still take; infinite where the system does not say."""
    return room()[0]


def check_addresses(root: pathlib.Path = ROOT) -> None:
    """Refuse to begin a command under a limit on addresses that leaves too few of them."""
    for free, limit in _process(root):
        if free < LEAST:
            raise MemoryError(
                f"dogc needs {gigabytes(LEAST)} of address space for the packages that it uses; "
                f"raise the limit {limit}."
            )


def keep_aside() -> None:
    """From here on, what is to come counts as taken: for a command that is all of its process."""
    _aside[:] = [TO_COME]


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


def _process(root: pathlib.Path) -> Iterator[Room]:
    """The resource limits less VmSize and VmData, which the kernel compares with them."""
    used = _table(root / "proc/self/status")
    for line in _lines(root / "proc/self/limits"):
        for name, (counted, limit) in PROCESS.items():
            most = line.removeprefix(name).split()[:1]
            if line.startswith(name) and counted in used and most[0].isdigit():
                yield int(most[0]) - 1024 * used[counted] - sum(_aside), limit


def _groups(root: pathlib.Path) -> Iterator[Room]:
    """Room in the process's own control group and in each that this is part of.

    The file cache that counts there can be given back. In a container the group's own path may not
    be there: the mount is its group then.
    """
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, limits, used, prefix = GROUPS[bool(controllers)]
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for folder in (root.joinpath(mount, *parts[:i]) for i in range(len(parts) + 1)):
            taken, counts = _number(folder / used), _table(folder / "memory.stat")
            for most in (_number(folder / name) for name in limits):
                if taken is not None and most is not None and most < UNLIMITED:
                    cache = sum(counts.get(prefix + name, 0) for name in CACHE)
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
