"""Spectral embedded clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _checks
from ..fitting import scaling
from ..fitting.fixed_graph import FixedGraph, GraphSettings
from ..fitting.repeatable import single_blas_thread
from ..loop.watch import Watch
from ..numerics import affinity, discrete, eigen, graph, l2p, trace_ratio
from ._fixed import EmbeddingClusterer, warn_of_components


@dataclass(kw_only=True, eq=False, repr=False)
class SEC(EmbeddingClusterer):
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
    _phase = "features"

    mu: float = 1e-3
    gamma: float = 1.0
    laplacian: str = "unnormalized"
    affinity: str = "neighbors"

    def _check(self, settings: GraphSettings) -> None:
        super()._check(settings)
        _checks.check_positive("mu", self.mu)
        _checks.check_weight("gamma", self.gamma)
        _checks.check_choice("laplacian", self.laplacian, ("unnormalized", "normalized"))

    def _fit(self, X: Any, watch: Watch) -> None:
        F = super()._fit(X, watch).astype(self.affinity_matrix_.dtype)
        scaled, labels = self._voters.scaled, self._voters.labels  # in the order of F
        with single_blas_thread:
            Y, once = F.astype(np.float64), np.ones(len(F))
            W, b = l2p.weighted_ridge(scaled.X, Y, once, self._ridge(scaled), True)
            W = W / scaled.scale  # for features as the user has them
            self.coef_ = np.ascontiguousarray(W.T.astype(F.dtype))
            self.intercept_ = (b - scaled.shift @ W).astype(F.dtype)
            self.cluster_centers_ = discrete.cluster_means(F, labels)

    def _ridge(self, scaled: scaling.Scaled) -> float:
        """The penalty on W; the total scatter is one."""
        return self.gamma / max(scaled.n_varying, 1)

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, np.ndarray]:
        count, _ = graph.components(fixed.A)
        warn_of_components(count, c, "the regression decides which go together", fixed)
        scaled, normalised = fixed.scaled, self.laplacian == "normalized"
        gamma = self._ridge(scaled)
        F = embedded_eigenvectors(fixed.A, scaled, c, self.mu, gamma, normalised)
        return F, F  # in the order of the sorted rows, for the regression

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
    A: sp.csr_array, scaled: scaling.Scaled, c: int, mu: float, gamma: float, normalised: bool
) -> np.ndarray:
    """F of SEC; mu is in units of the mean diagonal of the Laplacian."""
    n = A.shape[0]
    constant = np.full((n, 1), 1.0 / np.sqrt(n))
    # U with U U' = X_c (X_c' X_c + gamma I)^-1 X_c', what a ridge regression makes of F.
    R = trace_ratio.row_space(scaled.X, scaled.mean).R
    U = R @ l2p.ridge_map(R, gamma) if R.shape[1] else R
    if normalised:
        # Its null vector is D^1/2 1, that of H is 1: no vector is known to be one of the whole.
        L, U, known = affinity.normalised_laplacian(A)[0], np.hstack([constant, U]), constant[:, :0]
    else:
        # Constants are null vectors of the whole; on what is orthogonal to them H is I.
        L, known, mu = graph.laplacian(A), constant, mu * float(A.sum()) / n
    sparse = (L + mu * sp.eye_array(n)).tocsr()
    return eigen.smallest_eigenvectors(sparse, c, known, V=np.sqrt(mu) * U)
