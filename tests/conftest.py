"""Shared pieces of the tests."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal

import numpy as np
import pytest

import dogc
from dogc.fitting.auto.n_components import geometry_of
from dogc.fitting.problems import locate, problem_at
from dogc.fitting.settings import check_settings
from dogc.loop import watch

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows

# Those that learn their graph, those that do not, and all.
ESTIMATORS = (dogc.DOGC, dogc.DOGCOS, dogc.CAN, dogc.PCAN, dogc.DOGCRelaxed, dogc.DOGCFixedGraph)
FITTING = [cls for cls in vars(dogc.estimators).values() if hasattr(cls, "fit_predict")]
BASELINES = tuple(cls for cls in FITTING if cls not in ESTIMATORS)
CLUSTERERS = (*ESTIMATORS, *BASELINES)
# One of each way of a fit: what is the same within a family is tested on these.
NAMES = "DOGC DOGCOS NormalizedCut CLR SEC DiscriminativeKMeans LSC"
FAMILIES = [getattr(dogc, name) for name in NAMES.split()]
# Those that have representatives: one of each family on every push, the others at night.
REPRESENTING = [
    cls if cls in FAMILIES else pytest.param(cls, marks=pytest.mark.slow)
    for cls in CLUSTERERS
    if "n_representatives" in cls().get_params()
]
SHARED_DATA = pathlib.Path(__file__).parents[2] / "shared" / "data"


def made(cls, c, **parameters):
    """An estimator with those of the parameters that its class has."""
    has = cls().get_params()
    return cls(c, **{name: value for name, value in parameters.items() if name in has})


def problem_for(X, estimator):
    """The Problem that an estimator would solve for X."""
    settings = check_settings(estimator.get_params(deep=False), X.shape)
    wanted = settings.wanted
    k = wanted.n_neighbors or min(15, len(X) - 1)
    place = locate(X, np.ones(len(X)), geometry_of(X, wanted.n_components), settings.lookup, k)
    return problem_at(place, settings, wanted.n_clusters, k, estimator.method.regresses)


def refused(says, call, *given, **named):
    """The call raises a ValueError that says so."""
    with pytest.raises(ValueError, match=says):
        call(*given, **named)


@pytest.fixture
def three_blobs():
    """Sixty rows around three far centres, and their centres' numbers."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    return 6.0 * np.eye(3, 4)[truth] + rng.standard_normal((60, 4)), truth


@pytest.fixture
def shared_data():
    """The folder of UCI files; tests that need it are skipped where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(
            f"needs the UCI files in {SHARED_DATA.name}/, which are not part of the package"
        )
    return SHARED_DATA


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window; tests that need it are skipped where it is missing."""
    driven = pytest.importorskip("playwright.sync_api", reason="drives the browser")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("needs chromium on the path")
    with driven.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C as Python has it, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(watch.End, "last_interrupt", -np.inf)
    yield lambda *_: signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)
