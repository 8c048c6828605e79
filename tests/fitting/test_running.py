"""What a fit does beside the numbers: time, interrupts, progress."""

import functools
import itertools
import re
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError

from conftest import made
from dogc import CAN, CLR, DOGC, DOGCOS
from dogc.estimators import _base
from dogc.fitting import (
    distinct,
    links,
    neighbours,
    outlier_scores,
    passes,
    sampling,
)
from dogc.fitting.auto import many_rows, n_clusters, solving_rows, task
from dogc.loop import steps, watch
from dogc.numerics import eigen, graph, l2p, lloyd, row_blocks


def spread_blobs():
    return make_blobs(90, centers=[[0, 0], [4, 0], [2, 4]], cluster_std=0.6, random_state=0)[0]


def overlapping(n=300):
    X, _ = make_blobs(n, centers=3, cluster_std=2.5, random_state=2)
    return X


class Clock:
    """A clock that stands still until it jumps."""

    now = 0.0

    def __call__(self):
        return self.now

    def jump(self):
        self.now += 2.0


class AtCall:
    """A function that does something beside when it is called for the so-manyth time."""

    def __init__(self, number, action, function):
        self.number, self.action, self.function, self.calls = number, action, function, 0

    def __call__(self, *arguments, **named):
        self.calls += 1
        if self.calls == self.number:
            self.action()
        return self.function(*arguments, **named)


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN, CLR])
def test_an_interrupt_in_the_loop_ends_it_after_the_iteration(cls, monkeypatch, ctrl_c):
    monkeypatch.setattr(steps, "with_graph", AtCall(2, ctrl_c, steps.with_graph))
    with pytest.warns(match="interrupted; labels are the best found until then"):
        model = made(cls, 3, n_neighbors=10, tol=0.0).fit(overlapping())
    assert model.stopping_reason_ == "interrupted"
    assert not model.converged_
    assert model.n_iter_ >= 1
    assert len(np.unique(model.labels_)) == 3
    assert model.predict(overlapping()).shape == (300,)


def test_an_interrupt_at_the_very_end_is_not_lost(monkeypatch, ctrl_c):
    monkeypatch.setattr(_base, "follow", AtCall(1, ctrl_c, _base.follow))
    with pytest.warns(match="interrupted"):
        model = DOGC(3, n_neighbors=10).fit(spread_blobs())
    assert model.stopping_reason_ == "interrupted"
    assert len(np.unique(model.labels_)) == 3


def test_a_second_interrupt_raises_at_once(ctrl_c):
    seen = []

    def twice(record):
        ctrl_c()
        seen.append(record)
        ctrl_c()
        seen.append(record)

    model = DOGC(3, n_neighbors=10, callback=twice)
    with pytest.raises(KeyboardInterrupt):
        model.fit(overlapping())
    assert len(seen) == 1
    with pytest.raises(NotFittedError):
        model.predict(overlapping())


def test_a_loop_over_fits_is_left_by_a_second_interrupt(ctrl_c, monkeypatch):
    model = DOGC(3, n_neighbors=10, callback=ctrl_c)
    with pytest.warns(match="interrupted"):
        model.fit(overlapping())
    with pytest.raises(KeyboardInterrupt):
        model.fit(overlapping())
    monkeypatch.setattr(watch.End, "last_interrupt", time.monotonic() - 2 * watch.TWICE)
    with pytest.warns(match="interrupted"):
        model.fit(overlapping())


def test_somebody_elses_handler_and_other_threads_are_left_alone(ctrl_c):
    def own(*_):
        raise ValueError("mine")

    signal.signal(signal.SIGINT, own)
    try:
        with pytest.raises(ValueError, match="mine"):
            DOGC(3, n_neighbors=10, callback=ctrl_c).fit(spread_blobs())
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    found = []

    def see(record):
        found.append(signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    model = DOGC(3, n_neighbors=10, callback=see)
    thread = threading.Thread(target=model.fit, args=(spread_blobs(),))
    thread.start()
    thread.join()
    assert found
    assert all(found)
    assert model.converged_


# Where in a fit of few rows, of sparse ones and of many, by what is done there.
MOMENTS = {
    "rows": (distinct, "distinct_rows"),
    "scales": (task, "geometry_of"),
    "search": (neighbours, "fit_index"),
    "start": (task, "spectral_start"),
    "S": (graph, "solve_rows"),
    "eigenvectors": (eigen, "_levels"),
    "counts": (n_clusters, "firmness"),
    "draw": (sampling, "smallest_keys"),
    "means": (lloyd, "cells"),
    "links": (links, "link_rows"),
    "labels": (outlier_scores, "fitted_scores"),
}


@pytest.fixture
def small(monkeypatch):
    """What is many rows, or long, begins early."""
    for module, name, number in (
        (solving_rows, "FEW_ROWS", 150),
        (task, "SAMPLE_ROWS", 80),
        (neighbours, "QUERY_ROWS", 64),
        (l2p, "DIRECT_UP_TO", 50),
        (eigen, "QUICK_UP_TO", 40),
        (n_clusters, "MOST", 8),
        (many_rows, "FEW_ROWS", 300),
    ):
        monkeypatch.setattr(module, name, number)


def fits():
    """A fit of few rows, one of many and one of sparse rows without representatives."""
    rng = np.random.default_rng(0)
    text = sp.random_array((200, 2500), density=0.01, rng=rng, format="csr")
    return {
        "few": (DOGCOS("auto", max_iter=5), overlapping(60)),
        "many": (DOGC(2, max_iter=5), make_moons(1500, noise=0.08, random_state=0)[0]),
        "sparse": (DOGCOS(3, max_iter=5, n_jobs=2), text),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reason", ["interrupted", "max_time"])
@pytest.mark.parametrize("name", ["few", "many", "sparse"])
def test_there_are_labels_whenever_a_fit_is_ended(name, reason, monkeypatch, ctrl_c, small):
    model, X = fits()[name]
    whole = clone(model).fit(X).labels_
    reached = []
    for moment, (module, function) in MOMENTS.items():
        clock = Clock()
        action = ctrl_c if reason == "interrupted" else clock.jump
        spied = AtCall(1, action, getattr(module, function))
        monkeypatch.setattr(watch.End, "last_interrupt", -np.inf)
        with monkeypatch.context() as patch:
            patch.setattr(_base, "Watch", functools.partial(watch.Watch, clock=clock))
            patch.setattr(module, function, spied)
            found = clone(model).set_params(max_time=1.0).fit(X)
        if spied.calls:
            reached.append(moment)
            assert found.stopping_reason_ == reason
        assert found.labels_.min() >= 0
        assert np.array_equal(found.labels_, whole) or spied.calls
        assert found.predict(X).shape == found.labels_.shape == (X.shape[0],)
    assert len(reached) >= 6, reached
    assert np.array_equal(clone(model).fit(X).labels_, whole)


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

    ticks = itertools.count()
    late = functools.partial(watch.Watch, clock=lambda: next(ticks))
    monkeypatch.setattr(_base, "Watch", late)
    with pytest.warns(match="max_time"):
        model = DOGC(3, max_time=9.5).fit(X)
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


def test_a_bar_says_what_is_tried(capsys):
    """Choices are made by quiet watches too; the bar that is seen tells of them."""
    X, _ = make_blobs(3500, centers=3, random_state=0)
    DOGC("auto", verbose=1).fit(X)
    said = capsys.readouterr().err
    for words in ("1 to 60 clusters", "3 clusters", "spectral start, scale 2 of 4"):
        assert f"choices: {words} [" in said
    assert re.search(r"choices: spectral start, \d+ representatives \[", said)
    DOGC("auto", verbose=1).fit(X[:300])
    said = capsys.readouterr().err
    assert "choices: 3 clusters [" in said
    assert "start: spectral start, scale 2 of 4 [" in said
    watch.Watch(verbose=1).trying("nothing")  # no phase, no bar
    assert capsys.readouterr().err == ""


def test_clr_has_a_bar_too(capsys):
    CLR(3, verbose=1).fit(spread_blobs())
    assert "components, objective" in capsys.readouterr().err


def test_phases_are_timed_apart():
    model = DOGC(3, n_neighbors=10).fit(spread_blobs())
    assert set(model.timings_) == {"rows", "neighbours", "start", "iterations"}
    assert all(seconds > 0 for seconds in model.timings_.values())


def test_a_phase_within_a_phase_is_not_counted_twice():
    ticks = itertools.count()
    clock = watch.Watch(clock=lambda: next(ticks))
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
