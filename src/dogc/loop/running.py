"""A run of the loop, timed and watched; again with a at alpha where clusters overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .initial_states import starts
from .methods import Method
from .penalties import Weights
from .solver import HALTED, NO_SPLIT, Result, solve
from .state import Problem, State
from .watch import Watch

# What alpha is multiplied with where clusters overlap: the discrete labels hold the graph to them.
FIRMER = 100.0
# Where a run may begin by the data alone.
STARTS = ("spectral", "modularity")


class RunSettings(NamedTuple):
    """Settings of a run: its start and its end."""

    lam: float | None  # None: searched for
    max_iter: int
    tol: float
    init: Any = "spectral"  # a word ("auto" is one until the start is chosen), or labels
    n_init: int = 1
    may_firm: bool = False  # whether alpha may be raised

    @property
    def is_own(self) -> bool:
        """True where a run begins by the data alone: without chance and labels of the user's."""
        return isinstance(self.init, str) and self.init != "random"

    @property
    def starts(self) -> tuple[str, ...]:
        """The starts by the data alone among which the scales choose."""
        if not self.is_own:
            return ("spectral",)
        return STARTS if self.init == "auto" else (self.init,)


# The result of a run, and whether alpha was raised in it.
Ran = tuple[Result, bool]


def run(
    problem: Problem,
    method: Method,
    settings: RunSettings,
    seed: int,
    watch: Watch,
    start: State | None = None,
    firms: bool = True,
) -> Ran:
    """The method from its starts, timed and watched; one by the data alone may be known already.

    Overlapping clusters have no gap to split along: as lambda grows, fringes come off before
    clusters part. Where no lambda splits the graph it is tried again with an alpha that holds F
    to the labels, and the graph parts along them. The labels of a modularity start are held from
    the beginning: they are not those of the smallest cut, to which F would go. Unless it
    ``firms``, alpha stays as it is.
    """
    lam, max_iter, tol, *_ = settings
    by_partition = settings.starts == ("modularity",) and lam is None
    firm = firms and by_partition and settings.may_firm
    while True:
        posed = (firmer(problem) if firm else problem)._replace(ended=watch.end.is_near)
        if start is not None and settings.is_own:
            begin = [start]
        else:
            rng = np.random.default_rng(seed)
            with watch.phase("start"):
                begin = list(starts(posed, settings.init, settings.n_init, rng))
        with watch.phase("iterations"):
            result = solve(
                posed, method, begin, lam=lam, max_iter=max_iter, tol=tol, callback=watch
            )
        again = firms and not firm and result.reason in NO_SPLIT
        if not (again and may_hold(settings, result, watch)):
            return result, firm
        firm = True


def may_hold(settings: RunSettings, result: Result, watch: Watch) -> bool:
    """True where alpha may be raised after a run: nobody set lambda or wanted an end."""
    ended = watch.overdue or result.reason in HALTED
    return settings.may_firm and settings.lam is None and not ended


def firmer(problem: Problem) -> Problem:
    """The problem with an alpha that holds the graph to the labels."""

    def at(lam: float) -> Weights:
        alpha, beta, gamma = problem.weights(lam)
        return Weights(alpha * FIRMER, beta * FIRMER, gamma)

    return problem._replace(weights=at)
