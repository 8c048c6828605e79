"""Costly work is done once: to find neighbours, to scale many rows, to solve the first graph."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from conftest import problem_for
from dogc import DOGC
from dogc.fitting import many, neighbours, scaling
from dogc.loop.initial_states import starts
from dogc.numerics import graph


@pytest.fixture
def counted(monkeypatch):
    """Count the calls of a function, by the shape of its first argument."""

    def count(module, name, *others):
        function, shapes = getattr(module, name), []

        def counting(first, *args, **kwargs):
            shapes.append(getattr(first, "shape", None))
            return function(first, *args, **kwargs)

        for place in (module, *others):
            monkeypatch.setattr(place, name, counting)
        return shapes

    return count


def test_random_starts_share_the_graph_of_the_data(counted, three_blobs):
    problem = problem_for(three_blobs[0], DOGC(3, n_neighbors=8))
    calls = counted(graph, "solve_rows")
    begun = list(starts(problem, "random", 10, np.random.default_rng(0)))
    assert len(begun) == 10
    assert len(calls) == 1
    assert len({state.Y.tobytes() for state in begun}) == 10


@pytest.mark.parametrize("c", [3, pytest.param("auto", marks=pytest.mark.slow)])
def test_many_rows_are_scaled_once_and_the_few_that_choose_once(counted, c):
    X, _ = make_blobs(5_000, centers=3, random_state=0)
    calls = counted(scaling, "scale_rows", many)
    places = counted(neighbours, "neighbours_among")
    DOGC(c, geometry="given").fit(X)
    assert calls.count((5_000, 2)) == 1
    assert len(places) == (c == "auto")
    assert len(calls) == 1 + len(places)
