import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dogc.fitting.auto import n_clusters as counting
from dogc.fitting.auto import n_components as spectrum


@pytest.mark.parametrize("blocks", [1, 3])
def test_low_eigenvalues_are_those_of_the_dense_matrix(blocks):
    rng = np.random.default_rng(0)
    parts = [rng.random((20, 20)) * (rng.random((20, 20)) < 0.3) for _ in range(blocks)]
    parts = [part + part.T + np.eye(20, k=1) + np.eye(20, k=-1) for part in parts]
    A = sp.csr_array(scipy.linalg.block_diag(*parts))
    dense = A.toarray()
    root = 1.0 / np.sqrt(dense.sum(axis=1))
    expected = np.linalg.eigvalsh(np.eye(len(dense)) - root[:, None] * dense * root)
    np.testing.assert_allclose(counting.low_spectrum(A, 6)[0], expected[:6], atol=1e-6)


def noise(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def variances(X):
    return np.linalg.eigvalsh(np.cov(X.T))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_signal_is_counted_above_noise(m):
    X = 0.3 * noise(400, 50)
    X[:, :m] += 3.0 * noise(400, m, seed=1)
    assert spectrum.signal_dimension(variances(X), 400) == m
    assert spectrum.signal_dimension(1e12 * variances(X), 400) == m


@pytest.mark.parametrize(
    "X",
    [
        noise(400, 20),  # nothing but noise
        noise(400, 5) * [9, 8, 1, 1, 1],  # too few directions to know what noise is
        noise(30, 40) * np.where(np.arange(40) < 2, 9, 1),  # more columns than rows
        np.hstack([9 * noise(400, 2), noise(400, 20), 0.01 * noise(400, 2)]),  # quiet columns
    ],
    ids=["noise", "narrow", "wide", "quiet"],
)
def test_where_the_rest_is_not_plainly_noise_nothing_is_said(X):
    assert spectrum.signal_dimension(variances(X), len(X)) is None
