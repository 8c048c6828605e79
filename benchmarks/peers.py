"""The methods that are compared: rows and a number of clusters in, labels out.

Each has one setting for all data, and one seed. HDBSCAN, UMAP + HDBSCAN and Leiden find a number of
clusters of their own, EVoC one near to the given one; rows of noise (-1) count as one more cluster.
UMAP, EVoC and Genie need `pip install umap-learn evoc genieclust`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import graspologic_native
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

from dogc import CAN, DOGC, DOGCOS

Cluster = Callable[[np.ndarray, int], np.ndarray]

# Above so many columns the covariances of a Gaussian mixture take minutes: one start, not ten.
MANY = 200


class Embedding:
    """UMAP in ten dimensions, as for clustering; that of the last rows is kept."""

    key: object = None
    Z: np.ndarray
    seconds = 0.0  # what was spared because it was kept

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """The map of the rows."""
        from umap import UMAP

        if self.key != (key := (X.shape, hash(X.tobytes()))):
            began = time.process_time()
            settings = {"n_neighbors": 15, "n_components": 10, "min_dist": 0.0, "random_state": 0}
            self.Z, self.key = UMAP(n_jobs=1, **settings).fit_transform(X), key
            self.cost = time.process_time() - began
        else:
            self.seconds += self.cost
        return self.Z


embedded = Embedding()


def spectral(labels: str) -> Cluster:
    """SpectralClustering on its graph of ten neighbours."""
    settings = {"affinity": "nearest_neighbors", "assign_labels": labels, "random_state": 0}
    return lambda X, c: SpectralClustering(c, **settings).fit_predict(X)


def k_means(X: np.ndarray, c: int) -> np.ndarray:
    return KMeans(c, n_init=10, random_state=0).fit_predict(X)


def mixture(X: np.ndarray, c: int) -> np.ndarray:
    """In 64 bits: in 32 the covariances of small clusters are singular."""
    starts = 10 if X.shape[1] <= MANY else 1
    return GaussianMixture(c, n_init=starts, random_state=0).fit_predict(X.astype(float))


def genie(X: np.ndarray, c: int) -> np.ndarray:
    import genieclust

    return genieclust.Genie(c).fit_predict(X)


def leiden(X: np.ndarray, c: int) -> np.ndarray:
    """Modularity at resolution one on the graph of 15 neighbours."""
    A = kneighbors_graph(X, 15)
    A = (A + A.T).tocsr()
    _, found = graspologic_native.leiden_csr(
        A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, len(X), seed=0
    )
    return np.array([found[i] for i in range(len(X))])


def evoc(X: np.ndarray, c: int) -> np.ndarray:
    """With columns of zeros where there are fewer than it takes."""
    from evoc import EVoC

    X = np.pad(X, ((0, 0), (0, max(0, 5 - X.shape[1]))))
    return EVoC(approx_n_clusters=c, random_state=0).fit_predict(X)


OURS: dict[str, Cluster] = {
    "DOGC": lambda X, c: DOGC(c).fit_predict(X),
    "DOGC-OS": lambda X, c: DOGCOS(c).fit_predict(X),
    "CAN": lambda X, c: CAN(c).fit_predict(X),
}
PEERS: dict[str, Cluster] = {
    "k-means": k_means,
    "Spectral, k-means": spectral("kmeans"),
    "Gaussian mixture": mixture,
    "HDBSCAN": lambda X, c: HDBSCAN(copy=True).fit_predict(X),
    "UMAP + k-means": lambda X, c: k_means(embedded(X), c),
    "UMAP + HDBSCAN": lambda X, c: HDBSCAN(min_cluster_size=15, copy=True).fit_predict(embedded(X)),
    "Leiden": leiden,
    "EVoC": evoc,
    "Genie": genie,
}
METHODS: dict[str, Cluster] = {
    **OURS,
    **PEERS,
    "Spectral, QR": spectral("cluster_qr"),
    "Ward": lambda X, c: AgglomerativeClustering(c).fit_predict(X),
}


def timed(cluster: Cluster, X: np.ndarray, c: int) -> tuple[np.ndarray, float]:
    """Labels, and the CPU seconds of this process that they take."""
    embedded.seconds, began = 0.0, time.process_time()
    labels = cluster(X, c)
    return labels, time.process_time() - began + embedded.seconds
