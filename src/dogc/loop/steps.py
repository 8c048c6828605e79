"""One function per block of `eq:26`: State in, State out, no block but its own touched.

At fixed lambda and xi none of them raises the objective.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..numerics import discrete, eigen, fragments, graph, l2p, stiefel, trace_ratio
from ..numerics.matrix import norm_bound
from .objective import link, prediction, regression, squared_residuals
from .state import LearnedGraph, Nodes, Problem, State

# Labels that pull F more strongly than this beside the graph leave it no say already.
STRONGEST = 1e60


def with_graph(problem: Problem, state: State, S: np.ndarray) -> State:
    """The state with new weights S and what follows from them.

    Components too small to be clusters are tied to their nearest: they neither count nor
    take a column of F.
    """
    nodes = problem.nodes
    standing = nodes.size if nodes.standing is None else nodes.standing
    idx = state.graph.idx
    S, A, member, count, stray = fragments.join_small(idx, S, state.dx, standing, nodes.min_size)
    L = weighted_laplacian(A, nodes)
    return state._replace(graph=LearnedGraph(idx, S, L, member, count, stray))


def weighted_laplacian(S: sp.csr_array, nodes: Nodes) -> sp.csr_array:
    """The Laplacian of S; with masses, M^-1/2 L(MS) M^-1/2."""
    if nodes.mass is None:
        return graph.laplacian(S)
    M = sp.dia_array((nodes.mass[None, :], [0]), shape=S.shape)
    inverse = sp.dia_array((1.0 / nodes.root.T, [0]), shape=S.shape)
    return (inverse @ graph.laplacian((M @ S).tocsr()) @ inverse).tocsr()


def step_S(problem: Problem, state: State) -> State:
    """Each row of S solves `eq:10` on its candidates."""
    F = state.F / problem.nodes.root
    d = graph.pair_distances(F, F, state.graph.idx, problem.threads)
    d *= state.lam
    d += state.dx
    return graph_at(problem, state, d)


def graph_at(problem: Problem, state: State, d: np.ndarray) -> State:
    """The state with the S of distances d, where each candidate counts as often as it occurs."""
    candidates, counts = problem.candidates, problem.candidates.counts(state.graph.idx)
    return with_graph(problem, state, graph.solve_rows(d, candidates.xi, problem.threads, counts))


def step_S_l1(problem: Problem, state: State) -> State:
    """Each row of S near the given graph in the L1 norm: CLR0."""
    A = problem.candidates.A
    assert A is not None
    F = state.F / problem.nodes.root
    df = graph.pair_distances(F, F, state.graph.idx)
    return with_graph(problem, state, graph.solve_rows_l1(A, state.lam * df))


def step_F(problem: Problem, state: State) -> State:
    """F on the Stiefel manifold: min 2 lambda Tr(F'LF) + alpha ||Y - FQ||^2.

    Starts from the last F, or from the null space of L where that is known and better.
    """
    alpha = problem.weights(state.lam).alpha
    # Divided by 2 lambda; where lambda is 0 there is nothing but the labels to fit.
    pull = min(alpha / (2.0 * state.lam), STRONGEST) if state.lam > 0 else alpha
    B = pull * problem.nodes.root * discrete.times(state.Y, state.Q.T)
    L = state.graph.L if state.lam > 0 else state.graph.L * 0.0
    starts = [state.F]
    if alpha == 0.0:
        starts.append(bottom_of(problem, state, state.graph.member))
    elif state.graph.n_components >= problem.c:
        N = eigen.null_space(state.graph.member, null_weights(problem))
        starts.append(N @ discrete.polar(N.T @ B))
    values = [stiefel.quadratic_objective(L @ F, B, F) for F in starts]
    # The last F unless the other is lower by more than rounding: where there are more than
    # c components both are exact minima, and the last one says which of them to merge.
    rounding = 1e-12 * norm_bound(L) * problem.c
    F = starts[-1] if values[-1] < values[0] - rounding else starts[0]
    if alpha > 0.0:
        F = stiefel.curvilinear_search(L, B, F, max_iter=30, tol=1e-5, ended=problem.ended)
    return state._replace(F=F)


def bottom_of(problem: Problem, state: State, member: np.ndarray) -> np.ndarray:
    """The bottom eigenvectors of the graph, of which the components are known."""
    weights = null_weights(problem)
    return eigen.bottom_eigenvectors(state.graph.L, problem.c, member, weights, problem.ended)


def null_weights(problem: Problem) -> np.ndarray | None:
    """Null vectors of the Laplacian inside a component; None: constant."""
    return None if problem.nodes.mass is None else problem.nodes.root[:, 0]


def step_W(problem: Problem, state: State) -> State:
    """The projection solves the trace ratio `eq:12.5`; distances follow."""
    if problem.subspace is None or state.W is None:
        return state
    R, _, within = problem.subspace
    W = trace_ratio.trace_ratio(R.T @ (state.graph.L @ R) + within, R.T @ R + within, state.W)
    if problem.candidates.A is not None:  # a graph that is given does not depend on the subspace
        return state._replace(W=W)
    return state._replace(W=W, dx=projected_distances(problem, R @ W, state.graph.idx))


def projected_distances(problem: Problem, Z: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """d^wx on the candidates: squared distances in the subspace over its total scatter."""
    rows = Z / problem.nodes.root
    return graph.pair_distances(rows, rows, idx, problem.threads) / np.vdot(Z, Z)


def scatter_of(problem: Problem, state: State) -> float:
    """The scatter that d^wx is divided by; that of rows in all features is one."""
    if problem.subspace is None or state.W is None or problem.candidates.A is not None:
        return 1.0
    Z = problem.subspace.R @ state.W  # centred: Tr(W'XHX'W) is the sum of its squares
    return float(np.vdot(Z, Z))


def step_Q(problem: Problem, state: State) -> State:
    """The rotation: orthogonal Procrustes, `eq:15`."""
    return state._replace(Q=discrete.procrustes(problem.nodes.root * state.F, state.Y))


def step_Y(problem: Problem, state: State) -> State:
    """Labels by the largest entry of FQ, `eq:18`."""
    return state._replace(Y=discrete.assign((problem.nodes.root * state.F) @ state.Q))


def step_Y_regression(problem: Problem, state: State) -> State:
    """Labels by rotation and regression together, `eq:34`, minimised exactly row by row.

    The loss is evaluated at each of the c possible labels instead of being replaced by
    its weighted square as in `eq:36`, so the step finds what the loss itself prefers.
    """
    assert problem.regression is not None
    alpha, beta, _ = problem.weights(state.lam)
    if alpha == beta == 0.0:  # the limit: beta is measured in units of alpha
        return step_Y(problem, state)
    fitted = prediction(problem, state)
    squared = 1.0 - 2.0 * fitted + np.einsum("ij,ij->i", fitted, fitted)[:, None]
    loss = l2p.loss(np.maximum(squared, 0.0), problem.regression.p)
    cost = problem.nodes.size[:, None] * loss
    gain = (problem.nodes.root * state.F) @ state.Q
    return state._replace(Y=discrete.assign(2.0 * alpha * gain - beta * cost))


def step_Y_relaxed(problem: Problem, state: State) -> State:
    """Continuous Y between rotation and regression: the ablation DOGC-I."""
    alpha, beta, _ = problem.weights(state.lam)
    D = beta * regression_weights(problem, state)[:, None]
    both = alpha * problem.nodes.root**2 + D
    mixed = alpha * ((problem.nodes.root * state.F) @ state.Q) + D * prediction(problem, state)
    return state._replace(Y=np.where(both > 0, mixed / np.where(both > 0, both, 1.0), state.Y))


def step_restart(problem: Problem, state: State) -> State:
    """Rotation and labels afresh from pivoted QR, taken only where ||Y - FQ||^2 is lower.

    Alternating Q and Y stops at local optima that depend on the first Y; this is the way
    out of a bad one.
    """
    if problem.ended():
        return state
    F = problem.nodes.root * state.F
    Q, labels = discrete.rotate_to_labels(F, discrete.pivoted_rotation(F))
    new_name = discrete.match_labels(labels, state.Y, problem.c)
    labels, Q = new_name[labels], Q[:, np.argsort(new_name)]
    rows = np.arange(len(F))
    agreement = (F @ state.Q)[rows, state.Y].sum()
    if (F @ Q)[rows, labels].sum() <= agreement + 1e-9 * abs(agreement):
        return state
    return state._replace(Q=Q, Y=labels)


def step_restart_regression(problem: Problem, state: State) -> State:
    """As `step_restart`, where the regression refitted to the new labels does not lose more."""
    fresh = step_restart(problem, state)
    if fresh is state:
        return state
    fresh = step_P(problem, fresh)
    alpha, beta, _ = problem.weights(state.lam)
    before, after = (link(problem, s) + regression(problem, s) for s in (state, fresh))
    return fresh if alpha == beta == 0.0 or after < before else state


def step_P(problem: Problem, state: State) -> State:
    """The regression: ridge with the row weights of `eq:30`, `eq:33`."""
    assert problem.regression is not None
    X, _, fit_intercept = problem.regression
    gamma = problem.weights(state.lam).gamma
    targets = discrete.times(state.Y, np.eye(problem.c))
    D = regression_weights(problem, state)
    P, intercept = l2p.weighted_ridge(X, targets, D, gamma, fit_intercept, problem.ended)
    return state._replace(P=P, intercept=intercept)


def regression_weights(problem: Problem, state: State) -> np.ndarray:
    """The row weights D of `eq:30`, a row counting as often as it occurs."""
    assert problem.regression is not None
    D = l2p.irls_weights(squared_residuals(problem, state), problem.regression.p)
    return problem.nodes.size * D
