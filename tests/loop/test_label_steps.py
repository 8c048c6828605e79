"""The steps that give labels, against a look at every label of every row."""

import numpy as np
import pytest

from conftest import problem_for
from dogc import DOGC, DOGCOS
from dogc.loop import methods, objective
from dogc.loop.initial_states import spectral_start
from dogc.loop.lambda_search import begin_search
from dogc.loop.steps import step_P, step_Y, step_Y_regression
from dogc.numerics import discrete, l2p
from reference_loop import total


def overlapping(seed=0, n=90):
    rng = np.random.default_rng(seed)
    return 1.5 * np.eye(3)[np.arange(n) % 3] + rng.standard_normal((n, 3))


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
