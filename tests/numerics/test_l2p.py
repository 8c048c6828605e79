import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import l2p

thorough = settings(deadline=None, max_examples=30)

POWERS = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0]

# -------------------------------------------------------------------- loss and irls_weights


@thorough
@given(st.floats(0, 10), st.floats(0.05, 2), st.floats(1e-5, 1))
def test_the_loss_is_the_power_above_the_floor_and_a_parabola_below(norm, p, floor):
    value = l2p.loss(np.array([norm**2]), p, floor)[0]
    np.testing.assert_allclose(value, reference.l2p_loss(norm, p, floor), rtol=1e-10, atol=1e-14)


@thorough
@given(st.floats(1e-4, 100), st.floats(0.05, 2))
def test_above_the_default_floor_the_loss_is_the_papers(norm, p):
    norm = norm * 1.001
    np.testing.assert_allclose(l2p.loss(np.array([norm**2]), p), norm**p, rtol=1e-13)
    weight = l2p.irls_weights(np.array([norm**2]), p)
    np.testing.assert_allclose(weight, 1.0 / (2.0 / p * norm ** (2 - p)), rtol=1e-12)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("floor", [1e-4, 0.1])
def test_the_weight_is_the_derivative_of_the_loss(p, floor):
    squared = (np.array([0.0, 0.3, 0.9, 1.5, 10.0, 1e4]) * floor) ** 2
    step = 1e-5 * np.maximum(squared, floor**2)
    slope = (l2p.loss(squared + step, p, floor) - l2p.loss(squared - step, p, floor)) / (2 * step)
    np.testing.assert_allclose(l2p.irls_weights(squared, p, floor), slope, rtol=1e-5)


@pytest.mark.parametrize("p", POWERS)
def test_a_residual_of_zero_is_finite_and_the_least(p):
    squared = np.array([0.0, 1e-20, 1e-9, 1e-8, 1e-4, 1.0])
    values, weights = l2p.loss(squared, p), l2p.irls_weights(squared, p)
    assert np.isfinite(values).all()
    assert np.isfinite(weights).all()
    assert (weights > 0).all()
    assert values[0] >= 0
    assert (np.diff(values) >= 0).all()
    assert (np.diff(weights) <= 0).all()
    assert weights[0] == weights[1] == weights[2]


def test_a_power_of_zero_would_leave_every_row_without_weight():
    # Of eq:27's powers from 0 to 2 the first is refused: with D = 0 eq:33 has no labels in it.
    assert not l2p.irls_weights(np.array([0.0, 1e-9, 1.0, 4.0]), 0.0).any()


@thorough
@given(st.floats(0, 4), st.floats(0, 4), st.sampled_from(POWERS))
def test_the_tangent_lies_above_the_loss(here, there, p):
    # What makes reweighting descend: the loss is concave in the squared norm.
    at, other = np.array([here**2]), np.array([there**2])
    tangent = l2p.loss(at, p) + l2p.irls_weights(at, p) * (other - at)
    assert l2p.loss(other, p) <= tangent + 1e-12 * np.abs(tangent) + 1e-15


# -------------------------------------------------------------------------- weighted_ridge


def problem(seed, n, d, c=3):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)) + 1.0, rng.standard_normal((n, c)) + 2.0
    return X, Y, rng.uniform(0.2, 5.0, n)


SHAPES = [(20, 4), (12, 12), (6, 15), (1, 3)]
MAKERS = [np.asarray, sp.csr_array, sp.csr_matrix]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("gamma", [1e-3, 100.0])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_the_normal_equations_are_solved_and_the_intercept_is_a_column_of_ones(n, d, gamma, make):
    X, Y, weights = problem(1, n, d)
    P, intercept = l2p.weighted_ridge(make(X), Y, weights, gamma, False)
    expected = reference.weighted_ridge(X, Y, weights, gamma)
    np.testing.assert_allclose(P, expected, rtol=0, atol=1e-9)
    assert np.array_equal(intercept, np.zeros(3))
    found = l2p.weighted_ridge(make(X), Y, weights, gamma, True)
    expected = reference.weighted_ridge_with_intercept(X, Y, weights, gamma)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kind", ["tall", "wide", "tall of low rank", "wide of low rank"])
def test_without_penalty_the_smallest_solution_is_taken(kind, fit_intercept):
    n, d = (15, 5) if kind.startswith("tall") else (6, 14)
    X, Y, weights = problem(3, n, d)
    if kind.endswith("low rank"):
        X[:, 2:] = X[:, :2] @ np.random.default_rng(4).standard_normal((2, d - 2))
    P, intercept = l2p.weighted_ridge(X, Y, weights, 0.0, fit_intercept)
    share = weights / weights.sum()
    x_mean = share @ X if fit_intercept else np.zeros(d)
    y_mean = share @ Y if fit_intercept else np.zeros(3)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * (X - x_mean), root * (Y - y_mean), rcond=1e-10)[0]
    np.testing.assert_allclose(P, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(intercept, y_mean - x_mean @ expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (3, 30)])
def test_rows_far_from_the_origin_are_centred_first(n, d):
    X, Y, weights = problem(11, n, d)
    P, _ = l2p.weighted_ridge(X, Y, weights, 1e-3, True)
    moved_P, _ = l2p.weighted_ridge(X + 2.0**20, Y, weights, 1e-3, True)
    np.testing.assert_allclose(moved_P, P, rtol=0, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", [(18, 30), (30, 18)], ids=["wide", "tall"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_without_a_matrix_give_the_same(fit_intercept, shape, kind, monkeypatch):
    X, Y, weights = problem(18, *shape)
    weights = weights * 10.0 ** np.linspace(-2, 3, len(weights))
    direct = l2p.weighted_ridge(sp.csr_array(X), Y, weights, 0.1, fit_intercept)
    monkeypatch.setattr(l2p, "DIRECT_UP_TO", 0)
    monkeypatch.setattr(l2p, "_solve", None)  # not asked
    applied = l2p.weighted_ridge(kind(X), Y, weights, 0.1, fit_intercept)
    for one, other in zip(direct, applied, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


def test_a_penalty_below_rounding_is_left_to_the_dense_solution(monkeypatch):
    X, Y, weights = problem(18, 6, 15)
    direct = l2p.weighted_ridge(sp.csr_array(X), Y, weights, 0.0, True)
    monkeypatch.setattr(l2p, "DIRECT_UP_TO", 0)
    for steps in (l2p.STEPS, 0):
        monkeypatch.setattr(l2p, "STEPS", steps)
        again = l2p.weighted_ridge(sp.csr_array(X), Y, weights, 0.0 if steps else 1e-9, True)
        np.testing.assert_allclose(direct[0], again[0], rtol=0, atol=1e-6)


# ----------------------------------------------------------------------------- reweighting


def regression_data(kind):
    rng = np.random.default_rng(13)
    n, d = (8, 20) if kind.startswith("wide") else (40, 4)
    X = rng.standard_normal((n, d))
    Y = reference.one_hot(rng.integers(0, 3, n), 3)
    if kind.endswith("fitted exactly"):
        Y = X @ rng.standard_normal((d, 3)) + 0.5
    if kind == "labels fitted exactly by most":
        labels = np.arange(n) % 3
        X = np.hstack([reference.one_hot(labels, 3), rng.standard_normal((n, 1))])
        Y = reference.one_hot(labels, 3)
        Y[:5] = np.roll(Y[:5], 1, axis=1)
    return X, Y


KINDS = ["labels", "labels fitted exactly by most", "wide labels", "wide fitted exactly"]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 1e-3])
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("kind", KINDS)
def test_reweighting_never_raises_the_objective(kind, p, gamma, fit_intercept):
    X, Y = regression_data(kind)
    P, intercept = np.zeros((X.shape[1], 3)), np.zeros(3)
    values = []
    for _ in range(25):
        residual = Y - X @ P - intercept
        squared = np.sum(residual**2, axis=1)
        values.append(l2p.loss(squared, p).sum() + gamma * np.sum(P**2))
        P, intercept = l2p.weighted_ridge(X, Y, l2p.irls_weights(squared, p), gamma, fit_intercept)
    floor = l2p.RESIDUAL_FLOOR
    last = reference.regression_objective(X, Y, P, intercept, p, gamma, floor)
    values = np.array([*values, last])
    assert (values[1:] <= values[:-1] * (1 + 1e-10) + 1e-15 * values[0]).all()
    assert last < values[0]


# ------------------------------------------------------------------------------- ridge_map


@thorough
@given(st.integers(1, 8), st.integers(1, 8), st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_the_map_squares_to_the_ridge_smoother(n, r, gamma, seed):
    R = np.random.default_rng(seed).standard_normal((n, r))
    U = R @ l2p.ridge_map(R, gamma)
    smoother = R @ np.linalg.inv(R.T @ R + gamma * np.eye(r)) @ R.T
    np.testing.assert_allclose(U @ U.T, smoother, rtol=0, atol=1e-9)
    kernel = np.eye(n) - np.linalg.inv(np.eye(n) + R @ R.T / gamma)
    np.testing.assert_allclose(U @ U.T, kernel, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n", "r", "rank"), [(9, 3, 3), (4, 7, 4), (9, 5, 2), (5, 3, 0)])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_without_penalty_the_smoother_projects_on_the_columns(n, r, rank, scale):
    rng = np.random.default_rng(16)
    R = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, r))
    G = l2p.ridge_map(R * scale, 0.0)
    assert G.shape == (r, rank)
    U = (R * scale) @ G
    np.testing.assert_allclose(U.T @ U, np.eye(rank), rtol=0, atol=1e-9)
    np.testing.assert_allclose(U @ (U.T @ R), R, rtol=0, atol=1e-9)
