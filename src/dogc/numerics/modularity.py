r"""The partition of a graph into exactly c clusters that separates the most weight.

Modularity with a resolution r, over clusters C of a graph of weights a,

.. math:: \max_Y \; \sum_C \Big( \sum_{i,j \in C} a_{ij} - r \frac{v_C^2}{v} \Big),
          \qquad v_C = \sum_{i \in C} \sum_j a_{ij}, \quad v = \sum_C v_C

values the mass that a cut separates: small groups that hang on a few weak edges are cheap to cut
off, but gain next to nothing. Small r gives few clusters, large r many, so r is searched for until
there are exactly c: the discrete twin of the search for lambda.
"""

from __future__ import annotations

import graspologic_native
import numpy as np
import scipy.sparse as sp

from .matrix import Matrix
from .patience import Ended, never

# Rounds of Leiden's local search: for a count of clusters, and for the clusters themselves. With
# few rounds the last digit of a weight decides between partitions that are nearly as good.
ROUGH, THOROUGH = 2, 10
# Relative width at which the bracket around r counts as empty.
CLOSED = 1.02
# Before there is a bracket: r grows as this power of the count, at least and at most so much.
SLOPE, LEAST_GROWTH, MOST_GROWTH = 1.5, 2.0, 32.0
# Below this a partition is the components of the graph.
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
    low: tuple[float, int] | None = None  # the largest r with too few clusters, and how many
    high: tuple[float, int] | None = None  # the smallest with too many
    finest, r = np.empty(0), 1.0
    while True:
        labels = _leiden(A, r, ROUGH)
        if labels.max() + 1 == c:
            labels = _leiden(A, r, THOROUGH)
        count = int(labels.max()) + 1
        if count == c or (count < c and r > A.shape[0]):  # some nodes are tied beyond any r
            break
        if count < c:
            low = (r, count)
        else:
            high, finest = (r, count), labels
        closed = low is not None and high is not None and high[0] <= CLOSED * low[0]
        if high is not None and (closed or high[0] < LOWEST or ended()):
            labels = _merged(A, finest, high[0], c)
            break
        r = _between(low, high, c)
    found = np.empty_like(labels)
    found[order] = labels
    return found


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
        factor = np.clip(max(c / count, count / c) ** SLOPE, LEAST_GROWTH, MOST_GROWTH)
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


def _merged(A: sp.csr_array, labels: np.ndarray, r: float, c: int) -> np.ndarray:
    """The two clusters whose union gains most, or loses least, become one until c are left."""
    n, count = len(labels), int(labels.max()) + 1
    Y = sp.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, count))
    between = (Y.T @ A @ Y).toarray()
    name = np.arange(count)
    alive = np.ones(count, dtype=bool)
    for _ in range(count - c):
        volume = between.sum(axis=1)
        gain = between - r * np.outer(volume, volume) / max(volume.sum(), np.finfo(float).tiny)
        gain[~alive] = gain[:, ~alive] = -np.inf
        np.fill_diagonal(gain, -np.inf)
        one, other = sorted(divmod(int(gain.argmax()), count))
        between[one] += between[other]
        between[:, one] += between[:, other]
        between[other] = between[:, other] = 0.0
        alive[other] = False
        name[name == other] = one
    return np.unique(name[labels], return_inverse=True)[1]
