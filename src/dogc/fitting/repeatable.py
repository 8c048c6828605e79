"""What makes a run repeatable: one BLAS thread, whoever else is computing too, and one seed."""

from __future__ import annotations

import functools
import threading
from types import TracebackType
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController


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
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = thread_pools().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


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
