"""Ratio cut and normalised cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _checks
from ..numerics import affinity, eigen, graph
from ..rows import fixed_graph
from . import _discretising
from ._docs import ON_NODES, document
from ._fixed import FixedGraphClusterer, merged_components


@document(has=ON_NODES)
class RatioCut(FixedGraphClusterer):
    r"""Ratio cut: bottom eigenvectors of the Laplacian, then k-means.

    .. math:: \min_F \operatorname{Tr}(F^\top L F) \quad \text{s.t.} \quad F^\top F = I_c,
              \qquad L = D - A

    the relaxation of :math:`\sum_k \text{cut}(C_k, \bar C_k) / |C_k|`.

    {parameters}

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_representatives: int | str | None = "auto",
        n_neighbors: int | None = None,
        affinity: str = "neighbors",
        bandwidth: float | str = "local",
        assign_labels: str = "kmeans",
        n_init: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, fixed: fixed_graph.FixedGraph, c: int) -> np.ndarray:
        member = merged_components(fixed, c)
        return eigen.bottom_eigenvectors(graph.laplacian(fixed.A), c, member)


@document(has=ON_NODES)
class NormalizedCut(FixedGraphClusterer):
    r"""Normalised cut: generalised eigenvectors, then k-means or a rotation.

    .. math:: L v = \mu D v, \qquad L = D - A

    The c bottom solutions relax :math:`\sum_k \text{cut}(C_k, \bar C_k) / \text{vol}(C_k)`.
    They are found as :math:`v = D^{-1/2} u` with u the bottom eigenvectors of
    :math:`I - D^{-1/2} A D^{-1/2}`. With ``normalize_rows=True`` the rows are scaled to length
    one before k-means, which is the spectral clustering of Ng, Jordan and Weiss (SC).

    {parameters}

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_representatives: int | str | None = "auto",
        n_neighbors: int | None = None,
        affinity: str = "neighbors",
        bandwidth: float | str = "local",
        normalize_rows: bool = False,
        assign_labels: str = "kmeans",
        n_init: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.normalize_rows = normalize_rows
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, fixed: fixed_graph.FixedGraph, c: int) -> np.ndarray:
        unit = _checks.check_flag("normalize_rows", self.normalize_rows)
        member = merged_components(fixed, c)
        L, root = affinity.normalised_laplacian(fixed.A)
        V = eigen.bottom_eigenvectors(L, c, member, weights=root) / root[:, None]
        return _discretising.unit_rows(V) if unit else V
