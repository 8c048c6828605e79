"""Who works on parts: some threads of this process, or a running Dask cluster."""

from __future__ import annotations

import collections
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from ..._extras import missing
from .table import TableError

# Few, because each holds a part in memory.
MOST_THREADS = 4
SECONDS = 10  # to wait for a scheduler
# What is being done, to how many rows it was done just now, and to how many it will be; None: not
# known yet.
Watch = Callable[[str, int, int | None], None]


def unwatched(what: str, rows: int, total: int | None) -> None:
    """Where nobody watches."""


class Workers(NamedTuple):
    """Threads, or a cluster by its client."""

    client: Any = None

    @property
    def threads(self) -> int:
        """How many parts are worked on at the same time."""
        if self.client is None:
            return min(MOST_THREADS, os.cpu_count() or 1)
        return max(1, sum(self.client.nthreads().values()))

    def in_order(
        self, function: Callable[..., Any], items: Iterable[Any], *shared: Any
    ) -> Iterator[Any]:
        """``function(item, *shared)`` of each item, in their order, some ahead but not all.

        The shared arguments go to every worker once.
        """
        if self.client is None:
            with _threads(self.threads) as pool:
                yield from _ahead(
                    lambda item: pool.submit(function, item, *shared), items, 2 * self.threads
                )
            return
        sent = self.client.scatter(list(shared), broadcast=True) if shared else []
        submit = self.client.submit
        yield from _ahead(
            lambda item: submit(function, item, *sent, pure=False), items, 2 * self.threads
        )

    def computed(self, lazy: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The values of Dask collections, tuple by tuple in their order, some ahead."""
        if self.client is None:
            yield from self.in_order(_compute, lazy)
            return
        import dask

        def submit(some: tuple[Any, ...]) -> Any:
            return self.client.compute(dask.delayed(_as_tuple)(*some))

        yield from _ahead(submit, lazy, 2 * self.threads)


def _as_tuple(*values: Any) -> tuple[Any, ...]:
    return values


def _compute(lazy: tuple[Any, ...]) -> tuple[Any, ...]:
    import dask

    return dask.compute(*lazy, scheduler="synchronous")


@contextlib.contextmanager
def _threads(count: int) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _ahead(submit: Callable[[Any], Future[Any]], items: Iterable[Any], most: int) -> Iterator[Any]:
    waiting: collections.deque[Future[Any]] = collections.deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def has_dask() -> bool:
    """Whether Dask is installed."""
    from importlib.util import find_spec

    return find_spec("dask") is not None and find_spec("distributed") is not None


@contextlib.contextmanager
def hired(scheduler: str | None) -> Iterator[Workers]:
    """Workers, until the block ends: of a running cluster if its address is given.

    What Dask computes inside the block is computed by them too.
    """
    if not has_dask():
        what = "a pattern" if scheduler is None else "--scheduler"
        raise TableError(missing("dask", what))
    import dask

    if scheduler is None:
        workers = Workers()
        with dask.config.set(scheduler="threads", num_workers=workers.threads):
            yield workers
        return
    import distributed

    try:
        client = distributed.Client(scheduler, timeout=SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise TableError(
            f"--scheduler {scheduler}: no Dask scheduler answers there; give the address that "
            "dask scheduler prints, such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        if not client.nthreads():
            raise TableError(f"--scheduler {scheduler} has no workers; start some: dask worker.")
        yield Workers(client)
