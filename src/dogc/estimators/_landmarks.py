"""Spectral clustering through landmarks: LSC and U-SPEC."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _checks
from .._caller import warn_caller
from ..fitting import landmarks
from ..fitting.in_memory import RowsInMemory
from ..fitting.memory import check_in_memory
from ..fitting.repeatable import generator, single_blas_thread
from ..numerics import bipartite, discrete, fragments
from ..numerics.matrix import Matrix
from ._discretising import kmeans_centres
from ._rows import RowClusterer, reachable_clusters
from ._warnings import warn_lost_clusters

# Landmarks that a row is joined with, and rows that k-means looks at.
LINKS = 5
KMEANS_ROWS = 20_000
# Rows drawn for each landmark: that of LSC, which is their mean or the one row; that of U-SPEC.
CANDIDATES = {"kmeans": 40, "random": 1}
HYBRID = 10
# Where no number is asked for: chosen on small problems of a public battery, where all rows
# as landmarks do far worse, and a third to an eighth of them about the same.
ROWS_PER_LANDMARK, MOST_LANDMARKS = 5, 1000


class LandmarkSettings(NamedTuple):
    """How the bipartite graph of rows and landmarks is made and cut."""

    n_landmarks: int | None
    n_links: int
    width: float | None  # in units of X; None: the mean distance
    candidates: int  # rows that a landmark is the mean of, about; 1: landmarks are rows
    by_weight: bool  # whether a row counts for the sum of its kernel values, or for one
    unit_rows: bool
    n_init: int | None
    warn: bool = True  # of a graph in too many pieces


class LandmarkCut(NamedTuple):
    """Rows that were cut: what labels new ones, and the labels of the distinct ones."""

    fitted: Any  # Landmarks or Ensemble
    links: landmarks.Links
    labels: np.ndarray  # (m,)


class LandmarkClusterer(RowClusterer):
    """Base of the methods on a bipartite graph of rows and landmarks."""

    _fitted_rows: landmarks.Landmarks | landmarks.Ensemble

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
        settings = self._settings(X.shape[0])
        n_jobs = _checks.check_jobs(self.n_jobs)
        rng = generator(self.random_state)
        c = reachable_clusters(RowsInMemory(X), self.n_clusters)
        self._check_room(X, settings, c)
        with single_blas_thread:
            rows = landmarks.ready_rows(X, n_jobs)
            found = self._cut(rows, c, settings, rng)
            self._assign(found, rows, c)
        return self

    def _settings(self, n: int) -> LandmarkSettings:
        raise NotImplementedError

    def _check_room(self, X: Matrix, settings: LandmarkSettings, c: int) -> None:
        drawn = settings.candidates * (settings.n_landmarks or usual_landmarks(X.shape[0], c))
        check_in_memory(X, "landmarks", k=settings.n_links, c=c, m=drawn)

    def _cut(
        self,
        rows: landmarks.ReadyRows,
        c: int,
        settings: LandmarkSettings,
        rng: np.random.Generator,
    ) -> LandmarkCut:
        return cut_landmarks(rows, c, settings, rng)

    def _assign(self, found: LandmarkCut, rows: landmarks.ReadyRows, c: int) -> None:
        """Set the fitted attributes; clusters are numbered by falling size."""
        fitted, dtype = found.fitted, rows.X.dtype
        new_name = discrete.size_order(found.labels, c, rows.size)
        order = np.argsort(new_name)[: len(np.unique(found.labels))]  # without lost clusters
        warn_lost_clusters(c, len(order))
        self.labels_ = new_name[found.labels][rows.inverse]
        self._fitted_rows = fitted._replace(centres=fitted.centres[order])
        U = landmarks.embedded(found.links, fitted.V, fitted.unit_rows)
        self.embedding_ = U.astype(dtype)[rows.inverse]
        self._assign_side(found, rows)

    def _assign_side(self, found: LandmarkCut, rows: landmarks.ReadyRows) -> None:
        """What is known of the other side of the graph."""
        fitted, scaled = found.fitted, rows.frame.scaled
        self.landmarks_ = (fitted.R * scaled.scale + scaled.shift).astype(rows.X.dtype)
        self.bandwidth_ = float(fitted.width * scaled.scale)

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
            return landmarks.new_labels(self._fitted_rows, X, self.n_jobs)


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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int | None = None,
        landmarks: str = "kmeans",
        n_neighbors: int | None = None,
        bandwidth: float | str = "mean",
        normalize_rows: bool = True,
        n_init: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self, n: int) -> LandmarkSettings:
        how = _checks.check_choice("landmarks", self.landmarks, tuple(CANDIDATES))
        return LandmarkSettings(
            check_landmarks(self.n_landmarks, self.n_clusters),
            check_links(self.n_neighbors, n),
            _checks.check_bandwidth(self.bandwidth, "mean"),
            CANDIDATES[how],
            False,
            _checks.check_flag("normalize_rows", self.normalize_rows),
            _checks.check_starts(self.n_init),
        )


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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int | None = None,
        n_neighbors: int | None = None,
        bandwidth: float | str = "mean",
        normalize_rows: bool = True,
        n_init: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self, n: int) -> LandmarkSettings:
        return LandmarkSettings(
            check_landmarks(self.n_landmarks, self.n_clusters),
            check_links(self.n_neighbors, n),
            _checks.check_bandwidth(self.bandwidth, "mean"),
            HYBRID,
            True,
            _checks.check_flag("normalize_rows", self.normalize_rows),
            _checks.check_starts(self.n_init),
        )


def check_landmarks(p: Any, c: Any) -> int | None:
    """None, or a number of landmarks that is enough for the clusters."""
    if p is None:
        return None
    p = _checks.check_count("n_landmarks", p, 2)
    if isinstance(c, numbers.Integral) and p < c:
        raise ValueError(
            f"n_landmarks={p} is too small for n_clusters={c}: every cluster needs one; choose "
            f"{8 * c} or more."
        )
    return p


def usual_landmarks(m: int, c: int) -> int:
    """How many landmarks m distinct rows have: more, and single rows become clusters.

    Examples
    --------
    >>> usual_landmarks(300, 3), usual_landmarks(10, 4), usual_landmarks(1_000_000, 3)
    (60, 4, 1000)
    """
    return max(c, min(MOST_LANDMARKS, math.ceil(m / ROWS_PER_LANDMARK)))


def check_links(n_neighbors: Any, n: int) -> int:
    """The number of landmarks that a row is joined with."""
    return LINKS if n_neighbors is None else _checks.check_neighbors(n_neighbors, n)


def cut_landmarks(
    rows: landmarks.ReadyRows, c: int, settings: LandmarkSettings, rng: np.random.Generator
) -> LandmarkCut:
    """Join rows with landmarks, cut the graph, and find the means of c clusters there."""
    p = settings.n_landmarks or usual_landmarks(rows.m, c)
    R = landmarks.make_landmarks(rows, p, settings.candidates, rng)
    if len(R) < c:  # cells that were lost
        R = landmarks.make_landmarks(rows, p, 1, rng)
    k = min(settings.n_links, len(R))
    idx, d = landmarks.nearest_landmarks(rows, R, k)
    if settings.width is None:
        width = landmarks.mean_width(d, rows.size)
    else:
        width = settings.width / rows.frame.scaled.scale
    T, total = bipartite.gaussian_links(d, width)
    omega = rows.size * total if settings.by_weight else rows.size
    found = landmarks.Links(idx, T)
    remedy = "raise n_neighbors" if settings.warn else None
    V = cut_graph(found, omega, len(R), c, lambda: R, remedy)
    centres = embedding_centres(found, rows.size, V, settings.unit_rows, settings.n_init, rng)
    labels = landmarks.labels_by(found, V, settings.unit_rows, centres, rows.n_jobs)
    fitted = landmarks.Landmarks(rows.frame, R, k, width, V, settings.unit_rows, centres)
    return LandmarkCut(fitted, found, labels)


def cut_graph(
    found: landmarks.Links,
    omega: np.ndarray,
    p: int,
    c: int,
    positions: Callable[[], np.ndarray],
    remedy: str | None,
) -> np.ndarray:
    """What rows take the weighted mean of in the normalised cut of rows and p landmarks.

    More components than clusters are merged by the positions of landmarks, the smallest with
    their nearest; what avoids that is said, if there is a remedy.
    """
    E = bipartite.landmark_graph(found.idx, found.T, omega, p)
    count, member = bipartite.landmark_components(E)
    used = member >= 0
    c = min(c, int(used.sum()))
    if count > c:
        if remedy is not None:
            warn_caller(
                f"the graph has {count} components, more than n_clusters={c}; the smallest were "
                f"merged with their nearest; {remedy} to avoid that.",
                ConvergenceWarning,
            )
        mass = E.sum(axis=1)[used]  # of their rows: a landmark or base cluster may have few
        member[used] = fragments.merge_components(positions()[used], member[used], c, mass)
    return bipartite.transfer_cut(E, c, member).V


def embedding_centres(
    found: landmarks.Links,
    size: np.ndarray,
    V: np.ndarray,
    unit_rows: bool,
    n_init: int | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """The means of k-means on the embedding of the rows, or of as many as are enough."""
    if len(size) > KMEANS_ROWS:
        seen = np.sort(rng.permutation(len(size))[:KMEANS_ROWS])
        found, size = landmarks.Links(found.idx[seen], found.T[seen]), size[seen]
    return kmeans_centres(landmarks.embedded(found, V, unit_rows), size, n_init, rng)
