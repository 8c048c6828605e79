"""The parameters that several estimators share, described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=type)

PARAMETERS = {
    "n_clusters": """\
n_clusters : int, default=8
    Number of clusters, the paper's :math:`c`.""",
    "n_neighbors": """\
n_neighbors : int, default=None
    Candidate neighbours of each row, the paper's :math:`k`; below n_samples. None means
    15, or n_samples - 1 if that is smaller.""",
    "n_components": """\
n_components : int, "auto" or None, default="auto"
    Dimension of the learned subspace, the paper's :math:`m`. None learns no projection.
    "auto" takes max(n_clusters, 6) if that is below n_features, else None; for sparse X
    always None, because a projection needs the rows dense.""",
    "alpha": """\
alpha : float, default=1e-3
    How strongly discrete and continuous labels pull on each other, the paper's
    :math:`\\alpha`. In units of :math:`\\lambda \\sqrt{c/n}` (see ``penalties``).""",
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
xi : {"row", "mean"}, default="row"
    The regulariser :math:`\\xi` of the graph: one for each row (`eq:24`), which adapts to
    local density, or their mean for all rows (`eq:25`).""",
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
metric : {"euclidean", "precomputed"}, default="euclidean"
    With "precomputed" X is a sparse graph of distances, as
    ``KNeighborsTransformer(mode="distance", n_neighbors=n_neighbors + 1)`` makes it.""",
    "n_jobs": """\
n_jobs : int, default=None
    Threads of the neighbour search. Results do not depend on it.""",
    "random_state": """\
random_state : int, RandomState, Generator or None, default=None
    Draws the random starts; nothing else is left to chance.""",
    "verbose": """\
verbose : int, default=0
    Above 0, one line is printed for each iteration.""",
    "callback": """\
callback : callable, default=None
    Called with the :class:`~dogc.solver.Record` of each iteration; a true return value
    stops the run.""",
}

ATTRIBUTES = {
    "labels_": """\
labels_ : int array of shape (n_samples,)
    Cluster of each row; clusters are numbered by falling size.""",
    "affinity_matrix_": """\
affinity_matrix_ : sparse array of shape (n_samples, n_samples)
    The graph :math:`(S + S^\\top)/2`.""",
    "embedding_": """\
embedding_ : array of shape (n_samples, n_clusters)
    Continuous labels F, with orthonormal columns.""",
    "rotation_": """\
rotation_ : array of shape (n_clusters, n_clusters)
    The rotation Q from continuous to discrete labels.""",
    "components_": """\
components_ : array of shape (n_components, n_features) or None
    The projection :math:`W^\\top`; None if none was learned.""",
    "coef_": """\
coef_ : array of shape (n_clusters, n_features)
    The regression :math:`P^\\top`.""",
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


def document(*, lacks: tuple[str, ...] = ()) -> Callable[[T], T]:
    """Write the Parameters and Attributes sections into a class docstring.

    They replace the line ``{parameters}``. ``lacks`` names attributes that the class does
    not have.
    """

    def decorate(cls: T) -> T:
        names = list(inspect.signature(cls).parameters)
        parameters = "\n".join(PARAMETERS[name] for name in names)
        attributes = "\n".join(text for name, text in ATTRIBUTES.items() if name not in lacks)
        sections = f"Parameters\n----------\n{parameters}\n\nAttributes\n----------\n{attributes}"
        doc = inspect.cleandoc(cls.__doc__ or "")
        cls.__doc__ = doc.replace("{parameters}", sections)
        return cls

    return decorate
