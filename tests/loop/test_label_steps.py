"""The steps that give labels, against a look at every label of every row."""

import numpy as np
import pytest

from conftest import problem_for
from dogc import DOGC, DOGCOS
from dogc.loop import methods, objective
from dogc.loop.initial_states import random_starts, spectral_start
from dogc.loop.lambda_search import begin_search
from dogc.loop.solver import solve
from dogc.loop.steps import step_P, step_restart, step_Y, step_Y_regression
from dogc.numerics import discrete, l2p


def overlapping(seed=0, n=90):
    rng = np.random.default_rng(seed)
    return 1.5 * np.eye(3)[np.arange(n) % 3] + rng.standard_normal((n, 3))


def total(problem, method, state):
    return sum(term(problem, state) for term in method.terms)


def with_label(state, row, label):
    Y = state.Y.copy()
    Y[row] = label
    return state._replace(Y=Y)


def between_graph_and_regression(p):
    """A state whose regression follows other labels than its graph: each has some rows to say."""
    problem = problem_for(overlapping(1), DOGCOS(3, n_neighbors=8, p=p, alpha=0.5, beta=1.0))
    state = begin_search(problem, spectral_start(problem))
    return problem, step_P(problem, state._replace(Y=np.arange(problem.n) % 3))


@pytest.mark.parametrize("p", [0.25, 0.5, 1.0, 1.5, 2.0])
def test_no_other_label_of_a_row_has_a_lower_objective(p):
    problem, state = between_graph_and_regression(p)
    state = step_Y_regression(problem, state)
    assert set(state.Y) == {0, 1, 2}
    value = total(problem, methods.DOGC_OS, state)
    for row in range(problem.n):
        for label in range(3):
            other = total(problem, methods.DOGC_OS, with_label(state, row, label))
            assert other >= value - 1e-12 * abs(value)


@pytest.mark.parametrize("p", [0.25, 0.5, 1.0])
def test_the_printed_label_step_takes_labels_that_the_loss_does_not_prefer(p):
    # eq:36 replaces the loss by its weighted square at the last labels: not the same minimum.
    problem, state = between_graph_and_regression(p)
    exact = step_Y_regression(problem, state)
    alpha, beta, _ = problem.weights(state.lam)
    fitted = objective.prediction(problem, state)
    D = l2p.irls_weights(objective.squared_residuals(problem, state), p)
    gain = 2.0 * alpha * state.F @ state.Q + 2.0 * beta * D[:, None] * fitted
    printed = state._replace(Y=discrete.assign(gain))
    values = [total(problem, methods.DOGC_OS, found) for found in (printed, exact)]
    assert values[1] < values[0]


def test_labels_without_a_regression_are_the_best_of_every_row():
    problem = problem_for(overlapping(), DOGC(3, n_neighbors=8))
    state = step_Y(problem, begin_search(problem, spectral_start(problem)))
    value = objective.link(problem, state)
    for row in range(problem.n):
        others = [objective.link(problem, with_label(state, row, label)) for label in range(3)]
        assert min(others) >= value - 1e-12


def stuck():
    """Four far groups, a start that has two of them as one and another in two."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 15)
    X = 9.0 * np.eye(4)[truth] + rng.standard_normal((60, 4))
    bad = np.where(truth == 1, 0, truth)
    bad[(truth == 2) & (np.arange(60) % 2 == 0)] = 1
    return X, truth, bad


def test_a_restart_leaves_labels_that_rotation_and_assignment_cannot_leave():
    X, truth, bad = stuck()
    problem = problem_for(X, DOGC(4, n_neighbors=8))
    state = begin_search(problem, spectral_start(problem))
    state = state._replace(Y=bad, Q=discrete.procrustes(state.F, bad))
    fresh = step_restart(problem, state)
    assert objective.link(problem, fresh) < objective.link(problem, state)
    assert len({*zip(fresh.Y, truth, strict=True)}) == 4
    assert step_restart(problem, fresh) is fresh


@pytest.mark.parametrize("cls", [DOGC, DOGCOS], ids=lambda cls: cls.__name__)
def test_random_labels_that_would_be_stuck_without_a_restart_are_left(cls):
    truth = np.repeat(np.arange(8), 15)
    X = 9.0 * np.eye(8)[truth] + np.random.default_rng(0).standard_normal((120, 8))
    problem, method = problem_for(X, cls(8, n_neighbors=8)), cls._method
    without = [step for step in method.steps if "restart" not in step.__name__]
    state = next(random_starts(problem, 1, np.random.default_rng(2)))

    def groups(method):
        found = solve(problem, method, [state], max_iter=100, tol=1e-6).state.Y
        return len({*zip(found, truth, strict=True)})

    assert groups(method) == 8
    assert groups(method._replace(steps=tuple(without))) > 8
