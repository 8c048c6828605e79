r"""Quadratic problems on the Stiefel manifold.

.. math:: \min_F \operatorname{Tr}(F^\top A F) - 2 \operatorname{Tr}(F^\top B)
          \quad \text{s.t.} \quad F^\top F = I

is the F step `eq:11` with :math:`A = 2 \lambda L_S` and :math:`B = \alpha Y Q^\top`.
The solver is the curvilinear search of Wen and Yin (Math. Program. 142, 2013), which the paper
names. Tests compare it with the generalised power iteration of Nie, Zhang and Li (2017).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .matrix import Ended, Matrix, never, norm_bound

# The curvilinear search gives up when this many iterations gain less than this share.
STALL_WINDOW, STALL = 20, 1e-10


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


def curvilinear_search(
    A: Matrix,
    B: np.ndarray,
    F: np.ndarray,
    *,
    max_iter: int = 500,
    tol: float = 1e-7,
    ended: Ended = never,
) -> np.ndarray:
    r"""Wen and Yin's feasible descent along Cayley curves.

    The curve is :math:`F(\tau) = F - \tau U (I + \tfrac{\tau}{2} V^\top U)^{-1} V^\top F`
    with :math:`U = [G, F]`, :math:`V = [F, -G]`: only 2c x 2c systems. Steps alternate
    between the two Barzilai-Borwein lengths; acceptance is Zhang and Hager's non-monotone
    rule, whose reference value never exceeds the start, so the result's never does either.

    Parameters
    ----------
    A : symmetric array or sparse array of shape (n, n)
    B, F : arrays of shape (n, c); F has orthonormal columns and is where the search starts.
    tol : stop when the gradient on the manifold is this small beside the problem's scale.
    ended : says whether there is no more time; the best so far is the result then.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.diag([3.0, 1.0, 2.0]))
    >>> start = np.ones((3, 1)) / np.sqrt(3)
    >>> np.abs(curvilinear_search(A, np.zeros((3, 1)), start)).round(4).ravel()
    array([0., 1., 0.])
    """
    scale = norm_bound(A) * np.sqrt(F.shape[1]) + np.linalg.norm(B)
    if scale == 0.0:
        return F
    rounding = np.finfo(float).eps * scale
    AF = A @ F
    value = least = quadratic_objective(AF, B, F)
    best = F
    gradient, descent = _gradients(AF, B, F)
    reference, weight, step, checkpoint = value, 1.0, 1.0 / scale, np.inf
    for iteration in range(1, max_iter + 1):
        if np.linalg.norm(descent) <= tol * scale or ended():
            break
        if iteration % STALL_WINDOW == 0:
            if checkpoint - least <= STALL * (abs(least) + rounding):
                break
            checkpoint = least
        slope = float(np.vdot(gradient, descent))  # -d/dtau of the objective along the curve
        curve = _cayley_curve(F, gradient)
        for _ in range(30):
            F_new = curve(step)
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
        if value < least:
            best, least = F, value
        kept = 0.85 * weight
        reference, weight = (kept * reference + value) / (kept + 1.0), kept + 1.0
    return best


def _gradients(AF: np.ndarray, B: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gradient = 2.0 * (AF - B)
    return gradient, gradient - F @ (gradient.T @ F)


def _cayley_curve(F: np.ndarray, G: np.ndarray) -> Callable[[float], np.ndarray]:
    """The curve through F along G; what does not depend on the step is computed once."""
    FtG, one, U = F.T @ G, np.eye(F.shape[1]), np.hstack((G, F))
    VtU = np.vstack((np.hstack((FtG, one)), np.hstack((-(G.T @ G), -FtG.T))))
    VtF = np.vstack((one, -FtG.T))

    def at(step: float) -> np.ndarray:
        system = 0.5 * step * VtU
        system.flat[:: len(system) + 1] += 1.0
        moved = F - step * (U @ np.linalg.solve(system, VtF))
        # Rounding leaves the manifold, and the low-rank form, which takes F'F = I for
        # granted, would amplify that from step to step: one Newton-Schulz step undoes it.
        nearly_one = -0.5 * (moved.T @ moved)
        nearly_one.flat[:: len(nearly_one) + 1] += 1.5
        return moved @ nearly_one

    return at


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
    """The share of the step to go back: the minimum of the parabola through what is known."""
    curvature = value_new - value + expected
    return min(max(expected / (2.0 * curvature), 0.02), 0.5) if curvature > 0 else 0.5
