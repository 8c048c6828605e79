"""Groups that lie apart: small ones that are clusters all the same, unless they are a handful."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

# A group lies apart if the way to the rest is OWN times its longest step, and beyond the quantile
# USUAL of all steps by FAR times the distance of that from their median: neither a gap in a sparse
# fringe nor the surroundings of a tight bunch of rows are a gap between clusters. In many columns
# all steps are about as long, and a gap shows only beside their spread.
OWN, FAR, USUAL = 1.25, 2.5, 0.98


def pieces(idx: np.ndarray, d: np.ndarray, fewest: int) -> np.ndarray:
    """The piece that each node is in, numbered by falling size; groups that lie apart are pieces.

    Steps are the edges of the minimum spanning tree: no way between two nodes has a shorter longest
    step than the one along the tree.

    Parameters
    ----------
    idx, d : arrays of shape (n, k)
        Candidates and squared distances; -1 where there are fewer.
    fewest : int
        The fewest nodes of a group.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 9.0, 10.0])
    >>> d = (x[:, None] - x) ** 2
    >>> idx = np.argsort(d, axis=1)[:, 1:]
    >>> d = np.take_along_axis(d, idx, axis=1)
    >>> pieces(idx, d, 2), pieces(idx, d, 3)
    (array([0, 0, 0, 0, 1, 1], dtype=int32), array([0, 0, 0, 0, 0, 0], dtype=int32))
    """
    n = len(idx)
    known = (idx >= 0) & np.isfinite(d)
    row, other = (ends.astype(np.int32) for ends in (np.nonzero(known)[0], idx[known]))
    step = np.sqrt(d[known])
    # What is not stored is no edge, so that copies need a length.
    lift = np.finfo(float).eps * (step.max(initial=0.0) or 1.0)
    tree = minimum_spanning_tree(sp.csr_array((step + lift, (row, other)), shape=(n, n)))
    tree = tree.tocoo()
    order = np.argsort(tree.data, kind="stable")
    one, other, step = tree.row[order], tree.col[order], tree.data[order]
    kept = ~_ways_out(one, other, step, n, fewest)
    links = sp.csr_array((step[kept], (one[kept], other[kept])), shape=(n, n))
    _, piece = connected_components(links, directed=False)
    size = np.bincount(piece)
    name = np.empty(len(size), dtype=np.int32)
    # Of the same size the one with the first node comes first.
    name[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return name[piece]


def _ways_out(
    one: np.ndarray, other: np.ndarray, step: np.ndarray, n: int, fewest: int
) -> np.ndarray:
    """True for the edges of a tree, in rising order, from a group that lies apart to the rest."""
    middle, usual = np.quantile(step, [0.5, USUAL], method="lower") if len(step) else (0.0, 0.0)
    far = usual + FAR * (usual - middle)
    leads_out = np.zeros(len(step), dtype=bool)
    parent, size, longest = list(range(n)), [1] * n, [0.0] * n

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for place, (i, j, way) in enumerate(
        zip(one.tolist(), other.tolist(), step.tolist(), strict=True)
    ):
        i, j = root(i), root(j)
        if size[i] < size[j]:
            i, j = j, i
        leads_out[place] = size[j] >= fewest and way >= max(OWN * longest[j], far)
        parent[j], size[i], longest[i] = i, size[i] + size[j], way
    return leads_out


def stands(size: np.ndarray, piece: np.ndarray, c: int, least: float) -> np.ndarray:
    """The pieces that are clusters although they count for less than the least; -1: no such piece.

    Only the c largest are: there are no more clusters.

    Examples
    --------
    >>> import numpy as np
    >>> stands(np.ones(6), np.array([0, 0, 0, 0, 1, 1]), 2, 3.0)
    array([-1, -1, -1, -1,  1,  1])
    """
    total = np.bincount(piece, weights=size)
    small = (total < least) & (np.arange(len(total)) < c) & (len(total) > 1)
    return np.where(small[piece], piece, -1)


def standing(size: np.ndarray, stands: np.ndarray, least: float) -> np.ndarray:
    """Weights of nodes with which each piece that is a cluster counts for the least.

    Examples
    --------
    >>> import numpy as np
    >>> standing(np.ones(6), np.array([-1, -1, -1, -1, 1, 1]), 3.0).round(2)
    array([1. , 1. , 1. , 1. , 1.5, 1.5])
    """
    total = np.bincount(stands + 1, weights=size)
    # A little more, so that no rounding of a sum falls below it.
    return np.where(stands >= 0, size * 1.001 * least / total[stands + 1], size)


def set_apart(
    idx: np.ndarray, d: np.ndarray, stands: np.ndarray, own: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates, nearest first, of which none leads into or out of a piece that is a cluster.

    ``own`` is the piece of those that have the candidates, if they are not the nodes themselves.

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.array([[1, 2], [2, 0], [1, 0]]), np.array([[4.0, 9.0], [1.0, 4.0], [1.0, 9.0]])
    >>> set_apart(idx, d, np.array([-1, 1, 1]))[0].tolist()
    [[-1, -1], [2, -1], [1, -1]]
    """
    own = stands if own is None else own
    across = (idx >= 0) & (stands[idx] != own[:, None])
    if not across.any():
        return idx, d
    first = np.argsort(across, axis=1, kind="stable")
    idx, d = np.where(across, -1, idx), np.where(across, np.inf, d)
    return np.take_along_axis(idx, first, axis=1), np.take_along_axis(d, first, axis=1)


def without_links(A: sp.csr_array, stands: np.ndarray) -> sp.csr_array:
    """A graph without edges into or out of a piece that is a cluster.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> without_links(sp.csr_array(np.ones((2, 2))), np.array([-1, 1])).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    if (stands < 0).all():
        return A
    A = A.tocoo()
    kept = stands[A.row] == stands[A.col]
    return sp.csr_array((A.data[kept], (A.row[kept], A.col[kept])), shape=A.shape)
