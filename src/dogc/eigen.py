r"""Bottom eigenvectors of large symmetric operators: a sparse part less a low-rank part.

.. math:: \min_{F^\top F = I} \operatorname{Tr}(F^\top (A - V V^\top) F)

The Laplacian methods have V = 0. What is known of the null space, above all the component
indicators of a Laplacian, is kept out of the eigensolver, which then never sees a
repeated zero eigenvalue.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from . import multigrid
from .arrays import Matrix, norm_bound
from .products import RowParts
from .subspaces import Spans

# Up to this many rows a sparse factorisation is instant, and it is the most robust way
# to small eigenvalues; above, a block solver is tried first.
FACTORISE_UP_TO = 3000

# Extra vectors in the block solver's block: they let the wanted ones converge faster.
GUARD_VECTORS = 2

# Iterations of the block solver, and over how many of them its pace is told.
ITERATIONS, PACE = 300, 20
# What residuals must be beside the first eigenvalue that is not wanted; what they may be where
# that costs little.
PRECISION = 1e-3
PRECISE = 1e-9
# What no residual must be below, in units of the largest weight: rounding, with room.
ROUGH_FLOOR, FLOOR = 1e-8, 1e-11

# The sizes of the balls that tell how a factor would grow, and the most entries it may have.
PILOTS = (1000, 2000)
FILL = 3e7


def null_space(
    member: np.ndarray, n_components: int, weights: np.ndarray | None = None
) -> np.ndarray:
    r"""Orthonormal basis of a Laplacian's null space: the scaled component indicators.

    Parameters
    ----------
    member : int array of shape (n,), the component of each row.
    weights : array of shape (n,), positive: what a null vector looks like inside a
        component. Constant (None) for :math:`D - A`, :math:`\sqrt{d_i}` for the normalised
        Laplacian.

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
    weights = np.ones(len(member)) if weights is None else weights
    N = np.zeros((len(member), n_components))
    lengths = np.sqrt(np.bincount(member, weights=weights**2, minlength=n_components))
    N[np.arange(len(member)), member] = weights / lengths[member]
    return N


def bottom_eigenvectors(
    L: Matrix,
    c: int,
    member: np.ndarray,
    guess: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    threads: int = 1,
    hierarchy: multigrid.Hierarchy | None = None,
) -> np.ndarray:
    r"""Orthonormal F that minimises :math:`\operatorname{Tr}(F^\top L F)` for a Laplacian L.

    The null space is taken in closed form. With c or more components there is nothing left
    to solve: the c largest components are returned.

    Parameters
    ----------
    L : sparse array of shape (n, n)
    c : number of columns of F, at most n.
    member : int array of shape (n,), the component of each row.
    guess : array of shape (n, c) to start the block solver from, such as the last F; None
        starts it from fixed pseudo-random vectors.
    weights : as in :func:`null_space`.
    threads : for the products with L, where it is large.
    hierarchy : smaller versions of a matrix like L, where they are known already.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> F = bottom_eigenvectors(path, 2, np.zeros(3, dtype=int))
    >>> np.round(F.T @ path @ F, 6).diagonal()
    array([0., 1.])
    """
    sizes = np.bincount(member)
    N = null_space(member, len(sizes), weights)
    if len(sizes) >= c:
        return N[:, np.sort(np.argsort(-sizes, kind="stable")[:c])]
    return smallest_eigenvectors(L, c, N, guess=guess, threads=threads, hierarchy=hierarchy)


def smallest_eigenvectors(
    A: Matrix,
    c: int,
    N: np.ndarray,
    *,
    V: np.ndarray | None = None,
    guess: np.ndarray | None = None,
    threads: int = 1,
    hierarchy: multigrid.Hierarchy | None = None,
) -> np.ndarray:
    r"""Orthonormal F that minimises :math:`\operatorname{Tr}(F^\top (A - V V^\top) F)`.

    The operator must have no negative eigenvalue. It is applied, never formed.

    Parameters
    ----------
    A : symmetric sparse array of shape (n, n)
    c : number of columns of F, at most n.
    N : array of shape (n, q) with q <= c, orthonormal: known null vectors of the operator.
        They become the first columns of F.
    V : array of shape (n, r); None for no low-rank part.
    guess, threads, hierarchy : as in :func:`bottom_eigenvectors`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A, V = sp.csr_array(np.diag([3.0, 1.0, 2.0])), np.array([[1.5], [0.0], [0.0]])
    >>> np.abs(smallest_eigenvectors(A, 1, np.empty((3, 0)), V=V)).round(6).ravel()
    array([1., 0., 0.])
    """
    n = A.shape[0]
    V = np.empty((n, 0)) if V is None else V
    wanted = c - N.shape[1]
    if wanted == 0:
        return N
    unit = norm_bound(A) or 1.0
    A, V = A * (1.0 / unit), V / np.sqrt(unit)  # no power of a huge or tiny number later on
    # F or A itself is of the order of n x n here, so a dense solve costs no more room. (All
    # eigenvectors: LAPACK's search for some of them can fail where they crowd.)
    crowded = A.nnz > 0.25 * n * n and n <= FACTORISE_UP_TO
    if n <= 5 * (c + GUARD_VECTORS) + 20 or crowded:
        _, vectors = np.linalg.eigh(A.toarray() - V @ V.T + (2.0 * N) @ N.T)
        rest = vectors[:, :wanted]
    else:
        with RowParts(A, threads) as parts:
            rest = _smallest(_Operator(A, V, parts), N, wanted, guess, hierarchy)
    F, _ = np.linalg.qr(np.hstack([N, rest]))
    return F


class _Operator(NamedTuple):
    """A - V V', with no eigenvalue above 1 in size."""

    A: Matrix
    V: np.ndarray
    parts: RowParts

    def __matmul__(self, B: np.ndarray) -> np.ndarray:
        product = self.parts @ B
        return product - self.V @ (self.V.T @ B) if self.V.shape[1] else product


class _Inverse:
    """(A + shift I - V V')^-1 by a sparse factorisation and Woodbury's identity."""

    def __init__(self, operator: _Operator, shift: float):
        _, r = operator.V.shape
        self.factor = _factorise(operator.A, shift)
        self.V = operator.V
        self.AV = self.factor.solve(self.V) if r else self.V
        self.core = scipy.linalg.inv(np.eye(r) - self.V.T @ self.AV) if r else np.empty((0, 0))

    def __call__(self, B: np.ndarray) -> np.ndarray:
        solved = self.factor.solve(B)
        if not self.V.shape[1]:
            return solved
        return solved + self.AV @ (self.core @ (self.V.T @ solved))


def _factorise(A: Matrix, shift: float) -> Any:
    return splu(
        (A + shift * sp.eye_array(A.shape[0])).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _fill(A: Matrix) -> float:
    """Roughly how many entries a factor of A would have.

    A factor of flat data grows little faster than n, one of data in many dimensions like
    n^2. Two balls around one row tell which: they are factorised and the growth continued.
    """
    ball = breadth_first_order(A, A.shape[0] // 2, directed=False, return_predecessors=False)
    sizes = [min(len(ball), size) for size in PILOTS]
    small, large = (_factorise(A[ball[:m]][:, ball[:m]], multigrid.SHIFT).L.nnz for m in sizes)
    if sizes[0] == sizes[1]:
        return large * A.shape[0] / sizes[1]
    growth = np.clip(np.log(large / small) / np.log(sizes[1] / sizes[0]), 1.0, 2.0)
    return float(large * (A.shape[0] / sizes[1]) ** growth)


def _smallest(
    operator: _Operator,
    N: np.ndarray,
    wanted: int,
    guess: np.ndarray | None,
    hierarchy: multigrid.Hierarchy | None,
) -> np.ndarray:
    """The ``wanted`` bottom eigenvectors orthogonal to N.

    A block solver, because eigenvalues may repeat; preconditioned by multigrid where a
    factorisation could be large, then by the factorisation if that is not too large.
    """
    n = operator.A.shape[0]
    block = wanted + GUARD_VECTORS
    start = np.random.default_rng(0).standard_normal((n, block))
    start /= np.linalg.norm(start, axis=0)
    if n > FACTORISE_UP_TO:
        hierarchy = multigrid.coarsen(operator.A) if hierarchy is None else hierarchy
        solve = multigrid.Preconditioner(operator.parts, 1.0, hierarchy, multigrid.SHIFT)
        if guess is None:
            guess = multigrid.guess(operator.parts, hierarchy, N.shape[1] + block)
    if guess is not None:
        near = _outside(N, guess)[:, :block]
        # Not quite the guess: exact eigenvectors other than the wanted ones are a trap.
        start[:, : near.shape[1]] = near + 0.02 * start[:, : near.shape[1]]
    if n > FACTORISE_UP_TO:
        vectors = _block_solve(operator, N, start, solve, rough=True)
        if vectors is None and _fill(operator.A) > FILL:
            vectors = _block_solve(operator, N, start, solve, rough=True, patient=True)
        if vectors is not None:
            return vectors[:, :wanted]
    inverse = _Inverse(operator, multigrid.SHIFT)
    vectors = _block_solve(operator, N, start, inverse)
    if vectors is None:
        vectors = _subspace_iteration(operator, N, inverse, wanted)
    return vectors[:, :wanted]


def _outside(N: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """What of the guess lies outside the span of N: its principal directions, largest first."""
    rest = guess - N @ (N.T @ guess)
    # By way of the small Gram matrix; directions that are all but absent come out as zero.
    values, vectors = np.linalg.eigh(rest.T @ rest)
    values, vectors = values[::-1], vectors[:, ::-1]
    lengths = np.sqrt(np.maximum(values, 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 1e-6 * lengths[0])
    return rest @ (vectors * inverse)


def _block_solve(
    operator: _Operator,
    N: np.ndarray,
    start: np.ndarray,
    solve: Callable[[np.ndarray], np.ndarray],
    rough: bool = False,
    patient: bool = False,
) -> np.ndarray | None:
    """LOBPCG with the residuals checked; None when they do not fall fast enough.

    The error of the subspace is about residual over gap, so residuals must be small beside
    the first eigenvalue that is not wanted: tiny on a long thin graph. As soon as the pace
    says that all iterations together will not do, it is given up. A ``rough`` solve asks for
    no more than that, others go on to what is PRECISE as long as they get nearer. A
    ``patient`` one goes on and returns what it has, with a warning: there is no other way.
    """
    wanted = start.shape[1] - GUARD_VECTORS
    F, _ = np.linalg.qr(start - N @ (N.T @ start))
    AF = operator @ F
    values, rotation = np.linalg.eigh(F.T @ AF)
    spans = Spans(operator.__matmul__, operator.parts, F @ rotation, AF @ rotation)
    excesses = [np.inf] * PACE
    for left in reversed(range(ITERATIONS)):
        residuals = _residuals(spans, values)
        residual = float(np.linalg.norm(residuals[:, :wanted], axis=0).max())
        goal = PRECISION * abs(values[wanted]) + (ROUGH_FLOOR if rough else FLOOR)
        excesses.append(residual / (goal if rough else min(goal, PRECISE)))
        if excesses[-1] <= 1.0:
            break
        pace = (excesses[-1] / excesses[-1 - PACE]) ** (1.0 / PACE)
        if not np.isfinite(excesses[-1]) or (not patient and excesses[-1] * pace**left > 1.0):
            break
        try:
            basis, inner = spans.extend(spans.without(solve(residuals), N))
            values, coordinates = np.linalg.eigh(inner)
        except np.linalg.LinAlgError:
            return None
        values = values[: spans.b]
        spans.move_to(basis @ coordinates[:, : spans.b])
    if patient and residual > goal:
        _warn_rough(len(start), residual)
    # Rounding may stop short of what was hoped for, but not of what is needed.
    return np.ascontiguousarray(spans.F) if patient or residual <= goal else None


def _residuals(spans: Spans, values: np.ndarray) -> np.ndarray:
    F, AF = spans.F, spans.AF
    return spans.parts.fill(lambda _, rows: AF[rows] - F[rows] * values, len(values))


def _warn_rough(n: int, residual: float) -> None:
    warnings.warn(
        f"the start of the labels is rough: eigenvectors of a graph of {n} rows have residuals "
        f"of {residual:.1g}; raise n_neighbors to make the graph easier.",
        RuntimeWarning,
        stacklevel=3,
    )


def _subspace_iteration(
    operator: _Operator, N: np.ndarray, inverse: _Inverse, wanted: int
) -> np.ndarray:
    """Block inverse iteration with N kept out: slow where eigenvalues crowd, but never stuck."""
    n = operator.A.shape[0]
    block = min(2 * wanted + 8, n - N.shape[1])
    V = np.random.default_rng(0).standard_normal((n, block))
    for _ in range(1000):
        V = inverse(V - N @ (N.T @ V))
        V, _ = np.linalg.qr(V - N @ (N.T @ V))
        AV = operator @ V
        values, rotation = np.linalg.eigh(V.T @ AV)
        V, AV = V @ rotation, AV @ rotation
        residual = np.linalg.norm(AV[:, :wanted] - V[:, :wanted] * values[:wanted], axis=0)
        if residual.max() <= 1e-9:
            break
    return V
