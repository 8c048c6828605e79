"""A run: from which states it begins, and when it is made again with a firmer alpha."""

from types import SimpleNamespace

import numpy as np
import pytest

from conftest import problem_for
from dogc import DOGCOS
from dogc.loop import running
from dogc.loop.initial_states import spectral_start
from dogc.loop.penalties import Weights
from dogc.loop.running import FIRMER, RunSettings
from dogc.loop.watch import Watch

OURS = RunSettings(None, 10, 1e-4, may_firm=True)
DONE = SimpleNamespace(reason="converged")
BY_PARTITION = OURS._replace(init="modularity")
# The settings, whether alpha may be raised by the caller, how solutions end, and alpha in each.
RUNS = {
    "a split": (OURS, True, ["converged"], [1]),
    "no split": (OURS, True, ["no_exact_split", "unsettled_split"], [1, FIRMER]),
    "the start is open": (OURS._replace(init="auto"), True, ["no_exact_split"] * 2, [1, FIRMER]),
    "a partition": (BY_PARTITION, True, ["no_exact_split"], [FIRMER]),
    "a partition at a given lambda": (BY_PARTITION._replace(lam=2.0), True, ["max_iter"], [1]),
    "a given lambda": (OURS._replace(lam=2.0), True, ["no_exact_split"], [1]),
    "alpha is the user's": (BY_PARTITION._replace(may_firm=False), True, ["no_exact_split"], [1]),
    "the caller wants no more": (BY_PARTITION, False, ["no_exact_split"], [1]),
    "an end": (OURS, True, ["interrupted"], [1]),
}


@pytest.fixture
def problem(three_blobs):
    problem = problem_for(three_blobs[0], DOGCOS(3, n_neighbors=7))
    return problem._replace(weights=lambda lam: Weights(lam, 1.0, 1.0))


@pytest.mark.parametrize("name", RUNS)
def test_alpha_is_raised_once_where_nothing_splits(name, problem, monkeypatch):
    settings, firms, reasons, raised = RUNS[name]
    left, seen = list(reasons), []

    def solve(posed, method, begin, **given):
        seen.append(posed.weights(1.0).alpha)
        assert posed.ended == watch.end.is_near
        assert given == {"lam": settings.lam, "max_iter": 10, "tol": 1e-4, "callback": watch}
        return SimpleNamespace(reason=left.pop(0))

    watch = Watch()
    monkeypatch.setattr(running, "solve", solve)
    result, firm = running.run(problem, DOGCOS.method, settings, 0, watch, firms=firms)
    assert (seen, left, result.reason) == (raised, [], reasons[-1])
    assert firm == (raised[-1] == FIRMER)


def test_alpha_is_not_raised_where_the_time_is_up(problem, monkeypatch):
    watch = Watch(max_time=1e-9)
    result = SimpleNamespace(reason="no_exact_split")
    monkeypatch.setattr(running, "solve", lambda *_, **__: result)
    assert running.run(problem, DOGCOS.method, OURS, 0, watch) == (result, False)


@pytest.mark.parametrize(
    ("init", "known"), [("spectral", True), ("random", False), (np.arange(60) % 3, False)]
)
def test_a_start_that_is_known_is_for_runs_by_the_data_alone(init, known, problem, monkeypatch):
    begun, start = [], spectral_start(problem)
    monkeypatch.setattr(running, "solve", lambda *given, **_: begun.extend(given[2]) or DONE)
    settings = OURS._replace(init=init, n_init=2)
    for seed in (0, 0, 1):
        running.run(problem, DOGCOS.method, settings, seed, Watch(), start=start)
    assert all((state is start) == known for state in begun)
    assert len(begun) == (6 if isinstance(init, str) and init == "random" else 3)
    if len(begun) == 6:  # chance goes by the seed
        first, _, again, _, other, _ = (state.Q for state in begun)
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


def test_the_starts_among_which_scales_choose():
    asked = {init: OURS._replace(init=init).starts for init in ("auto", "spectral", "modularity")}
    assert asked == {
        "auto": running.STARTS,
        "spectral": ("spectral",),
        "modularity": ("modularity",),
    }
    assert OURS._replace(init="random").starts == ("spectral",)
    assert not OURS._replace(init=np.arange(3)).is_own
