"""Agreement of labels with a known truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from ._checks import check_choice, check_unmasked
from .fitting.auto.splits import renamed
from .numerics.discrete import rand_index

# Means of two entropies.
AVERAGES: dict[str, Callable[[float, float], float]] = {
    "max": max,
    "geometric": lambda a, b: (a * b) ** 0.5,
    "arithmetic": lambda a, b: (a + b) / 2.0,
    "min": min,
}

__all__ = [
    "clustering_accuracy",
    "clustering_report",
    "match_labels",
    "normalized_mutual_info",
    "purity",
]


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of rows that are right under the best renaming of clusters (ACC, `eq:555`).

    .. math:: \max_{\text{map}} \frac1n \sum_i \delta(y_i, \text{map}(g_i))

    The renaming is one to one and optimal (Hungarian algorithm). The numbers of classes and
    clusters may differ; rows in clusters without a class count as wrong.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters. Labels may have any names.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    return scores_of(contingency(labels_true, labels_pred))["acc"]


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of rows that belong to the commonest class of their cluster (`eq:55`).

    .. math:: \frac1n \sum_k \max_j |\nu_k \cap \mu_j|

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters. Labels may have any names.

    Returns
    -------
    purity : float
        Between 0 and 1; never below the accuracy.

    Examples
    --------
    >>> purity(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    return scores_of(contingency(labels_true, labels_pred))["purity"]


def normalized_mutual_info(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average: str = "max"
) -> float:
    r"""Mutual information of classes and clusters over a mean of their entropies (NMI).

    .. math:: \frac{I(y; g)}{\operatorname{mean}(H(y), H(g))}

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters. Labels may have any names.
    average : {"max", "geometric", "arithmetic", "min"}, default="max"
        The mean in the denominator. "geometric" is `eq:54`. "max" is computed by the authors' code
        and most likely used in their tables. "arithmetic" is scikit-learn's default.

    Returns
    -------
    nmi : float
        Between 0 and 1.

    Examples
    --------
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2], average="geometric"), 4)
    0.8165
    """
    check_choice("average", average, tuple(AVERAGES))
    return _nmi(contingency(labels_true, labels_pred), average)


def clustering_report(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[str, float]:
    """Compute all scores: ACC, NMI in two normalisations, purity and adjusted Rand index.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Classes and clusters. Labels may have any names.

    Returns
    -------
    report : dict
        With keys "acc", "nmi_max", "nmi_geometric", "purity" and "ari".

    Examples
    --------
    >>> report = clustering_report(["a", "a", "b", "b"], [1, 1, 0, 1])
    >>> {name: round(value, 3) for name, value in report.items()}
    {'acc': 0.75, 'nmi_max': 0.311, 'nmi_geometric': 0.346, 'purity': 0.75, 'ari': 0.0}
    """
    return scores_of(contingency(labels_true, labels_pred))


def scores_of(table: np.ndarray) -> dict[str, float]:
    """All scores of :func:`clustering_report`, from counts of rows by class and cluster.

    Examples
    --------
    >>> import numpy as np
    >>> round(scores_of(np.array([[2, 0], [1, 1]]))["nmi_max"], 3)
    0.311
    """
    return {
        "acc": float(table[linear_sum_assignment(-table)].sum() / table.sum()),
        "nmi_max": _nmi(table, "max"),
        "nmi_geometric": _nmi(table, "geometric"),
        "purity": float(table.max(axis=0).sum() / table.sum()),
        "ari": rand_index(table),
    }


def _nmi(table: np.ndarray, average: str) -> float:
    """1 where there is one class and one cluster."""
    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if used.shape == (1, 1):
        return 1.0
    total, sizes = used.sum(), (used.sum(axis=1), used.sum(axis=0))
    entropies = [float(-(s / total * (np.log(s) - np.log(total))).sum()) for s in sizes]
    shared, mean = mutual_info_score(None, None, contingency=used), AVERAGES[average](*entropies)
    return float(shared / mean) if shared > np.finfo(np.float64).eps and mean > 0 else 0.0


def match_labels(labels: ArrayLike, reference: ArrayLike) -> np.ndarray:
    """Rename clusters so that as many rows as possible keep the label that they have elsewhere.

    Use it after a refit on more rows: pass ``new.labels_`` and ``old.predict(X)``. A cluster
    without a partner gets the smallest number that is free. Negative labels stay as they are.

    Parameters
    ----------
    labels : int array-like of shape (n_samples,)
        Labels to rename.
    reference : int array-like of shape (n_samples,)
        Labels of the same rows, whose numbers are kept.

    Returns
    -------
    renamed : int array of shape (n_samples,)
        The clusters of ``labels`` under the numbers of ``reference``.

    Examples
    --------
    >>> from dogc.metrics import match_labels
    >>> match_labels([2, 2, 0, 1, 1], [0, 0, 1, 1, 1])
    array([0, 0, 2, 1, 1])
    """
    one, other = _of_same_rows({"labels": labels, "reference": reference})
    return renamed(other.astype(np.int64), one.astype(np.int64))


def contingency(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    names: tuple[str, str] = ("labels_true", "labels_pred"),
) -> np.ndarray:
    """Counts of rows by class (rows) and cluster (columns), in sorted order; ``names`` for errors.

    Examples
    --------
    >>> contingency(["a", "a", "b"], [1, 1, 0])
    array([[0, 2],
           [1, 0]])
    """
    both = _of_same_rows(dict(zip(names, (labels_true, labels_pred), strict=True)))
    return contingency_matrix(*map(code_labels, both, names))


def _of_same_rows(given: dict[str, ArrayLike]) -> list[np.ndarray]:
    """Two labellings of the same rows, by the names of the arguments."""
    one, other = (np.asarray(check_unmasked(name, labels)) for name, labels in given.items())
    if one.ndim != 1 or one.shape != other.shape or not one.size:
        raise ValueError(
            f"{' and '.join(given)} must be non-empty and one-dimensional with one entry for each "
            f"row; got shapes {one.shape} and {other.shape}."
        )
    return [one, other]


def code_labels(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels under any names as integers from 0; missing ones are refused.

    Examples
    --------
    >>> import numpy as np
    >>> code_labels(np.array(["b", "a", "b"]), "y")
    array([1, 0, 1])
    """
    missing = [value is None or value != value for value in labels.tolist()]
    if any(missing):
        raise ValueError(
            f"{name} has a missing value at row {missing.index(True)}; drop such rows or give "
            "them a label."
        )
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise ValueError(
            f"{name} mixes labels that cannot be compared, such as numbers and text; use one kind."
        ) from None
