"""Tries to break dogc, one random attempt after the other, each made from two numbers alone.

Every kind of attack is a module with ``attempt(rng, folder)``: it tries one thing and returns what
it tried in a word or two, or raises :class:`Broken` with what went wrong. Attempt number i of a
kind draws from ``default_rng([seed, i])`` and has an empty folder, so that one that failed is
tried again by its kind, its seed and its number.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterable

import numpy as np

Attempt = Callable[[np.random.Generator, pathlib.Path], str]


class Broken(Exception):
    """Something that must not happen did."""


@dataclasses.dataclass
class Count:
    """Attempts of one kind, and those that failed."""

    kind: str
    tried: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    broken: list[tuple[int, str]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0


def tried(attempt: Attempt, seed: int, number: int) -> str:
    """The kind of one attempt; raises where it broke something."""
    with (
        tempfile.TemporaryDirectory(prefix="dogc-fuzz-") as folder,
        contextlib.redirect_stdout(io.StringIO()),  # progress of fits
        contextlib.redirect_stderr(io.StringIO()),
    ):
        return attempt(np.random.default_rng([seed, number]), pathlib.Path(folder))


def count(
    kind: str, attempt: Attempt, seed: int, numbers: Iterable[int], seconds: float = np.inf
) -> Count:
    """Attempts by their numbers, until those or the time are at their end."""
    found = Count(kind)
    began = time.perf_counter()
    for number in numbers:
        try:
            found.tried[tried(attempt, seed, number)] += 1
        except Exception as error:  # whatever escapes is broken, announced or not
            found.tried["broken"] += 1
            found.broken.append((number, f"{type(error).__name__}: {error}"))
        found.seconds = time.perf_counter() - began
        if found.seconds >= seconds:
            break
    return found
