"""Bipartite graphs of rows and landmarks, dense and slow, straight from the docstrings."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import reference


def squared_distances(X, R):
    """Rows against landmarks, with an explicit difference."""
    return ((X[:, None, :] - R[None, :, :]) ** 2).sum(axis=2)


def kernel(X, R, k, width=None):
    """B: a Gaussian on the k nearest landmarks; None: the mean distance to these."""
    D = squared_distances(X, R)
    near = np.argsort(D, axis=1, kind="stable")[:, :k]
    if width is None:
        width = np.mean([np.sqrt(D[i, near[i]]) for i in range(len(X))])
    B = np.zeros_like(D)
    for i, mine in enumerate(near):
        B[i, mine] = np.exp(-D[i, mine] / (2 * width**2))
    return B, width


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
    for i in range(len(idx)):
        for j, weight in zip(idx[i], T[i], strict=True):
            B[i, j] += weight
    return B


def multiple_means(X, A, c, k, max_iter=30):
    """K-multiple-means by full matrices: S, prototypes, and the component of each row."""
    n, before = len(X), None
    for _ in range(max_iter):
        D = squared_distances(X, A)
        S = constrained(D, c, min(k, len(A) - 1))
        labels = components(S)[0]
        if before is not None and same_partition(labels, before):
            return S, A, labels
        before, total = labels, S.sum(axis=0)
        A = ((S.T @ X) / np.where(total > 0, total, 1.0)[:, None])[total > 0]
    raise AssertionError(f"{n} rows did not settle")


def constrained(D, c, k):
    """S with exactly c components: lambda doubles until there are enough, else is bisected."""
    lam = np.median(np.sort(D, axis=1)[:, :k].mean(axis=1)) * len(D) / c
    S, low, high = row_problems(D, np.zeros_like(D), 0.0, k), 0.0, np.inf
    assert components(S)[1] <= c
    while components(S)[1] < c:
        new = row_problems(D, cut_distances(S, c), lam, k)
        if components(new)[1] <= c:
            S, low = new, lam
        else:
            high = lam
        lam = 2 * low if high == np.inf else np.sqrt(low * high) if low else high / 4
    return S


def row_problems(D, cost, lam, k):
    """Every row on its k nearest, with the regulariser that gives it k of them at lambda 0."""
    S = np.zeros_like(D)
    for i, row in enumerate(D):
        near = np.argsort(row, kind="stable")
        xi = reference.neighbour_xi(row[near], k)
        S[i, near[:k]] = reference.solve_row((row + lam * cost[i])[near[:k]], xi)
    return S


def cut_distances(S, c):
    """||f_i / sqrt(d_i) - f_j / sqrt(d_j)||^2 by the c bottom eigenvectors of all n + m nodes."""
    W = bipartite(S)
    d = W.sum(axis=1)
    kept = d > 0
    root = np.sqrt(d[kept])
    _, vectors = np.linalg.eigh(np.eye(kept.sum()) - W[np.ix_(kept, kept)] / np.outer(root, root))
    F = np.zeros((len(W), c))
    F[kept] = vectors[:, :c] / root[:, None]
    return squared_distances(F[: len(S)], F[len(S) :])


def components(S):
    """The component of each row and their number, counting prototypes that a row has."""
    B = S[:, S.sum(axis=0) > 0] > 0
    member = np.arange(len(S))
    for column in B.T:
        member[np.isin(member, member[column])] = member[column].min()
    return member, len(set(member))


def same_partition(a, b):
    """Whether two labellings are the same up to names."""
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))
