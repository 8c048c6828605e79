"""The methods that learn a graph: validate, choose what is left open, solve, assign."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..fitting import distinct, given_graphs, labelling, outlier_scores, places, problems, scaling
from ..fitting.auto.geometry import Look, better_looks
from ..fitting.auto.many_rows import Job, Prepared, prepare
from ..fitting.auto.n_clusters import CountEvidence
from ..fitting.auto.n_neighbors import ScaleChoice, only_scale
from ..fitting.auto.solving_representatives import Resolved, Solved, resolve
from ..fitting.auto.solving_rows import Solution, rows_without_say, solve_task
from ..fitting.auto.task import Task
from ..fitting.memory import check_learned
from ..fitting.repeatable import generator, single_blas_thread
from ..fitting.representatives import (
    ManyRows,
    NodeGraph,
    Options,
    Representatives,
    RowFacts,
    RowSet,
)
from ..fitting.settings import Settings, check_settings, wide_scale
from ..loop import steps
from ..loop.methods import Method
from ..loop.running import run
from ..loop.solver import HALTED, Result
from ..loop.state import Problem, State, similarities, symmetric
from ..loop.watch import Watch
from ..numerics import discrete, graph, outliers
from ..numerics.matrix import Matrix
from ._elsewhere import check_where, row_model
from ._left_out import label_left_out
from ._rows import NewRows, most_rows
from ._rule import Learned
from ._tensors import follow
from ._warnings import (
    warn_few_rows,
    warn_of_disagreement,
    warn_of_recall,
    warn_of_repetition,
    warn_of_scales,
    warn_unless_converged,
)


class GraphClusterer(NewRows):
    """Base of every method that :func:`dogc.loop.solver.alternate` solves.

    A subclass names its method and has the parameters that the method knows.
    """

    _method: ClassVar[Method]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GraphClusterer:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or dataframe, or tensor of shape \
                (n_samples, n_features)
            Rows to cluster; with ``metric="precomputed"``, a sparse graph of distances of
            shape (n_samples, n_samples) as ``KNeighborsTransformer`` makes it.
            Dask rows are processed in blocks, by the active client or by threads. ``labels_``
            and the other attributes with one value for each row are then dask arrays. For a
            torch tensor they are tensors on the same device.
        y : ignored
            Present by convention.
        sample_weight : array-like or dask array of shape (n_samples,), default=None
            Weight of each row. An integer weight has the same effect as that many copies. Equal
            rows are one node of the graph, so a weight changes the sizes of clusters and the
            regression, but not the neighbours. With representatives, a weight also counts in
            the links between them, and with ``n_neighbors="wide"`` in the neighbourhoods. Rows of
            weight zero are not fitted; they are labelled afterwards.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = self._row_set(X, sample_weight)
        settings = self._check(rows)
        watch = Watch(int(self.verbose), settings.max_time, self.callback, settings.run.max_iter)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        job = Job(settings, self._method, seed, watch)
        with watch.guard(), single_blas_thread:
            prepared = prepare(rows, job)
            if prepared is None:
                self._fit_few(rows, job)
            else:
                self._fit_representatives(prepared, job)
            follow(self, X)
        self.timings_ = watch.seconds
        self._assign_end(watch)
        warn_unless_converged(self)
        warn_of_repetition(self)
        return self

    def _fit_few(self, rows: RowSet, job: Job) -> None:
        """Learn the graph of rows, wherever they are."""
        self._fit_rows(*rows.few(), job)
        found = RowFacts(self.labels_, self.confidence_, self.outlier_scores_, self.outliers_)
        self._assign_facts(rows.spread(found, row_model(self)._facts_of_new))

    def _fit_rows(self, X: Matrix, weight: np.ndarray | None, job: Job) -> None:
        """Learn the graph of all distinct rows; lone ones have no say in it."""
        settings = job.settings
        with job.watch.phase("rows"):
            rows = distinct.distinct_rows(
                X,
                weight,
                apart=settings.lookup.precomputed,
                # What is drawn, and the paper's own protocol, go by the columns as they come.
                any_columns=settings.run.is_own and settings.penalties.relative,
            )
        weighted = rows.inverse >= 0
        task = row_task(rows, job)
        lone, place = rows_without_say(task, outlier_scores.whole_rows(rows))
        if lone.any():
            rows = distinct.without(rows, lone)
            task = row_task(rows, job)
        else:
            task = task._replace(place=place)
        self._assign_rows(solve_task(task), rows, task.settings, job.watch)
        self._judge_on_rows(X, rows)
        label_left_out(self, X, rows, (rows.inverse < 0) & weighted)
        warn_of_recall(self.neighbors_recall_)
        warn_of_scales(self.scales_, self.n_clusters_)

    def _fit_representatives(self, prepared: Prepared, job: Job) -> None:
        """Learn the graph of representatives; rows follow those that they are linked with."""
        solve = functools.partial(self._solve_nodes, prepared.many, job)
        resolved = resolve(prepared.many, solve, Options.of(job.settings), job.watch)
        self._assign_resolved(resolved, prepared, job.settings, job.watch)
        warn_of_disagreement(resolved.choice)

    def _solve_nodes(
        self,
        many: ManyRows,
        job: Job,
        nodes: NodeGraph,
        watch: Watch,
        init: Any,
        firmness: float,
    ) -> Solved:
        """The graph of representatives, solved from a start with alpha multiplied."""
        settings, method, seed, _ = job
        penalties = settings.penalties
        settings = settings._replace(penalties=penalties._replace(alpha=firmness * penalties.alpha))
        problem = problems.problem_on(nodes, many.frame, settings, many.c, method.regresses)
        result, _ = run(problem, method, settings.run._replace(init=init), seed, watch)
        labels = self._discretise(problem, result)
        return Solved(labels, result.reason in HALTED, (problem, result))

    def _check(self, rows: RowSet) -> Settings:
        check_where(self, rows)
        shape = (most_rows(rows), rows.d)
        settings = check_settings(self.get_params(deep=False), shape, rows.sparse)
        random = isinstance(settings.run.init, str) and settings.run.init == "random"
        if random and not hasattr(self, "n_init"):
            raise ValueError(
                f"init='random' draws a rotation, which {type(self).__name__} does not have; use "
                "init='auto'."
            )
        check_learned(rows, settings, self._method.regresses)
        if settings.lookup.precomputed:
            given_graphs.check_neighbour_graph(rows.few()[0], settings.wanted.n_neighbors or 1)
            if self._method.regresses:
                raise ValueError(
                    f"metric='precomputed' gives {type(self).__name__} no features to regress "
                    "labels on; pass features, or use DOGC."
                )
        return settings

    def _assign_rows(
        self,
        solution: Solution,
        rows: distinct.DistinctRows,
        settings: Settings,
        watch: Watch,
    ) -> None:
        """Set the fitted attributes; clusters are numbered by falling size."""
        problem, place, result, choice = solution
        geometry, state, dtype = place.geometry, result.state, place.geometry.dtype
        look, found, wide = choice.look, self._discretise(problem, result), settings.wanted.wide
        k = choice.k if wide else problem.candidates.k
        new_name = discrete.size_order(found, problem.c, rows.size)
        chosen = look.scales._replace(chosen=k)
        if settings.wanted.n_neighbors is not None and not wide:
            chosen = only_scale(k)
        self._assign_choices(problem.c, chosen, choice.counts, look.columns.name, choice.looks)
        here = [other for other in choice.looks if other.columns.name == look.columns.name]
        self._assign_start(look.start, {other.start: other.scales for other in here}, settings)
        self.neighbors_recall_ = place.recall
        self._assign_representatives(None)
        self._assign_graph(distinct.spread_graph(similarities(state), rows), dtype)
        F = state.F / problem.nodes.root
        self.embedding_ = np.where(
            rows.inverse[:, None] >= 0, F.astype(dtype)[rows.inverse], dtype.type(0)
        )
        W = places.projection(geometry, state, self.n_features_in_)
        self._assign_components(scaling.feature_map(geometry.scaled, W), dtype)
        self._assign_state(result, new_name, dtype)
        common_xi = None
        if settings.xi_rule is not graph.neighbour_xi:
            # New rows come with distances that are not divided by the scatter of the subspace.
            common_xi = float(state.xi[0]) * steps.scatter_of(problem, state)
        fitted = labelling.fitted_rows(place, W, new_name[found], k, common_xi, wide)
        self._assign_row_labels(solution, rows, fitted, new_name, settings, watch)

    def _assign_row_labels(
        self,
        solution: Solution,
        rows: distinct.DistinctRows,
        fitted: labelling.FittedRows,
        new_name: np.ndarray,
        settings: Settings,
        watch: Watch,
    ) -> None:
        """Labels, how sure they are, and what gives labels to new rows."""
        problem, place, result, _ = solution
        labels, state, scaled = fitted.labels, result.state, place.geometry.scaled
        copies, stray = outlier_scores.whole_rows(rows), state.graph.stray
        n_jobs = settings.lookup.n_jobs
        reach, score = outlier_scores.fitted_scores(fitted, place, copies, n_jobs, watch)
        self._fitted_rows = fitted = fitted._replace(copies=copies, reach=reach, stray=stray)
        self.labels_ = labels[rows.inverse]
        again = labelling.repeated(fitted, place)
        self.label_agreement_ = float(np.average(again, weights=rows.size))
        if scaled is not None:
            dtype = place.geometry.dtype
            learned = Learned(scaled.X, labels, rows.size, score, scaled, state, new_name, dtype)
            self._assign_rule(learned, settings, watch)
        sure = labelling.confidence(problem, labels, copies)
        self._assign_sureness(
            sure[rows.inverse], score[rows.inverse], stray[rows.inverse], settings
        )
        left_out = rows.inverse < 0
        self.confidence_[left_out] = self.outlier_scores_[left_out] = np.nan
        self.outliers_[left_out] = False

    def _assign_resolved(
        self, resolved: Resolved, prepared: Prepared, settings: Settings, watch: Watch
    ) -> None:
        """The same where the graph was learned on representatives."""
        fitted, nodes, solved, rows = resolved[:4]
        problem, result = solved.outcome
        state, dtype, many = result.state, prepared.dtype, prepared.many
        sizes, n_votes = rows.count(solved.labels)
        # Of the same size the one with the first representative: rows come in any order.
        new_name = discrete.falling(sizes.weight, discrete.first_of(solved.labels, problem.c))
        chosen = only_scale(fitted.n_links)
        counts, name, looks = prepared.counts, prepared.geometry, prepared.looks
        self._assign_choices(problem.c, chosen, counts, name, looks)
        self._assign_start(resolved.start, resolved.starts, settings)
        self.neighbors_recall_ = 1.0
        named, hanging = new_name[solved.labels], state.graph.stray | nodes.tied
        self._assign_representatives(resolved, named, many.rows.unit)
        self._assign_graph(similarities(state), dtype)
        self.embedding_ = (state.F / problem.nodes.root).astype(dtype)
        self._assign_components(prepared.components, dtype)
        self._assign_state(result, new_name, dtype)
        reach = outlier_scores.representative_reach(fitted.R, fitted.n_links, fitted.metric)
        fitted = fitted._replace(labels=named, n_votes=n_votes, reach=reach, stray=hanging)
        self._fitted_rows = fitted
        self.label_agreement_ = 1.0  # labels are the votes that predict takes
        self._assign_rule_on(many, fitted, state, new_name, settings, watch)
        self._assign_facts(rows.facts(fitted, settings.outlier_label))

    def _assign_facts(self, facts: RowFacts) -> None:
        self.labels_, self.confidence_, self.outlier_scores_, self.outliers_ = facts

    def _assign_choices(
        self,
        c: int,
        chosen: ScaleChoice,
        counts: list[CountEvidence],
        geometry: str,
        looks: list[Look],
    ) -> None:
        """What could be left open, and what it became."""
        self.n_clusters_, self.n_neighbors_ = c, chosen.chosen
        self.scales_, self.cluster_counts_ = chosen, counts
        self.geometry_ = geometry
        self.geometries_ = {name: look.scales for name, look in better_looks(looks).items()}

    def _assign_start(self, start: str, starts: dict[str, Any], settings: Settings) -> None:
        """The start that was taken, and what each said that was tried."""
        own, init = settings.run.is_own, settings.run.init
        self.init_ = start if own else init if isinstance(init, str) else "labels"
        self.starts_ = starts if own else {}

    def _assign_graph(self, S: sp.csr_array, dtype: Any) -> None:
        self.similarity_matrix_ = S.astype(dtype)  # a copy: S holds room for all candidates
        self.affinity_matrix_ = symmetric(S).astype(dtype, copy=False)

    def _assign_components(self, components: np.ndarray | None, dtype: Any) -> None:
        self.components_ = None
        if components is not None:
            self.components_ = np.ascontiguousarray(components.astype(dtype))

    def _assign_state(self, result: Result, new_name: np.ndarray, dtype: Any) -> None:
        """What the loop left, whatever the nodes of its graph were."""
        if steps.step_Q in self._method.steps:
            self.rotation_ = result.state.Q[:, np.argsort(new_name)].astype(dtype)
        self._assign_run(result)

    def _assign_rule(self, learned: Learned, settings: Settings, watch: Watch) -> None:
        """Nothing: new rows follow their neighbours."""

    def _assign_rule_on(
        self,
        many: ManyRows,
        fitted: Representatives,
        state: State,
        new_name: np.ndarray,
        settings: Settings,
        watch: Watch,
    ) -> None:
        """Nothing, as well."""

    def _judge_on_rows(self, X: Matrix, rows: distinct.DistinctRows) -> None:
        """Nothing: how far neighbours repeat the labels is known."""

    def _assign_sureness(
        self,
        confidence: np.ndarray,
        score: np.ndarray,
        stray: np.ndarray,
        settings: Settings,
    ) -> None:
        """How sure each label is and who is an outlier; outliers are marked where asked for."""
        sure = outliers.discount(confidence, score, self.n_clusters_)
        dtype = self.embedding_.dtype
        self.confidence_, self.outlier_scores_ = sure.astype(dtype), score.astype(dtype)
        self.outliers_ = stray | (score > outliers.OUTLYING)
        if settings.outlier_label is not None:
            self.labels_[self.outliers_] = settings.outlier_label

    def _discretise(self, problem: Problem, result: Result) -> np.ndarray:
        """The discrete labels that a final state stands for."""
        return self._method.final_labels(problem, result.state)


def row_task(rows: distinct.DistinctRows, job: Job) -> Task:
    """The task on distinct rows, asked for no more than they can give."""
    settings, m = job.settings, rows.n_distinct
    wanted, init = settings.wanted, settings.run.init
    if settings.lookup.precomputed and len(rows.first) < len(rows.inverse):
        raise ValueError(
            "sample_weight must be above 0 for every row when metric='precomputed'; leave "
            "the other rows out of X."
        )
    c, k = wanted.n_clusters, wanted.n_neighbors
    if c is not None and c > m:
        warn_few_rows(c, m)
        c = m
    if not isinstance(init, str):
        # Copies start together; labels that this leaves unused cannot be kept.
        values, init = np.unique(init[rows.first], return_inverse=True)
        init = init if len(values) == c else "spectral"
    if wanted.wide:  # copies counted, as far as weights are copies
        k = wide_scale(int(outlier_scores.whole_rows(rows).sum()), c)
    k = None if k is None else min(k, max(len(rows.first) - 1, 1))
    settings = settings._replace(
        wanted=wanted._replace(n_clusters=c, n_neighbors=k),
        run=settings.run._replace(init=init),
        smallest=settings.smallest._replace(unit=rows.unit),
    )
    return Task(rows.X, rows.size, m, *job._replace(settings=settings))
