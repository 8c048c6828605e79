"""A graph as weight between bins of rows, sorted by cluster; without matplotlib."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

# More cells than this are finer than a screen.
MOST_BINS = 240


class Blocks(NamedTuple):
    """A graph with its rows sorted by cluster and gathered into bins."""

    edges: np.ndarray  # (b + 1,) where bins begin and end, counted in rows
    density: np.ndarray  # (b, b) mean weight between a row of one bin and a row of another
    clusters: np.ndarray  # (c,) labels in the order of the blocks, outliers last
    borders: np.ndarray  # (c + 1,) where clusters begin and end, counted in rows


def bin_rows(codes: np.ndarray, along: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each row and the group of each bin.

    Rows are sorted by group and then by ``along``. Bins are shared out by size, about ``most`` in
    all and one at least to every group, so that none crosses a border.

    Examples
    --------
    >>> import numpy as np
    >>> bin_rows(np.array([0, 1, 0, 0]), np.array([3.0, 0.0, 1.0, 2.0]), 3)
    (array([1, 2, 0, 0]), array([0, 0, 1]))
    """
    n, size = len(codes), np.bincount(codes)
    per_group = np.where(size > 0, np.maximum(1, size * min(most, n) // n), 0)
    order = np.lexsort((along, codes))
    group = codes[order]
    rank = np.arange(n) - (np.cumsum(size) - size)[group]
    bins = np.empty(n, dtype=np.int64)
    first = np.cumsum(per_group) - per_group
    bins[order] = first[group] + rank * per_group[group] // size[group]
    return bins, np.repeat(np.arange(len(size)), per_group)


def sum_blocks(graph: Any, member: np.ndarray, count: int) -> np.ndarray:
    """Sums of a matrix over blocks of rows and columns."""
    n = len(member)
    G = sp.csr_array((np.ones(n), (np.arange(n), member)), shape=(n, count))
    result = G.T @ (graph @ G)
    return np.asarray(result.toarray() if sp.issparse(result) else result, dtype=np.float64)


def share_inside(graph: sp.csr_array, labels: np.ndarray) -> float:
    """Share of a graph's weight that joins rows of one cluster; outliers are in none.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 3, 1], [3, 0, 0], [1, 0, 0]]))
    >>> share_inside(A, np.array([0, 0, 1]))
    0.75
    """
    edges = graph.tocoo()
    i, j = edges.row, edges.col
    same = (labels[i] == labels[j]) & (labels[i] >= 0)
    total = float(edges.data.sum())
    return float(edges.data[same].sum()) / total if total > 0 else 1.0


def block_structure(graph: sp.csr_array, labels: np.ndarray, most: int = MOST_BINS) -> Blocks:
    """Sort the rows of a graph by cluster and gather them into about ``most`` bins.

    Within a cluster rows come in the order of a walk from one of its ends. No bin holds rows of two
    clusters, unless there are more clusters than bins.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[0.0, 0, 1], [0, 0, 0], [1, 0, 0]]))
    >>> blocks = block_structure(A, np.array([0, 1, 0]), most=2)
    >>> blocks.borders.tolist(), blocks.density.tolist()
    ([0, 2, 3], [[0.5, 0.0], [0.0, 0.0]])
    """
    last = np.iinfo(np.int64).max
    clusters, codes = np.unique(np.where(labels < 0, last, labels), return_inverse=True)
    along = np.argsort(_order_along(graph.tocoo(), labels))
    if len(clusters) > most:
        along = np.argsort(np.lexsort((along, codes)))  # borders may fall into a bin
        bins, owner = bin_rows(np.zeros_like(codes), along, most)
    else:
        bins, owner = bin_rows(codes, along, most)
    size = np.bincount(bins)
    density = sum_blocks(graph, bins, len(owner)) / np.outer(size, size)
    names = np.where(clusters == last, -1, clusters)
    return Blocks(_ends(size), density, names, _ends(np.bincount(codes)))


def _ends(size: np.ndarray) -> np.ndarray:
    """The beginnings of parts of these sizes, and the end of the last."""
    return np.append(0, np.cumsum(size))


def _order_along(joined: sp.coo_array, labels: np.ndarray) -> np.ndarray:
    """Rows in the order of a walk through the edges within clusters, from far ends."""
    within = labels[joined.row] == labels[joined.col]
    i, j = joined.row[within], joined.col[within]
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    inside = sp.csr_matrix((np.ones(len(both[0])), both), joined.shape)
    count, member = connected_components(inside, directed=False)
    somewhere = np.unique(member, return_index=True)[1]
    order = _walk(inside, somewhere)
    end = np.empty(count, dtype=np.int64)
    end[member[order]] = order  # the last that was reached in each component
    order = _walk(inside, end)
    return order[np.argsort(member[order], kind="stable")]


def _walk(graph: sp.csr_matrix, starts: np.ndarray) -> np.ndarray:
    """Rows in breadth-first order from one start in each component."""
    n = graph.shape[0]
    root = sp.csr_matrix((np.ones(len(starts)), (np.zeros(len(starts), int), starts)), (1, n))
    rooted = sp.vstack([graph, root], format="csr")
    rooted.resize((n + 1, n + 1))
    return breadth_first_order(rooted, n, return_predecessors=False)[1:]
