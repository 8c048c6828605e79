"""What a fit does beside the numbers: time, interrupts, progress."""

import itertools
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from conftest import made
from dogc import CAN, CLR, DOGC, DOGCOS
from dogc.loop import watch
from dogc.numerics import row_blocks
from dogc.rows import passes


def spread_blobs():
    return make_blobs(90, centers=[[0, 0], [4, 0], [2, 4]], cluster_std=0.6, random_state=0)[0]


def overlapping(n=300):
    X, _ = make_blobs(n, centers=3, cluster_std=2.5, random_state=2)
    return X


class InterruptAt:
    """A callback that presses Ctrl-C after an iteration; it arrives in the next."""

    def __init__(self, iteration):
        self.iteration = iteration

    def __call__(self, record):
        if record.iteration == self.iteration:
            # From another thread, so that it arrives in the midst of a step.
            threading.Timer(0.0, signal.raise_signal, (signal.SIGINT,)).start()


@pytest.fixture
def ctrl_c():
    """Ctrl-C as Python has it, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN])
def test_an_interrupt_keeps_the_last_whole_iteration(cls, monkeypatch):
    from dogc.loop import steps

    calls = itertools.count(1)
    step = steps.with_graph

    def interrupted(*arguments):
        if next(calls) == 6:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(steps, "with_graph", interrupted)
    with pytest.warns(match="interrupted; labels are those of the last whole iteration"):
        model = made(cls, 3, n_neighbors=10, geometry="given", tol=0.0).fit(overlapping())
    assert model.stopping_reason_ == "interrupted"
    assert not model.converged_
    assert model.n_iter_ >= 1
    assert len(np.unique(model.labels_)) == 3
    assert model.predict(overlapping()).shape == (300,)


def test_a_real_signal_is_such_an_interrupt(ctrl_c):
    with pytest.warns(match="interrupted"):
        model = DOGC(3, n_neighbors=10, tol=0.0, max_iter=100_000, lam=0.01,
                     callback=InterruptAt(2)).fit(overlapping(2000))  # fmt: skip
    assert model.stopping_reason_ == "interrupted"
    assert model.n_iter_ >= 2


def test_an_interrupt_before_there_is_anything_to_keep_goes_through(monkeypatch):
    from dogc.loop import steps

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "step_S", interrupted)
    monkeypatch.setattr(
        DOGC, "_method", DOGC._method._replace(steps=(interrupted, *DOGC._method.steps[1:]))
    )
    with pytest.raises(KeyboardInterrupt):
        DOGC(3, n_neighbors=10).fit(overlapping())


def test_the_end_of_the_time_among_scales_takes_the_finished_ones(monkeypatch):
    X = overlapping()
    whole = DOGC(3).fit(X)
    first = whole.scales_.n_neighbors
    assert len(first) > 2
    with pytest.warns(match="max_time"):
        model = DOGC(3, max_time=1e-9).fit(X)
    assert model.stopping_reason_ == "max_time"
    assert model.n_iter_ == 1
    assert len(np.unique(model.labels_)) == 3

    clock = iter(itertools.chain([False] * 12, itertools.repeat(True)))
    monkeypatch.setattr(watch.Watch, "overdue", property(lambda self: next(clock)))
    with pytest.warns(match="max_time"):
        model = DOGC(3, max_time=1e9).fit(X)
    assert model.stopping_reason_ == "max_time"
    assert set(model.scales_.n_neighbors) < set(first)
    assert model.n_neighbors_ in model.scales_.n_neighbors


def test_without_a_limit_the_clock_is_not_asked():
    assert not watch.Watch().overdue
    assert not watch.Watch(max_time=1e6).overdue
    assert watch.Watch(max_time=1e-12).overdue
    assert watch.Watch(max_time=1e-12).quiet().overdue


def test_a_bar_shows_each_phase(capsys):
    model = DOGC(3, n_neighbors=10, verbose=1).fit(spread_blobs())
    out, err = capsys.readouterr()
    assert out == ""
    for phase in ("neighbours", "start", "iterations"):
        assert phase in err
    assert f"{model.n_iter_}/100" in err
    assert "3 components, objective" in err


def test_clr_has_a_bar_too(capsys):
    CLR(3, verbose=1).fit(spread_blobs())
    assert "components, objective" in capsys.readouterr().err


def test_phases_are_timed_apart():
    model = DOGC(3, n_neighbors=10).fit(spread_blobs())
    assert set(model.timings_) == {"rows", "neighbours", "start", "iterations"}
    assert all(seconds > 0 for seconds in model.timings_.values())


def test_a_phase_within_a_phase_is_not_counted_twice(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(watch.time, "perf_counter", lambda: next(ticks))
    clock = watch.Watch()
    with clock.phase("outer"), clock.phase("inner"):
        pass
    assert sum(clock.seconds.values()) == next(ticks) - 2


@pytest.mark.parametrize("seconds", [0, -1, "1", np.nan, True])
def test_bad_time(seconds):
    with pytest.raises(ValueError, match="max_time must be a number of seconds above 0"):
        DOGC(3, max_time=seconds).fit(overlapping())


@pytest.mark.parametrize("cls", [DOGC, DOGCOS])
def test_many_new_rows_are_labelled_some_at_a_time(cls, monkeypatch):
    X = overlapping()
    model = cls(3, n_neighbors=10).fit(X)
    whole = model.predict(X)
    monkeypatch.setattr(passes, "CHUNK_ROWS", 7)
    assert np.array_equal(model.predict(X), whole)


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_rows_cover_all_of_them_in_order(threads):
    seen = row_blocks.over_rows(lambda rows: list(range(rows.start, rows.stop)), 23, threads, 5)
    assert [len(rows) for rows in seen] == [5, 5, 5, 5, 3]
    assert [row for rows in seen for row in rows] == list(range(23))
    assert row_blocks.over_rows(lambda rows: rows, 0, threads) == []


def test_a_fit_is_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(row_blocks.over_rows, "__defaults__", (1, 10))
    X = overlapping()
    one, two = (DOGC(3, n_neighbors=10, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.labels_, two.labels_)
