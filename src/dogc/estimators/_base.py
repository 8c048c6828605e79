"""What the estimators share: validate, build the problem, run the loop, assign attributes."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import discrete, graph, steps
from ..arrays import Matrix
from ..methods import Method
from ..restarts import solve, starts
from ..solver import STOPPING_REASONS, SUCCESS, Callback, Record, Result
from ..state import Problem, State
from . import _build, _checks, _predict
from ._repeatable import generator, single_blas_thread
from ._rows import RowClusterer, reachable_clusters


class GraphClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowClusterer):
    """Base of every method that :func:`dogc.solver.alternate` solves.

    A subclass names its method and has the parameters that the method knows.
    """

    _method: ClassVar[Method]
    _regresses: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> GraphClusterer:
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
        settings = self._check(X)
        c = reachable_clusters(X, settings.n_clusters, self.metric)
        # Given labels cannot be kept where there are fewer distinct rows than labels.
        init = settings.init if c == settings.n_clusters else "spectral"
        with single_blas_thread:
            problem, geometry = _build.build_problem(X, settings, c, self._regresses)
            result = solve(
                problem,
                self._method,
                starts(problem, init, settings.n_init, generator(self.random_state)),
                lam=settings.lam,
                max_iter=settings.max_iter,
                tol=settings.tol,
                callback=with_printing(self.verbose, self.callback),
            )
            self._assign(problem, geometry, settings, result)
        warn_unless_converged(self)
        return self

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        X = super()._validate(X, reset=reset)
        if self.metric == "precomputed" and not sp.issparse(X):
            raise ValueError(
                "X must be a sparse graph when metric='precomputed'; make one with "
                "KNeighborsTransformer(mode='distance')."
            )
        return X

    def _check(self, X: Matrix) -> _checks.Settings:
        settings = _checks.check_settings(self.get_params(deep=False), X.shape, sp.issparse(X))
        if settings.precomputed and self._regresses:
            raise ValueError(
                f"metric='precomputed' gives {type(self).__name__} no features to regress labels "
                "on; pass features, or use DOGC."
            )
        return settings

    def _assign(
        self,
        problem: Problem,
        geometry: _build.Geometry,
        settings: _checks.Settings,
        result: Result,
    ) -> None:
        """Set the fitted attributes; clusters are numbered by falling size."""
        state, dtype = result.state, geometry.dtype
        labels = self._discretise(problem, result)
        old_name = np.argsort(discrete.size_order(labels, problem.c))
        self._assign_labels(labels)
        self.affinity_matrix_ = learned_graph(state).astype(dtype)
        self.embedding_ = state.F.astype(dtype)
        if steps.step_Q in self._method.steps:
            self.rotation_ = state.Q[:, old_name].astype(dtype)
        self.components_ = _build.projection(geometry, state, settings, self.n_features_in_)
        assign_run(self, result)
        common_xi = None if settings.xi_rule is graph.neighbour_xi else float(state.xi[0])
        self._fitted_rows = _predict.remember(
            geometry.scaled, self.components_, settings.n_neighbors, common_xi
        )

    def _discretise(self, problem: Problem, result: Result) -> np.ndarray:
        """The discrete labels that a final state stands for."""
        return self._method.final_labels(problem, result.state)

    def predict(self, X: Any) -> np.ndarray:
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
        X = self._validate_new(X)
        with single_blas_thread:
            return _predict.vote(self._fitted_rows, X, self.labels_, self.n_jobs)

    def transform(self, X: Any) -> np.ndarray:
        """Map rows into the learned subspace: X W, or X itself where none was learned.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            The rows in the learned subspace.
        """
        check_is_fitted(self, "labels_")
        if self.metric == "precomputed":
            raise ValueError(
                "metric='precomputed' learns no subspace to transform into; fit on features."
            )
        return _predict.project(self._validate(X, reset=False), self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ if self.components_ is None else len(self.components_)

    def __sklearn_tags__(self) -> Any:
        """As for every clusterer; dtypes are kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def learned_graph(state: State) -> sp.csr_array:
    """(S + S')/2."""
    S = graph.to_csr(state.idx, state.S, len(state.S))
    return ((S + S.T) * 0.5).tocsr()


def assign_run(estimator: RowClusterer, result: Result) -> None:
    """Set the attributes that say how the loop went."""
    estimator.history_ = result.history
    estimator.n_iter_ = len(result.history)
    estimator.stopping_reason_ = result.reason
    estimator.converged_ = result.reason in SUCCESS


def warn_unless_converged(estimator: RowClusterer) -> None:
    """Say why the loop stopped, unless it converged or was asked to stop."""
    if not estimator.converged_ and estimator.stopping_reason_ != "callback":
        warnings.warn(
            f"{type(estimator).__name__} stopped before it converged: "
            f"{STOPPING_REASONS[estimator.stopping_reason_]}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def with_printing(verbose: Any, callback: Callback | None) -> Callback | None:
    """One function out of printing and the user's own callback."""
    if not verbose:
        return callback

    def report(record: Record) -> object:
        print(
            f"iteration {record.iteration:3d}  objective {record.objective:.6g}  lambda "
            f"{record.lam:.3g}  components {record.n_components}  changed {record.labels_changed}"
        )
        return callback(record) if callback is not None else None

    return report
