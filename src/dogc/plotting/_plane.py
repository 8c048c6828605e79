"""Rows in the plane of the two directions in which they differ most; without matplotlib."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA

from ..numerics.matrix import Matrix

# Lanczos beyond this order.
MOST_DIRECT = 1000


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
    if sp.issparse(Z) and min(Z.shape) <= 2:
        Z = Z.toarray()
    unit = 1.0
    if not sp.issparse(Z):
        Z = np.asarray(Z, dtype=np.float64)
        Z = Z - Z.mean(axis=0)
        unit = float(np.abs(Z).max(initial=0.0)) or 1.0  # so that squares cannot overflow
        Z = Z / unit
    two = min(2, *Z.shape)
    solver = "arpack" if min(Z.shape) > MOST_DIRECT or sp.issparse(Z) else "auto"
    found = PCA(two, svd_solver=solver, random_state=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # rows that are all the same
        at = found.fit_transform(Z)
    return Plane(at * unit, np.nan_to_num(found.explained_variance_ratio_).tolist())


def kept_apart(n: int) -> np.ndarray:
    """Places in [0, 1) for rows that have one direction only, so that none hides the others."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return (np.arange(n) * golden) % 1.0
