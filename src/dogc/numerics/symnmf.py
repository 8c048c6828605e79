r"""Symmetric non-negative factors of a graph.

.. math:: \min_{H \ge 0} \|A - H H^\top\|_F^2

With A the normalised graph this is the normalised cut with :math:`F^\top F = I` traded for
:math:`F \ge 0` (Ding, He and Simon, SDM 2005; Kuang, Ding and Park, SDM 2012).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .matrix import Matrix

# Sufficient decrease, and how often a step is halved before the search gives up.
ARMIJO, HALVINGS = 1e-4, 40

# What the objective loses to rounding, for A of norm one.
ROUNDING = 4.0 * np.finfo(float).eps


def symmetric_nmf(
    A: Matrix, H: np.ndarray, *, max_iter: int = 500, tol: float = 1e-4
) -> tuple[np.ndarray, list[float], bool]:
    r"""Projected gradient with Barzilai-Borwein steps, from a given H; never goes up.

    Parameters
    ----------
    A : symmetric array or sparse array of shape (n, n)
    H : array of shape (n, c), non-negative: where to start.
    tol : stop when the projected gradient is this small beside the first gradient.

    Returns
    -------
    H : array of shape (n, c)
    objective : that after each iteration, the start included.
    converged : whether it settled.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
    >>> H, _, _ = symmetric_nmf(A, np.array([[0.5, 0.1], [0.5, 0.1], [0.1, 1.0]]), tol=1e-9)
    >>> H.round(3) + 0.0
    array([[1., 0.],
           [1., 0.],
           [0., 2.]])
    """
    unit = float(scipy.linalg.norm(A.data if sp.issparse(A) else A)) or 1.0
    H, objective, converged = _descend(A / unit, H / np.sqrt(unit), max_iter, tol)
    return H * np.sqrt(unit), [value * unit**2 for value in objective], converged


def _descend(
    A: Matrix, H: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, list[float], bool]:
    """The same for A of norm one, in whose unit tolerances are."""
    entries = A.data if sp.issparse(A) else A
    constant = float(np.vdot(entries, entries))
    value, gradient = _objective(A, H, constant)
    history = [value]
    first = np.linalg.norm(gradient) or 1.0
    step = 1.0 / first
    for _ in range(max_iter):
        # The optimality condition: no descent that H >= 0 allows.
        if np.linalg.norm(H - np.maximum(H - gradient, 0.0)) <= tol * first:
            return H, history, True
        direction = np.maximum(H - step * gradient, 0.0) - H
        slope = float(np.vdot(gradient, direction))
        length = 1.0
        for _ in range(HALVINGS):
            H_new = H + length * direction
            value_new, gradient_new = _objective(A, H_new, constant)
            if value_new <= value + ARMIJO * length * slope:
                break
            length *= 0.5
        else:
            return H, history, True  # no descent left above rounding
        moved, turned = H_new - H, gradient_new - gradient
        curvature = float(np.vdot(moved, turned))
        step = float(np.vdot(moved, moved)) / curvature if curvature > 0 else 1.0 / first
        gained = value - value_new
        H, value, gradient = H_new, value_new, gradient_new
        history.append(value)
        if gained <= ROUNDING:
            return H, history, True
    return H, history, False


def _objective(A: Matrix, H: np.ndarray, constant: float) -> tuple[float, np.ndarray]:
    """||A - HH'||^2 and its gradient, without forming HH'; ``constant`` is ||A||^2."""
    AH, gram = np.asarray(A @ H), H.T @ H
    value = constant - 2.0 * float(np.vdot(H, AH)) + float(np.vdot(gram, gram))
    return value, 4.0 * (H @ gram - AH)
