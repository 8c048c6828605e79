"""Spectral clustering through landmarks: LSC and U-SPEC."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _checks, _limits
from .._caller import warn_caller
from ..fitting import landmarks
from ..fitting.in_memory import RowsInMemory
from ..fitting.repeatable import generator, in_chunks, single_blas_thread
from ..fitting.settings import SUBSET
from ..numerics import bipartite, discrete, fragments
from ._discretising import kmeans, rotation_labels, unit_scale
from ._fixed import warn_of_components
from ._rows import RowClusterer, reachable_clusters

# Landmarks that a row is joined with, and rows that k-means looks at.
LINKS = 5
KMEANS_ROWS = 20_000
# Rows drawn for each landmark: that of LSC, which is their mean or the one row; that of U-SPEC.
CANDIDATES = {"kmeans": 40, "random": 1}
HYBRID = 10
# Where no number is asked for: chosen on small problems of a public battery, where all rows
# as landmarks do far worse, and a third to an eighth of them about the same.
ROWS_PER_LANDMARK, MOST_LANDMARKS = 5, 1000


@dataclass(eq=False, repr=False)
class LandmarkClusterer(RowClusterer):
    """Base of the methods on a bipartite graph of rows and landmarks."""

    # Whether a row counts for the sum of its kernel values, or for one.
    _by_weight: ClassVar[bool]

    n_clusters: int = 8
    _: KW_ONLY
    n_landmarks: int | None = None
    n_neighbors: int | None = None
    bandwidth: float | str = "mean"
    normalize_rows: bool = True
    n_init: int | str = "auto"
    random_state: Any = 0
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> LandmarkClusterer:
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
        X = self._validate(X, reset=True)
        n, k = X.shape[0], LINKS
        p = _checks.check_count("n_landmarks", self.n_landmarks, 2, words=(None,))
        if self.n_neighbors is not None:
            k = _checks.check_neighbors(self.n_neighbors, n)
        width = _checks.check_positive("bandwidth", self.bandwidth, "mean", largest=_checks.LONGEST)
        unit_rows = _checks.check_flag("normalize_rows", self.normalize_rows)
        n_init = _checks.check_count("n_init", self.n_init, words=("auto",))
        n_jobs = _checks.check_jobs(self.n_jobs)
        candidates, rng = self._candidates(), generator(self.random_state)
        given = RowsInMemory(X)
        c = reachable_clusters(given, self.n_clusters)
        _checks.check_enough("n_landmarks", p, self.n_clusters)
        drawn = candidates * (p or usual_landmarks(n, c))
        _limits.check_phases(given, ["landmarks"], SUBSET, k=k, c=c, m=drawn)
        with single_blas_thread:
            # 1) landmarks, and the nearest ones of each distinct row
            rows, frame = landmarks.ready_rows(X)
            p = p or usual_landmarks(len(rows.size), c)
            R = landmarks.make_landmarks(rows, frame, p, candidates, rng, n_jobs)
            if len(R) < c:  # cells that were lost
                R = landmarks.make_landmarks(rows, frame, p, 1, rng, n_jobs)
            k = min(k, len(R))
            idx, d = landmarks.nearest_landmarks(frame, R, rows.X, k, n_jobs)
            # 2) the cut of the graph of rows and landmarks
            if width is None:
                width = float(np.average(np.sqrt(d).mean(axis=1), weights=rows.size)) or 1.0
            else:
                width /= frame.scaled.scale
            T, total = bipartite.gaussian_links(d, width)
            V = cut(idx, T, rows.size * total if self._by_weight else rows.size, R, c)
            # 3) k-means on the embedding of the rows, or of as many as are enough
            U = landmarks.embedded(idx, T, V, unit_rows)
            seen = np.arange(len(U))
            if len(U) > KMEANS_ROWS:
                seen = np.sort(rng.permutation(len(U))[:KMEANS_ROWS])
            rotated = rotation_labels(unit_scale(U[seen]), 1, rng)
            centres = kmeans(U[seen], rotated, n_init, rng, rows.size[seen]).cluster_centers_
            labels = in_chunks(lambda Z: discrete.nearest_centre(Z, centres), U)
        # 4) clusters numbered by falling size, without those that lost all rows
        new_name = discrete.size_order(labels, c, rows.size)
        order = np.argsort(new_name)[: len(np.unique(labels))]
        if len(order) < c:
            warn_caller(
                f"only {len(order)} of n_clusters={c} clusters were found, because the remaining "
                "rows are too similar; choose a smaller n_clusters.",
                ConvergenceWarning,
            )
        scaled = frame.scaled
        self.labels_ = new_name[labels][rows.inverse]
        self.embedding_ = U.astype(X.dtype)[rows.inverse]
        self.landmarks_ = (R * scaled.scale + scaled.shift).astype(X.dtype)
        self.bandwidth_ = float(width * scaled.scale)
        self._fitted_rows = landmarks.Landmarks(frame, R, k, width, V, unit_rows, centres[order])
        return self

    def _candidates(self) -> int:
        """Rows that are drawn for each landmark."""
        return HYBRID

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the nearest cluster mean in the embedding.

        A new row is linked to its nearest landmarks like a fitted row. Its position is their
        weighted mean. A fitted row gets the same label as in ``labels_``.

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
            return in_chunks(
                lambda rows: landmarks.new_labels(self._fitted_rows, self.n_jobs, rows), X
            )


@dataclass(kw_only=True, eq=False, repr=False)
class LSC(LandmarkClusterer):
    r"""Landmark-based spectral clustering: rows as sparse mixtures of landmarks.

    Use it for many rows when a fast approximate result is enough.

    .. math:: z_{ij} \propto \exp\left(-\frac{\|x_i - r_j\|^2}{2 \sigma^2}\right)
              \ \text{on the nearest landmarks } r_j, \quad \sum_j z_{ij} = 1

    .. math:: \hat Z = Z D^{-1/2}, \quad d_j = \sum_i z_{ij}

    The c leading left singular vectors of :math:`\hat Z` are eigenvectors of the graph
    :math:`\hat Z \hat Z^\top` of all rows. They come from the eigenvectors of
    :math:`\hat Z^\top \hat Z`, a square matrix with one row for each landmark. Labels come from
    k-means on them. Time and memory grow linearly with the number of rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_landmarks : int or None, default=None
        Number of landmarks, the p of its paper; at least n_clusters. None takes a fifth of the
        distinct rows, at most 1000. A number that is not below theirs makes every row a landmark.
    landmarks : {"kmeans", "random"}, default="kmeans"
        "kmeans": landmarks are the means of a few steps of k-means on at most 40 rows for each
        landmark (LSC-K; its paper uses all rows). "random": landmarks are random rows (LSC-R).
    n_neighbors : int, default=None
        Number of nearest landmarks of each row; below n_samples. None means 5, or all landmarks
        if there are fewer.
    bandwidth : float or "mean", default="mean"
        Width :math:`\sigma` of the kernel, in units of X. "mean" is the mean distance of rows to
        their nearest landmarks.
    normalize_rows : bool, default=True
        Whether rows of the embedding are scaled to length one.
    n_init : int or "auto", default="auto"
        "auto" starts k-means from the cluster means of a rotation of the embedding. A number gives
        that many k-means++ starts, and the best result is kept. The means are computed from at most
        20,000 rows.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the landmarks and of random starts.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed.
    landmarks_ : array of shape (n_landmarks, n_features)
        The landmarks, in the units of X. There can be fewer than requested, because empty cells are
        dropped.
    bandwidth_ : float
        The width of the kernel.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    References
    ----------
    X. Chen, D. Cai, "Large scale spectral clustering with landmark-based representation", AAAI
    2011. D. Cai, X. Chen, "Large scale spectral clustering via landmark-based sparse
    representation", IEEE Transactions on Cybernetics 45(8), 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from dogc import LSC
    >>> X, y = make_circles(2000, factor=0.4, noise=0.05, random_state=0)
    >>> (LSC(n_clusters=2, n_landmarks=200).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    landmarks: str = "kmeans"
    _by_weight = False

    def _candidates(self) -> int:
        return CANDIDATES[_checks.check_choice("landmarks", self.landmarks, tuple(CANDIDATES))]


class USPEC(LandmarkClusterer):
    r"""Ultra-scalable spectral clustering (U-SPEC): a transfer cut of rows and representatives.

    Use it for many rows when clusters are separated and speed matters most.

    .. math:: b_{ij} = \exp\left(-\frac{\|x_i - r_j\|^2}{2 \sigma^2}\right)
              \ \text{on the nearest representatives } r_j

    .. math:: L_R v = \lambda D_R v, \quad E_R = B^\top D_X^{-1} B

    B is a bipartite graph of rows and representatives. Its normalised cut is found on the small
    graph :math:`E_R` of representatives and transferred to the rows:
    :math:`u = D_X^{-1} B v / \sqrt{1 - \lambda}`. Labels come from k-means on u. Time and memory
    grow linearly with the number of rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_landmarks : int or None, default=None
        Number of representatives, the p of its paper; at least n_clusters. They are the means of a
        few steps of k-means on ten random rows for each. None takes a fifth of the distinct rows,
        at most 1000. A number that is not below theirs makes every row a representative.
    n_neighbors : int, default=None
        Number of nearest landmarks of each row; below n_samples. None means 5, or all landmarks
        if there are fewer.
    bandwidth : float or "mean", default="mean"
        Width :math:`\sigma` of the kernel, in units of X. "mean" is the mean distance of rows to
        their nearest landmarks.
    normalize_rows : bool, default=True
        Whether rows of the embedding are scaled to length one.
    n_init : int or "auto", default="auto"
        "auto" starts k-means from the cluster means of a rotation of the embedding. A number gives
        that many k-means++ starts, and the best result is kept. The means are computed from at most
        20,000 rows.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the landmarks and of random starts.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed.
    landmarks_ : array of shape (n_landmarks, n_features)
        The landmarks, in the units of X. There can be fewer than requested, because empty cells are
        dropped.
    bandwidth_ : float
        The width of the kernel.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    Notes
    -----
    The search for the nearest representatives is exact; that of the paper is approximate. A row
    far from all representatives keeps a small weight in the graph.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
    ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020.
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning
    approach", CVPR 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import USPEC
    >>> X, y = make_moons(2000, noise=0.05, random_state=0)
    >>> (USPEC(n_clusters=2, n_landmarks=200).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    _by_weight = True


def usual_landmarks(m: int, c: int) -> int:
    """The number of landmarks for m distinct rows: with more, single rows become clusters.

    Examples
    --------
    >>> usual_landmarks(300, 3), usual_landmarks(10, 4), usual_landmarks(1_000_000, 3)
    (60, 4, 1000)
    """
    return max(c, min(MOST_LANDMARKS, math.ceil(m / ROWS_PER_LANDMARK)))


def cut(idx: np.ndarray, T: np.ndarray, omega: np.ndarray, R: np.ndarray, c: int) -> np.ndarray:
    """The cut of the graph of rows and landmarks; of more than c components some are merged."""
    E = bipartite.landmark_graph(idx, T, omega, len(R))
    count, member = bipartite.landmark_components(E)
    used = member >= 0
    c = min(c, int(used.sum()))
    if count > c:
        warn_of_components(count, c, "the smallest were merged with their nearest")
        mass = E.sum(axis=1)[used]  # of their rows: a landmark may have few
        member[used] = fragments.merge_components(R[used], member[used], c, mass)
    return bipartite.transfer_cut(E, c, member)
