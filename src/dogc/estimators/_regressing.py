"""The ablations of DOGC-OS."""

from __future__ import annotations

from ..loop import methods
from ._dogc import RegressingDOGC


class DOGCRelaxed(RegressingDOGC):
    r"""DOGC-I, the ablation of DOGC-OS without discrete labels.

    Use it to measure what discrete labels contribute; use :class:`DOGCOS` to cluster data.

    It minimises the objective of :class:`DOGCOS` with a real matrix Y instead of an indicator:

    .. math::

        \begin{aligned}
        \min_{S,F,W,P,Y} {} & \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2 \\
        & {} + 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F\|_F^2
        + \beta \left(\|Y - X P\|_{2,p} + \gamma \|P\|_F^2\right)
        \end{aligned}

    Such a Y absorbs every rotation, so Q is the identity. Discrete labels come from k-means
    on the rows of Y (ten starts, fixed seed). New rows are labelled by their neighbours.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" estimates it, and may answer 1; see ``cluster_counts_`` for the
        evidence.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    geometry : {"auto", "given", "standard", "within", "principal"}, default="auto"
        The linear map of the columns before distances are computed: none, division by the standard
        deviation, also whitening within clusters, or leading principal directions. "auto" takes the
        one whose clusters are the most stable; see ``geometries_``.
    n_neighbors : int, "auto" or "wide", default="auto"
        Number of neighbours of each row. "auto" takes the one of several whose clusters are the
        most stable; see ``scales_``. "wide", a fifth of the rows, is for tables with categories
        (see :class:`~dogc.MixedEncoder`).
    candidates : {"nearest", "all"}, default="nearest"
        The rows that each row may be joined to: its ``n_neighbors`` nearest, or all others, as
        `eq:7` has it, in n_samples^2 numbers. No effect with representatives.
    merge_copies : bool, default=True
        Whether equal rows are one node of the graph, so that labels do not depend on the order of
        rows. No effect with representatives.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection; "auto"
        learns one if few principal components stand out from pure noise.
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
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one value for each row (`eq:24`), or their mean
        for all rows (`eq:25`). No effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components. A number is kept fixed.
    init : {"auto", "spectral", "modularity", "random"} or array of labels, default="auto"
        The start. "spectral" rotates the eigenvectors of the neighbour graph to labels.
        "modularity" takes the partition of that graph into n_clusters clusters with the highest
        modularity, and multiplies alpha by 100 so that these labels hold. "auto" takes the start
        whose labels change less with the number of neighbours (of representatives, where there are
        any); see ``starts_``. With ``penalties="paper"``, a number for ``lam``, or an alpha below
        1e-3, which holds no labels, that is "spectral". An array gives the initial labels and must
        contain exactly n_clusters distinct values. A continuous Y starts at F, so "random" is
        "spectral".
    n_init : int, default=1
        No effect.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        The iteration stops when the relative change of the objective is below this value.
    min_cluster_size : int or "auto", default="auto"
        Minimum number of rows in a cluster; smaller components are joined to their nearest
        neighbour. With 1 every component counts, as in the paper.
    outlier_label : int or None, default=None
        A negative number that marks outliers in ``labels_`` and in ``predict``. None gives them the
        label of the nearest cluster. See ``outliers_``.
    metric : {"euclidean", "cosine", "manhattan"}, default="euclidean"
        Distance between rows. "cosine" compares directions and suits text and embeddings, also in
        the regression. The regression needs features, so "precomputed" raises an error.
    neighbors_algorithm : str or transformer, default="auto"
        The neighbour search. "auto", "brute" and "kd_tree" are exact, "pynndescent" is approximate,
        and a transformer such as ``KNeighborsTransformer`` is one's own. See ``neighbors_recall_``.
    max_time : float or None, default=None
        Time limit of ``fit`` in seconds; it then returns the best result so far. Ctrl-C has the
        same effect; a second Ctrl-C raises KeyboardInterrupt.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.
    random_state : int, RandomState, Generator or None, default=None
        No effect.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration. A true return value stops
        the run.

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
    DOGCOS : The full method.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCRelaxed
    >>> DOGCRelaxed(n_clusters=3).fit_predict(load_iris().data).shape
    (150,)
    """

    method = methods.DOGC_RELAXED


class DOGCFixedGraph(RegressingDOGC):
    r"""DOGC-II, the ablation of DOGC-OS without graph learning.

    Use it to measure what the learned graph contributes, or when learning splits off parts of a
    sparse cluster. Otherwise use :class:`DOGCOS`.

    .. math::

        \min_{F,W,Q,P,Y} 2 \lambda \operatorname{Tr}(F^\top L_S F) + \alpha \|Y - F Q\|_F^2
        + \beta \left(\|Y - X P\|_{2,p} + \gamma \|P\|_F^2\right)

    S is fixed: it is the neighbour graph of the data, `eq:10` at :math:`\lambda = 0`. The other
    variables are learned as in :class:`DOGCOS` at one fixed lambda. New rows are labelled by
    their neighbours.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" estimates it, and may answer 1; see ``cluster_counts_`` for the
        evidence.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    geometry : {"auto", "given", "standard", "within", "principal"}, default="auto"
        The linear map of the columns before distances are computed: none, division by the standard
        deviation, also whitening within clusters, or leading principal directions. "auto" takes the
        one whose clusters are the most stable; see ``geometries_``.
    n_neighbors : int, "auto" or "wide", default="auto"
        Number of neighbours of each row. "auto" takes the one of several whose clusters are the
        most stable; see ``scales_``. "wide", a fifth of the rows, is for tables with categories
        (see :class:`~dogc.MixedEncoder`).
    candidates : {"nearest", "all"}, default="nearest"
        The rows that each row may be joined to: its ``n_neighbors`` nearest, or all others, as
        `eq:7` has it, in n_samples^2 numbers. No effect with representatives.
    merge_copies : bool, default=True
        Whether equal rows are one node of the graph, so that labels do not depend on the order of
        rows. No effect with representatives.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection; "auto"
        learns one if few principal components stand out from pure noise.
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
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one value for each row (`eq:24`), or their mean
        for all rows (`eq:25`). No effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`, fixed. "auto" takes the value at which :class:`DOGCOS` starts
        its search.
    init : {"auto", "spectral", "modularity", "random"} or array of labels, default="auto"
        The start. "auto" takes "spectral" or "modularity", whichever changes less with the number
        of neighbours; see ``starts_``. An array gives the initial labels.
    n_init : int, default=1
        Number of starts with ``init="random"``. The result with the lowest objective is kept.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        The iteration stops when the relative change of the objective is below this value.
    min_cluster_size : int or "auto", default="auto"
        Minimum number of rows in a cluster; smaller components are joined to their nearest
        neighbour. With 1 every component counts, as in the paper.
    outlier_label : int or None, default=None
        A negative number that marks outliers in ``labels_`` and in ``predict``. None gives them the
        label of the nearest cluster. See ``outliers_``.
    metric : {"euclidean", "cosine", "manhattan"}, default="euclidean"
        Distance between rows. "cosine" compares directions and suits text and embeddings, also in
        the regression. The regression needs features, so "precomputed" raises an error.
    neighbors_algorithm : str or transformer, default="auto"
        The neighbour search. "auto", "brute" and "kd_tree" are exact, "pynndescent" is approximate,
        and a transformer such as ``KNeighborsTransformer`` is one's own. See ``neighbors_recall_``.
    max_time : float or None, default=None
        Time limit of ``fit`` in seconds; it then returns the best result so far. Ctrl-C has the
        same effect; a second Ctrl-C raises KeyboardInterrupt.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where passes over many rows are computed. "auto" uses the device of X, "cuda" copies X there
        block by block. Labels are of the same kind as X and on the same device.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts. Everything else is deterministic.
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration. A true return value stops
        the run.

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
    DOGCOS : The full method.

    References
    ----------
    Y. Han, L. Zhu, Z. Cheng, J. Li, X. Liu, "Discrete Optimal Graph Clustering", IEEE
    Transactions on Cybernetics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGCFixedGraph
    >>> DOGCFixedGraph(n_clusters=3).fit(load_iris().data).stopping_reason_
    'settled'
    """

    method = methods.DOGC_FIXED_GRAPH
