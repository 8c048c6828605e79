"""The constrained Laplacian rank method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from ..fitting import fixed_graph
from ..fitting.auto.task import Labelling
from ..fitting.fixed_graph import FixedGraph, GraphSettings
from ..fitting.problems import given_graph, node_graph
from ..fitting.representatives import NodeGraph
from ..loop import methods
from ..loop.running import RunSettings, run
from ..loop.solver import HALTED, Record
from ..loop.state import Nodes, similarities, symmetric
from ..loop.watch import Watch
from ..numerics import affinity
from ..numerics.matrix import Matrix
from ._fixed import FixedGraphClusterer
from ._rows import IterativeClusterer, with_callbacks
from ._warnings import warn_unless_converged

METHODS = {"l1": methods.CLR_L1, "l2": methods.CLR_L2}


@dataclass(kw_only=True, eq=False, repr=False)
class CLR(FixedGraphClusterer, IterativeClusterer):
    r"""Constrained Laplacian rank: the nearest graph that has exactly c components.

    Use it when you have a graph and some of its edges are wrong.

    .. math:: \min_S \|S - A\| \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_{ij} \ge 0,\
              \operatorname{rank}(L_S) = n - c

    A is the given graph with rows that sum to one. The norm is the squared L2 norm or the L1
    norm. The rank is enforced by adding :math:`2 \lambda \operatorname{Tr}(F^\top L_S F)` and
    increasing :math:`\lambda`. Clusters are the components of S, which has no edges that A lacks.
    The L2 norm spreads the change over many edges. The L1 norm removes few edges and leaves the
    others unchanged.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, the paper's :math:`c`.
    norm : {"l2", "l1"}, default="l2"
        Distance to the given graph: squared L2 (CLR1 in the DOGC paper) or L1 (CLR0).
    n_representatives : int, "auto" or None, default="auto"
        Number of representatives on which the graph is learned; each row gets its label from the
        nearest ones. "auto" uses them where rows are many; see ``resolutions_``. None never does.
    n_neighbors : int, default=None
        Number of neighbours of each row; below n_samples. None means 15, or n_samples - 1 if that
        is smaller. With representatives, the number that each row is linked to; None means 8.
    affinity : {"neighbors", "full", "precomputed"}, default="neighbors"
        The graph A. "neighbors": a Gaussian kernel on pairs where one row is among the
        ``n_neighbors`` nearest of the other. "full": the kernel on all pairs, as in the DOGC
        paper; it takes n_samples^2 numbers. "precomputed": X is the graph, symmetric and
        non-negative, sparse or dense; its diagonal is ignored. Clusters do not depend on the order
        of the rows, except that ties in a precomputed graph are broken by position.
    bandwidth : float or "local", default="local"
        Width of the kernel. "local" is self-tuning:
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with :math:`\sigma_i` the distance
        from row i to its 7th nearest neighbour. A number :math:`\sigma`, in units of X, gives
        :math:`\exp(-\|x_i - x_j\|^2 / (2 \sigma^2))`. With representatives, "local" is half the
        mean distance of a row to those that it is linked to.
    lam : float or "auto", default="auto"
        The paper's :math:`\lambda`. "auto" searches for a value at which the graph has exactly
        n_clusters components. A number is kept fixed.
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
    verbose : int, default=0
        1 shows a progress bar; 2 prints one line for each iteration.
    callback : callable, default=None
        Called with the :class:`~dogc.results.Record` of each iteration. A true return value stops
        the run.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        Cluster of each row. Clusters are numbered by decreasing size.
    similarity_matrix_ : sparse array of shape (n_samples, n_samples)
        The learned graph S. Each row holds weights that sum to one. With representatives, the
        graph of representatives.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The symmetric graph :math:`(S + S^\top)/2`. With representatives, the graph of
        representatives.
    embedding_ : array of shape (n_samples, n_clusters)
        The continuous solution from which labels are computed. With representatives, one row for
        each representative.
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
    n_iter_ : int
        Number of iterations.
    history_ : list of :class:`~dogc.results.Record`
        One record for each iteration: objective by term, lambda, number of components, labels
        changed.
    converged_ : bool
        True if the run settled with exactly n_clusters components (or at a fixed lambda).
    stopping_reason_ : str
        One of the keys of ``dogc.results.STOPPING_REASONS``.

    References
    ----------
    F. Nie, X. Wang, M. I. Jordan, H. Huang, "The constrained Laplacian rank algorithm for
    graph-based clustering", AAAI 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import CLR
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = CLR(n_clusters=2).fit(X)
    >>> model.converged_, (model.labels_ == y).mean() in (0.0, 1.0)
    (True, True)
    """

    norm: str = "l2"
    n_representatives: int | str | None = "auto"
    affinity: str = "neighbors"
    lam: float | str = "auto"
    max_iter: int = 100
    tol: float = 1e-4
    device: str = "auto"
    verbose: int = 0
    callback: Callable[[Record], object] | None = None

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> CLR:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or dataframe, or tensor of shape \
                (n_samples, n_features)
            Rows to cluster; with ``affinity="precomputed"``, their affinities, of shape
            (n_samples, n_samples).
            Dask rows are processed in blocks, by the active client or by threads. ``labels_``
            and the other attributes with one value for each row are then dask arrays. For a
            torch tensor they are tensors on the same device.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        max_iter = _checks.check_count("max_iter", self.max_iter, 1)
        _checks.check_callback(self.callback)
        _checks.check_verbose(self.verbose)
        watch = Watch(int(self.verbose), callback=self._audience(), max_iter=max_iter)
        with watch.guard():
            result = self._fit(X, watch)
        self._assign_run(result, watch)
        warn_unless_converged(self)
        self._tell_end(X, y)
        return self

    @property
    def _phase(self) -> str:  # type: ignore[override]
        return f"changed {self.affinity} graph"

    def _check(self, settings: GraphSettings) -> None:
        _checks.check_choice("norm", self.norm, tuple(METHODS))
        _checks.check_positive("lam", self.lam, "auto")
        _checks.check_weight("tol", self.tol)

    def _build(self, X: Matrix, settings: GraphSettings, c: int) -> FixedGraph:
        return given_graph_problem(X, settings, c)

    def _build_on(self, nodes: NodeGraph, c: int) -> FixedGraph:
        return FixedGraph(node_graph(nodes, c))

    def _solve(self, fixed: FixedGraph, c: int, watch: Watch) -> Labelling:
        """Change the graph until it has c components."""
        problem, method = fixed.A, METHODS[self.norm]
        lam = _checks.check_positive("lam", self.lam, "auto")
        result = run(problem, method, RunSettings(lam, self.max_iter, self.tol), 0, watch)[0]
        labels = method.final_labels(problem, result.state)
        S, F = similarities(result.state), result.state.F / problem.nodes.root
        return Labelling(labels, result.reason in HALTED, (S, F, result))

    def _assign_graph(self, A: Any, dtype: Any) -> None:
        self.similarity_matrix_ = A.astype(dtype)
        self.affinity_matrix_ = symmetric(A).astype(dtype)


def given_graph_problem(X: Matrix, settings: GraphSettings, c: int) -> FixedGraph:
    """The graph of rows, each scaled to sum to one; in place of A the problem of changing it."""
    if settings.kind == "precomputed":
        pairs = fixed_graph.build_graph(X, settings)
        idx, A = affinity.rows_on_simplex(pairs.A)
    else:
        pairs = fixed_graph.compared_pairs(X, settings)
        order = np.argsort(pairs.idx, axis=1)
        idx = np.take_along_axis(pairs.idx, order, axis=1)
        apart = np.take_along_axis(fixed_graph.exponents(pairs), order, axis=1)
        A = np.exp(apart.min(axis=1, keepdims=True) - apart)
        A /= A.sum(axis=1, keepdims=True)
    return pairs._replace(A=given_graph(idx, A, c, Nodes(np.ones(len(idx)), pairs.nodes)))
