"""Checks of graphs that users pass in place of rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix


def check_neighbour_graph(D: Matrix, n_neighbors: int) -> None:
    """A square sparse graph of distances, as KNeighborsTransformer makes it."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            f"X must be square when metric='precomputed'; got shape {D.shape}. Pass the "
            "neighbour graph that KNeighborsTransformer(mode='distance') returns for the rows."
        )
    check_distances(D)
    check_symmetric_where_known(D)
    row = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    stored = np.bincount(row[D.indices != row], minlength=D.shape[0])
    if stored.min() < n_neighbors:
        short = int(stored.argmin())
        raise ValueError(
            f"n_neighbors={n_neighbors} is too large: row {short} of the precomputed graph X holds "
            f"only {int(stored[short])} neighbours; lower n_neighbors or compute more neighbours."
        )


def check_distances(D: Matrix) -> None:
    """No negative entries: an affinity passed for a distance often shows up here."""
    if D.data.size and D.data.min() < 0:
        raise ValueError(
            "X holds negative distances, but metric='precomputed' takes a graph of distances; "
            "pass one made with KNeighborsTransformer(mode='distance')."
        )


def check_symmetric_where_known(D: Matrix) -> None:
    """Where both (i, j) and (j, i) are stored they must agree; one alone is fine."""
    stored = sp.csr_array((np.ones_like(D.data), D.indices, D.indptr), shape=D.shape)
    both = stored.multiply(stored.T)
    gap = abs(sp.csr_array(D).multiply(both) - sp.csr_array(D.T).multiply(both))
    if gap.nnz and gap.max() > 1e-6 * D.data.max():
        raise ValueError(
            "X is not symmetric: metric='precomputed' needs the same distance from i to j as from "
            "j to i wherever both are stored; symmetrise it, for example with X.maximum(X.T)."
        )


def check_affinity_matrix(A: Matrix) -> None:
    """A square, symmetric, non-negative matrix of affinities."""
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"X must be square when affinity='precomputed'; got shape {A.shape}. Pass the "
            "affinities between all rows, or features with another affinity."
        )
    check_non_negative(A)
    gap = abs(A - A.T)
    if gap.max() > 1e-6 * abs(A).max():
        raise ValueError(
            "X is not symmetric, which affinity='precomputed' needs; symmetrise it, for example "
            "with 0.5 * (X + X.T)."
        )


def check_non_negative(A: Matrix) -> None:
    """Affinities are zero or more."""
    if A.shape[0] and A.min() < 0:
        raise ValueError(
            "X holds negative affinities, but affinity='precomputed' takes values of at least 0; "
            "pass similarities such as a Gaussian kernel's."
        )
