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


class Method(NamedTuple):
    """One alternating optimisation."""

    name: str
    steps: tuple[Step, ...]
    terms: tuple[objective.Term, ...]
    discrete: bool = True  # the labels are Y; else the components of the learned graph
    schedule: Step = search_lambda

    @property
    def regresses(self) -> bool:
        """True where labels are regressed on features."""
        return steps.step_P in self.steps

    def enter(self, problem: Problem, state: State) -> State:
        """The start as this method takes it.

        A continuous Y begins as F: any rotation can be absorbed by such a Y, so Q = I.
        """
        if steps.step_Y_relaxed not in self.steps:
            return state
        return state._replace(Q=np.eye(problem.c), Y=state.F / problem.nodes.root)

    def read_labels(self, state: State) -> np.ndarray:
        """The labels of which none changes any longer where a run has converged."""
        return state.Y if self.discrete else state.graph.member

    def final_labels(self, problem: Problem, state: State) -> np.ndarray:
        """Y, or the components if there are c of them, else what a rotation of F finds."""
        if self.discrete or state.graph.n_components == problem.c:
            return self.read_labels(state)
        F = problem.nodes.root * state.F
        return discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))[1]


_LEARNED = (steps.step_S, steps.step_F, steps.step_W)
_REGRESSED = (steps.step_Q, steps.step_restart_regression, steps.step_P, steps.step_Y_regression)
_GRAPH = (objective.graph, objective.spread, objective.smoothness)
_LINKED = (*_GRAPH, objective.link)
_ALL = (*_LINKED, objective.regression)

DOGC = Method("DOGC", (*_LEARNED, steps.step_Q, steps.step_restart, steps.step_Y), _LINKED)
DOGC_OS = Method("DOGC-OS", (*_LEARNED, *_REGRESSED), _ALL)
# DOGC-OS with Y relaxed to a real matrix.
DOGC_RELAXED = Method("DOGC-I", (*_LEARNED, steps.step_P, steps.step_Y_relaxed), _ALL, False)
# DOGC-OS on a graph that is not learned.
DOGC_FIXED_GRAPH = Method("DOGC-II", (steps.step_F, steps.step_W, *_REGRESSED), _ALL, schedule=hold)
CAN = Method("CAN", (steps.step_S, steps.step_F), _GRAPH, False)
PCAN = Method("PCAN", _LEARNED, _GRAPH, False)
# CLR: a given graph is changed as little as it takes to have c components. In the L2 norm
# its row problem is that of CAN with d_ij = -2 a_ij and xi = 1.
CLR_L2 = Method(
    "CLR1", (steps.step_S, steps.step_F), (objective.deviation_l2, objective.smoothness), False
)
CLR_L1 = Method(
    "CLR0", (steps.step_S_l1, steps.step_F), (objective.deviation_l1, objective.smoothness), False
)
