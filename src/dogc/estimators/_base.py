"""What the estimators share: validate, build the problem, run the loop, assign attributes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .. import _checks
from ..choices import geometry, many_rows, resolving
from ..choices import n_neighbors as scales
from ..loop import running, steps
from ..loop.methods import Method
from ..loop.solver import HALTED, Result
from ..loop.state import Problem, root_mass
from ..loop.watch import Watch
from ..numerics import discrete, graph, outliers
from ..numerics.matrix import Matrix
from ..rows import (
    distinct,
    labelling,
    memory,
    outlier_scores,
    problems,
    representatives,
    scaling,
)
from ..rows.repeatable import generator, single_blas_thread
from ..rows.representatives import Nodes, Solved
from ..rows.settings import Settings, check_settings
from ._left_out import label_left_out
from ._new_rows import NewRows
from ._rows import warn_few_rows
from ._rule import Learned, sampled_rows
from ._warnings import (
    assign_run,
    learned_graph,
    warn_of_disagreement,
    warn_of_recall,
    warn_of_repetition,
    warn_of_scales,
    warn_unless_converged,
)


class GraphClusterer(NewRows):
    """Base of every method that :func:`dogc.solver.alternate` solves.

    A subclass names its method and has the parameters that the method knows.
    """

    _method: ClassVar[Method]
    _regresses: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GraphClusterer:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster; with ``metric="precomputed"``, a sparse graph of distances of
            shape (n_samples, n_samples) as ``KNeighborsTransformer`` makes it.
        y : ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; a whole number is the same as that many copies. Equal
            rows are one row of the graph: a weight changes the sizes of clusters and the
            regression, not who is whose neighbour. With representatives a weight also says how
            much a row adds to the links between them. Rows of weight zero are left out and
            labelled afterwards.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._validate(X, reset=True)
        weight = distinct.check_sample_weight(sample_weight, X.shape[0])
        settings = self._check(X)
        memory.check_memory(X, settings)
        watch = Watch(int(self.verbose), settings.max_time, self.callback, settings.max_iter)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        with single_blas_thread:
            prepared = many_rows.prepare(X, weight, settings, self._method, seed, watch)
            if prepared is None:
                self._fit_rows(X, weight, settings, seed, watch)
            else:
                self._fit_representatives(X, prepared, settings, seed, watch)
        self.timings_ = watch.seconds
        warn_unless_converged(self)
        warn_of_repetition(self)
        return self

    def _fit_rows(
        self,
        X: Matrix,
        weight: np.ndarray | None,
        settings: Settings,
        seed: int,
        watch: Watch,
    ) -> None:
        """Learn the graph of all distinct rows."""
        with watch.phase("rows"):
            rows = distinct.distinct_rows(X, weight, apart=settings.precomputed)
        weighted = rows.inverse >= 0
        task = self._task(rows, settings, seed, watch)
        lone, place = geometry.lone_rows(task, outlier_scores.whole_rows(rows))
        if lone.any():
            rows = distinct.without(rows, lone)
            task = self._task(rows, settings, seed, watch)
        else:
            task = task._replace(place=place)
        self._assign_rows(geometry.solve_task(task), rows, task.settings)
        self._judge_rule(X, rows.inverse >= 0)
        label_left_out(self, X, rows, (rows.inverse < 0) & weighted)
        warn_of_recall(self.neighbors_recall_)
        warn_of_scales(self.scales_, self.n_clusters_)

    def _task(
        self,
        rows: distinct.DistinctRows,
        settings: Settings,
        seed: int,
        watch: Watch,
    ) -> geometry.Task:
        return geometry.Task(
            rows.X,
            rows.size,
            self._for_distinct(settings, rows),
            self._method,
            self._regresses,
            seed,
            watch,
            rows.n_distinct,
        )

    def _fit_representatives(
        self,
        X: Matrix,
        prepared: many_rows.Prepared,
        settings: Settings,
        seed: int,
        watch: Watch,
    ) -> None:
        """Learn the graph of representatives; rows follow those that they are linked with."""
        many = prepared.many

        def solve(nodes: Nodes, watch: Watch, init: Any, firmness: float) -> Solved:
            started = settings._replace(init=init, alpha=firmness * settings.alpha)
            problem = problems.problem_on(nodes, many.frame, started, many.c, self._regresses)
            result, _ = running.run(problem, self._method, started, seed, watch)
            labels = self._discretise(problem, result)
            return Solved(labels, result.reason in HALTED, (problem, result))

        options = representatives.Options.of(settings)
        resolved = resolving.resolve(X, many, solve, options, watch)
        self._assign_resolved(resolved, prepared, settings)
        self._judge_rule(X, np.ones(len(self.labels_), dtype=bool))
        warn_of_disagreement(resolved.choice)

    def _for_distinct(self, settings: Settings, rows: distinct.DistinctRows) -> Settings:
        """The settings as they can be met by the distinct rows."""
        m = rows.n_distinct
        c, k, init = settings.n_clusters, settings.n_neighbors, settings.init
        if settings.precomputed and len(rows.first) < len(rows.inverse):
            raise ValueError(
                "sample_weight must be above 0 for every row when metric='precomputed'; leave "
                "the other rows out of X."
            )
        if c is not None and c > m:
            warn_few_rows(c, m)
            c = m
        if not isinstance(init, str):
            # Copies start together; labels that this leaves unused cannot be kept.
            values, init = np.unique(init[rows.first], return_inverse=True)
            init = init if len(values) == c else "spectral"
        k = None if k is None else min(k, max(len(rows.first) - 1, 1))
        return settings._replace(n_clusters=c, n_neighbors=k, init=init, unit=rows.unit)

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        X = super()._validate(X, reset=reset)
        if self.metric == "precomputed" and not sp.issparse(X):
            raise ValueError(
                "X must be a sparse graph when metric='precomputed'; make one with "
                "KNeighborsTransformer(mode='distance')."
            )
        if self.metric == "manhattan" and sp.issparse(X):  # scikit-learn's distances want 32 bits
            parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = sp.csr_array(parts, shape=X.shape)
        return scaling.unit_rows(X) if self.metric == "cosine" else X

    def _check(self, X: Matrix) -> Settings:
        parameters = self.get_params(deep=False)
        settings = check_settings(parameters, X.shape, sp.issparse(X))
        if settings.precomputed:
            _checks.check_neighbour_graph(X, settings.n_neighbors or 1)
        if settings.precomputed and self._regresses:
            raise ValueError(
                f"metric='precomputed' gives {type(self).__name__} no features to regress labels "
                "on; pass features, or use DOGC."
            )
        return settings

    def _assign_rows(
        self,
        solution: geometry.Solution,
        rows: distinct.DistinctRows,
        settings: Settings,
    ) -> None:
        """Set the fitted attributes; clusters are numbered by falling size."""
        problem, place, result, choice = solution
        geometry, state, dtype = place.geometry, result.state, place.geometry.dtype
        labels = self._discretise(problem, result)
        new_name = discrete.size_order(labels, problem.c, rows.size)
        labels = new_name[labels]
        self.affinity_matrix_ = distinct.spread_graph(learned_graph(state).astype(dtype), rows)
        self.embedding_ = state.F.astype(dtype)[rows.inverse]
        self.embedding_[rows.inverse < 0] = 0.0
        W = problems.projection(geometry, state, self.n_features_in_)
        self.n_clusters_, self.n_neighbors_ = problem.c, problem.k
        self._assign_components(scaling.feature_map(geometry.scaled, W), dtype)
        self._assign_choice(choice, problem.k, settings)
        self.neighbors_recall_ = place.recall
        self._assign_representatives(None)
        self._assign_state(result, new_name, dtype)
        common_xi = None if settings.xi_rule is graph.neighbour_xi else float(state.xi[0])
        fitted = labelling.remember(place, W, labels, problem.k, common_xi)
        copies = outlier_scores.whole_rows(rows)
        reach, score = outlier_scores.fitted_scores(fitted, place, copies, settings.n_jobs)
        self._fitted_rows = fitted._replace(copies=copies, reach=reach, stray=state.stray)
        self.labels_ = labels[rows.inverse]
        again = labelling.repeated(fitted, place)[rows.inverse[rows.inverse >= 0]]
        self.label_agreement_ = float(again.mean())
        if geometry.scaled is not None:
            scaled = geometry.scaled
            self._assign_rule(
                Learned(scaled.X, labels, rows.size, score, scaled, state, new_name, dtype),
                settings,
            )
        sure = labelling.confidence(problem, labels)
        self._assign_sureness(
            sure[rows.inverse], score[rows.inverse], state.stray[rows.inverse], settings
        )
        left_out = rows.inverse < 0
        self.confidence_[left_out] = self.outlier_scores_[left_out] = np.nan
        self.outliers_[left_out] = False

    def _assign_choice(self, choice: geometry.Choice, k: int, settings: Settings) -> None:
        """What was left open, and what it became."""
        self.scales_ = choice.look.scales._replace(chosen=k)
        if settings.n_neighbors is not None:
            self.scales_ = scales.only_scale(k)
        self.cluster_counts_ = choice.counts
        self.geometry_ = choice.look.columns.name
        self.geometries_ = {look.columns.name: look.scales for look in choice.looks}

    def _assign_resolved(
        self,
        resolved: representatives.Resolved,
        prepared: many_rows.Prepared,
        settings: Settings,
    ) -> None:
        """The same where the graph was learned on representatives."""
        fitted, _, solved, rows, _ = resolved
        problem, result = solved.outcome
        state, dtype = result.state, prepared.dtype
        labels, confidence, voters, new_name = representatives.named_votes(
            rows, solved.labels, prepared.many.weight, problem.c, settings.n_jobs
        )
        self.affinity_matrix_ = learned_graph(state).astype(dtype)
        self.embedding_ = (state.F / root_mass(problem)).astype(dtype)
        self._assign_components(prepared.components, dtype)
        self.n_clusters_, self.n_neighbors_ = problem.c, fitted.n_links
        self.scales_ = scales.only_scale(fitted.n_links)
        self.cluster_counts_ = prepared.counts
        self.geometry_ = prepared.geometry
        self.geometries_ = {look.columns.name: look.scales for look in prepared.looks}
        self.neighbors_recall_ = 1.0
        hanging = state.stray | resolved.nodes.tied
        stray, _, _ = representatives.row_votes(rows, hanging.astype(np.int64), settings.n_jobs)
        named = new_name[solved.labels]
        self._assign_representatives(resolved, named, prepared.many.unit)
        self._assign_state(result, new_name, dtype)
        reach = outlier_scores.representative_reach(fitted.R, fitted.n_links, fitted.metric)
        fitted = fitted._replace(labels=named, n_votes=voters, reach=reach, stray=hanging)
        self._fitted_rows = fitted
        self.labels_ = labels
        self.label_agreement_ = 1.0  # labels are the votes that predict takes
        learned = sampled_rows(fitted, prepared.many, state, new_name, dtype, settings.n_jobs)
        self._assign_rule(learned, settings)
        score = outlier_scores.row_scores(fitted, rows, settings.n_jobs)
        self._assign_sureness(confidence, score, stray == 1, settings)

    def _assign_components(self, components: np.ndarray | None, dtype: Any) -> None:
        self.components_ = None
        if components is not None:
            self.components_ = np.ascontiguousarray(components.astype(dtype))

    def _assign_state(self, result: Result, new_name: np.ndarray, dtype: Any) -> None:
        """What the loop left, whatever the nodes of its graph were."""
        if steps.step_Q in self._method.steps:
            self.rotation_ = result.state.Q[:, np.argsort(new_name)].astype(dtype)
        assign_run(self, result)

    def _assign_rule(self, learned: Learned, settings: Settings) -> None:
        """Nothing: new rows follow their neighbours."""

    def _judge_rule(self, X: Matrix, labelled: np.ndarray) -> None:
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
