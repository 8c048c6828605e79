"""Components that are too small or too many: joined to what they lie nearest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import graph
from .matrix import Matrix


class Joined(NamedTuple):
    """Weights without a component that is too small, and what follows from them."""

    S: np.ndarray  # (n, k)
    graph: sp.csr_array  # the same as a sparse array
    member: np.ndarray  # component of each row
    n_components: int
    stray: np.ndarray  # rows whose component was too small


def join_small(
    idx: np.ndarray, S: np.ndarray, d: np.ndarray, size: np.ndarray, min_size: float
) -> Joined:
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

    Examples
    --------
    >>> import numpy as np
    >>> idx = np.array([[1, 2], [0, 2], [1, 0]])
    >>> S = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    >>> d = np.array([[1.0, 9.0], [1.0, 4.0], [4.0, 9.0]])
    >>> joined = join_small(idx, S, d, np.ones(3), 2)
    >>> joined.n_components, joined.stray
    (1, array([False, False,  True]))
    """
    edges = graph.to_csr(idx, S, len(S))
    count, member = graph.components(edges)
    small = np.bincount(member, weights=size, minlength=count) < min_size
    stray = small[member]
    while count > 1 and small.any():
        ways_out = _shortest_ways_out(idx, d, member, small)
        if not len(ways_out):
            break
        S, edges = _with_edges(S, ways_out), None
        ends = member[ways_out // idx.shape[1]], member[idx.ravel()[ways_out]]
        ties = sp.csr_array((np.ones(len(ways_out)), ends), shape=(count, count))
        count, group = graph.components(ties)
        member = group[member]
        small = np.bincount(member, weights=size, minlength=count) < min_size
    edges = graph.to_csr(idx, S, len(S)) if edges is None else edges
    # Small components that are one cluster together did not stray from it.
    strayed = np.bincount(member, weights=~stray, minlength=count) > 0
    return Joined(S, edges, member, count, stray & (strayed[member] | small[member]))


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


def _with_edges(S: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Weights with an ordinary neighbour's share at these places, rows still on the simplex."""
    n, k = S.shape
    row = places // k
    added = np.bincount(row, minlength=n)
    S = S * (k / (k + added))[:, None]
    S.ravel()[places] += 1.0 / (k + added[row])
    return S


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
    group = member.copy()
    sizes = np.bincount(group, weight).astype(float)
    if isinstance(Z, np.ndarray):
        Z = Z - Z.mean(axis=0)  # squares below lose digits far from the origin
    squares = np.empty(0) if Z is None else _row_squares(Z)
    for _ in range(int((sizes > 0).sum()) - n_groups):
        smallest = int(np.argmin(np.where(sizes > 0, sizes, np.inf)))
        if Z is None:
            others = np.where((sizes > 0) & (np.arange(sizes.size) != smallest), sizes, np.inf)
            target = int(np.argmin(others))
        else:
            target = int(group[_nearest_pair(Z, squares, group, smallest)[1]])
        group[group == smallest] = target
        sizes[target] += sizes[smallest]
        sizes[smallest] = 0
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group]


def _row_squares(Z: Matrix) -> np.ndarray:
    if sp.issparse(Z):
        return np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", Z, Z)


def _nearest_pair(
    Z: Matrix, squares: np.ndarray, group: np.ndarray, which: int
) -> tuple[int, int, float]:
    """The closest two rows of which only the first is in a group, and their squared distance."""
    inside = np.flatnonzero(group == which)
    best = (-1, -1, np.inf)
    step = max(1, graph.CHUNK_ELEMENTS // len(group))
    for start in range(0, len(inside), step):
        rows = inside[start : start + step]
        cross = Z[rows] @ Z.T
        cross = cross.toarray() if sp.issparse(cross) else cross
        reach = squares[rows, None] + squares[None, :] - 2.0 * cross
        reach[:, group == which] = np.inf
        at, nearest = np.unravel_index(int(np.argmin(reach)), reach.shape)
        if reach[at, nearest] < best[2]:
            best = (int(rows[at]), int(nearest), float(reach[at, nearest]))
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
    sizes = np.bincount(member, weights=size, minlength=count)
    small = (sizes < min_size)[member] & (count > 1)
    if not small.any():
        return A, small
    Z = Z - np.median(Z, axis=0) if isinstance(Z, np.ndarray) else Z
    squares, ends = _row_squares(Z), []
    while np.isfinite(sizes).sum() > 1 and sizes.min() < min_size:
        smallest = int(np.argmin(sizes))
        i, j, _ = _nearest_pair(Z, squares, member, smallest)
        ends += [(i, j), (j, i)]
        sizes[member[j]] += sizes[smallest]
        sizes[smallest] = np.inf  # it is part of another now
        member[member == smallest] = member[j]
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
        sizes = np.bincount(member, weights=size, minlength=count)
        if count == 1 or sizes.min() >= min_size:
            break
        if squares is None:
            idx, d = idx.copy(), d.copy()
            Z = Z - Z.mean(axis=0) if isinstance(Z, np.ndarray) else Z
            squares = _row_squares(Z)
        i, j, _ = _nearest_pair(Z, squares, member, int(np.argmin(sizes)))
        idx[i, k - 1] = j
        known = np.where(np.isfinite(d[i, k - 1 :]), d[i, k - 1 :], 0.0)  # it may have had fewer
        d[i, k - 1 :] = np.maximum(known, graph.pair_distances(Z[[i]], Z, idx[[i], k - 1 : k])[0])
    return idx, d
