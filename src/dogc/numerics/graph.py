"""The learned graph: candidate pairs, the row problem, xi, Laplacian, components.

A graph is held on candidate pairs only. ``idx[i]`` lists the candidate neighbours of
row i (-1 pads a short list) and every other array of that shape, distances ``d`` or
weights ``S``, runs parallel to it. Nothing here is ever n x n and dense.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .matrix import Matrix, over_rows

# Weights below this are rounding noise of the projection, not edges: an edge that is
# there by noise alone would join two components.
EDGE_FLOOR = 1e-14

# Elements of the largest temporary array, so that memory does not grow with n * k * m and
# chunks stay in the processor's cache.
CHUNK_ELEMENTS = 1 << 18

# Up to this many columns it is faster to go column by column than to gather whole rows.
NARROW = 32


def pair_distances(
    A: Matrix, B: Matrix, idx: np.ndarray, threads: int = 1, metric: str = "euclidean"
) -> np.ndarray:
    r"""Squared distances :math:`\|a_i - b_j\|^2` for the candidates j of each row i.

    Differences are formed before squaring, so that near duplicates keep their digits.

    Parameters
    ----------
    A, B : array or sparse array of shape (n, m) and (n_b, m)
    idx : int array of shape (n, k)
        Rows of B to pair with each row of A; -1 means "no candidate".
    threads : int
        For many rows of few columns; the result is the same for any number.
    metric : {"euclidean", "manhattan"}
        The norm.

    Returns
    -------
    d : float64 array of shape (n, k), infinite where ``idx`` is -1.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [3.0]])
    >>> pair_distances(Z, Z, np.array([[1, 2], [0, 2], [1, -1]]))
    array([[ 1.,  9.],
           [ 1.,  4.],
           [ 4., inf]])
    """
    n, k = idx.shape
    if not sp.issparse(A) and A.shape[1] <= NARROW:
        d = _column_distances(A, B, idx, threads, metric)
    else:
        d = np.empty((n, k))
        width = A.nnz // max(n, 1) if sp.issparse(A) else A.shape[1]
        rows_at_once = max(1, CHUNK_ELEMENTS // max(1, k * width))
        for start in range(0, n, rows_at_once):
            chunk = slice(start, start + rows_at_once)
            d[chunk] = _chunk_distances(A[chunk], B, idx[chunk], metric)
    d = np.square(d) if metric == "manhattan" else d
    d[idx < 0] = np.inf
    return d


def _column_distances(
    A: np.ndarray, B: np.ndarray, idx: np.ndarray, threads: int, metric: str
) -> np.ndarray:
    """All pairs, one column of A and B after the other: sums of squares or of absolute values."""
    size = np.abs if metric == "manhattan" else np.square
    d = np.zeros(idx.shape)
    columns = B.T.astype(np.float64, "C")

    def block(rows: slice) -> None:
        total, here, difference = d[rows], idx[rows], np.empty(d[rows].shape)
        for a, b in zip(A[rows].T.astype(np.float64, "C"), columns, strict=True):
            np.take(b, here, out=difference, mode="wrap")  # unbuffered; -1 is overwritten later
            difference -= a[:, None]
            total += size(difference, out=difference)

    over_rows(block, len(idx), threads)
    return d


def _chunk_distances(A: Matrix, B: Matrix, idx: np.ndarray, metric: str) -> np.ndarray:
    """All pairs of a few rows of A: sums of squares or of absolute values."""
    absolute = metric == "manhattan"
    if sp.issparse(A):
        repeated = np.repeat(np.arange(A.shape[0]), idx.shape[1])
        difference = A[repeated].astype(np.float64) - B[idx.ravel()].astype(np.float64)
        sizes = abs(difference) if absolute else difference.multiply(difference)
        return np.asarray(sizes.sum(axis=1)).reshape(idx.shape)
    difference = B[idx].astype(np.float64)
    difference -= A[:, None, :]
    if absolute:
        return np.abs(difference, out=difference).sum(axis=2)
    return np.einsum("ikm,ikm->ik", difference, difference)


def project_rows_to_simplex(V: np.ndarray, copies: np.ndarray | None = None) -> np.ndarray:
    r"""Project every row on the probability simplex, exactly, all rows at once.

    .. math:: \min_{s_i} \|s_i - v_i\|^2 \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_i \ge 0

    Entries of ``-inf`` get weight zero; every row needs one finite entry. An entry may stand for
    several ``copies`` of it: the result has what they get together.

    Examples
    --------
    >>> import numpy as np
    >>> project_rows_to_simplex(np.array([[0.6, 0.2], [3.0, -np.inf]]))
    array([[0.7, 0.3],
           [1. , 0. ]])
    >>> project_rows_to_simplex(np.array([[0.6, 0.2]]), np.array([[2, 1]]))
    array([[0.93333..., 0.06666...]])
    """
    V = V - V.max(axis=1, keepdims=True)  # shift-invariant; keeps digits at any scale
    with np.errstate(invalid="ignore"):
        if copies is None:
            descending, each = -np.sort(-V, axis=1), np.ones(V.shape)
        else:
            order = np.argsort(-V, axis=1, kind="stable")
            descending, each = (np.take_along_axis(M, order, axis=1) for M in (V, copies))
        held = np.cumsum(each, axis=1)
        excess = np.cumsum(each * descending, axis=1) - 1.0
        in_support = descending * held > excess
    last = np.maximum(in_support.sum(axis=1, keepdims=True), 1) - 1
    threshold = np.take_along_axis(excess, last, axis=1) / np.take_along_axis(held, last, axis=1)
    S = np.maximum(V - threshold, 0.0)
    if copies is not None:
        S *= copies
    S[S < EDGE_FLOOR] = 0.0
    return S


def solve_rows(
    d: np.ndarray, xi: np.ndarray, threads: int = 1, copies: np.ndarray | None = None
) -> np.ndarray:
    r"""Solve the row problem `eq:10` on its candidates.

    .. math:: \min_{s_i} \sum_j d_{ij} s_{ij} + \xi_i s_{ij}^2
              \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_{ij} \ge 0

    where :math:`d_{ij} = d^{wx}_{ij} + \lambda d^f_{ij}`.

    Parameters
    ----------
    d : array of shape (n, k); infinite where there is no candidate.
    xi : array of shape (n,), positive.
    threads : for many rows.
    copies : array of shape (n, k), or None
        How many rows each candidate stands for; s is what they get together.

    Examples
    --------
    >>> import numpy as np
    >>> solve_rows(np.array([[1.0, 2.0, 9.0]]), np.array([1.0]))
    array([[0.75, 0.25, 0.  ]])
    """
    S = np.empty(d.shape)

    def block(rows: slice) -> None:
        nearest = d[rows].min(axis=1, keepdims=True)
        each = None if copies is None else copies[rows]
        with np.errstate(over="ignore"):
            S[rows] = project_rows_to_simplex((nearest - d[rows]) / (2.0 * xi[rows, None]), each)

    over_rows(block, len(d), threads, max(1, CHUNK_ELEMENTS // max(1, d.shape[1])))
    return S


def solve_rows_l1(A: np.ndarray, cost: np.ndarray) -> np.ndarray:
    r"""Rows on the simplex near the given rows of A in the L1 norm, at a price per entry.

    .. math:: \min_{s_i} \sum_j |s_{ij} - a_{ij}| + q_{ij} s_{ij}
              \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_{ij} \ge 0

    Moving a share from j to l changes the sum by :math:`2 - (q_{ij} - q_{il})` times it. So an
    entry keeps its weight unless it is dearer than the cheapest by more than 2; then all of it
    moves there. Where several are cheapest (up to 1e-9) the one of the largest weight gets it,
    so that as few entries change as can be.

    Parameters
    ----------
    A : array of shape (n, k), rows on the simplex.
    cost : array of shape (n, k); infinite where there is no candidate.

    Examples
    --------
    >>> import numpy as np
    >>> solve_rows_l1(np.array([[0.5, 0.3, 0.2]]), np.array([[0.0, 1.0, 3.0]]))
    array([[0.7, 0.3, 0. ]])
    """
    cheapest = cost.min(axis=1, keepdims=True)
    S = np.where(cost - cheapest > 2.0, 0.0, A)
    receiver = np.where(cost <= cheapest + 1e-9, A, -1.0).argmax(axis=1)
    S[np.arange(len(S)), receiver] += (A - S).sum(axis=1)
    return S


def neighbour_xi(
    d: np.ndarray, k: int, floor: float = 1e-3, copies: np.ndarray | None = None
) -> np.ndarray:
    r"""The row regularisers of `eq:24`, with which row i has exactly k neighbours.

    .. math:: \xi_i = \tfrac{k}{2} d_{i,k+1} - \tfrac12 \sum_{j \le k} d_{ij}

    Where a row has no (k+1)-th candidate its k-th distance stands in for it. A row whose
    k+1 nearest are all equally far (copies, say) would get zero: it is lifted to ``floor``
    times the mean, which leaves its weights uniform and its edges intact.

    Parameters
    ----------
    d : array of shape (n, k) or (n, k+1), squared distances in ascending order.
    k : number of neighbours.
    floor : smallest value in units of the mean; 0 keeps each row independent of the others.
    copies : array of shape (n, k) or None, how many rows each neighbour stands for.

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_xi(np.array([[1.0, 2.0, 4.0]]), k=2)
    array([2.5])
    """
    near = d[:, :k]
    beyond = d[:, min(k, d.shape[1] - 1)]
    farthest = np.where(np.isfinite(near), near, -np.inf).max(axis=1)
    beyond = np.where(np.isfinite(beyond), beyond, farthest)
    # Differences first: far from all others a row's distances are large and nearly equal.
    missing = np.where(np.isfinite(near), beyond[:, None] - near, 0.0)
    xi = 0.5 * (missing if copies is None else copies * missing).sum(axis=1)
    # A tiny positive number is enough for the rows that are left at zero: all their
    # distances are equal, and so are their weights at any xi.
    return np.maximum(xi, max(floor * xi.mean(), np.finfo(float).tiny))


def to_csr(idx: np.ndarray, S: np.ndarray, n_columns: int) -> sp.csr_array:
    """The weights on candidate pairs as a canonical CSR array without stored zeros.

    Examples
    --------
    >>> import numpy as np
    >>> to_csr(np.array([[1, 2]]), np.array([[0.0, 1.0]]), 3).toarray()
    array([[0., 0., 1.]])
    """
    kept = S > 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    # Products with the graph are bound by memory: short indices make them faster.
    short = np.int32 if max(n_columns, indptr[-1]) < 2**31 else np.int64
    columns, indptr = idx[kept].astype(short), indptr.astype(short)
    graph = sp.csr_array((S[kept], columns, indptr), shape=(len(idx), n_columns))
    graph.sort_indices()
    return graph


def laplacian(S: sp.csr_array) -> sp.csr_array:
    r"""The Laplacian :math:`L_S = D_S - (S^\top + S)/2`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> laplacian(sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))).toarray()
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    A = ((S + S.T) * 0.5).tocsr()
    return sp.diags_array(np.ravel(A.sum(axis=1)), format="csr") - A


def normalised_cut(S: sp.csr_array, labels: np.ndarray) -> float:
    r"""The weight of the edges that leave each cluster over that of all its edges, summed.

    .. math:: \sum_c \frac{\operatorname{cut}(c)}{\operatorname{vol}(c)}
              \quad \text{in} \quad (S + S^\top)/2

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> S = sp.csr_array(np.array([[0.0, 3, 0], [3, 0, 1], [0, 1, 0]]))
    >>> normalised_cut(S, np.array([0, 0, 1]))
    1.142857...
    """
    c = int(labels.max()) + 1
    S = S.tocoo()
    row, column = S.row, S.col
    between = np.bincount(labels[row] * c + labels[column], weights=S.data, minlength=c * c)
    between = between.reshape(c, c) + between.reshape(c, c).T
    volume = between.sum(axis=1)
    return float(((volume - between.diagonal()) / np.where(volume > 0, volume, 1.0)).sum())


def components(S: sp.csr_array) -> tuple[int, np.ndarray]:
    """Number of connected components and the component of each row, by first appearance.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> S = sp.csr_array(np.array([[0.0, 0, 1], [0, 0, 0], [0, 0, 0]]))
    >>> count, member = components(S)
    >>> count, member.tolist()
    (2, [0, 1, 0])
    """
    count, member = connected_components(S, directed=True, connection="weak")
    return int(count), member
