"""A little of every attack in each run of the tests, much of it in the nightly one."""

import importlib
import itertools

import pytest

from fuzz import harness
from fuzz.__main__ import KINDS

SEED = 20
# Attempts of each kind: a few seconds in every run, some minutes in the nightly one.
FEW = {"arrays": 60, "changes": 40, "files": 60, "model_files": 60, "kills": 3, "interrupts": 6}
MANY = {kind: 30 * few for kind, few in FEW.items()}


def nothing_breaks(kind, numbers, seconds):
    attempt = importlib.import_module(f"fuzz.{kind}").attempt
    found = harness.count(kind, attempt, SEED, numbers, seconds)
    assert found.broken == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_attempts_break_nothing(kind):
    nothing_breaks(kind, range(FEW[kind]), 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_attempts_break_nothing(kind):
    nothing_breaks(kind, range(FEW[kind], MANY[kind]), 600)


def test_what_breaks_is_counted_and_comes_again(tmp_path):
    def attempt(rng, folder):
        (folder / "mine").touch(exist_ok=False)
        if rng.random() < 0.5:
            raise harness.Broken("half of them")
        return "other half"

    found = harness.count("half", attempt, 1, range(40))
    assert found.tried.total() == 40
    assert 0 < len(found.broken) < 40
    for number, _ in found.broken:
        with pytest.raises(harness.Broken, match="half of them"):
            harness.tried(attempt, 1, number)


def test_the_time_limit_ends_it():
    found = harness.count("slow", lambda rng, folder: "one", 0, itertools.count(), 0)
    assert found.tried.total() == 1
