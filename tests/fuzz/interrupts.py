"""Ctrl-C at any moment of a fit, once or twice: an answer, and no traces in the next fit.

A moment is a number of calls of functions, not a time: an attempt is the same wherever it runs.
"""

from __future__ import annotations

import functools
import pathlib
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dogc import CAN, CLR, DOGC, DOGCOS
from dogc.loop import watch

from .harness import Broken

C = 3


def rows(n: int, d: int = 4) -> np.ndarray:
    """Three clusters that touch."""
    rng = np.random.default_rng(n)
    return 2.5 * np.eye(C, d)[np.arange(n) % C] + rng.standard_normal((n, d))


CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "DOGC": (lambda: DOGC(C), lambda: rows(90)),
    "DOGC auto": (lambda: DOGC("auto"), lambda: rows(120)),
    "DOGC representatives": (lambda: DOGC(C, n_representatives=40), lambda: rows(400)),
    "DOGC random": (lambda: DOGC(C, init="random", n_init=2, random_state=0), lambda: rows(60)),
    "DOGCOS": (lambda: DOGCOS(C), lambda: rows(90)),
    "DOGCOS sparse": (lambda: DOGCOS(C), lambda: sp.csr_array(np.maximum(rows(60, 9), 0.0))),
    "CAN": (lambda: CAN(C), lambda: rows(90)),
    "CLR": (lambda: CLR(C), lambda: rows(60)),
}


class Presses:
    """Ctrl-C at calls of functions, by their numbers since it was entered."""

    def __init__(self, *at: int):
        """Wait for them."""
        self.at, self.calls = at, 0
        self.guarded = False  # whether somebody was there to take the first one

    def __enter__(self) -> Presses:
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        """Count."""
        if event != "call":
            return
        self.calls += 1
        if self.calls in self.at:
            self.guarded |= signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            signal.raise_signal(signal.SIGINT)


@functools.cache
def undisturbed(name: str) -> tuple[bytes, int]:
    """The labels of a case, and the calls that they take."""
    make, X = CASES[name]
    make().fit(X())  # what is imported and compiled once is no part of a fit
    with Presses() as counted:
        model = make().fit(X())
    return model.labels_.tobytes(), counted.calls


def attempt(rng: np.random.Generator, folder: pathlib.Path) -> str:
    """A fit that is ended somewhere, and one after it."""
    name = list(CASES)[rng.integers(len(CASES))]
    make, X = CASES[name]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels, calls = undisturbed(name)
            at = int(rng.integers(1, calls))
            gap = int(rng.integers(1, calls)) if rng.random() < 0.2 else None
            end = pressed(make(), X(), at, gap)
            again = make().fit(X()).labels_.tobytes()
    finally:
        signal.signal(signal.SIGINT, before)
    if again != labels:
        raise Broken(f"{name}: the fit after it has other labels")
    return f"{name.split()[0]} {end}"


def pressed(model: Any, X: Any, at: int, gap: int | None) -> str:
    """How a fit ends in which Ctrl-C is pressed at a call, and perhaps again some calls later."""
    watch.End.last_interrupt = -watch.TWICE  # none was pressed in the attempt before
    presses = Presses(at) if gap is None else Presses(at, at + gap)
    try:
        with presses:
            model.fit(X)
    except KeyboardInterrupt:
        if presses.guarded and gap is None:
            raise Broken(f"call {at}: one Ctrl-C was passed on") from None
        return "passed on"
    finally:
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            raise Broken("what Ctrl-C does is not what it was")
    check_answer(model, X)
    return str(model.stopping_reason_)


def check_answer(model: Any, X: Any) -> None:
    """Whatever came of a fit, it is whole."""
    n = X.shape[0]
    if model.labels_.shape != (n,) or not 1 <= len(np.unique(model.labels_)) <= n // 2:
        raise Broken(f"labels are {np.unique(model.labels_)}")
    if not np.isfinite(model.embedding_).all():
        raise Broken("the embedding is not finite")
    if model.predict(X).shape != (n,):
        raise Broken("new rows get no labels")
