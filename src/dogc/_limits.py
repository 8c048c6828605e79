"""What limits the memory of this process, what is left of it, and who is refused for that."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

ROOT = pathlib.Path("/")
# Fewer rows than this are not worth a fit.
FEWEST = 50
# Control groups of version 1 say "no limit" by a number near the largest one.
UNLIMITED = 1 << 60
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
# Where each version of control groups is mounted.
MOUNTS = {1: ("sys/fs/cgroup/memory",), 2: ("sys/fs/cgroup", "sys/fs/cgroup/unified")}


class Room(NamedTuple):
    """Bytes that this process can still take, and what sets their end."""

    free: float
    limit: str


def room(root: pathlib.Path = ROOT) -> Room:
    """The narrowest of all limits; without end where the system does not say.

    Everything is read from files below ``root``. Where there are none, as on macOS and Windows,
    the machine's memory counts, if that is known.

    Examples
    --------
    >>> room().free >= 0
    True
    """
    found = [*_process(root), *_groups(root), *_machine(root)]
    if not found:
        found = list(_installed())
    free, limit = min(found, default=Room(float("inf"), "nothing"))
    return Room(max(free, 0.0), limit)


def free_bytes() -> float:
    """What this process can still take; infinite where the system does not say."""
    return room().free


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
    rows = most_rows(estimate, n, free)
    digits = 10 ** max(0, len(str(rows)) - 2)
    fewer = f"fit on about {rows // digits * digits:,} of them{remedy}"
    raise MemoryError(
        f"X has {n:,} rows, which need about {gigabytes(wanted)} where {gigabytes(free)} are free "
        f"(the limit is {limit}); {fewer if rows >= FEWEST else 'make room, or drop columns'}."
    )


def most_rows(estimate: Callable[[int], float], n: int, free: float) -> int:
    """The most rows, below n, that so many bytes are enough for.

    Examples
    --------
    >>> most_rows(lambda n: 8.0 * n * n, 1000, 80_000.0)
    100
    """
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if estimate(middle) <= free else (low, middle)
    return low


def gigabytes(number: float) -> str:
    """Bytes for people.

    Examples
    --------
    >>> gigabytes(2.34e9), gigabytes(5.6e7)
    ('2.3 GB', '0.06 GB')
    """
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e9:.2f} GB"


def _process(root: pathlib.Path) -> Iterator[Room]:
    """What resource limits leave; VmSize and VmData are what the kernel compares them with."""
    used = _table(root / "proc/self/status")
    for line in _lines(root / "proc/self/limits"):
        for name, (counted, limit) in PROCESS.items():
            if line.startswith(name) and counted in used:
                most = line[len(name) :].split()[0]
                if most.isdigit():
                    taken = 1024 * used[counted] + sum(_aside)
                    yield Room(int(most) - taken, limit)


def _groups(root: pathlib.Path) -> Iterator[Room]:
    """What is left in the process's own control group and in each that this is part of."""
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = (*line.split(":", 2), "", "")[:3]
        version = 2 if number == "0" and not controllers else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in MOUNTS[version]:
            folders = [root.joinpath(mount, *parts[:i]) for i in range(len(parts), -1, -1)]
            # In a container the group's own path may not be there: the mount is its group then.
            folders = [folder for folder in folders if folder.is_dir()]
            for place, folder in enumerate(folders):
                if place and _number(folder / "memory.use_hierarchy") == 0:
                    continue  # groups within such a group do not count there
                yield from _left(folder)


def _left(folder: pathlib.Path) -> Iterator[Room]:
    """What is left in one group; the file cache that counts there can be given back."""
    known = map(_number, (folder / "memory.current", folder / "memory.usage_in_bytes"))
    used = next((number for number in known if number is not None), None)
    if used is None:
        return
    counts = _table(folder / "memory.stat")
    cache = sum(
        counts.get(f"total_{name}", counts.get(name, 0))
        for name in ("active_file", "inactive_file")
    )
    for name in ("memory.max", "memory.high", "memory.limit_in_bytes"):
        most = _number(folder / name)
        if most is not None and most < UNLIMITED:
            yield Room(float(most - max(used - cache, 0)), "the container's limit")


def _machine(root: pathlib.Path) -> Iterator[Room]:
    available = _table(root / "proc/meminfo").get("MemAvailable")
    if available is not None:
        yield Room(1024.0 * available, "the machine's memory")


def _installed() -> Iterator[Room]:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    if pages > 0 and size > 0:
        yield Room(float(pages * size), "the machine's memory")


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
