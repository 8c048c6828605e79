"""K-multiple-means."""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from .. import _checks
from .._caller import warn_caller
from ..fitting import landmarks, prototypes
from ..fitting.in_memory import RowsInMemory
from ..fitting.memory import check_in_memory
from ..fitting.repeatable import generator, single_blas_thread
from ..numerics import bipartite, discrete, fragments, multiple_means
from ..numerics.multiple_means import Candidates, Shares
from ._landmarks import HYBRID, check_links, embedding_centres
from ._rows import RowClusterer, reachable_clusters


class KMultipleMeans(RowClusterer):
    r"""K-multiple-means: several prototypes a cluster, joined by a graph of exactly c components.

    Use it for many rows when a cluster is not round but can be covered by several prototypes.

    .. math:: \min_{S, A} \sum_{ij} \|x_i - a_j\|^2 s_{ij} + \xi_i s_{ij}^2
              \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_i \ge 0,\
              S \text{ has } c \text{ components}

    S links rows to the nearest of m prototypes :math:`a_j`. The constraint is relaxed as in CAN:
    :math:`\lambda \operatorname{Tr}(F^\top \tilde L F)` is added, with the normalised Laplacian of
    the bipartite graph. :math:`\lambda` is adjusted until there are c components. They are the
    clusters. Then each prototype moves to the mean of its rows, weighted by S. Both steps repeat
    until the clusters no longer change.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    n_prototypes : int, default=None
        Number of prototypes, the m of its paper; at least n_clusters. None means
        :math:`\sqrt{n c}`, with n the number of distinct rows. Initial prototypes are the means
        of a few steps of k-means on ten random rows for each. If n_prototypes is not below n, they
        are the rows.
    n_neighbors : int, default=None
        Number of nearest prototypes of each row; below n_samples. None means 5, or all prototypes
        but one if there are fewer.
    max_iter : int, default=30
        Maximum number of moves of the prototypes.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the rows from which the initial prototypes are computed.
    n_jobs : int, default=None
        Number of threads for the neighbour search and for passes over many rows.
        Results do not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    prototypes_ : array of shape (n_prototypes, n_features)
        The prototypes, in the units of X. Prototypes without rows are dropped.
    prototype_labels_ : int array of shape (n_prototypes,)
        Cluster of each prototype.
    bipartite_graph_ : sparse array of shape (n_samples, n_prototypes)
        The learned weights S.
    lam_ : float
        The final :math:`\lambda`, for rows scaled to total scatter one. 0 if the distances alone
        gave c components.
    n_iter_ : int
        Number of times that the prototypes moved and the graph was solved.
    converged_ : bool
        True if the graph has n_clusters components and the clusters no longer change.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Feature names, if X has names that are all strings.

    References
    ----------
    F. Nie, C.-L. Wang, X. Li, "K-multiple-means: a multiple-means clustering method with specified
    K clusters", KDD 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import KMultipleMeans
    >>> X, y = make_moons(2000, noise=0.05, random_state=0)
    >>> (KMultipleMeans(n_clusters=2).fit_predict(X) == y).mean() in (0.0, 1.0)
    True
    """

    _fitted_rows: prototypes.Prototypes

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_prototypes: int | None = None,
        n_neighbors: int | None = None,
        max_iter: int = 30,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KMultipleMeans:
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
        k = check_links(self.n_neighbors, X.shape[0])
        max_iter = _checks.check_count("max_iter", self.max_iter, 1)
        m = self._check_prototypes()
        n_jobs = _checks.check_jobs(self.n_jobs)
        rng = generator(self.random_state)
        c = reachable_clusters(RowsInMemory(X), self.n_clusters)
        drawn = HYBRID * (m or max(c, round(math.sqrt(X.shape[0] * c))))
        check_in_memory(X, "prototypes", k=k, c=c, m=drawn)
        with single_blas_thread:
            rows = landmarks.ready_rows(X, n_jobs)
            found = move_prototypes(rows, first_prototypes(rows, m, c, rng), k, c, max_iter)
            self._assign(labelled(rows, found, c, max_iter, rng), rows)
        return self

    def _check_prototypes(self) -> int | None:
        if self.n_prototypes is None:
            return None
        m = _checks.check_count("n_prototypes", self.n_prototypes, 1)
        if isinstance(self.n_clusters, numbers.Integral) and m < self.n_clusters:
            raise ValueError(
                f"n_prototypes={m} is too small for n_clusters={self.n_clusters}: every cluster "
                f"needs one; choose {8 * self.n_clusters} or more."
            )
        return m

    def _assign(self, found: Labelled, rows: landmarks.ReadyRows) -> None:
        """Set the fitted attributes; clusters are numbered by falling size."""
        solved, labels, member = found
        given, shares, scaled = solved.given, solved.shares, rows.frame.scaled
        c = int(labels.max()) + 1
        new_name = discrete.size_order(labels, c, rows.size)
        self.labels_ = new_name[labels][rows.inverse]
        used = member >= 0
        R = solved.A[used]
        n_links = given.idx.shape[1]
        self.prototype_labels_ = new_name[member[used]]
        self._fitted_rows = prototypes.Prototypes(rows.frame, R, n_links, self.prototype_labels_)
        self.prototypes_ = (R * scaled.scale + scaled.shift).astype(rows.X.dtype)
        S = shares.S.astype(rows.X.dtype)
        self.bipartite_graph_ = as_graph(given, S)[rows.inverse][:, used]
        self.lam_ = shares.lam
        self.n_iter_, self.converged_ = solved.n_iter, solved.converged

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the prototypes that lie nearest to them.

        A new row is linked to them without the constraint on components, and gets the label with
        the largest weight (the lower label in a tie). So a fitted row between two clusters can
        get a label that differs from ``labels_``.

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
            return prototypes.new_labels(self._fitted_rows, X, self.n_jobs)


class Solved(NamedTuple):
    """Prototypes, and the shares that rows have in them."""

    A: np.ndarray  # (m, q) as points
    given: Candidates
    shares: Shares
    n_iter: int
    converged: bool


class Labelled(NamedTuple):
    """The same with clusters."""

    solved: Solved
    labels: np.ndarray  # of the distinct rows
    member: np.ndarray  # (m,) of the prototypes; -1 where no row has a share


def first_prototypes(
    rows: landmarks.ReadyRows, m: int | None, c: int, rng: np.random.Generator
) -> np.ndarray:
    """Where prototypes start."""
    m = max(c, round(math.sqrt(rows.m * c))) if m is None else m
    A = landmarks.make_landmarks(rows, m, HYBRID, rng)
    return A if len(A) >= c else landmarks.make_landmarks(rows, m, 1, rng)


def move_prototypes(
    rows: landmarks.ReadyRows, A: np.ndarray, k: int, c: int, max_iter: int
) -> Solved:
    """Solve for the shares and move the prototypes to their means, in turn.

    The end is where the clusters repeat. Else the last graph of c components is taken, or the
    last graph.
    """
    best: Solved | None = None
    before = np.empty(0)
    for n_iter in range(1, max_iter + 1):
        links = max(1, min(k, len(A) - 1))
        idx, d = landmarks.nearest_landmarks(rows, A, links + 1)
        given = multiple_means.candidates(idx, d, links, rows.size, len(A))
        shares = multiple_means.constrained_shares(given, c)
        reached = shares.n_components == c
        labels = row_labels(given, shares, shares.member)
        repeated = np.array_equal(labels, before)
        if best is None or reached or best.shares.n_components != c:
            best = Solved(A, given, shares, n_iter, reached and repeated)
        best = best._replace(n_iter=n_iter)
        if repeated and shares.n_components >= c:
            break
        before = labels
        means, total = landmarks.barycentres(rows, landmarks.Links(given.idx, shares.S), len(A))
        A = means[total > 0]
    assert best is not None
    return best


def row_labels(given: Candidates, shares: Shares, member: np.ndarray) -> np.ndarray:
    """The component of each row, numbered by falling size: all its prototypes are in it."""
    own = given.idx[np.arange(len(given.idx)), shares.S.argmax(axis=1)]
    labels = member[own]
    return discrete.size_order(labels, int(labels.max()) + 1, given.omega)[labels]


def labelled(
    rows: landmarks.ReadyRows, solved: Solved, c: int, max_iter: int, rng: np.random.Generator
) -> Labelled:
    """Clusters of rows and prototypes: components, unless there are too many or too few."""
    A, given, shares = solved.A, solved.given, solved.shares
    if shares.n_components < c:
        return discretised(rows, solved, c, rng)
    member = shares.member.copy()
    if shares.n_components > c:
        warn_caller(
            f"the graph has {shares.n_components} components, more than n_clusters={c}; the "
            "smallest were merged with their nearest; raise n_neighbors to avoid that.",
            ConvergenceWarning,
        )
        used = member >= 0
        mass = shares.E.sum(axis=1)[used]
        member[used] = fragments.merge_components(A[used], member[used], c, mass)
    elif not solved.converged:
        remedy = "raise max_iter"
        if solved.n_iter < max_iter:  # the clusters repeated, but on another graph
            remedy = "raise n_neighbors or n_prototypes"
        warn_caller(
            f"KMultipleMeans ended after {solved.n_iter} iterations without clusters that repeat "
            f"on a graph of n_clusters={c} components; {remedy}.",
            ConvergenceWarning,
        )
    own = given.idx[np.arange(len(given.idx)), shares.S.argmax(axis=1)]
    return Labelled(solved, member[own], member)


def discretised(
    rows: landmarks.ReadyRows, solved: Solved, c: int, rng: np.random.Generator
) -> Labelled:
    """Labels by k-means on the cut, where no lambda gave enough components."""
    _, given, shares, *_ = solved
    warn_caller(
        f"the graph has {shares.n_components} components and no lambda gave n_clusters={c}; "
        "k-means on its cut gave the rest; raise n_prototypes to avoid that.",
        ConvergenceWarning,
    )
    found = landmarks.Links(given.idx, shares.S)
    V = bipartite.transfer_cut(shares.E, c, shares.member).V
    centres = embedding_centres(found, rows.size, V, False, None, rng)
    labels = landmarks.labels_by(found, V, False, centres, rows.n_jobs)
    labels = np.unique(labels, return_inverse=True)[1]
    votes = as_graph(given, shares.S * rows.size[:, None]).T @ np.eye(labels.max() + 1)[labels]
    return Labelled(solved, labels, np.where(shares.member >= 0, votes.argmax(axis=1), -1))


def as_graph(given: Candidates, S: np.ndarray) -> sp.csr_array:
    """Shares as a sparse array of rows and prototypes."""
    n, k = S.shape
    parts = S.ravel(), given.idx.ravel(), np.arange(0, n * k + 1, k)
    graph = sp.csr_array(parts, shape=(n, given.m))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
