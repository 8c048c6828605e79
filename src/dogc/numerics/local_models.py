r"""Predicting a row from its neighbours: the local part of LL and CLGR.

Row i of the matrix A holds the weights with which a model trained on the neighbours of i
alone predicts at i. The labels F that are predicted best minimise

.. math:: \|F - A F\|_F^2 = \operatorname{Tr}(F^\top (I - A)^\top (I - A) F).

Both models need only inner products of neighbours, taken around the row itself so that
they keep their digits far from the origin.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .matrix import Matrix

# Elements of the largest temporary array.
CHUNK_ELEMENTS = 1 << 20


def kernel_ridge_weights(X: Matrix, idx: np.ndarray, sigma: np.ndarray, ridge: float) -> np.ndarray:
    r"""Kernel ridge regression on the neighbours of each row, evaluated at the row.

    .. math:: a_i = (K_i + \rho I)^{-1} k_i

    where :math:`K_i` is the Gaussian kernel :math:`\exp(-\|x_j - x_l\|^2 / \sigma_i^2)` between
    the neighbours of i and :math:`k_i` that between them and i.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    idx : int array of shape (n, k), the neighbours.
    sigma : array of shape (n,), positive.
    ridge : the penalty :math:`\rho`, positive.

    Returns
    -------
    weights : array of shape (n, k), parallel to ``idx``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.0], [5.0]])
    >>> kernel_ridge_weights(X, np.array([[1], [0], [1]]), np.ones(3), 1.0).round(3)
    array([[0.5],
           [0.5],
           [0. ]])
    """
    weights = np.empty(idx.shape)
    for rows, around in _neighbourhoods(X, idx):
        gram = around @ around.transpose(0, 2, 1)
        own = np.einsum("ijj->ij", gram)
        between = np.maximum(own[:, :, None] + own[:, None, :] - 2.0 * gram, 0.0)
        width = sigma[rows, None]
        with np.errstate(over="ignore"):  # infinitely far at a tiny width is right
            K = np.exp(-between / width[:, :, None] / width[:, :, None])
            right = np.exp(-own / width / width)
        weights[rows] = _ridge_solve(K, np.full(len(K), ridge), right)
    return weights


def linear_ridge_weights(X: Matrix, idx: np.ndarray, ridge: float) -> np.ndarray:
    r"""Linear ridge regression with an intercept on the neighbours, evaluated at the row.

    .. math:: a_i = \tfrac1k 1 + (G_i + \rho_i I)^{-1} g_i, \qquad
              \rho_i = \rho \operatorname{Tr}(G_i) / k

    with :math:`G_i` the inner products of the neighbours around their mean and :math:`g_i`
    those with the row itself. The weights of a row sum to one, so constants are predicted
    without error.

    Parameters
    ----------
    X, idx : as in :func:`kernel_ridge_weights`.
    ridge : the penalty :math:`\rho`, positive, in units of the neighbours' mean scatter.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [-1.0]])
    >>> linear_ridge_weights(X, np.array([[1, 2], [0, 2], [0, 1]]), 1e-6).round(3)
    array([[ 0.5,  0.5],
           [ 2. , -1. ],
           [ 2. , -1. ]])
    """
    weights, k = np.empty(idx.shape), idx.shape[1]
    for rows, around in _neighbourhoods(X, idx):
        mean = around.mean(axis=1, keepdims=True)
        centred = around - mean
        # Neighbours that are copies of one another must not differ by rounding.
        reach = np.abs(around).max(axis=(1, 2), keepdims=True)
        centred[np.abs(centred) <= 8 * np.finfo(float).eps * reach] = 0.0
        gram = centred @ centred.transpose(0, 2, 1)
        # The row is the origin, so as seen from the neighbours' mean it lies at minus the mean.
        own = -np.einsum("ijm,im->ij", centred, mean[:, 0])
        penalty = np.maximum(ridge * np.einsum("ijj->i", gram) / k, np.finfo(float).tiny)
        weights[rows] = 1.0 / k + _ridge_solve(gram, penalty, own)
    return weights


def residual_operator(idx: np.ndarray, weights: np.ndarray) -> sp.csr_array:
    r"""The sparse matrix :math:`T = (I - A)^\top (I - A)`.

    Examples
    --------
    >>> import numpy as np
    >>> residual_operator(np.array([[1], [0]]), np.array([[1.0], [0.0]])).toarray()
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    n, k = idx.shape
    A = sp.csr_array((weights.ravel(), idx.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    residual = (sp.eye_array(n) - A).tocsr()
    T = (residual.T @ residual).tocsr()
    return ((T + T.T) * 0.5).tocsr()


def _neighbourhoods(X: Matrix, idx: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The neighbours of each row, the row being the origin; sparse ones on their own columns."""
    n, k = idx.shape
    if sp.issparse(X):
        X = X.tocsr().astype(np.float64)
        for i in range(n):
            around = (X[idx[i]] - X[np.full(k, i)]).tocsc()
            filled = np.flatnonzero(np.diff(around.indptr))
            yield slice(i, i + 1), around[:, filled if len(filled) else [0]].toarray()[None]
        return
    step = max(1, CHUNK_ELEMENTS // (k * max(k, X.shape[1])))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, X[idx[rows]].astype(np.float64) - X[rows, None, :]


def _ridge_solve(gram: np.ndarray, penalty: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(gram + penalty I)^-1 right, for a stack of small systems."""
    k = gram.shape[1]
    # A penalty below what the products are rounded by would leave a singular system.
    rounding = k * np.finfo(float).eps * np.einsum("ijj->ij", gram).max(axis=1)
    system = gram.copy()
    system[:, np.arange(k), np.arange(k)] += np.maximum(penalty, rounding)[:, None]
    return np.linalg.solve(system, right[:, :, None])[:, :, 0]
