r"""Algorithm 1 of the paper as it is printed, and the same scheme for `eq:26`.

To be held beside the paper, not to be used: dense, slow, and with the paper's slips in it. What
the library does instead is in ``docs/errata.md``; what each change buys is measured by
:mod:`dogc.paper.departures`. A line that computes an equation carries its label.

The paper's X has samples as columns; here they are rows, so that its X' is ``X``.

Only Algorithm 1 is printed, for `eq:7`. For `eq:26` the text says that S, F, Q and W are updated
as in it and gives P and Y; D is written down without a place in the order. Here P is
found with the D there is (the identity at first), then D from the new residual, then Y.

Where the text leaves something open, a comment that begins with "Taken:" says what was taken.
"""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from .. import _limits

# Taken: the paper names no bound for lambda, floating-point numbers have one.
LOWEST_LAMBDA, HIGHEST_LAMBDA = 1e-150, 1e150
TINY = np.finfo(float).tiny


class State(NamedTuple):
    """All that Algorithm 1 carries from step to step."""

    S: np.ndarray  # (n, n), rows on the simplex, not symmetric
    F: np.ndarray  # (n, c), F'F = I
    W: np.ndarray  # (d, m), W'W = I
    Q: np.ndarray  # (c, c), Q'Q = I
    Y: np.ndarray  # (n, c), one 1 in each row
    L: np.ndarray  # (n, n), of the S before
    lam: float
    xi: float
    P: np.ndarray  # (d, c)
    D: np.ndarray  # (n,), the diagonal


class Iteration(NamedTuple):
    """One pass through steps 2 to 7; both objectives are at its lambda and xi."""

    objective: float
    objective_before: float  # of the state that the iteration began with
    n_components: int
    n_empty: int  # clusters without a row
    lam: float
    xi: float


def laplacian(S: np.ndarray) -> np.ndarray:
    """Step 2 of Algorithm 1."""
    A = (S.T + S) / 2
    return np.diag(A.sum(axis=1)) - A


def projected_distances(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The d^wx of `eq:10`: XHX' centres, so the trace is the scatter of the projected rows."""
    Z = X @ W
    scatter = np.sum((Z - Z.mean(axis=0)) ** 2)
    return cdist(Z, Z, "sqeuclidean") / scatter  # eq:8


def solve_rows(d: np.ndarray, xi: float) -> np.ndarray:
    """Each row of S is the projection of -d_i / (2 xi) on the simplex.

    Taken: j runs over all n rows, i itself among them, as the sum is printed. With
    d_ii = 0 every row is then its own first neighbour.
    """
    # A constant added to a row changes nothing; with the largest entry 0 nothing overflows.
    V = (d.min(axis=1, keepdims=True) - d) / (2 * xi)
    falling = -np.sort(-V, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    count = np.arange(1, V.shape[1] + 1)
    size = np.sum(falling * count > excess, axis=1)
    eta = -excess[np.arange(len(V)), size - 1] / size
    return np.maximum(V + eta[:, None], 0)  # eq:10


def update_F(
    L: np.ndarray, Y: np.ndarray, Q: np.ndarray, alpha: float, F: np.ndarray
) -> np.ndarray:
    """Minimise Tr(F'LF) + alpha ||Y - FQ||^2 by the curvilinear search of Wen and Yin (2013).

    ||Y - FQ||^2 is a constant less 2 Tr(F'YQ'). The length of a step is Barzilai and Borwein's; it
    is cut until the value lies below the weighted mean of those so far (Zhang and Hager). The
    search ends where the gradient is small, or both the step and what it gains.
    """
    B = alpha * Y @ Q.T
    scale = np.abs(L).sum(axis=1).max() * np.sqrt(F.shape[1]) + np.linalg.norm(B)
    L = csr_array(L) if np.count_nonzero(L) < L.size / 10 else L  # for speed alone
    LF = L @ F
    value = reference = np.vdot(F, LF) - 2 * np.vdot(F, B)  # eq:11
    best, weight, step, stalled = (value, F), 1.0, 1 / max(scale, TINY), False
    G = 2 * (LF - B)
    descent = G - F @ (G.T @ F)
    for iteration in range(200):
        if stalled or np.linalg.norm(descent) <= 1e-5 * scale:
            break
        slope = np.vdot(G, descent)
        for _ in range(30):
            new = _cayley(F, G, step)
            LF = L @ new
            new_value = np.vdot(new, LF) - 2 * np.vdot(new, B)  # eq:11
            if new_value <= reference - 1e-4 * step * slope:
                break
            step /= 2
        else:
            break  # no step descends: as low as rounding lets it
        G, old = 2 * (LF - B), descent
        descent = G - new @ (G.T @ new)
        moved, turned = new - F, descent - old
        length, bend = np.vdot(moved, moved), max(abs(np.vdot(moved, turned)), TINY)
        step = bend / max(np.vdot(turned, turned), TINY) if iteration % 2 else length / bend
        step = float(np.clip(step, 1e-6 / scale, 1e6 / scale))
        stalled = length <= 1e-10 * len(F) and abs(new_value - value) <= 1e-8 * scale
        F, value = new, new_value
        best = min(best, (value, F), key=lambda pair: pair[0])
        reference = (0.85 * weight * reference + value) / (0.85 * weight + 1)
        weight = 0.85 * weight + 1
    return best[1]


def _cayley(F: np.ndarray, G: np.ndarray, step: float) -> np.ndarray:
    """The point on the curve that leaves F along -G and keeps F'F = I."""
    U, V = np.hstack([G, F]), np.hstack([F, -G])
    F = F - step * U @ np.linalg.solve(np.eye(U.shape[1]) + step / 2 * V.T @ U, V.T @ F)
    return 1.5 * F - 0.5 * F @ (F.T @ F)  # rounding left the manifold a little


def update_W(X: np.ndarray, L: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The m eigenvectors of V with the smallest eigenvalues, V with the last W, until it stays.

    Taken: `eq:13` and `eq:14` print one (i, j) term where the sum is meant, which is the ratio
    of `eq:12.5`; W'W = I_c is printed beside "m eigenvectors", and m is an input.
    """
    Xc = X - X.mean(axis=0)
    Xc /= np.linalg.norm(Xc)  # squares of squares would overflow; the ratio stays
    cut, scatter = Xc.T @ L @ Xc, Xc.T @ Xc  # XLX' itself, since L 1 = 0
    for _ in range(100):
        ratio = np.trace(W.T @ cut @ W) / np.trace(W.T @ scatter @ W)  # eq:12 eq:12.5
        V = cut - ratio * scatter  # eq:13
        if np.linalg.norm(V @ W - W @ (W.T @ V @ W)) <= 1e-10 * np.linalg.norm(V):
            break  # the K.K.T. condition: W spans eigenvectors
        found = np.linalg.eigh(V)[1][:, : W.shape[1]]  # eq:14
        if np.trace(found.T @ scatter @ found) <= 1e-12 * np.trace(scatter):
            break  # nothing but columns that do not vary: the ratio would be 0/0
        W = found
    return W


def update_Q(F: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Orthogonal Procrustes."""
    U, _, Vt = np.linalg.svd(F.T @ Y)
    return U @ Vt  # eq:15


def update_Y(B: np.ndarray) -> np.ndarray:
    """One 1 in each row, where B is largest; a cluster may be left empty.

    Taken: `eq:17` and `eq:18` print (PQ), P not being there yet; FQ is meant, as in `eq:16`.
    """
    return np.eye(B.shape[1])[B.argmax(axis=1)]  # eq:16 eq:17 eq:18 eq:36


def neighbour_xi(d: np.ndarray, k: int) -> np.ndarray:
    """For each row the xi_i with which `eq:10` at lambda = 0 has exactly k nonzero values."""
    near = np.partition(d, k, axis=1)  # the k smallest, then the next
    return k / 2 * near[:, k] - near[:, :k].sum(axis=1) / 2  # eq:24


def overall_xi(d: np.ndarray, k: int) -> float:
    """The mean. Taken: a floor above 0, for rows of which all have k copies."""
    return max(float(neighbour_xi(d, k).mean()), np.finfo(float).eps * float(d.mean()))  # eq:25


# ------------------------------------------------------------------------ the blocks of eq:26


def loss_2p(R: np.ndarray, p: float) -> float:
    """The l2,p loss; at p = 0 every row counts 1 (0^0 = 1)."""
    return float(np.sum(np.linalg.norm(R, axis=1) ** p))  # eq:28


def row_weights(R: np.ndarray, p: float) -> np.ndarray:
    """The diagonal of D. Infinite where r = 0: there r counts as the rounding unit, 2.2e-16.

    At p = 0 it is 0; then P is 0 and Y is that of DOGC.
    """
    r = np.maximum(np.linalg.norm(R, axis=1), np.finfo(float).eps)
    return p / 2 * r ** (p - 2)  # eq:30


def update_P(X: np.ndarray, Y: np.ndarray, D: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The regression. Where the inverse does not exist, the solution of smallest norm."""
    XD = X.T * D
    return scipy.linalg.lstsq(XD @ X + np.diag(gamma), XD @ Y)[0]  # eq:32 eq:33


class PrintedDOGC(ClusterMixin, BaseEstimator):
    r"""Algorithm 1 of the paper, step by step as printed.

    Use it to compare with the paper, on small data. Use :class:`dogc.DOGC` to cluster data.

    Parameters
    ----------
    n_clusters : int, default=8
        The paper's :math:`c`.
    n_components : int or None, default=None
        The reduced dimension :math:`m`. None takes c, as W'W = I_c is printed, or the number of
        columns where that is smaller.
    n_neighbors : int or None, default=None
        The paper's :math:`k`. A row is its own first neighbour. None takes a tenth of the rows.
    alpha : float, default=1e-4
        Weight of :math:`\|Y - FQ\|_F^2`.
    max_iter : int, default=100
        Maximum number of iterations. The paper has no limit.
    tol : float, default=1e-4
        The run stops when no entry of F, S, Y, W W' and Q changes by more ("until there is no
        change").
    random_state : int, Generator or None, default=None
        Seed of the initial F, S, Y, W and Q.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The column of the 1 in each row of Y. There may be fewer than n_clusters.
    S_ : array of shape (n_samples, n_samples)
        The learned graph, not symmetrised.
    F_, W_, Q_, Y_ : arrays
        Continuous labels, projection, rotation, discrete labels.
    lam_, xi_ : float
        Values in the last iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        True if the run stopped by ``tol``.
    history_ : list of Iteration
        Objective of `eq:7` (`eq:26`), components of S, empty clusters, lambda and xi, by iteration.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from dogc.datasets import make_two_moons
    >>> from dogc.paper import PrintedDOGC
    >>> X, _ = make_two_moons(60, random_state=0)
    >>> model = PrintedDOGC(2, max_iter=5, random_state=0).fit(X)
    >>> model.S_.shape, model.F_.shape, model.n_iter_
    ((60, 60), (60, 2), 5)
    """

    def __init__(self, n_clusters: int = 8, *, n_components: int | None = None,
                 n_neighbors: int | None = None, alpha: float = 1e-4, max_iter: int = 100,
                 tol: float = 1e-4, random_state: Any = None):  # fmt: skip
        """Keep the parameters."""
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PrintedDOGC:
        """Run the algorithm on the rows of X, taken as they are."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        # Ten arrays of n x n numbers at the peak, measured by benchmarks/memory.py.
        _limits.check_room(lambda n: 25e6 + 80.0 * n**2, len(X), ", or use dogc.DOGC")
        with np.errstate(all="ignore"):
            if not TINY < np.sum((X - X.mean(axis=0)) ** 2) < np.inf:
                raise ValueError("X has no scatter that can be computed; rescale it.")
        self._check(X)
        with threadpool_limits(limits=1, user_api="blas"):  # the same bits at any number of threads
            self._run(X)
        return self

    def _check(self, X: np.ndarray) -> None:
        (n, d), whole = X.shape, numbers.Integral
        self._m = min(self.n_clusters, d) if self.n_components is None else self.n_components
        self._k = max(1, round(n / 10)) if self.n_neighbors is None else self.n_neighbors
        check_scalar(self.n_clusters, "n_clusters", whole, min_val=1, max_val=n)
        check_scalar(self._m, "n_components", whole, min_val=1, max_val=d)
        check_scalar(self._k, "n_neighbors", whole, min_val=1, max_val=n - 1)
        check_scalar(self.max_iter, "max_iter", whole, min_val=1)
        for name in sorted({"alpha", "beta", "gamma", "p", "tol"} & self.get_params().keys()):
            high = 2 if name == "p" else None
            check_scalar(getattr(self, name), name, numbers.Real, min_val=0, max_val=high)

    def _run(self, X: np.ndarray) -> State:
        state = self.start(X, np.random.default_rng(self.random_state))
        self.history_: list[Iteration] = []
        for _ in range(self.max_iter):
            state = state._replace(xi=self.regulariser(X, state))
            new = self.iterate(X, state)
            self.history_.append(self._record(X, state, new))
            self.converged_ = _change(state, new) <= self.tol
            if self.converged_:
                break
            state = self.next_lambda(new, self.history_[-1].n_components)
        self.n_iter_ = len(self.history_)
        self.S_, self.F_, self.W_, self.Q_, self.Y_ = new[:5]
        self.lam_, self.xi_ = new.lam, new.xi
        self.labels_ = new.Y.argmax(axis=1)
        return new

    # ---- Algorithm 1; each departure of the library overrides one of these

    def start(self, X: np.ndarray, rng: np.random.Generator) -> State:
        """Step 1: F, S, Y, W and Q at random; lambda is xi."""
        (n, d), c = X.shape, self.n_clusters
        S = rng.dirichlet(np.ones(n), size=n)
        F, W, Q = (_orthonormal(rng, *shape) for shape in ((n, c), (d, self._m), (c, c)))
        Y = np.eye(c)[rng.integers(c, size=n)]
        P = np.zeros((self.regressors(X).shape[1], c))
        state = State(S, F, W, Q, Y, laplacian(S), 0.0, 0.0, P, np.ones(n))
        # Taken: "in each iteration, we can initialize lambda = xi" is read as once, before the
        # first. Set back in each, it could never grow as the sentence goes on to say.
        xi = self.regulariser(X, state)
        return state._replace(xi=xi, lam=xi)

    def regulariser(self, X: np.ndarray, s: State) -> float:
        """Xi, of the distances in the present subspace, so another one in each iteration."""
        return overall_xi(projected_distances(X, s.W), self._k)

    def iterate(self, X: np.ndarray, s: State) -> State:
        """Steps 2 to 7, in the printed order: F and W see the Laplacian of the S before."""
        s = s._replace(L=laplacian(s.S))  # 2.
        s = self.step_S(X, s)  # 3.
        s = self.step_F(X, s)  # 4.
        s = self.step_W(X, s)  # 5.
        s = self.step_Q(X, s)  # 6.
        return self.step_Y(X, s)  # 7.

    def step_S(self, X: np.ndarray, s: State) -> State:
        """Step 3."""
        return s._replace(S=solve_rows(self.distances(X, s), s.xi))

    def distances(self, X: np.ndarray, s: State) -> np.ndarray:
        """The factor before s_ij in `eq:10`: d^wx + lambda d^f."""
        d_f = cdist(s.F, s.F, "sqeuclidean")
        return projected_distances(X, s.W) + s.lam * d_f  # eq:9

    def step_F(self, X: np.ndarray, s: State) -> State:
        """Step 4, with the printed weight 1 of the trace; `eq:7` has 2 lambda there."""
        return s._replace(F=update_F(s.L, s.Y, s.Q, self.penalties(X, s)[0], s.F))

    def step_W(self, X: np.ndarray, s: State) -> State:
        """Step 5."""
        return s._replace(W=update_W(X, s.L, s.W))

    def step_Q(self, X: np.ndarray, s: State) -> State:
        """Step 6."""
        return s._replace(Q=update_Q(s.F, s.Y))

    def step_Y(self, X: np.ndarray, s: State) -> State:
        """Step 7."""
        return s._replace(Y=self.assign(s.F @ s.Q))

    def assign(self, gain: np.ndarray) -> np.ndarray:
        """Y from what it is to agree with."""
        return update_Y(gain)

    def penalties(self, X: np.ndarray, s: State) -> tuple[float, float, float]:
        """Alpha, beta, gamma as printed: the same for all data and at every lambda."""
        return self.alpha, getattr(self, "beta", 0.0), getattr(self, "gamma", 0.0)

    def regressors(self, X: np.ndarray) -> np.ndarray:
        """The rows that P is applied to, in `eq:26`."""
        return X

    def next_lambda(self, s: State, count: int) -> State:
        """Increase lambda where there are too few components, decrease it where too many.

        Taken: by factors of 2. The paper names none; its model, CAN, has these.
        """
        factor = 2.0 if count < self.n_clusters else 0.5 if count > self.n_clusters else 1.0
        return s._replace(lam=min(max(s.lam * factor, LOWEST_LAMBDA), HIGHEST_LAMBDA))

    def objective(self, X: np.ndarray, s: State) -> float:
        """The value of `eq:7` at the state's lambda and xi."""
        graph = np.sum(projected_distances(X, s.W) * s.S + s.xi * s.S**2)
        trace = 2 * s.lam * np.vdot(s.F, laplacian(s.S) @ s.F)
        alpha = self.penalties(X, s)[0]
        return float(graph + trace + alpha * np.sum((s.Y - s.F @ s.Q) ** 2))  # eq:6 eq:7

    def components(self, S: np.ndarray) -> tuple[int, np.ndarray]:
        """Number of connected components, edges taken in both directions, and that of each row."""
        return connected_components(csr_array(S), directed=False)

    def _record(self, X: np.ndarray, before: State, s: State) -> Iteration:
        count, empty = self.components(s.S)[0], int(np.sum(s.Y.sum(axis=0) == 0))
        value, value_before = self.objective(X, s), self.objective(X, before)
        return Iteration(value, value_before, int(count), empty, s.lam, s.xi)


class PrintedDOGCOS(PrintedDOGC):
    r"""DOGC-OS as printed: `eq:26`, with the steps of Algorithm 1 and those for P and Y.

    Use it to compare with the paper, on small data. Use :class:`dogc.DOGCOS` to cluster data. The
    defaults are those of the paper's study of Vote.

    Parameters
    ----------
    n_clusters, n_components, n_neighbors, alpha, max_iter, tol, random_state
        As in :class:`PrintedDOGC`.
    beta : float, default=1e-2
        Weight of the regression.
    gamma : float, default=1e-4
        Ridge penalty of P.
    p : float, default=1.25
        Power of the loss, from 0 to 2.

    Attributes
    ----------
    P_ : array of shape (n_features, n_clusters)
        The regression, without an intercept. The other attributes are those of
        :class:`PrintedDOGC`.

    Examples
    --------
    >>> from dogc.datasets import make_two_moons
    >>> from dogc.paper import PrintedDOGCOS
    >>> X, _ = make_two_moons(60, random_state=0)
    >>> PrintedDOGCOS(2, max_iter=5, random_state=0).fit(X).predict(X[:3]).shape
    (3,)
    """

    def __init__(self, n_clusters: int = 8, *, n_components: int | None = None,
                 n_neighbors: int | None = None, alpha: float = 1e-4, beta: float = 1e-2,
                 gamma: float = 1e-4, p: float = 1.25, max_iter: int = 100, tol: float = 1e-4,
                 random_state: Any = None):  # fmt: skip
        """Keep the parameters."""
        super().__init__(n_clusters, n_components=n_components, n_neighbors=n_neighbors, tol=tol,
                         alpha=alpha, max_iter=max_iter, random_state=random_state)  # fmt: skip
        self.beta, self.gamma, self.p = beta, gamma, p

    def predict(self, X: Any) -> np.ndarray:
        """The column in which x P is largest."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (self.regressors(X) @ self.P_).argmax(axis=1)

    def _run(self, X: np.ndarray) -> State:
        state = super()._run(X)
        self.P_ = state.P
        return state

    def ridge(self, X: np.ndarray, s: State) -> np.ndarray:
        """The penalty of each row of P: gamma I_d."""
        return np.full(X.shape[1], self.penalties(X, s)[2])

    def step_P(self, X: np.ndarray, s: State) -> State:
        """P with the D there is, then D from the new residual."""
        A = self.regressors(X)
        P = update_P(A, s.Y, s.D, self.ridge(X, s))
        return s._replace(P=P, D=row_weights(s.Y - A @ P, self.p))

    def step_Y(self, X: np.ndarray, s: State) -> State:
        """P, D and Y (`eq:36`): what takes the place of step 7."""
        s = self.step_P(X, s)
        alpha, beta, _ = self.penalties(X, s)
        B = alpha * s.F @ s.Q + beta * s.D[:, None] * (self.regressors(X) @ s.P)  # eq:34 eq:35
        return s._replace(Y=self.assign(B))

    def objective(self, X: np.ndarray, s: State) -> float:
        """The value of `eq:26`."""
        beta = self.penalties(X, s)[1]
        residual, ridge = s.Y - self.regressors(X) @ s.P, self.ridge(X, s)
        loss = loss_2p(residual, self.p) + np.sum(ridge[:, None] * s.P**2)  # eq:27
        return super().objective(X, s) + beta * float(loss)  # eq:26


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    Q, R = np.linalg.qr(rng.standard_normal((rows, columns)))
    return Q * np.sign(np.diag(R))


def _change(old: State, new: State) -> float:
    """The largest change of an entry; W W' for W, as the sign of an eigenvector is chance."""
    W = old.W @ old.W.T, new.W @ new.W.T
    pairs = [(old.F, new.F), (old.S, new.S), (old.Y, new.Y), (old.Q, new.Q), W]
    return max(float(np.abs(a - b).max()) for a, b in pairs)
