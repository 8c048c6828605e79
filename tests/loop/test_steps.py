import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ESTIMATORS, problem_for
from dogc.loop.steps import step_F
from reference_loop import first_state, total


def build(estimator_class, X, c, k, **parameters):
    known = estimator_class().get_params()
    # Tying small components to others is a constraint that may cost objective when it first bites.
    parameters = {"min_cluster_size": 1} | parameters
    parameters = {name: value for name, value in parameters.items() if name in known}
    estimator = estimator_class(c, n_neighbors=k, **parameters)
    return problem_for(X, estimator), estimator_class.method


@st.composite
def situations(draw):
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(12, 40)), draw(st.integers(1, 6))
    c = draw(st.integers(1, 5))
    X = rng.standard_normal((n, d)) + 3.0 * rng.integers(0, c, size=(n, 1))
    if draw(st.booleans()):
        X[: n // 3] = X[0]  # copies
    parameters = {
        "alpha": draw(st.sampled_from([0.0, 1e-4, 1e-2, 1.0, 100.0])),
        "beta": draw(st.sampled_from([0.0, 0.1, 10.0])),
        "gamma": draw(st.sampled_from([0.0, 1e-3, 1.0])),
        "p": draw(st.sampled_from([0.1, 0.5, 1.0, 1.5, 2.0])),
        "penalties": draw(st.sampled_from(["relative", "paper"])),
        "xi": draw(st.sampled_from(["row", "mean"])),
        "n_components": draw(st.sampled_from([None, 1, d])),
        "fit_intercept": draw(st.booleans()),
    }
    init = draw(st.sampled_from(["spectral", "random"]))
    return X, c, draw(st.integers(2, 8)), parameters, init, seed


@pytest.mark.parametrize("estimator_class", ESTIMATORS, ids=lambda e: e.__name__)
@settings(deadline=None, max_examples=25)
@given(situations())
def test_no_step_raises_the_objective_at_fixed_lambda(estimator_class, situation):
    X, c, k, parameters, init, seed = situation
    problem, method = build(estimator_class, X, c, k, **parameters)
    state = first_state(problem, method, init, seed)
    value = total(problem, method, state)
    for _ in range(4):
        for step in method.steps:
            state = step(problem, state)
            new = total(problem, method, state)
            assert new <= value + 1e-10 * max(abs(value), abs(new)), step.__name__
            value = new
    # Every block is feasible.
    np.testing.assert_allclose(state.graph.S.sum(axis=1), 1.0, atol=1e-9)
    assert state.graph.S.min() >= 0.0
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(c), atol=1e-9)
    np.testing.assert_allclose(state.Q.T @ state.Q, np.eye(c), atol=1e-9)
    if state.W is not None:
        np.testing.assert_allclose(state.W.T @ state.W, np.eye(problem.subspace.m), atol=1e-9)
    if state.Y.ndim == 1:
        assert set(state.Y) == set(range(c))


def test_a_step_touches_only_its_own_block(three_blobs):
    X, _ = three_blobs
    problem, method = build(ESTIMATORS[1], X, 3, 7, n_components=2)
    state = first_state(problem, method, "random", 0)
    own = {
        "step_S": {"graph"},
        "step_F": {"F"},
        "step_W": {"W", "dx"},
        "step_Q": {"Q"},
        "step_restart_regression": {"Q", "Y", "P", "intercept"},
        "step_P": {"P", "intercept"},
        "step_Y_regression": {"Y"},
    }
    for step in method.steps:
        after = step(problem, state)
        changed = {
            name for name in state._fields if getattr(after, name) is not getattr(state, name)
        }
        assert changed <= own[step.__name__]
        state = after


def test_the_printed_weight_of_the_F_step_would_raise_the_objective(three_blobs):
    # eq:11 prints Tr(F'LF) where eq:7 has 2 lambda Tr(F'LF): the slip is real.
    X, _ = three_blobs
    rng = np.random.default_rng(1)
    X = X + 3.0 * rng.standard_normal(X.shape)
    problem, method = build(ESTIMATORS[0], X, 3, 10, alpha=0.03, penalties="paper")
    state = first_state(problem, method, "random", 0)
    for step in method.steps:
        state = step(problem, state)
    meant = step_F(problem, step_F(problem, state))
    printed = step_F(problem, meant._replace(lam=0.5))._replace(lam=state.lam)
    assert total(problem, method, meant) < total(problem, method, state)
    assert total(problem, method, printed) > total(problem, method, meant) * (1 + 1e-6)
