r"""Quadratic problems on the Stiefel manifold, and their eigenvector limit.

.. math:: \min_F \operatorname{Tr}(F^\top A F) - 2 \operatorname{Tr}(F^\top B)
          \quad \text{s.t.} \quad F^\top F = I

is the F step `eq:11` with :math:`A = 2 \lambda L_S` and :math:`B = \alpha Y Q^\top`.
Two solvers: the curvilinear search of Wen and Yin (Math. Program. 142, 2013), which the
paper names, and the generalised power iteration of Nie, Zhang and Li (2017). At B = 0 the
answer is the bottom eigenvectors of A.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lobpcg, splu

from .arrays import Matrix

# Up to this many rows a sparse factorisation is instant, and it is the most robust way
# to small eigenvalues; above, a block solver is tried first.
FACTORISE_UP_TO = 3000

# Extra vectors in the block solver's block: they let the wanted ones converge faster.
GUARD_VECTORS = 2

# The curvilinear search gives up when this many iterations gain less than this share.
STALL_WINDOW, STALL = 20, 1e-10


class StiefelResult(NamedTuple):
    """A point on the manifold, its objective, how many iterations it took."""

    F: np.ndarray
    objective: float
    n_iter: int


def quadratic_objective(AF: np.ndarray, B: np.ndarray, F: np.ndarray) -> float:
    """Tr(F'AF) - 2 Tr(F'B), from the product A F.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[1.0], [0.0]])
    >>> quadratic_objective(3.0 * F, F, F)
    1.0
    """
    return float(np.vdot(F, AF) - 2.0 * np.vdot(F, B))


def polar(M: np.ndarray) -> np.ndarray:
    """The orthonormal factor U V' of M: the nearest point with orthonormal columns.

    Examples
    --------
    >>> import numpy as np
    >>> np.abs(polar(np.array([[2.0, 0.0], [0.0, 5.0]]))).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    U, _, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    return U @ Vt


def norm_bound(A: Matrix) -> float:
    """Largest absolute row sum: no eigenvalue of the symmetric A is larger.

    Examples
    --------
    >>> import numpy as np
    >>> norm_bound(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    2.0
    """
    return float(abs(A).sum(axis=1).max())


def curvilinear_search(
    A: Matrix, B: np.ndarray, F: np.ndarray, *, max_iter: int = 500, tol: float = 1e-7
) -> StiefelResult:
    r"""Wen and Yin's feasible descent along Cayley curves.

    The curve is :math:`F(\tau) = F - \tau U (I + \tfrac{\tau}{2} V^\top U)^{-1} V^\top F`
    with :math:`U = [G, F]`, :math:`V = [F, -G]`: only 2c x 2c systems. Steps alternate
    between the two Barzilai-Borwein lengths; acceptance is Zhang and Hager's non-monotone
    rule, whose reference value never exceeds the start, so the result never does either.

    Parameters
    ----------
    A : symmetric sparse array of shape (n, n)
    B, F : arrays of shape (n, c); F has orthonormal columns and is where the search starts.
    tol : stop when the gradient on the manifold is this small beside the problem's scale.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.diag([3.0, 1.0, 2.0]))
    >>> start = np.ones((3, 1)) / np.sqrt(3)
    >>> result = curvilinear_search(A, np.zeros((3, 1)), start)
    >>> round(result.objective, 6)
    1.0
    """
    scale = norm_bound(A) * np.sqrt(F.shape[1]) + np.linalg.norm(B)
    if scale == 0.0:
        return StiefelResult(F, 0.0, 0)
    rounding = np.finfo(float).eps * scale
    AF = A @ F
    value = quadratic_objective(AF, B, F)
    best = StiefelResult(F, value, 0)
    gradient, descent = _gradients(AF, B, F)
    reference, weight, step, checkpoint = value, 1.0, 1.0 / scale, np.inf
    for iteration in range(1, max_iter + 1):
        if np.linalg.norm(descent) <= tol * scale:
            break
        if iteration % STALL_WINDOW == 0:
            if checkpoint - best.objective <= STALL * (abs(best.objective) + rounding):
                break
            checkpoint = best.objective
        slope = float(np.vdot(gradient, descent))  # -d/dtau of the objective along the curve
        curve = _CayleyCurve(F, gradient)
        for _ in range(30):
            F_new = curve.at(step)
            AF_new = A @ F_new
            value_new = quadratic_objective(AF_new, B, F_new)
            if value_new <= reference - 1e-4 * step * slope + rounding:
                break
            step *= _shrink(value, value_new, step * slope)
        else:
            break  # no descent left above rounding
        gradient_new, descent_new = _gradients(AF_new, B, F_new)
        step = _barzilai_borwein(F_new - F, descent_new - descent, iteration, scale)
        F, value, gradient, descent = F_new, value_new, gradient_new, descent_new
        if value < best.objective:
            best = StiefelResult(F, value, iteration)
        weight_new = 0.85 * weight + 1.0
        reference = (0.85 * weight * reference + value) / weight_new
        weight = weight_new
    return best


def _gradients(AF: np.ndarray, B: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gradient = 2.0 * (AF - B)
    return gradient, gradient - F @ (gradient.T @ F)


class _CayleyCurve:
    """The curve through F along G, with what does not depend on the step kept."""

    def __init__(self, F: np.ndarray, G: np.ndarray):
        self.F, c = F, F.shape[1]
        FtG = F.T @ G
        self.U = np.hstack([G, F])
        self.VtU = np.block([[FtG, np.eye(c)], [-(G.T @ G), -FtG.T]])
        self.VtF = np.vstack([np.eye(c), -FtG.T])

    def at(self, step: float) -> np.ndarray:
        system = np.eye(len(self.VtU)) + 0.5 * step * self.VtU
        F = self.F - step * (self.U @ np.linalg.solve(system, self.VtF))
        # Rounding leaves the manifold, and the low-rank form, which takes F'F = I for
        # granted, would amplify that from step to step: one Newton-Schulz step undoes it.
        return F @ (1.5 * np.eye(F.shape[1]) - 0.5 * (F.T @ F))


def _barzilai_borwein(moved: np.ndarray, turned: np.ndarray, iteration: int, scale: float) -> float:
    curvature = abs(float(np.vdot(moved, turned)))
    if curvature == 0.0:
        return 1.0 / scale
    if iteration % 2:
        step = float(np.vdot(moved, moved)) / curvature
    else:
        step = curvature / float(np.vdot(turned, turned))
    return min(max(step, 1e-6 / scale), 1e6 / scale)


def _shrink(value: float, value_new: float, expected: float) -> float:
    """How far to go back: the minimum of the parabola through what is known, within bounds."""
    curvature = value_new - value + expected
    return min(max(expected / (2.0 * curvature), 0.02), 0.5) if curvature > 0 else 0.5


def power_iteration(
    A: Matrix, B: np.ndarray, F: np.ndarray, *, max_iter: int = 20000, tol: float = 1e-7
) -> StiefelResult:
    r"""Generalised power iteration: :math:`F \leftarrow \text{polar}(\eta F - A F + B)`.

    With :math:`\eta` above every eigenvalue of A each step lowers the objective. Simple,
    and slow where A is ill conditioned; kept as the check on the curvilinear search.
    Parameters and result are those of :func:`curvilinear_search`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.diag([3.0, 1.0, 2.0]))
    >>> start = np.ones((3, 1)) / np.sqrt(3)
    >>> round(power_iteration(A, np.zeros((3, 1)), start).objective, 6)
    1.0
    """
    eta = norm_bound(A)
    scale = eta * np.sqrt(F.shape[1]) + np.linalg.norm(B)
    AF = A @ F
    iteration = 0
    while iteration < max_iter and np.linalg.norm(_gradients(AF, B, F)[1]) > tol * scale:
        F = polar(eta * F - AF + B)
        AF = A @ F
        iteration += 1
    return StiefelResult(F, quadratic_objective(AF, B, F), iteration)


def null_space(member: np.ndarray, n_components: int) -> np.ndarray:
    """Orthonormal basis of a Laplacian's null space: the scaled component indicators.

    Examples
    --------
    >>> import numpy as np
    >>> null_space(np.array([0, 1, 0, 0, 0]), 2)
    array([[0.5, 0. ],
           [0. , 1. ],
           [0.5, 0. ],
           [0.5, 0. ],
           [0.5, 0. ]])
    """
    N = np.zeros((len(member), n_components))
    sizes = np.bincount(member, minlength=n_components)
    N[np.arange(len(member)), member] = 1.0 / np.sqrt(sizes[member])
    return N


def bottom_eigenvectors(
    L: Matrix, c: int, member: np.ndarray, guess: np.ndarray | None = None
) -> np.ndarray:
    r"""Orthonormal F that minimises :math:`\operatorname{Tr}(F^\top L F)` for a Laplacian L.

    The part of the null space that the components give is taken in closed form and kept
    out of the eigensolver, which then never sees a repeated zero eigenvalue. With c or
    more components there is nothing left to solve: the c largest components are returned.

    Parameters
    ----------
    L : sparse array of shape (n, n)
    c : number of columns of F, at most n.
    member : int array of shape (n,), the component of each row.
    guess : array of shape (n, c) to start the block solver from, such as the last F; None
        starts it from fixed pseudo-random vectors.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> F = bottom_eigenvectors(path, 2, np.zeros(3, dtype=int))
    >>> np.round(F.T @ path @ F, 6).diagonal()
    array([0., 1.])
    """
    n = L.shape[0]
    sizes = np.bincount(member)
    N = null_space(member, len(sizes))
    if len(sizes) >= c:
        return N[:, np.sort(np.argsort(-sizes, kind="stable")[:c])]
    wanted = c - len(sizes)
    if n <= 5 * (c + GUARD_VECTORS) + 20:
        # F itself is of the order of n x n here, so a dense solve costs no more room.
        _, vectors = scipy.linalg.eigh(L.toarray() + (N * norm_bound(L)) @ N.T)
        rest = vectors[:, :wanted]
    else:
        rest = _smallest(L, N, wanted, guess)
    F, _ = np.linalg.qr(np.hstack([N, rest]))
    return F


def _smallest(L: Matrix, N: np.ndarray, wanted: int, guess: np.ndarray | None) -> np.ndarray:
    """The ``wanted`` bottom eigenvectors of L orthogonal to N.

    A block solver, because eigenvalues may repeat; first with the diagonal as its
    preconditioner where a factorisation could be large, then with the factorisation.
    """
    n, bound = L.shape[0], norm_bound(L)
    start = np.random.default_rng(0).standard_normal((n, wanted + GUARD_VECTORS))
    start /= np.linalg.norm(start, axis=0)
    if guess is not None:
        # Not quite the guess: exact eigenvectors other than the wanted ones are a trap.
        start[:, :wanted] = _outside(N, guess)[:, :wanted] + 0.02 * start[:, :wanted]
    if n > FACTORISE_UP_TO:
        inverse = 1.0 / np.maximum(L.diagonal(), 1e-12 * bound)
        jacobi = sp.dia_array((inverse[None, :], [0]), shape=L.shape)
        vectors = _block_solve(L, N, start, jacobi, tol=1e-6 * bound)
        if vectors is not None:
            return vectors[:, :wanted]
    factor = splu(
        (L + 1e-6 * bound * sp.eye_array(n)).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    inverse = LinearOperator((n, n), matvec=factor.solve, matmat=factor.solve, dtype=np.float64)
    vectors = _block_solve(L, N, start, inverse, tol=1e-9 * bound)
    if vectors is None:
        vectors = _subspace_iteration(L, N, factor, wanted)
    return vectors[:, :wanted]


def _outside(N: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """What of the guess lies outside the span of N: its principal directions, largest first."""
    U, _, _ = scipy.linalg.svd(guess - N @ (N.T @ guess), full_matrices=False)
    return U


def _block_solve(
    L: Matrix, N: np.ndarray, start: np.ndarray, preconditioner: Matrix, tol: float
) -> np.ndarray | None:
    """LOBPCG with the residuals checked; None when they did not fall.

    The error of the subspace is about residual over gap, so residuals must be small beside
    the first eigenvalue that is not wanted: tiny on a long thin graph.
    """
    wanted = start.shape[1] - GUARD_VECTORS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # residuals are checked below, never assumed
        try:
            values, vectors = lobpcg(
                L, start, M=preconditioner, Y=N, largest=False, tol=tol, maxiter=300
            )
        except (np.linalg.LinAlgError, ValueError):
            return None
    order = np.argsort(values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    residual = np.linalg.norm(L @ vectors - vectors * values, axis=0)[:wanted]
    good = residual <= 1e-3 * abs(values[wanted]) + 1e-2 * tol
    return vectors if good.all() else None


def _subspace_iteration(L: Matrix, N: np.ndarray, factor: Any, wanted: int) -> np.ndarray:
    """Block inverse iteration with N kept out: slow where eigenvalues crowd, but never stuck."""
    n, bound = L.shape[0], norm_bound(L)
    block = min(2 * wanted + 8, n - N.shape[1])
    V = np.random.default_rng(0).standard_normal((n, block))
    for _ in range(1000):
        V = factor.solve(V - N @ (N.T @ V))
        V, _ = np.linalg.qr(V - N @ (N.T @ V))
        values, rotation = scipy.linalg.eigh(V.T @ (L @ V))
        V = V @ rotation
        residual = np.linalg.norm(L @ V[:, :wanted] - V[:, :wanted] * values[:wanted], axis=0)
        if residual.max() <= 1e-9 * bound:
            break
    return V
