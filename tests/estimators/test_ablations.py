"""Parts of DOGC-OS that the two ablations leave out, and parts that they keep."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import reference
from conftest import problem_for
from dogc import DOGCOS, DOGCFixedGraph, DOGCRelaxed
from dogc.fitting.auto.task import Task
from dogc.loop import objective
from dogc.loop.initial_states import spectral_start
from dogc.loop.lambda_search import begin_search
from dogc.loop.solver import solve
from dogc.loop.steps import regression_weights, step_Y_relaxed


def overlapping(seed=0, n=90):
    rng = np.random.default_rng(seed)
    return 2.0 * np.eye(3, 4)[np.arange(n) % 3] + rng.standard_normal((n, 4))


def test_dogc_i_is_dogc_os_with_labels_that_may_be_any_numbers():
    problem = problem_for(overlapping(), DOGCRelaxed(3, n_neighbors=8, alpha=0.5, beta=1.0))
    method = DOGCRelaxed.method
    assert method.terms == DOGCOS.method.terms
    state = solve(problem, method, [spectral_start(problem)], max_iter=20, tol=1e-4).state
    assert np.array_equal(state.Q, np.eye(3))
    assert state.Y.shape == (problem.n, 3)
    # No Y is better for the weights of the reweighted loss: its slope there is zero.
    weights = regression_weights(problem, state)[:, None]
    state = step_Y_relaxed(problem, state)
    alpha, beta, _ = problem.weights(state.lam)
    slope = alpha * (state.Y - state.F)
    slope += beta * weights * (state.Y - objective.prediction(problem, state))
    np.testing.assert_allclose(slope, 0.0, atol=1e-12 * alpha)


def test_dogc_i_is_read_by_kmeans():
    model = DOGCRelaxed(4, n_neighbors=8)
    problem = problem_for(overlapping(), model)
    state = begin_search(problem, spectral_start(problem))
    Y = np.random.default_rng(0).standard_normal((problem.n, 4))
    result = solve(problem, model.method, [state], max_iter=1, tol=1e-4)
    result = result._replace(state=result.state._replace(Y=Y))
    expected = KMeans(4, n_init=10, random_state=0).fit(Y).labels_
    found = Task(None, model.method, 0, None).discretise(problem, result.state)
    assert adjusted_rand_score(found, expected) == 1.0


@pytest.mark.parametrize("xi", ["mean", "row"])
def test_dogc_ii_keeps_the_graph_that_solves_the_row_problem_at_lambda_zero(xi):
    X, k = overlapping(), 8
    given = {} if xi == "mean" else {"xi": xi}  # eq:25 is the default
    model = DOGCFixedGraph(3, n_neighbors=k, geometry="given", n_components=None, **given).fit(X)
    assert model.n_iter_ > 1
    centred = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0))
    D = ((centred[:, None] - centred[None]) ** 2).sum(axis=2)
    near = np.argsort(D, axis=1)[:, 1 : k + 2]
    own = np.array([reference.neighbour_xi(D[i, near[i]], k) for i in range(len(X))])
    own = np.full(len(X), own.mean()) if xi == "mean" else own
    S = np.zeros(D.shape)
    for i, row in enumerate(near[:, :k]):
        S[i, row] = reference.project_to_simplex(-D[i, row] / (2 * own[i]))
    np.testing.assert_allclose(model.similarity_matrix_.toarray(), S, atol=1e-8)
