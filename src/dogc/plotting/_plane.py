"""Rows in the plane: as they are, along their main directions, or by a learned graph.

Nothing here needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline

from ..numerics.matrix import Matrix
from ._canvas import last_step

# Islands are pushed apart in at most so many rounds, until this much water is between them.
ROUNDS, WATER = 300, 1.25
LEARNED = ("learned subspace, direction 1", "learned subspace, direction 2")
View = tuple[np.ndarray, tuple[str, str]]  # rows in the plane and what the axes mean


def main_plane(Z: Matrix) -> tuple[np.ndarray, list[float]]:
    """Rows along the first two principal directions, or the only one; shares of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> main_plane(np.array([[0.0, 3.0], [4.0, 3.0], [2.0, 3.5]]))[0][:, 0].round(2)
    array([-2.,  2.,  0.])
    """
    if sp.issparse(Z) and min(Z.shape) <= 2:
        Z = Z.toarray()
    if not sp.issparse(Z):
        Z = np.asarray(Z, dtype=np.float64)
        Z = Z - Z.mean(axis=0)
    two = min(2, *Z.shape)
    found = PCA(two, svd_solver="arpack" if sp.issparse(Z) else "auto", random_state=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # rows that are all the same
        at = found.fit_transform(Z)
    return at, np.nan_to_num(found.explained_variance_ratio_).tolist()


def kept_apart(n: int) -> np.ndarray:
    """Places in [0, 1) for rows that have one direction only, so that none hides the others."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return (np.arange(n) * golden) % 1.0


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
    plane = main_plane(means)[0]
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
    even = np.sqrt((np.arange(m) + 0.5) / m) * (np.cos(turn), np.sin(turn))
    degree = np.asarray(B.sum(axis=1)).ravel()
    if m < 5 or connected_components(B, directed=False)[0] > 1:
        return even.T
    N = sp.csr_array(B / np.sqrt(degree)[:, None] / np.sqrt(degree))
    start = np.cos(1.7 * np.arange(m)) + 0.1  # the same every time
    try:
        values, found = eigsh(N, 3, which="LA", tol=1e-3, v0=start, maxiter=2000)
    except ArpackError:
        return even.T
    V = found[:, np.argsort(-values)[1:]]
    largest = V[np.abs(V).argmax(axis=0), np.arange(2)]  # signs do not depend on the solver
    V = V * np.where(largest < 0, -1.0, 1.0)
    V = V / np.sqrt(degree)[:, None]
    V = V - np.median(V, axis=0)
    V /= np.maximum(np.quantile(np.abs(V), 0.98, axis=0), np.finfo(float).tiny)
    length = np.linalg.norm(V, axis=1, keepdims=True)
    return V / np.maximum(length, 1.0)


def seen_rows(estimator: Any, X: Any) -> Any:
    """X as the clusterer at the end of a pipeline sees it."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) else X


def view_of_fitted(estimator: Any, X: Any) -> View:
    """X itself if it has two features, else the main directions of the learned subspace."""
    model = last_step(estimator)
    if "precomputed" in (getattr(model, "metric", None), getattr(model, "affinity", None)):
        raise ValueError(
            f"this {type(model).__name__} was fitted on a precomputed graph, which has no points "
            "to draw; pass your own points with their labels to from_predictions."
        )
    seen = seen_rows(estimator, X)
    if getattr(model, "components_", None) is None or _as_rows(seen).shape[1] <= 2:
        return view_of_rows(seen)
    return view_of_rows(model.transform(seen), LEARNED)


def view_of_representatives(model: Any) -> View:
    """Representatives as :func:`view_of_fitted` would see rows."""
    R, W = model.representatives_, getattr(model, "components_", None)
    if R.shape[1] <= 2:
        return view_of_rows(R, getattr(model, "feature_names_in_", ()))
    return view_of_rows(R) if W is None else view_of_rows(R @ W.T, LEARNED)


def view_of_rows(X: Any, names: Sequence[str] = ()) -> View:
    """X itself if it has one or two features, else its two main directions.

    One feature gets places along the second axis that only keep rows apart.
    """
    at, usual = _as_rows(X), ["principal direction 1", "principal direction 2"]
    if at.shape[1] > 2:
        at = main_plane(at)[0]
    else:
        at = at.toarray() if sp.issparse(at) else at
        usual = [str(name) for name in getattr(X, "columns", ())] or ["feature 0", "feature 1"]
    names = list(names) or usual
    if at.shape[1] == 1:
        return np.column_stack([at, kept_apart(len(at))]), (names[0], "")
    return at, (names[0], names[1])


def _as_rows(X: Any) -> Matrix:
    rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"X must be a table of shape (n_samples, n_features); got shape {rows.shape}."
        )
    return rows
