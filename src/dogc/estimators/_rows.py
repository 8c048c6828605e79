"""What every clusterer does with the rows that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _checks
from ..choices import n_representatives as resolutions
from ..choices.solving_representatives import Resolved
from ..loop.solver import SUCCESS, Result
from ..numerics import discrete
from ..numerics.matrix import Matrix
from ..rows import scaling
from ._warnings import warn_few_rows


class RowClusterer(ClusterMixin, BaseEstimator):
    """Rows in, labels out: the part of a clusterer that looks at what the user passed."""

    n_representatives_: int | None
    resolutions_: resolutions.ResolutionChoice | None
    representatives_: np.ndarray | None
    representative_weights_: np.ndarray | None
    representative_labels_: np.ndarray | None

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        return validate_rows(self, X, reset)

    def _validate_new(self, X: Any) -> Matrix:
        check_is_fitted(self, "labels_")
        return self._validate(X, reset=False)

    def _assign_labels(self, labels: np.ndarray) -> None:
        """Set ``labels_``, numbered by falling size."""
        self.labels_ = discrete.size_order(labels, int(labels.max()) + 1)[labels]

    def _assign_run(self, result: Result) -> None:
        """How the loop went."""
        self.history_, self.n_iter_ = result.history, len(result.history)
        self.stopping_reason_, self.converged_ = result.reason, result.reason in SUCCESS

    def _assign_representatives(
        self, resolved: Resolved | None, labels: np.ndarray | None = None, unit: float = 1.0
    ) -> None:
        """What a graph on representatives leaves, with their labels; None: there are none."""
        if resolved is None:
            self.n_representatives_ = self.resolutions_ = self.representatives_ = None
            self.representative_weights_ = self.representative_labels_ = None
            return
        nodes, scaled = resolved.nodes, resolved.fitted.frame.scaled
        self.n_representatives_, self.resolutions_ = len(nodes.X), resolved.choice
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


def validate_rows(estimator: BaseEstimator, X: Any, reset: bool) -> Matrix:
    """Rows as a C-ordered array or CSR, float32 or float64; two at least where it is a fit."""
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",  # sums run in the same order whatever X came in
        ensure_min_samples=2 if reset else 1,
    )


def reachable_clusters(X: Matrix, n_clusters: Any, metric: Any = None) -> int:
    """n_clusters, or the number of distinct rows where that is smaller, with a warning."""
    n = X.shape[0]
    c = _checks.check_count("n_clusters", n_clusters, 1, n, f"there are only {n} rows in X")
    distinct = c if metric == "precomputed" else scaling.count_distinct(X, c)
    if distinct < c:
        warn_few_rows(c, distinct)
    return distinct
