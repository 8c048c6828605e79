"""What a fitted model says of new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from ..numerics import outliers
from ..numerics.matrix import Matrix
from ..rows import labelling, outlier_scores
from ..rows.repeatable import single_blas_thread
from ._rows import RowClusterer


class NewRows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowClusterer):
    """Labels, memberships and outlier scores for rows that were not fitted."""

    _fitted_rows: labelling.Fitted

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the paper's own row problem.

        A new row solves `eq:10` against the fitted rows: its neighbours among them, in the
        learned subspace, get the weights that the problem gives, and the cluster with the
        most weight wins (the lower label in a tie). Where the graph was learned on
        representatives, the row is linked with its nearest ones as the fitted rows were.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; with ``metric="precomputed"``, their distances to fitted rows as the
            ``transform`` of the fitted ``KNeighborsTransformer`` gives them.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Labels that ``fit`` produced; ``outlier_label``, where there is one, for rows with an
            outlier score above 3 and for rows of a group that is too small for a cluster.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            return self._marked(self._labels_of(X), X)

    def _labels_of(self, X: Matrix) -> np.ndarray:
        """The cluster of each new row, outliers not marked."""
        return labelling.new_labels(self._fitted_rows, X, self.n_jobs)

    def _marked(self, labels: np.ndarray, X: Matrix) -> np.ndarray:
        mark = getattr(self, "outlier_label", None)
        if mark is not None and hasattr(self, "outlier_scores_"):
            labels[self._outliers_among(X)] = mark
        return labels

    def _outliers_among(self, X: Matrix) -> np.ndarray:
        return outlier_scores.are_outliers(self._fitted_rows, X, self._scores_of(X), self.n_jobs)

    def _scores_of(self, X: Matrix) -> np.ndarray:
        """Outlier scores; by their angles, rows without a direction are far from everything."""
        score = outlier_scores.new_scores(self._fitted_rows, X, self.n_jobs)
        if self.metric == "cosine":
            score[np.asarray(abs(X).sum(axis=1)).ravel() == 0] = outliers.MOST
        return score

    def predict_membership(self, X: Any) -> np.ndarray:
        """How sure the label of a new row is: what weight each cluster has among its neighbours.

        A row far from everything is not sure of any cluster: the larger its outlier score is
        above 3, the more even its shares are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows, as for ``predict``, whose label has the largest weight.

        Returns
        -------
        shares : array of shape (n_samples, n_clusters)
            At least 0; each row sums to 1. These are weights of neighbours, not probabilities
            that anything was calibrated for.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            return self._discounted(self._shares_of(X), X)

    def _shares_of(self, X: Matrix) -> np.ndarray:
        return labelling.new_shares(self._fitted_rows, X, self.n_jobs)

    def _discounted(self, shares: np.ndarray, X: Matrix) -> np.ndarray:
        if not hasattr(self, "outlier_scores_"):  # a model of an earlier release
            return shares
        score = self._scores_of(X)
        return outliers.discount(shares, score[:, None], shares.shape[1])

    def score_outliers(self, X: Any) -> np.ndarray:
        """How far new rows lie from their neighbours, in units of what is usual there.

        The mean distance of a row to its 20 nearest fitted rows (8 representatives, where there
        are any), divided by the median of the same over the 45 (8) around it.

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
        X = self._validate_new(X)
        if not hasattr(self, "outlier_scores_"):
            raise ValueError(
                f"this {type(self).__name__} was fitted by an earlier release, which kept no "
                "outlier scores; fit it again."
            )
        with single_blas_thread:
            return self._scores_of(X)

    def score(self, X: Any, y: Any = None) -> float:
        """How far the fitted clusters come back on other rows, without ground truth.

        The rows are clustered anew with the same parameters and the result is compared with
        ``predict``. Clusters that are there in the data come back; those that a sample made up
        do not. A setting that gives fewer clusters is repeated more easily, so compare settings
        with the same ``n_clusters``, and look at ``scales_`` and the silhouette beside it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that were not fitted, such as the held-out part that ``GridSearchCV`` passes.
            Shuffle them before (``cv=KFold(3, shuffle=True, random_state=0)``): a part that lacks
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
        again = clone(self).set_params(n_clusters=self.n_clusters_, callback=None)
        if not isinstance(getattr(again, "init", ""), str):
            again.set_params(init="spectral")  # labels to start from are for other rows
        again.fit(X)
        return float(adjusted_rand_score(labels, again.labels_))

    def transform(self, X: Any) -> np.ndarray:
        """Map rows into the learned subspace: X W, or X itself where none was learned.

        With ``metric="cosine"`` X stands for its rows at length one.

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
        return labelling.project(self._validate(X, reset=False), self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ if self.components_ is None else len(self.components_)

    def __sklearn_tags__(self) -> Any:
        """As for every clusterer; dtypes are kept."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
