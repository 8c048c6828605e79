"""CAN and PCAN."""

from __future__ import annotations

from .. import discrete, methods
from ._base import GraphClusterer


class CAN(GraphClusterer):
    _method = methods.CAN

    def __init__(
        self,
        n_clusters=8,
        *,
        n_neighbors=None,
        xi="row",
        lam="auto",
        max_iter=100,
        tol=1e-6,
        metric="euclidean",
        n_jobs=None,
        verbose=0,
        callback=None,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.xi = xi
        self.lam = lam
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _final_labels(self, problem, result):
        state = result.state
        if state.n_components == problem.c:
            return state.member
        return discrete.rotate_to_labels(state.F, discrete.pivoted_rotation(state.F))[1]


class PCAN(CAN):
    _method = methods.PCAN

    def __init__(
        self,
        n_clusters=8,
        *,
        n_neighbors=None,
        n_components="auto",
        xi="row",
        lam="auto",
        init="spectral",
        n_init=1,
        max_iter=100,
        tol=1e-6,
        metric="euclidean",
        n_jobs=None,
        random_state=None,
        verbose=0,
        callback=None,
    ):
        super().__init__(
            n_clusters,
            n_neighbors=n_neighbors,
            xi=xi,
            lam=lam,
            max_iter=max_iter,
            tol=tol,
            metric=metric,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
