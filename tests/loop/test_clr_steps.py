import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.estimators._clr import given_graph_problem
from dogc.fitting.fixed_graph import GraphSettings
from dogc.loop import methods, objective
from dogc.loop.initial_states import random_starts, spectral_start
from dogc.loop.lambda_search import begin_search
from dogc.loop.steps import step_S, step_S_l1
from graphs import orthonormal
from reference_loop import dense_weights

METHODS = (methods.CLR_L1, methods.CLR_L2)


def random_affinities(rng, n):
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.25)
    W[: n // 6] = 0.0
    W[:, : n // 6] = 0.0  # rows without edges
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    return W


def build(X, kind, c, k=5, bandwidth=None):
    return given_graph_problem(X, GraphSettings(kind, k, bandwidth, None), c)[0]


@st.composite
def situations(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, c = draw(st.integers(12, 40)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["neighbors", "full", "precomputed"]))
    if kind == "precomputed":
        X = random_affinities(rng, n)
    else:
        X = rng.standard_normal((n, 2)) + 3.0 * rng.integers(0, c, size=(n, 1))
        if draw(st.booleans()):
            X[: n // 3] = X[0]  # copies
    bandwidth = draw(st.sampled_from([None, 0.01, 1.0, 100.0]))
    problem = build(X, kind, c, draw(st.integers(1, 8)), bandwidth)
    state = draw(st.sampled_from([spectral_start, lambda p: next(random_starts(p, 1, rng))]))(
        problem
    )
    state = begin_search(problem, state)
    if draw(st.booleans()):
        state = state._replace(F=orthonormal(rng, n, c))
    return problem, state._replace(lam=state.lam * draw(st.sampled_from([1e-3, 0.3, 1.0, 30.0])))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@settings(deadline=None, max_examples=20)
@given(situation=situations())
def test_every_block_stays_feasible_and_on_the_given_edges(method, situation):
    problem, state = situation
    for _ in range(3):
        for step in method.steps:
            state = step(problem, state)
    assert state.graph.S.min() >= 0.0
    np.testing.assert_allclose(state.graph.S.sum(axis=1), 1.0, atol=1e-9)
    assert (state.graph.S[state.graph.idx < 0] == 0.0).all()
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(problem.c), atol=1e-9)
    count, member = reference.components(dense_weights(state, problem.n))
    assert state.graph.n_components == count
    assert np.array_equal(state.graph.member, member)


@pytest.mark.parametrize("kind", ["neighbors", "full", "precomputed"])
def test_the_L1_step_solves_a_linear_program_for_each_row(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 2)) if kind != "precomputed" else random_affinities(rng, 15)
    problem = build(X, kind, 3)
    state = begin_search(problem, spectral_start(problem))
    state = state._replace(F=orthonormal(rng, 15, 3))
    lam = 10.0 * state.lam
    after = step_S_l1(problem, state._replace(lam=lam))
    assert not np.allclose(after.graph.S, problem.candidates.A)
    for i in range(15):
        real = state.graph.idx[i] >= 0
        cost = lam * np.sum((state.F[i] - state.F[state.graph.idx[i, real]]) ** 2, axis=1)
        value = reference.l1_row_value(after.graph.S[i, real], problem.candidates.A[i, real], cost)
        least = reference.l1_row_minimum(problem.candidates.A[i, real], cost)
        np.testing.assert_allclose(value, least, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["neighbors", "precomputed"])
def test_the_L2_deviation_is_the_row_problem_up_to_a_constant(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 2)) if kind == "neighbors" else random_affinities(rng, 20)
    problem = build(X, kind, 3)
    state = begin_search(problem, spectral_start(problem))._replace(F=orthonormal(rng, 20, 3))
    gaps = []
    for lam in (0.0, 0.1, 1.0, 100.0):
        moved = state if lam == 0 else step_S(problem, state._replace(lam=lam))
        rows = objective.graph(problem, moved) + objective.spread(problem, moved)
        gaps.append(rows - objective.deviation_l2(problem, moved))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)
