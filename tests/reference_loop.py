"""The objective and CAN's loop, dense and slow, straight from the equations."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import reference


def dense_weights(state, n):
    """S as an n x n array."""
    S = np.zeros((n, n))
    for i in range(n):
        for place, j in enumerate(state.graph.idx[i]):
            S[i, j] += state.graph.S[i, place]
    return S


def objective_terms(X, S, xi, lam, F, Q, labels, W, alpha, beta, gamma, p, P, intercept):
    """Every term of eq:26 with explicit loops; W is None for no projection."""
    n, c = F.shape
    H = np.eye(n) - np.ones((n, n)) / n
    Z = X if W is None else X @ W
    total = np.trace(Z.T @ H @ Z)
    graph = sum(((Z[i] - Z[j]) ** 2).sum() * S[i, j] / total for i in range(n) for j in range(n))
    spread = sum(xi[i] * S[i, j] ** 2 for i in range(n) for j in range(n))
    sym = (S + S.T) / 2
    L = np.diag(sym.sum(axis=1)) - sym
    smoothness = 2 * lam * np.trace(F.T @ L @ F)
    Y = np.eye(c)[labels]
    link = alpha * np.linalg.norm(Y - F @ Q) ** 2
    residual = np.linalg.norm(Y - X @ P - intercept, axis=1)
    regression = beta * ((residual**p).sum() + gamma * np.linalg.norm(P) ** 2)
    return {
        "graph": graph,
        "spread": spread,
        "smoothness": smoothness,
        "link": link,
        "regression": regression,
    }


def dense_can(X, c, k, lam, n_iter):
    """CAN at one fixed lambda on k nearest neighbours with row-wise xi: the final S and F."""
    n = len(X)
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X)
    D = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    order = [[j for j in np.argsort(D[i], kind="stable") if j != i] for i in range(n)]
    xi = np.array([k / 2 * D[i, order[i][k]] - D[i, order[i][:k]].sum() / 2 for i in range(n)])
    S, F = np.zeros((n, n)), np.zeros((n, c))
    for iteration in range(n_iter + 1):
        for i in range(n):
            near = order[i][:k]
            df = ((F[i] - F[near]) ** 2).sum(axis=1)
            S[i] = 0
            S[i, near] = reference.project_to_simplex(-(D[i, near] + lam * df) / (2 * xi[i]))
        sym = (S + S.T) / 2
        L = np.diag(sym.sum(axis=1)) - sym
        if iteration < n_iter or n_iter == 0:
            F = scipy.linalg.eigh(L)[1][:, :c]
    F = scipy.linalg.eigh(L)[1][:, :c]
    return S, F, L
