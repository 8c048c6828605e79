"""Several starts of one method, and which of their results to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .initial_states import labels_start, random_start, spectral_start
from .lambda_search import begin_search, hold
from .methods import Method
from .solver import HALTED, SUCCESS, Callback, Result, alternate
from .state import Problem, State


def starts(
    problem: Problem, init: str | np.ndarray, n_init: int, rng: np.random.Generator
) -> Iterator[State]:
    """The states to begin from: ``n_init`` of them if chance is involved, else one."""
    if not isinstance(init, str):
        yield labels_start(problem, init)
    elif init == "spectral":
        yield spectral_start(problem)
    else:
        for _ in range(n_init):
            yield random_start(problem, rng)


def solve(
    problem: Problem,
    method: Method,
    begin: Iterable[State],
    *,
    lam: float | None = None,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
) -> Result:
    """Run the method from each start, at a fixed lambda if one is given; keep the best.

    What stops a run from outside stops the ones after it too.
    """
    results = []
    if lam is not None:
        method = method._replace(schedule=hold)
    for state in begin:
        state = begin_search(problem, method.enter(problem, state))
        state = state if lam is None else state._replace(lam=lam)
        results.append(
            alternate(problem, method, state, max_iter=max_iter, tol=tol, callback=callback)
        )
        if results[-1].reason in HALTED:
            break
    return best_result(problem, method, results)


def best_result(problem: Problem, method: Method, results: list[Result]) -> Result:
    """The result with the lowest objective, those that converged first.

    Runs end at different lambda and xi, where their objectives cannot be compared. So
    each final state is measured at one lambda, the largest of them, and at one xi.
    """
    lam = max(result.state.lam for result in results)
    xi = results[0].state.xi

    def rank(result: Result) -> tuple[bool, float]:
        state = result.state._replace(lam=lam, xi=xi)
        return result.reason not in SUCCESS, sum(term(problem, state) for term in method.terms)

    return min(results, key=rank)
