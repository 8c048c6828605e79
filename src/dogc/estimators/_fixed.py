"""What the methods on a fixed graph share: validate, build the graph, embed, discretise."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import _checks
from .._caller import warn_caller
from ..fitting import distinct, fixed_graph, linked
from ..fitting.auto import many_rows
from ..fitting.auto.solving_representatives import Resolved, Solve, Solved, resolve
from ..fitting.memory import check_fixed
from ..fitting.repeatable import single_blas_thread
from ..fitting.representatives import (
    ManyRows,
    NodeGraph,
    Options,
    Representatives,
    RowFacts,
    RowSet,
)
from ..loop.watch import Watch
from ..numerics import discrete, fragments, graph
from ..numerics.matrix import Matrix
from . import _discretising
from ._elsewhere import check_where, of_each_row
from ._rows import RowClusterer, most_rows, reachable_clusters
from ._tensors import follow, in_memory
from ._warnings import warn_of_disagreement


class FixedGraphClusterer(RowClusterer):
    """Base of the methods that embed a fixed graph and read labels off the embedding.

    A subclass says how to embed.
    """

    _voters: Any  # Voters, Representatives or None
    _kinds: ClassVar[tuple[str, ...]] = fixed_graph.KINDS
    _discretisers: ClassVar[tuple[str, ...]] = ("kmeans", "rotation")
    _phases: ClassVar[tuple[str, ...]] = ()  # that need memory, beside those of all

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
            torch tensor they are tensors on the same device.
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = self._row_set(X)
        parameters = self.get_params(deep=False)
        c = reachable_clusters(rows, parameters["n_clusters"], parameters.get("affinity"))
        settings = fixed_graph.check_graph(parameters, most_rows(rows), self._kinds)
        _checks.check_choice("assign_labels", self.assign_labels, self._discretisers)
        _checks.check_starts(self.n_init)
        self._check_more(settings)
        check_where(self, rows)
        check_fixed(rows, settings, parameters, c, *self._phases)
        with single_blas_thread:
            solve = functools.partial(self._solve_nodes, c)
            resolved = self._resolve(rows, settings, c, solve, Watch())
            if resolved is None:
                ordered = self._in_order(rows, settings)
                fixed = self._build(ordered.X, settings)
                F = self._embed(fixed, c)
                self._assign_labels(ordered.one_label_each(self._discretised(F)))
                self._assign_more(fixed, F.astype(rows.dtype))
                self._remember(fixed.pairs, settings, rows, ordered)
                A, F = fixed.A, ordered.as_given(F)
                A = None if A is None else ordered.graph_as_given(A)
            else:
                A, F = resolved.nodes.A, resolved.solved.outcome
        if A is not None:
            self.affinity_matrix_ = A.astype(rows.dtype)
        self.embedding_ = F.astype(rows.dtype)
        follow(self, X)
        return self

    def _discretised(self, F: np.ndarray) -> np.ndarray:
        n_init = _checks.check_starts(self.n_init)
        return _discretising.discretise(F, self.assign_labels, n_init, self.random_state)

    def _solve_nodes(
        self, c: int, nodes: NodeGraph, watch: Watch, init: Any, firmness: float
    ) -> Solved:
        """The graph of representatives, cut; there is nothing to start from or to make firmer."""
        F = self._embed(fixed_graph.FixedGraph(nodes.A, None, nodes.X), c)
        return Solved(self._discretised(F), False, F)

    def _remember(
        self,
        pairs: fixed_graph.Pairs | None,
        settings: fixed_graph.GraphSettings,
        rows: RowSet,
        ordered: distinct.SortedRows,
    ) -> None:
        """What a graph of sorted rows leaves; labels go back to the order of the rows given."""
        self._voters = fixed_graph.index_voters(pairs, settings, self.labels_)
        self.labels_ = rows.spread(RowFacts(ordered.as_given(self.labels_))).labels
        if hasattr(self, "n_representatives"):
            self._assign_representatives(None)

    def _check_more(self, settings: fixed_graph.GraphSettings) -> None:
        """Check what a method alone knows."""

    def _in_order(self, rows: RowSet, settings: fixed_graph.GraphSettings) -> distinct.SortedRows:
        """The rows sorted, so that ties do not go by their places; a graph stays as it is."""
        return distinct.sorted_rows(rows.few(apart=True)[0], apart=settings.kind == "precomputed")

    def _assign_more(self, fixed: fixed_graph.FixedGraph, F: np.ndarray) -> None:
        """Set what a method alone has; F and ``labels_`` are in the order of the sorted rows."""

    def _resolve(
        self, rows: RowSet, settings: fixed_graph.GraphSettings, c: int, solve: Solve, watch: Watch
    ) -> Resolved | None:
        """Solve on representatives and label the rows; None where rows are to be the nodes."""
        given = self.get_params(deep=False)
        if "n_representatives" not in given:
            return None
        p = _checks.check_representatives(given["n_representatives"], c, settings.kind)
        if settings.kind != "neighbors" or given.get("source") == "features":
            if isinstance(p, int):
                raise ValueError(
                    "n_representatives needs affinity='neighbors' (and source='graph'); leave it "
                    "out, or set it to None."
                )
            p = None
        with watch.phase("rows"):
            drawn = many_rows.draw_many(rows, p, c)
        numbers = [] if drawn is None else many_rows.numbers_for(drawn, p, c)
        if drawn is None or not numbers:
            return None
        frame = many_rows.frame_of(drawn)
        many = ManyRows(rows, drawn.sample, frame, numbers, c)
        options = Options(given["n_neighbors"], settings.bandwidth)
        resolved = resolve(many, solve, options, watch)
        labels = resolved.solved.labels
        sizes, n_votes = resolved.rows.count(labels)
        named = discrete.falling(sizes.weight, discrete.first_of(labels, c))[labels]
        self._assign_representatives(resolved, named)
        self._voters = resolved.fitted._replace(labels=named, n_votes=n_votes)
        self.labels_ = resolved.rows.facts(self._voters).labels
        warn_of_disagreement(resolved.choice)
        return resolved

    def _build(self, X: Matrix, settings: fixed_graph.GraphSettings) -> fixed_graph.FixedGraph:
        return fixed_graph.build_graph(X, settings)

    def _embed(self, fixed: fixed_graph.FixedGraph, c: int) -> np.ndarray:
        raise NotImplementedError

    @of_each_row(dtype=np.int64)
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
        X = self._validate_new(X)
        with single_blas_thread:
            if isinstance(self._voters, Representatives):
                return linked.linked_labels(self._voters, X, self.n_jobs)
            return fixed_graph.edge_labels(self._voters, X, in_memory(self.labels_))


def merged_components(fixed: fixed_graph.FixedGraph, c: int) -> np.ndarray:
    """The component of each row; more than c of them are merged down to c, with a warning."""
    count, member = graph.components(fixed.A)
    if count <= c:
        return member
    warn_of_components(fixed, count, c, "the smallest were merged with their nearest")
    return fragments.merge_components(fixed.nodes, member, c)


def warn_of_components(fixed: fixed_graph.FixedGraph, count: int, c: int, outcome: str) -> None:
    """Say that the graph falls into more pieces than clusters were asked for."""
    warn_caller(
        f"the graph has {count} components, more than n_clusters={c}; {outcome}; "
        f"{remedy(fixed)} to avoid that.",
        ConvergenceWarning,
    )


def remedy(fixed: fixed_graph.FixedGraph) -> str:
    """What joins the pieces of this graph."""
    if fixed.pairs is None:
        lacking = "pass a graph with more edges"
        return lacking if fixed.nodes is None else "set another n_representatives"
    edges = np.count_nonzero(np.exp(-fixed_graph.exponents(fixed.pairs)))
    if edges < fixed.pairs.idx.size:  # weights that vanished
        return "raise bandwidth"
    return "raise n_neighbors"
