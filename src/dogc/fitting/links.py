r"""Links between representatives: what rows say about who lies beside whom.

Row i is linked to its K nearest representatives :math:`r_j` with weights

.. math:: b_{ij} = \exp\left(-\frac{\|z_i - r_j\|^2}{\sigma_i^2}\right), \qquad
          \sigma_i = \max\left(\sigma, \tfrac12 \min_j \|z_i - r_j\|\right)

with one :math:`\sigma` for all rows, half the mean distance of a row to its K nearest. Only rows
that lie far from all representatives have a width of their own, or they would vanish. The links are

.. math:: A = B^\top D^{-1} B, \qquad d_i = \sum_j b_{ij}

without the diagonal: many rows between two representatives make a strong link, few a weak one.
Links are narrow, so that what lies between clusters stays weak. A row's own label is a vote of the
representatives that it is linked with, and that vote is smoother: its shares are proportional to
:math:`b_{ij}` with all widths doubled.
Weights are rounded to whole numbers, so that sums over rows are exact and the same in any order;
coordinates are rounded so that products of them are exact, and what becomes of a row does not
depend on the rows that come with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from ..numerics import discrete, graph, lloyd
from ..numerics.exact import exact_bits, rounded, usual_unit, varying
from ..numerics.matrix import over_rows

# Representatives that a row is linked with.
LINKS = 8
# The common width, in units of the mean distance of a row to its representatives.
WIDTH = 0.5
# Rows this many times as far from representatives as the median row say nothing about the width.
OUTLYING = 20.0
# How much wider the vote on a row's label is.
SMOOTH = 2.0
# From this multiple of the common width on, a row has a width of its own.
FAR = 2.0
# What a weight of one is as a whole number. Products of two, summed over 2^34 rows, are below 2^63.
ONE = 1 << 14
# Up to this many dimensions a tree finds the nearest faster than all distances do.
TREE_UP_TO = 5
# Rounding must not make a row sure of its label.
SLACK = 1e-9
# With fewer rows scikit-learn would share the representatives among threads, not the rows.
LEAST_ROWS = 1025


# Indices and squared distances, nearest first.
Nearest = tuple[np.ndarray, np.ndarray]


class Search(NamedTuple):
    """Representatives that can be searched."""

    R: np.ndarray  # (p, q), from the origin
    origin: np.ndarray  # (q,) in the middle of them, so that squares keep their digits
    nearest: Any  # a tree, or scikit-learn's search
    unit: float  # a power of two beyond most coordinates of R
    bits: int  # that rounded coordinates have; 0: they are not rounded
    metric: str = "euclidean"

    @property
    def p(self) -> int:
        """The power of the norm."""
        return 1 if self.metric == "manhattan" else 2


class RowLinks(NamedTuple):
    """The representatives that rows are linked with, nearest first."""

    idx: Any  # (n, K) unsigned; all are arrays, or tensors of whole numbers with a sign
    strength: Any  # (n, K) whole numbers: b_ij / sqrt(d_i), in units of 1 / ONE; None: summed up
    share: Any  # (n, K) whole numbers: shares of the vote, in units of 1 / ONE
    reach: Any  # (n,) mean distance to them


class LinkSums(NamedTuple):
    """Totals over a set of rows; sums of them are exact."""

    A: sp.csr_array  # (p, p) whole numbers, the diagonal included
    mass: np.ndarray  # (p,) whole numbers: what is linked to each representative


def make_search(R: np.ndarray, metric: str = "euclidean") -> Search:
    """Representatives made ready for search."""
    q = varying(R)
    if q <= TREE_UP_TO:
        return Search(R, np.zeros(R.shape[1]), cKDTree(R), 0.0, 0, metric)
    origin = np.median(R, axis=0)
    R = R - origin
    search = Search(R, origin, None, usual_unit(R), exact_bits(q), metric)
    R = _rounded(search, R)
    return search._replace(R=R, nearest=NearestNeighbors(algorithm="brute", metric=metric).fit(R))


def _rounded(search: Search, Z: np.ndarray) -> np.ndarray:
    """Rows as the search wants them; a tree forms differences, which need no rounding."""
    return rounded(Z, search.unit, search.bits) if search.bits else Z


def nearest(search: Search, Z: np.ndarray, k: int) -> Nearest:
    """The k nearest representatives of each row, nearest first, and their squared distances.

    What is found for a row does not depend on the rows that come with it.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(make_search(np.array([[0.0], [1.0], [3.0]])), np.array([[0.75]]), 2)
    (array([[1, 0]]), array([[0.0625, 0.5625]]))
    """
    n, k = len(Z), min(k, len(search.R))
    Z = _rounded(search, Z - search.origin)
    if isinstance(search.nearest, cKDTree):
        distance, idx = search.nearest.query(Z, np.arange(1, k + 1), p=search.p)
        idx = np.minimum(idx, len(search.R) - 1)  # infinitely far from all, it names none
    else:
        Z = Z if n >= LEAST_ROWS else np.resize(Z, (LEAST_ROWS, Z.shape[1]))
        distance, idx = search.nearest.kneighbors(Z, k)
    return idx[:n], np.square(distance[:n])


def sure_labels(
    search: Search, labels: np.ndarray, n_links: int
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """From rows to labels by their nearest representative, and which of them are sure.

    A label is sure where all ``n_links`` representatives that the row is linked with have it.

    Examples
    --------
    >>> import numpy as np
    >>> R, labels = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    >>> sure_labels(make_search(R), labels, 2)(np.array([[0.5], [2.9]]))
    (array([0, 0]), array([ True, False]))
    """
    if isinstance(search.nearest, cKDTree):
        margin = _margins(search, labels, n_links)

        def by_tree(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            distance, idx = search.nearest.query(Z - search.origin, p=search.p)
            idx = np.minimum(idx, len(labels) - 1)
            return labels[idx], distance < margin[idx]

        return by_tree
    if search.metric != "euclidean":  # products tell Euclidean distances only
        return lambda Z: (np.repeat(labels[:1], len(Z)), np.zeros(len(Z), dtype=bool))
    order = np.argsort(labels, kind="stable")
    R = search.R[order]
    names, first = np.unique(labels[order], return_index=True)
    # [z, 1] times [-2 r, |r|^2]: the squared distance less that of z from the origin.
    weights = np.vstack([-2.0 * R.T, np.einsum("ij,ij->i", R, R)])

    def by_products(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, sure = np.empty(len(Z), dtype=np.int64), np.empty(len(Z), dtype=bool)
        Z = np.hstack([_rounded(search, Z - search.origin), np.ones((len(Z), 1))])

        def block(rows: slice) -> None:
            scores = Z[rows] @ weights
            least = np.minimum.reduceat(scores, first, axis=1)
            found[rows] = names[least.argmin(axis=1)]
            # The nearest of another label, and how many are nearer than that.
            other = np.partition(least, 1, axis=1)[:, 1:2] if len(names) > 1 else np.inf
            sure[rows] = np.count_nonzero(scores < other, axis=1) >= n_links

        over_rows(block, len(Z), block=max(64, lloyd.ELEMENTS // len(R)))
        return found, sure

    return by_products


def _margins(search: Search, labels: np.ndarray, k: int) -> np.ndarray:
    """How near a row must be to its nearest representative to be sure to get its label.

    A row at distance d from representative j has its k nearest within 2 d and the k-th distance
    of j from j. If no representative of another label is as near as that, all k agree.
    """
    R, reach = search.R, search.nearest.query(search.R, [min(k, len(labels))], p=search.p)[0][:, 0]
    other = np.full(len(R), np.inf)
    for label in np.unique(labels):
        inside = labels == label
        if not inside.all():
            other[inside] = cKDTree(R[~inside]).query(R[inside], p=search.p)[0]
    return 0.5 * (other - reach) * (1.0 - SLACK)


def common_width(d: np.ndarray, weight: np.ndarray) -> float:
    """The width of links: half the mean distance of rows to their nearest representatives.

    A few rows far away from all do not count. It is 1 where all rows lie on representatives.

    Examples
    --------
    >>> import numpy as np
    >>> common_width(np.array([[1.0, 4.0], [4.0, 9.0]]), np.array([1, 3]))
    1.125
    """
    reach = np.sqrt(d).mean(axis=1)
    usual = reach <= OUTLYING * (np.median(reach) or np.inf)
    return WIDTH * float(np.average(reach[usual], weights=weight[usual])) or 1.0


def link_rows(search: Search, Z: np.ndarray, k: int, width: float) -> RowLinks:
    """The links of rows: a function of each row alone.

    Parameters
    ----------
    search : representatives
    Z : array of shape (n, q)
    k : links of a row.
    width : the common width, as :func:`common_width` gives it.

    Examples
    --------
    >>> import numpy as np
    >>> search = make_search(np.array([[0.0], [1.0], [9.0]]))
    >>> found = link_rows(search, np.array([[0.4], [0.0]]), 2, 1.0)
    >>> found.idx.tolist(), (found.share / ONE).round(2).tolist()
    ([[0, 1], [0, 1]], [[0.51, 0.49], [0.56, 0.44]])
    """
    idx, d = nearest(search, Z, k)
    # A row beyond the range of squares is infinitely far from everything: any link is right.
    with np.errstate(over="ignore", invalid="ignore"):
        own = np.maximum(np.maximum(width**2, d[:, :1] / FAR**2), np.finfo(float).tiny)
        relative = np.nan_to_num(np.exp((d[:, :1] - d) / own), nan=1.0)
        total = relative.sum(axis=1, keepdims=True)
        reach = np.nan_to_num(np.exp(-0.5 * d[:, :1] / own))
    smooth = relative ** (1.0 / SMOOTH**2)
    share = np.rint(smooth / smooth.sum(axis=1, keepdims=True) * ONE).astype(np.uint16)
    strength = np.rint(relative / np.sqrt(total) * reach * ONE).astype(np.uint16)
    small = np.uint16 if len(search.R) <= 1 << 16 else np.uint32
    return RowLinks(idx.astype(small), strength, share, mean_distance(d))


def simplex_graph(search: Search, Z: np.ndarray, weight: np.ndarray, k: int) -> sp.csr_array:
    r"""Links where each row has a regulariser of its own (`eq:24`) instead of a common width.

    With rows :math:`s_i` on the simplex they are :math:`S^\top S`, without the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> search = make_search(np.array([[0.0], [1.0], [9.0]]))
    >>> simplex_graph(search, np.array([[0.5], [1.0]]), np.array([1, 2]), 2).toarray().round(2)
    array([[0.  , 0.75, 0.  ],
           [0.75, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    p = len(search.R)
    k = max(1, min(k, p - 1))
    idx, d = nearest(search, Z, k + 1)
    S = graph.solve_rows(d[:, :k], graph.neighbour_xi(d, k))
    rows = np.arange(0, S.size + 1, k)
    S = sp.csr_array((S.ravel(), idx[:, :k].ravel(), rows), shape=(len(Z), p))
    A = (S.T @ (S * weight[:, None])).tocoo()
    off = A.row != A.col
    return sp.csr_array((A.data[off], (A.row[off], A.col[off])), shape=(p, p))


def mean_distance(d: np.ndarray) -> np.ndarray:
    """The mean of distances given as squares, for each row; half the digits are enough.

    Examples
    --------
    >>> import numpy as np
    >>> mean_distance(np.array([[1.0, 9.0]]))
    array([2.], dtype=float32)
    """
    return np.sqrt(d).mean(axis=1).astype(np.float32)


def votes(rows: RowLinks, labels: np.ndarray, n_votes: int) -> np.ndarray:
    """The weight of each label among the nearest ``n_votes`` links of each row, of shape (n, c)."""
    near = labels[rows.idx[:, :n_votes]]
    return discrete.label_shares(near, rows.share[:, :n_votes], int(labels.max()) + 1)


def link_sums(links: RowLinks, weight: np.ndarray, p: int) -> LinkSums:
    """The links and the mass that rows add up to, each counted as often as its weight says.

    Examples
    --------
    >>> import numpy as np
    >>> search = make_search(np.array([[0.0], [1.0]]))
    >>> rows = link_rows(search, np.array([[0.5], [0.25]]), 2, 1.0)
    >>> sums = link_sums(rows, np.array([1, 1]), 2)
    >>> (sums.A.toarray() / ONE**2).round(2).tolist(), (sums.mass / ONE).round(2).tolist()
    ([[0.97, 0.74], [0.74, 0.6]], [1.03, 0.97])
    """
    n, k = links.idx.shape
    places = np.arange(0, n * k + 1, k)
    idx = links.idx.ravel().astype(np.int32)
    B = sp.csr_array((links.strength.ravel().astype(np.int64), idx, places), shape=(n, p))
    weighted = sp.csr_array((B.data * np.repeat(weight, k), idx, places), shape=(n, p))
    mass = np.zeros(p, dtype=np.int64)
    np.add.at(mass, idx, (links.share * weight[:, None]).ravel())
    return LinkSums((weighted.T @ B).tocsr(), mass)


def no_sums(p: int) -> LinkSums:
    """Totals over no rows at all."""
    return LinkSums(sp.csr_array((p, p), dtype=np.int64), np.zeros(p, dtype=np.int64))


def add(one: LinkSums, other: LinkSums) -> LinkSums:
    """The sums over the rows of both."""
    return LinkSums((one.A + other.A).tocsr(), one.mass + other.mass)


def link_graph(sums: LinkSums) -> sp.csr_array:
    """The links A as a symmetric graph of real numbers without a diagonal.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.array([[5, 2 * ONE**2], [2 * ONE**2, 7]]))
    >>> link_graph(LinkSums(A, np.ones(2))).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    A = sums.A.tocoo()
    row, column = A.row, A.col
    off = (row != column) & (A.data > 0)
    graph = sp.csr_array((A.data[off] / ONE**2, (row[off], column[off])), shape=A.shape)
    graph.sort_indices()
    return graph
