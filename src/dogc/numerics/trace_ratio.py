r"""The projection: a trace ratio in the row space of the data.

.. math:: \min_{W^\top W = I_m}
          \frac{\operatorname{Tr}(W^\top X^\top L_S X W)}{\operatorname{Tr}(W^\top X^\top H X W)}

(`eq:12.5`, with rows of X as samples and H the centring matrix). Directions outside the row space
of the centred X have neither numerator nor denominator; left in, they would fill W up
for free. So the problem is solved in coordinates R of the row space, X_c = R V', which
also is what makes d > n cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .matrix import Matrix


class RowSpace(NamedTuple):
    """Centred rows X_c = R V': coordinates R (n, r), basis V (d, r), both of rank r."""

    R: np.ndarray
    V: np.ndarray


def row_space(X: Matrix, mean: np.ndarray) -> RowSpace:
    """Coordinates of the rows of X - mean in an orthonormal basis of their span.

    Works with the smaller of the two Gram matrices, d x d or, when d > n, n x n (X itself
    is larger then).

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    mean : array of shape (d,), the mean of the rows of X.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]])
    >>> R, V = row_space(X, X.mean(axis=0))
    >>> np.abs(R).ravel(), np.abs(V).ravel()
    (array([1., 1.]), array([1., 0., 0.]))
    """
    n, d = X.shape
    largest = float(abs(X).max())
    rounding = n * d * (4.0 * np.finfo(np.float64).eps * largest) ** 2
    # Sparse rows are centred only in products, unless they are to be made dense anyway.
    if sp.issparse(X) and d <= n:
        X = X.astype(np.float64)
        gram = (X.T @ X).toarray()
        rounding = d * np.finfo(np.float64).eps * np.trace(gram)
        gram -= n * np.outer(mean, mean)
        _, V = _positive_part(gram, rounding)
        return RowSpace(np.asarray(X @ V) - mean @ V, V)
    centred = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    centred -= mean
    if d <= n:
        _, V = _positive_part(centred.T @ centred, rounding)
        return RowSpace(centred @ V, V)
    squares, U = _positive_part(centred @ centred.T, rounding)
    turned = centred.T @ (U / np.sqrt(squares))
    del centred
    V, rotation = np.linalg.qr(turned)
    return RowSpace((U * np.sqrt(squares)) @ rotation.T, V)


def _positive_part(gram: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of a Gram matrix above rounding, largest first; what it holds is lost."""
    gram += gram.T
    gram /= 2
    values, vectors = np.linalg.eigh(gram)
    keep = values > max(rounding, 1e-12 * values[-1] * len(values))
    return values[keep][::-1], vectors[:, keep][:, ::-1]


def trace_ratio(
    A: np.ndarray, B: np.ndarray, W: np.ndarray, *, max_iter: int = 100, tol: float = 1e-12
) -> np.ndarray:
    r"""Minimise Tr(W'AW) / Tr(W'BW) over orthonormal W, from the given W.

    The fixed point of `eq:14`: W takes the bottom eigenvectors of A - rho B, rho the ratio
    at the last W. It is Newton's method on a convex function of rho, falls at every step
    and ends at the global optimum.

    Parameters
    ----------
    A, B : symmetric arrays of shape (r, r), B positive definite.
    W : array of shape (r, m), m <= r.

    Examples
    --------
    >>> import numpy as np
    >>> W = trace_ratio(np.diag([4.0, 1.0]), np.eye(2), np.array([[1.0], [0.0]]))
    >>> np.abs(W).ravel()
    array([0., 1.])
    """
    m = W.shape[1]
    ratio = ratio_at(A, B, W)
    for _ in range(max_iter):
        V = np.linalg.eigh(A - ratio * B)[1][:, :m]  # all: the search for some can fail
        new = ratio_at(A, B, V)
        if new >= ratio:  # rounding level: keep the better one
            break
        W, ratio, gained = V, new, ratio - new
        if gained <= tol * abs(ratio):
            break
    return W


def ratio_at(A: np.ndarray, B: np.ndarray, W: np.ndarray) -> float:
    """Tr(W'AW) / Tr(W'BW).

    Examples
    --------
    >>> import numpy as np
    >>> ratio_at(np.diag([4.0, 1.0]), np.eye(2), np.array([[1.0], [0.0]]))
    4.0
    """
    return float(np.vdot(W, A @ W) / np.vdot(W, B @ W))


def complete_basis(W: np.ndarray, m: int) -> np.ndarray:
    """Add orthonormal columns until W has m: n_components beyond the rank of the data.

    Examples
    --------
    >>> import numpy as np
    >>> np.abs(complete_basis(np.array([[0.0], [1.0]]), 2)).round(6)
    array([[0., 1.],
           [1., 0.]])
    """
    d, have = W.shape
    if m <= have:
        return W
    Q, _ = np.linalg.qr(np.hstack([W, np.eye(d, min(d, have + m))]))
    return np.hstack([W, Q[:, have:m]])


def settle_signs(W: np.ndarray) -> np.ndarray:
    """Flip columns so that the largest entry of each is positive: signs carry no meaning.

    Examples
    --------
    >>> import numpy as np
    >>> settle_signs(np.array([[0.6], [-0.8]])).ravel().tolist()
    [-0.6, 0.8]
    """
    largest = np.abs(W).argmax(axis=0)
    signs = np.sign(W[largest, np.arange(W.shape[1])])
    return W * np.where(signs == 0, 1.0, signs)
