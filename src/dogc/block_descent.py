r"""The F step on large graphs: descent in subspaces.

.. math:: \min_F \operatorname{Tr}(F^\top A F) - 2 \operatorname{Tr}(F^\top B)
          \quad \text{s.t.} \quad F^\top F = I

as in :mod:`dogc.stiefel`. Each iteration minimises over all F in the span of F, of the gradient
preconditioned by multigrid, and of the last move. The problem within the span has at most 3c
rows and is left to the curvilinear search. A few iterations do what hundreds of that search
alone would do on a long thin graph.
"""

from __future__ import annotations

import numpy as np

from .arrays import norm_bound
from .multigrid import SHIFT, Hierarchy, Preconditioner
from .products import RowParts
from .stiefel import StiefelResult, curvilinear_search, quadratic_objective
from .subspaces import Spans

# An iteration that gains a smaller share of the objective is the last.
GAIN = 1e-5


def block_descent(
    A: RowParts,
    B: np.ndarray,
    F: np.ndarray,
    hierarchy: Hierarchy,
    *,
    max_iter: int = 10,
    tol: float = 1e-5,
    gain: float = GAIN,
) -> StiefelResult:
    """Minimise from F, which has orthonormal columns; the result is never above it.

    Parameters
    ----------
    A : symmetric sparse array of shape (n, n) in parts, without negative eigenvalues.
    B, F : arrays of shape (n, c)
    hierarchy : smaller versions of A, or of a matrix like it up to a factor.
    tol : stop when the gradient on the manifold is this small beside the problem's scale.
    gain : stop after an iteration that gains a smaller share of the objective.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from dogc.multigrid import coarsen
    >>> A = sp.csr_array(np.diag([3.0, 1.0, 2.0]))
    >>> start = np.ones((3, 1)) / np.sqrt(3)
    >>> result = block_descent(RowParts(A), np.zeros((3, 1)), start, coarsen(A), gain=0.0)
    >>> round(result.objective, 6)
    1.0
    """
    unit, c = norm_bound(A.A), F.shape[1]
    if unit == 0.0:
        return curvilinear_search(A.A, B, F, max_iter=max_iter, tol=tol)
    AF = A @ F
    gradient, multiplier = _gradient(A, AF, B, F)
    value, scale = quadratic_objective(AF, B, F), unit * np.sqrt(c) + np.linalg.norm(B)
    if np.linalg.norm(gradient) <= tol * scale:
        return StiefelResult(F, value, 0)
    # About what the multiplier adds to A in the Hessian.
    shift = max(SHIFT, -float(np.trace(multiplier)) / (c * unit))
    solve = Preconditioner(A, unit, hierarchy, shift)
    spans = Spans(A.__matmul__, A, F, AF)
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        basis, inner = spans.extend(solve(gradient))
        start = np.eye(basis.shape[1], c)
        found = curvilinear_search(inner, spans.within(basis, B), start, max_iter=100, tol=1e-7)
        spans.move_to(basis @ found.F)
        last, value = value, found.objective
        gradient, _ = _gradient(A, spans.AF, B, spans.F)
        if last - value <= gain * abs(value) or np.linalg.norm(gradient) <= tol * scale:
            break
    return StiefelResult(spans.orthonormal_F(), value, iteration)


def _gradient(
    A: RowParts, AF: np.ndarray, B: np.ndarray, F: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Half the gradient along the manifold, and the multiplier F'(AF - B)."""
    cross = np.sum(A.map(lambda _, rows: F[rows].T @ (AF[rows] - B[rows])), axis=0)
    multiplier = 0.5 * (cross + cross.T)
    gradient = A.fill(lambda _, rows: AF[rows] - B[rows] - F[rows] @ multiplier, F.shape[1])
    return gradient, multiplier
