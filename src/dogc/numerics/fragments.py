"""Components that are too small or too many: joined to what they lie nearest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from . import graph
from .matrix import Matrix


def join_small(
    idx: np.ndarray, S: np.ndarray, d: np.ndarray, size: np.ndarray, min_size: float
) -> tuple[np.ndarray, sp.csr_array, np.ndarray, int, np.ndarray]:
    """Tie every component smaller than ``min_size`` to its nearest neighbour.

    The shortest candidate pair that leaves such a component gets the weight of one ordinary
    neighbour, again and again until no small component has a pair that leaves it.

    Parameters
    ----------
    idx, S, d : arrays of shape (n, k)
        Candidates, weights with rows on the simplex, and distances.
    size : array of shape (n,)
        What each row counts for.
    min_size : float
        The smallest total that makes a component a cluster.

    Returns
    -------
    S : array of shape (n, k), the weights without a component that is too small.
    A : the same as a sparse array.
    member : the component of each row.
    n_components : int
    stray : mask of the rows whose component was too small.

    Examples
    --------
    >>> import numpy as np
    >>> idx = np.array([[1, 2], [0, 2], [1, 0]])
    >>> S = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    >>> d = np.array([[1.0, 9.0], [1.0, 4.0], [4.0, 9.0]])
    >>> join_small(idx, S, d, np.ones(3), 2)[2:]
    (array([0, 0, 0], dtype=int32), 1, array([False, False,  True]))
    """
    (n, k), stray = S.shape, None
    while True:
        A = graph.to_csr(idx, S, n)
        count, member = graph.components(A)
        small = np.bincount(member, weights=size) < min_size
        stray = small[member] if stray is None else stray
        if count == 1 or not small.any():
            break
        ways_out = _shortest_ways_out(idx, d, member, small)
        if not len(ways_out):
            break
        row = ways_out // k
        added = np.bincount(row, minlength=n)
        S = S * (k / (k + added))[:, None]
        S.ravel()[ways_out] += 1.0 / (k + added[row])
    # Small components that are one cluster together did not stray from it.
    strayed = np.bincount(member, weights=~stray) > 0
    return S, A, member, count, stray & (strayed[member] | small[member])


def _shortest_ways_out(
    idx: np.ndarray, d: np.ndarray, member: np.ndarray, small: np.ndarray
) -> np.ndarray:
    """For each small component its shortest candidate pair to another, as a flat position."""
    at = np.where(idx >= 0, member[idx], -1)
    here = np.broadcast_to(member[:, None], idx.shape)
    crossing = (at >= 0) & (at != here) & np.isfinite(d) & (small[here] | small[at])
    place = np.flatnonzero(crossing)
    ends = np.concatenate([here.ravel()[place], at.ravel()[place]])
    place = np.tile(place, 2)
    place, ends = place[small[ends]], ends[small[ends]]
    order = np.lexsort((place, d.ravel()[place], ends))
    first = np.unique(ends[order], return_index=True)[1]
    return np.unique(place[order][first])


def merge_components(
    Z: Matrix | None, member: np.ndarray, n_groups: int, weight: np.ndarray | None = None
) -> np.ndarray:
    """Join components until ``n_groups`` are left: the smallest joins its nearest one.

    Nearest means the smallest distance between two of their rows. Among equal sizes the
    one whose number is lowest goes first; a merged group keeps the number of the one joined.

    Parameters
    ----------
    Z : array, sparse array, or None
        Coordinates. Where there are none (a precomputed graph) the smallest component
        joins the next smallest.
    weight : array of shape (n,), or None
        What each row counts for in the size of its component; None: one.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [0.1], [5.0], [9.0], [9.1]])
    >>> merge_components(Z, np.array([0, 0, 1, 2, 2]), 2)
    array([0, 0, 1, 1, 1])
    """
    group, sizes = member.copy(), np.bincount(member, weight).astype(float)
    sizes[sizes == 0] = np.inf
    Z, squares = (None, np.empty(0)) if Z is None else _points(Z, np.mean)
    for _ in range(int(np.isfinite(sizes).sum()) - n_groups):
        _join_smallest(Z, squares, group, sizes)
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _points(Z: Matrix, middle: Callable[..., np.ndarray]) -> tuple[Matrix, np.ndarray]:
    """Rows around their middle, as squares lose digits far from the origin, and their squares."""
    if sp.issparse(Z):
        return Z, np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
    Z = Z - middle(Z, axis=0)
    return Z, np.einsum("ij,ij->i", Z, Z)


def _join_smallest(
    Z: Matrix | None, squares: np.ndarray, member: np.ndarray, sizes: np.ndarray
) -> tuple[int, int]:
    """Make the smallest component part of the nearest one, in place; the two rows that meet."""
    smallest, second = np.argsort(sizes, kind="stable")[:2]
    if Z is None:
        i, j = int(np.argmax(member == smallest)), int(np.argmax(member == second))
    else:
        i, j = _nearest_pair(Z, squares, member == smallest)
    sizes[member[j]] += sizes[smallest]
    sizes[smallest] = np.inf
    member[member == smallest] = member[j]
    return i, j


def _nearest_pair(Z: Matrix, squares: np.ndarray, inside: np.ndarray) -> tuple[int, int]:
    """The closest two rows of which only the first is inside."""
    own, best, least = np.flatnonzero(inside), (-1, -1), np.inf
    step = max(1, graph.CHUNK_ELEMENTS // len(inside))
    for start in range(0, len(own), step):
        rows = own[start : start + step]
        cross = Z[rows] @ Z.T
        cross = cross.toarray() if sp.issparse(cross) else cross
        reach = squares[rows, None] + squares[None, :] - 2.0 * cross
        reach[:, inside] = np.inf
        at, nearest = np.unravel_index(int(np.argmin(reach)), reach.shape)
        if reach[at, nearest] < least:
            best, least = (int(rows[at]), int(nearest)), reach[at, nearest]
    return best


def tie_small(
    A: sp.csr_array, Z: Matrix, size: np.ndarray, min_size: float
) -> tuple[sp.csr_array, np.ndarray]:
    """A graph in which every component that is too small is tied to its nearest, weakly.

    The tie is as weak as the weakest edge: it joins what would be lost and is the first to go.
    The second result says which nodes were in such components.

    Parameters
    ----------
    A : sparse array of shape (n, n), symmetric.
    Z : array or sparse array of shape (n, d), coordinates.
    size, min_size : as in :func:`join_small`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> tied, small = tie_small(A, np.array([[0.0], [1.0], [9.0]]), np.ones(3), 2)
    >>> tied.toarray().tolist(), small.tolist()
    ([[0.0, 2.0, 0.0], [2.0, 0.0, 2.0], [0.0, 2.0, 0.0]], [False, False, True])
    """
    weakest = float(A.data.min()) if A.nnz else 1.0
    count, member = graph.components(A)
    sizes = np.bincount(member, weights=size)
    small = (sizes < min_size)[member] & (count > 1)
    if not small.any():
        return A, small
    (Z, squares), ends = _points(Z, np.median), []
    while np.isfinite(sizes).sum() > 1 and sizes.min() < min_size:
        i, j = _join_smallest(Z, squares, member, sizes)
        ends += [(i, j), (j, i)]
    row, column = np.array(ends).T
    ties = sp.csr_array((np.full(len(row), weakest), (row, column)), shape=A.shape)
    return (A + ties).tocsr(), small


def bridge_small(
    idx: np.ndarray, d: np.ndarray, k: int, Z: Matrix, size: np.ndarray, min_size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates in which every component that is too small has a pair that leaves it.

    The k-th candidate of the row that lies nearest to the rest makes room.

    Parameters
    ----------
    idx, d : arrays of shape (n, k+1), candidates and squared distances, nearest first.
    Z : array or sparse array of shape (n, d), coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [3.0], [9.0], [10.0]])
    >>> idx = np.array([[1], [0], [1], [4], [3]])
    >>> bridge_small(idx, np.ones((5, 1)), 1, Z, np.ones(5), 3)[0].ravel()
    array([1, 0, 1, 2, 3])
    """
    squares = None
    for _ in range(len(idx)):  # a bridge that breaks another link may need one more
        edges = graph.to_csr(idx[:, :k], (idx[:, :k] >= 0).astype(float), len(idx))
        count, member = graph.components(edges)
        sizes = np.bincount(member, weights=size)
        if count == 1 or sizes.min() >= min_size:
            break
        if squares is None:
            idx, d = idx.copy(), d.copy()
            Z, squares = _points(Z, np.mean)
        i, j = _nearest_pair(Z, squares, member == np.argmin(sizes))
        idx[i, k - 1] = j
        known = np.where(np.isfinite(d[i, k - 1 :]), d[i, k - 1 :], 0.0)  # it may have had fewer
        d[i, k - 1 :] = np.maximum(known, graph.pair_distances(Z[[i]], Z, idx[[i], k - 1 : k])[0])
    return idx, d
