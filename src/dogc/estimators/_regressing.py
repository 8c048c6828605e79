"""The parameters of the methods that regress labels on features."""

from __future__ import annotations

from typing import Any

from ..loop.solver import Callback
from ._base import GraphClusterer


class RegressingDOGC(GraphClusterer):
    """Base of DOGC-OS and its ablations."""

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_representatives: int | str | None = "auto",
        geometry: str = "auto",
        n_neighbors: int | str = "auto",
        n_components: int | str | None = "auto",
        alpha: float = 1e-3,
        beta: float = 0.1,
        gamma: float = 1e-2,
        p: float = 1.0,
        fit_intercept: bool = True,
        penalties: str = "relative",
        xi: str = "mean",
        lam: float | str = "auto",
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        min_cluster_size: int | str = "auto",
        outlier_label: int | None = None,
        metric: str = "euclidean",
        neighbors_algorithm: Any = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.geometry = geometry
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.p = p
        self.fit_intercept = fit_intercept
        self.penalties = penalties
        self.xi = xi
        self.lam = lam
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.min_cluster_size = min_cluster_size
        self.outlier_label = outlier_label
        self.metric = metric
        self.neighbors_algorithm = neighbors_algorithm
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
