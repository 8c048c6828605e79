"""Labels, memberships and outlier scores of rows that were not fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics import graph, outliers
from ..numerics.matrix import Matrix
from . import labelling, outlier_scores
from .labelling import Labeller
from .representatives import RowFacts
from .rule import Rule, rule_labels, rule_scores, softmax


class Model(NamedTuple):
    """All that new rows are told by."""

    fitted: Labeller
    rule: Rule | None = None  # None: new rows follow their neighbours
    metric: str = "euclidean"
    outlier_label: int | None = None
    n_jobs: int | None = None
    sure: np.ndarray | None = None  # the confidence of fitted rows; None with representatives


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
    """The membership of each row, more even for rows far from all that were fitted."""
    if model.rule is None or model.rule.coef is None:
        shares = labelling.new_shares(model.fitted, X, model.n_jobs)
    else:
        scores = rule_scores(X, model.rule)
        by_paper = model.rule.name == "paper"
        shares = graph.project_rows_to_simplex(scores) if by_paper else softmax(scores)
    return outliers.discount(shares, scores_of(model, X)[:, None], shares.shape[1])


def confidence_of(model: Model, X: Matrix) -> np.ndarray:
    """The confidence of each label, by neighbours whatever rule labels rows.

    A row that was fitted has the confidence that the fit gave it.
    """
    fitted = model.fitted
    shares = labelling.new_shares(fitted, X, model.n_jobs)
    labels = shares.argmax(axis=1)
    if model.rule is not None and model.rule.coef is not None:
        labels = rule_labels(X, model.rule)
    sure = shares[np.arange(len(labels)), labels]
    sure = outliers.discount(sure, scores_of(model, X), shares.shape[1])
    if model.sure is not None and isinstance(fitted, labelling.FittedRows):
        idx, d = labelling.nearest_fitted(fitted, X, 1, model.n_jobs)
        same = (d[:, 0] == 0.0) & (fitted.labels[idx[:, 0]] == labels)
        sure = np.where(same, model.sure[idx[:, 0]], sure)
    return sure.astype(X.dtype, copy=False)


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
    """The facts of rows that had no weight in the fit: nothing says how sure they are."""
    unknown = np.full(X.shape[0], np.nan, dtype=X.dtype)
    return RowFacts(labels_of(model, X), unknown, unknown, outliers_among(model, X))
