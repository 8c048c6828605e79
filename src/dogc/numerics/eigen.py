r"""Bottom eigenvectors of large symmetric operators: a sparse part less a low-rank part.

.. math:: \min_{F^\top F = I} \operatorname{Tr}(F^\top (A - V V^\top) F)

The Laplacian methods have V = 0. What is known of the null space, above all the component
indicators of a Laplacian, is kept out of the eigensolver, which then never sees a
repeated zero eigenvalue.
"""

from __future__ import annotations

import inspect

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from .._caller import warn_caller
from .matrix import Apply, Ended, Matrix, never, norm_bound

# Up to this many rows, where most of them are tied to one another, a dense solve is quick.
DENSE_UP_TO = 3000
QUICK_UP_TO = 400

# Restarts of Lanczos's method before something else is tried.
RESTARTS = 100
# What residuals are asked to be, in units of the operator's norm, and what is taken where that
# is out of reach; what they must be beside the last eigenvalue that is wanted to go unsaid.
PRECISE, ROUGH = 1e-12, 1e-4
PRECISION = 1e-3
# How exactly an eigenvalue must be known, beside the last one found, to see that it is larger.
GLANCE = 0.1
# The least shift: a matrix with a null space, divided by its norm bound, has an inverse with it.
SHIFT = 1e-6

# A graph of so many levels is thin: Lanczos's method needs many steps there, a factor is small.
THIN = 10
# The most entries that a factor may have, by a bound that is far above what thin graphs need.
FILL = 1e9

# Steps of the power method where there is no time for more.
SMOOTHINGS = 10

# Newer SciPy draws a vector where Lanczos's method has come to an end too early.
_FIXED = {"rng": 0} if "rng" in inspect.signature(eigsh).parameters else {}


class _Ended(Exception):
    """There is no more time: raised in a product, for nothing else leaves ARPACK."""


def null_space(member: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
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
    >>> null_space(np.array([0, 1, 0, 0, 0]))
    array([[0.5, 0. ],
           [0. , 1. ],
           [0.5, 0. ],
           [0.5, 0. ],
           [0.5, 0. ]])
    """
    weights = np.ones(len(member)) if weights is None else weights
    lengths = np.sqrt(np.bincount(member, weights=weights**2))
    N = np.zeros((len(member), len(lengths)))
    N[np.arange(len(member)), member] = weights / lengths[member]
    return N


def bottom_eigenvectors(
    L: Matrix, c: int, member: np.ndarray, weights: np.ndarray | None = None, ended: Ended = never
) -> np.ndarray:
    r"""Orthonormal F that minimises :math:`\operatorname{Tr}(F^\top L F)` for a Laplacian L.

    The null space is taken in closed form. With c or more components there is nothing left
    to solve: the c largest components are returned.

    Parameters
    ----------
    L : sparse array of shape (n, n)
    c : number of columns of F, at most n.
    member : int array of shape (n,), the component of each row.
    weights : as in :func:`null_space`.
    ended : as in :func:`smallest_eigenvectors`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> path = sp.csr_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    >>> F = bottom_eigenvectors(path, 2, np.zeros(3, dtype=int))
    >>> np.round(F.T @ path @ F, 6).diagonal()
    array([0., 1.])
    """
    sizes = np.bincount(member)
    N = null_space(member, weights)
    if len(sizes) >= c:
        return N[:, np.sort(np.argsort(-sizes, kind="stable")[:c])]
    return smallest_eigenvectors(L, c, N, ended=ended)


def smallest_eigenvectors(
    A: Matrix, c: int, N: np.ndarray, V: np.ndarray | None = None, ended: Ended = never
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
    ended : says whether there is no more time; a rough F is returned then.

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
    # F or A itself is of the order of n x n here, so a dense solve costs no more room; for few
    # rows it is quicker too.
    crowded = A.nnz > 0.25 * n * n and n <= DENSE_UP_TO
    if n <= QUICK_UP_TO or (not ended() and (n <= 5 * c + 30 or crowded)):
        rest = _dense_bottom(A.toarray() - V @ V.T + (2.0 * N) @ N.T, wanted)
    else:
        rest = _smallest(A, V, N, wanted, ended)
    return np.linalg.qr(np.hstack([N, rest]))[0]


def _dense_bottom(A: np.ndarray, wanted: int) -> np.ndarray:
    """Bottom eigenvectors; all are computed where LAPACK's search for some of them fails."""
    try:
        found = scipy.linalg.eigh(A, subset_by_index=(0, wanted - 1))[1]
    except np.linalg.LinAlgError:
        found = A[:, :0]
    return found if found.shape[1] == wanted else np.linalg.eigh(A)[1][:, :wanted]


def _smallest(A: Matrix, V: np.ndarray, N: np.ndarray, wanted: int, ended: Ended) -> np.ndarray:
    """The ``wanted`` bottom eigenvectors of A - VV' outside N; its norm is 1 at most."""

    def apply(b: np.ndarray) -> np.ndarray:
        return A @ b - V @ (V.T @ b)

    def flipped(b: np.ndarray) -> np.ndarray:
        return 2.0 * b - apply(b)

    # Lanczos's method of the operator, which is quick where rows fill many dimensions, or of its
    # inverse: a factorisation is small where they lie along lines or in a plane.
    depth, fill = _levels(A)
    ways = [lambda: _largest(flipped, 2.0, N, wanted, ended)]
    if fill <= FILL:
        place = 0 if depth >= THIN else 1
        ways.insert(place, lambda: _largest(_inverse(A, V, SHIFT), 0.0, N, wanted, ended))
    ways.append(lambda: _largest(flipped, 2.0, N, wanted, ended, ROUGH))
    try:
        if ended():
            raise _Ended
        vectors = next((found for way in ways if (found := way()) is not None), None)
    except _Ended:
        return _smoothed(flipped, N, wanted)
    if vectors is None:
        raise np.linalg.LinAlgError("no eigenvectors of the graph were found.")
    _check(apply, vectors)
    return vectors


def _smoothed(flipped: Apply, N: np.ndarray, wanted: int) -> np.ndarray:
    """Vectors that are smooth on the graph: a few steps of the power method from chance."""
    X = np.random.default_rng(0).standard_normal((len(N), wanted))
    for _ in range(SMOOTHINGS):
        X -= N @ (N.T @ X)
        X, _ = np.linalg.qr(flipped(X))
    return X


def _largest(
    apply: Apply, origin: float, N: np.ndarray, wanted: int, ended: Ended, tol: float = PRECISE
) -> np.ndarray | None:
    """The top eigenvectors of a positive operator outside N; None if that takes too long.

    Lanczos's method can overlook copies of a repeated eigenvalue. So a second, rough look is
    taken outside what it has found, until nothing larger is left there. What is rough depends
    on how far from ``origin`` the eigenvalues are.
    """
    values, found = np.empty(0), N
    spare = 20 if origin else 8  # eigenvalues of an inverse lie far apart

    def search(ask: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        def outside(b: np.ndarray) -> np.ndarray:
            if ended():
                raise _Ended
            b = b.ravel()
            b = apply(b - found @ (found.T @ b))
            return b - found @ (found.T @ b)

        n, known = found.shape
        # Not twice the same start: it has no part in the copies that it did not lead to.
        v0 = np.random.default_rng(known).standard_normal(n)
        operator = LinearOperator((n, n), matvec=outside, dtype=np.float64)
        ncv = min(n, ask + min(wanted, 40) + spare)
        return eigsh(operator, ask, which="LA", v0=v0, ncv=ncv, tol=tol, maxiter=RESTARTS, **_FIXED)

    def larger_left(last: float) -> bool:
        try:
            value, _ = search(1, max(tol, GLANCE * abs(last - origin) / last))
        except ArpackNoConvergence:
            return False  # what is larger would have been found as quickly as the others
        return bool(value[0] > last * (1.0 + tol))

    try:
        while len(values) < wanted or larger_left(np.sort(values)[-wanted]):
            more, vectors = search(1 if len(values) else wanted, tol)
            values, found = np.append(values, more), np.hstack([found, vectors])
    except ArpackNoConvergence:
        return None
    return found[:, N.shape[1] + np.argsort(-values, kind="stable")[:wanted]]


def _check(apply: Apply, X: np.ndarray) -> None:
    """Say so where residuals are not small beside the last eigenvalue."""
    AX = apply(X)
    values = np.einsum("ij,ij->j", X, AX)
    residual = float(np.linalg.norm(AX - X * values, axis=0).max())
    if residual > PRECISION * values.max() + 10.0 * PRECISE:
        warn_caller(
            f"the start of the labels is rough: eigenvectors of a graph of {len(X)} rows have "
            f"residuals of {residual:.1g}; raise n_neighbors to make the graph easier.",
            RuntimeWarning,
        )


def _inverse(A: Matrix, V: np.ndarray, shift: float) -> Apply:
    """(A + shift I - V V')^-1 by a sparse factorisation and Woodbury's identity."""
    r = V.shape[1]
    factor = splu(
        (A + shift * sp.eye_array(A.shape[0])).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    if not r:
        return factor.solve
    AV = factor.solve(V)
    core = scipy.linalg.inv(np.eye(r) - V.T @ AV)

    def solve(b: np.ndarray) -> np.ndarray:
        solved = factor.solve(b)
        return solved + AV @ (core @ (V.T @ solved))

    return solve


def _levels(A: Matrix) -> tuple[float, float]:
    """The depth of a search through the graph of A, and a bound on the entries of a factor.

    A row is tied to rows of its own level and of the next ones only. So a factor has twice the
    sum of the squared widths at most. The depth is that of equally wide levels.
    """
    n = A.shape[0]
    pattern = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), A.shape)
    count, member = connected_components(pattern, directed=False)
    _, first = np.unique(member, return_index=True)
    level = dijkstra(pattern, directed=False, unweighted=True, indices=first, min_only=True)
    _, widths = np.unique(n * member + level.astype(np.int64), return_counts=True)
    squares = float(np.sum(widths.astype(np.float64) ** 2))
    return n**2 / squares / count, 2.0 * squares
