"""The schedule of lambda: bracket and bisect until S has exactly c components.

The paper starts at xi and doubles or halves by the component count. Rows of F shrink like
1/sqrt(n), so that start means less and less as n grows, and doubling and halving can flip
between two values for ever. Here the search starts where the two distances of `eq:10`
balance and remembers, for the largest lambda seen that gives too few components, the whole
state there. After an overshoot it goes back to that state with a lambda in between: an
over-split graph is never repaired, its last step is taken again, shorter.
"""

from __future__ import annotations

import math

import numpy as np

from ..numerics import graph
from .state import LambdaSearch, Problem, State

GROWTH = 2.0
CLOSED = 0.03  # relative width at which the bracket counts as empty
# Beyond these multiples of the start nothing new happens.
LOWEST, HIGHEST = 1e-9, 1e6
# Squared distances beyond this multiple of their median say nothing about the others.
FAR = 1e4


def balanced_lambda(problem: Problem, state: State) -> float:
    """The lambda at which lambda d^f between clusters equals the mean d^wx of candidates.

    Rows of F in two clusters are sqrt(2c/n) apart when the clusters are of equal size.
    """
    reach = _usual_mean(state.dx[np.isfinite(state.dx)])
    return reach * problem.n / (2.0 * problem.c) if reach > 0 else 1.0


def begin_search(problem: Problem, state: State) -> State:
    """Enter the search from a state whose S was solved at lambda = 0."""
    unit = balanced_lambda(problem, state)
    fragmented = state.graph.n_components > problem.c
    search = LambdaSearch(0.0, math.inf, None, unit, fragmented)
    anchor = state._replace(search=search)
    return state._replace(lam=unit, search=search._replace(anchor=anchor))


def search_lambda(problem: Problem, state: State) -> State:
    """The next lambda after an iteration, and the state to go on from."""
    search = state.search
    if search.fragmented or state.graph.n_components == problem.c:
        return state
    if state.graph.n_components < problem.c:
        anchor = state._replace(search=search._replace(anchor=None))
        search = search._replace(low=state.lam, anchor=anchor)
    else:
        search = search._replace(high=state.lam)
    assert search.anchor is not None
    return search.anchor._replace(lam=_between(search), search=search)


def _between(search: LambdaSearch) -> float:
    if math.isinf(search.high):
        return search.low * GROWTH
    if search.low == 0.0:
        return search.high / GROWTH**2
    return math.sqrt(search.low * search.high)


def is_closed(search: LambdaSearch) -> bool:
    """True where no lambda is left between too few components and too many."""
    if math.isinf(search.high):
        return search.low > HIGHEST * search.unit
    if search.low == 0.0:
        return search.high < LOWEST * search.unit
    return search.high <= search.low * (1.0 + CLOSED)


def hold(problem: Problem, state: State) -> State:
    """Lambda stays where it is."""
    return state


def mean_xi(d: np.ndarray, k: int, copies: np.ndarray | None = None) -> np.ndarray:
    """`eq:25`: the mean of the row regularisers, for every row."""
    xi = graph.neighbour_xi(d, k, floor=0.0, copies=copies)
    return np.full_like(xi, _usual_mean(xi))


def _usual_mean(values: np.ndarray) -> float:
    """The mean, but without the few values of a row that lies far away from everything."""
    return float(np.mean(values[values <= FAR * np.median(values)])) or float(np.mean(values))
