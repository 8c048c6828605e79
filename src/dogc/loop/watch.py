"""The clock, the progress bar and the end of a run: all that happens beside the numbers.

A fit ends before its time for one of two reasons: ``max_time`` is over, or somebody pressed
Ctrl-C. Both are looked at in the same place, :attr:`Watch.overdue`, between steps and blocks of
rows. Whoever finds it true finishes with what there is.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tqdm.auto import tqdm

from .solver import Halt, Record
from .state import State

# Seconds between two signs of life of the bar.
TICK = 0.5
# A second Ctrl-C within so many seconds raises, also where the first one ended another fit: nobody
# could leave a loop over short fits otherwise.
TWICE = 2.0
ENDING = b"\ninterrupted: finishing with what there is; press Ctrl-C again to stop at once\n"


class End:
    """When a fit must end, and whether it had to: one for a watch and all the quiet ones of it."""

    last_interrupt = -TWICE  # of any fit

    def __init__(self, max_time: float | None, clock: Callable[[], float]):
        """Start the clock."""
        self.clock = clock
        self.deadline = math.inf if max_time is None else clock() + max_time
        self.reason: str | None = None  # why something was left out; None: nothing was

    def is_near(self, seconds: float = 0.0) -> bool:
        """True where the time is up, or will be in so many seconds."""
        if self.reason is None and self.clock() + seconds >= self.deadline:
            self.reason = "max_time"
        return self.reason is not None


class Watch:
    """Times the phases of a fit, shows where it is and says when it must end.

    It is the solver's callback: it sees every record.
    """

    def __init__(
        self,
        verbose: int = 0,
        max_time: float | None = None,
        callback: Callable[[Record], object] | None = None,
        max_iter: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Start the clock."""
        self.verbose = verbose
        self.seconds: dict[str, float] = {}
        self.max_iter = max_iter
        self._callback = callback
        self.audience = bool(verbose) or callback is not None  # whether somebody sees iterations
        self.clock = clock
        self.end = End(max_time, clock)
        self._lap = clock()
        self._phases: list[str] = []
        self._bar: Any = None
        self._front = self  # whose bar is seen

    def quiet(self) -> Watch:
        """A watch with the same end that calls nobody and shows nothing but what is tried."""
        watch = Watch(clock=self.clock)
        watch.end, watch._front = self.end, self._front
        return watch

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Within, Ctrl-C ends the fit in good order; a second one raises at once.

        Only where Ctrl-C means what Python has it mean: a handler of somebody else's stays, and
        threads other than the main one never see it.
        """
        here = threading.current_thread() is threading.main_thread()
        if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupt(self, *_: object) -> None:
        """Ctrl-C: the first one is remembered, the second one raises."""
        now = time.monotonic()
        if self.end.reason == "interrupted" or now - End.last_interrupt < TWICE:
            raise KeyboardInterrupt
        self.end.reason, End.last_interrupt = "interrupted", now
        if self.verbose:
            os.write(2, ENDING)

    @property
    def overdue(self) -> bool:
        """True where the time is up, or somebody interrupted."""
        return self.end.is_near()

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time until the end of the block for this phase and no other."""
        self._count()
        self._phases.append(name)
        self._show(name)
        try:
            yield
        finally:
            self._count()
            self._phases.pop()
            self._close()

    def say(self, text: str) -> None:
        """A line for those who want lines."""
        if self.verbose > 1:
            print(text)

    def trying(self, what: str) -> None:
        """Show beside the name of the phase what is tried in it, by a quiet watch too."""
        if self._front._bar is not None:
            self._front._bar.set_description_str(f"{self._front._phases[-1]}: {what}")

    def enough(self, done: int, total: int) -> bool:
        """So much is done, and whether that must do."""
        self.advance(done, total)
        return done < total and self.overdue

    def advance(self, done: int, total: int) -> None:
        """So much of this phase is done."""
        if self._bar is not None:
            self._bar.bar_format = None  # there is something to draw a bar of
            self._bar.total, self._bar.n = total, done
            self._bar.refresh()

    def __call__(self, record: Record, state: State | None = None) -> object:
        """Show a record; whether to stop, and why."""
        self.say(
            f"iteration {record.iteration:3d}  objective {record.objective:.6g}  lambda "
            f"{record.lam:.3g}  components {record.n_components}  changed {record.labels_changed}"
        )
        if self._bar is not None:
            found = record.n_components
            parts = "1 component" if found == 1 else f"{found} components"
            self._bar.set_postfix_str(f"{parts}, objective {record.objective:.4g}", refresh=False)
            self.advance(record.iteration, self.max_iter)
        if self._callback is not None and self._callback(record):
            return True
        return Halt(self.end.reason) if self.overdue else None

    def _count(self) -> None:
        now = self.clock()
        if self._phases:
            name = self._phases[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._lap
        self._lap = now

    def _show(self, name: str) -> None:
        """A line for a phase: the clock alone until it advances; that of the iterations stays."""
        if self.verbose != 1:
            return
        self._close()
        clock, stays = "{desc} [{elapsed}]", name == "iterations"
        self._bar = bar = tqdm(desc=name, leave=stays, bar_format=clock, dynamic_ncols=True)

        def tick() -> None:
            while self._bar is bar:
                time.sleep(TICK)
                bar.refresh()  # nothing, once it is closed

        threading.Thread(target=tick, daemon=True).start()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.total = self._bar.n or None  # it is done, long before max_iter
            self._bar.close()
            self._bar = None
