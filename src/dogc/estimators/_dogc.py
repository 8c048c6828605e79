"""DOGC and DOGC-OS."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..loop import methods
from ..loop.solver import Callback
from ..loop.state import State
from ..loop.watch import Watch
from ..numerics import graph
from ..numerics.matrix import Matrix
from ..rows import labelling
from ..rows.distinct import DistinctRows
from ..rows.passes import in_chunks
from ..rows.repeatable import single_blas_thread
from ..rows.representatives import ManyRows, Representatives
from ..rows.settings import Settings
from ._base import GraphClusterer
from ._elsewhere import of_each_row
from ._regressing import RegressingDOGC
from ._rule import Learned, in_features, logistic_rule, rule_scores, sampled_rows, softmax
from ._warnings import REPEATED


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

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters, the paper's :math:`c`. "auto" takes the number whose clusters were
        easiest to cut out of the data's own graphs, compared with what it takes to cut them in two;
        1 is a possible answer, and a fifth of n_samples or 60 the largest (fewer than four distinct
        rows are a cluster each). Beyond 2,000 distinct rows a sample of that many decides. See
        ``cluster_counts_``.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives that the graph is learned on; rows follow those that they are
        linked with. "auto" is None up to 3,000 distinct rows (and for sparse X of more than 2,000
        columns); above, it tries 125, 250, 500, ..., 4,000 on a sample until two in a row
        give the same clusters, see ``resolutions_``. None, like any number that is not below the
        number of distinct rows, makes every row a node of the graph.
    geometry : {"auto", "given", "standard", "within"}, default="auto"
        The linear map of the columns before rows are compared. "given" takes them as they are;
        "standard" divides each by its standard deviation; "within" also whitens them by the
        scatter within clusters, those of a first solution, so that long clusters become round.
        "auto" takes "given" if the numbers of neighbours agree there (best score 0.98); if not, it
        tries "within" as well ("standard" with fewer than d (d + 1) / 2 distinct rows) and takes
        the one with the higher best score. It is "given" where a column has at most n_clusters
        values, for sparse X, with an integer for ``n_components`` and with
        ``penalties="paper"``. Beyond 3,000 distinct rows a sample of 2,000 decides. See
        ``geometries_``.
    n_neighbors : int or "auto", default="auto"
        Candidate neighbours of each row, the paper's :math:`k`; below n_samples. "auto" looks at
        the clusters of the data's own graph with 5, 10, 20 and 45 neighbours (up to half of the
        rows and the size of an average cluster) and takes the number whose clusters agree most
        with the others. See ``scales_``. With representatives, those that each row is linked
        with; "auto" means 8. Without them, beyond 3,000 distinct rows, a sample of 2,000 decides.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection.
        "auto" counts the principal directions that stand out from noise, if all others look like
        pure noise; then neighbours are looked up in the leading 2 m + 2 directions and W chooses
        m of them. Otherwise, and for sparse X, it is None.
    alpha : float, default=1e-3
        How strongly discrete and continuous labels pull on each other, the paper's
        :math:`\alpha`. In units of :math:`\lambda \sqrt{c/n}` (see ``penalties``). Where no
        :math:`\lambda` gives n_clusters components, or where the solution leaves its spectral
        start without cutting far less, it is raised a hundredfold (not with
        ``penalties="paper"``).
    penalties : {"relative", "paper"}, default="relative"
        Units of alpha, beta and gamma: "relative" as described with each, so that they mean
        the same at every n, d and scale of X; "paper" takes them as `eq:26` prints them.
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one for each row (`eq:24`), or their mean for
        all rows (`eq:25`). With one for each row dense regions feel :math:`\lambda` first: thin,
        dense clusters break before touching ones part. Without effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components; a number is kept fixed.
    init : {"spectral", "random"} or array of shape (n_samples,), default="spectral"
        Start of labels and rotation. "spectral" involves no chance; an array gives the labels
        to start from and must use exactly n_clusters values.
    n_init : int, default=1
        Number of starts with ``init="random"``; the lowest objective wins.
    max_iter : int, default=100
        Most iterations of a run.
    tol : float, default=1e-4
        Relative change of the objective below which a run has settled.
    min_cluster_size : int or "auto", default="auto"
        Rows that a component must have to count as a cluster; smaller ones are tied to their
        nearest. "auto" is a tenth of n_samples / n_clusters; 1 counts every component, as the
        paper does.
    outlier_label : int or None, default=None
        A negative number marks outliers, in ``labels_`` and in ``predict``, instead of a cluster's
        label. See ``outliers_``.
    metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default="euclidean"
        How far rows are apart. "cosine" compares directions, as suits text and embeddings: rows are
        brought to length one first. "manhattan" sums absolute differences. With "precomputed" X is
        a sparse graph of distances, as ``KNeighborsTransformer(mode="distance",
        n_neighbors=n_neighbors + 1)`` makes it. All but "euclidean" take the columns as given, and
        the last two learn no projection.
    neighbors_algorithm : str or transformer, default="auto"
        How neighbours are searched. "auto", "brute" and "kd_tree" are exact, as in
        ``NearestNeighbors``; "pynndescent" is approximate and needs that package. A transformer
        with the interface of ``KNeighborsTransformer`` is fitted on the centred and scaled rows.
        See ``neighbors_recall_``. Without effect with representatives.
    max_time : float or None, default=None
        Seconds that ``fit`` may take once its input is checked. Where they are over it ends with
        what it has: choices by what was tried, a rough start, the last iteration. Some things are
        always done: passes over the rows to draw a sample and to label them, a block of the
        neighbour search, one iteration. Ctrl-C does the same at once; a second one is raised.
    n_jobs : int, default=None
        Threads of the neighbour search and, where there are many rows, of the work on them.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the work on many rows is done. "auto" is where X is: a torch tensor on a GPU is
        clustered there. "cuda" streams X to the GPU in blocks, "cpu" brings it to memory. Labels
        come in the kind of X, where X is.
    random_state : int, RandomState, Generator or None, default=None
        Draws the random starts; nothing else is left to chance.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration; a true return value
        stops the run.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row; clusters are numbered by falling size.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_ : list of :class:`~dogc.results.CountEvidence`
        With ``n_clusters="auto"``, what speaks for each number; else empty. The first was taken.
        The others follow by score, but the third is one more or one less than the first.
    n_neighbors_ : int
        Number of neighbours.
    n_representatives_ : int or None
        Number of representatives; None if every row is a node of the graph. It may be a little
        below what was asked for: cells that lose all their rows are left out.
    resolutions_ : :class:`~dogc.results.ResolutionChoice` or None
        The numbers of representatives that were tried and how far their clusters agree. Its
        ``confirmed`` says how far those that were taken can be trusted.
    representatives_ : array of shape (n_representatives, n_features) or None
        The representatives: means of rows that lie close together, in the units of X.
    representative_weights_ : array of shape (n_representatives,) or None
        About how many rows, or how much of their weight, each stands for: a row is shared among
        those that it is linked with.
    representative_labels_ : int array of shape (n_representatives,) or None
        Cluster of each.
    scales_ : :class:`~dogc.results.ScaleChoice`
        The numbers of neighbours that were tried and how far their clusters agree.
    geometry_ : str
        The geometry that was taken: "given", "standard" or "within".
    geometries_ : dict of str to :class:`~dogc.results.ScaleChoice`
        How far the numbers of neighbours agree in each geometry that was tried.
    neighbors_recall_ : float or None
        Share of true neighbours among those found, measured on 200 rows; 1 for an exact search,
        None for a precomputed graph.
    timings_ : dict
        Seconds spent on each phase: rows, choices (of what is "auto", on a sample, where there
        are many rows), neighbours or links, start, iterations.
    label_agreement_ : float
        Share of ``labels_`` that ``predict`` repeats on the fitted rows, outliers that are marked
        left out. Below 0.95 ``fit`` warns.
    confidence_ : array of shape (n_samples,)
        How sure each label is: the weight that a row's neighbours in its own cluster have among all
        its neighbours, in the graph of the data before anything was learned. With
        representatives, the share of its label among those that the row is linked with. The larger
        the outlier score of a row is above 3, the nearer this is to 1 / n_clusters.
    outlier_scores_ : array of shape (n_samples,)
        The mean distance of each row to its 20 nearest neighbours, divided by the median of the
        same over the 45 rows around it: about 1 inside a cluster. With representatives, the mean
        distance to the 8 nearest of them, and the median over these.
    outliers_ : bool array of shape (n_samples,)
        Rows with an outlier score above 3, and rows whose component was too small to be a cluster
        (with representatives, those that are mostly linked with such a component).
    similarity_matrix_ : sparse array of shape (n_samples, n_samples)
        S itself: weights of each row on its neighbours, which sum to one. A copy leads to its
        first appearance; a row that counts for nothing leads nowhere. With representatives, theirs.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph :math:`(S + S^\top)/2` on distinct rows; a copy is tied to its first
        appearance. With representatives it is their graph, of shape (n_representatives,
        n_representatives), and there is none of the rows: use ``representatives_`` and
        ``representative_labels_`` with it, or fit with ``n_representatives=None``.
    embedding_ : array of shape (n_samples, n_clusters)
        Continuous labels F, with orthonormal columns over distinct rows; of shape
        (n_representatives, n_clusters) with representatives.
    rotation_ : array of shape (n_clusters, n_clusters)
        The rotation Q from continuous to discrete labels.
    components_ : array of shape (n_components, n_features) or None
        The linear map from the features to where rows are compared: the projection
        :math:`W^\top` after the stretching of ``geometry_``. None where there is neither.
    n_iter_ : int
        Iterations that ran.
    history_ : list of :class:`~dogc.results.Record`
        Objective by term, lambda, components and labels changed, for each iteration.
    converged_ : bool
        Whether the run settled with exactly n_clusters components (or at a fixed lambda).
    stopping_reason_ : str
        One of the keys of ``dogc.results.STOPPING_REASONS``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X has names that are all strings.

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
        device: str = "auto",
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
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback


def _is_linear(model: DOGCOS) -> bool:
    """Whether new rows are labelled by a matrix product."""
    return getattr(model, "rule_", "paper") != "neighbors"


class DOGCOS(RegressingDOGC):
    r"""DOGC with a robust regression that labels new rows (DOGC-OS).

    Adds to the objective of :class:`DOGC` (`eq:26`)

    .. math:: \beta \Big( \sum_i \|y_i - x_i P - b\|_2^p + \gamma \|P\|_F^2 \Big)

    so that labels agree with the graph and can be read off the features. New rows are labelled
    by a linear rule that is fitted to the labels; ``rule="paper"`` takes the largest entry of
    :math:`x P + b` instead.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters, the paper's :math:`c`. "auto" takes the number whose clusters were
        easiest to cut out of the data's own graphs, compared with what it takes to cut them in two;
        1 is a possible answer, and a fifth of n_samples or 60 the largest (fewer than four distinct
        rows are a cluster each). Beyond 2,000 distinct rows a sample of that many decides. See
        ``cluster_counts_``.
    rule : {"logistic", "paper", "auto"}, default="logistic"
        What labels new rows. "logistic" is a logistic regression fitted to ``labels_`` on columns
        of one deviation; "paper" is the paper's P, which can contradict ``labels_`` and depends on
        the units of the columns. "auto" is "logistic" if that repeats 95 % of ``labels_``; if not,
        as with curved clusters, new rows follow their neighbours as in :class:`DOGC`. See ``rule_``
        and ``label_agreement_``.
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives that the graph is learned on; rows follow those that they are
        linked with. "auto" is None up to 3,000 distinct rows (and for sparse X of more than 2,000
        columns); above, it tries 125, 250, 500, ..., 4,000 on a sample until two in a row
        give the same clusters, see ``resolutions_``. None, like any number that is not below the
        number of distinct rows, makes every row a node of the graph.
    geometry : {"auto", "given", "standard", "within"}, default="auto"
        The linear map of the columns before rows are compared. "given" takes them as they are;
        "standard" divides each by its standard deviation; "within" also whitens them by the
        scatter within clusters, those of a first solution, so that long clusters become round.
        "auto" takes "given" if the numbers of neighbours agree there (best score 0.98); if not, it
        tries "within" as well ("standard" with fewer than d (d + 1) / 2 distinct rows) and takes
        the one with the higher best score. It is "given" where a column has at most n_clusters
        values, for sparse X, with an integer for ``n_components`` and with
        ``penalties="paper"``. Beyond 3,000 distinct rows a sample of 2,000 decides. See
        ``geometries_``.
    n_neighbors : int or "auto", default="auto"
        Candidate neighbours of each row, the paper's :math:`k`; below n_samples. "auto" looks at
        the clusters of the data's own graph with 5, 10, 20 and 45 neighbours (up to half of the
        rows and the size of an average cluster) and takes the number whose clusters agree most
        with the others. See ``scales_``. With representatives, those that each row is linked
        with; "auto" means 8. Without them, beyond 3,000 distinct rows, a sample of 2,000 decides.
    n_components : int, "auto" or None, default="auto"
        Dimension of the learned subspace, the paper's :math:`m`. None learns no projection.
        "auto" counts the principal directions that stand out from noise, if all others look like
        pure noise; then neighbours are looked up in the leading 2 m + 2 directions and W chooses
        m of them. Otherwise, and for sparse X, it is None.
    alpha : float, default=1e-3
        How strongly discrete and continuous labels pull on each other, the paper's
        :math:`\alpha`. In units of :math:`\lambda \sqrt{c/n}` (see ``penalties``). Where no
        :math:`\lambda` gives n_clusters components, or where the solution leaves its spectral
        start without cutting far less, it is raised a hundredfold (not with
        ``penalties="paper"``).
    beta : float, default=0.1
        Weight of the regression, the paper's :math:`\beta`. In units of what ``alpha`` gives
        one row: at 1 graph and regression have an equal say in a row's label.
    gamma : float, default=1e-2
        Ridge penalty on P, the paper's :math:`\gamma`. In units of the mean scatter of a
        feature.
    p : float, default=1.0
        Power of the l2,p loss, from 1e-6 to 2. Below 2 rows that fit badly count for less.
    fit_intercept : bool, default=True
        Whether the regression has an intercept. `eq:27` prints none.
    penalties : {"relative", "paper"}, default="relative"
        Units of alpha, beta and gamma: "relative" as described with each, so that they mean
        the same at every n, d and scale of X; "paper" takes them as `eq:26` prints them.
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one for each row (`eq:24`), or their mean for
        all rows (`eq:25`). With one for each row dense regions feel :math:`\lambda` first: thin,
        dense clusters break before touching ones part. Without effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components; a number is kept fixed.
    init : {"spectral", "random"} or array of shape (n_samples,), default="spectral"
        Start of labels and rotation. "spectral" involves no chance; an array gives the labels
        to start from and must use exactly n_clusters values.
    n_init : int, default=1
        Number of starts with ``init="random"``; the lowest objective wins.
    max_iter : int, default=100
        Most iterations of a run.
    tol : float, default=1e-4
        Relative change of the objective below which a run has settled.
    min_cluster_size : int or "auto", default="auto"
        Rows that a component must have to count as a cluster; smaller ones are tied to their
        nearest. "auto" is a tenth of n_samples / n_clusters; 1 counts every component, as the
        paper does.
    outlier_label : int or None, default=None
        A negative number marks outliers, in ``labels_`` and in ``predict``, instead of a cluster's
        label. See ``outliers_``.
    metric : {"euclidean", "cosine", "manhattan"}, default="euclidean"
        How far rows are apart. "cosine" compares directions, as suits text and embeddings: rows are
        brought to length one first, also for the regression. "manhattan" sums absolute differences.
        The regression needs features, so "precomputed" is refused.
    neighbors_algorithm : str or transformer, default="auto"
        How neighbours are searched. "auto", "brute" and "kd_tree" are exact, as in
        ``NearestNeighbors``; "pynndescent" is approximate and needs that package. A transformer
        with the interface of ``KNeighborsTransformer`` is fitted on the centred and scaled rows.
        See ``neighbors_recall_``. Without effect with representatives.
    max_time : float or None, default=None
        Seconds that ``fit`` may take once its input is checked. Where they are over it ends with
        what it has: choices by what was tried, a rough start, the last iteration. Some things are
        always done: passes over the rows to draw a sample and to label them, a block of the
        neighbour search, one iteration. Ctrl-C does the same at once; a second one is raised.
    n_jobs : int, default=None
        Threads of the neighbour search and, where there are many rows, of the work on them.
        Results do not depend on it.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the work on many rows is done. "auto" is where X is: a torch tensor on a GPU is
        clustered there. "cuda" streams X to the GPU in blocks, "cpu" brings it to memory. Labels
        come in the kind of X, where X is.
    random_state : int, RandomState, Generator or None, default=None
        Draws the random starts; nothing else is left to chance.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration; a true return value
        stops the run.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row; clusters are numbered by falling size.
    n_clusters_ : int
        Number of clusters.
    cluster_counts_ : list of :class:`~dogc.results.CountEvidence`
        With ``n_clusters="auto"``, what speaks for each number; else empty. The first was taken.
        The others follow by score, but the third is one more or one less than the first.
    n_neighbors_ : int
        Number of neighbours.
    n_representatives_ : int or None
        Number of representatives; None if every row is a node of the graph. It may be a little
        below what was asked for: cells that lose all their rows are left out.
    resolutions_ : :class:`~dogc.results.ResolutionChoice` or None
        The numbers of representatives that were tried and how far their clusters agree. Its
        ``confirmed`` says how far those that were taken can be trusted.
    representatives_ : array of shape (n_representatives, n_features) or None
        The representatives: means of rows that lie close together, in the units of X.
    representative_weights_ : array of shape (n_representatives,) or None
        About how many rows, or how much of their weight, each stands for: a row is shared among
        those that it is linked with.
    representative_labels_ : int array of shape (n_representatives,) or None
        Cluster of each.
    scales_ : :class:`~dogc.results.ScaleChoice`
        The numbers of neighbours that were tried and how far their clusters agree.
    geometry_ : str
        The geometry that was taken: "given", "standard" or "within".
    geometries_ : dict of str to :class:`~dogc.results.ScaleChoice`
        How far the numbers of neighbours agree in each geometry that was tried.
    neighbors_recall_ : float or None
        Share of true neighbours among those found, measured on 200 rows; 1 for an exact search,
        None for a precomputed graph.
    timings_ : dict
        Seconds spent on each phase: rows, choices (of what is "auto", on a sample, where there
        are many rows), neighbours or links, start, iterations.
    label_agreement_ : float
        Share of ``labels_`` that ``predict`` repeats on the fitted rows, outliers that are marked
        left out. Below 0.95 ``fit`` warns.
    confidence_ : array of shape (n_samples,)
        How sure each label is: the weight that a row's neighbours in its own cluster have among all
        its neighbours, in the graph of the data before anything was learned. With
        representatives, the share of its label among those that the row is linked with. The larger
        the outlier score of a row is above 3, the nearer this is to 1 / n_clusters.
    outlier_scores_ : array of shape (n_samples,)
        The mean distance of each row to its 20 nearest neighbours, divided by the median of the
        same over the 45 rows around it: about 1 inside a cluster. With representatives, the mean
        distance to the 8 nearest of them, and the median over these.
    outliers_ : bool array of shape (n_samples,)
        Rows with an outlier score above 3, and rows whose component was too small to be a cluster
        (with representatives, those that are mostly linked with such a component).
    similarity_matrix_ : sparse array of shape (n_samples, n_samples)
        S itself: weights of each row on its neighbours, which sum to one. A copy leads to its
        first appearance; a row that counts for nothing leads nowhere. With representatives, theirs.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph :math:`(S + S^\top)/2` on distinct rows; a copy is tied to its first
        appearance. With representatives it is their graph, of shape (n_representatives,
        n_representatives), and there is none of the rows: use ``representatives_`` and
        ``representative_labels_`` with it, or fit with ``n_representatives=None``.
    embedding_ : array of shape (n_samples, n_clusters)
        Continuous labels F, with orthonormal columns over distinct rows; of shape
        (n_representatives, n_clusters) with representatives.
    rotation_ : array of shape (n_clusters, n_clusters)
        The rotation Q from continuous to discrete labels.
    components_ : array of shape (n_components, n_features) or None
        The linear map from the features to where rows are compared: the projection
        :math:`W^\top` after the stretching of ``geometry_``. None where there is neither.
    rule_ : str
        What labels new rows: "logistic", "paper" or "neighbors".
    coef_ : array of shape (n_clusters, n_features)
        The linear rule, with "paper" :math:`P^\top`. Not there if ``rule_`` is "neighbors".
    intercept_ : array of shape (n_clusters,)
        Its intercept.
    n_iter_ : int
        Iterations that ran.
    history_ : list of :class:`~dogc.results.Record`
        Objective by term, lambda, components and labels changed, for each iteration.
    converged_ : bool
        Whether the run settled with exactly n_clusters components (or at a fixed lambda).
    stopping_reason_ : str
        One of the keys of ``dogc.results.STOPPING_REASONS``.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X has names that are all strings.

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
        device: str = "auto",
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
            device=device,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.rule = rule

    def _assign_rule(self, learned: Learned, settings: Settings, watch: Watch) -> None:
        self.rule_ = "logistic" if settings.rule == "auto" else settings.rule
        if self.rule_ == "paper":
            old_name = np.argsort(learned.new_name)
            P, intercept = learned.state.P[:, old_name], learned.state.intercept[old_name]
        else:
            P, intercept = logistic_rule(learned, watch.end.is_near)
        shifted = self.rule_ == "logistic" or settings.fit_intercept
        coef, intercept = in_features(P, intercept, learned.scaled, shifted)
        self.coef_ = np.ascontiguousarray(coef.astype(learned.dtype))
        self.intercept_ = intercept.astype(learned.dtype)

    def _assign_rule_on(
        self,
        many: ManyRows,
        fitted: Representatives,
        state: State,
        new_name: np.ndarray,
        settings: Settings,
        watch: Watch,
    ) -> None:
        """The rule by the rows of the sample: the same model, wherever the rows are."""
        X, weight, n_jobs = many.sample.X, many.sample.weight, settings.lookup.n_jobs
        learned = sampled_rows(fitted, many, state, new_name, many.rows.dtype, n_jobs)
        self._assign_rule(learned, settings, watch)
        self._judge_rule(X, labelling.new_labels(fitted, X, n_jobs), weight)

    def _judge_on_rows(self, X: Matrix, rows: DistinctRows) -> None:
        first, size = rows.first, rows.size
        if self.outlier_label is not None:
            inside = ~self.outliers_[first]
            first, size = first[inside], size[inside]
        self._judge_rule(X[first], self.labels_[first], size)

    def _judge_rule(self, X: Matrix, labels: np.ndarray, weight: np.ndarray) -> None:
        """How far the rule repeats the labels; with ``rule="auto"`` neighbours step in."""
        agreement = 1.0
        if len(labels):
            agreement = float(np.average(self._labels_of(X) == labels, weights=weight))
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
    @of_each_row(width="n_clusters_", by="coef_")
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
