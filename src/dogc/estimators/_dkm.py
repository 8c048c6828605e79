"""Discriminative k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from .. import discrete, l2p, trace_ratio
from ..arrays import Matrix
from . import _checks, _data
from ._docs import LABELS, document
from ._repeatable import generator, single_blas_thread
from ._rows import RowClusterer, reachable_clusters

# Rows that stand for all in the feature map of a non-linear kernel.
LANDMARKS = 500


@document(
    has=LABELS,
    parameters={
        "lam": """\
lam : float, default=1.0
    Regularisation :math:`\\lambda`, above 0, in units of the mean scatter of a feature. As it
    grows the method becomes plain k-means; towards 0 all directions of X count alike.""",
        "kernel": """\
kernel : {"linear", "rbf"}, default="linear"
    The kernel K. "rbf" is approximated with 500 landmarks, exact up to 500 rows.""",
        "gamma": """\
gamma : float, default=None
    The kernel :math:`\\exp(-\\gamma \\|x_i - x_j\\|^2)` of "rbf"; None means one over the number
    of features times the variance of X.""",
        "n_init": """\
n_init : int, default=10
    Number of k-means++ starts.""",
        "max_iter": """\
max_iter : int, default=300
    Most iterations of a start.""",
        "random_state": """\
random_state : int, RandomState, Generator or None, default=0
    Draws the starts, and the landmarks of a kernel.""",
    },
    attributes={
        "cluster_centers_": """\
cluster_centers_ : array of shape (n_clusters, n_components)
    Cluster means in the space where rows are compared.""",
        "inertia_": """\
inertia_ : float
    Sum of squared distances of rows to their cluster means there.""",
        "n_iter_": """\
n_iter_ : int
    Iterations of the best start.""",
    },
)
class DiscriminativeKMeans(RowClusterer):
    r"""Discriminative k-means: k-means and the discriminant subspace at once.

    .. math:: \max_{L} \operatorname{Tr}\left(L^\top
              \left(I - (I + K / \lambda)^{-1}\right) L\right)

    over scaled indicator matrices L, with K the kernel of the centred rows. For given labels
    the best discriminant subspace has a closed form; put in, it leaves kernel k-means with
    the kernel above. That kernel has the feature map
    :math:`X_c (X_c^\top X_c + \lambda I)^{-1/2}`, so each iteration of k-means there improves
    subspace and labels together and no n x n matrix is needed.

    {parameters}

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        kernel: str = "linear",
        gamma: float | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = 0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

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
        c = reachable_clusters(X, self.n_clusters)
        _checks.check_positive("lam", self.lam)
        n_init = _checks.check_count("n_init", self.n_init, 1)
        max_iter = _checks.check_count("max_iter", self.max_iter, 1)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        with single_blas_thread:
            self._scaled = _data.scale_rows(X)
            self._kernel_map = self._feature_map(self._scaled.X, seed)
            Z = self._kernel_map.fit_transform(self._scaled.X)
            self._shift, self._components = discriminant_map(Z, self.lam)
            with threadpool_limits(1):
                model = KMeans(c, n_init=n_init, max_iter=max_iter, random_state=seed)
                model.fit(self._discriminate(Z))
        order = np.argsort(discrete.size_order(model.labels_, c))
        self._assign_labels(model.labels_.astype(np.int64))
        self.cluster_centers_ = model.cluster_centers_[order].astype(X.dtype)
        self.inertia_ = float(model.inertia_)
        self.n_iter_ = model.n_iter_
        return self

    def _feature_map(self, X: Matrix, seed: int) -> Any:
        kernel = _checks.check_choice("kernel", self.kernel, ("linear", "rbf"))
        if kernel == "linear":
            return FunctionTransformer(accept_sparse=True)
        # X has total scatter one, so its variance is 1/(n d).
        gamma = X.shape[0] if self.gamma is None else self.gamma * self._scaled.scale**2
        _checks.check_positive("gamma", gamma)
        landmarks = min(LANDMARKS, X.shape[0])
        return Nystroem(gamma=gamma, n_components=landmarks, random_state=seed)

    def _discriminate(self, Z: Matrix) -> np.ndarray:
        return np.asarray(Z @ self._components.T) - self._shift

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
            X = _data.apply_scale(self._scaled, _data.same_kind(X, self._scaled.X))
            Z = self._discriminate(self._kernel_map.transform(X))
            return discrete.nearest_centre(Z, self.cluster_centers_)


def discriminant_map(Z: Matrix, lam: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Shift and components of :math:`Z_c (Z_c^\top Z_c + \lambda I)^{-1/2}`, rotated."""
    mean = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    space = trace_ratio.row_space(Z, mean)
    if not space.R.shape[1]:
        return np.zeros(1), np.zeros((1, Z.shape[1]))
    scatter = float(np.vdot(space.R, space.R)) / Z.shape[1]
    components = (space.V @ l2p.ridge_map(space.R, lam * scatter)).T
    return components @ mean, components
