"""Locality preserving projection."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import _checks
from ..fitting import distinct, fixed_graph
from ..fitting.fixed_graph import FixedGraph
from ..fitting.in_memory import RowsInMemory
from ..fitting.repeatable import single_blas_thread
from ..numerics import graph, trace_ratio
from ..numerics.matrix import Matrix
from ._elsewhere import validate_rows


@dataclass(eq=False, repr=False)
class LPP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Locality preserving projection: directions in which neighbours stay close.

    Use it as a transformer in front of another method, when PCA keeps directions of large
    variance that say nothing about neighbours.

    .. math:: X^\top L X a = \mu X^\top D X a, \qquad L = D - A

    The directions are the solutions with the smallest :math:`\mu`. Rows of X are samples. They
    are centred at their degree-weighted mean, so that the result does not depend on the origin.
    With ``center=False`` they are not centred, as in He and Niyogi. The problem is solved in the
    row space of X, so there may be more features than rows.

    Parameters
    ----------
    n_components : int, default=2
        Number of directions; at most n_features.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller.
    affinity : {"neighbors", "full"}, default="neighbors"
        The graph A: a Gaussian kernel on pairs where one row is among the ``n_neighbors`` nearest
        of the other, or on all pairs (n_samples^2 numbers).
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`.
    center : bool, default=True
        Whether rows are centred first. Without centring, the first direction is nearly constant on
        rows far from the origin, because a constant has :math:`\mu = 0`.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.
    components_ : array of shape (n_components, n_features)
        The directions, sorted by ``eigenvalues_``, smallest first. If the rows span fewer than
        n_components directions, the last ones are zero.
    eigenvalues_ : array of shape (n_components,)
        The values :math:`\mu`; NaN for zero directions.
    mean_ : array of shape (n_features,)
        Mean of the rows, weighted by their degree in the graph. It is mapped to zero. Zeros with
        ``center=False``.

    References
    ----------
    X. He, P. Niyogi, "Locality preserving projections", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import LPP
    >>> LPP(n_components=2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    affinity: str = "neighbors"
    bandwidth: float | str = "local"
    center: bool = True
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> LPP:
        """Learn the directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to learn from.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        X = validate_rows(self, X, reset=True)
        d = X.shape[1]
        m = _checks.check_count("n_components", self.n_components, 1, d, f"X has only {d} features")
        center = _checks.check_flag("center", self.center)
        given = self.get_params(deep=False)
        settings = fixed_graph.check_graph(given, X.shape[0], ("neighbors", "full"))
        fixed_graph.check_memory(RowsInMemory(X), settings, "directions", m)
        with single_blas_thread:
            fixed = fixed_graph.build_graph(distinct.sorted_rows(X)[0], settings)
            mean, components, mu = directions(fixed, m, center)
        self.mean_ = mean.astype(X.dtype)
        self.components_ = components.astype(X.dtype)
        self.eigenvalues_ = mu.astype(X.dtype)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Map rows to the learned directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to map.

        Returns
        -------
        Z : array of shape (n_samples, n_components)
            The rows, projected.
        """
        check_is_fitted(self, "components_")
        X = validate_rows(self, X, reset=False)
        with single_blas_thread:
            return np.asarray(X @ self.components_.T) - self.mean_ @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome, dtypes are kept."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def directions(
    fixed: FixedGraph, m: int, center: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, components and eigenvalues for features as the user has them.

    Components are zero and eigenvalues NaN beyond the dimension of the rows.
    """
    scaled, degree = fixed.scaled, np.asarray(fixed.A.sum(axis=1)).ravel()
    X, mean = scaled.X, np.zeros(scaled.X.shape[1])
    if center:
        space = trace_ratio.row_space(X, scaled.mean)
        centre = (degree @ space.R) / (float(degree.sum()) or 1.0)
        mean = scaled.shift + scaled.scale * (scaled.mean + space.V @ centre)
        space = space._replace(R=space.R - centre)
    else:
        # Sparse rows never were centred.
        X = X if sp.issparse(X) else X + scaled.shift / scaled.scale
        space = trace_ratio.row_space(X, mean)
    components, values = np.zeros((m, X.shape[1])), np.full(m, np.nan)
    found = min(m, space.R.shape[1])
    if found:
        a, mu = locality_projection(space.R, graph.laplacian(fixed.A), degree, found)
        components[:found], values[:found] = trace_ratio.settle_signs(space.V @ a).T, mu
    return mean, components / scaled.scale, values


def locality_projection(
    R: np.ndarray, L: Matrix, degree: np.ndarray, m: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bottom eigenpairs of :math:`R^\top L R a = \mu R^\top D R a`.

    Parameters
    ----------
    R : array of shape (n, r) of full column rank, such as row-space coordinates; with them
        both matrices are regular and it does not matter how many features there were.
    L : sparse Laplacian of shape (n, n)
    degree : array of shape (n,), the diagonal D, non-negative.
    m : number of pairs, at most r.

    Returns
    -------
    a : array of shape (r, m), with a' R'DR a = I.
    mu : array of shape (m,), ascending.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> R = np.array([[-1.0], [1.0]])
    >>> L = sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> locality_projection(R, L, np.ones(2), 1)[1]
    array([2.])
    """
    scatter = R.T @ (L @ R)
    total = R.T @ (degree[:, None] * R)
    if not total.any():
        total = R.T @ R  # no edges between rows that differ, no preference: all weigh alike
    # Rows without edges weigh nothing in D; directions that only they span are regularised, by
    # more than the rounding of sums over all rows can take away.
    floor = np.finfo(float).eps * sum(R.shape) * np.trace(total) or 1.0
    total[np.diag_indices_from(total)] += floor
    mu, a = scipy.linalg.eigh((scatter + scatter.T) / 2, total)
    return a[:, :m], mu[:m]
