"""Clustering with adaptive neighbours, plain and projected."""

from __future__ import annotations

from typing import Any

from ..loop import methods
from ..loop.solver import Callback
from ._base import GraphClusterer


class CAN(GraphClusterer):
    r"""Clustering with adaptive neighbours.

    Learns a graph with exactly c components (`eq:4`); they are the clusters.

    .. math::

        \min_{S,F} \sum_{i,j} \|x_i - x_j\|^2 s_{ij} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F)

    with rows of S on the probability simplex and :math:`F^\top F = I_c`.

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
    n_neighbors : int or "auto", default="auto"
        Candidate neighbours of each row, the paper's :math:`k`; below n_samples. "auto" looks at
        the clusters of the data's own graph with 5, 10, 20 and 45 neighbours (up to half of the
        rows and the size of an average cluster) and takes the number whose clusters agree most
        with the others. See ``scales_``. With representatives, those that each row is linked
        with; "auto" means 8. Without them, beyond 3,000 distinct rows, a sample of 2,000 decides.
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one for each row (`eq:24`), or their mean for
        all rows (`eq:25`). With one for each row dense regions feel :math:`\lambda` first: thin,
        dense clusters break before touching ones part. Without effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components; a number is kept fixed.
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
        Without effect: nothing is left to chance. Here so that this clusterer can be called like
        the others that learn a graph.
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
    components_ : None
        No projection is learned.
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
        device: str = "auto",
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
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback


class PCAN(CAN):
    r"""Projected clustering with adaptive neighbours.

    :class:`CAN` with distances measured in a subspace that is learned along:

    .. math::

        \min_{S,F,W} \sum_{i,j} \frac{\|W^\top x_i - W^\top x_j\|^2 s_{ij}}
        {\operatorname{Tr}(W^\top X^\top H X W)} + \xi_i s_{ij}^2
        + 2 \lambda \operatorname{Tr}(F^\top L_S F)

    with :math:`W^\top W = I_m`.

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
    xi : {"row", "mean"}, default="mean"
        The regulariser :math:`\xi` of the graph: one for each row (`eq:24`), or their mean for
        all rows (`eq:25`). With one for each row dense regions feel :math:`\lambda` first: thin,
        dense clusters break before touching ones part. Without effect with representatives.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components; a number is kept fixed.
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
        Without effect: nothing is left to chance. Here so that this clusterer can be called like
        the others that learn a graph.
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
        device: str = "auto",
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
            device=device,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.n_components = n_components
