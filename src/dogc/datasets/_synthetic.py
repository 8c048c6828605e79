"""The synthetic data of the paper's figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from .._checks import check_count, check_positive, check_weight
from ..fitting.repeatable import generator


def make_multi_cluster(
    n_clusters: int = 36, *, n_per_cluster: int = 20, noise: float = 0.05, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Many round clusters, spread evenly over the unit sphere: the paper's 36 clusters.

    Used in the figures "36 multi-clusters" and "noise sensitivity", with noise from 0.02 to 0.10.
    The paper says only that the clusters are "distributed in a spherical way". Here the centres
    lie on a Fibonacci lattice in three dimensions. With 36 centres, the smallest distance is 0.51.

    Parameters
    ----------
    n_clusters : int, default=36
        Number of clusters.
    n_per_cluster : int, default=20
        Number of rows in each cluster.
    noise : float, default=0.05
        Standard deviation of the rows around their centre, in every direction.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows.

    Returns
    -------
    X : array of shape (n_clusters * n_per_cluster, 3)
    y : int array of shape (n_clusters * n_per_cluster,)

    Examples
    --------
    >>> from dogc.datasets import make_multi_cluster
    >>> X, y = make_multi_cluster(random_state=0)
    >>> X.shape, y.max()
    ((720, 3), np.int64(35))
    """
    c = check_count("n_clusters", n_clusters, 1)
    size = check_count("n_per_cluster", n_per_cluster, 1)
    check_weight("noise", noise)
    height = 1.0 - (2.0 * np.arange(c) + 1.0) / c
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(c)  # the golden angle
    radius = np.sqrt(1.0 - height**2)
    centres = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), height])
    y = np.repeat(np.arange(c), size)
    return centres[y] + noise * generator(random_state).standard_normal((len(y), 3)), y


def make_two_moons(
    n_samples: int = 200, *, noise: float = 0.08, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles: the paper's figure "two-moon".

    This is scikit-learn's ``make_moons`` with the noise of that figure.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    noise : float, default=0.08
        Standard deviation of the rows around the half circles.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : int array of shape (n_samples,)

    Examples
    --------
    >>> from dogc.datasets import make_two_moons
    >>> X, y = make_two_moons(random_state=0)
    >>> X.shape
    (200, 2)
    """
    n = check_count("n_samples", n_samples, 2)
    check_weight("noise", noise)
    seed = int(generator(random_state).integers(2**31 - 1))
    return make_moons(n, noise=noise, random_state=seed)


def make_two_gaussians(
    n_samples: int = 400, *, distance: float = 2.0, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Two flat Gaussian clouds side by side: the paper's figure "two-Gaussian".

    Both have standard deviation 1 along the first axis and 0.1 along the second. Their means
    differ by ``distance`` along the second axis, which separates them. PCA finds this axis only
    if ``distance`` is above 2; below that, the first axis has the larger variance.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows, half of them in each cloud.
    distance : float, default=2.0
        Distance between the two means.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rows.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : int array of shape (n_samples,)

    Examples
    --------
    >>> from dogc.datasets import make_two_gaussians
    >>> X, y = make_two_gaussians(distance=1.0, random_state=0)
    >>> abs(X[y == 1, 1].mean() - X[y == 0, 1].mean()).round(1)
    np.float64(1.0)
    """
    n = check_count("n_samples", n_samples, 2)
    check_positive("distance", distance)
    y = np.arange(n) * 2 // n
    X = generator(random_state).standard_normal((n, 2)) * [1.0, 0.1]
    X[:, 1] += distance * (y - 0.5)
    return X, y
