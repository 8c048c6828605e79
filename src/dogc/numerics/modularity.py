r"""The partition of a graph into exactly c clusters that separates the most weight.

Modularity with a resolution r, over clusters C of a graph of weights a,

.. math:: \max_Y \; \sum_C \Big( \sum_{i,j \in C} a_{ij} - r \frac{v_C^2}{v} \Big),
          \qquad v_C = \sum_{i \in C} \sum_j a_{ij}, \quad v = \sum_C v_C

values the mass that a cut separates: small groups that hang on a few weak edges are cheap to cut
off, but gain next to nothing. Small r gives few clusters, large r many, so r is searched for until
there are exactly c: the discrete twin of the search for lambda.
"""

from __future__ import annotations

from typing import Any

import graspologic_native
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .matrix import Ended, Matrix, never

# Rounds of Leiden's local search. With few the last digit of a weight decides between partitions
# that are nearly as good.
ROUNDS = 3
# Relative width at which the bracket around r counts as empty.
CLOSED = 1.02
# Before there is a bracket r changes by so much, at least and at most.
LEAST_GROWTH, MOST_GROWTH = 1.25, 32.0
# How r grows until there are more communities than clusters, and the most that are joined again.
STEP, MOST_JOINED = 2.0, 1_000
# Below this a local search that still finds too many clusters will not find fewer.
LOWEST = 1e-6


def partition(A: sp.csr_array, c: int, order: np.ndarray, ended: Ended = never) -> np.ndarray:
    """Labels of exactly c clusters; of fewer where no resolution parts the nodes.

    Parameters
    ----------
    A : symmetric sparse array of shape (n, n), weights of at least zero.
    c : number of clusters.
    order : int array of shape (n,)
        The nodes in the order in which they are looked at. One that hardly changes with the data
        keeps the labels from changing.
    ended : says whether there is no more time; the search is left as it is then.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    >>> partition(sp.csr_array(A), 2, np.arange(6)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    A = sp.csr_array(A[order][:, order])
    A.sort_indices()
    if A.nnz == 0:  # which Leiden's algorithm does not take
        return np.zeros(len(order), dtype=np.int64)
    count, labels = connected_components(A, directed=False)
    labels = _joined(A, labels, c)[0] if count >= c else _searched(A, c, ended)
    found = np.empty_like(labels)
    found[order] = labels
    return found


def _searched(A: sp.csr_array, c: int, ended: Ended) -> np.ndarray:
    """The labels at an r that gives c clusters, or those of too many, joined to c."""
    low: tuple[float, int] | None = None  # the largest r with too few clusters, and how many
    high: tuple[float, int] | None = None  # the smallest with too many
    finest, r = np.empty(0), _first_resolution(A, c)
    while True:
        labels = _leiden(A, r, 1)
        if labels.max() + 1 == c:  # else one round is enough to see that r is not the one
            labels = _leiden(A, r, ROUNDS)
        count = int(labels.max()) + 1
        if count == c or (count < c and r > A.shape[0]):  # some nodes are tied beyond any r
            return labels
        if count < c:
            low = (r, count)
        else:
            high, finest = (r, count), labels
        closed = low is not None and high is not None and high[0] <= CLOSED * low[0]
        if high is not None and (closed or high[0] < LOWEST or ended()):
            return _joined(A, finest, c)[0]
        r = _between(low, high, c)


def _first_resolution(A: sp.csr_array, c: int) -> float:
    """The r at which communities of a finer partition, joined again, are c clusters."""
    r, count = 1.0, 0
    while count <= c and r <= A.shape[0]:
        labels = _leiden(A, r, 1)
        count = int(labels.max()) + 1
        if count <= c:
            r *= STEP * (c / count) ** 1.5
    if not c < count <= MOST_JOINED:
        return r
    above, below = _joined(A, labels, max(c - 1, 1))[1][count - c - 1 :][[0, -1]]
    return max(float(np.sqrt(above * below)), LOWEST)


def from_the_middle(Z: Matrix) -> np.ndarray:
    """The rows by their distance from the middle, which no turn and hardly any noise changes.

    Examples
    --------
    >>> import numpy as np
    >>> from_the_middle(np.array([[-4.0], [0.5], [3.0], [0.0]]))
    array([3, 1, 2, 0])
    """
    middle = np.ravel(Z.mean(axis=0))
    squares = Z.multiply(Z) if sp.issparse(Z) else Z * Z
    away = np.ravel(squares.sum(axis=1)) - 2.0 * np.ravel(Z @ middle)
    return np.argsort(away, kind="stable")


def _between(low: tuple[float, int] | None, high: tuple[float, int] | None, c: int) -> float:
    """The r at which c clusters are to be expected: log count is about linear in log r."""
    if low is None or high is None:
        r, count = low or high or (1.0, c)
        factor = np.clip(max(c / count, count / c), LEAST_GROWTH, MOST_GROWTH)
        return float(r / factor if low is None else r * factor)
    part = np.log(c / low[1]) / np.log(high[1] / low[1])
    return float(low[0] * (high[0] / low[0]) ** min(max(part, 0.2), 0.8))


def _leiden(A: sp.csr_array, r: float, rounds: int) -> np.ndarray:
    _, found = graspologic_native.leiden_csr(
        A.indptr.astype(np.int64),
        A.indices.astype(np.int32),
        A.data.astype(np.float64),
        A.shape[0],
        resolution=r,
        iterations=rounds,
        seed=0,
    )
    labels = np.fromiter((found[i] for i in range(A.shape[0])), np.int64, A.shape[0])
    return np.unique(labels, return_inverse=True)[1]


def _joined(A: sp.csr_array, labels: np.ndarray, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters joined two by two until c are left; the r at which each join gains nothing.

    The two come first that a falling r joins first; of clusters without an edge between them the
    two smallest.
    """
    n, count = len(labels), int(labels.max()) + 1
    Y = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, count))
    between = (Y.T @ A @ Y).toarray()
    volume = between.sum(axis=1)
    total = volume.sum()

    def even(rows: Any) -> np.ndarray:
        """The r at which joining a cluster with each other one gains nothing."""
        product = volume[rows, None] * volume / total
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(between[rows] > 0, between[rows] / product, -product)

    value = even(np.arange(count))
    np.fill_diagonal(value, -np.inf)
    best = value.argmax(axis=1)  # kept for each cluster, as a join changes few of them
    name, r = np.arange(count), np.zeros(count - c)
    for join in range(count - c):
        one = int(value[np.arange(count), best].argmax())
        one, other = sorted((one, int(best[one])))
        r[join] = max(float(value[one, other]), 0.0)
        between[one] += between[other]
        between[:, one] += between[:, other]
        volume[one] += volume[other]
        name[name == other] = one
        gone = np.isneginf(value[one]) | (np.arange(count) == other)
        gone[one] = True
        value[one] = value[:, one] = np.where(gone, -np.inf, even([one])[0])
        value[other] = value[:, other] = -np.inf
        better = value[:, one] > value[np.arange(count), best]
        best[better] = one
        stale = (best == one) | (best == other)
        stale[one] = True
        best[stale] = value[stale].argmax(axis=1)
    return np.unique(name[labels], return_inverse=True)[1], r
