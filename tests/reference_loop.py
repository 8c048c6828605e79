"""The objective and CAN's loop, dense and slow, straight from the equations."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import reference
from dogc.loop.initial_states import starts
from dogc.loop.lambda_search import begin_search
from reference_landmarks import dense


def total(problem, method, state):
    """The objective of a method."""
    return sum(term(problem, state) for term in method.terms)


def first_state(problem, method, init="spectral", seed=0):
    """The state in which a run of the method begins."""
    state = next(starts(problem, init, 1, np.random.default_rng(seed)))
    return begin_search(problem, method.enter(problem, state))


def dense_weights(state, n):
    """S as an n x n array."""
    return dense(state.graph.idx, state.graph.S, n)


def objective_terms(X, S, xi, state, W, weights, p, P):
    """Every term of eq:26, row by row; W is None for no projection."""
    F, (n, c), (alpha, beta, gamma) = state.F, state.F.shape, weights
    H = np.eye(n) - np.ones((n, n)) / n
    Z = X if W is None else X @ W
    total = np.trace(Z.T @ H @ Z)
    Y = np.eye(c)[state.Y]
    residual = np.linalg.norm(Y - X @ P - state.intercept, axis=1)
    return {
        "graph": sum(np.sum((Z - Z[i]) ** 2, axis=1) @ S[i] / total for i in range(n)),
        "spread": sum(xi[i] * np.sum(S[i] ** 2) for i in range(n)),
        "smoothness": 2 * state.lam * np.trace(F.T @ reference.laplacian(S) @ F),
        "link": alpha * np.linalg.norm(Y - F @ state.Q) ** 2,
        "regression": beta * ((residual**p).sum() + gamma * np.linalg.norm(P) ** 2),
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
        L = reference.laplacian(S)
        if iteration < n_iter or n_iter == 0:
            F = scipy.linalg.eigh(L)[1][:, :c]
    F = scipy.linalg.eigh(L)[1][:, :c]
    return S, F, L
