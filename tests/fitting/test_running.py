"""A fit beside the numbers: time, interrupts, progress."""

import functools
import itertools
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import dogc
from conftest import made, refused
from dogc import CAN, CLR, DOGC, DOGCOS
from dogc.estimators import _base
from dogc.loop import steps, watch
from dogc.numerics import matrix


def spread_blobs():
    return make_blobs(90, centers=[[0, 0], [4, 0], [2, 4]], cluster_std=0.6, random_state=0)[0]


def overlapping(n=300):
    X, _ = make_blobs(n, centers=3, cluster_std=2.5, random_state=2)
    return X


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


class Seen(list):
    """A callback of scikit-learn's: what it is told, and the iteration that ends a run."""

    end = None

    def setup(self, estimator, context):
        self.append("setup")

    def teardown(self, estimator, context):
        self.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        fitted = "" if fitted_estimator is None else ", fitted"
        self.append(f"end {context.task_name}{fitted}")
        return context.task_name == "iteration" and context.task_id == self.end


@pytest.mark.parametrize("cls", [DOGC, CLR])
def test_callbacks_of_scikit_learn_see_every_iteration_and_may_end_the_run(cls, tmp_path):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks first")
    seen, X = Seen(), spread_blobs()
    model = cls(3, n_neighbors=10).set_callbacks(seen).fit(X)
    iterations = ["begin iteration", "end iteration"] * model.n_iter_
    assert seen == ["setup", "begin fit", *iterations, "end fit, fitted", "teardown"]
    assert (model.labels_ == cls(3, n_neighbors=10).fit(X).labels_).all()
    seen.clear()
    if cls is DOGC:
        assert model.score(X) == 1.0
    assert "_skl_callbacks" not in vars(dogc.load(dogc.save(model, tmp_path / "model.skops")))
    assert seen == []  # neither told of another fit nor in a file
    seen.end = 0
    assert model.fit(X).stopping_reason_ == "callback"
    assert model.n_iter_ == 1
    refused("NaN", model.fit, np.full((9, 2), np.nan))


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
    monkeypatch.setattr(watch, "TWICE", 600.0)  # however slow the machine is
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
        refused("mine", DOGC(3, n_neighbors=10, callback=ctrl_c).fit, spread_blobs())
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


@pytest.mark.parametrize("seconds", [0, -1, "1", np.nan, True])
def test_bad_time(seconds):
    with pytest.raises(ValueError, match="max_time must be None or a finite number above 0"):
        DOGC(3, max_time=seconds).fit(overlapping())


def test_a_fit_is_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(matrix.over_rows, "__defaults__", (1, 10))
    X = overlapping()
    one, two = (DOGC(3, n_neighbors=10, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.labels_, two.labels_)
