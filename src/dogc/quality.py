"""Internal validation: evidence for clusters that needs no ground truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._checks import check_unmasked
from .estimators._elsewhere import check_rows
from .fitting.evidence import Evidence, Known, evidence_of

__all__ = ["evidence"]


def evidence(X: Any, labels: Any, *, wide: bool = False) -> Evidence:
    """Evidence that clusters are there, for the labels of any method.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, with the columns scaled as they are to be compared.
    labels : int array of shape (n_samples,)
        Their clusters. Rows with a negative label are left out.
    wide : bool, default=False
        Whether to look at wide neighbourhoods, as ``n_neighbors="wide"`` does: for tables with
        categories, whose rows share all categories with their nearest neighbours.

    Returns
    -------
    evidence : Evidence
        The same as ``evidence_`` of a fitted model, which may compare rows in other columns.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from dogc.quality import evidence
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.3, random_state=0)
    >>> evidence(X, KMeans(3, n_init=5, random_state=0).fit_predict(X)).verdict
    'clear'
    """
    X, labels = check_rows(X), np.asarray(check_unmasked("labels", labels))
    if labels.shape != (X.shape[0],):
        raise ValueError(f"labels must hold one label for each of the {X.shape[0]} rows of X.")
    return evidence_of(X, labels, wide=wide)


def judged(
    model: Any, X: Any, labels: np.ndarray, known: Known | None = None, wide: bool = False
) -> Evidence | None:
    """Evidence of a fitted model, its own if it has any; None where X is not numbers."""
    if hasattr(model, "evidence_"):
        return model.evidence_
    try:
        return evidence_of(check_rows(X), labels, known, wide)
    except (TypeError, ValueError):  # rows that only a pipeline can read, a distance of its own
        return None
