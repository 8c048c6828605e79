"""Clustering by local predictors: LL and CLGR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from ..fitting import fixed_graph, neighbours
from ..fitting.fixed_graph import FixedGraph, GraphSettings
from ..numerics import affinity, eigen, graph, local_models
from ..numerics.matrix import Matrix
from ._fixed import EmbeddingClusterer, merged_components, warn_of_components

# Bandwidth of the local kernels, in units of the neighbourhood's radius.
WIDTH = 8.0


@dataclass(kw_only=True, eq=False, repr=False)
class LocalLearningClustering(EmbeddingClusterer):
    r"""Local learning: labels that neighbours predict best.

    Use it for densely sampled manifolds. It is sensitive to ``ridge`` and ``n_neighbors``.

    .. math:: \min_F \operatorname{Tr}(F^\top (I - A)^\top (I - A) F)
              \quad \text{s.t.} \quad F^\top F = I_c

    Row i of A holds the weights with which kernel ridge regression, trained only on the labels of
    the neighbours of i, predicts the label of i:
    :math:`a_i = (K_i + \rho I)^{-1} k_i`. If all other rows are neighbours and there is one
    bandwidth, this is the leave-one-out prediction of a single kernel ridge regression, and
    :math:`I - A = \operatorname{diag}(I - G)^{-1} (I - G)` with
    :math:`G = K (K + \rho I)^{-1}`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    ridge : float, default=0.1
        Penalty of the local models, above 0. The kernel of a row with itself is 1.
    n_neighbors : int, default=None
        Number of neighbours that predict a row; below n_samples. None means 15, or n_samples - 1
        if that is smaller.
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" gives the model of row i the kernel
        :math:`\exp(-\|x_j - x_l\|^2 / \sigma_i^2)` with :math:`\sigma_i` eight times the distance
        from row i to the farthest of its neighbours. A kernel narrower than the neighbourhood
        would fit any labels. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_j - x_l\|^2 / (2 \sigma^2))`.
    assign_labels : {"kmeans", "rotation"}, default="rotation"
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
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.
    embedding_ : array of shape (n_samples, n_clusters)
        The bottom eigenvectors F.

    References
    ----------
    M. Wu, B. Schoelkopf, "A local learning approach for clustering", NIPS 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import LocalLearningClustering
    >>> X, y = make_moons(200, noise=0.03, random_state=0)
    >>> (LocalLearningClustering(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    _phase = "local models"

    ridge: float = 0.1
    assign_labels: str = "rotation"

    def _check(self, settings: GraphSettings) -> None:
        super()._check(settings)
        _checks.check_positive("ridge", self.ridge)

    def _build(self, X: Matrix, settings: GraphSettings, c: int) -> Any:
        return fixed_graph.compared_pairs(X, settings)

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, Any]:
        idx, d, sigma = fixed.idx, fixed.d, fixed.sigma
        count, _ = graph.components(affinity.symmetric_graph(idx, np.ones(idx.shape)))
        warn_of_components(count, c, "some of them may be split or joined", fixed)
        if self.bandwidth == "local":
            sigma = WIDTH * affinity.local_bandwidth(d, rank=d.shape[1])
        weights = local_models.kernel_ridge_weights(fixed.scaled.X, idx, sigma, self.ridge)
        T = local_models.residual_operator(idx, weights)
        return eigen.smallest_eigenvectors(T, c, np.empty((T.shape[0], 0))), None


@dataclass(kw_only=True, eq=False, repr=False)
class CLGR(EmbeddingClusterer):
    r"""Clustering with local and global regularisation.

    Use it for densely sampled manifolds when labels should also be smooth on the graph. It is
    less sensitive to its parameters than :class:`LocalLearningClustering`.

    .. math:: \min_F \operatorname{Tr}\left(F^\top (T + \lambda L) F\right)
              \quad \text{s.t.} \quad F^\top F = I_c, \qquad T = (I - A)^\top (I - A)

    Row i of A holds the weights with which a linear ridge regression with intercept, trained
    on the neighbours of i, predicts the label of i; L is the Laplacian of the graph.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    lam : float, default=10.0
        Weight :math:`\lambda` of the Laplacian, in units of one over the mean degree of the
        graph.
    ridge : float, default=1.0
        Penalty of the local models, above 0, in units of the neighbours' scatter.
    n_neighbors : int, default=None
        Number of neighbours that the local model of a row is trained on, for every ``affinity``;
        also the number of neighbours in the graph "neighbors". Below n_samples. None means 15, or
        n_samples - 1 if that is smaller.
    affinity : {"neighbors", "full"}, default="neighbors"
        The graph of the Laplacian: a Gaussian kernel on pairs where one row is among the
        ``n_neighbors`` nearest of the other, or on all pairs (n_samples^2 numbers).
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

    References
    ----------
    F. Wang, C. Zhang, T. Li, "Clustering with local and global regularization", IEEE
    Transactions on Knowledge and Data Engineering 21(12), 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import CLGR
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> (CLGR(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    _kinds = ("neighbors", "full")
    _phase = "local models"

    lam: float = 10.0
    ridge: float = 1.0
    affinity: str = "neighbors"

    def _check(self, settings: GraphSettings) -> None:
        super()._check(settings)
        _checks.check_weight("lam", self.lam)
        _checks.check_positive("ridge", self.ridge)

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, Any]:
        # The pairs of a full kernel are all pairs; local models have neighbours of their own.
        k = _checks.check_neighbors(self.n_neighbors, len(fixed.idx))
        idx = neighbours.nearest_first(fixed.idx, fixed.d)[0][:, :k]
        weights = local_models.linear_ridge_weights(fixed.scaled.X, idx, self.ridge)
        T = local_models.residual_operator(idx, weights)
        member = merged_components(fixed, c)
        mean_degree = float(fixed.A.sum()) / T.shape[0] or 1.0
        total = (T + (self.lam / mean_degree) * graph.laplacian(fixed.A)).tocsr()
        # Linear models with intercept predict constants exactly, so T has the null vectors of L.
        return eigen.bottom_eigenvectors(total, c, member), None
