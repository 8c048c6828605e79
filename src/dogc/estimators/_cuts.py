"""Ratio cut and normalised cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from ..fitting.fixed_graph import FixedGraph
from ..fitting.scaling import unit_rows
from ..numerics import affinity, eigen, graph
from ._fixed import EmbeddingClusterer, merged_components


@dataclass(kw_only=True, eq=False, repr=False)
class RatioCut(EmbeddingClusterer):
    r"""Ratio cut: bottom eigenvectors of the Laplacian, then k-means.

    Use it as a baseline for spectral clustering. :class:`NormalizedCut` is more robust when
    clusters differ in density.

    .. math:: \min_F \operatorname{Tr}(F^\top L F) \quad \text{s.t.} \quad F^\top F = I_c,
              \qquad L = D - A

    This is the relaxation of :math:`\sum_k \text{cut}(C_k, \bar C_k) / |C_k|`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller. With representatives, the number that each row is linked to; None means 8.
    affinity : {"neighbors", "full", "precomputed"}, default="neighbors"
        The graph A. "neighbors": a Gaussian kernel on pairs where one row is among the
        ``n_neighbors`` nearest of the other. "full": the kernel on all pairs, as in the DOGC
        paper; it takes n_samples^2 numbers. "precomputed": X is the graph, symmetric and
        non-negative, sparse or dense; its diagonal is ignored. Clusters do not depend on the order
        of the rows, except that ties in a precomputed graph are broken by position.
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`. With representatives, "local" is half the
        mean distance of a row to those that it is linked to.
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
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph A. With representatives, the graph of representatives.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed. With representatives, one row for
        each representative.
    n_representatives_ : int or None
        Number of representatives; None if every row is a node of the graph. It can be slightly
        smaller than requested, because empty cells are dropped.
    resolutions_ : :class:`~dogc.results.ResolutionChoice` or None
        The numbers of representatives that were tried and the agreement of their clusters. Its
        ``confirmed`` is the agreement of the chosen clusters with those of the next resolution.
    representatives_ : array of shape (n_representatives, n_features) or None
        The representatives: means of rows that lie close together, in the units of X.
    representative_weights_ : array of shape (n_representatives,) or None
        Approximate number (or total weight) of the rows that each represents. A row is shared among
        the representatives that it is linked to.
    representative_labels_ : int array of shape (n_representatives,) or None
        Cluster of each representative.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    References
    ----------
    L. Hagen, A. B. Kahng, "New spectral methods for ratio cut partitioning and clustering",
    IEEE Transactions on Computer-Aided Design 11(9), 1992.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import RatioCut
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> (RatioCut(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    n_representatives: int | str | None = "auto"
    affinity: str = "neighbors"
    device: str = "auto"

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, Any]:
        member = merged_components(fixed, c)
        return eigen.bottom_eigenvectors(graph.laplacian(fixed.A), c, member), None


@dataclass(kw_only=True, eq=False, repr=False)
class NormalizedCut(RatioCut):
    r"""Normalised cut: generalised eigenvectors, then k-means or a rotation.

    Use it for curved clusters with clear gaps. It is the fastest method here that is robust to
    clusters of different density.

    .. math:: L v = \mu D v, \qquad L = D - A

    The c bottom solutions relax :math:`\sum_k \text{cut}(C_k, \bar C_k) / \text{vol}(C_k)`.
    They are found as :math:`v = D^{-1/2} u` with u the bottom eigenvectors of
    :math:`I - D^{-1/2} A D^{-1/2}`. With ``normalize_rows=True`` the rows are scaled to length
    one before k-means, which is the spectral clustering of Ng, Jordan and Weiss (SC).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller. With representatives, the number that each row is linked to; None means 8.
    affinity : {"neighbors", "full", "precomputed"}, default="neighbors"
        The graph A. "neighbors": a Gaussian kernel on pairs where one row is among the
        ``n_neighbors`` nearest of the other. "full": the kernel on all pairs, as in the DOGC
        paper; it takes n_samples^2 numbers. "precomputed": X is the graph, symmetric and
        non-negative, sparse or dense; its diagonal is ignored. Clusters do not depend on the order
        of the rows, except that ties in a precomputed graph are broken by position.
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`. With representatives, "local" is half the
        mean distance of a row to those that it is linked to.
    normalize_rows : bool, default=False
        Whether rows of the embedding are scaled to length one.
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
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph A. With representatives, the graph of representatives.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed. With representatives, one row for
        each representative.
    n_representatives_ : int or None
        Number of representatives; None if every row is a node of the graph. It can be slightly
        smaller than requested, because empty cells are dropped.
    resolutions_ : :class:`~dogc.results.ResolutionChoice` or None
        The numbers of representatives that were tried and the agreement of their clusters. Its
        ``confirmed`` is the agreement of the chosen clusters with those of the next resolution.
    representatives_ : array of shape (n_representatives, n_features) or None
        The representatives: means of rows that lie close together, in the units of X.
    representative_weights_ : array of shape (n_representatives,) or None
        Approximate number (or total weight) of the rows that each represents. A row is shared among
        the representatives that it is linked to.
    representative_labels_ : int array of shape (n_representatives,) or None
        Cluster of each representative.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    References
    ----------
    J. Shi, J. Malik, "Normalized cuts and image segmentation", CVPR 1997.
    A. Ng, M. Jordan, Y. Weiss, "On spectral clustering: analysis and an algorithm", NIPS
    2001.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from dogc import NormalizedCut
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> (NormalizedCut(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    normalize_rows: bool = False

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, Any]:
        unit = _checks.check_flag("normalize_rows", self.normalize_rows)
        member = merged_components(fixed, c)
        L, root = affinity.normalised_laplacian(fixed.A)
        U = eigen.bottom_eigenvectors(L, c, member, weights=root)
        V = affinity.generalised_eigenvectors(fixed.A, U, root)
        return unit_rows(V) if unit else V, None
