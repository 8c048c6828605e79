"""The methods that learn no graph, dense and slow, straight from their docstrings."""

from __future__ import annotations

import numpy as np

import reference
import reference_landmarks
from reference import laplacian


def squared_distances(X):
    """All pairs."""
    return reference_landmarks.squared_distances(X, X)


def neighbours(D, k):
    """The k nearest other rows of each row, nearest first."""
    return [[j for j in np.argsort(row, kind="stable") if j != i][:k] for i, row in enumerate(D)]


def gaussian_graph(X, k, bandwidth=None):
    """The kernel on pairs of which one is among the k nearest of the other; None is local."""
    n, D = len(X), squared_distances(X)
    near = neighbours(D, k)
    seventh = [np.sqrt(D[i, near[i][min(7, k) - 1]]) for i in range(n)]
    A = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            width = seventh[i] * seventh[j] if bandwidth is None else 2 * bandwidth**2
            A[i, j] = A[j, i] = np.exp(-D[i, j] / width)
    return A


def normalised_graph(A):
    """D^-1/2 A D^-1/2."""
    root = np.sqrt(A.sum(axis=1))
    return A / root[:, None] / root[None, :]


def centred(X):
    """Columns with mean zero."""
    return X - X.mean(axis=0)


def sec_parts(A, kind):
    """L, and the mean of its diagonal."""
    if kind == "normalized":
        return np.eye(len(A)) - normalised_graph(A), 1.0
    return laplacian(A), A.sum() / len(A)


def sec_operator(A, X, mu, gamma, laplacian="unnormalized"):
    """The matrix whose bottom eigenvectors SEC takes."""
    n, d = X.shape
    Xc = centred(X)
    ridge = gamma * np.trace(Xc.T @ Xc) / d
    H = np.eye(n) - np.ones((n, n)) / n
    L, unit = sec_parts(A, laplacian)
    smoother = Xc @ np.linalg.inv(Xc.T @ Xc + ridge * np.eye(d)) @ Xc.T
    return L + mu * unit * (H - smoother)


def sec_objective(A, X, F, W, b, mu, gamma, laplacian="unnormalized"):
    """The objective of SEC, term by term."""
    d = X.shape[1]
    Xc = centred(X)
    ridge = gamma * np.trace(Xc.T @ Xc) / d
    fit = np.linalg.norm(X @ W + b - F) ** 2 + ridge * np.linalg.norm(W) ** 2
    L, unit = sec_parts(A, laplacian)
    return np.trace(F.T @ L @ F) + mu * unit * fit


def kernel_predictors(X, k, ridge, bandwidth=None):
    """Row i predicts at i from kernel ridge regression on the neighbours of i; None is local."""
    n, D = len(X), squared_distances(X)
    A = np.zeros((n, n))
    for i, near in enumerate(neighbours(D, k)):
        width = 64 * D[i, near[-1]] if bandwidth is None else 2 * bandwidth**2
        A[i, near] = reference.kernel_ridge_row(X, i, near, np.sqrt(width), ridge)
    return A


def linear_predictors(X, k, ridge):
    """Row i predicts at i from a linear ridge regression with intercept on its neighbours."""
    A = np.zeros((len(X), len(X)))
    for i, near in enumerate(neighbours(squared_distances(X), k)):
        A[i, near] = reference.linear_ridge_row(X, i, near, ridge)
    return A


def residual(A):
    """(I - A)' (I - A)."""
    gap = np.eye(len(A)) - A
    return gap.T @ gap


def discriminative_kernel(K, lam):
    """I - (I + K / lam)^-1 for a centred kernel."""
    return np.eye(len(K)) - np.linalg.inv(np.eye(len(K)) + K / lam)


def within_clusters(K, labels):
    """trace(K) - Tr(L' K L) over scaled indicators L: what kernel k-means minimises."""
    Y = np.eye(labels.max() + 1)[labels]
    L = Y / np.sqrt(Y.sum(axis=0))
    return np.trace(K) - np.trace(L.T @ K @ L)
