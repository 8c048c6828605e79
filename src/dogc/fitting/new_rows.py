"""Labels, memberships and outlier scores of rows that were not fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics import outliers
from ..numerics.matrix import Matrix
from . import labelling, outlier_scores
from .labelling import Labeller
from .representatives import RowFacts
from .rule import Rule, rule_labels


class Model(NamedTuple):
    """All that new rows are told by."""

    fitted: Labeller
    rule: Rule | None = None  # None: new rows follow their neighbours
    metric: str = "euclidean"
    outlier_label: int | None = None
    n_jobs: int | None = None
    membership: np.ndarray | None = None  # of fitted rows in their clusters, where they are nodes


def labels_of(model: Model, X: Matrix) -> np.ndarray:
    """The cluster of each row; outliers are marked where that was asked for."""
    if model.rule is None or model.rule.coef is None:
        labels = labelling.new_labels(model.fitted, X, model.n_jobs)
    else:
        labels = rule_labels(X, model.rule)
    if model.outlier_label is not None:
        labels[outliers_among(model, X)] = model.outlier_label
    return labels


def shares_of(model: Model, X: Matrix) -> np.ndarray:
    """The membership of each row in each cluster, by neighbours whatever rule labels rows.

    It is more even for rows far from all that were fitted. A row that was fitted does not count
    among its own neighbours: it has the share in its own cluster that the fit gave it.
    """
    fitted = model.fitted
    shares = labelling.new_shares(fitted, X, model.n_jobs)
    shares = outliers.discount(shares, scores_of(model, X)[:, None], shares.shape[1])
    if model.membership is None or not isinstance(fitted, labelling.FittedRows):
        return shares
    idx, d = labelling.nearest_fitted(fitted, X, 1, model.n_jobs)
    known = np.flatnonzero(d[:, 0] == 0.0)
    row, own = np.arange(len(known)), idx[known, 0]
    share, label = model.membership[own].astype(shares.dtype), fitted.labels[own]
    others = np.maximum(shares[known], 1e-12)  # even where no other cluster is near
    others[row, label] = 0.0
    others *= ((1.0 - share) / np.maximum(others.sum(axis=1), 1e-12))[:, None]
    others[row, label] = share
    shares[known] = others
    return shares


def own_share(shares: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The share of each row's own cluster; of one marked as an outlier the largest.

    Examples
    --------
    >>> own_share(np.array([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]]), np.array([0, 0, -1]))
    array([0.8, 0.3, 0.6])
    """
    own = np.take_along_axis(shares, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return np.where(labels < 0, shares.max(axis=1), own)


def scores_of(model: Model, X: Matrix) -> np.ndarray:
    """Outlier scores; by their angles, rows without a direction are far from everything."""
    score = outlier_scores.new_scores(model.fitted, X, model.n_jobs)
    if model.metric == "cosine":
        score[np.asarray(abs(X).sum(axis=1)).ravel() == 0] = outliers.MOST
    return score


def outliers_among(model: Model, X: Matrix) -> np.ndarray:
    """The rows that are outliers."""
    return outlier_scores.are_outliers(model.fitted, X, scores_of(model, X), model.n_jobs)


def facts_of(model: Model, X: Matrix) -> RowFacts:
    """The facts of rows that had no weight in the fit: nothing says how far they belong."""
    unknown = np.full(X.shape[0], np.nan, dtype=X.dtype)
    return RowFacts(labels_of(model, X), unknown, unknown, outliers_among(model, X))
