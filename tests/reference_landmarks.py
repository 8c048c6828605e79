"""Bipartite graphs of rows and landmarks, dense and slow, straight from the docstrings."""

from __future__ import annotations

import numpy as np
import scipy.linalg


def squared_distances(X, R):
    """Rows against landmarks, with an explicit difference."""
    return ((X[:, None, :] - R[None, :, :]) ** 2).sum(axis=2)


def kernel(X, R, n_neighbors=5, bandwidth=None):
    """B: a Gaussian on the k nearest landmarks; None: the mean distance to these."""
    D = squared_distances(X, R)
    near = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
    if bandwidth is None:
        bandwidth = np.mean([np.sqrt(D[i, near[i]]) for i in range(len(X))])
    B = np.zeros_like(D)
    for i, mine in enumerate(near):
        B[i, mine] = np.exp(-D[i, mine] / (2 * bandwidth**2))
    return B, bandwidth


def left_singular_vectors(Z, c):
    """The c leading ones of Z D^-1/2, and all singular values."""
    U, values, _ = np.linalg.svd(Z / np.sqrt(Z.sum(axis=0)), full_matrices=False)
    return U[:, :c], values


def bipartite(B):
    """All n + p nodes."""
    n, p = B.shape
    return np.block([[np.zeros((n, n)), B], [B.T, np.zeros((p, p))]])


def normalised_cut(B):
    """Values, rising, and vectors of L u = gamma D u on all n + p nodes."""
    W = bipartite(B)
    D = np.diag(W.sum(axis=1))
    return scipy.linalg.eigh(D - W, D)


def dense(idx, T, p):
    """A graph held by candidates as a full matrix."""
    B = np.zeros((len(idx), p))
    np.add.at(B, (np.arange(len(idx))[:, None], idx), T)
    return B
