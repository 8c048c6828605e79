"""Ensembles of spectral clusterings through landmarks: U-SENC."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _checks
from ..fitting import landmarks
from ..fitting.memory import check_in_memory
from ..numerics.matrix import Matrix
from ._landmarks import (
    HYBRID,
    MOST_LANDMARKS,
    LandmarkClusterer,
    LandmarkCut,
    LandmarkSettings,
    check_landmarks,
    check_links,
    cut_graph,
    cut_landmarks,
    embedding_centres,
)

# Numbers of clusters of base clusterings, as its paper draws them.
FEWEST, MOST = 20, 60


class USENC(LandmarkClusterer):
    r"""Ultra-scalable ensemble clustering (U-SENC): a cut of rows and the clusters of many U-SPECs.

    Use it for many rows when :class:`~dogc.USPEC` is unstable and you can wait
    ``n_estimators`` times as long.

    .. math:: \tilde b_{ij} = 1 \ \text{if row } i \text{ is in base cluster } j, \qquad
              L_C v = \lambda D_C v, \quad E_C = \tfrac{1}{m} \tilde B^\top \tilde B

    U-SPEC runs m times, each time with different representatives and a different number of
    clusters. All these clusters are one side of a bipartite graph; the rows are the other side.
    Its normalised cut is computed on the clusters and transferred to the rows as in
    :class:`~dogc.USPEC`. Labels come from k-means on the result.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_estimators : int, default=20
        Number of base clusterings, the m of its paper.
    base_clusters : tuple of two int, default=None
        Minimum and maximum number of clusters of a base clustering; the number is drawn between
        them. None means 20 and 60, limited by the square root of the number of distinct rows, but
        at least n_clusters.
    n_landmarks : int or None, default=None
        Number of representatives of each base clustering; at least n_clusters and any number of
        base clusters. None takes half of the distinct rows, at most 1000. The limit is half of the
        distinct rows, so that base clusterings differ.
    n_neighbors : int, default=None
        Number of nearest landmarks of each row; below n_samples. None means 5, or all landmarks
        if there are fewer.
    n_init : int or "auto", default="auto"
        "auto" starts k-means from the cluster means of a rotation of the embedding. A number gives
        that many k-means++ starts, and the best result is kept. The means are computed from at most
        20,000 rows.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the landmarks, of the numbers of base clusters, and of random starts.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed.
    base_labels_ : int array of shape (n_samples, n_estimators)
        Cluster of each row in each base clustering.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
    ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import USENC
    >>> X, y = make_moons(2000, noise=0.05, random_state=0)
    >>> (USENC(n_clusters=2, n_landmarks=200).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 20,
        base_clusters: tuple[int, int] | None = None,
        n_landmarks: int | None = None,
        n_neighbors: int | None = None,
        n_init: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.base_clusters = base_clusters
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _settings(self, n: int) -> LandmarkSettings:
        p = check_landmarks(self.n_landmarks, self.n_clusters)
        _checks.check_count("n_estimators", self.n_estimators, 1)
        check_base_clusters(self.base_clusters, p)
        return LandmarkSettings(
            p,
            check_links(self.n_neighbors, n),
            None,
            HYBRID,
            True,
            True,
            _checks.check_starts(self.n_init),
            warn=False,
        )

    def _check_room(self, X: Matrix, settings: LandmarkSettings, c: int) -> None:
        drawn = settings.candidates * (settings.n_landmarks or MOST_LANDMARKS)
        k = settings.n_links + self.n_estimators  # a row has a label in each
        check_in_memory(X, "ensemble", k=k, c=c, m=drawn)

    def _cut(
        self,
        rows: landmarks.ReadyRows,
        c: int,
        settings: LandmarkSettings,
        rng: np.random.Generator,
    ) -> LandmarkCut:
        low, high = base_range(self.base_clusters, rows.m, c)
        fitted, columns = [], []
        for k in rng.integers(low, high, self.n_estimators, endpoint=True):
            wanted = settings.n_landmarks or MOST_LANDMARKS
            p = max(int(k), min(wanted, math.ceil(rows.m / 2)))
            base = cut_landmarks(rows, int(k), settings._replace(n_landmarks=p), rng)
            fitted.append(base.fitted)
            columns.append(base.labels.astype(np.int32))
        counts = [len(base.centres) for base in fitted]
        found = landmarks.cluster_links(np.column_stack(columns), counts)
        p = sum(counts)

        def means() -> np.ndarray:
            return landmarks.barycentres(rows, found, p)[0]

        V = cut_graph(found, rows.size, p, c, means, "lower base_clusters or raise n_neighbors")
        centres = embedding_centres(found, rows.size, V, True, settings.n_init, rng)
        labels = landmarks.labels_by(found, V, True, centres, rows.n_jobs)
        return LandmarkCut(landmarks.Ensemble(tuple(fitted), V, True, centres), found, labels)

    def _assign_side(self, found: LandmarkCut, rows: landmarks.ReadyRows) -> None:
        first = np.cumsum([0, *(len(base.centres) for base in found.fitted.bases[:-1])])
        self.base_labels_ = (found.links.idx - first)[rows.inverse]


def check_base_clusters(base_clusters: Any, p: int | None) -> None:
    """None or two numbers of clusters, the least and the largest."""
    if base_clusters is None:
        return
    if not isinstance(base_clusters, tuple | list) or len(base_clusters) != 2:
        raise ValueError(
            "base_clusters must be None or two integers, the least and the largest number of "
            f"clusters; got {_checks.shown(base_clusters)}."
        )
    low = _checks.check_count("base_clusters[0]", base_clusters[0], 1)
    why = f"every cluster needs one of n_landmarks={p}"
    high = _checks.check_count("base_clusters[1]", base_clusters[1], 1, p, why)
    if low > high:
        raise ValueError(
            f"base_clusters must not fall; got {_checks.shown(base_clusters)}, whose first number "
            "is the larger: swap them."
        )


def base_range(base_clusters: tuple[int, int] | None, m: int, c: int) -> tuple[int, int]:
    """The least and the largest number of base clusters, for m distinct rows.

    Examples
    --------
    >>> base_range(None, 1_000_000, 2), base_range(None, 150, 3), base_range((2, 9), 5, 2)
    ((20, 60), (12, 12), (2, 5))
    """
    if base_clusters is None:
        most = math.isqrt(m)
        base_clusters = max(c, min(FEWEST, most)), max(c, min(MOST, most))
    low, high = base_clusters
    return min(low, m), min(high, m)
