"""Results of several starts are measured at one lambda and one xi, those that converged first."""

import numpy as np
import pytest

from conftest import problem_for
from dogc import DOGC
from dogc.loop import methods, objective
from dogc.loop.initial_states import spectral_start
from dogc.loop.solver import Record, Result, best_result, stop_reason


@pytest.fixture
def case(three_blobs):
    problem = problem_for(three_blobs[0], DOGC(3, n_neighbors=6))
    return problem, spectral_start(problem)


def result(state, reason="converged", **changed):
    return Result(state._replace(**changed), [], reason)


def turned(state, angle):
    """F turned away from the bottom of the spectrum: less smooth by far."""
    F = np.roll(state.F, angle, axis=0)
    return state._replace(F=F)


def test_a_result_is_not_better_for_ending_at_a_smaller_lambda(case):
    problem, state = case
    method = methods.CAN._replace(terms=(objective.smoothness,))
    smooth, rough = result(state, lam=100.0), result(turned(state, 7), lam=1e-6)
    own = [objective.smoothness(problem, found.state) for found in (smooth, rough)]
    assert own[1] > 0.0
    # At their own lambdas the rough one may look better; at one lambda it cannot.
    rough = result(turned(state, 7), lam=100.0 * own[0] / max(own[1], 1e-300) * 1e-6)
    assert best_result(problem, method, [rough, smooth]) is smooth
    assert best_result(problem, method, [smooth, rough]) is smooth


def test_what_converged_goes_first_whatever_its_objective(case):
    problem, state = case
    method = methods.CAN._replace(terms=(objective.smoothness,))
    good = result(state, "max_iter", lam=1.0)
    bad = result(turned(state, 7), lam=1.0)
    assert best_result(problem, method, [good, bad]) is bad
    assert best_result(problem, method, [good, result(state, "settled", lam=1.0)]) is not good


@pytest.mark.parametrize(
    ("changed", "stops"),
    [
        ({}, True),
        ({"lam": 2.0}, False),
        ({"n_components": 4}, False),
        ({"labels_changed": 1}, False),
        ({"objective": 1.1}, False),
    ],
)
def test_a_run_ends_where_two_records_in_a_row_say_the_same(case, changed, stops):
    problem, state = case
    state = state._replace(graph=state.graph._replace(n_components=3))
    last = Record(1, 1.0, {}, 1.0, 3, 0)
    history = [last, last._replace(iteration=2, **changed)]
    assert (stop_reason(problem, methods.DOGC, state, history, 1e-4) == "converged") == stops
    assert stop_reason(problem, methods.DOGC, state, history[:1], 1e-4) is None
