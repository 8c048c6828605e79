"""The one loop: steps, record, stop, schedule; from several starts the best result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from .lambda_search import begin_search, hold, is_closed
from .methods import Method
from .state import Problem, State

# Why a run ended, in a clause.
STOPPING_REASONS = {
    "converged": "the graph has exactly n_clusters components and no longer changes",
    "settled": "the solution no longer changes at this fixed lambda",
    "fragmented_graph": (
        "the graph has more components than n_clusters before learning starts; the smallest "
        "were merged with their nearest; to avoid that, raise n_neighbors, or pass a graph with "
        "more edges"
    ),
    "no_exact_split": (
        "it could not reach exactly n_clusters components; labels come from the continuous "
        "solution; choose a smaller n_clusters, or set n_neighbors"
    ),
    "unsettled_split": (
        "the graph had exactly n_clusters components, but lost them again; the last such solution "
        "is kept; set n_neighbors, or change alpha"
    ),
    "max_iter": "max_iter was reached; raise max_iter",
    "max_time": "max_time was reached; labels are the best found until then; raise max_time",
    "interrupted": "it was interrupted; labels are the best found until then",
    "callback": "the callback stopped it",
}

# No lambda keeps exactly c components.
NO_SPLIT = frozenset({"no_exact_split", "unsettled_split"})
SUCCESS = frozenset({"converged", "settled"})
# Somebody wanted an end, before the method itself came to one.
HALTED = frozenset({"max_time", "interrupted", "callback"})


class Halt(str):
    """A reason of its own for which a callback stops a run."""


class Record(NamedTuple):
    """One iteration, at one lambda."""

    iteration: int
    objective: float
    terms: dict[str, float]
    lam: float
    n_components: int
    labels_changed: int


class Result(NamedTuple):
    """The state in which a run ended, its records and the reason to stop."""

    state: State
    history: list[Record]
    reason: str


Callback = Callable[[Record, State], object]


def alternate(
    problem: Problem,
    method: Method,
    state: State,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
) -> Result:
    """Run a method from a state until it settles, or for ``max_iter`` iterations.

    ``callback`` sees every record and its state; a true return value stops the run.
    """
    history: list[Record] = []
    exact: State | None = None  # the last state whose graph has exactly c components
    for iteration in range(1, max_iter + 1):
        before = state
        for step in method.steps:
            if not problem.ended():  # a step may take long; each leaves its block as it was
                state = step(problem, state)
        history.append(measure(problem, method, iteration, before, state))
        if callback is not None and (verdict := callback(history[-1], state)):
            return Result(state, history, verdict if isinstance(verdict, Halt) else "callback")
        if reason := stop_reason(problem, method, state, history, tol):
            return Result(state, history, reason)
        if state.graph.n_components == problem.c:
            exact = state
        state = method.schedule(problem, state)
        if is_closed(state.search):
            reason = "no_exact_split" if exact is None else "unsettled_split"
            return Result(exact or state, history, reason)
    return Result(state, history, "max_iter")


def measure(
    problem: Problem, method: Method, iteration: int, before: State, state: State
) -> Record:
    """The record of one iteration."""
    terms = {term.__name__: term(problem, state) for term in method.terms}
    value, count = float(sum(terms.values())), state.graph.n_components
    changed = np.count_nonzero(method.read_labels(before) != method.read_labels(state))
    return Record(iteration, value, terms, state.lam, count, int(changed))


def stop_reason(
    problem: Problem, method: Method, state: State, history: list[Record], tol: float
) -> str | None:
    """The reason to stop here, if there is one."""
    if len(history) < 2:
        return None
    last, this = history[-2:]
    steady = this.lam == last.lam and this.n_components == last.n_components
    small = abs(last.objective - this.objective) <= tol * abs(this.objective)
    if not (steady and small and this.labels_changed == 0):
        return None
    if state.search.fragmented and state.graph.n_components > problem.c > 1:
        return "fragmented_graph"
    if method.schedule is hold:
        return "settled"
    if state.graph.n_components == problem.c or problem.c == 1:
        return "converged"
    return None


def solve(
    problem: Problem,
    method: Method,
    begin: State | Iterable[State],
    *,
    lam: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-4,
    callback: Callback | None = None,
) -> Result:
    """Run the method from each start, at a fixed lambda if one is given; keep the best.

    What stops a run from outside stops the ones after it too.

    Parameters
    ----------
    problem : Problem
    method : Method
    begin : State or iterable of State
        Where to start; one without labels is refused.
    lam : float or None, default=None
        None searches for the lambda with exactly c components.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        The run stops when the relative change of the objective is below this value.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` and the :class:`State` of each iteration. A
        true return value stops the run.

    Returns
    -------
    result : Result
        The final state, the records, and the reason to stop.
    """
    results = []
    if lam is not None:
        method = method._replace(schedule=hold)
    for state in [begin] if isinstance(begin, State) else begin:
        state = begin_search(problem, method.enter(problem, state))
        state = state if lam is None else state._replace(lam=lam)
        results.append(alternate(problem, method, state, max_iter, tol, callback))
        if results[-1].reason in HALTED:
            break
    return best_result(problem, method, results)


def best_result(problem: Problem, method: Method, results: list[Result]) -> Result:
    """The result with the lowest objective, those that converged first.

    Runs end at different lambda, where their objectives cannot be compared. So each final state
    is measured at one lambda, the largest of them.
    """
    lam = max(result.state.lam for result in results)

    def rank(result: Result) -> tuple[bool, float]:
        state = result.state._replace(lam=lam)
        return result.reason not in SUCCESS, sum(term(problem, state) for term in method.terms)

    return min(results, key=rank)
