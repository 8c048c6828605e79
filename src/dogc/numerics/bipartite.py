r"""Bipartite graphs of many rows and few landmarks, cut on the side of the landmarks.

Row i has weights :math:`t_{ij} \ge 0` on its landmarks, which sum to one, and counts for
:math:`\omega_i`. Both sides together have n + p nodes; their normalised cut is that of the p
landmarks alone with the weights

.. math:: E = T^\top \operatorname{diag}(\omega)\, T, \qquad
          E y = \sigma^2 D y, \qquad d_j = \sum_i \omega_i t_{ij},

and a row lies at :math:`u_i = \sum_j t_{ij} y_j / \sigma` (Li, Wu and Chang, "Segmentation using
superpixels: a bipartite graph partitioning approach", CVPR 2012). The columns of u, weighed by the
root of :math:`\omega`, are the left singular vectors of
:math:`\operatorname{diag}(\omega)^{1/2} T D^{-1/2}`.

A graph is held as ``idx`` and ``T`` of shape (n, k): the landmarks of each row and their weights.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import affinity, eigen, graph
from .matrix import over_rows

# No row counts for less: a landmark that only far rows know stays part of the graph.
LEAST_WEIGHT = 1e-9
# Singular values whose square is below this are rounding: the column tells nothing.
NO_VALUE = 1e-12


def gaussian_links(d: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Gaussian weights :math:`b_{ij} = \exp(-d_{ij} / (2 \sigma^2))` of rows on landmarks.

    Parameters
    ----------
    d : array of shape (n, k), squared distances, nearest first.
    width : sigma, above 0.

    Returns
    -------
    T : array of shape (n, k), the weights with rows that sum to one.
    total : array of shape (n,), what the rows summed to; at least LEAST_WEIGHT.

    Examples
    --------
    >>> import numpy as np
    >>> T, total = gaussian_links(np.array([[0.0, 2.0], [1e9, 1e9 + 2.0]]), 1.0)
    >>> T.round(3).tolist(), total.round(3).tolist()
    ([[0.731, 0.269], [0.731, 0.269]], [1.368, 0.0])
    """
    # Relative to the nearest: far from all landmarks all weights would vanish. Rows beyond the
    # range of squares are infinitely far from everything: any weights are right.
    with np.errstate(over="ignore", invalid="ignore"):
        B = np.nan_to_num(np.exp((d[:, :1] - d) / width / (2.0 * width)), nan=1.0)
        reach = np.nan_to_num(np.exp(-d[:, 0] / width / (2.0 * width)))
    total = B.sum(axis=1)
    return B / total[:, None], np.maximum(reach * total, LEAST_WEIGHT)


def landmark_graph(idx: np.ndarray, T: np.ndarray, omega: np.ndarray, p: int) -> sp.csr_array:
    r"""The graph :math:`E = T^\top \operatorname{diag}(\omega)\, T` of p landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> idx, T = np.array([[0, 1], [1, 2]]), np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> landmark_graph(idx, T, np.array([4.0, 1.0]), 3).toarray()
    array([[1., 1., 0.],
           [1., 2., 0.],
           [0., 0., 0.]])
    """

    def block(rows: slice) -> sp.csr_array:
        B = graph.to_csr(idx[rows], T[rows] * np.sqrt(omega[rows])[:, None], p)
        return (B.T @ B).tocsr()

    E = sum(over_rows(block, len(idx)), sp.csr_array((p, p)))
    E.eliminate_zeros()
    return E


def landmark_components(E: sp.csr_array) -> tuple[int, np.ndarray]:
    """The number of components, and that of each landmark; -1 for a landmark without rows.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> landmark_components(sp.csr_array(np.diag([2.0, 0.0, 1.0])))
    (2, array([ 0, -1,  1]))
    """
    used = E.diagonal() > 0
    member = np.full(E.shape[0], -1)
    count, member[used] = graph.components(E if used.all() else E[used][:, used])
    return count, member


def transfer_cut(E: sp.csr_array, c: int, member: np.ndarray) -> np.ndarray:
    r"""The normalised cut of rows and landmarks, from the graph of the landmarks.

    Parameters
    ----------
    E : sparse array of shape (p, p), as :func:`landmark_graph` makes it.
    c : number of columns, at most that of the landmarks that have rows.
    member : int array of shape (p,), the component of each landmark, c of them at most; -1 for
        landmarks without rows.

    Returns
    -------
    V : array of shape (p, c), the :math:`y / \sigma` that a row takes the weighted mean of; zero
        where sigma is, and for a landmark without rows.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> E = sp.csr_array(np.array([[3.0, 1.0], [1.0, 3.0]]))
    >>> np.abs(transfer_cut(E, 2, np.zeros(2, dtype=int))).round(3).tolist()
    [[0.354, 0.5], [0.354, 0.5]]
    """
    used = member >= 0
    L, root = affinity.normalised_laplacian(E if used.all() else E[used][:, used])
    W = eigen.bottom_eigenvectors(L, c, member[used], weights=root)
    squares = 1.0 - np.einsum("ij,ij->j", W, L @ W)
    told = squares > NO_VALUE
    sigma = np.sqrt(np.where(told, np.minimum(squares, 1.0), 1.0))
    V = np.zeros((E.shape[0], c))
    V[used] = np.where(told, W / root[:, None] / sigma, 0.0)
    return V


def place_rows(idx: np.ndarray, T: np.ndarray, V: np.ndarray) -> np.ndarray:
    r"""Rows as weighted means of landmarks, :math:`u_i = \sum_j t_{ij} v_j`.

    A function of each row alone, to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> V = np.array([[0.0], [1.0]])
    >>> place_rows(np.array([[0, 1]]), np.array([[0.75, 0.25]]), V)
    array([[0.25]])
    """
    U = np.zeros((len(idx), V.shape[1]))
    for here, weight in zip(idx.T, T.T, strict=True):  # sums of a product depend on its shape
        U += weight[:, None] * V[here]
    return U
