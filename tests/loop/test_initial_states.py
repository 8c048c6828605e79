"""The start of a run: parts that are drawn, solved, or stay for the whole run."""

import numpy as np
import pytest

import reference
from conftest import problem_for
from dogc import DOGC
from dogc.loop.initial_states import random_starts, spectral_start
from dogc.loop.solver import solve
from dogc.loop.steps import step_S


def noisy_blobs(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [1.0, 1.0, 1.0, 4.0, 4.0]
    X[:, :3] += 8.0 * np.eye(3)[np.arange(n) % 3]
    return X


def squared_distances(X):
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0))
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def test_random_starts_draw_labels_and_rotation_and_nothing_else():
    problem = problem_for(noisy_blobs(), DOGC(3, n_neighbors=8, n_components=2))
    spectral = spectral_start(problem)
    one, other = random_starts(problem, 2, np.random.default_rng(0))
    for state in (one, other):
        np.testing.assert_allclose(state.Q.T @ state.Q, np.eye(3), atol=1e-12)
        assert set(state.Y) == {0, 1, 2}
        for name in ("F", "W", "dx"):
            assert np.array_equal(getattr(state, name), getattr(spectral, name)), name
        assert np.array_equal(state.graph.S, spectral.graph.S)
    assert not np.allclose(one.Q, other.Q)
    assert not np.array_equal(one.Y, other.Y)
    elsewhere = problem_for(noisy_blobs(seed=1), DOGC(3, n_neighbors=8))
    drawn = next(random_starts(elsewhere, 1, np.random.default_rng(0)))
    assert np.array_equal(drawn.Y, one.Y)  # chance alone, whatever the rows are
    assert np.array_equal(drawn.Q, one.Q)


@pytest.mark.parametrize("n_components", [None, 2])
def test_xi_is_measured_in_all_features_and_kept_for_a_run(n_components):
    X, k = noisy_blobs(), 8
    problem = problem_for(X, DOGC(3, n_neighbors=k, n_components=n_components, xi="row"))
    near = np.sort(squared_distances(X), axis=1)[:, 1 : k + 2]
    xi = [reference.neighbour_xi(row, k) for row in near]
    state = solve(problem, DOGC.method, [spectral_start(problem)], max_iter=30, tol=1e-6).state
    idx = state.graph.idx
    df = np.sum((state.F[:, None] - state.F[idx]) ** 2, axis=2)
    d = (state.dx + state.lam * df) / np.array(xi)[:, None]
    S = [reference.project_to_simplex(-row / 2.0) for row in d]
    np.testing.assert_allclose(step_S(problem, state).graph.S, S, atol=1e-9)
    if n_components:  # the distances themselves are those of the subspace
        assert not np.allclose(state.dx, np.take_along_axis(squared_distances(X), idx, 1))


def test_candidates_stay_those_of_all_features_and_lie_as_far_as_in_the_subspace():
    X, k = noisy_blobs(), 8
    problem = problem_for(X, DOGC(3, n_neighbors=k, n_components=2))
    near = np.argsort(squared_distances(X), axis=1)[:, 1 : k + 1]
    state = solve(problem, DOGC.method, [spectral_start(problem)], max_iter=30, tol=1e-6).state
    assert np.array_equal(state.graph.idx, np.sort(near, axis=1))
    Z = problem.subspace.R @ state.W
    expected = reference.pair_distances(Z, Z, state.graph.idx) / np.sum((Z - Z.mean(axis=0)) ** 2)
    np.testing.assert_allclose(state.dx, expected, rtol=1e-9)
