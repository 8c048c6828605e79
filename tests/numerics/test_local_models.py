import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dogc.numerics import local_models

thorough = settings(deadline=None, max_examples=40)

MAKERS = [np.asarray, sp.csr_array, sp.csr_matrix]
SHAPES = [(9, 2, 4), (12, 3, 11), (6, 20, 3), (5, 1, 1), (2, 2, 1)]


def rows_and_neighbours(seed, n, m, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.8)
    idx = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    return X, idx, rng.uniform(0.5, 3.0, n)


def kernel_weights(X, idx, sigma=None, ridge=0.3):
    sigma = np.ones(len(idx)) if sigma is None else sigma
    return local_models.kernel_ridge_weights(X, idx, sigma, ridge)


def linear_weights(X, idx):
    return local_models.linear_ridge_weights(X, idx, 0.3)


BOTH = pytest.mark.parametrize("weights_of", [kernel_weights, linear_weights])


@st.composite
def situations(draw):
    n = draw(st.integers(2, 9))
    k = draw(st.integers(1, n - 1))
    return rows_and_neighbours(draw(st.integers(0, 2**32 - 1)), n, draw(st.integers(1, 12)), k)


# ------------------------------------------------------------------ kernel_ridge_weights


@pytest.mark.parametrize("chunk", [1, 60, 1 << 20])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_weights_match_one_row_after_the_other_in_any_unit(monkeypatch, n, m, k, make, chunk):
    monkeypatch.setattr(local_models, "CHUNK_ELEMENTS", chunk)
    X, idx, sigma = rows_and_neighbours(0, n, m, k)
    for ridge, unit in ((1e-3, 1.0), (1.0, 1e-150), (100.0, 1e150)):
        rows = make(X * unit)
        expected = [reference.kernel_ridge_row(X, i, idx[i], sigma[i], ridge) for i in range(n)]
        weights = local_models.kernel_ridge_weights(rows, idx, sigma * unit, ridge)
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-9)
        if k > 1:
            expected = [reference.linear_ridge_row(X, i, idx[i], ridge) for i in range(n)]
            weights = local_models.linear_ridge_weights(rows, idx, ridge)
            np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-9)


# ------------------------------------------------------------------ linear_ridge_weights


def test_rows_far_apart_have_no_say_in_what_is_rounding_elsewhere():
    X, idx, _ = rows_and_neighbours(2, 8, 2, 4)
    near = linear_weights(1e-20 * X, idx)
    np.testing.assert_allclose(near, linear_weights(X, idx), rtol=0, atol=1e-12)
    both = linear_weights(np.vstack([1e-20 * X, 1e6 + X]), np.vstack([idx, 8 + idx]))
    np.testing.assert_allclose(both[:8], near, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_copies_of_one_column_share_equally(make, value):
    X, idx = np.full((3, 1), value), np.array([[1, 2], [0, 2], [0, 1]])
    np.testing.assert_allclose(linear_weights(make(X), idx), 0.5, rtol=1e-14)
    np.testing.assert_allclose(kernel_weights(make(X), idx), 1 / 2.3, rtol=1e-14)


@pytest.mark.parametrize("k", [3, 5, 7, 10])
def test_neighbours_that_are_copies_of_one_another_share_equally(k):
    idx = np.arange(1, k + 1)[None, :].repeat(k + 1, axis=0)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2, 3))[[0] + [1] * k]
        np.testing.assert_allclose(linear_weights(X, idx)[0], 1.0 / k, rtol=1e-6)


# ------------------------------------------------------------------------- of both models


@BOTH
@thorough
@given(situation=situations(), seed=st.integers(0, 2**32 - 1))
def test_weights_follow_their_neighbours_and_their_rows(weights_of, situation, seed):
    X, idx, _ = situation
    rng = np.random.default_rng(seed)
    weights = weights_of(X, idx)
    places = rng.permutation(idx.shape[1])
    np.testing.assert_allclose(weights_of(X, idx[:, places]), weights[:, places], rtol=0, atol=1e-9)
    order = rng.permutation(len(X))
    renamed = np.argsort(order)[idx[order]]
    np.testing.assert_allclose(weights_of(X[order], renamed), weights[order], rtol=0, atol=1e-9)


@BOTH
@pytest.mark.parametrize("make", MAKERS)
def test_single_precision_rows_lose_no_digits(weights_of, make):
    X, idx, _ = rows_and_neighbours(9, 15, 4, 6)
    X = (100 + X).astype(np.float32)
    weights = weights_of(make(X), idx)
    assert weights.dtype == np.float64
    np.testing.assert_allclose(weights, weights_of(X.astype(float), idx), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------- residual_operator


@pytest.mark.parametrize("make", MAKERS)
def test_rows_out_of_reach_have_no_weight_and_near_copies_come_to_no_harm(make):
    X, idx = np.array([[0.0], [0.1], [1e6]]), np.array([[1, 2], [0, 2], [0, 1]])
    weights = kernel_weights(make(X), idx)
    assert np.array_equal(weights[2], [0.0, 0.0])
    assert np.array_equal(weights[:2, 1], [0.0, 0.0])
    assert not kernel_weights(make(X), idx, np.full(3, 1e-200)).any()
    # Their squared distances are lost to rounding, far from the row.
    X = 1.0 + 1e-10 * np.random.default_rng(12).standard_normal((20, 3))
    X[0] = 0.0
    assert np.isfinite(kernel_weights(X, np.arange(1, 20)[None, :], np.full(1, 1e-10))).all()


@thorough
@given(situations(), st.integers(0, 2**32 - 1))
def test_the_operator_is_the_squared_residual_of_the_predictions(situation, seed):
    _, idx, _ = situation
    rng = np.random.default_rng(seed)
    n, k = idx.shape
    weights, F = rng.standard_normal((n, k)), rng.standard_normal((n, 2))
    T = local_models.residual_operator(idx, weights)
    assert isinstance(T, sp.csr_array)
    T = T.toarray()
    missed = [
        F[i] - sum(w * F[j] for w, j in zip(weights[i], idx[i], strict=True)) for i in range(n)
    ]
    np.testing.assert_allclose(np.trace(F.T @ T @ F), np.sum(np.square(missed)), rtol=1e-10)
    assert np.array_equal(T, T.T)
    assert np.linalg.eigvalsh(T)[0] >= -1e-12 * np.abs(T).max()
