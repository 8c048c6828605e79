"""From what users pass to the arrays that the numerics work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from .. import graph
from ..arrays import Matrix

# Rows per query. Fixed, so that what a query returns in a tie does not depend on n_jobs.
QUERY_ROWS = 4096


class Scaled(NamedTuple):
    """Rows divided by the root of their total scatter, dense ones centred as well."""

    X: Matrix
    shift: np.ndarray  # what was subtracted before dividing (zero for sparse rows)
    mean: np.ndarray  # mean of the rows of X as they are now
    scale: float
    n_varying: int  # columns that are not constant


def scale_rows(X: Matrix) -> Scaled:
    """Scale rows to total scatter 1, so that no later step meets a huge or tiny number."""
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        largest = float(abs(X).max()) or 1.0
        small = X / largest
        scatter = float(small.multiply(small).sum() - X.shape[0] * ((mean / largest) ** 2).sum())
        scale = largest * np.sqrt(max(scatter, 0.0)) or 1.0
        varying = (X.max(axis=0) - X.min(axis=0)).count_nonzero()
        return Scaled((X / scale).tocsr(), np.zeros(X.shape[1]), mean / scale, scale, varying)
    shift = X.mean(axis=0, dtype=np.float64)
    centred = (X - shift).astype(X.dtype, copy=False)
    # A column that is constant may leave rounding behind; it must not be scaled up.
    noise = 4 * np.finfo(X.dtype).eps * np.abs(shift)
    centred[:, np.abs(centred).max(axis=0) <= noise] = 0.0
    largest = float(np.abs(centred).max()) or 1.0
    centred /= largest
    scatter = np.sqrt(np.einsum("ij,ij->", centred, centred, dtype=np.float64)) or 1.0
    centred /= scatter
    varying = int(np.count_nonzero(centred.any(axis=0)))
    return Scaled(centred, shift, np.zeros(X.shape[1]), largest * float(scatter), varying)


def apply_scale(scaled: Scaled, X: Matrix) -> Matrix:
    """New rows on the scale of the fitted ones."""
    if sp.issparse(X):
        return (X / scaled.scale).tocsr()
    return ((X - scaled.shift) / scaled.scale).astype(X.dtype, copy=False)


def same_kind(X: Matrix, fitted: Matrix) -> Matrix:
    """New rows dense or sparse as the fitted ones were."""
    if sp.issparse(fitted):
        return X if sp.issparse(X) else sp.csr_array(X)
    return X.toarray() if sp.issparse(X) else X


def row_key(X: Matrix, i: int) -> bytes:
    """The bytes of a row, the same for equal rows."""
    if sp.issparse(X):
        row = slice(X.indptr[i], X.indptr[i + 1])
        order = np.argsort(X.indices[row])
        indices, data = X.indices[row][order], X.data[row][order]
        return indices[data != 0].tobytes() + data[data != 0].tobytes()
    return (X[i] + 0.0).tobytes()  # -0.0 is 0.0


def count_distinct(X: Matrix, enough: int) -> int:
    """Number of distinct rows, counted no further than ``enough``."""
    seen: set[bytes] = set()
    for i in range(X.shape[0]):
        seen.add(row_key(X, i))
        if len(seen) >= enough:
            break
    return len(seen)


def fit_index(Z: Matrix) -> NearestNeighbors:
    """A search structure over rows: tree or brute force, whichever scikit-learn prefers."""
    return NearestNeighbors().fit(Z)


def query(index: NearestNeighbors, Z: Matrix, n_neighbors: int, n_jobs: int | None) -> np.ndarray:
    """Indices of the nearest fitted rows of each row of Z, the same for any ``n_jobs``."""

    def search(rows: Matrix) -> np.ndarray:
        with threadpool_limits(1, user_api="openmp"):  # a setting of this thread alone
            return index.kneighbors(rows, n_neighbors, return_distance=False)

    starts = range(0, Z.shape[0], QUERY_ROWS)
    chunks = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(search)(Z[s : s + QUERY_ROWS]) for s in starts
    )
    return np.vstack(chunks)


def neighbours_among(Z: Matrix, n_neighbors: int, n_jobs: int | None) -> np.ndarray:
    """The ``n_neighbors`` nearest other rows of each row, nearest first, lower index in ties.

    A row is never its own neighbour. Among copies the search may not return the row
    itself; then its last neighbour goes instead.
    """
    n = Z.shape[0]
    idx = query(fit_index(Z), Z, min(n_neighbors + 1, n), n_jobs)
    itself = idx == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    idx = np.sort(idx[~itself].reshape(n, -1), axis=1)
    order = np.argsort(graph.pair_distances(Z, Z, idx), axis=1, kind="stable")
    return np.take_along_axis(idx, order, axis=1)


def neighbours_in_graph(
    D: Matrix, n_neighbors: int, *, skip_self: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest stored entries of each row of a sparse distance graph, as squares.

    Short rows are padded with index -1 at infinite distance.
    """
    D = D.tocoo()
    row, column = D.coords if hasattr(D, "coords") else (D.row, D.col)
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
