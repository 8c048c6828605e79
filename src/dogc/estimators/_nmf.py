"""Clustering by non-negative factors of the features or of the graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import maxabs_scale

from .. import _checks
from .._caller import warn_caller
from ..fitting.fixed_graph import FixedGraph, GraphSettings
from ..fitting.repeatable import generator
from ..loop.watch import Watch
from ..numerics import affinity, discrete, eigen, symnmf
from ..numerics.matrix import Matrix
from ._fixed import EmbeddingClusterer, merged_components

# The thin factor, the norm of what is left, the iterations, and whether the last one settled.
Factored = tuple[np.ndarray, float, int, bool]


@dataclass(kw_only=True, eq=False, repr=False)
class NMFClustering(EmbeddingClusterer):
    r"""Clustering by non-negative matrix factorisation.

    Use it when you want non-negative degrees of membership (``embedding_``) beside the labels.

    .. math:: \min_{W \ge 0} \|D^{-1/2} A D^{-1/2} - W W^\top\|_F^2
              \qquad \text{or} \qquad \min_{W \ge 0, H \ge 0} \|X - W H\|_F^2

    The similarity graph or the features are factored. Labels come from the rows of W.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    source : {"graph", "features"}, default="graph"
        What is factored: the normalised similarity graph, or the features, shifted and scaled
        to [0, 1] column by column.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller. With representatives, the number that each row is linked to; None means 8.
    affinity : {"neighbors", "full", "precomputed"}, default="neighbors"
        The graph that ``source="graph"`` factors. Its kernel also labels new rows. See
        :class:`NormalizedCut`.
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`. With representatives, "local" is half the
        mean distance of a row to those that it is linked to.
    assign_labels : {"kmeans", "argmax"}, default="kmeans"
        Labels by k-means on the rows of W, or by the largest entry of each row.
    n_init : int or "auto", default="auto"
        "auto" is deterministic: the factors start from singular vectors (features) or from a
        rotation of the eigenvectors (graph). With fewer features than clusters they start from a
        fixed seed. A number gives that many random starts, and the lowest error is kept.
    max_iter : int, default=500
        Maximum number of iterations of a factorisation.
    tol : float, default=1e-4
        Relative tolerance of a factorisation.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts. No effect with ``n_init="auto"``.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph A. With representatives, the graph of representatives.
    embedding_ : array of shape (n_samples, n_clusters)
        The non-negative factor W.
    n_representatives_ : int or None
        Number of representatives; None if every row is a node of the graph. It can be slightly
        smaller than requested, because empty cells are dropped.
    resolutions_ : :class:`~dogc.results.ResolutionChoice` or None
        The numbers of representatives that were tried and the agreement of their clusters. Its
        ``confirmed`` is the agreement of the chosen clusters with those of the next resolution.
    representatives_ : array of shape (n_representatives, n_features) or None
        The representatives: means of rows that lie close together, in the units of X.
    representative_weights_ : array of shape (n_representatives,) or None
        Approximate number (or total weight) of the rows that each represents. A row is shared among
        the representatives that it is linked to.
    representative_labels_ : int array of shape (n_representatives,) or None
        Cluster of each representative.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.
    reconstruction_err_ : float
        Frobenius norm of the residual.
    n_iter_ : int
        Iterations of the best factorisation.

    References
    ----------
    T. Li, C. Ding, "The relationships among various nonnegative matrix factorization methods
    for clustering", ICDM 2006. D. Kuang, C. Ding, H. Park, "Symmetric nonnegative matrix
    factorization for graph clustering", SDM 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import NMFClustering
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> labels = NMFClustering(n_clusters=2).fit_predict(X)
    >>> (labels == y).mean() in (0.0, 1.0)
    True
    """

    _discretisers = ("kmeans", "argmax")

    source: str = "graph"
    n_representatives: int | str | None = "auto"
    affinity: str = "neighbors"
    max_iter: int = 500
    tol: float = 1e-4
    device: str = "auto"

    @property
    def _phase(self) -> str:  # type: ignore[override]
        return "features" if self.source == "features" else "rows"

    def _check(self, settings: GraphSettings) -> None:
        super()._check(settings)
        source = _checks.check_choice("source", self.source, ("features", "graph"))
        _checks.check_count("max_iter", self.max_iter, 1)
        _checks.check_weight("tol", self.tol)
        if source == "features" and settings.kind == "precomputed":
            raise ValueError(
                "affinity='precomputed' gives no features to factor; set source='graph'."
            )

    def _fit(self, X: Any, watch: Watch) -> None:
        self.reconstruction_err_, self.n_iter_ = super()._fit(X, watch)

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, tuple[float, int]]:
        factors = feature_factors if self.source == "features" else graph_factors
        n_init = _checks.check_count("n_init", self.n_init, words=("auto",))
        rng = generator(self.random_state)
        starts = [None] if n_init is None else [rng] * n_init
        found = [factors(fixed, c, start, self.max_iter, self.tol) for start in starts]
        W, error, n_iter, settled = min(found, key=lambda made: made[1])
        if not settled:
            warn_caller(
                f"NMFClustering reached max_iter={self.max_iter} before its factors settled; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        return W, (error, n_iter)


def unit_interval(X: Matrix) -> Matrix:
    """Columns shifted and scaled to [0, 1]; constant ones become 0."""
    X = X.astype(np.float64)
    if not sp.issparse(X):
        X = X - X.min(axis=0)
        reach = X.max(axis=0)
        return X / np.where(reach > 0, reach, 1.0)
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            "X is sparse and has negative entries, which source='features' would have to shift; "
            "pass X.toarray(), or set source='graph'."
        )
    return maxabs_scale(X)


def feature_factors(
    fixed: FixedGraph, c: int, rng: np.random.Generator | None, max_iter: int, tol: float
) -> Factored:
    """The features as W H, from a start that follows from them or from a random one."""
    X = unit_interval(fixed.scaled.X)
    first = "nndsvda" if rng is None and c <= min(X.shape) else "random"
    seed = 0 if rng is None else int(rng.integers(2**31 - 1))
    model = NMF(c, init=first, max_iter=max_iter, tol=tol, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W = model.fit_transform(X)
    # Only the product W H is determined: columns are made comparable by giving H unit rows.
    W = W * np.linalg.norm(model.components_, axis=1)
    return W, float(model.reconstruction_err_), model.n_iter_, model.n_iter_ < max_iter


def graph_factors(
    fixed: FixedGraph, c: int, rng: np.random.Generator | None, max_iter: int, tol: float
) -> Factored:
    """The normalised graph as W W', from its eigenvectors or from a random start."""
    L, root = affinity.normalised_laplacian(fixed.A)
    n = L.shape[0]
    if rng is None:
        F = eigen.bottom_eigenvectors(L, c, merged_components(fixed, c), weights=root)
        start = np.abs(F @ discrete.pivoted_rotation(F))
    else:
        start = rng.random((n, c)) * np.sqrt(1.0 / n)
    A = (sp.eye_array(n) - L).tocsr()
    W, objective, settled = symnmf.symmetric_nmf(A, start, max_iter=max_iter, tol=tol)
    error = float(np.sqrt(max(objective[-1], 0.0)))
    return W, error, max(len(objective) - 1, 1), settled
