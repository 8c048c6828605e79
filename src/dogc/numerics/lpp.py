r"""Locality preserving projection: the generalised eigenproblem in the row space.

.. math:: X^\top L X a = \mu X^\top D X a

(He and Niyogi, NIPS 2003, with rows of X as samples.)
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .matrix import Matrix


def locality_projection(
    R: np.ndarray, L: Matrix, degree: np.ndarray, m: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bottom eigenpairs of :math:`R^\top L R a = \mu R^\top D R a`.

    Parameters
    ----------
    R : array of shape (n, r) of full column rank, such as row-space coordinates; with them
        both matrices are regular and it does not matter how many features there were.
    L : sparse Laplacian of shape (n, n)
    degree : array of shape (n,), the diagonal D, non-negative.
    m : number of pairs, at most r.

    Returns
    -------
    a : array of shape (r, m), with a' R'DR a = I.
    mu : array of shape (m,), ascending.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> R = np.array([[-1.0], [1.0]])
    >>> L = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> locality_projection(R, L, np.ones(2), 1)[1]
    array([2.])
    """
    scatter = R.T @ (L @ R)
    total = R.T @ (degree[:, None] * R)
    if not total.any():
        total = R.T @ R  # no edges between rows that differ, no preference: all weigh alike
    # Rows without edges weigh nothing in D; directions that only they span are regularised, by
    # more than the rounding of sums over all rows can take away.
    floor = np.finfo(float).eps * sum(R.shape) * np.trace(total) or 1.0
    total[np.diag_indices_from(total)] += floor
    mu, a = scipy.linalg.eigh((scatter + scatter.T) / 2, total)
    return a[:, :m], mu[:m]
