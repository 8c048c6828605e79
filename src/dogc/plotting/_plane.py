"""Rows in the plane of the two directions in which they differ most; without matplotlib."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.decomposition import PCA

from ..numerics.matrix import Matrix

# A direct eigenproblem up to this order, Lanczos beyond.
DIRECT_ORDER = 1000


class Plane(NamedTuple):
    """Rows along their main directions."""

    at: np.ndarray  # (n, 2), or (n, 1) if there is only one
    share: list[float]  # of the variance, for each direction


def main_plane(Z: Matrix) -> Plane:
    """Rows along the first two principal directions, or along the only one.

    Examples
    --------
    >>> import numpy as np
    >>> main_plane(np.array([[0.0, 3.0], [4.0, 3.0], [2.0, 3.5]])).at[:, 0].round(2)
    array([-2.,  2.,  0.])
    """
    if sp.issparse(Z) and min(Z.shape) > 2:
        found = PCA(2, svd_solver="arpack", random_state=0).fit(Z)
        return Plane(found.transform(Z), found.explained_variance_ratio_.tolist())
    Z = np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    unit = float(np.abs(Z).max(initial=0.0)) or 1.0  # so that squares cannot overflow
    Z /= unit
    at = Z @ leading_directions(Z)
    total = float(np.vdot(Z, Z)) or 1.0
    return Plane(at * unit, [float(column @ column) / total for column in at.T])


def leading_directions(Z: np.ndarray) -> np.ndarray:
    """The leading right singular vectors of centred rows: two, or one if there is only one."""
    n, d = Z.shape
    if d == 1:
        return np.ones((1, 1))
    if d <= max(DIRECT_ORDER, 2):
        V = np.linalg.eigh(Z.T @ Z)[1][:, :-3:-1]
    elif n <= DIRECT_ORDER:
        V = Z.T @ np.linalg.eigh(Z @ Z.T)[1][:, :-3:-1]
        V /= np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)
    else:
        V = svds(Z, k=2, v0=np.linspace(1.0, 2.0, min(n, d)))[2][::-1].T
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    return V * np.where(largest < 0, -1.0, 1.0)  # a sign that does not depend on the solver


def kept_apart(n: int) -> np.ndarray:
    """Places in [0, 1) for rows that have one direction only, so that none hides the others."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return (np.arange(n) * golden) % 1.0
