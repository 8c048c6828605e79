"""Internal validation: measures of a clustering that need no ground truth."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ._checks import check_count, check_unmasked
from .estimators._elsewhere import check_rows
from .fitting.repeatable import generator

# Rows that the silhouette is taken of, where there are more.
SILHOUETTE_ROWS = 2_000
# Share of rows in each sample.
SHARE = 0.8
# Rows with less confidence are too close to call.
CONFIDENT = 0.5


def stability(
    estimator: BaseEstimator,
    X: Any,
    labels: Any = None,
    *,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> float:
    """Stability of the clusters when some rows are left out.

    The estimator is fitted again on samples of 80 % of the rows, and each result is compared with
    the labels of all rows. Real clusters are found again. Do not choose the number of clusters
    this way: few large clusters are more stable than many small ones.

    Parameters
    ----------
    estimator : clusterer
        Anything with ``fit_predict``; it is copied.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,), default=None
        Labels of all rows. With None, the estimator is fitted to all rows first.
    n_repeats : int, default=5
        Number of samples.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the samples.

    Returns
    -------
    agreement : float
        Mean adjusted Rand index: 1 if all clusters are found again, about 0 if the agreement is
        due to chance.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dogc import DOGC
    >>> from dogc.quality import stability
    >>> X, _ = make_blobs(150, centers=3, cluster_std=0.5, random_state=0)
    >>> stability(DOGC(3), X)
    1.0
    """
    check_count("n_repeats", n_repeats, 1)
    X = X.tocsr() if sp.issparse(X) else X  # rows can be taken of it
    if getattr(estimator, "metric", "") == "precomputed":
        raise ValueError("stability needs rows of features; metric='precomputed' has none.")
    n, rng = _num_samples(X), generator(random_state)
    estimator = clone(estimator)
    if not isinstance(getattr(estimator, "init", ""), str):
        # Labels or centres to start from are for all rows.
        estimator.set_params(init=signature(type(estimator)).parameters["init"].default)
    if labels is not None and np.shape(labels) != (n,):
        raise ValueError(f"labels must hold one label for each of the {n} rows of X.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the fit had to say, it said of all rows
        if labels is None:
            labels = clone(estimator).fit_predict(X)
        labels, found = np.asarray(labels), []
        for _ in range(n_repeats):
            rows = np.sort(rng.permutation(n)[: max(2, round(SHARE * n))])
            again = clone(estimator).fit_predict(_safe_indexing(X, rows))
            found.append(adjusted_rand_score(labels[rows], again))
    return float(np.mean(found))


def silhouette(X: Any, labels: np.ndarray, metric: str = "euclidean") -> float:
    """Mean silhouette of at most 2,000 rows; NaN if it is not defined.

    It favours round clusters of equal size: two well separated half-moons have a low silhouette.
    Rows labelled -1 are left out.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : int array of shape (n_samples,)
        Their clusters.
    metric : str, default="euclidean"
        A metric of scikit-learn.

    Returns
    -------
    silhouette : float
        Between -1 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(silhouette(np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([0, 0, 1, 1])), 2)
    0.89
    """
    X, labels = check_rows(X), np.asarray(check_unmasked("labels", labels))
    if labels.shape != (X.shape[0],):
        raise ValueError(f"labels must hold one label for each of the {X.shape[0]} rows of X.")
    inside = np.flatnonzero(labels >= 0)
    if len(inside) > SILHOUETTE_ROWS:
        inside = np.sort(np.random.default_rng(0).choice(inside, SILHOUETTE_ROWS, replace=False))
    labels = labels[inside]
    if not 2 <= len(np.unique(labels)) < len(labels) or metric == "precomputed":
        return float("nan")
    X = X[inside].astype(np.float64)  # 32 bits would not hold all squares
    return float(silhouette_score(X, labels, metric=metric))


def evidence(estimator: BaseEstimator, X: Any, labels: np.ndarray) -> dict[str, float]:
    """Measures of quality for a fitted estimator that need no ground truth.

    Parameters
    ----------
    estimator : fitted clusterer
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows it was fitted on.
    labels : int array of shape (n_samples,)
        Its labels.

    Returns
    -------
    evidence : dict
        ``stability``: see the function of that name; and all of :func:`figures`. NaN if a measure
        is not defined.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.3, random_state=0)
    >>> model = KMeans(3, n_init=5, random_state=0).fit(X)
    >>> evidence(model, X, model.labels_)["stability"]
    1.0
    """
    try:
        again = stability(estimator, X, labels)
    except Exception:  # too few rows in a sample, or whatever else a method may raise there
        again = float("nan")
    return {**figures(estimator, X, labels), "stability": again}


def figures(estimator: BaseEstimator, X: Any, labels: np.ndarray) -> dict[str, float]:
    """Measures of the labels of a fitted estimator that need no other fit.

    Parameters
    ----------
    estimator : fitted clusterer
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows it was fitted on.
    labels : int array of shape (n_samples,)
        What it found.

    Returns
    -------
    figures : dict
        ``silhouette`` as the function of that name gives it; ``scales``, see
        :func:`scale_agreement`; ``confident``, the share of rows with a confidence of at least
        0.5. NaN where there is no such thing.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dogc import DOGC
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.3, random_state=0)
    >>> model = DOGC(3).fit(X)
    >>> {name: round(value, 2) for name, value in figures(model, X, model.labels_).items()}
    {'silhouette': 0.82, 'scales': 1.0, 'confident': 1.0}
    """
    return {
        "silhouette": silhouette(X, labels, getattr(estimator, "metric", "euclidean")),
        "scales": scale_agreement(estimator),
        "confident": confident_share(getattr(estimator, "confidence_", np.empty(0))),
    }


def scale_agreement(estimator: BaseEstimator) -> float:
    """Agreement of the labels of a fitted estimator over several scales.

    DOGC, DOGC-OS, CAN, PCAN and the ablations look at several numbers of neighbours, or of
    representatives where there are many rows. This is the mean adjusted Rand index of the best
    of them with the others: 1 is the same labels at all scales, 0 is chance.

    Parameters
    ----------
    estimator : fitted clusterer

    Returns
    -------
    agreement : float
        NaN where there was one scale only, or where the method looks at none.

    Examples
    --------
    >>> from dogc import NormalizedCut
    >>> scale_agreement(NormalizedCut(2).fit([[0.0], [0.1], [5.0], [5.1]]))
    nan
    """
    if (resolutions := getattr(estimator, "resolutions_", None)) is not None:
        return float(resolutions.confirmed)
    scales: Any = getattr(estimator, "scales_", None)
    several = scales is not None and len(scales.n_neighbors) > 1
    return float(scales.score.max()) if several else float("nan")


def confident_share(confidence: Any) -> float:
    """The share of rows with a confidence of at least 0.5; NaN where none is known.

    Parameters
    ----------
    confidence : array-like of shape (n_samples,)
        Such as ``confidence_`` of a fitted model; NaN where it is not known.

    Returns
    -------
    share : float

    Examples
    --------
    >>> confident_share([0.2, 0.9, 1.0, float("nan"), 0.5])
    0.75
    """
    confidence = np.asarray(confidence, dtype=float)
    known = confidence[np.isfinite(confidence)]
    return float(np.mean(known >= CONFIDENT)) if len(known) else float("nan")
