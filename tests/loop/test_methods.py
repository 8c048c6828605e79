"""How a method takes a start and which labels it ends with."""

import numpy as np
import pytest

from conftest import problem_for
from dogc import CAN, DOGCRelaxed
from dogc.loop import methods, objective
from dogc.loop.initial_states import random_starts, spectral_start
from dogc.loop.state import Nodes
from graphs import orthonormal


@pytest.fixture
def begun(three_blobs):
    problem = problem_for(three_blobs[0], CAN(3, n_neighbors=7))
    return problem, spectral_start(problem)


@pytest.mark.parametrize("massive", [False, True])
def test_a_relaxed_start_agrees_with_F_exactly(three_blobs, massive):
    problem = problem_for(three_blobs[0], DOGCRelaxed(3, n_neighbors=7))
    state = next(random_starts(problem, 1, np.random.default_rng(0)))
    assert not np.allclose(state.Q, np.eye(3))
    if massive:
        mass = np.random.default_rng(0).uniform(0.5, 4.0, 60)
        problem = problem._replace(nodes=Nodes(mass, None, mass=mass, root=np.sqrt(mass)[:, None]))
    relaxed = methods.DOGC_RELAXED.enter(problem, state)
    assert objective.link(problem, relaxed._replace(lam=1.0)) == pytest.approx(0.0, abs=1e-20)
    assert np.array_equal(relaxed.F, state.F)


def test_labels_are_the_components_where_there_are_as_many_as_clusters(begun):
    problem, state = begun
    member = np.arange(60) % 3
    graph = state.graph._replace(member=member, n_components=3)
    state = state._replace(graph=graph, F=orthonormal(np.random.default_rng(0), 60, 3))
    assert np.array_equal(methods.CAN.final_labels(problem, state), member)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_labels_come_from_F_where_components_are_fewer_or_more(begun, three_blobs, count):
    problem, state = begun
    graph = state.graph._replace(member=np.arange(60) % count, n_components=count)
    labels = methods.CAN.final_labels(problem, state._replace(graph=graph))
    assert len({*zip(labels, three_blobs[1], strict=True)}) == len(set(labels)) == 3
