"""Slow and obvious: the paper's equations on dense arrays, every pair of rows at once.

Nothing here shares code with the package. Rows of X are samples, labels are vectors.
"""

from itertools import combinations, permutations, product

import numpy as np
import scipy.linalg
from scipy.optimize import brentq, linprog

# ---------------------------------------------------------------------------- the graph


def pair_distances(A, B, idx, metric="euclidean"):
    apart = np.abs(A[:, None].astype(float) - B[idx].astype(float))
    squared = (apart**2).sum(axis=2) if metric == "euclidean" else apart.sum(axis=2) ** 2
    return np.where(idx >= 0, squared, np.inf)


def project_to_simplex(v):
    """A search for the threshold t at which the positive parts of v - t sum to one."""
    v = np.asarray(v, dtype=float)
    v = v - v.max()
    t = brentq(lambda t: np.maximum(v - t, 0.0).sum() - 1.0, -1.0, 0.0, xtol=1e-15)
    return np.maximum(v - t, 0.0)


def row_problem_value(s, d, xi):
    """The objective of eq:10 for one row."""
    s, d = np.asarray(s), np.asarray(d)
    return float(np.sum(d[s > 0] * s[s > 0]) + xi * np.sum(s**2))


def solve_row(d, xi):
    """eq:10 by trying every support: on one, stationarity gives s in closed form."""
    candidates = [j for j in range(len(d)) if np.isfinite(d[j])]
    best, best_value = None, np.inf
    for size in range(1, len(candidates) + 1):
        for support in combinations(candidates, size):
            on = list(support)
            eta = (2.0 * xi + np.sum(d[on])) / size
            s = np.zeros(len(d))
            s[on] = (eta - d[on]) / (2.0 * xi)
            value = row_problem_value(s, d, xi)
            if s.min() >= 0 and value < best_value:
                best, best_value = s, value
    return best


def neighbour_xi(d, k):
    """eq:24 for one row whose distances ascend."""
    return k / 2 * d[k] - sum(d[j] for j in range(k)) / 2


def laplacian(S):
    """D_S - (S' + S)/2, D_S the row sums of the second term."""
    W = (S + S.T) / 2
    return np.diag(W.sum(axis=1)) - W


def normalised_cut(S, labels):
    """The weight that leaves each cluster over all of its rows, edges taken in both directions."""
    W = (S + S.T) / 2
    total = 0.0
    for name in set(labels.tolist()):
        inside = labels == name
        volume = W[inside].sum()
        total += W[inside][:, ~inside].sum() / volume if volume > 0 else 0.0
    return total


def components(S):
    """Breadth-first search, edges taken in both directions."""
    n = S.shape[0]
    member, count = np.full(n, -1), 0
    for root in range(n):
        if member[root] >= 0:
            continue
        member[root], queue = count, [root]
        while queue:
            i = queue.pop(0)
            for j in np.flatnonzero((S[i] != 0) | (S[:, i] != 0)):
                if member[j] < 0:
                    member[j] = count
                    queue.append(j)
        count += 1
    return count, member


def merge_components(Z, member, n_groups):
    """The smallest group joins the one that holds the row nearest to any of its own.

    Groups stand in order of first appearance; the one that is joined keeps its place.
    """
    groups = [list(np.flatnonzero(member == name)) for name in dict.fromkeys(member.tolist())]
    while len(groups) > n_groups:
        smallest = min(groups, key=len)
        others = [group for group in groups if group is not smallest]
        if Z is None:
            target = min(others, key=len)
        else:
            target = min(others, key=lambda group: _gap(Z, smallest, group))
        target.extend(smallest)
        groups = others
    merged = np.empty(len(member), dtype=int)
    for name, group in enumerate(sorted(groups, key=min)):
        merged[group] = name
    return merged


def tie_small(A, Z, size, min_size):
    """The smallest group is tied to its nearest, until none is too small or one is left."""
    _, member = components(A)
    groups = {name: list(np.flatnonzero(member == name)) for name in dict.fromkeys(member.tolist())}
    tied, weakest = A.copy(), A[A > 0].min() if (A > 0).any() else 1.0

    def weight(name):
        return sum(size[i] for i in groups[name])

    while len(groups) > 1 and min(map(weight, groups)) < min_size:
        smallest = min(groups, key=lambda name: (weight(name), name))
        rows, others = groups.pop(smallest), [j for group in groups.values() for j in group]
        i, j = min(
            product(rows, others), key=lambda pair: float(np.sum((Z[pair[0]] - Z[pair[1]]) ** 2))
        )
        tied[i, j] = tied[j, i] = weakest
        next(group for group in groups.values() if j in group).extend(rows)
    return tied


def _gap(Z, rows, others):
    return min(float(np.sum((Z[i] - Z[j]) ** 2)) for i in rows for j in others)


# ------------------------------------------------------------------ the Stiefel manifold


def stiefel_value(A, B, F):
    return float(np.trace(F.T @ A @ F) - 2.0 * np.trace(F.T @ B))


def nearest_orthonormal(M):
    """M (M'M)^(-1/2), for M of full column rank."""
    values, vectors = np.linalg.eigh(M.T @ M)
    return M @ (vectors / np.sqrt(values)) @ vectors.T


def cayley(F, G, tau):
    """(I + tau/2 W)^-1 (I - tau/2 W) F with the skew W = G F' - F G'."""
    W = G @ F.T - F @ G.T
    identity = np.eye(len(F))
    return np.linalg.inv(identity + tau / 2 * W) @ (identity - tau / 2 * W) @ F


def smallest_eigenvalue_sum(L, c):
    """Ky Fan: the least Tr(F'LF) over orthonormal F with c columns."""
    return float(np.linalg.eigvalsh(L)[:c].sum())


# ----------------------------------------------------------------------- the trace ratio


def trace_ratio_minimum(A, B, m):
    """The rho at which the m smallest eigenvalues of A - rho B sum to zero."""
    bound = np.abs(np.linalg.eigvalsh(A)).max() / np.linalg.eigvalsh(B)[0] + 1.0
    return brentq(lambda rho: np.linalg.eigvalsh(A - rho * B)[:m].sum(), -bound, bound, xtol=1e-15)


# ----------------------------------------------------------------------- discrete labels


def one_hot(labels, c):
    return np.eye(c)[np.asarray(labels)]


def rotation_gap(F, Q, labels):
    """||Y - FQ||^2 of eq:15 and eq:16."""
    return float(np.sum((one_hot(labels, Q.shape[1]) - F @ Q) ** 2))


def best_gain_without_empty_cluster(gain):
    """The largest Tr(Y'M) over every label vector that uses every cluster."""
    n, c = gain.shape
    return max(
        sum(gain[i, j] for i, j in enumerate(labels))
        for labels in product(range(c), repeat=n)
        if len(set(labels)) == c
    )


def best_agreement(labels, reference, c):
    return max(
        sum(names[label] == wanted for label, wanted in zip(labels, reference, strict=True))
        for names in permutations(range(c))
    )


# ------------------------------------------------------------------------ the regression


def l2p_loss(norm, p, floor):
    """||r||^p; below the floor a parabola a + b ||r||^2 with the same value and slope."""
    if norm >= floor:
        return norm**p
    b = p * floor ** (p - 1) / (2 * floor)
    return floor**p - b * floor**2 + b * norm**2


def regression_objective(X, Y, P, intercept, p, gamma, floor):
    """eq:27 with the loss continued below the floor."""
    residual = Y - X @ P - intercept
    return sum(l2p_loss(np.linalg.norm(r), p, floor) for r in residual) + gamma * np.sum(P**2)


def weighted_ridge(X, Y, weights, gamma):
    """eq:33."""
    D = np.diag(weights)
    return np.linalg.solve(X.T @ D @ X + gamma * np.eye(X.shape[1]), X.T @ D @ Y)


def weighted_ridge_with_intercept(X, Y, weights, gamma):
    """eq:33 with a column of ones that is not penalised."""
    n, d = X.shape
    ones = np.hstack([X, np.ones((n, 1))])
    D = np.diag(weights)
    penalty = np.diag([gamma] * d + [0.0])
    solution = np.linalg.solve(ones.T @ D @ ones + penalty, ones.T @ D @ Y)
    return solution[:-1], solution[-1]


# ------------------------------------------------------------------------ the given graph


def bandwidth(X, i, rank):
    """Distance from row i to its neighbour of that rank, the nearest being the first."""
    return sorted(float(np.linalg.norm(X[i] - X[j])) for j in range(len(X)) if j != i)[rank - 1]


def gaussian_kernel(X, sigma):
    """exp(-||x_i - x_j||^2 / (sigma_i sigma_j)) for every pair, zero on the diagonal."""
    A = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / np.outer(sigma, sigma))
    return A - np.diag(np.diag(A))


def normalised_laplacian(A):
    """I - D^(-1/2) A D^(-1/2); a row without edges is zero."""
    degree = A.sum(axis=1)
    root = np.sqrt(np.where(degree > 0, degree, np.inf))
    return np.diag(1.0 * (degree > 0)) - A / np.outer(root, root)


def l1_row_value(s, a, cost):
    finite = np.isfinite(cost)
    return float(np.abs(s - a).sum() + cost[finite] @ s[finite])


def l1_row_minimum(a, cost):
    """The least sum |s - a| + q s over the simplex, as a linear program in (s, t >= |s - a|)."""
    k, identity = len(a), np.eye(len(a))
    program = linprog(
        np.concatenate([cost, np.ones(k)]),
        A_ub=np.block([[identity, -identity], [-identity, -identity]]),
        b_ub=np.concatenate([a, -a]),
        A_eq=np.concatenate([np.ones(k), np.zeros(k)])[None, :],
        b_eq=[1.0],
    )
    return float(program.fun)


# ----------------------------------------------------------------------- the local models


def kernel_ridge_row(X, i, others, sigma, ridge):
    """(K + rho I)^-1 k, the kernel one pair at a time."""

    def kernel(a, b):
        return np.exp(-np.sum((X[a] - X[b]) ** 2) / sigma**2)

    K = np.array([[kernel(a, b) for a in others] for b in others])
    return np.linalg.inv(K + ridge * np.eye(len(others))) @ [kernel(i, j) for j in others]


def linear_ridge_row(X, i, others, ridge):
    """The prediction of a linear ridge with intercept at row i, for every unit vector of labels."""
    mean = X[others].mean(axis=0)
    centred = X[others] - mean
    penalty = ridge * np.sum(centred**2) / len(others)
    system = centred.T @ centred + penalty * np.eye(X.shape[1])
    weights = []
    for labels in np.eye(len(others)):
        slope = np.linalg.solve(system, centred.T @ (labels - labels.mean()))
        weights.append(labels.mean() + (X[i] - mean) @ slope)
    return np.array(weights)


# --------------------------------------------------- symmetric factors and the projection


def factor_value(A, H):
    """||A - HH'||^2."""
    return float(np.sum((A - H @ H.T) ** 2))


def factor_gradient(A, H, step=1e-6):
    """The same, differentiated numerically."""
    gradient = np.zeros_like(H)
    for place in np.ndindex(H.shape):
        up, down = H.copy(), H.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (factor_value(A, up) - factor_value(A, down)) / (2 * step)
    return gradient


def locality_values(X, A, m):
    """The m smallest mu of X'LX a = mu X'DX a, for X of full column rank."""
    D = np.diag(A.sum(axis=1))
    return scipy.linalg.eigh(X.T @ (D - A) @ X, X.T @ D @ X, eigvals_only=True)[:m]


def power_iteration(A, B, F, *, max_iter=20000, tol=1e-7):
    """Another solver of the F step: F <- polar(eta F - A F + B), eta above every eigenvalue of A.

    Each step lowers the objective. Simple, and slow where A is ill conditioned.
    """
    eta = float(abs(A).sum(axis=1).max())
    scale = eta * np.sqrt(F.shape[1]) + np.linalg.norm(B)
    AF = A @ F
    for _ in range(max_iter):
        G = 2.0 * (AF - B)
        if np.linalg.norm(G - F @ (G.T @ F)) <= tol * scale:
            break
        U, _, Vt = np.linalg.svd(eta * F - AF + B, full_matrices=False)
        F = U @ Vt
        AF = A @ F
    return F
