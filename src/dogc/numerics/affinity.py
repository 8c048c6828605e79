r"""The fixed similarity graph: a Gaussian kernel on candidate pairs.

.. math:: a_{ij} = \exp\left(-\frac{\|x_i - x_j\|^2}{\sigma_i \sigma_j}\right)

with :math:`\sigma_i` the distance from row i to its 7th nearest neighbour (Zelnik-Manor and
Perona, "Self-tuning spectral clustering", NIPS 2004), or the same for all rows.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import graph

# The neighbour whose distance is the bandwidth.
BANDWIDTH_RANK = 7

# Beyond this exponent all are equally far.
FARTHEST = 1e300

# Beside the largest, a root of a degree this small turns the rounding of u into what D^-1/2 u is.
FAINT = 1e-10

# Rows among copies have no distance to go by; this share of the median bandwidth is theirs.
BANDWIDTH_FLOOR = 1e-3


def local_bandwidth(d: np.ndarray, rank: int = BANDWIDTH_RANK) -> np.ndarray:
    r"""The self-tuning bandwidth :math:`\sigma_i`: distance to the neighbour of that rank.

    Parameters
    ----------
    d : array of shape (n, k), squared distances to other rows in any order.
    rank : 1 for the nearest; the farthest stands in where k is smaller.

    Examples
    --------
    >>> import numpy as np
    >>> local_bandwidth(np.array([[9.0, 1.0, 4.0], [16.0, 1.0, 1.0]]), rank=2)
    array([2., 1.])
    """
    place = min(rank, d.shape[1]) - 1
    sigma = np.sqrt(np.partition(d, place, axis=1)[:, place])
    positive = sigma[sigma > 0]
    typical = float(np.median(positive)) if positive.size else 1.0
    return np.maximum(sigma, BANDWIDTH_FLOOR * typical)


def gaussian_exponents(
    d: np.ndarray, idx: np.ndarray, sigma_rows: np.ndarray, sigma_columns: np.ndarray
) -> np.ndarray:
    r"""The exponents :math:`\|x_i - x_j\|^2 / (\sigma_i \sigma_j)` on candidate pairs.

    Parameters
    ----------
    d, idx : arrays of shape (n, k), squared distances and whom they lead to.
    sigma_rows : array of shape (n,)
    sigma_columns : array of shape (n_columns,), the bandwidths of those that idx points to.

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_exponents(np.array([[4.0]]), np.array([[1]]), np.ones(1), np.array([1.0, 2.0]))
    array([[2.]])
    """
    # Finite also where the bandwidth is tiny: the weight is zero, and differences are numbers.
    with np.errstate(over="ignore"):
        apart = d / sigma_rows[:, None]
        apart /= sigma_columns[idx]
    return np.minimum(apart, FARTHEST, out=apart)


def symmetric_graph(idx: np.ndarray, weights: np.ndarray) -> sp.csr_array:
    """The graph that has an edge wherever one of its two ends lists the other.

    Examples
    --------
    >>> import numpy as np
    >>> symmetric_graph(np.array([[1], [2], [1]]), np.array([[0.5], [1.0], [1.0]])).toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 1. ],
           [0. , 1. , 0. ]])
    """
    A = graph.to_csr(idx, weights, len(idx))
    return A.maximum(A.T).tocsr()


def rows_on_simplex(A: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """A sparse graph as candidate lists, by index, and weights whose rows sum to one.

    Short lists are padded in front with index -1 and weight 0. A row without edges is
    joined with itself alone.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rows_on_simplex(sp.csr_array(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])))
    (array([[ 1,  2],
           [-1,  0],
           [-1,  0]]), array([[0.75, 0.25],
           [0.  , 1.  ],
           [0.  , 1.  ]]))
    """
    n = A.shape[0]
    length = np.diff(A.indptr)
    width = max(int(length.max(initial=0)), 1)
    row = np.repeat(np.arange(n), length)
    place = np.arange(A.nnz) - A.indptr[1:][row] + width
    idx, weights = np.full((n, width), -1, dtype=np.int64), np.zeros((n, width))
    idx[row, place], weights[row, place] = A.indices, A.data
    alone = length == 0
    idx[alone, -1], weights[alone, -1] = np.flatnonzero(alone), 1.0
    return idx, weights / weights.sum(axis=1, keepdims=True)


def normalised_laplacian(A: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    r"""The matrix :math:`I - D^{-1/2} A D^{-1/2}` and its null vector :math:`\sqrt{d_i}`.

    A row without edges keeps a zero row in the first and a one in the second, so that it
    is a component of its own in both.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> L, root = normalised_laplacian(sp.csr_array(np.array([[0.0, 4.0], [4.0, 0.0]])))
    >>> L.toarray(), root
    (array([[ 1., -1.],
           [-1.,  1.]]), array([2., 2.]))
    """
    degree = np.asarray(A.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    inverse = sp.dia_array((1.0 / root[None, :], [0]), shape=A.shape)
    identity = sp.dia_array(((degree > 0).astype(float)[None, :], [0]), shape=A.shape)
    return (identity - inverse @ A @ inverse).tocsr(), root


def generalised_eigenvectors(A: sp.csr_array, U: np.ndarray, root: np.ndarray) -> np.ndarray:
    r"""Solutions :math:`v = D^{-1/2} u` of :math:`L v = \mu D v`, for the bottom ones.

    A row whose degree vanishes beside the others gets the mean of its neighbours, weighted by
    its edges: that is what :math:`v_i (1 - \mu) d_i = \sum_j a_{ij} v_j` says at the bottom.

    Parameters
    ----------
    A : the graph, of shape (n, n).
    U, root : what :func:`normalised_laplacian` leads to: eigenvectors of shape (n, c), and the
        roots of degrees.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 1e-40], [0.0, 1e-40, 0.0]]))
    >>> generalised_eigenvectors(A, np.array([[1.0], [1.0], [1e-16]]), np.array([2, 2, 1e-20]))
    array([[0.5],
           [0.5],
           [0.5]])
    """
    V = U / root[:, None]
    joined = np.diff(A.indptr) > 0
    faint = joined & (root <= FAINT * root[joined].max(initial=0.0))
    if faint.any():
        edges = A[faint][:, ~faint]  # underflow may leave none
        total = np.asarray(edges.sum(axis=1)).reshape(-1, 1)
        V[faint] = (edges @ V[~faint]) / np.where(total > 0, total, 1.0)
    return V
