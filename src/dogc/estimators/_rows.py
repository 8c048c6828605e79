"""The rows of a clusterer: those to fit, and new ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from .. import _checks
from ..fitting import labelling, new_rows, scaling
from ..fitting.auto.trials import Trial
from ..fitting.distinct import check_sample_weight, warn_few_rows
from ..fitting.in_memory import RowsInMemory
from ..fitting.repeatable import single_blas_thread
from ..fitting.representatives import RowSet
from ..fitting.rule import Rule
from ..loop.solver import HALTED, SUCCESS, Record, Result
from ..loop.watch import Watch
from ..numerics.matrix import Matrix
from ._elsewhere import in_memory, of_each_row, on_host, rows_elsewhere, unwatched, validate_rows

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:
    CallbackSupportMixin, with_callbacks = object, lambda method: method

# Sparse rows of so few columns take little more room as dense ones.
FEW_COLUMNS = 50
# New rows whose memberships in all clusters are held at once.
BLOCK_ROWS = 10_000


class RowClusterer(ClusterMixin, BaseEstimator):
    """Rows in, labels out: the part of a clusterer that looks at what the user passed."""

    _doc_link_module = "dogc"

    @property
    def _doc_link_template(self) -> str:
        """The page that a notebook links to, if the package names where its documentation is."""
        urls = metadata.metadata("dogc").get_all("Project-URL") or []
        home = dict(url.split(", ", 1) for url in urls).get("Documentation")
        return f"{home.rstrip('/')}/api/generated/dogc.{{estimator_name}}.html" if home else ""

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        return validate_rows(self, X, reset)

    def _row_set(self, X: Any, sample_weight: Any = None) -> RowSet:
        """Rows to fit, wherever they are."""
        n_jobs = _checks.check_jobs(getattr(self, "n_jobs", None))
        if (rows := rows_elsewhere(self, X, sample_weight)) is not None:
            return rows
        X, sample_weight = self._validate(on_host(X), reset=True), on_host(sample_weight)
        given = "precomputed" in (getattr(self, "metric", ""), getattr(self, "affinity", ""))
        if sp.issparse(X) and X.shape[1] <= FEW_COLUMNS and not given:
            X = X.toarray()  # so that labels are those of the same rows stored otherwise
        return RowsInMemory(X, check_sample_weight(sample_weight, X.shape[0]), n_jobs)

    def _validate_new(self, X: Any) -> Matrix:
        check_is_fitted(self, "labels_")
        return self._validate(X, reset=False)

    def _assign_run(self, result: Result, watch: Watch) -> None:
        """How the loop went, and whether something was left out for want of time."""
        reason = result.reason if result.reason in HALTED else watch.end.reason or result.reason
        self.stopping_reason_, self.converged_ = reason, reason in SUCCESS
        self.history_, self.n_iter_ = result.history, len(result.history)

    def _assign_representatives(
        self, trial: Trial | None, labels: np.ndarray | None = None, unit: float = 1.0
    ) -> None:
        """Set what a graph on representatives leaves; None: there are none."""
        if trial is None:
            self.n_representatives_ = self.resolutions_ = self.representatives_ = None
            self.representative_weights_ = self.representative_labels_ = None
            return
        nodes, scaled = trial.nodes, trial.fitted.frame.scaled
        self.n_representatives_, self.resolutions_ = len(nodes.X), trial.choice
        self.representatives_ = nodes.X * scaled.scale + scaled.shift
        self.representative_weights_ = nodes.size * nodes.unit * unit
        self.representative_labels_ = labels

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome, a precomputed graph is pairwise."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = (getattr(self, "affinity", None), getattr(self, "metric", None))
        tags.input_tags.pairwise = "precomputed" in given
        return tags


class IterativeClusterer(CallbackSupportMixin, RowClusterer):
    """A clusterer whose iterations are tasks of scikit-learn's callbacks, where it has any."""

    def _audience(self) -> Callable[[Record], object] | None:
        """The user's ``callback``, and those of ``set_callbacks``; any of them may end the run."""
        own: Callable[[Record], object] | None = self.callback
        if not hasattr(self, "_skl_callbacks"):
            return own
        fit = self._init_callback_context(max_subtasks=None)
        fit.call_on_fit_task_begin(estimator=self)

        def tell(record: Record) -> object:
            task = fit.subcontext("iteration").call_on_fit_task_begin(estimator=self)
            ends = task.call_on_fit_task_end(estimator=self)
            return ends | bool(own and own(record))

        return tell

    def _tell_end(self, X: Any, y: Any) -> None:
        """Tell scikit-learn's callbacks that the model is fitted."""
        if hasattr(self, "_callback_fit_ctx"):
            end = self._callback_fit_ctx.call_on_fit_task_end
            end(estimator=self, X=X, y=y, reconstruction_attributes={})


class NewRows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowClusterer):
    """Labels, memberships and outlier scores for rows that were not fitted."""

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        X = super()._validate(X, reset=reset)
        if self.metric == "precomputed" and not sp.issparse(X):
            raise ValueError(
                "X must be a sparse graph when metric='precomputed'; make one with "
                "KNeighborsTransformer(mode='distance')."
            )
        if self.metric == "manhattan" and sp.issparse(X):  # scikit-learn's distances want 32 bits
            parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = sp.csr_array(parts, shape=X.shape)
        return scaling.unit_rows(X) if self.metric == "cosine" else X

    @of_each_row
    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the row problem of the paper.

        `eq:10` is solved for each new row: its neighbours among the fitted rows, in the learned
        subspace, get weights. The row gets the label with the largest total weight (the lower
        label in a tie). If the graph was learned on representatives, the new row is linked to
        the nearest ones like a fitted row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; with ``metric="precomputed"``, their distances to fitted rows as the
            ``transform`` of the fitted ``KNeighborsTransformer`` gives them.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Labels that occur in ``labels_``. If ``outlier_label`` is set, it marks rows with an
            outlier score above 3 and rows next to a group too small to be a cluster.
        """
        return new_rows.labels_of(self._model(), X)

    def _model(self) -> new_rows.Model:
        """All that new rows are told by."""
        rule = None
        if hasattr(self, "rule_"):
            coef, intercept = getattr(self, "coef_", None), getattr(self, "intercept_", None)
            rule = Rule(self.rule_, coef, intercept)
        fitted, known = self._fitted_rows, self._memberships
        return new_rows.Model(fitted, rule, self.metric, self.outlier_label, self.n_jobs, known)

    @of_each_row
    def predict_membership(self, X: Any) -> np.ndarray:
        """Membership of rows in each cluster: its share of the weight of their neighbours.

        A row that was fitted has the share in its own cluster that ``membership_`` holds. Rows far
        from all fitted rows belong to no cluster clearly: as the outlier score grows above 3, the
        shares become more even.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, as for ``predict``.

        Returns
        -------
        shares : array of shape (n_samples, n_clusters)
            Non-negative; each row sums to 1. The largest belongs to the label that ``predict``
            gives, except where a linear rule labels rows, and for fitted rows most of whose
            neighbours are in another cluster. Shares are not probabilities.
        """
        return new_rows.shares_of(self._model(), X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """``predict_membership`` by the name that scikit-learn has for it.

        These are no probabilities: they are not calibrated, and of the rows with a share of .9 in
        their cluster fewer than nine in ten may belong there.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows, as for ``predict``.

        Returns
        -------
        shares : array of shape (n_samples, n_clusters)
            Non-negative; each row sums to 1.
        """
        return np.asarray(self.predict_membership(X))

    def top_memberships(self, X: Any, m: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """The clusters in which new rows have the largest membership, where clusters are many.

        Rows are looked at in blocks, so that the memberships in all clusters are never held.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows in memory, as for ``predict``.
        m : int, default=3
            Number of clusters for each row.

        Returns
        -------
        clusters : int array of shape (n_samples, m)
            The clusters of each row, the largest membership first.
        shares : array of shape (n_samples, m)
            Their shares, as ``predict_membership`` has them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from dogc import DOGC
        >>> X = load_iris().data
        >>> clusters, shares = DOGC(3).fit(X).top_memberships(X, 2)
        >>> clusters.shape, bool((shares[:, 0] >= shares[:, 1]).all())
        ((150, 2), True)
        """
        X, model = self._validate_new(on_host(X)), self._model()
        m = _checks.check_count("m", m, 1, self.n_clusters_, "there are no more clusters")
        found = []
        with single_blas_thread:
            for start in range(0, X.shape[0], BLOCK_ROWS):
                shares = new_rows.shares_of(model, X[start : start + BLOCK_ROWS])
                top = np.argsort(-shares, axis=1, kind="stable")[:, :m]
                found.append((top, np.take_along_axis(shares, top, axis=1)))
        clusters, shares = (np.concatenate(part) for part in zip(*found, strict=True))
        return clusters, shares

    @of_each_row
    def score_outliers(self, X: Any) -> np.ndarray:
        """Outlier scores of new rows: the distance to their neighbours, relative to the region.

        The mean distance of a row to its 20 nearest fitted rows, divided by the median of the
        same quantity over the 45 fitted rows around it. With representatives, 8 and 8.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows, as for ``predict``. A row that was fitted finds itself among its
            neighbours, so its score here is a little below that in ``outlier_scores_``.

        Returns
        -------
        scores : array of shape (n_samples,)
            About 1 inside a cluster. Above 3 a row counts as an outlier.
        """
        return new_rows.scores_of(self._model(), X)

    def score(self, X: Any, y: Any = None) -> float:
        """How well the fitted clusters are reproduced on other rows, without ground truth.

        The rows are clustered again with the same parameters, and the result is compared with
        ``predict``. Real clusters are reproduced; artefacts of one sample are not. Fewer clusters
        are easier to reproduce, so compare settings with the same ``n_clusters``. Look at
        ``evidence_`` as well.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that were not fitted, such as the held-out part that ``GridSearchCV`` passes.
            Shuffle them first (``cv=KFold(3, shuffle=True, random_state=0)``): a fold that lacks
            a cluster scores 0.
        y : ignored
            Present by convention.

        Returns
        -------
        agreement : float
            Adjusted Rand index of the two labellings: 1 if they are the same, about 0 if they
            agree by chance.
        """
        labels = self.predict(X)
        again = unwatched(clone(self)).set_params(n_clusters=self.n_clusters_)
        if not isinstance(getattr(again, "init", ""), str):
            again.set_params(init="spectral")  # labels to start from are for other rows
        again.fit(X)
        return float(adjusted_rand_score(in_memory(labels), in_memory(again.labels_)))

    @of_each_row
    def transform(self, X: Any) -> np.ndarray:
        """Map rows into the learned subspace: X W, or X if no subspace was learned.

        With ``metric="cosine"``, rows are scaled to length one first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            The rows in the learned subspace.
        """
        if self.metric == "precomputed":
            raise ValueError(
                "metric='precomputed' learns no subspace to transform into; fit on features."
            )
        return labelling.project(X, self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ if self.components_ is None else len(self.components_)

    def __sklearn_tags__(self) -> Any:
        """As for every clusterer; dtypes are kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def most_rows(rows: RowSet) -> int:
    """The number of rows, or any number where it is not known yet."""
    return sys.maxsize if rows.n is None else rows.n


def reachable_clusters(rows: RowSet, n_clusters: Any, metric: Any = None) -> int:
    """n_clusters, or the number of distinct rows where that is smaller, with a warning."""
    c = _checks.check_cluster_count(n_clusters, most_rows(rows))
    distinct = c if metric == "precomputed" else rows.count_distinct(c)
    if distinct < c:
        warn_few_rows(c, distinct)
    return distinct
