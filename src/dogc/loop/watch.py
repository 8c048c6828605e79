"""What happens beside the numbers: the clock, the progress bar, the end of a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tqdm.auto import tqdm

from .solver import Callback, Halt, Record

T = TypeVar("T")


class Watch:
    """Times the phases of a fit, shows where it is and says when it must end.

    It is the solver's callback: it sees every record.
    """

    def __init__(
        self,
        verbose: int = 0,
        max_time: float | None = None,
        callback: Callback | None = None,
        max_iter: int = 0,
    ):
        """Start the clock."""
        self.verbose = verbose
        self.seconds: dict[str, float] = {}
        self.max_iter = max_iter
        self._callback = callback
        self._began = self._lap = time.perf_counter()
        self._deadline = None if max_time is None else self._began + max_time
        self._phases: list[str] = []
        self._bar: Any = None

    def quiet(self) -> Watch:
        """A watch with the same end that shows nothing and calls nobody."""
        watch = Watch()
        watch._deadline = self._deadline
        return watch

    @property
    def audience(self) -> bool:
        """Whether somebody sees the iterations."""
        return bool(self.verbose) or self._callback is not None

    @property
    def overdue(self) -> bool:
        """Whether the time is up."""
        return self._deadline is not None and time.perf_counter() >= self._deadline

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time until the end of the block for this phase and no other."""
        self._count()
        self._phases.append(name)
        self._show(name, stays=False)
        try:
            yield
        finally:
            self._count()
            self._phases.pop()
            self._close()

    def each(self, name: str, items: Iterable[T]) -> Iterator[T]:
        """The items, the making of each counted for a phase."""
        items = iter(items)
        while True:
            with self.phase(name):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def say(self, text: str) -> None:
        """A line for those who want lines."""
        if self.verbose > 1:
            print(text)

    def advance(self, done: int, total: int) -> None:
        """So much of this phase is done."""
        if self._bar is not None:
            self._bar.bar_format = None  # there is something to draw a bar of
            self._bar.total, self._bar.n = total, done
            self._bar.refresh() if done == total else self._bar.update(0)

    def __call__(self, record: Record) -> object:
        """Show a record; whether to stop, and why."""
        self.say(
            f"iteration {record.iteration:3d}  objective {record.objective:.6g}  lambda "
            f"{record.lam:.3g}  components {record.n_components}  changed {record.labels_changed}"
        )
        if self.verbose == 1:
            self._show("iterations", stays=True)
            self._bar.set_postfix_str(
                f"{record.n_components} components, objective {record.objective:.4g}", refresh=False
            )
            self.advance(record.iteration, self.max_iter)
            self._bar.refresh()
        if self._callback is not None and self._callback(record):
            return True
        return Halt("max_time") if self.overdue else None

    def _count(self) -> None:
        now = time.perf_counter()
        if self._phases:
            name = self._phases[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._lap
        self._lap = now

    def _show(self, name: str, stays: bool) -> None:
        """A line for a phase: the clock alone until it advances; it goes unless it stays."""
        if self.verbose != 1 or (self._bar is not None and self._bar.leave and stays):
            return
        self._close()
        clock = "{desc} [{elapsed}]"
        self._bar = tqdm(desc=name, leave=stays, bar_format=clock, dynamic_ncols=True)

    def _close(self) -> None:
        if self._bar is not None:
            if self._bar.leave and self._bar.n:
                self._bar.total = self._bar.n  # it is done, long before max_iter
            self._bar.close()
            self._bar = None
