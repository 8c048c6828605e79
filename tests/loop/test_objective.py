import numpy as np
import pytest

import reference_loop
from conftest import problem_for
from dogc import DOGCOS
from dogc.loop import objective
from dogc.loop.initial_states import spectral_start
from dogc.loop.lambda_search import begin_search
from dogc.loop.steps import step_P


@pytest.mark.parametrize("n_components", [None, 2])
def test_every_term_equals_the_dense_formula(three_blobs, n_components):
    X, _ = three_blobs
    X = X + 2.0 * np.random.default_rng(1).standard_normal(X.shape)  # one component: no term is 0
    estimator = DOGCOS(
        3, n_neighbors=7, n_components=n_components, alpha=0.3, beta=2.0, gamma=0.5, p=1.3
    )
    problem = problem_for(X, estimator)
    state = step_P(problem, begin_search(problem, spectral_start(problem)))
    coordinates, W, P = problem.nodes.coordinates, None, state.P
    if n_components:
        # Row-space coordinates are a rotation of the scaled rows: the terms do not notice.
        coordinates, W = problem.subspace.R, state.W
        P = np.linalg.lstsq(problem.subspace.R, problem.regression.X @ state.P, rcond=None)[0]
    expected = reference_loop.objective_terms(
        coordinates,
        reference_loop.dense_weights(state, problem.n),
        problem.candidates.xi,
        state,
        W,
        problem.weights(state.lam),
        problem.regression.p,
        P,
    )
    for name, value in expected.items():
        assert value > 0, name
        assert getattr(objective, name)(problem, state) == pytest.approx(value, rel=1e-8), name
