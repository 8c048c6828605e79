"""Clustering with adaptive neighbours, plain and projected."""

from __future__ import annotations

from typing import Any

from ..loop import methods
from ..loop.solver import Callback
from ._base import GraphClusterer
from ._docs import document

_UNUSED_SEED = {
    "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Without effect: nothing is left to chance. Here so that this clusterer can be called like
    the others that learn a graph.""",
}


@document(
    lacks=("coef_", "intercept_", "rotation_"),
    parameters=_UNUSED_SEED,
    attributes={
        "components_": """\
components_ : None
    No projection is learned.""",
    },
)
class CAN(GraphClusterer):
    r"""Clustering with adaptive neighbours.

    Learns a graph with exactly c components (`eq:4`); they are the clusters.

    .. math::

        \min_{S,F} \sum_{i,j} \|x_i - x_j\|^2 s_{ij} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F)

    with rows of S on the probability simplex and :math:`F^\top F = I_c`.

    {parameters}

    References
    ----------
    F. Nie, X. Wang, H. Huang, "Clustering and projected clustering with adaptive
    neighbors", KDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import CAN
    >>> X, y = make_moons(200, noise=0.08, random_state=0)
    >>> (CAN(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    _method = methods.CAN

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_representatives: int | str | None = "auto",
        n_neighbors: int | str = "auto",
        xi: str = "mean",
        lam: float | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
        min_cluster_size: int | str = "auto",
        outlier_label: int | None = None,
        metric: str = "euclidean",
        neighbors_algorithm: Any = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.n_neighbors = n_neighbors
        self.xi = xi
        self.lam = lam
        self.max_iter = max_iter
        self.tol = tol
        self.min_cluster_size = min_cluster_size
        self.outlier_label = outlier_label
        self.metric = metric
        self.neighbors_algorithm = neighbors_algorithm
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback


@document(lacks=("coef_", "intercept_", "rotation_"), parameters=_UNUSED_SEED)
class PCAN(CAN):
    r"""Projected clustering with adaptive neighbours.

    :class:`CAN` with distances measured in a subspace that is learned along:

    .. math::

        \min_{S,F,W} \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F)

    with :math:`W^\top W = I_m`.

    {parameters}

    References
    ----------
    F. Nie, X. Wang, H. Huang, "Clustering and projected clustering with adaptive
    neighbors", KDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import PCAN
    >>> X = load_iris().data
    >>> PCAN(n_clusters=3, n_components=2).fit(X).transform(X).shape
    (150, 2)
    """

    _method = methods.PCAN

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_representatives: int | str | None = "auto",
        n_neighbors: int | str = "auto",
        n_components: int | str | None = "auto",
        xi: str = "mean",
        lam: float | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
        min_cluster_size: int | str = "auto",
        outlier_label: int | None = None,
        metric: str = "euclidean",
        neighbors_algorithm: Any = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ):
        super().__init__(
            n_clusters,
            n_representatives=n_representatives,
            n_neighbors=n_neighbors,
            xi=xi,
            lam=lam,
            max_iter=max_iter,
            tol=tol,
            min_cluster_size=min_cluster_size,
            outlier_label=outlier_label,
            metric=metric,
            neighbors_algorithm=neighbors_algorithm,
            max_time=max_time,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.n_components = n_components
