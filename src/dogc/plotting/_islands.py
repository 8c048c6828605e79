"""A learned graph in the plane: each cluster an island, laid out by its own edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh

from ._plane import kept_apart, main_plane

# A direct eigenproblem up to this order, Lanczos beyond.
DIRECT_ORDER = 300
# Islands are pushed apart in at most so many rounds, until this much water is between them.
ROUNDS, WATER = 300, 1.25


def graph_layout(graph: Any, labels: np.ndarray, Z: Any) -> np.ndarray:
    """Rows in the plane by their graph; clusters that are alike lie near each other.

    A learned graph has no edges between clusters, so it does not say where they lie. Their middles
    come from the plane of the cluster means of Z, moved apart until no two islands touch. Within
    an island rows lie by the second and third eigenvector of its normalised Laplacian.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
    labels : int array of shape (n_samples,)
    Z : array of shape (n_samples, n_features)
        The rows, for the places of the clusters.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.kron(np.eye(2), 1.0 - np.eye(4)))
    >>> at = graph_layout(A, np.repeat([0, 1], 4), np.repeat([[0.0], [9.0]], 4, axis=0))
    >>> bool(at[:4, 0].max() < at[4:, 0].min())
    True
    """
    A = sp.csr_array(graph)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z, dtype=np.float64)
    names, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes)
    member = sp.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    radius = np.sqrt(sizes / len(codes))
    middle = _moved_apart(np.asarray(member @ Z) / sizes[:, None], radius)
    at = np.empty((len(codes), 2))
    for island in range(len(names)):
        rows = np.flatnonzero(codes == island)
        at[rows] = middle[island] + radius[island] * _within(A[rows][:, rows].tocsr())
    return at


def _moved_apart(means: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Places for discs of these radii, near the plane of the means, without overlap."""
    c = len(means)
    if c == 1:
        return np.zeros((1, 2))
    plane = main_plane(means).at
    if plane.shape[1] < 2:
        plane = np.column_stack([plane[:, 0], np.zeros(c)])
    spread = float(np.sqrt((plane**2).sum(axis=1).mean())) or 1.0
    at = plane / spread * np.sqrt(c) * radius.mean()
    at[:, 1] += 1e-3 * radius.mean() * kept_apart(c)  # no two in one place
    reach = WATER * (radius[:, None] + radius)
    for _ in range(ROUNDS):
        apart = at[:, None] - at
        length = np.linalg.norm(apart, axis=2) + np.eye(c)
        push = np.maximum(reach - length, 0.0) * (1.0 - np.eye(c))
        if push.max() < 1e-6:
            break
        at = at + 0.5 * (apart / np.maximum(length, 1e-12)[..., None] * push[..., None]).sum(axis=1)
    return at


def _within(B: sp.csr_array) -> np.ndarray:
    """The rows of one cluster in the unit disc."""
    m = B.shape[0]
    turn = 2.0 * np.pi * kept_apart(m)
    even = np.sqrt((np.arange(m) + 0.5) / m)[:, None] * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    degree = np.asarray(B.sum(axis=1)).ravel()
    if m < 5 or not (degree > 0).all() or connected_components(B, directed=False)[0] > 1:
        return even
    scale = sp.dia_array((1.0 / np.sqrt(degree)[None, :], [0]), shape=B.shape)
    N = (scale @ B @ scale).tocsr()
    try:
        V = _leading(N, m)
    except ArpackError:
        return even
    V = V / np.sqrt(degree)[:, None]
    V = V - np.median(V, axis=0)
    V /= np.maximum(np.quantile(np.abs(V), 0.98, axis=0), np.finfo(float).tiny)
    length = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.maximum(length, 1.0)


def _leading(N: sp.csr_array, m: int) -> np.ndarray:
    """The second and the third eigenvector, with signs that do not depend on the solver."""
    if m <= DIRECT_ORDER:
        V = scipy.linalg.eigh(N.toarray())[1][:, [-2, -3]]
    else:
        start = np.cos(1.7 * np.arange(m)) + 0.1  # the same every time
        values, found = eigsh(N, 3, which="LA", tol=1e-3, v0=start, maxiter=2000)
        V = found[:, np.argsort(-values)[1:]]
    largest = V[np.abs(V).argmax(axis=0), np.arange(2)]
    return V * np.where(largest < 0, -1.0, 1.0)
