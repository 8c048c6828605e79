"""The restart of rotation and labels: what it leaves, what it keeps, when it is not taken."""

import numpy as np

from conftest import problem_for
from dogc import DOGCOS
from dogc.loop import objective
from dogc.loop.initial_states import random_starts
from dogc.loop.lambda_search import begin_search
from dogc.loop.steps import step_P, step_Q, step_restart, step_restart_regression, step_Y

SIZES = (30, 20, 12, 10, 8, 6, 6, 6)


def uneven_blobs():
    """Eight groups of very different sizes, each along a column of its own."""
    truth = np.repeat(np.arange(8), SIZES)
    noise = np.random.default_rng(0).standard_normal((len(truth), 8))
    return 8.0 * np.eye(8)[truth] + noise, truth


def same_partition(a, b):
    return len({*zip(a, b, strict=True)}) == len({*a}) == len({*b})


def stuck():
    """A state in which rotation and labels alone have come to an end with groups merged."""
    X, truth = uneven_blobs()
    problem = problem_for(X, DOGCOS(8, n_neighbors=5))
    for state in random_starts(problem, 20, np.random.default_rng(0)):
        state = begin_search(problem, state)
        for _ in range(20):
            state = step_Y(problem, step_Q(problem, state))
        if not same_partition(state.Y, truth):
            return problem, step_P(problem, state), truth
    raise AssertionError("no start got stuck")


def test_a_restart_leaves_labels_in_which_rotation_and_labels_are_stuck():
    problem, state, truth = stuck()
    assert np.array_equal(step_Y(problem, step_Q(problem, state)).Y, state.Y)
    fresh = step_restart(problem, state)
    assert same_partition(fresh.Y, truth)
    assert objective.link(problem, fresh) < objective.link(problem, state)
    np.testing.assert_allclose(fresh.Q.T @ fresh.Q, np.eye(8), rtol=0, atol=1e-12)
    before, right = state.Y, 0
    for group in range(8):
        inside = truth == group
        if np.array_equal(before == before[inside][0], inside):  # right before: it keeps its name
            assert np.array_equal(fresh.Y[inside], before[inside])
            right += 1
    assert right >= 4


def test_a_restart_that_gains_nothing_is_not_taken():
    problem, state, _ = stuck()
    fresh = step_restart(problem, state)
    assert step_restart(problem, fresh) is fresh
    settled = step_Y(problem, step_Q(problem, fresh))
    assert step_restart(problem, settled) is settled


def test_a_restart_is_not_taken_where_the_regression_loses_more_than_the_link_gains():
    problem, state, _ = stuck()
    # Features that say nothing but what the old labels are.
    X = np.eye(8)[state.Y] - np.eye(8)[state.Y].mean(axis=0)
    told = problem._replace(regression=problem.regression._replace(X=X))
    told = told._replace(weights=lambda lam: problem.weights(lam)._replace(beta=1e6, gamma=0.0))
    state = step_P(told, state._replace(P=np.zeros((8, 8)), intercept=np.full(8, 1 / 8)))
    assert step_restart(told, state) is not state
    assert step_restart_regression(told, state) is state
