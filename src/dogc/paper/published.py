"""The authors' published MATLAB code, by its facts, beside what the paper prints.

Written from a description of that code (2019, no licence): nothing of it is copied. It is DOGC-OS,
and differs from `eq:26` and Algorithm 1 in what a comment with "Published:" says. Dense and slow,
to be compared with; what it finds is on the page of departures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from . import as_printed

SEARCHED_AGAIN = 5  # neighbours are looked up in the subspace after so many iterations
STILL = 1e-3  # a power iteration ends where its objective changes by less, whatever its size


def power_iteration(A: np.ndarray, B: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Minimise Tr(F'AF) - 2 Tr(F'B) over F'F = I by generalised power iteration."""
    F = np.linalg.qr(rng.standard_normal(B.shape))[0]  # Published: from a random start every time
    shift, value = np.linalg.eigvalsh(A)[-1], np.inf
    for _ in range(1000):
        U, _, Vt = np.linalg.svd(shift * F - A @ F + B, full_matrices=False)
        F, last = U @ Vt, value
        value = np.vdot(F, A @ F - 2 * B)
        if abs(last - value) < STILL:  # Published: an absolute bound, far from converged
            break
    return F


class PublishedDOGC(ClusterMixin, BaseEstimator):
    r"""DOGC-OS as the authors' published code has it.

    Use it to compare with the paper, on small data. Use :class:`dogc.DOGCOS` to cluster data. The
    defaults are those of the published script.

    Parameters
    ----------
    n_clusters : int, default=8
        The paper's :math:`c`.
    n_components : int, default=3
        The reduced dimension :math:`m`, at most the number of columns.
    n_neighbors : int, default=10
        The paper's :math:`k`.
    alpha, beta, gamma, p : float, default=1e-5, 1e-4, 1e-5, 1.0
        Penalties and power of `eq:26`.
    max_iter : int, default=10
        Number of iterations; there is no other end.
    random_state : int, Generator or None, default=None
        Seed of Y, Q and P, and of each power iteration.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The column of the 1 in each row of Y. There may be fewer than n_clusters.
    history_ : list of Iteration
        Connected components of the graph and empty clusters, by iteration; no objective.
    S_, F_, W_, Q_, Y_, P_ : arrays
        The learned matrices.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from dogc.datasets import make_two_moons
    >>> from dogc.paper import PublishedDOGC
    >>> X, _ = make_two_moons(60, random_state=0)
    >>> PublishedDOGC(2, n_components=2, random_state=0).fit(X).S_.shape
    (60, 60)
    """

    def __init__(self, n_clusters: int = 8, *, n_components: int = 3, n_neighbors: int = 10,
                 alpha: float = 1e-5, beta: float = 1e-4, gamma: float = 1e-5, p: float = 1.0,
                 max_iter: int = 10, random_state: Any = None):  # fmt: skip
        """Keep the parameters."""
        self.n_clusters, self.n_components, self.n_neighbors = n_clusters, n_components, n_neighbors
        self.alpha, self.beta, self.gamma, self.p = alpha, beta, gamma, p
        self.max_iter, self.random_state = max_iter, random_state

    def fit(self, X: Any, y: Any = None) -> PublishedDOGC:
        """Run the code's iterations on the rows of X."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=3)
        X = X - X.mean(axis=0)
        X = X / np.maximum(np.linalg.norm(X, axis=0), np.finfo(float).tiny)  # Published
        with threadpool_limits(limits=1, user_api="blas"):
            self._run(X, np.random.default_rng(self.random_state))
        return self

    def _run(self, X: np.ndarray, rng: np.random.Generator) -> None:
        (n, d), c, k = X.shape, self.n_clusters, min(self.n_neighbors, len(X) - 2)
        # Published: Y, Q and P are drawn (P to be overwritten), S and W are those of the data.
        Y = as_printed.update_Y(rng.random((n, c)))
        Q = np.linalg.qr(rng.standard_normal((c, c)))[0]
        P, D = rng.random((d, c)), np.ones(n)
        W = np.eye(d, min(self.n_components, d))
        distances = cdist(X, X, "sqeuclidean")  # Published: not divided by the scatter
        np.fill_diagonal(distances, np.inf)
        xi = lam = float(as_printed.neighbour_xi(distances, k).mean())  # Published: and stay so
        near, F = np.argsort(distances, axis=1)[:, :k], np.zeros((n, c))
        self.history_: list[as_printed.Iteration] = []
        for iteration in range(self.max_iter):
            S = np.zeros((n, n))
            d_f = cdist(F, F, "sqeuclidean")
            both = np.take_along_axis(distances + lam * d_f, near, axis=1)
            # Published: of k neighbours only, and L of the new S.
            np.put_along_axis(S, near, as_printed.solve_rows(both, xi), axis=1)
            L = as_printed.laplacian(S)
            F = power_iteration(L, self.alpha * Y @ Q.T, rng)
            W = as_printed.update_W(X, L, W)
            distances = cdist(X @ W, X @ W, "sqeuclidean")
            np.fill_diagonal(distances, np.inf)
            if iteration >= SEARCHED_AGAIN:
                near = np.argsort(distances, axis=1)[:, :k]
            Q = power_iteration(F.T @ F, F.T @ Y, rng)
            P = as_printed.update_P(X, Y, D, np.full(d, self.gamma))
            D = as_printed.row_weights(Y - X @ P, self.p)
            Y = as_printed.update_Y(self.alpha * F @ Q + self.beta * D[:, None] * (X @ P))
            counts = int(connected_components(S, directed=False)[0]), c - Y.any(axis=0).sum()
            self.history_.append(as_printed.Iteration(np.nan, np.nan, *counts, lam, xi))
        self.S_, self.F_, self.W_, self.Q_, self.Y_, self.P_ = S, F, W, Q, Y, P
        self.labels_ = Y.argmax(axis=1)
