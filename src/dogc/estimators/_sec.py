"""Spectral embedded clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _checks
from ..fitting import fixed_graph, scaling
from ..fitting.repeatable import single_blas_thread
from ..numerics import affinity, discrete, eigen, graph, l2p, trace_ratio
from ..numerics.matrix import Matrix
from ._fixed import FixedGraphClusterer, warn_of_components


class SEC(FixedGraphClusterer):
    r"""Spectral embedded clustering: an embedding that a linear function can approximate.

    Use it when clusters have nearly linear borders and many new rows must be labelled.

    .. math:: \min_{F, W, b} \operatorname{Tr}(F^\top L F)
              + \mu \left(\|X W + 1 b^\top - F\|_F^2 + \gamma \|W\|_F^2\right)
              \quad \text{s.t.} \quad F^\top F = I_c

    L is :math:`D - A`, or :math:`I - D^{-1/2} A D^{-1/2}` as in the paper cited below. W and b are
    eliminated: F holds the bottom eigenvectors of
    :math:`L + \mu (H - X_c (X_c^\top X_c + \gamma I)^{-1} X_c^\top)`, with :math:`H` the centring
    matrix. This is a sparse matrix minus one of low rank, and it is never formed. A new row
    gets the label of the cluster mean nearest to :math:`x W + b`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    mu : float, default=1e-3
        Weight of the regression relative to the graph, in units of the mean diagonal of L: the
        mean degree of the graph, or 1 if L is normalised.
    gamma : float, default=1.0
        Ridge penalty on W, in units of the mean scatter of a feature.
    laplacian : {"unnormalized", "normalized"}, default="unnormalized"
        The Laplacian L. As mu tends to zero, "unnormalized" gives R-cut. "normalized", the choice
        of Nie et al., gives the eigenvectors of N-cut before scaling.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller.
    affinity : {"neighbors", "full"}, default="neighbors"
        The graph A: a Gaussian kernel on pairs where one row is among the ``n_neighbors`` nearest
        of the other, or on all pairs (n_samples^2 numbers).
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`.
    assign_labels : {"kmeans", "rotation"}, default="kmeans"
        How labels are computed from the embedding: by k-means, or by the nearest rotation of an
        indicator matrix (:func:`~dogc.spectral_rotation`).
    n_init : int or "auto", default="auto"
        "auto" is deterministic: the rotation starts from pivoted QR, k-means from the cluster
        means of the rotation. A number gives that many starts, and the best result is kept.
        k-means++ draws all of them; the rotation draws all but the first.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts. No effect with ``n_init="auto"``.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph A.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.
    coef_ : array of shape (n_clusters, n_features)
        The regression :math:`W^\top`.
    intercept_ : array of shape (n_clusters,)
        Its intercept b.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        Mean of the embedding over each cluster.

    References
    ----------
    F. Nie, Z. Zeng, I. W. Tsang, D. Xu, C. Zhang, "Spectral embedded clustering: a framework
    for in-sample and out-of-sample spectral clustering", IEEE Transactions on Neural
    Networks 22(11), 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import SEC
    >>> X = load_iris().data
    >>> SEC(n_clusters=3).fit(X[::2]).predict(X[1::2]).shape
    (75,)
    """

    _kinds = ("neighbors", "full")
    _phases = ("regressed graph",)
    _voters: fixed_graph.Voters

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        mu: float = 1e-3,
        gamma: float = 1.0,
        laplacian: str = "unnormalized",
        n_neighbors: int | None = None,
        affinity: str = "neighbors",
        bandwidth: float | str = "local",
        assign_labels: str = "kmeans",
        n_init: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.mu = mu
        self.gamma = gamma
        self.laplacian = laplacian
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SEC:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        _checks.check_positive("mu", self.mu)
        _checks.check_weight("gamma", self.gamma)
        _checks.check_choice("laplacian", self.laplacian, ("unnormalized", "normalized"))
        super().fit(X)
        return self

    def _assign_more(self, fixed: fixed_graph.FixedGraph, F: np.ndarray) -> None:
        assert fixed.pairs is not None
        scaled = fixed.pairs.scaled
        regression = embedding_regression(scaled, F, self.gamma / max(scaled.n_varying, 1))
        self.coef_, self.intercept_ = regression
        self.cluster_centers_ = discrete.cluster_means(F, self.labels_)

    def _embed(self, fixed: fixed_graph.FixedGraph, c: int) -> np.ndarray:
        assert fixed.pairs is not None
        count, _ = graph.components(fixed.A)
        if count > c:
            warn_of_components(fixed, count, c, "the regression decides which go together")
        scaled = fixed.pairs.scaled
        # The total scatter is one.
        gamma = self.gamma / max(scaled.n_varying, 1)
        embed = embedded_eigenvectors
        if self.laplacian == "normalized":
            embed = normalised_embedding
        return embed(fixed.A, scaled.X, scaled.mean, c, self.mu, gamma)

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the cluster mean nearest to :math:`x W + b`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Only labels that ``fit`` produced.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            reached = np.asarray(X @ self.coef_.T) + self.intercept_
            return discrete.nearest_centre(reached, self.cluster_centers_)


def embedded_eigenvectors(
    A: sp.csr_array, X: Matrix, mean: np.ndarray, c: int, mu: float, gamma: float
) -> np.ndarray:
    """F of SEC; mu is in units of the mean degree."""
    n = A.shape[0]
    weight = mu * float(A.sum()) / n
    U = _reached(X, mean, gamma)
    # Constants are null vectors of the whole; on what is orthogonal to them H is I.
    constant = np.full((n, 1), 1.0 / np.sqrt(n))
    sparse = (graph.laplacian(A) + weight * sp.eye_array(n)).tocsr()
    return eigen.smallest_eigenvectors(sparse, c, constant, V=np.sqrt(weight) * U)


def normalised_embedding(
    A: sp.csr_array, X: Matrix, mean: np.ndarray, c: int, mu: float, gamma: float
) -> np.ndarray:
    """The same with the normalised Laplacian, whose diagonal is one already."""
    n = A.shape[0]
    # Its null vector is D^1/2 1, that of H is 1: no vector is known to be one of the whole.
    constant = np.full((n, 1), 1.0 / np.sqrt(n))
    V = np.sqrt(mu) * np.hstack([constant, _reached(X, mean, gamma)])
    sparse = (affinity.normalised_laplacian(A)[0] + mu * sp.eye_array(n)).tocsr()
    return eigen.smallest_eigenvectors(sparse, c, np.empty((n, 0)), V=V)


def _reached(X: Matrix, mean: np.ndarray, gamma: float) -> np.ndarray:
    """U with U U' = X_c (X_c' X_c + gamma I)^-1 X_c', what a ridge regression makes of F."""
    R = trace_ratio.row_space(X, mean).R
    return R @ l2p.ridge_map(R, gamma) if R.shape[1] else R


def embedding_regression(
    scaled: scaling.Scaled, F: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray]:
    """W' and b for features as the user has them."""
    W, b = l2p.weighted_ridge(scaled.X, F.astype(np.float64), np.ones(len(F)), gamma, True)
    W = W / scaled.scale
    dtype = F.dtype
    return np.ascontiguousarray(W.T.astype(dtype)), (b - scaled.shift @ W).astype(dtype)
