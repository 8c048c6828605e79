"""DOGC and DOGC-OS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..fitting.rule import Rule, rule_scores
from ..loop import methods
from ._base import GraphClusterer
from ._elsewhere import of_each_row


@dataclass(kw_only=True, eq=False, repr=False)
class DOGC(GraphClusterer):
    r"""Discrete optimal graph clustering.

    Use it when clusters may have any shape and you want one deterministic answer. It is the
    method to start with. It chooses the scale itself, labels new rows, and reports whether the
    learned graph has exactly ``n_clusters`` components.

    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC
    >>> DOGC(n_clusters=3).fit_predict(load_iris().data).shape
    (150,)

    The first six parameters are all that most fits need. The page "Parameters" has the thresholds
    of all.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" estimates it, and may answer 1; see ``cluster_counts_`` for the
        evidence.
    n_neighbors : int, "auto" or "wide", default="auto"
        Number of neighbours of each row. "auto" takes the one of several whose clusters are the
        most stable; see ``scales_``. "wide", a fifth of the rows, is for tables with categories
        (see :class:`~dogc.MixedEncoder`).
    metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default="euclidean"
        Distance between rows. "cosine" compares directions and suits text and embeddings. With
        "precomputed", X is a sparse graph of distances as made by
        ``KNeighborsTransformer(mode="distance", n_neighbors=n_neighbors + 1)``.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    outlier_label : int or None, default=None
        A negative number that marks outliers in ``labels_`` and in ``predict``. None gives them the
        label of the nearest cluster. See ``outliers_``.
    max_time : float or None, default=None
        Time limit of ``fit`` in seconds; it then returns the best result so far. Ctrl-C has the
        same effect; a second Ctrl-C raises KeyboardInterrupt.

    Other Parameters
    ----------------
    geometry : {"auto", "given", "standard", "within", "principal"}, default="auto"
        The linear map of the columns before distances are computed: none, division by the standard
        deviation, also whitening within clusters, or leading principal directions. "auto" takes the
        one whose clusters are the most stable; see ``geometries_``.
    min_cluster_size : int or "auto", default="auto"
        Minimum number of rows in a cluster; smaller components are joined to their nearest
        neighbour. With 1 every component counts, as in the paper.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection; "auto"
        learns one if few principal components stand out from pure noise.
    init : {"auto", "spectral", "modularity", "random"} or array of labels, default="auto"
        The start. "auto" takes "spectral" or "modularity", whichever changes less with the number
        of neighbours; see ``starts_``. An array gives the initial labels.
    n_init : int, default=1
        Number of starts with ``init="random"``. The result with the lowest objective is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts. Everything else is deterministic.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        The iteration stops when the relative change of the objective is below this value.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.
    neighbors_algorithm : str or transformer, default="auto"
        The neighbour search. "auto", "brute" and "kd_tree" are exact, "pynndescent" is approximate,
        and a transformer such as ``KNeighborsTransformer`` is one's own. See ``neighbors_recall_``.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration. A true return value stops
        the run.
    candidates : {"nearest", "all"}, default="nearest"
        The rows that each row may be joined to: its ``n_neighbors`` nearest, or all others, as
        `eq:7` has it, in n_samples^2 numbers. No effect with representatives.
    merge_copies : bool, default=True
        Whether equal rows are one node of the graph, so that labels do not depend on the order of
        rows. No effect with representatives.
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one value for each row (`eq:24`), or their mean
        for all rows (`eq:25`). No effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components. A number is kept fixed.
    alpha : float, default=1e-3
        Weight of the agreement between continuous and discrete labels, the paper's :math:`\alpha`.
        It is raised where the solution would drift from its start.
    penalties : {"relative", "paper"}, default="relative"
        Units of alpha, beta and gamma: "relative" ones, in which a value has the same effect for
        every n, d and scale of X, or those of `eq:26`.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_ : list of :class:`~dogc.results.CountEvidence`
        With ``n_clusters="auto"``, the evidence for each number of clusters; otherwise empty. The
        first entry is the chosen number. The others are sorted by score, except that the third is
        one more or one less than the first.
    n_neighbors_ : int
        Number of neighbours.
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
    scales_ : :class:`~dogc.results.ScaleChoice`
        The numbers of neighbours that were tried and the agreement of their clusters.
    geometry_ : str
        The chosen geometry: "given", "standard", "within" or "principal".
    geometries_ : dict of str to :class:`~dogc.results.ScaleChoice`
        For each geometry that was tried, the agreement over the numbers of neighbours.
    init_ : str
        The start that was taken: "spectral", "modularity", "random" or "labels".
    starts_ : dict of str to :class:`~dogc.results.ScaleChoice` or ``ResolutionChoice``
        For each start that was tried, the agreement over the numbers of neighbours, in the chosen
        geometry, or of representatives. The second start is not tried if the first is stable.
    neighbors_recall_ : float or None
        Share of the true neighbours that the search found, measured on 200 rows. 1 for an exact
        search, None for a precomputed graph.
    timings_ : dict
        Seconds spent in each phase: rows, choices (of "auto" parameters on a sample, with many
        rows), neighbours or links, start, iterations.
    evidence_ : :class:`~dogc.results.Evidence`
        Evidence that the clusters are there: ``verdict`` is "clear", "plausible", "doubtful" or
        "none". Computed when it is first asked for, in about a second.
    exemplars_ : int array of shape (n_clusters, 5) or None
        Numbers of the rows nearest to the middle of each cluster, among the half with the highest
        membership; -1 where a cluster has fewer. None for rows that are not in the memory of the
        process, and for a precomputed graph.
    label_agreement_ : float
        Share of ``labels_`` that ``predict`` reproduces on the fitted rows, without marked
        outliers. ``fit`` warns if it is below 0.95.
    membership_ : array of shape (n_samples,)
        Membership of each row in its own cluster, from 0 to 1: the share of the weight of its
        neighbours, in the graph of the data before learning. With representatives, the share of
        the weight of its links. For outlier scores above 3, it decreases towards
        1 / n_clusters. It is not a probability.
    outlier_scores_ : array of shape (n_samples,)
        Mean distance of a row to its 20 nearest neighbours, divided by the median of the same
        quantity over the 45 rows around it. About 1 inside a cluster. With representatives: mean
        distance to the 8 nearest representatives, and the median over these 8.
    outliers_ : bool array of shape (n_samples,)
        True for rows with an outlier score above 3, and for rows in a component too small to be a
        cluster (with representatives: rows linked mostly to such a component).
    similarity_matrix_ : sparse array of shape (n_samples, n_samples)
        The learned graph S. Each row holds the weights of its neighbours, which sum to one. A
        duplicate row points to its first occurrence; a row of weight zero has no neighbours. With
        representatives, the graph of representatives.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The symmetric graph :math:`(S + S^\top)/2` on distinct rows; a duplicate is linked to its
        first occurrence. With representatives it is the graph of representatives, of shape
        (n_representatives, n_representatives). Use it with ``representatives_`` and
        ``representative_labels_``, or fit with ``n_representatives=None`` to get the graph of all
        rows.
    embedding_ : array of shape (n_samples, n_clusters)
        Continuous labels F. Columns are orthonormal over distinct rows. With representatives, of
        shape (n_representatives, n_clusters).
    rotation_ : array of shape (n_clusters, n_clusters)
        The rotation Q from continuous to discrete labels.
    components_ : array of shape (n_components, n_features) or None
        The linear map from the features to the space where rows are compared: the map of
        ``geometry_`` followed by the projection :math:`W^\top`. None if both are the identity.
    n_iter_ : int
        Number of iterations.
    history_ : list of :class:`~dogc.results.Record`
        One record for each iteration: objective by term, lambda, number of components, labels
        changed.
    converged_ : bool
        True if the run settled with exactly n_clusters components (or at a fixed lambda).
    stopping_reason_ : str
        One of the keys of ``dogc.results.STOPPING_REASONS``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    See Also
    --------
    DOGCOS : Adds a regression that labels new rows with one matrix product.
    PCAN : The same graph and projection without discrete labels.

    Notes
    -----
    It learns a similarity graph S with exactly c components, a projection W, continuous labels
    F, a rotation Q and discrete labels Y together (`eq:7`):

    .. math::

        \min_{S,F,W,Q,Y} \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F Q\|_F^2

    with rows of S on the probability simplex, :math:`F^\top F = I_c`,
    :math:`Q^\top Q = I_c`, :math:`W^\top W = I_m` and one 1 in each row of Y. A new row is
    labelled by solving the same row problem against the fitted rows.

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

    method = methods.DOGC

    geometry: str = "auto"
    n_components: int | str | None = "auto"
    alpha: float = 1e-3
    penalties: str = "relative"
    n_init: int = 1


@dataclass(kw_only=True, eq=False, repr=False)
class RegressingDOGC(DOGC):
    """Base of DOGC-OS and its ablations."""

    beta: float = 0.1
    gamma: float = 1e-2
    p: float = 1.0
    fit_intercept: bool = True


@dataclass(kw_only=True, eq=False, repr=False)
class DOGCOS(RegressingDOGC):
    r"""DOGC with a robust regression that labels new rows (DOGC-OS).

    Use it instead of :class:`DOGC` when many new rows must be labelled, when you want to know
    which features characterise a cluster (``coef_``), or when the model is exported to ONNX. If
    clusters are curved, no linear rule follows them: set ``rule="auto"``.

    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCOS
    >>> DOGCOS(n_clusters=3).fit(load_iris().data).predict([[5.0, 3.4, 1.5, 0.2]]).shape
    (1,)

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" estimates it, and may answer 1; see ``cluster_counts_`` for the
        evidence.
    rule : {"logistic", "paper", "auto"}, default="logistic"
        How new rows are labelled: by a logistic regression on ``labels_``, by the paper's P, or
        with "auto" by neighbours where clusters are too curved for a linear rule. See ``rule_``.
    n_neighbors : int, "auto" or "wide", default="auto"
        Number of neighbours of each row. "auto" takes the one of several whose clusters are the
        most stable; see ``scales_``. "wide", a fifth of the rows, is for tables with categories
        (see :class:`~dogc.MixedEncoder`).
    metric : {"euclidean", "cosine", "manhattan"}, default="euclidean"
        Distance between rows. "cosine" compares directions and suits text and embeddings, also in
        the regression. The regression needs features, so "precomputed" raises an error.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    outlier_label : int or None, default=None
        A negative number that marks outliers in ``labels_`` and in ``predict``. None gives them the
        label of the nearest cluster. See ``outliers_``.
    max_time : float or None, default=None
        Time limit of ``fit`` in seconds; it then returns the best result so far. Ctrl-C has the
        same effect; a second Ctrl-C raises KeyboardInterrupt.

    Other Parameters
    ----------------
    geometry : {"auto", "given", "standard", "within", "principal"}, default="auto"
        The linear map of the columns before distances are computed: none, division by the standard
        deviation, also whitening within clusters, or leading principal directions. "auto" takes the
        one whose clusters are the most stable; see ``geometries_``.
    min_cluster_size : int or "auto", default="auto"
        Minimum number of rows in a cluster; smaller components are joined to their nearest
        neighbour. With 1 every component counts, as in the paper.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection; "auto"
        learns one if few principal components stand out from pure noise.
    init : {"auto", "spectral", "modularity", "random"} or array of labels, default="auto"
        The start. "auto" takes "spectral" or "modularity", whichever changes less with the number
        of neighbours; see ``starts_``. An array gives the initial labels.
    n_init : int, default=1
        Number of starts with ``init="random"``. The result with the lowest objective is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts. Everything else is deterministic.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        The iteration stops when the relative change of the objective is below this value.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.
    neighbors_algorithm : str or transformer, default="auto"
        The neighbour search. "auto", "brute" and "kd_tree" are exact, "pynndescent" is approximate,
        and a transformer such as ``KNeighborsTransformer`` is one's own. See ``neighbors_recall_``.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration. A true return value stops
        the run.
    candidates : {"nearest", "all"}, default="nearest"
        The rows that each row may be joined to: its ``n_neighbors`` nearest, or all others, as
        `eq:7` has it, in n_samples^2 numbers. No effect with representatives.
    merge_copies : bool, default=True
        Whether equal rows are one node of the graph, so that labels do not depend on the order of
        rows. No effect with representatives.
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one value for each row (`eq:24`), or their mean
        for all rows (`eq:25`). No effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components. A number is kept fixed.
    alpha : float, default=1e-3
        Weight of the agreement between continuous and discrete labels, the paper's :math:`\alpha`.
        It is raised where the solution would drift from its start.
    beta : float, default=0.1
        Weight of the regression, the paper's :math:`\beta`, relative to ``alpha`` for one row. With
        1, graph and regression have equal influence on the label of a row.
    gamma : float, default=1e-2
        Ridge penalty on P, the paper's :math:`\gamma`, in units of the mean scatter of a feature.
    p : float, default=1.0
        Power of the l2,p loss, from 1e-6 to 2. Below 2, rows with large residuals count less.
    fit_intercept : bool, default=True
        Whether the regression has an intercept. `eq:27` has none.
    penalties : {"relative", "paper"}, default="relative"
        Units of alpha, beta and gamma: "relative" ones, in which a value has the same effect for
        every n, d and scale of X, or those of `eq:26`.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_ : list of :class:`~dogc.results.CountEvidence`
        With ``n_clusters="auto"``, the evidence for each number of clusters; otherwise empty. The
        first entry is the chosen number. The others are sorted by score, except that the third is
        one more or one less than the first.
    n_neighbors_ : int
        Number of neighbours.
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
    scales_ : :class:`~dogc.results.ScaleChoice`
        The numbers of neighbours that were tried and the agreement of their clusters.
    geometry_ : str
        The chosen geometry: "given", "standard", "within" or "principal".
    geometries_ : dict of str to :class:`~dogc.results.ScaleChoice`
        For each geometry that was tried, the agreement over the numbers of neighbours.
    init_ : str
        The start that was taken: "spectral", "modularity", "random" or "labels".
    starts_ : dict of str to :class:`~dogc.results.ScaleChoice` or ``ResolutionChoice``
        For each start that was tried, the agreement over the numbers of neighbours, in the chosen
        geometry, or of representatives. The second start is not tried if the first is stable.
    neighbors_recall_ : float or None
        Share of the true neighbours that the search found, measured on 200 rows. 1 for an exact
        search, None for a precomputed graph.
    timings_ : dict
        Seconds spent in each phase: rows, choices (of "auto" parameters on a sample, with many
        rows), neighbours or links, start, iterations.
    evidence_ : :class:`~dogc.results.Evidence`
        Evidence that the clusters are there: ``verdict`` is "clear", "plausible", "doubtful" or
        "none". Computed when it is first asked for, in about a second.
    exemplars_ : int array of shape (n_clusters, 5) or None
        Numbers of the rows nearest to the middle of each cluster, among the half with the highest
        membership; -1 where a cluster has fewer. None for rows that are not in the memory of the
        process, and for a precomputed graph.
    label_agreement_ : float
        Share of ``labels_`` that ``predict`` reproduces on the fitted rows, without marked
        outliers. ``fit`` warns if it is below 0.95.
    membership_ : array of shape (n_samples,)
        Membership of each row in its own cluster, from 0 to 1: the share of the weight of its
        neighbours, in the graph of the data before learning. With representatives, the share of
        the weight of its links. For outlier scores above 3, it decreases towards
        1 / n_clusters. It is not a probability.
    outlier_scores_ : array of shape (n_samples,)
        Mean distance of a row to its 20 nearest neighbours, divided by the median of the same
        quantity over the 45 rows around it. About 1 inside a cluster. With representatives: mean
        distance to the 8 nearest representatives, and the median over these 8.
    outliers_ : bool array of shape (n_samples,)
        True for rows with an outlier score above 3, and for rows in a component too small to be a
        cluster (with representatives: rows linked mostly to such a component).
    similarity_matrix_ : sparse array of shape (n_samples, n_samples)
        The learned graph S. Each row holds the weights of its neighbours, which sum to one. A
        duplicate row points to its first occurrence; a row of weight zero has no neighbours. With
        representatives, the graph of representatives.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The symmetric graph :math:`(S + S^\top)/2` on distinct rows; a duplicate is linked to its
        first occurrence. With representatives it is the graph of representatives, of shape
        (n_representatives, n_representatives). Use it with ``representatives_`` and
        ``representative_labels_``, or fit with ``n_representatives=None`` to get the graph of all
        rows.
    embedding_ : array of shape (n_samples, n_clusters)
        Continuous labels F. Columns are orthonormal over distinct rows. With representatives, of
        shape (n_representatives, n_clusters).
    rotation_ : array of shape (n_clusters, n_clusters)
        The rotation Q from continuous to discrete labels.
    components_ : array of shape (n_components, n_features) or None
        The linear map from the features to the space where rows are compared: the map of
        ``geometry_`` followed by the projection :math:`W^\top`. None if both are the identity.
    rule_ : str
        The rule that labels new rows: "logistic", "paper" or "neighbors".
    coef_ : array of shape (n_clusters, n_features)
        Coefficients of the linear rule; with "paper" :math:`P^\top`. Not available if ``rule_`` is
        "neighbors".
    intercept_ : array of shape (n_clusters,)
        Intercept of the linear rule.
    n_iter_ : int
        Number of iterations.
    history_ : list of :class:`~dogc.results.Record`
        One record for each iteration: objective by term, lambda, number of components, labels
        changed.
    converged_ : bool
        True if the run settled with exactly n_clusters components (or at a fixed lambda).
    stopping_reason_ : str
        One of the keys of ``dogc.results.STOPPING_REASONS``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    See Also
    --------
    DOGC : Without the regression; new rows follow their neighbours.

    Notes
    -----
    It adds to the objective of :class:`DOGC` (`eq:26`)

    .. math:: \beta \Big( \sum_i \|y_i - x_i P - b\|_2^p + \gamma \|P\|_F^2 \Big)

    so that labels agree with the graph and can be predicted from the features. New rows are
    labelled by a linear rule that is fitted to the labels. With ``rule="paper"`` the label is the
    largest entry of :math:`x P + b`.

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

    method = methods.DOGC_OS

    rule: str = "logistic"

    @available_if(lambda model: getattr(model, "rule_", "paper") != "neighbors")
    @of_each_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each cluster for each row: ``X coef_.T + intercept_``.

        Not available if ``rule_`` is "neighbors".

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : array of shape (n_samples, n_clusters)
            The label is the column with the largest score.
        """
        return rule_scores(X, Rule(self.rule_, self.coef_, self.intercept_))

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the largest value of ``decision_function``.

        If ``rule_`` is "neighbors", they are labelled by their neighbours as in :class:`DOGC`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Labels that occur in ``labels_``. If ``outlier_label`` is set, it marks rows with an
            outlier score above 3 and rows next to a group too small to be a cluster.
        """
        return super().predict(X)
