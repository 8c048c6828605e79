"""The objective `eq:26`, one function per term."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics import discrete, l2p
from .state import Problem, State


def graph(problem: Problem, state: State) -> float:
    """sum_ij d^wx_ij s_ij."""
    dx = np.where(np.isfinite(state.dx), state.dx, 0.0)  # padding has no weight, and 0 * inf is 0
    return float(np.vdot(problem.nodes.root**2 * dx, state.graph.S))


def spread(problem: Problem, state: State) -> float:
    """sum_ij xi_i s_ij^2, over the copies of j where it stands for several."""
    S, mass, xi = state.graph.S, problem.nodes.mass, problem.candidates.xi
    xi = xi if mass is None else mass * xi
    counts = problem.candidates.counts(state.graph.idx)
    each = S if counts is None else S / counts
    return float(xi @ np.einsum("ij,ij->i", S, each))


def deviation_l2(problem: Problem, state: State) -> float:
    """||S - A||_F^2."""
    difference = problem.nodes.root * (state.graph.S - problem.candidates.A)
    return float(np.vdot(difference, difference))


def deviation_l1(problem: Problem, state: State) -> float:
    """sum_ij |s_ij - a_ij|."""
    return float((problem.nodes.root**2 * np.abs(state.graph.S - problem.candidates.A)).sum())


def smoothness(problem: Problem, state: State) -> float:
    """2 lambda Tr(F'LF)."""
    return 2.0 * state.lam * float(np.vdot(state.F, state.graph.L @ state.F))


def link(problem: Problem, state: State) -> float:
    """alpha ||Y - FQ||^2."""
    alpha = problem.weights(state.lam).alpha
    Y = problem.nodes.root * discrete.times(state.Y, np.eye(problem.c))
    difference = Y - state.F @ state.Q
    return float(alpha * np.vdot(difference, difference))


def regression(problem: Problem, state: State) -> float:
    """beta (||Y - XP||_{2,p} + gamma ||P||^2), a row counting as often as it occurs."""
    _, beta, gamma = problem.weights(state.lam)
    assert problem.regression is not None
    loss = l2p.loss(squared_residuals(problem, state), problem.regression.p)
    fit = problem.nodes.size @ loss
    return float(beta * (fit + gamma * np.vdot(state.P, state.P)))


def prediction(problem: Problem, state: State) -> np.ndarray:
    """X P + intercept, of shape (n, c)."""
    assert problem.regression is not None
    return np.asarray(problem.regression.X @ state.P) + state.intercept


def squared_residuals(problem: Problem, state: State) -> np.ndarray:
    """||y_i - x_i P||^2 for every row."""
    residual = discrete.times(state.Y, np.eye(problem.c)) - prediction(problem, state)
    return np.einsum("ij,ij->i", residual, residual)


Term = Callable[[Problem, State], float]
