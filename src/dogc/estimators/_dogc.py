"""DOGC, DOGC-OS and the paper's two ablations."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from .. import methods
from . import _build
from ._base import GraphClusterer


class DOGC(GraphClusterer):
    _method = methods.DOGC

    def __init__(
        self,
        n_clusters=8,
        *,
        n_neighbors=None,
        n_components="auto",
        alpha=1e-3,
        penalties="relative",
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
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.alpha = alpha
        self.penalties = penalties
        self.xi = xi
        self.lam = lam
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _final_labels(self, problem, result):
        return result.state.Y


class _Regressing(DOGC):
    _regresses = True

    def __init__(
        self,
        n_clusters=8,
        *,
        n_neighbors=None,
        n_components="auto",
        alpha=1e-3,
        beta=0.1,
        gamma=1e-2,
        p=1.0,
        fit_intercept=True,
        penalties="relative",
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
            n_components=n_components,
            alpha=alpha,
            penalties=penalties,
            xi=xi,
            lam=lam,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            metric=metric,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.beta = beta
        self.gamma = gamma
        self.p = p
        self.fit_intercept = fit_intercept


class DOGCOS(_Regressing):
    _method = methods.DOGC_OS

    def _settle_prediction(self, geometry, settings, state, old_name):
        super()._settle_prediction(geometry, settings, state, old_name)
        coef, intercept = _build.linear_predictor(geometry, state, settings.fit_intercept)
        self.coef_, self.intercept_ = coef[old_name], intercept[old_name]

    def decision_function(self, X):
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def predict(self, X):
        return self.decision_function(X).argmax(axis=1)


class DOGCRelaxed(_Regressing):
    _method = methods.DOGC_RELAXED

    def _final_labels(self, problem, result):
        kmeans = KMeans(problem.c, n_init=10, random_state=0)
        return kmeans.fit(result.state.Y).labels_.astype(np.int64)


class DOGCFixedGraph(_Regressing):
    _method = methods.DOGC_FIXED_GRAPH
