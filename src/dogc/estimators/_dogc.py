"""DOGC and DOGC-OS."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..loop import methods
from ..loop.solver import Callback
from ..numerics import graph
from ..numerics.matrix import Matrix
from ..rows.labelling import in_chunks
from ..rows.repeatable import single_blas_thread
from ..rows.settings import Settings
from ._base import GraphClusterer
from ._docs import document
from ._regressing import RegressingDOGC
from ._rule import REPEATED, Learned, in_features, logistic_rule, rule_scores, softmax

REGRESSION = ("coef_", "intercept_", "rule_")
FEATURES_ONLY = {
    "metric": """\
metric : {"euclidean", "cosine", "manhattan"}, default="euclidean"
    How far rows are apart. "cosine" compares directions, as suits text and embeddings: rows are
    brought to length one first, also for the regression. "manhattan" sums absolute differences.
    The regression needs features, so "precomputed" is refused.""",
}


@document(lacks=REGRESSION)
class DOGC(GraphClusterer):
    r"""Discrete optimal graph clustering.

    Learns a similarity graph S with exactly c components, a projection W, continuous
    labels F, a rotation Q and discrete labels Y together (`eq:7`):

    .. math::

        \min_{S,F,W,Q,Y} \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F Q\|_F^2

    with rows of S on the probability simplex, :math:`F^\top F = I_c`,
    :math:`Q^\top Q = I_c`, :math:`W^\top W = I_m` and one 1 in each row of Y. New rows are
    labelled by solving the graph's own row problem against the fitted rows.

    {parameters}

    See Also
    --------
    DOGCOS : Adds a regression that labels new rows with one matrix product.
    PCAN : The same graph and projection without discrete labels.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import DOGC
    >>> X, y = make_moons(200, noise=0.08, random_state=0)
    >>> model = DOGC(n_clusters=2).fit(X)
    >>> model.converged_, (model.labels_ == y).mean() in (0.0, 1.0)
    (True, True)
    >>> bool(model.predict([[0.0, 1.0]]) != model.predict([[1.0, -0.5]]))
    True
    """

    _method = methods.DOGC

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_representatives: int | str | None = "auto",
        geometry: str = "auto",
        n_neighbors: int | str = "auto",
        n_components: int | str | None = "auto",
        alpha: float = 1e-3,
        penalties: str = "relative",
        xi: str = "mean",
        lam: float | str = "auto",
        init: Any = "spectral",
        n_init: int = 1,
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
        self.geometry = geometry
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.alpha = alpha
        self.penalties = penalties
        self.xi = xi
        self.lam = lam
        self.init = init
        self.n_init = n_init
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


def _is_linear(model: DOGCOS) -> bool:
    """Whether new rows are labelled by a matrix product."""
    return getattr(model, "rule_", "paper") != "neighbors"


@document(parameters=FEATURES_ONLY)
class DOGCOS(RegressingDOGC):
    r"""DOGC with a robust regression that labels new rows (DOGC-OS).

    Adds to the objective of :class:`DOGC` (`eq:26`)

    .. math:: \beta \Big( \sum_i \|y_i - x_i P - b\|_2^p + \gamma \|P\|_F^2 \Big)

    so that labels agree with the graph and can be read off the features. New rows are labelled
    by a linear rule that is fitted to the labels; ``rule="paper"`` takes the largest entry of
    :math:`x P + b` instead.

    {parameters}

    See Also
    --------
    DOGC : Without the regression; new rows follow their neighbours.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCOS
    >>> X = load_iris().data
    >>> model = DOGCOS(n_clusters=3).fit(X[::2])
    >>> model.predict(X[1::2]).shape, model.coef_.shape
    ((75,), (3, 4))
    """

    _method = methods.DOGC_OS

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        rule: str = "logistic",
        n_representatives: int | str | None = "auto",
        geometry: str = "auto",
        n_neighbors: int | str = "auto",
        n_components: int | str | None = "auto",
        alpha: float = 1e-3,
        beta: float = 0.1,
        gamma: float = 1e-2,
        p: float = 1.0,
        fit_intercept: bool = True,
        penalties: str = "relative",
        xi: str = "mean",
        lam: float | str = "auto",
        init: Any = "spectral",
        n_init: int = 1,
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
            geometry=geometry,
            n_neighbors=n_neighbors,
            n_components=n_components,
            alpha=alpha,
            beta=beta,
            gamma=gamma,
            p=p,
            fit_intercept=fit_intercept,
            penalties=penalties,
            xi=xi,
            lam=lam,
            init=init,
            n_init=n_init,
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
        self.rule = rule

    def _assign_rule(self, learned: Learned, settings: Settings) -> None:
        self.rule_ = "logistic" if settings.rule == "auto" else settings.rule
        if self.rule_ == "paper":
            old_name = np.argsort(learned.new_name)
            P, intercept = learned.state.P[:, old_name], learned.state.intercept[old_name]
        else:
            P, intercept = logistic_rule(learned)
        shifted = self.rule_ == "logistic" or settings.fit_intercept
        coef, intercept = in_features(P, intercept, learned.scaled, shifted)
        self.coef_ = np.ascontiguousarray(coef.astype(learned.dtype))
        self.intercept_ = intercept.astype(learned.dtype)

    def _judge_rule(self, X: Matrix, labelled: np.ndarray) -> None:
        """How far the rule repeats the labels; with ``rule="auto"`` neighbours step in."""
        if self.outlier_label is not None:
            labelled = labelled & ~self.outliers_
        same = self._labels_of(X)[labelled] == self.labels_[labelled]
        agreement = float(same.mean()) if len(same) else 1.0
        if self.rule == "auto" and agreement < REPEATED:
            self.rule_ = "neighbors"
            del self.coef_, self.intercept_
        else:
            self.label_agreement_ = agreement

    def _labels_of(self, X: Matrix) -> np.ndarray:
        if not _is_linear(self):
            return super()._labels_of(X)
        return in_chunks(lambda rows: self._scores(rows).argmax(axis=1), X)

    def _shares_of(self, X: Matrix) -> np.ndarray:
        if not _is_linear(self):
            return super()._shares_of(X)
        scores = self._scores(X)
        by_paper = getattr(self, "rule_", "paper") == "paper"
        return graph.project_rows_to_simplex(scores) if by_paper else softmax(scores)

    @available_if(_is_linear)
    def decision_function(self, X: Any) -> np.ndarray:
        """How well each cluster fits each row: ``X coef_.T + intercept_``.

        Not there with ``rule_ == "neighbors"``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : array of shape (n_samples, n_clusters)
            The largest gives the label.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            return self._scores(X)

    def predict_membership(self, X: Any) -> np.ndarray:
        """How sure the label of a new row is, by the scores of the rule.

        A row far from everything is not sure of any cluster: the larger its outlier score is
        above 3, the more even its shares are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        shares : array of shape (n_samples, n_clusters)
            At least 0; each row sums to 1: the softmax of ``decision_function``, or with
            ``rule="paper"`` the nearest point of the simplex. They say how far a row is from the
            border between clusters; they are not probabilities.
        """
        return super().predict_membership(X)

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the largest value of ``decision_function``.

        With ``rule_ == "neighbors"`` they follow their neighbours, as in :class:`DOGC`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Labels that ``fit`` produced; ``outlier_label``, where there is one, for rows with an
            outlier score above 3 and for rows of a group that is too small for a cluster.
        """
        return super().predict(X)

    def _scores(self, X: Matrix) -> np.ndarray:
        return rule_scores(X, self.coef_, self.intercept_)
