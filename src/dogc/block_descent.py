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

from .arrays import Matrix, norm_bound
from .multigrid import Hierarchy, Preconditioner
from .products import RowParts
from .stiefel import StiefelResult, curvilinear_search, quadratic_objective
from .subspaces import Spans

# An iteration that gains a smaller share of the objective is the last.
GAIN = 1e-5
# The least shift: the preconditioner stays an inverse where A has a null space.
SHIFT = 1e-6


def block_descent(
    A: Matrix,
    B: np.ndarray,
    F: np.ndarray,
    hierarchy: Hierarchy,
    *,
    max_iter: int = 10,
    tol: float = 1e-5,
    gain: float = GAIN,
    threads: int = 1,
) -> StiefelResult:
    """Minimise from F, which has orthonormal columns; the result is never above it.

    Parameters
    ----------
    A : symmetric sparse array of shape (n, n), without negative eigenvalues.
    B, F : arrays of shape (n, c)
    hierarchy : smaller versions of A, or of a matrix like it up to a factor.
    tol : stop when the gradient on the manifold is this small beside the problem's scale.
    gain : stop after an iteration that gains a smaller share of the objective.
    threads : for work on the rows, where there are many.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from dogc.multigrid import coarsen
    >>> A = sp.csr_array(np.diag([3.0, 1.0, 2.0]))
    >>> start = np.ones((3, 1)) / np.sqrt(3)
    >>> result = block_descent(A, np.zeros((3, 1)), start, coarsen(A), gain=0.0)
    >>> round(result.objective, 6)
    1.0
    """
    unit, c = norm_bound(A), F.shape[1]
    if unit == 0.0:
        return curvilinear_search(A, B, F, max_iter=max_iter, tol=tol)
    A, B = A * (1.0 / unit), B / unit
    with RowParts(A, threads) as parts:
        spans = Spans(parts.__matmul__, parts, F)
        value = quadratic_objective(spans.AF, B, spans.F)
        gradient, multiplier = _gradient(spans, B)
        # About what the multiplier adds to A in the Hessian.
        shift = max(SHIFT, -float(np.trace(multiplier)) / c)
        solve = Preconditioner(parts, A.diagonal(), hierarchy, shift)
        scale = np.sqrt(c) + np.linalg.norm(B)
        iteration = 0
        while iteration < max_iter and np.linalg.norm(gradient) > tol * scale:
            iteration += 1
            basis, inner = spans.extend(solve(gradient))
            start = np.eye(basis.shape[1], c)
            within = spans.within(basis, B)
            found = curvilinear_search(inner, within, start, max_iter=300, tol=1e-7)
            spans.move_to(basis @ found.F)
            last, value = value, found.objective
            if last - value <= gain * abs(value):
                break
            gradient, _ = _gradient(spans, B)
        return StiefelResult(np.ascontiguousarray(spans.F), value * unit, iteration)


def _gradient(spans: Spans, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half the gradient along the manifold, and the multiplier F'(AF - B)."""
    F, AF = spans.F, spans.AF
    cross = np.sum(spans.parts.map(lambda _, rows: F[rows].T @ (AF[rows] - B[rows])), axis=0)
    multiplier = 0.5 * (cross + cross.T)
    gradient = spans.parts.fill(
        lambda _, rows: AF[rows] - B[rows] - F[rows] @ multiplier, F.shape[1]
    )
    return gradient, multiplier
