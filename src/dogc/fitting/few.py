"""A fit of few rows: each distinct row is a node of the graph."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._checks import check_room
from ..loop.initial_states import own_graph
from ..loop.running import firmer, may_hold, run
from ..loop.solver import HALTED, SUCCESS, Result
from ..loop.state import Problem, State, similarities
from ..loop.steps import scatter_of
from ..numerics import discrete, graph, outliers, separation
from ..numerics.matrix import Matrix
from . import distinct, labelling, new_rows, outlier_scores, scaling
from .auto.geometry import CERTAIN, Look, begins_at, best_look, better_looks, look_around
from .auto.n_clusters import CountEvidence, count_clusters
from .auto.n_neighbors import AGREED, SCALES, distance_from_usual, only_scale, weigh_scales
from .auto.task import Start, Task, place_of, sampled, start_at
from .distinct import DistinctRows, warn_few_rows
from .evidence import Evidence, evidence_of, evidence_of_graph, spread_rows
from .many import are_many
from .new_rows import Model
from .problems import Place, points, problem_at, projection
from .representatives import FEW_ROWS, RowFacts, RowSet
from .result import FitResult, LearnedMatrices, choices_of, other_counts
from .rule import RuleRows, fitted_rule, judged_rule
from .settings import check_memory, wide_scale

# The share of another's cut up to which labels are believed to be better, and the same in a wide
# neighbourhood, where the cut hangs less on single rows.
FEWER, FEWER_WIDE = 0.6, 0.7
# The multiple of another's cut up to which labels cut little more at a scale that is not their own.
MORE = 4.0
# One more scale is this part of an average cluster. Neighbourhoods of a fixed size shrink as rows
# become more, and with them the gap that a graph can see. It says something new if it is so much
# wider than the others.
WIDE, WIDER = 8, 1.25


class Solution(NamedTuple):
    """The solution of a task in one geometry, at one scale."""

    problem: Problem
    place: Place
    result: Result
    look: Look


def few(rows: RowSet, task: Task) -> FitResult:
    """Fit rows that are few enough to be nodes of the graph themselves."""
    if not are_many(rows, task.settings.wanted.n_representatives):
        check_memory(rows, task.settings, task.method.regresses)
    # 1) Distinct rows, but those that are to have no say
    X, weight = rows.few()
    nodes, lone, task = with_say(X, weight, task)
    # 2) The number of clusters, the geometry and the scale; of many rows a sample chooses
    settings, watch = task.settings, task.watch
    wanted = settings.wanted
    draws = len(task.size) > FEW_ROWS and not settings.lookup.precomputed and settings.is_open
    asked = sampled(task) if draws else task
    with watch.phase("choices") if draws else contextlib.nullcontext():
        asked = asked._replace(place=place_of(asked))
        counts = [] if wanted.n_clusters is not None else count_clusters(asked)
        c = wanted.n_clusters or (counts[0].n_clusters if counts else asked.n_distinct)
        check_room(settings.smallest.rows, float(asked.size.sum()) * settings.smallest.unit, c)
        looks = look_around(asked, c)
        look = best_look(looks)
        k = wanted.n_neighbors or look.scales.chosen
        name = look.columns.name
        asked.watch.say(f"{c} clusters, {look.start} start, geometry {name}, {k} neighbours")
    # 3) The solution there, or in a neighbourhood that cuts far less
    if draws:
        place = place_of(task, look.columns, k)
        problem = problem_at(place, settings, c, k, task.method.regresses)
        begins = begins_at(settings.run, look)
        result, _ = run(problem, task.method, begins, task.seed, watch)
        solution = Solution(problem, place, result, look)
    else:
        solution = solution_at(task, look, k, c)
        if may_have_rivals(task, looks, solution):
            solution = _wider(task, c, solution)
    # 4) What becomes of rows, and of new ones
    look, problem = solution.look, solution.problem
    learned, rows_found, model, agreement = row_result(task, solution, X, nodes, k)
    learned, rows_found = _with_left_out(model, X, nodes, lone, learned, rows_found)
    # 5) The evidence of the choices
    own_k = wanted.wide or wanted.everyone  # what is asked for is not how many candidates there are
    chosen = look.scales._replace(chosen=k if own_k else problem.candidates.k)
    if wanted.n_neighbors is not None and not own_k:
        chosen = only_scale(problem.candidates.k)
    name, recall = look.columns.name, solution.place.recall
    starts = {other.start: other.scales for other in looks if other.columns.name == name}
    choices = choices_of(
        settings, problem.c, chosen, counts, name, looks, look.start, starts, recall
    )
    unseen = functools.partial(new_rows.facts_of, model)
    facts = rows.spread(rows_found, unseen)
    seen = evidence_later(task, solution)
    others = {} if draws else partitions(task, solution, X, nodes, counts, k)
    return FitResult(choices, solution.result, learned, facts, model, agreement, seen, others)


def partitions(
    task: Task,
    solution: Solution,
    X: Matrix,
    rows: DistinctRows,
    counts: list[CountEvidence],
    k: int,
) -> dict[int, np.ndarray]:
    """Labels of the start for the numbers of clusters that were ranked next."""
    found: dict[int, np.ndarray] = {}
    for c in other_counts(counts, solution.problem.c):
        if task.watch.overdue:
            break
        start = solution.look.start
        labels = start_at(task, solution.look.place, c, k, start, {})[1].Y
        labels = discrete.size_order(labels, c, rows.size)[labels]
        found[c] = labels[rows.inverse]
        left_out = np.flatnonzero(rows.inverse < 0)
        if len(left_out):
            fitted = labelling.fitted_rows(solution.look.place, None, labels, k, None)
            found[c][left_out] = labelling.new_labels(fitted, X[left_out], None)
    return found


def evidence_later(task: Task, solution: Solution) -> Callable[[], Evidence]:
    """The evidence for the labels of a solution, when it is asked for."""
    labels = task.discretise(solution.problem, solution.result.state)
    geometry = solution.place.geometry
    if geometry.scaled is None:
        return functools.partial(evidence_of_graph, own_graph(solution.problem)[0], labels)
    rows = spread_rows(len(labels))
    wide = task.settings.wanted.wide
    return functools.partial(evidence_of, points(geometry)[rows], labels[rows], wide=wide)


def with_say(
    X: Matrix, weight: np.ndarray | None, task: Task
) -> tuple[DistinctRows, np.ndarray, Task]:
    """Distinct rows that have a say, who has weight and yet none, and the task on them."""
    settings = task.settings
    with task.watch.phase("rows"):
        rows = distinct.distinct_rows(
            X,
            weight,
            apart=settings.lookup.precomputed or not settings.merge_copies,
            # What is drawn, and the paper's own protocol, go by the columns as they come.
            any_columns=settings.run.is_own and settings.penalties.relative,
        )
    weighted = rows.inverse >= 0
    asked = on_rows(task, rows).in_own_columns()
    lone, place = rows_without_say(asked, outlier_scores.whole_rows(rows))
    if not lone.any():
        return rows, np.zeros(len(weighted), dtype=bool), asked._replace(place=place)
    rows = distinct.without(rows, lone)
    return rows, (rows.inverse < 0) & weighted, on_rows(task._replace(own=asked.own), rows)


def on_rows(task: Task, rows: DistinctRows) -> Task:
    """The task on distinct rows, asked for no more than they can give."""
    settings, m = task.settings, rows.n_distinct
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
    return task._replace(
        settings=settings, X=rows.X, size=rows.size, n_distinct=m, columns=rows.columns
    )


def rows_without_say(task: Task, copies: np.ndarray) -> tuple[np.ndarray, Place | None]:
    """Rows that are to have no say: far away, alone or in a group too small for a cluster.

    With an explicit min_cluster_size or penalties="paper", no row is excluded. The second result
    is where all rows lie, if that was looked at.
    """
    settings, n = task.settings, task.X.shape[0]
    by_paper = settings.smallest.rows is not None or not settings.penalties.relative
    if by_paper or settings.lookup.precomputed or not 4 <= n <= FEW_ROWS:
        return np.zeros(n, dtype=bool), None
    place, c = place_of(task), settings.wanted.n_clusters
    jobs, wide = settings.lookup.n_jobs, settings.wanted.wide
    lone = outlier_scores.lone_rows(place, copies, c, jobs, task.watch, wide)
    if c is not None and place.piece is not None and settings.may_stand:
        least = settings.smallest.size(float(task.size.sum()), c)
        lone &= separation.stands(task.size, place.piece, c, least) < 0
    return lone, place


def solution_at(task: Task, look: Look, k: int, c: int) -> Solution:
    """The solution at one scale.

    One that leaves the clusters it started from is believed if it cuts far less than they do. If
    not, it follows the fringes of clusters that overlap, and alpha is to hold it to the labels.
    """
    settings, method = begins_at(task.settings.run, look), task.method
    if k not in look.starts:
        with task.watch.phase("start"):
            here = start_at(task, look.place, c, k, look.start, {})
            look = look._replace(starts={**look.starts, k: here})
    problem, start = look.starts[k]
    # What was solved for a choice is taken as it is, unless somebody wants to watch.
    ran = None if task.watch.audience else look.solved.get(k)
    result, firm = ran or run(problem, method, settings, task.seed, task.watch, start)
    if not firm and settings.is_own and may_hold(settings, result, task.watch):
        labels = method.final_labels(problem, result.state)
        left = discrete.adjusted_rand(labels, start.Y, task.size) < AGREED
        fewer = _cut(problem, start, labels) <= FEWER * _cut(problem, start, start.Y)
        if left and not fewer:
            result = run(firmer(problem), method, settings, task.seed, task.watch, start, False)[0]
    return Solution(problem, look.place, result, look)


def may_have_rivals(task: Task, looks: list[Look], solution: Solution) -> bool:
    """True where another scale may be better than the one that was taken.

    Not where all agree fully in the geometry that was tried first, where the graph falls into the
    clusters by itself, or where there is no more time. Agreement in whitened columns does not
    count: labels have whitened them, right or wrong, and scales then agree on these labels.
    """
    c, wanted = solution.problem.c, task.settings.wanted
    _, start = solution.look.starts[wanted.n_neighbors or solution.look.scales.chosen]
    first = next(iter(better_looks(looks).values()))
    agreed = first.score >= CERTAIN or start.graph.n_components >= c
    ended = solution.result.reason in HALTED or task.watch.overdue
    return not (wanted.n_neighbors or agreed or ended)


def _wider(task: Task, c: int, solution: Solution) -> Solution:
    """The solution, or one in wide neighbourhoods that cuts far less there.

    They are those of the own columns, which no labels have changed, unless the user says.
    It must cut little more at the usual scale: a wide neighbourhood may reach from one thin cluster
    to the next.
    """
    look, k = solution.look, task.X.shape[0] // (WIDE * c)
    if k < WIDER * SCALES[-1] or task.watch.overdue:
        return solution
    labels = task.method.final_labels(solution.problem, solution.result.state)
    # In so smooth a graph the spectral start may cut long clusters across; the last start, which
    # is by modularity unless the user says, hardly ever does.
    name = task.settings.run.starts[-1]
    with task.watch.phase("choices"):
        columns = task.own if task.settings.wanted.geometry is None else look.columns
        place = place_of(task._replace(place=None), columns, k)
        here, start = start_at(task, place, c, k, name, {})
        if discrete.adjusted_rand(labels, start.Y, task.size) >= AGREED:
            return solution
        settings = task.settings.run._replace(init=name)
        watch = task.watch.quiet()
        tried, _ = run(here, task.method, settings, task.seed, watch, start)
    found = task.method.final_labels(here, tried.state)
    usual: Start = look.starts[min(look.starts, key=distance_from_usual)]
    fewer = _cut(here, start, found) <= FEWER_WIDE * _cut(here, start, labels)
    little_more = _cut(*usual, found) <= MORE * _cut(*usual, labels)
    if not (tried.reason in SUCCESS and fewer and little_more):
        return solution
    starts = {other: state.Y for other, (_, state) in look.starts.items()}
    scales = weigh_scales({**starts, k: found}, task.size)._replace(chosen=k)
    look = look._replace(columns=columns, scales=scales, start=name)
    return Solution(here, place, tried, look)


def _cut(problem: Problem, start: State, labels: np.ndarray) -> float:
    """The normalised cut of labels in the data's own graph at a scale."""
    A = graph.to_csr(start.graph.idx, problem.nodes.root**2 * start.graph.S, problem.n)
    return graph.normalised_cut(A, labels)


def row_result(
    task: Task, solution: Solution, X: Matrix, rows: DistinctRows, k: int
) -> tuple[LearnedMatrices, RowFacts, Model, float]:
    """Matrices, facts of rows and model of a solution; clusters are numbered by falling size."""
    settings, (problem, place, result, _) = task.settings, solution
    geometry, state, wide = place.geometry, result.state, settings.wanted.wide
    dtype, n_jobs, scaled = geometry.dtype, settings.lookup.n_jobs, geometry.scaled
    found, inverse = task.discretise(problem, state), rows.inverse
    new_name = discrete.size_order(found, problem.c, rows.size)
    labels, copies = new_name[found], outlier_scores.whole_rows(rows)
    # The matrices, for all rows
    W = projection(geometry, state, X.shape[1])
    F = (state.F / problem.nodes.root).astype(dtype)
    learned = LearnedMatrices(
        distinct.spread_graph(similarities(state), rows),
        np.where(inverse[:, None] >= 0, F[inverse], dtype.type(0)),
        scaling.feature_map(scaled, W),
        state.Q[:, np.argsort(new_name)],
        dtype,
    )
    # What labels new rows
    common_xi = None
    if settings.xi_rule is not graph.neighbour_xi:
        # New rows come with distances that are not divided by the scatter of the subspace.
        common_xi = float(problem.candidates.xi[0]) * scatter_of(problem, state)
    k = k if wide or settings.wanted.everyone else problem.candidates.k
    fitted = labelling.fitted_rows(place, W, labels, k, common_xi, wide)
    reach, score = outlier_scores.fitted_scores(fitted, place, copies, n_jobs, task.watch)
    fitted = fitted._replace(copies=copies, reach=reach, stray=state.graph.stray)
    again = labelling.repeated(fitted, place)
    agreement = float(np.average(again, weights=rows.size))
    # How far rows belong to their clusters, and who is an outlier
    own = labelling.membership(problem, labels, copies)
    own = outliers.discount(own, score, problem.c).astype(dtype)
    model = Model(fitted, None, settings.lookup.metric, settings.outlier_label, n_jobs, own)
    apart = state.graph.stray[inverse] | (score[inverse] > outliers.OUTLYING)
    facts = RowFacts(labels[inverse], own[inverse], score[inverse].astype(dtype), apart)
    if settings.outlier_label is not None:
        facts.labels[apart] = settings.outlier_label
    left_out = inverse < 0
    facts.membership[left_out] = facts.scores[left_out] = np.nan
    facts.outliers[left_out] = False
    if settings.rule is not None and scaled is not None:
        basis = RuleRows(scaled.X, labels, rows.size, score, scaled, state, new_name)
        rule = fitted_rule(basis, settings, dtype, task.watch.end.is_near)
        first, size = rows.first, rows.size
        if settings.outlier_label is not None:
            inside = ~facts.outliers[first]
            first, size = first[inside], size[inside]
        own = facts.labels[first]
        rule, agreement = judged_rule(rule, settings, X[first], own, size, agreement)
        model = model._replace(rule=rule)
    return learned, facts, model, agreement


def _with_left_out(
    model: Model,
    X: Matrix,
    rows: DistinctRows,
    lone: np.ndarray,
    learned: LearnedMatrices,
    facts: RowFacts,
) -> tuple[LearnedMatrices, RowFacts]:
    """Rows without a say, labelled as new ones; lone ones hang on the row that is nearest."""
    left_out = np.flatnonzero(rows.inverse < 0)
    if not len(left_out):
        return learned, facts
    facts.labels[left_out] = new_rows.labels_of(model, X[left_out])
    facts.outliers[left_out] = new_rows.outliers_among(model, X[left_out])
    if not lone.any():
        return learned, facts
    far = X[lone]
    facts.scores[lone] = new_rows.scores_of(model, far)
    shares = new_rows.shares_of(model, far)
    facts.membership[lone] = new_rows.own_share(shares, facts.labels[lone])
    assert isinstance(model.fitted, labelling.FittedRows)
    nearest = labelling.nearest_fitted(model.fitted, far, 1, model.n_jobs)[0][:, 0]
    S = learned.S.astype(learned.dtype)
    ties = np.ones(len(nearest), S.dtype), (np.flatnonzero(lone), rows.first[nearest])
    tied = sp.csr_array(ties, shape=S.shape)
    return learned._replace(S=(S + tied).tocsr()), facts
