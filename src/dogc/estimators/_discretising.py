"""From an embedding to labels: by k-means or by a rotation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from .._checks import check_count, check_flag
from ..fitting.repeatable import generator, single_blas_thread
from ..fitting.scaling import unit_rows
from ..numerics import discrete
from ._elsewhere import refused_in_a_sentence


def spectral_rotation(
    F: Any, *, normalize_rows: bool = True, n_init: int = 1, random_state: Any = None
) -> np.ndarray:
    r"""Discrete labels from a continuous embedding, without k-means.

    Use it in place of k-means as the last step of spectral clustering. It is deterministic, and
    every cluster gets at least one row.

    .. math:: \min_{Y, Q} \|Y - \tilde F Q\|_F^2
              \quad \text{s.t.} \quad Q^\top Q = I,\ Y \in \mathrm{Idx},\ Y^\top 1 \ge 1

    where :math:`\tilde F` is F with rows of length one. Y and Q are solved exactly in turn until
    the labels no longer change. The first rotation comes from a pivoted QR factorisation.

    Parameters
    ----------
    F : array-like of shape (n_samples, n_clusters)
        Embedding with one column for each cluster, such as the bottom eigenvectors of a
        Laplacian, including the constant one. Values must be finite. Zero rows and linearly
        dependent columns are allowed.
    normalize_rows : bool, default=True
        Whether to scale rows to length one first (zero rows stay).
    n_init : int, default=1
        Number of starts. All but the first are random; the best result is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts.

    Returns
    -------
    labels : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size; none is empty.

    References
    ----------
    S. X. Yu, J. Shi, "Multiclass spectral clustering", ICCV 2003. A. Damle, V. Minden, L. Ying,
    "Simple, direct and efficient multi-way spectral clustering", Information and Inference
    2019 (the first rotation).

    Examples
    --------
    >>> from dogc import spectral_rotation
    >>> spectral_rotation([[0.7, 0.7], [0.7, 0.6], [0.7, -0.7], [0.6, 0.7]])
    array([0, 0, 1, 0])
    """
    with refused_in_a_sentence("F", F):
        F = check_array(F, dtype=np.float64, input_name="F")
    n, c = F.shape
    if c > n:
        raise ValueError(
            f"F has {c} columns but only {n} rows, and every cluster needs a row; pass fewer "
            "columns."
        )
    check_count("n_init", n_init, 1)
    with single_blas_thread:
        F = unit_scale(F, check_flag("normalize_rows", normalize_rows))
        labels = rotation_labels(F, n_init, generator(random_state))
        return discrete.size_order(labels, c)[labels]


def rotation_labels(F: np.ndarray, n_init: int, rng: np.random.Generator) -> np.ndarray:
    """The best labels over a pivoted and ``n_init - 1`` random first rotations.

    Rows of one length would tie for the first pivot. So they are weighed by how much of F
    points their way, which also keeps stray rows from being picked.
    """
    c = F.shape[1]
    crowd = np.einsum("ij,jk,ik->i", F, F.T @ F, F)[:, None]
    best, labels = -np.inf, np.zeros(len(F), dtype=np.int64)
    for trial in range(n_init):
        first = discrete.random_rotation(rng, c) if trial else discrete.pivoted_rotation(F * crowd)
        Q, candidate = discrete.rotate_to_labels(F, first)
        agreement = float((F @ Q)[np.arange(len(F)), candidate].sum())
        if agreement > best * (1.0 + 1e-12):
            best, labels = agreement, candidate
    return labels


def unit_scale(F: np.ndarray, normalize_rows: bool = True) -> np.ndarray:
    """F on a scale of order one, which changes no label."""
    if normalize_rows:
        return unit_rows(F)
    largest = np.abs(F).max()
    return F / (largest if largest >= np.finfo(float).tiny else 1.0)


def discretise(F: np.ndarray, how: str, n_init: int | None, random_state: Any) -> np.ndarray:
    """Labels of the rows of an embedding with one column for each cluster.

    With ``n_init=None`` nothing is left to chance: the rotation starts from pivoted QR, and
    k-means from the means of what that rotation finds.
    """
    if how == "argmax":
        return discrete.assign(F)
    rng = generator(random_state)
    rotated = rotation_labels(unit_scale(F), n_init or 1, rng)
    if how == "rotation":
        return rotated
    return kmeans(F, rotated, n_init, rng).labels_.astype(np.int64)


def kmeans(
    F: np.ndarray,
    rotated: np.ndarray,
    n_init: int | None,
    rng: np.random.Generator,
    size: np.ndarray | None = None,
) -> KMeans:
    """k-means from the means of the rotated labels; a number means as many random starts."""
    start: Any = discrete.cluster_means(F, rotated) if n_init is None else "k-means++"
    seed = int(rng.integers(2**31 - 1))
    model = KMeans(F.shape[1], init=start, n_init=n_init or 1, random_state=seed)
    # One thread: more would change the order of sums.
    with threadpool_limits(1), warnings.catch_warnings():
        # Fewer distinct points than clusters: those who call this say so in their own words.
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return model.fit(F, sample_weight=size)
