"""Whether to go on: long computations ask between their steps, and end roughly where told to."""

from __future__ import annotations

from collections.abc import Callable

Ended = Callable[[], bool]


def never() -> bool:
    """There is all the time that it takes.

    Examples
    --------
    >>> never()
    False
    """
    return False
