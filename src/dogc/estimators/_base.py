"""What the estimators share: validate, build the problem, run the loop, assign attributes."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from .. import discrete, graph
from ..methods import Method
from ..restarts import solve, starts
from ..solver import STOPPING_REASONS, SUCCESS, Record, Result
from ..state import Problem
from . import _build, _checks, _data


class GraphClusterer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Base of every method that :func:`dogc.solver.alternate` solves.

    A subclass names its method and has the parameters that the method knows.
    """

    _method: ClassVar[Method]
    _regresses: ClassVar[bool] = False

    def fit(self, X, y=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster; with ``metric="precomputed"``, a sparse graph of distances of
            shape (n_samples, n_samples) as ``KNeighborsTransformer`` makes it.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._validate(X, reset=True)
        settings = _checks.check_settings(
            self.get_params(deep=False), *X.shape, sparse=sp.issparse(X)
        )
        if settings.precomputed and self._regresses:
            raise ValueError(
                f"metric='precomputed' gives {type(self).__name__} no features to regress labels "
                "on; pass features, or use DOGC."
            )
        c = _reachable_clusters(X, settings)
        rng = _generator(getattr(self, "random_state", None))
        # More BLAS threads would change the order of sums, and with it the last bits.
        with threadpool_limits(1, user_api="blas"):
            problem, geometry = _build.build_problem(X, settings, c, self._regresses)
            result = solve(
                problem,
                self._method,
                starts(problem, settings.init, settings.n_init, rng),
                lam=settings.lam,
                max_iter=settings.max_iter,
                tol=settings.tol,
                callback=_callback(self.verbose, self.callback),
            )
            labels = self._final_labels(problem, result)
        self._assign(problem, geometry, settings, result, labels)
        if not self.converged_ and self.stopping_reason_ != "callback":
            _warn(f"did not converge: {STOPPING_REASONS[self.stopping_reason_]}", self)
        return self

    def _validate(self, X, *, reset: bool):
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
        if self.metric == "precomputed" and not sp.issparse(X):
            raise ValueError(
                "X must be a sparse graph when metric='precomputed'; make one with "
                "KNeighborsTransformer(mode='distance')."
            )
        return X

    def _final_labels(self, problem: Problem, result: Result) -> np.ndarray:
        """The discrete labels that a final state stands for."""
        raise NotImplementedError

    def _assign(self, problem, geometry, settings, result, labels) -> None:
        state, dtype = result.state, geometry.dtype
        new_name = discrete.size_order(labels, problem.c)
        old_name = np.argsort(new_name)
        self.labels_ = new_name[labels]
        S = graph.to_csr(state.idx, state.S, problem.n)
        self.affinity_matrix_ = ((S + S.T) * 0.5).tocsr().astype(dtype)
        self.embedding_ = state.F.astype(dtype)
        self.components_ = _build.projection(geometry, state, settings, self.n_features_in_)
        self.rotation_ = state.Q[:, old_name].astype(dtype)
        self.history_ = result.history
        self.n_iter_ = len(result.history)
        self.stopping_reason_ = result.reason
        self.converged_ = result.reason in SUCCESS
        self._settle_prediction(geometry, settings, state, old_name)

    def _settle_prediction(self, geometry, settings, state, old_name) -> None:
        """Keep what the row problem of a new row needs."""
        self._scaled = geometry.scaled
        self._k = settings.n_neighbors
        self._xi = None if settings.xi_rule is graph.neighbour_xi else float(state.xi[0])
        if self._scaled is not None:
            self._index = _data.fit_index(self._project(self._scaled.X))
            self._scaled = self._scaled._replace(X=None)

    # -- new rows --------------------------------------------------------------------

    def predict(self, X):
        """Label new rows by the paper's own row problem.

        A new row solves `eq:10` against the fitted rows: its neighbours among them, in the
        learned subspace, get the weights that the problem gives, and the cluster with the
        most weight wins (the lower label in a tie).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; with ``metric="precomputed"``, their distances to fitted rows as the
            ``transform`` of the fitted ``KNeighborsTransformer`` gives them.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Only labels that ``fit`` produced.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        with threadpool_limits(1, user_api="blas"):
            idx, d = self._fitted_neighbours(X)
            if self._xi is None:
                xi = graph.neighbour_xi(d, self._k, floor=0.0)
            else:
                xi = np.full(len(d), self._xi)
            weight = graph.solve_rows(d[:, : self._k], xi)
        c = int(self.labels_.max()) + 1
        row = np.arange(len(d))[:, None]
        votes = np.bincount(
            (row * c + self.labels_[idx[:, : self._k]]).ravel(),
            weights=weight.ravel(),
            minlength=len(d) * c,
        )
        return votes.reshape(-1, c).argmax(axis=1)

    def _fitted_neighbours(self, X) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.labels_)
        if self._scaled is None:
            _checks.check_distances(X)
            idx, d = _data.neighbours_in_graph(X, self._k + 1, skip_self=False)
            if (idx[:, 0] < 0).any():
                raise ValueError(
                    "X has rows without any distance to a fitted row; pass the transform of the "
                    "KNeighborsTransformer that was fitted on the same rows as this estimator."
                )
            return idx, d
        Z = self._project(_data.apply_scale(self._scaled, X))
        idx = np.sort(_data.query(self._index, Z, min(self._k + 1, n), self.n_jobs), axis=1)
        d = graph.pair_distances(Z, self._index._fit_X, idx)
        order = np.argsort(d, axis=1, kind="stable")
        return np.take_along_axis(idx, order, axis=1), np.take_along_axis(d, order, axis=1)

    def _project(self, X):
        if self.components_ is None:
            return X
        return np.asarray(X @ self.components_.T)

    def transform(self, X):
        """Map rows into the learned subspace: X W, or X itself where none was learned.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            raise ValueError(
                "metric='precomputed' learns no subspace to transform into; fit on features."
            )
        return self._project(self._validate(X, reset=False))

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ if self.components_ is None else len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _reachable_clusters(X, settings) -> int:
    """n_clusters, or the number of distinct rows where that is smaller, with a warning."""
    if settings.precomputed:
        return settings.n_clusters
    distinct = _data.count_distinct(X, settings.n_clusters)
    if distinct < settings.n_clusters:
        warnings.warn(
            f"X has only {distinct} distinct rows, fewer than n_clusters={settings.n_clusters}; "
            f"only {distinct} clusters are returned. Lower n_clusters.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return min(distinct, settings.n_clusters)


def _generator(random_state) -> np.random.Generator:
    """scikit-learn's random_state as a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def _callback(verbose, callback):
    """One function out of printing and the user's own callback."""
    if not verbose:
        return callback

    def report(record: Record):
        print(
            f"iteration {record.iteration:3d}  objective {record.objective:.6g}  lambda "
            f"{record.lam:.3g}  components {record.n_components}  changed {record.labels_changed}"
        )
        return callback(record) if callback is not None else None

    return report


def _warn(sentence: str, estimator) -> None:
    warnings.warn(f"{type(estimator).__name__} {sentence}.", ConvergenceWarning, stacklevel=3)
