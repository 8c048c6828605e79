import signal

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import reference_loop
from conftest import problem_for
from dogc import CAN, DOGC
from dogc.datasets import load_uci
from dogc.loop import solver
from dogc.loop.initial_states import random_starts, spectral_start, starts
from dogc.loop.lambda_search import begin_search, hold


def spread_blobs(seed=0, n=60, noise=2.0):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], n // 3)
    return 6.0 * np.eye(3, 4)[truth] + noise * rng.standard_normal((n, 4))


def test_fixed_lambda_run_equals_the_dense_loop():
    X = spread_blobs()
    problem = problem_for(X, CAN(3, n_neighbors=9, xi="row"))
    method = CAN.method._replace(schedule=hold)
    state = begin_search(problem, spectral_start(problem))
    lam = state.lam
    result = solver.alternate(problem, method, state, max_iter=3, tol=0.0)
    S, F, L = reference_loop.dense_can(X, 3, 9, lam, n_iter=3)
    np.testing.assert_allclose(reference_loop.dense_weights(result.state, len(X)), S, atol=1e-6)
    assert np.trace(F.T @ L @ F) == pytest.approx(
        np.vdot(result.state.F, result.state.graph.L @ result.state.F), abs=1e-8
    )


def interrupt(record):
    if record.iteration == 2:
        signal.raise_signal(signal.SIGINT)


def pieces():
    """Two groups and a small one beside the second: a graph in three parts."""
    rng = np.random.default_rng(0)
    return np.concatenate([at + rng.standard_normal(n) for at, n in ((0, 30), (100, 30), (110, 8))])


def heart():
    """A fit whose graph has two components for a while."""
    X = StandardScaler().fit_transform(load_uci("heart").data)
    return DOGC(2, alpha=1e-4, n_neighbors=27, n_components=2, penalties="paper").fit(X)


# One run for each reason to end.
ENDS = {
    "converged": lambda: DOGC(3, n_neighbors=10).fit(spread_blobs()),
    "settled": lambda: DOGC(3, n_neighbors=10, lam=0.02).fit(spread_blobs()),
    "fragmented_graph": lambda: DOGC(2, n_neighbors=4).fit(pieces()[:, None]),
    "no_exact_split": lambda: CAN(40, n_neighbors=5).fit(spread_blobs()),
    "unsettled_split": heart,
    "max_iter": lambda: DOGC(3, n_neighbors=10, max_iter=1).fit(spread_blobs()),
    "max_time": lambda: DOGC(3, n_neighbors=10, max_time=1e-9).fit(spread_blobs()),
    "interrupted": lambda: DOGC(3, n_neighbors=10, callback=interrupt).fit(spread_blobs()),
    "callback": lambda: DOGC(3, n_neighbors=10, callback=lambda r: True).fit(spread_blobs()),
}


@pytest.mark.parametrize("reason", ENDS)
def test_every_reason_to_end_is_given_where_it_holds(reason, ctrl_c):
    model = ENDS[reason]()
    assert model.stopping_reason_ == reason
    assert model.converged_ == (reason in {"converged", "settled"})


SETTLED = solver.Record(2, 1.0, {}, 1.0, 3, 0)


@pytest.mark.parametrize(
    ("c", "fragmented", "count", "reason"),
    [
        (3, False, 3, "converged"),
        (3, False, 2, None),  # lambda grows
        (3, False, 5, None),  # lambda shrinks
        (3, True, 5, "fragmented_graph"),
        (3, True, 3, "converged"),
        (1, True, 5, "converged"),  # one cluster holds everything
        (1, False, 1, "converged"),
        (2, False, 1, None),
    ],
)
def test_why_a_run_that_has_settled_ends(c, fragmented, count, reason):
    problem = problem_for(spread_blobs(), DOGC(c, n_neighbors=10))
    state = begin_search(problem, spectral_start(problem))
    graph = state.graph._replace(n_components=count)
    state = state._replace(graph=graph, search=state.search._replace(fragmented=fragmented))
    assert solver.stop_reason(problem, DOGC.method, state, [SETTLED, SETTLED], 1e-4) == reason
    assert solver.stop_reason(problem, DOGC.method, state, [SETTLED], 1e-4) is None


@pytest.mark.parametrize("objective", [-1000.0, 1e-3, 1.0, 1000.0])
def test_tol_is_counted_in_the_objective(objective):
    problem = problem_for(spread_blobs(), DOGC(3, n_neighbors=10))
    state = begin_search(problem, spectral_start(problem))
    state = state._replace(graph=state.graph._replace(n_components=3))
    last = SETTLED._replace(objective=objective)
    for change, reason in ((0.9e-4, "converged"), (1.1e-4, None)):
        history = [last._replace(objective=objective * (1.0 + change)), last]
        assert solver.stop_reason(problem, DOGC.method, state, history, 1e-4) == reason


def test_spectral_start_needs_one_run_and_random_starts_reach_it():
    X = spread_blobs()
    problem = problem_for(X, DOGC(3, n_neighbors=10))
    rng = np.random.default_rng(0)
    assert len(list(starts(problem, "spectral", 5, rng))) == 1
    assert len(list(starts(problem, "random", 5, rng))) == 5
    spectral = solver.solve(problem, DOGC.method, [spectral_start(problem)], max_iter=50, tol=1e-6)
    for seed in range(5):
        state = next(random_starts(problem, 1, np.random.default_rng(seed)))
        result = solver.solve(problem, DOGC.method, [state], max_iter=50, tol=1e-6)
        together = {*zip(spectral.state.Y, result.state.Y, strict=True)}
        assert len(together) == 3  # the same partition under other names
