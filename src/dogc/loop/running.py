"""A run of the loop, timed and watched; again with a firmer alpha where clusters overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..rows.representatives import FIRMER
from ..rows.settings import Settings
from .methods import Method
from .restarts import solve, starts
from .solver import HALTED, Result
from .state import Problem, State, firmer_weights
from .watch import Watch


def is_spectral(init: Any) -> bool:
    """Whether a run begins without chance and without labels of the user's."""
    return isinstance(init, str) and init == "spectral"


class Ran(NamedTuple):
    """What came of a run, and whether alpha was raised in it."""

    result: Result
    held: bool


def run(
    problem: Problem,
    method: Method,
    settings: Settings,
    seed: int,
    watch: Watch,
    start: State | None = None,
) -> Ran:
    """The method from its starts, timed and watched; a spectral start may be known already.

    Overlapping clusters have no gap to split along: as lambda grows, fringes come off before
    clusters part. Where no lambda splits the graph it is tried again with an alpha that holds F
    to the labels, and the graph parts along them.
    """
    result = run_once(problem, method, settings, seed, watch, start)
    if result.reason != "no_exact_split" or not may_hold(settings, result, watch):
        return Ran(result, False)
    return Ran(run_once(held(problem), method, settings, seed, watch, start), True)


def may_hold(settings: Settings, result: Result, watch: Watch) -> bool:
    """Whether alpha may be raised after a run: nobody set lambda or wanted an end."""
    ended = watch.overdue or result.reason in HALTED
    return settings.may_firm and settings.lam is None and not ended


def held(problem: Problem) -> Problem:
    """The problem with an alpha that holds the graph to the labels."""
    return problem._replace(weights=firmer_weights(problem.weights, FIRMER))


def run_once(
    problem: Problem,
    method: Method,
    settings: Settings,
    seed: int,
    watch: Watch,
    start: State | None,
) -> Result:
    """The method from its starts, with alpha as it is."""
    if start is None or not is_spectral(settings.init):
        rng = np.random.default_rng(seed)
        begin = watch.each("start", starts(problem, settings.init, settings.n_init, rng))
    else:
        begin = iter([start])
    with watch.phase("iterations"):
        return solve(
            problem,
            method,
            begin,
            lam=settings.lam,
            max_iter=settings.max_iter,
            tol=settings.tol,
            callback=watch,
        )
