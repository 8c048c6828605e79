"""Rows without clusters, to compare with: a Gaussian that scatters like the data."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ..numerics import graph, principal
from ..numerics.matrix import Matrix


def in_directions(X: Matrix) -> np.ndarray:
    """Centred rows in their leading principal directions, all of them where they are few."""
    if X.shape[1] > principal.DIRECTIONS:
        X = X @ principal.leading_directions(X, np.ones(X.shape[0]), principal.DIRECTIONS).T
    Z = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    return Z - Z.mean(axis=0)


def gaussian_like(Z: np.ndarray) -> np.ndarray:
    """As many rows of a Gaussian that scatters like these, the same every time.

    They are in principal axes: singular values alone have no signs, which LAPACK may choose.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_like(np.array([[-1.0, 0.0], [1.0, 0.0]])).shape
    (2, 2)
    """
    scatter = np.linalg.svd(Z / np.sqrt(len(Z)), compute_uv=False)
    return np.random.default_rng(0).standard_normal((len(Z), len(scatter))) * scatter


def nearest(Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k + 1 nearest others of each row, as far as there are any, and squared distances."""
    k = max(1, min(k, len(Z) - 2))
    d, idx = NearestNeighbors(n_neighbors=k + 1).fit(Z).kneighbors()
    return idx, d**2


def neighbour_graph(Z: np.ndarray, k: int) -> sp.csr_array:
    """The symmetric graph of k neighbours by `eq:10`, each row with a regulariser of its own."""
    idx, d = nearest(Z, k)
    return from_neighbours(idx, d, idx.shape[1] - 1)


def from_neighbours(idx: np.ndarray, d: np.ndarray, k: int) -> sp.csr_array:
    """The same from lists of more than k neighbours and their squared distances."""
    S = graph.solve_rows(d[:, :k], graph.neighbour_xi(d[:, : k + 1], k))
    A = graph.to_csr(idx[:, :k].astype(np.int64), S, len(idx))
    return ((A + A.T) * 0.5).tocsr()
