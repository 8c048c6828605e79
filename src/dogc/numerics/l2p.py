r"""Robust regression of labels on features under an l2,p loss (`eq:27`).

.. math:: \min_{P, b} \sum_i \|y_i - x_i P - b\|_2^p + \gamma \|P\|_F^2, \quad 0 < p \le 2

The weight of row i, :math:`D_{ii} = \tfrac p2 \|r_i\|^{p-2}` (`eq:30`), is infinite where the
residual is zero. Below a floor the power is therefore continued by the parabola that
touches it there; with the loss so defined, reweighting lowers it at every step.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .matrix import Apply, Ended, Matrix, never

RESIDUAL_FLOOR = 1e-4

# Up to this many sparse rows, or columns, a dense factorisation is quicker than gradients.
DIRECT_UP_TO = 2000
# Where conjugate gradients end: residuals in units of the right-hand side, and steps.
# Texts take up to 200 steps; a dense factorisation of 20,000 rows takes minutes.
PRECISE, STEPS = 1e-12, 400
# Steps that are taken even where there is no time.
FEW_STEPS = 5


def loss(squared: np.ndarray, p: float, floor: float = RESIDUAL_FLOOR) -> np.ndarray:
    """``||r||^p`` from squared norms; below the floor, the parabola that touches it.

    Examples
    --------
    >>> import numpy as np
    >>> loss(np.array([4.0, 0.0]), p=1.0, floor=0.5)
    array([2.  , 0.25])
    """
    lifted = np.maximum(squared, floor**2)
    return lifted ** (p / 2) + irls_weights(squared, p, floor) * (squared - lifted)


def irls_weights(squared: np.ndarray, p: float, floor: float = RESIDUAL_FLOOR) -> np.ndarray:
    """The diagonal D of `eq:30` from squared residual norms, finite at zero.

    Examples
    --------
    >>> import numpy as np
    >>> irls_weights(np.array([4.0, 0.0]), p=1.0, floor=0.5)
    array([0.25, 1.  ])
    """
    return (p / 2) * np.maximum(squared, floor**2) ** (p / 2 - 1)


def weighted_ridge(
    X: Matrix,
    Y: np.ndarray,
    weights: np.ndarray,
    gamma: float,
    fit_intercept: bool,
    ended: Ended = never,
) -> tuple[np.ndarray, np.ndarray]:
    r"""The P step `eq:33`: :math:`P = (X^\top D X + \gamma I)^{-1} X^\top D Y`.

    With d > n the same P comes from the n x n dual system
    :math:`P = X^\top (X X^\top + \gamma D^{-1})^{-1} Y`, of which no matrix is formed where X
    is sparse with many rows and columns. The intercept is not penalised: it
    is eliminated by centring with the weighted means. ``gamma`` may be zero; the solution
    of smallest norm is then taken.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    Y : array of shape (n, c)
    weights : array of shape (n,), positive, the diagonal D.
    ended : says whether there is no more time; many sparse rows are left with a rough P then.

    Returns
    -------
    P : array of shape (d, c)
    intercept : array of shape (c,)

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])
    >>> P, intercept = weighted_ridge(X, Y, np.ones(2), 0.0, True)
    >>> np.round([P[0, 0], intercept[0]], 6)
    array([2., 1.])
    """
    n, d = X.shape
    X = X.astype(np.float64)
    share = weights / weights.sum()
    x_mean = share @ X if fit_intercept else np.zeros(d)
    y_mean = share @ Y if fit_intercept else np.zeros(Y.shape[1])
    Yc, offset, root = Y - y_mean, x_mean, np.sqrt(weights)[:, None]
    if not sp.issparse(X):
        X = X - x_mean  # before any product, which would lose digits far from the origin
        X[:, np.abs(X).max(axis=0) <= 8 * np.finfo(float).eps * np.abs(x_mean)] = 0.0
        offset = np.zeros(d)
    dual = None
    if sp.issparse(X) and min(n, d) > DIRECT_UP_TO:
        dual = _dual(X, offset, root, Yc, gamma, ended)
    if dual is None and d > n:
        dual = _dense_dual(X, offset, root, Yc, gamma)
    if dual is not None:
        P = np.asarray(X.T @ dual) - np.outer(offset, dual.sum(axis=0))
    else:
        weighted = sp.dia_array((weights[None, :], [0]), shape=(n, n)) @ X
        gram = _dense(weighted.T @ X)
        scale = float(np.trace(gram))
        if sp.issparse(X):
            gram -= weights.sum() * np.outer(offset, offset)
        P = _solve(gram, gamma, np.asarray(weighted.T @ Yc), scale)
    return P, y_mean - x_mean @ P


def _dense_dual(
    X: Matrix, offset: np.ndarray, root: np.ndarray, Yc: np.ndarray, gamma: float
) -> np.ndarray:
    """The dual solution by the products of all rows, in place as far as can be."""
    kernel = root * _dense(X @ X.T)
    kernel *= root.T
    scale = float(np.trace(kernel))
    if sp.issparse(X):
        cross = np.asarray(X @ offset)
        shift = cross[:, None] + cross[None, :]
        shift -= offset @ offset
        shift *= root
        shift *= root.T
        kernel -= shift
        del shift
    return root * _solve(kernel, gamma, root * Yc, scale)


def _dual(
    X: Matrix, offset: np.ndarray, root: np.ndarray, Yc: np.ndarray, gamma: float, ended: Ended
) -> np.ndarray | None:
    """The dual solution for sparse rows, applied and never formed; None where gamma is too small.

    Weights of rows differ by orders of magnitude, but only along the diagonal, which is divided
    by. So a few dozen steps are enough, unless columns are few beside the rows or gamma is tiny.
    """
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2.0 * np.asarray(X @ offset)
    diagonal = root**2 * (squares + offset @ offset)[:, None]
    if not gamma > 4 * np.finfo(float).eps * len(root) * float(diagonal.sum()):
        return None
    back = X.T.tocsr()

    def system(V: np.ndarray) -> np.ndarray:
        scaled = root * V
        Z = back @ scaled - np.outer(offset, scaled.sum(axis=0))
        return root * (X @ Z - offset @ Z) + gamma * V

    solved = conjugate_gradients(system, root * Yc, diagonal + gamma, ended)
    return None if solved is None else root * solved


def conjugate_gradients(
    apply: Apply, B: np.ndarray, diagonal: np.ndarray, ended: Ended = never
) -> np.ndarray | None:
    """Solve a positive definite system for each column of B; None where it takes too many steps.

    Parameters
    ----------
    apply : the system's matrix times an array of shape (n, c)
    B : array of shape (n, c)
    diagonal : array of shape (n, 1), that of the matrix or something near it, positive.
    ended : says whether there is no more time; what there is after a few steps is returned then.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> conjugate_gradients(lambda V: A @ V, np.array([[3.0], [4.0]]), np.ones((2, 1))).round(9)
    array([[1.],
           [1.]])
    """
    X, R = np.zeros_like(B), B.copy()
    P = R / diagonal
    size = first = np.einsum("ij,ij->j", R, P)
    for i in range(STEPS):
        if (size <= PRECISE**2 * first).all() or (i >= FEW_STEPS and ended()):
            return X
        AP = apply(P)
        bend = np.einsum("ij,ij->j", P, AP)
        step = size / np.where(bend > 0, bend, np.inf)  # a column that is solved stays
        X += step * P
        R -= step * AP
        new = R / diagonal
        last, size = size, np.einsum("ij,ij->j", R, new)
        P = new + size / np.where(last > 0, last, np.inf) * P
    return None


def ridge_map(R: np.ndarray, gamma: float) -> np.ndarray:
    r"""G with :math:`(R G)(R G)^\top = R (R^\top R + \gamma I)^{-1} R^\top`, the ridge smoother.

    What ridge regression on the columns of R leaves of a target y is
    :math:`y - U U^\top y` with :math:`U = R G`; and the rows of U are points whose inner
    products are the kernel :math:`I - (I + R R^\top / \gamma)^{-1}`.

    Parameters
    ----------
    R : array of shape (n, r)
    gamma : ridge penalty, zero or more.

    Examples
    --------
    >>> import numpy as np
    >>> np.abs(ridge_map(np.array([[1.0], [-1.0]]), 2.0))
    array([[0.5]])
    """
    values, vectors = np.linalg.eigh(R.T @ R)
    keep = values > np.finfo(float).eps * len(values) * values[-1:]
    return vectors[:, keep] / np.sqrt(values[keep] + gamma)


def _dense(M: Matrix) -> np.ndarray:
    return M.toarray() if sp.issparse(M) else np.asarray(M)


def _solve(gram: np.ndarray, gamma: float, right: np.ndarray, scale: float) -> np.ndarray:
    """(gram + gamma I)^-1 right; directions lost to rounding are left out, not blown up.

    ``scale`` is the size of what went into the Gram matrix before it was centred. What ``gram``
    holds is lost.
    """
    gram += gram.T
    gram /= 2
    n, trace = len(gram), float(np.trace(gram))
    eps = np.finfo(float).eps
    if gamma > 4 * eps * n * max(trace, scale, np.finfo(float).tiny / eps):
        # The penalty outweighs what rounding leaves: no direction has to be left out.
        gram[np.diag_indices(n)] += gamma
        # Transposed it is the same, and in the order in which LAPACK overwrites it.
        factor = scipy.linalg.cho_factor(gram.T, overwrite_a=True, check_finite=False)
        return scipy.linalg.cho_solve(factor, right, check_finite=False)
    values, vectors = np.linalg.eigh(gram)
    damped = np.maximum(values, 0.0) + gamma
    keep = damped > max(1e-13 * n * damped[-1], eps * n * scale, np.finfo(float).tiny)
    inverse = np.where(keep, 1.0 / np.where(keep, damped, 1.0), 0.0)
    return vectors @ (inverse[:, None] * (vectors.T @ right))
