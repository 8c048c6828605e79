"""From distinct rows to a solution: what is left open is chosen, then the loop runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._checks import check_room
from ...loop.running import held, may_hold, run, run_once
from ...loop.solver import HALTED, SUCCESS, Result
from ...loop.state import Problem, State
from ...numerics import discrete, graph, separation
from .. import outlier_scores
from ..column_maps import GIVEN
from ..problems import Place, problem_at
from ..representatives import FEW_ROWS
from .geometry import Look, begins_at, best_look, better_looks, look_around
from .n_clusters import CountEvidence, count_clusters
from .n_neighbors import AGREED, SCALES, distance_from_usual, weigh_scales
from .task import Begun, Task, begun, placed, sampled

# The share of another's cut up to which labels are believed to be better, and the same in a wide
# neighbourhood, where the cut hangs less on single rows.
FEWER, FEWER_WIDE = 0.6, 0.7
# The multiple of another's cut up to which labels cut little more at a scale that is not their own.
MORE = 3.0
# One more scale is this part of an average cluster. Neighbourhoods of a fixed size shrink as rows
# become more, and with them the gap that a graph can see. It says something new if it is so much
# wider than the others.
WIDE, WIDER = 8, 1.25


class Choice(NamedTuple):
    """What was left open, and what it became."""

    c: int
    k: int
    counts: list[CountEvidence]
    looks: list[Look]  # the geometries in the order of trying
    look: Look  # the one that was taken


class Solution(NamedTuple):
    """What came of it."""

    problem: Problem
    place: Place
    result: Result
    choice: Choice


def rows_without_say(task: Task, copies: np.ndarray) -> tuple[np.ndarray, Place | None]:
    """Rows that are to have no say: far away, alone or in a group too small for a cluster.

    Who counts every component as the paper does, or in its units, has every row count. The second
    result is where all rows lie, if that was looked at.
    """
    settings, n = task.settings, task.X.shape[0]
    by_paper = settings.smallest.rows is not None or not settings.penalties.relative
    if by_paper or settings.lookup.precomputed or not 4 <= n <= FEW_ROWS:
        return np.zeros(n, dtype=bool), None
    place, c = placed(task), settings.wanted.n_clusters
    jobs, wide = settings.lookup.n_jobs, settings.wanted.wide
    lone = outlier_scores.lone_rows(place, copies, c, jobs, task.watch, wide)
    if c is not None and place.piece is not None and settings.may_stand:
        least = settings.smallest.size(float(task.size.sum()), c)
        lone &= separation.stands(task.size, place.piece, c, least) < 0
    return lone, place


def solve_task(task: Task) -> Solution:
    """Choose what is left open and solve; beyond a few rows a sample of them chooses."""
    settings = task.settings
    few = task.X.shape[0] <= FEW_ROWS
    if few or settings.lookup.precomputed or not settings.is_open:
        choice = choose(task)
        return settled(task, choice)
    with task.watch.phase("choices"):
        choice = choose(sampled(task))
    place = placed(task, choice.look.columns, choice.k)
    problem = problem_at(place, settings, choice.c, choice.k, task.method.regresses)
    run_settings = begins_at(settings.run, choice.look)
    result, _ = run(problem, task.method, run_settings, task.seed, task.watch)
    return Solution(problem, place, result, choice)


def choose(task: Task) -> Choice:
    """The number of clusters, the geometry and the scale."""
    settings, wanted = task.settings, task.settings.wanted
    task = task._replace(place=placed(task))
    counts = [] if wanted.n_clusters is not None else count_clusters(task)
    c = wanted.n_clusters or (counts[0].n_clusters if counts else task.n_distinct)
    check_room(settings.smallest.rows, float(task.size.sum()) * settings.smallest.unit, c)
    looks = look_around(task, c)
    chosen = best_look(looks)
    k = wanted.n_neighbors or chosen.scales.chosen
    name = chosen.columns.name
    task.watch.say(f"{c} clusters, {chosen.start} start, geometry {name}, {k} neighbours")
    return Choice(c, k, counts, looks, chosen)


def settled(task: Task, choice: Choice) -> Solution:
    """The solution at the scale that was chosen, or one in wide neighbourhoods that cuts less."""
    look, k = choice.look, choice.k
    if k not in look.begun:
        with task.watch.phase("start"):
            here = begun(task, look.place, choice.c, k, look.start, {})
            look = look._replace(begun={**look.begun, k: here})
    problem, result = _solution_at(task, look, k)
    solution = Solution(problem, look.place, result, choice)
    if may_have_rivals(task, choice.looks, look.begun[k], result):
        solution = _wider(task, look, solution)
    return solution


def _wider(task: Task, look: Look, solution: Solution) -> Solution:
    """The solution, or one in wide neighbourhoods that cuts far less there.

    They are those of the columns as given, which no labels have changed, unless the user says.
    It must cut little more at the usual scale: a wide neighbourhood may reach from one thin cluster
    to the next.
    """
    k = task.X.shape[0] // (WIDE * solution.choice.c)
    if k < WIDER * SCALES[-1] or task.watch.overdue:
        return solution
    labels = task.method.final_labels(solution.problem, solution.result.state)
    with task.watch.phase("choices"):
        columns = GIVEN if task.settings.wanted.geometry is None else look.columns
        place = placed(task._replace(place=None), columns, k)
        here, start = begun(task, place, solution.choice.c, k, "spectral", {})
        if discrete.adjusted_rand(labels, start.Y, task.size) >= AGREED:
            return solution
        settings = task.settings.run._replace(init="spectral")
        tried = run_once(here, task.method, settings, task.seed, task.watch.quiet(), start)
    found = task.method.final_labels(here, tried.state)
    usual = look.begun[min(look.begun, key=distance_from_usual)]
    fewer = _cut(here, start, found) <= FEWER_WIDE * _cut(here, start, labels)
    little_more = _cut(*usual, found) <= MORE * _cut(*usual, labels)
    if not (tried.reason in SUCCESS and fewer and little_more):
        return solution
    starts = {other: state.Y for other, (_, state) in look.begun.items()}
    scales = weigh_scales({**starts, k: found}, task.size)._replace(chosen=k)
    look = look._replace(columns=columns, scales=scales, start="spectral")
    return Solution(here, place, tried, solution.choice._replace(look=look))


def _solution_at(task: Task, look: Look, k: int) -> tuple[Problem, Result]:
    """The solution at one scale.

    One that leaves the clusters it started from is believed if it cuts far less than they do. If
    not, it follows the fringes of clusters that overlap, and alpha is to hold it to the labels.
    """
    settings, method = begins_at(task.settings.run, look), task.method
    problem, start = look.begun[k]
    # What was solved for a choice is taken as it is, unless somebody wants to watch.
    ran = None if task.watch.audience else look.solved.get(k)
    result, firm = ran or run(problem, method, settings, task.seed, task.watch, start)
    if not firm and settings.is_own and may_hold(settings, result, task.watch):
        labels = method.final_labels(problem, result.state)
        left = discrete.adjusted_rand(labels, start.Y, task.size) < AGREED
        fewer = _cut(problem, start, labels) <= FEWER * _cut(problem, start, start.Y)
        if left and not fewer:
            result = run_once(held(problem), method, settings, task.seed, task.watch, start)
    return problem, result


def may_have_rivals(task: Task, looks: list[Look], here: Begun, result: Result) -> bool:
    """Whether another scale may be better than the one that was taken.

    Not where all agree in the geometry that was tried first, where the graph falls into the
    clusters by itself, or where there is no more time. Agreement in whitened columns does not
    count: labels have whitened them, right or wrong, and scales then agree on these labels.
    """
    problem, start = here
    first = next(iter(better_looks(looks).values()))
    agreed = first.score >= AGREED or start.graph.n_components >= problem.c
    ended = result.reason in HALTED or task.watch.overdue
    return not (task.settings.wanted.n_neighbors or agreed or ended)


def _cut(problem: Problem, start: State, labels: np.ndarray) -> float:
    """The normalised cut of labels in the data's own graph at a scale."""
    A = graph.to_csr(start.idx, problem.nodes.root**2 * start.graph.S, problem.n)
    return graph.normalised_cut(A, labels)
