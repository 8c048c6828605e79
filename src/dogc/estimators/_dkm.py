"""Discriminative k-means."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from .. import _checks, _limits
from ..fitting import distinct, scaling
from ..fitting.in_memory import RowsInMemory
from ..fitting.repeatable import generator, in_chunks, single_blas_thread
from ..fitting.settings import SUBSET
from ..numerics import discrete, l2p, trace_ratio
from ..numerics.matrix import Matrix
from ._rows import RowClusterer, reachable_clusters

# Rows that stand for all in the feature map of a non-linear kernel.
LANDMARKS = 500


@dataclass(eq=False, repr=False)
class DiscriminativeKMeans(RowClusterer):
    r"""Discriminative k-means: k-means and the discriminant subspace at once.

    Use it instead of k-means when clusters are compact but features are correlated.

    .. math:: \max_{L} \operatorname{Tr}\left(L^\top
              \left(I - (I + K / \lambda)^{-1}\right) L\right)

    over scaled indicator matrices L, with K the kernel of the centred rows. For given labels
    the best discriminant subspace has a closed form. Inserting it leaves kernel k-means with
    the kernel above. That kernel has the feature map
    :math:`X_c (X_c^\top X_c + \lambda I)^{-1/2}`. So each iteration of k-means in this space
    improves subspace and labels together, and no n x n matrix is needed.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    lam : float, default=1.0
        Regularisation :math:`\lambda`, above 0, in units of the mean scatter of a feature (of a
        landmark, for "rbf"). Large values give ordinary k-means. Towards 0, all directions of X
        have equal weight.
    kernel : {"linear", "rbf"}, default="linear"
        The kernel K. "rbf" is approximated with 500 landmarks, exact up to 500 rows.
    gamma : float, default=None
        The kernel :math:`\exp(-\gamma \|x_i - x_j\|^2)` of "rbf"; None means one over the number
        of features times the variance of X.
    n_init : int, default=10
        Number of k-means++ starts.
    max_iter : int, default=300
        Maximum number of iterations of each start.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the starts and of the landmarks of a kernel.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.
    cluster_centers_ : array of shape (n_clusters, n_components)
        Cluster means in the space where rows are compared.
    inertia_ : float
        Sum of squared distances of rows to their cluster means there.
    n_iter_ : int
        Iterations of the best start.

    References
    ----------
    J. Ye, Z. Zhao, M. Wu, "Discriminative k-means for clustering", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DiscriminativeKMeans
    >>> X = load_iris().data
    >>> DiscriminativeKMeans(n_clusters=3).fit(X[::2]).predict(X[1::2]).shape
    (75,)
    """

    n_clusters: int = 8
    _: KW_ONLY
    lam: float = 1.0
    kernel: str = "linear"
    gamma: float | None = None
    n_init: int = 10
    max_iter: int = 300
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None) -> DiscriminativeKMeans:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._validate(X, reset=True)
        kernel = _checks.check_choice("kernel", self.kernel, ("linear", "rbf"))
        lam = _checks.check_positive("lam", self.lam)
        # One over the square of a length.
        gamma = _checks.check_positive("gamma", self.gamma, None, largest=_checks.LONGEST)
        n_init = _checks.check_count("n_init", self.n_init, 1)
        max_iter = _checks.check_count("max_iter", self.max_iter, 1)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        rows = RowsInMemory(X)
        c = reachable_clusters(rows, self.n_clusters)
        phase = "directions" if kernel == "linear" else "kernel map"
        _limits.check_phases(rows, [phase], SUBSET)
        with single_blas_thread, threadpool_limits(1):
            X, place, group = distinct.sorted_rows(X)  # starts are drawn by the place of rows
            space, Z = discriminant_space(X, kernel, gamma, lam, seed)
            model = KMeans(c, n_init=n_init, max_iter=max_iter, random_state=seed).fit(Z)
        labels = distinct.one_label_each(model.labels_.astype(np.int64), group)
        new_name = discrete.size_order(labels, c)
        self.labels_ = new_name[labels][place]
        # Clusters without rows are last and left out: predict must not give them.
        order = np.argsort(new_name)[: self.labels_.max() + 1]
        self._space = space
        self.cluster_centers_ = model.cluster_centers_[order].astype(X.dtype)
        self.inertia_ = float(model.inertia_)
        self.n_iter_ = model.n_iter_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the nearest cluster mean in the discriminant space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Only labels that ``fit`` produced.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            return in_chunks(self._nearest, X)

    def _nearest(self, X: Matrix) -> np.ndarray:
        return discrete.nearest_centre(self._space.transform(X), self.cluster_centers_)


class DiscriminantSpace(NamedTuple):
    r"""The map to :math:`Z_c (Z_c^\top Z_c + \lambda I)^{-1/2}`, up to a rotation.

    Z is X itself, or what a kernel's feature map makes of it.
    """

    scaled: scaling.Scaled
    kernel_map: Any
    shift: np.ndarray
    components: np.ndarray

    def transform(self, X: Matrix) -> np.ndarray:
        """Rows in the space where means are compared."""
        X = scaling.apply_scale(self.scaled, scaling.same_kind(X, self.scaled.X))
        with np.errstate(over="ignore"):  # rows infinitely far apart are not alike at all
            Z = self.kernel_map.transform(X)
        return np.asarray(Z @ self.components.T) - self.shift


def discriminant_space(
    X: Matrix, kernel: str, gamma: float | None, lam: float, seed: int
) -> tuple[DiscriminantSpace, np.ndarray]:
    """The space and the rows of X in it."""
    scaled = scaling.scale_rows(X)
    n = X.shape[0]
    if kernel == "linear":
        kernel_map, n_features = FunctionTransformer(accept_sparse=True), scaled.n_varying
    else:
        n_features = min(LANDMARKS, n)
        # X has total scatter one, so its variance is 1/(n d).
        width = float(n) if gamma is None else gamma * scaled.scale * scaled.scale
        width = min(max(width, 1.0 / _checks.LARGEST), _checks.LARGEST)  # all or no rows are alike
        kernel_map = Nystroem(gamma=width, n_components=n_features, random_state=seed)
    Z = kernel_map.fit_transform(scaled.X)
    mean = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    space = trace_ratio.row_space(Z, mean)
    if not space.R.shape[1]:  # all rows alike
        shift, components = np.zeros(1), np.zeros((1, Z.shape[1]))
    else:
        unit = float(np.vdot(space.R, space.R)) / max(n_features, 1)
        components = (space.V @ l2p.ridge_map(space.R, lam * unit)).T
        shift = components @ mean
    found = DiscriminantSpace(scaled, kernel_map, shift, components)
    return found, np.asarray(Z @ components.T) - shift
