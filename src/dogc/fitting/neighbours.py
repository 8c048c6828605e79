"""Nearest neighbours: exact by scikit-learn, by pynndescent, by the user's search, or as given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from .._extras import needed
from ..numerics import graph
from ..numerics.matrix import Matrix
from .repeatable import Report, in_blocks

ALGORITHMS = ("auto", "brute", "kd_tree", "pynndescent")

# Rows per query. Fixed, so that what a query returns in a tie does not depend on n_jobs. Sparse
# rows may get all their distances at once: so many in a query.
QUERY_ROWS, SPARSE_DISTANCES = 4096, 1 << 21
# Rows whose neighbours are looked up exactly to measure the recall of an approximate search.
RECALL_ROWS = 200
MADE_BY = {
    "distances": "those of KNeighborsTransformer(mode='distance')",
    "affinities": "those of a Gaussian kernel",
}


class Lookup(NamedTuple):
    """How neighbours are looked up, as the user has it."""

    metric: str
    algorithm: Any  # a name, or a transformer of the user's
    n_jobs: int | None

    @property
    def precomputed(self) -> bool:
        """Whether X is a graph of distances."""
        return self.metric == "precomputed"

    @property
    def norm(self) -> str:
        """The norm of differences between rows; cosines are compared on rows of length one."""
        return "manhattan" if self.metric == "manhattan" else "euclidean"


class Index(NamedTuple):
    """Fitted rows that can be searched."""

    kind: str  # "exact", "pynndescent" or "transformer"
    search: Any
    n: int
    metric: str = "euclidean"
    directions: np.ndarray | None = None  # (d, q) that rows are looked up in; None: all features


def fit_index(
    Z: Matrix, algorithm: Any = "auto", n_neighbors: int = 1, metric: str = "euclidean"
) -> Index:
    """A search structure over rows."""
    n = Z.shape[0]
    if not isinstance(algorithm, str):
        search = clone(algorithm)
        if "n_neighbors" in search.get_params():
            search.set_params(n_neighbors=n_neighbors)
        return Index("transformer", search.fit(Z), n, metric)
    if algorithm == "pynndescent":
        descent = needed("pynndescent", "neighbors_algorithm='pynndescent'").NNDescent
        # One thread: with more its result depends on their number.
        search = descent(Z, metric=metric, n_neighbors=n_neighbors, random_state=0, n_jobs=1)
        return Index("pynndescent", search, n, metric)
    return Index("exact", NearestNeighbors(algorithm=algorithm, metric=metric).fit(Z), n, metric)


def distances(index: Index | None, A: Matrix, B: Matrix, idx: np.ndarray) -> np.ndarray:
    """Squared distances of candidate pairs by the metric that neighbours are found by."""
    metric = "euclidean" if index is None else index.metric
    return graph.pair_distances(A, B, idx, metric=metric)


def query(
    index: Index, Z: Matrix, n_neighbors: int, n_jobs: int | None, report: Report | None = None
) -> np.ndarray:
    """Indices of the nearest fitted rows of each row of Z, the same for any ``n_jobs``."""
    n_neighbors = min(n_neighbors, index.n)
    if index.kind == "pynndescent":
        return index.search.query(Z, n_neighbors)[0].astype(np.int64)
    if index.kind == "transformer":
        return _listed(index.search.transform(Z), n_neighbors)
    search, chunk = index.search, QUERY_ROWS
    if sp.issparse(Z):
        chunk = max(64, min(chunk, SPARSE_DISTANCES // index.n))

    def lookup(rows: slice) -> np.ndarray:
        return search.kneighbors(Z[rows], n_neighbors, return_distance=False)

    found = np.vstack(list(in_blocks(lookup, Z.shape[0], chunk, n_jobs, report)))
    # Where the search was ended, rows that were not looked up have those that follow them.
    rest = np.arange(len(found), Z.shape[0])[:, None] + np.arange(n_neighbors)
    return np.vstack([found, rest % index.n])


def neighbours_among(
    index: Index, Z: Matrix, n_neighbors: int, n_jobs: int | None, report: Report | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other rows of each fitted row, nearest first, and their squared distances.

    The lower index comes first in a tie. A row is never its own neighbour. Among copies the
    search may not return the row itself; then its last neighbour goes instead.
    """
    n, more = index.n, min(n_neighbors + 1, index.n)
    if index.kind == "pynndescent":
        idx = index.search.neighbor_graph[0][:, :more].astype(np.int64)
    else:
        idx = query(index, Z, more, n_jobs, report)
    itself = idx == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    idx = np.sort(idx[~itself].reshape(n, -1), axis=1)
    return nearest_first(idx, distances(index, Z, Z, idx))


def nearest_first(idx: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Candidates and their distances, sorted; the order of equal ones stays."""
    order = np.argsort(d, axis=1, kind="stable")
    return np.take_along_axis(idx, order, axis=1), np.take_along_axis(d, order, axis=1)


def recall(index: Index, Z: Matrix, idx: np.ndarray, whole: bool = True) -> float:
    """The share of true neighbours among those found, on a fixed sample of rows.

    An exact search finds all of them if it is the ``whole`` search.
    """
    if index.kind == "exact" and whole:
        return 1.0
    n, k = idx.shape
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, RECALL_ROWS), replace=False))
    exact = fit_index(Z, "brute", metric=index.metric)
    true = query(exact, Z[rows], k + 1, 1)
    farthest = np.sort(distances(index, Z[rows], Z, true), axis=1)[:, -1]
    found = distances(index, Z[rows], Z, idx[rows])
    return float((found <= farthest[:, None] * (1 + 1e-9)).mean())


def _listed(distances: Any, n_neighbors: int) -> np.ndarray:
    """The columns of a graph's entries, nearest first; every row must have enough."""
    idx, _ = neighbours_in_graph(sp.csr_array(distances), n_neighbors, skip_self=False)
    fewest = int((idx >= 0).sum(axis=1).min())
    if fewest < n_neighbors:
        raise ValueError(
            f"neighbors_algorithm found only {fewest} neighbours of a row where "
            f"{n_neighbors} are needed, the row itself among them; let it return more."
        )
    return idx


def neighbours_in_graph(
    D: Matrix, n_neighbors: int, *, skip_self: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest stored entries of each row of a sparse distance graph, as squares.

    Short rows are padded with index -1 at infinite distance.
    """
    D = D.tocoo()
    row, column = D.row, D.col
    distance = D.data.astype(np.float64)
    if skip_self:
        off_diagonal = row != column
        row, column, distance = row[off_diagonal], column[off_diagonal], distance[off_diagonal]
    order = np.lexsort((column, distance, row))
    row, column, distance = row[order], column[order], distance[order]
    n = D.shape[0]
    first = np.searchsorted(row, np.arange(n))
    place = np.arange(len(row)) - first[row]
    kept = place < n_neighbors
    idx = np.full((n, n_neighbors), -1, dtype=np.int64)
    d = np.full((n, n_neighbors), np.inf)
    idx[row[kept], place[kept]] = column[kept]
    d[row[kept], place[kept]] = distance[kept] ** 2
    return idx, d


def check_square(A: Matrix, name: str, kind: str) -> None:
    """A square matrix of affinities or distances, where parameter ``name`` is "precomputed"."""
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"X must be square when {name}='precomputed'; got shape {A.shape}. Pass the {kind} "
            f"between all rows, or features with another {name}."
        )
    check_entries(A, name, kind)


def check_entries(A: Matrix, name: str, kind: str) -> None:
    """Refuse negative numbers: affinities that are passed for distances often show up here."""
    if A.shape[0] and A.min() < 0:
        raise ValueError(
            f"X holds negative {kind}, but {name}='precomputed' takes {kind} of at least 0, such "
            f"as {MADE_BY[kind]}."
        )


def check_neighbour_graph(D: Matrix, n_neighbors: int) -> None:
    """A square sparse graph of distances, as KNeighborsTransformer makes it.

    Where both (i, j) and (j, i) are stored they must agree; one alone is fine.
    """
    check_square(D, "metric", "distances")
    stored = sp.csr_array((np.ones_like(D.data), D.indices, D.indptr), shape=D.shape)
    both = stored.multiply(stored.T)
    gap = abs(sp.csr_array(D).multiply(both) - sp.csr_array(D.T).multiply(both))
    if gap.nnz and gap.max() > 1e-6 * D.data.max():
        raise ValueError(
            "X is not symmetric: metric='precomputed' needs the same distance from i to j as from "
            "j to i wherever both are stored; symmetrise it, for example with X.maximum(X.T)."
        )
    row = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    others = np.bincount(row[D.indices != row], minlength=D.shape[0])
    if others.min() < n_neighbors:
        short = int(others.argmin())
        raise ValueError(
            f"n_neighbors={n_neighbors} is too large: row {short} of the precomputed graph X holds "
            f"only {int(others[short])} neighbours; lower n_neighbors or compute more neighbours."
        )
