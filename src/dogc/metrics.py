"""How well labels agree with a known truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of rows that are right under the best renaming of clusters (ACC, `eq:555`).

    .. math:: \max_{\text{map}} \frac1n \sum_i \delta(y_i, \text{map}(g_i))

    The renaming is one to one and found exactly (Hungarian algorithm). The two sides may
    have different numbers of labels; clusters left without a class count as wrong.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    return float(table[linear_sum_assignment(-table)].sum() / table.sum())


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of rows that belong to the commonest class of their cluster (`eq:55`).

    .. math:: \frac1n \sum_k \max_j |\nu_k \cap \mu_j|

    Examples
    --------
    >>> purity(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    return float(table.max(axis=0).sum() / table.sum())


def _contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> np.ndarray:
    """Counts of rows by class (rows) and cluster (columns)."""
    truth, found = np.asarray(labels_true), np.asarray(labels_pred)
    if truth.ndim != 1 or truth.shape != found.shape or not truth.size:
        raise ValueError(
            "labels_true and labels_pred must be non-empty and one-dimensional with one entry for "
            f"each row; got shapes {truth.shape} and {found.shape}."
        )
    _, rows = np.unique(truth, return_inverse=True)
    _, columns = np.unique(found, return_inverse=True)
    table = np.zeros((rows.max() + 1, columns.max() + 1), dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    return table
