"""The methods, written as data: which steps, which terms, which labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..numerics import discrete
from . import objective, steps
from .lambda_search import hold, search_lambda
from .state import Problem, State

Step = Callable[[Problem, State], State]
Schedule = Callable[[Problem, State], State]


def as_started(problem: Problem, state: State) -> State:
    """Take a start as it is."""
    return state


def relax(problem: Problem, state: State) -> State:
    """Make Y continuous: Y = F. Any rotation can be absorbed by such a Y, so Q = I."""
    return state._replace(Q=np.eye(problem.c), Y=state.F / problem.nodes.root)


class Method(NamedTuple):
    """One alternating optimisation."""

    name: str
    steps: tuple[Step, ...]
    terms: tuple[objective.Term, ...]
    schedule: Schedule
    read_labels: Callable[[State], np.ndarray]  # what "the labels no longer change" looks at
    final_labels: Callable[[Problem, State], np.ndarray]
    enter: Callable[[Problem, State], State] = as_started  # fits a start to this method

    @property
    def regresses(self) -> bool:
        """Whether labels are regressed on features."""
        return steps.step_P in self.steps


def discrete_labels(state: State) -> np.ndarray:
    """The labels are Y."""
    return state.Y


def component_labels(state: State) -> np.ndarray:
    """The labels are the components of the learned graph."""
    return state.graph.member


def final_discrete(problem: Problem, state: State) -> np.ndarray:
    """Y as it is."""
    return state.Y


def final_components(problem: Problem, state: State) -> np.ndarray:
    """The components if there are c of them, else what a rotation of F finds."""
    if state.graph.n_components == problem.c:
        return state.graph.member
    F = problem.nodes.root * state.F
    return discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))[1]


_GRAPH = (objective.graph, objective.spread, objective.smoothness)

DOGC = Method(
    "DOGC",
    (
        steps.step_S,
        steps.step_F,
        steps.step_W,
        steps.step_Q,
        steps.step_restart,
        steps.step_Y,
    ),
    (*_GRAPH, objective.link),
    search_lambda,
    discrete_labels,
    final_discrete,
)

DOGC_OS = Method(
    "DOGC-OS",
    (
        steps.step_S,
        steps.step_F,
        steps.step_W,
        steps.step_Q,
        steps.step_restart_regression,
        steps.step_P,
        steps.step_Y_regression,
    ),
    (*_GRAPH, objective.link, objective.regression),
    search_lambda,
    discrete_labels,
    final_discrete,
)

# DOGC-I: DOGC-OS with Y relaxed to a real matrix.
DOGC_RELAXED = Method(
    "DOGC-I",
    (steps.step_S, steps.step_F, steps.step_W, steps.step_P, steps.step_Y_relaxed),
    (*_GRAPH, objective.link, objective.regression),
    search_lambda,
    component_labels,
    final_components,
    relax,
)

# DOGC-II: DOGC-OS on a graph that is not learned.
DOGC_FIXED_GRAPH = Method(
    "DOGC-II",
    (
        steps.step_F,
        steps.step_W,
        steps.step_Q,
        steps.step_restart_regression,
        steps.step_P,
        steps.step_Y_regression,
    ),
    (*_GRAPH, objective.link, objective.regression),
    hold,
    discrete_labels,
    final_discrete,
)

CAN = Method(
    "CAN",
    (steps.step_S, steps.step_F),
    _GRAPH,
    search_lambda,
    component_labels,
    final_components,
)

PCAN = Method(
    "PCAN",
    (steps.step_S, steps.step_F, steps.step_W),
    _GRAPH,
    search_lambda,
    component_labels,
    final_components,
)

# CLR: a given graph is changed as little as it takes to have c components. In the L2 norm
# its row problem is that of CAN with d_ij = -2 a_ij and xi = 1.
CLR_L2 = Method(
    "CLR1",
    (steps.step_S, steps.step_F),
    (objective.deviation_l2, objective.smoothness),
    search_lambda,
    component_labels,
    final_components,
)

CLR_L1 = Method(
    "CLR0",
    (steps.step_S_l1, steps.step_F),
    (objective.deviation_l1, objective.smoothness),
    search_lambda,
    component_labels,
    final_components,
)
