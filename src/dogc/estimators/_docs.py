"""The parameters that several estimators share, described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=type)

PARAMETERS = {
    "n_clusters": """\
n_clusters : int or "auto", default=8
    Number of clusters, the paper's :math:`c`. "auto" takes the number whose clusters were
    easiest to cut out of the data's own graphs, compared with what it takes to cut them in two;
    1 is a possible answer, and a fifth of n_samples or 60 the largest (fewer than four distinct
    rows are a cluster each). Beyond 2,000 distinct rows a sample of that many decides. See
    ``cluster_counts_``.""",
    "n_representatives": """\
n_representatives : int, "auto" or None, default="auto"
    Number of representatives that the graph is learned on; rows follow those that they are
    linked with. "auto" is None up to 3,000 distinct rows (and for sparse X of more than 2,000
    columns); above, it tries 125, 250, 500, ..., 4,000 on a sample until two in a row
    give the same clusters, see ``resolutions_``. None, like any number that is not below the
    number of distinct rows, makes every row a node of the graph.""",
    "geometry": """\
geometry : {"auto", "given", "standard", "within"}, default="auto"
    The linear map of the columns before rows are compared. "given" takes them as they are;
    "standard" divides each by its standard deviation; "within" also whitens them by the
    scatter within clusters, those of a first solution, so that long clusters become round.
    "auto" takes "given" if the numbers of neighbours agree there (best score 0.98); if not, it
    tries "within" as well ("standard" with fewer than d (d + 1) / 2 distinct rows) and takes
    the one with the higher best score. It is "given" where a column has at most n_clusters
    values, for sparse X, with an integer for ``n_components`` and with
    ``penalties="paper"``. Beyond 3,000 distinct rows a sample of 2,000 decides. See
    ``geometries_``.""",
    "n_neighbors": """\
n_neighbors : int or "auto", default="auto"
    Candidate neighbours of each row, the paper's :math:`k`; below n_samples. "auto" looks at
    the clusters of the data's own graph with 5, 10, 20 and 45 neighbours (up to half of the
    rows and the size of an average cluster) and takes the number whose clusters agree most
    with the others. See ``scales_``. With representatives, those that each row is linked
    with; "auto" means 8. Without them, beyond 3,000 distinct rows, a sample of 2,000 decides.""",
    "n_components": """\
n_components : int, "auto" or None, default="auto"
    Dimension of the learned subspace, the paper's :math:`m`. None learns no projection.
    "auto" counts the principal directions that stand out from noise, if all others look like
    pure noise; then neighbours are looked up in the leading 2 m + 2 directions and W chooses
    m of them. Otherwise, and for sparse X, it is None.""",
    "min_cluster_size": """\
min_cluster_size : int or "auto", default="auto"
    Rows that a component must have to count as a cluster; smaller ones are tied to their
    nearest. "auto" is a tenth of n_samples / n_clusters; 1 counts every component, as the
    paper does.""",
    "outlier_label": """\
outlier_label : int or None, default=None
    A negative number marks outliers, in ``labels_`` and in ``predict``, instead of a cluster's
    label. See ``outliers_``.""",
    "rule": """\
rule : {"logistic", "paper", "auto"}, default="logistic"
    What labels new rows. "logistic" is a logistic regression fitted to ``labels_`` on columns of
    one deviation; "paper" is the paper's P, which can contradict ``labels_`` and depends on the
    units of the columns. "auto" is "logistic" if that repeats 95 % of ``labels_``; if not, as
    with curved clusters, new rows follow their neighbours as in :class:`DOGC`. See ``rule_`` and
    ``label_agreement_``.""",
    "alpha": """\
alpha : float, default=1e-3
    How strongly discrete and continuous labels pull on each other, the paper's
    :math:`\\alpha`. In units of :math:`\\lambda \\sqrt{c/n}` (see ``penalties``). Where no
    :math:`\\lambda` gives n_clusters components, or where the solution leaves its spectral
    start without cutting far less, it is raised a hundredfold (not with
    ``penalties="paper"``).""",
    "beta": """\
beta : float, default=0.1
    Weight of the regression, the paper's :math:`\\beta`. In units of what ``alpha`` gives
    one row: at 1 graph and regression have an equal say in a row's label.""",
    "gamma": """\
gamma : float, default=1e-2
    Ridge penalty on P, the paper's :math:`\\gamma`. In units of the mean scatter of a
    feature.""",
    "p": """\
p : float, default=1.0
    Power of the l2,p loss, in (0, 2]. Below 2 rows that fit badly count for less.""",
    "fit_intercept": """\
fit_intercept : bool, default=True
    Whether the regression has an intercept. `eq:27` prints none.""",
    "penalties": """\
penalties : {"relative", "paper"}, default="relative"
    Units of alpha, beta and gamma: "relative" as described with each, so that they mean
    the same at every n, d and scale of X; "paper" takes them as `eq:26` prints them.""",
    "xi": """\
xi : {"row", "mean"}, default="mean"
    The regulariser :math:`\\xi` of the graph: one for each row (`eq:24`), or their mean for
    all rows (`eq:25`). With one for each row dense regions feel :math:`\\lambda` first: thin,
    dense clusters break before touching ones part. Without effect with representatives.""",
    "lam": """\
lam : float or "auto", default="auto"
    The paper's :math:`\\lambda`. "auto" searches for a value at which the graph has exactly
    n_clusters components; a number is kept fixed.""",
    "init": """\
init : {"spectral", "random"} or array of shape (n_samples,), default="spectral"
    Start of labels and rotation. "spectral" involves no chance; an array gives the labels
    to start from and must use exactly n_clusters values.""",
    "n_init": """\
n_init : int, default=1
    Number of starts with ``init="random"``; the lowest objective wins.""",
    "max_iter": """\
max_iter : int, default=100
    Most iterations of a run.""",
    "tol": """\
tol : float, default=1e-4
    Relative change of the objective below which a run has settled.""",
    "metric": """\
metric : {"euclidean", "cosine", "manhattan", "precomputed"}, default="euclidean"
    How far rows are apart. "cosine" compares directions, as suits text and embeddings: rows are
    brought to length one first. "manhattan" sums absolute differences. With "precomputed" X is a
    sparse graph of distances, as ``KNeighborsTransformer(mode="distance",
    n_neighbors=n_neighbors + 1)`` makes it. All but "euclidean" take the columns as given, and
    the last two learn no projection.""",
    "neighbors_algorithm": """\
neighbors_algorithm : str or transformer, default="auto"
    How neighbours are searched. "auto", "brute" and "kd_tree" are exact, as in
    ``NearestNeighbors``; "pynndescent" is approximate and needs that package. A transformer
    with the interface of ``KNeighborsTransformer`` is fitted on the centred and scaled rows.
    See ``neighbors_recall_``. Without effect with representatives.""",
    "max_time": """\
max_time : float or None, default=None
    Seconds after which ``fit`` ends with the iteration it is in, or with the scales that it
    has tried. One iteration is always done.""",
    "n_jobs": """\
n_jobs : int, default=None
    Threads of the neighbour search and, where there are many rows, of the work on them.
    Results do not depend on it.""",
    "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Draws the random starts; nothing else is left to chance.""",
    "verbose": """\
verbose : int, default=0
    1 shows a progress bar, 2 prints a line for each iteration.""",
    "callback": """\
callback : callable, default=None
    Called with the :class:`~dogc.solver.Record` of each iteration; a true return value
    stops the run.""",
}

ATTRIBUTES = {
    "labels_": """\
labels_ : int array of shape (n_samples,)
    Cluster of each row; clusters are numbered by falling size.""",
    "n_clusters_": """\
n_clusters_ : int
    Number of clusters.""",
    "cluster_counts_": """\
cluster_counts_ : list of :class:`~dogc.counting.CountEvidence`
    With ``n_clusters="auto"``, what speaks for each number; else empty. The first was taken. The
    others follow by score, but the third is one more or one less than the first.""",
    "n_neighbors_": """\
n_neighbors_ : int
    Number of neighbours.""",
    "n_representatives_": """\
n_representatives_ : int or None
    Number of representatives; None if every row is a node of the graph. It may be a little
    below what was asked for: cells that lose all their rows are left out.""",
    "resolutions_": """\
resolutions_ : :class:`~dogc.resolutions.ResolutionChoice` or None
    The numbers of representatives that were tried and how far their clusters agree. Its
    ``confirmed`` says how far those that were taken can be trusted.""",
    "representatives_": """\
representatives_ : array of shape (n_representatives, n_features) or None
    The representatives: means of rows that lie close together, in the units of X.""",
    "representative_weights_": """\
representative_weights_ : array of shape (n_representatives,) or None
    About how many rows, or how much of their weight, each stands for: a row is shared among
    those that it is linked with.""",
    "representative_labels_": """\
representative_labels_ : int array of shape (n_representatives,) or None
    Cluster of each.""",
    "scales_": """\
scales_ : :class:`~dogc.scales.ScaleChoice`
    The numbers of neighbours that were tried and how far their clusters agree.""",
    "geometry_": """\
geometry_ : str
    The geometry that was taken: "given", "standard" or "within".""",
    "geometries_": """\
geometries_ : dict of str to :class:`~dogc.scales.ScaleChoice`
    How far the numbers of neighbours agree in each geometry that was tried.""",
    "neighbors_recall_": """\
neighbors_recall_ : float or None
    Share of true neighbours among those found, measured on 200 rows; 1 for an exact search,
    None for a precomputed graph.""",
    "timings_": """\
timings_ : dict
    Seconds spent on each phase: rows, choices (of what is "auto", on a sample, where there
    are many rows), neighbours or links, start, iterations.""",
    "label_agreement_": """\
label_agreement_ : float
    Share of ``labels_`` that ``predict`` repeats on the fitted rows, outliers that are marked
    left out. Below 0.95 ``fit`` warns.""",
    "confidence_": """\
confidence_ : array of shape (n_samples,)
    How sure each label is: the weight that a row's neighbours in its own cluster have among all
    its neighbours, in the graph of the data before anything was learned. With
    representatives, the share of its label among those that the row is linked with. The larger
    the outlier score of a row is above 3, the nearer this is to 1 / n_clusters.""",
    "outlier_scores_": """\
outlier_scores_ : array of shape (n_samples,)
    The mean distance of each row to its 20 nearest neighbours, divided by the median of the same
    over the 45 rows around it: about 1 inside a cluster. With representatives, the mean
    distance to the 8 nearest of them, and the median over these.""",
    "outliers_": """\
outliers_ : bool array of shape (n_samples,)
    Rows with an outlier score above 3, and rows whose component was too small to be a cluster
    (with representatives, those that are mostly linked with such a component).""",
    "affinity_matrix_": """\
affinity_matrix_ : sparse array of shape (n_samples, n_samples)
    The graph :math:`(S + S^\\top)/2` on distinct rows; a copy is tied to its first
    appearance. With representatives it is their graph, of shape (n_representatives,
    n_representatives), and there is none of the rows: use ``representatives_`` and
    ``representative_labels_`` with it, or fit with ``n_representatives=None``.""",
    "embedding_": """\
embedding_ : array of shape (n_samples, n_clusters)
    Continuous labels F, with orthonormal columns over distinct rows; of shape
    (n_representatives, n_clusters) with representatives.""",
    "rotation_": """\
rotation_ : array of shape (n_clusters, n_clusters)
    The rotation Q from continuous to discrete labels.""",
    "components_": """\
components_ : array of shape (n_components, n_features) or None
    The linear map from the features to where rows are compared: the projection
    :math:`W^\\top` after the stretching of ``geometry_``. None where there is neither.""",
    "rule_": """\
rule_ : str
    What labels new rows: "logistic", "paper" or "neighbors".""",
    "coef_": """\
coef_ : array of shape (n_clusters, n_features)
    The linear rule, with "paper" :math:`P^\\top`. Not there if ``rule_`` is "neighbors".""",
    "intercept_": """\
intercept_ : array of shape (n_clusters,)
    Its intercept.""",
    "n_iter_": """\
n_iter_ : int
    Iterations that ran.""",
    "history_": """\
history_ : list of :class:`~dogc.solver.Record`
    Objective by term, lambda, components and labels changed, for each iteration.""",
    "converged_": """\
converged_ : bool
    Whether the run settled with exactly n_clusters components (or at a fixed lambda).""",
    "stopping_reason_": """\
stopping_reason_ : str
    One of the keys of ``dogc.solver.STOPPING_REASONS``.""",
    "n_features_in_": """\
n_features_in_ : int
    Number of features seen by ``fit``.""",
    "feature_names_in_": """\
feature_names_in_ : array of shape (n_features_in_,)
    Their names, where X has names that are all strings.""",
}


# Parameters that mean something else, or something more, in the methods on a fixed graph.
FIXED_GRAPH = {
    "n_neighbors": """\
n_neighbors : int, default=None
    Neighbours that each row is joined with; below n_samples. None means 15, or
    n_samples - 1 if that is smaller. With representatives, those that each row is linked with;
    None means 8.""",
    "affinity": """\
affinity : {"neighbors", "full", "precomputed"}, default="neighbors"
    The graph A. "neighbors": a Gaussian kernel on pairs of which one is among the
    ``n_neighbors`` nearest of the other. "full": the kernel on all pairs, as in the DOGC
    paper; holds n_samples^2 numbers. "precomputed": X is the graph itself, symmetric and
    non-negative, sparse or dense; its diagonal is ignored.""",
    "bandwidth": """\
bandwidth : float or "local", default="local"
    Width of the kernel. "local" is self-tuning:
    :math:`\\exp(-\\|x_i - x_j\\|^2 / (\\sigma_i \\sigma_j))` with :math:`\\sigma_i` the distance
    from row i to its 7th nearest neighbour. A number :math:`\\sigma`, in units of X, gives
    :math:`\\exp(-\\|x_i - x_j\\|^2 / (2 \\sigma^2))`. With representatives "local" is half the
    mean distance of a row to those that it is linked with.""",
    "normalize_rows": """\
normalize_rows : bool, default=False
    Whether rows of the embedding are scaled to length one.""",
    "assign_labels": """\
assign_labels : {"kmeans", "rotation"}, default="kmeans"
    How labels are read off the embedding: by k-means, or by the nearest rotation of an
    indicator matrix (:func:`~dogc.spectral_rotation`).""",
    "n_init": """\
n_init : int or "auto", default="auto"
    With "auto" nothing is left to chance: the rotation starts from pivoted QR, k-means from
    the means of what the rotation finds. A number gives that many starts, of which the best
    is kept: k-means++ draws all of them, the rotation all but the first.""",
    "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Draws the random starts; without effect with ``n_init="auto"``.""",
}

NODES = (
    "n_representatives_",
    "resolutions_",
    "representatives_",
    "representative_weights_",
    "representative_labels_",
)
LABELS = ("labels_", "n_features_in_", "feature_names_in_")
SPECTRAL = ("labels_", "affinity_matrix_", "embedding_", "n_features_in_", "feature_names_in_")
ON_NODES = (*SPECTRAL[:3], *NODES, *SPECTRAL[3:])
FIXED_ATTRIBUTES = {
    "affinity_matrix_": """\
affinity_matrix_ : sparse array of shape (n_samples, n_samples)
    The graph A; of representatives where there are any.""",
    "embedding_": """\
embedding_ : array of shape (n_samples, n_clusters)
    The continuous solution that labels are read off; a row for each representative where there
    are any.""",
}


def document(
    *,
    lacks: tuple[str, ...] = (),
    has: tuple[str, ...] | None = None,
    parameters: Mapping[str, str] | None = None,
    attributes: Mapping[str, str] | None = None,
) -> Callable[[T], T]:
    """Write the Parameters and Attributes sections into a class docstring.

    They replace the line ``{parameters}``. For a method that learns its graph, ``lacks`` names
    attributes that the class does not have; for one on a fixed graph, ``has`` names those it
    has. ``parameters`` and ``attributes`` describe what is the class's own.
    """
    fixed = has is not None
    texts = {**PARAMETERS, **(FIXED_GRAPH if fixed else {}), **(parameters or {})}
    about = {**ATTRIBUTES, **(FIXED_ATTRIBUTES if fixed else {}), **(attributes or {})}

    def decorate(cls: T) -> T:
        listed = "\n".join(texts[name] for name in inspect.signature(cls).parameters)
        names = (*has, *(attributes or ())) if has is not None else ATTRIBUTES
        fitted = "\n".join(about[name] for name in dict.fromkeys(names) if name not in lacks)
        sections = f"Parameters\n----------\n{listed}\n\nAttributes\n----------\n{fitted}"
        doc = inspect.cleandoc(cls.__doc__ or "")
        cls.__doc__ = doc.replace("{parameters}", sections)
        return cls

    return decorate
