"""The base of the methods on a fixed graph: validate, build the graph, embed, discretise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _checks
from .._caller import warn_caller
from ..fitting import distinct, fixed_graph, labelling, many
from ..fitting.auto.task import Labelling
from ..fitting.auto.trials import resolve
from ..fitting.fixed_graph import ANOTHER_METHOD, FixedGraph, GraphSettings
from ..fitting.repeatable import single_blas_thread
from ..fitting.representatives import (
    Frame,
    ManyRows,
    NodeGraph,
    Options,
    Representatives,
    RowFacts,
    RowSet,
)
from ..fitting.scaling import scale_rows
from ..fitting.settings import ON_REPRESENTATIVES
from ..loop.watch import Watch
from ..numerics import discrete, fragments, graph
from ..numerics.matrix import Matrix
from . import _discretising
from ._elsewhere import check_where, follow, in_memory, of_each_row
from ._rows import RowClusterer, most_rows, reachable_clusters
from ._warnings import warn_of_disagreement


@dataclass(eq=False, repr=False)
class FixedGraphClusterer(RowClusterer):
    """Base of the methods that start from a graph that is made once."""

    n_clusters: int = 8
    _: KW_ONLY
    n_neighbors: int | None = None
    bandwidth: float | str = "local"
    n_jobs: int | None = None

    _kinds: ClassVar[tuple[str, ...]] = fixed_graph.KINDS
    _phase: ClassVar[str] = "rows"  # needs most memory, beside the graph

    def fit(self, X: Any, y: Any = None) -> FixedGraphClusterer:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or dataframe, or tensor of shape \
                (n_samples, n_features)
            Rows to cluster; with ``affinity="precomputed"``, their affinities, of shape
            (n_samples, n_samples).
            Dask rows are processed in blocks, by the active client or by threads. ``labels_``
            and the other attributes with one value for each row are then dask arrays. For a
            torch tensor they are tensors on the same device. Methods without
            ``n_representatives`` take no Dask rows.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, Watch())
        return self

    def _fit(self, X: Any, watch: Watch) -> Any:
        """Solve on representatives or on all rows, set the attributes; what else was found."""
        rows, parameters = self._row_set(X), self.get_params(deep=False)
        c = reachable_clusters(rows, parameters["n_clusters"], parameters.get("affinity"))
        settings = fixed_graph.check_graph(parameters, most_rows(rows), self._kinds)
        self._check(settings)
        check_where(self, rows)
        possible = settings.kind == "neighbors" and parameters.get("source") != "features"
        p = _checks.check_representatives(parameters.get("n_representatives"), c, possible)
        if not many.are_many(rows, p):
            remedy = ON_REPRESENTATIVES if hasattr(self, "n_representatives") else ANOTHER_METHOD
            fixed_graph.check_memory(rows, settings, self._phase, c, remedy)
        with single_blas_thread:
            solved = self._solve_many(rows, settings, p, c, watch)
            solved = solved or self._solve_few(rows, settings, c, watch)
        A, F, found = solved.outcome
        self._assign_graph(A, rows.dtype)
        self.embedding_ = F.astype(rows.dtype)
        follow(self, X)
        return found

    def _solve_few(self, rows: RowSet, settings: GraphSettings, c: int, watch: Watch) -> Labelling:
        """The graph of all rows, solved; they are sorted, so that ties do not go by places."""
        given = settings.kind == "precomputed"
        X, place, group = distinct.sorted_rows(rows.few(apart=True)[0], apart=given)
        fixed = self._build(X, settings, c)
        solved = self._solve(fixed, c, watch)
        A, F, found = solved.outcome
        labels = distinct.one_label_each(solved.labels, group)
        self.labels_ = discrete.size_order(labels, int(labels.max()) + 1)[labels]
        self._voters: Any = fixed_graph.index_voters(fixed, settings, self.labels_)
        self.labels_ = rows.spread(RowFacts(self.labels_[place])).labels
        if hasattr(self, "n_representatives"):
            self._assign_representatives(None)
        A = None if A is None else distinct.graph_as_given(A, place)
        return solved._replace(outcome=(A, F[place], found))

    def _check(self, settings: GraphSettings) -> None:
        """Check the parameters that do not concern the graph."""
        raise NotImplementedError

    def _build(self, X: Matrix, settings: GraphSettings, c: int) -> Any:
        """The graph of rows."""
        return fixed_graph.build_graph(X, settings)

    def _build_on(self, nodes: NodeGraph, c: int) -> Any:
        """The graph of representatives."""
        return FixedGraph(nodes.A, nodes.X)

    def _solve(self, fixed: Any, c: int, watch: Watch) -> Labelling:
        """Labels of the nodes; the outcome is a graph, an embedding and what else was found."""
        raise NotImplementedError

    def _assign_graph(self, A: Any, dtype: Any) -> None:
        if A is not None:
            self.affinity_matrix_ = A.astype(dtype)

    def _solve_many(
        self, rows: RowSet, settings: GraphSettings, p: Any, c: int, watch: Watch
    ) -> Labelling | None:
        """Solve on representatives and label the rows; None where rows are to be the nodes."""
        with watch.phase("rows"):
            drawn = many.draw(rows, p, c, self.n_neighbors)
        if drawn is None or not (numbers := many.numbers_for(drawn[1], p, c)):
            return None
        all_rows = ManyRows(rows, drawn[0], Frame(scale_rows(drawn[0].X), None), numbers, c)
        options = Options(self.n_neighbors, settings.bandwidth)
        trial, solved, _ = resolve(all_rows, self._solve_nodes, options, watch)
        sizes, n_votes = trial.rows.count(solved.labels)
        named = discrete.falling(sizes, discrete.first_of(solved.labels, c))[solved.labels]
        self._assign_representatives(trial, named)
        fitted = trial.fitted._replace(labels=named, n_votes=n_votes)
        self._voters, self.labels_ = fitted, trial.rows.facts(fitted).labels
        warn_of_disagreement(trial.choice)
        return solved

    def _solve_nodes(self, many: ManyRows, nodes: NodeGraph, watch: Watch, *_: Any) -> Labelling:
        """Labels of representatives: there is no start to choose, and nothing to firm."""
        return self._solve(self._build_on(nodes, many.c), many.c, watch)

    @of_each_row
    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the weight of their edges to fitted rows.

        A new row is linked to its nearest fitted rows with the weights of the graph's kernel.
        It gets the label with the largest total weight (the lower label in a tie).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; with ``affinity="precomputed"``, their affinities to the fitted rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Only labels that ``fit`` produced.
        """
        if isinstance(self._voters, Representatives):
            return labelling.linked_labels(self._voters, X, self.n_jobs)
        if self._voters is None:  # a precomputed graph
            return fixed_graph.given_edge_labels(X, in_memory(self.labels_))
        return fixed_graph.edge_labels(self._voters, X)


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingClusterer(FixedGraphClusterer):
    """Base of the methods that embed a fixed graph and read labels off the embedding."""

    assign_labels: str = "kmeans"
    n_init: int | str = "auto"
    random_state: Any = None

    _discretisers: ClassVar[tuple[str, ...]] = ("kmeans", "rotation")

    def _check(self, settings: GraphSettings) -> None:
        _checks.check_choice("assign_labels", self.assign_labels, self._discretisers)
        _checks.check_count("n_init", self.n_init, words=("auto",))

    def _solve(self, fixed: Any, c: int, watch: Watch) -> Labelling:
        """Embed the nodes of a graph and read labels off."""
        F, found = self._embed(fixed, c)
        n_init = _checks.check_count("n_init", self.n_init, words=("auto",))
        labels = _discretising.discretise(F, self.assign_labels, n_init, self.random_state)
        return Labelling(labels, False, (fixed.A, F, found))

    def _embed(self, fixed: FixedGraph, c: int) -> tuple[np.ndarray, Any]:
        """The embedding of the nodes and what else was found; nothing is set."""
        raise NotImplementedError


def merged_components(fixed: FixedGraph, c: int) -> np.ndarray:
    """The component of each row; more than c of them are merged down to c, with a warning."""
    count, member = graph.components(fixed.A)
    if count <= c:
        return member
    warn_of_components(count, c, "the smallest were merged with their nearest", fixed)
    return fragments.merge_components(fixed.nodes, member, c)


def warn_of_components(count: int, c: int, outcome: str, fixed: FixedGraph | None = None) -> None:
    """Say, if so, that the graph falls into more pieces than clusters were asked for."""
    if count <= c:
        return
    remedy = "raise n_neighbors"
    if fixed is not None and fixed.scaled is None:
        lacking = "pass a graph with more edges"
        remedy = lacking if fixed.nodes is None else "set another n_representatives"
    elif fixed is not None and not np.exp(-fixed_graph.exponents(fixed)).all():
        remedy = "raise bandwidth"  # some weights vanished
    warn_caller(
        f"the graph has {count} components, more than n_clusters={c}; {outcome}; {remedy} to "
        "avoid that.",
        ConvergenceWarning,
    )
