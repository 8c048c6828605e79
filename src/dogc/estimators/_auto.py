"""From distinct rows to a solution: how many clusters, which scale, the run itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import counting, graph, scales
from ..arrays import Matrix
from ..methods import Method
from ..restarts import solve, starts
from ..solver import HALTED, Result
from ..state import Problem
from . import _build
from ._checks import check_room
from ._settings import Settings
from ._watch import Watch

# The scale is chosen on a sample of this many rows where there are more, the number of clusters
# on a smaller one: eigenvalues within a cluster fall with n, those between clusters are zero
# already.
SAMPLE_ROWS = 20_000
COUNT_ROWS = 2_000


class Task(NamedTuple):
    """What is to be solved."""

    X: Matrix  # distinct rows
    size: np.ndarray
    settings: Settings
    method: Method
    regress: bool
    seed: int
    watch: Watch
    n_distinct: int


class _Halted(Exception):
    """Ends the choice of scale."""


class Solution(NamedTuple):
    """What came of it."""

    problem: Problem
    place: _build.Place
    result: Result
    scales: scales.ScaleChoice
    counts: list[counting.CountEvidence]


def solve_task(task: Task) -> Solution:
    """Choose what is left open and solve."""
    n = task.X.shape[0]
    if task.settings.precomputed or n <= SAMPLE_ROWS or not _open(task.settings):
        return _solve_open(task)
    with task.watch.phase("choices"):
        found = _solve_open(_sample(task, SAMPLE_ROWS))
    settings = task.settings._replace(n_clusters=found.problem.c, n_neighbors=found.scales.chosen)
    solution = _solve_open(task._replace(settings=settings))
    return solution._replace(scales=found.scales, counts=found.counts)


def _sample(task: Task, n_rows: int) -> Task:
    """The task on some of its rows, the same every time."""
    rows = np.sort(np.random.default_rng(0).choice(task.X.shape[0], n_rows, replace=False))
    return task._replace(X=task.X[rows], size=task.size[rows], watch=task.watch.quiet())


def _open(settings: Settings) -> bool:
    return settings.n_clusters is None or settings.n_neighbors is None


def _solve_open(task: Task) -> Solution:
    settings = task.settings
    largest = _largest_scale(task)
    fixed = settings.n_neighbors
    with task.watch.phase("neighbours"):
        place = _build.locate(task.X, task.size, settings, largest, task.watch.advance)
    counts = [] if settings.n_clusters is not None else _count(task, place, largest)
    c = settings.n_clusters or (counts[0].n_clusters if counts else task.n_distinct)
    check_room(settings.min_cluster_size, float(task.size.sum()) * settings.unit, c)
    place = _build.settle_dimension(place, settings, c)
    solved: dict[int, tuple[Problem, Result]] = {}

    def labels_at(k: int) -> np.ndarray:
        if fixed is None:
            task.watch.say(f"{c} clusters, {k} neighbours")
        problem, result = solved[k] = _solve_at(task, place, c, k)
        if result.reason in HALTED:
            raise _Halted
        return task.method.final_labels(problem, result.state)

    if fixed is None:
        # More neighbours than a cluster has rows would tie every cluster to another.
        candidates = scales.candidate_scales(min(largest, max(5, task.X.shape[0] // c)))
    else:
        candidates = [fixed]
    try:
        choice = scales.choose_scale(labels_at, candidates, task.size)
    except _Halted:
        choice = _choose_finished(task, solved)
    problem, result = solved[choice.chosen]
    return Solution(problem, place, result, choice, counts)


def _choose_finished(task: Task, solved: dict[int, tuple[Problem, Result]]) -> scales.ScaleChoice:
    """The best of the scales that were finished before the last one was halted, if any was.

    Why it was halted becomes the reason of the one that is taken.
    """
    *finished, last = solved
    if solved[last][1].reason == "callback" or not finished:
        return scales.only_scale(last)
    labels = {k: task.method.final_labels(problem, result.state) for k, (problem, result) in
              solved.items() if k in finished}  # fmt: skip
    choice = scales.weigh_scales(labels, task.size)
    problem, result = solved[choice.chosen]
    solved[choice.chosen] = problem, result._replace(reason=solved[last][1].reason)
    return choice


def _largest_scale(task: Task) -> int:
    """The most neighbours that are ever asked for."""
    n = task.X.shape[0]
    if task.settings.n_neighbors is not None and task.settings.n_clusters is not None:
        return task.settings.n_neighbors
    largest = max(1, (n - 1) // 2)
    if task.settings.precomputed:
        stored = np.diff(sp.csr_array(task.X).indptr) - (task.X.diagonal() != 0)
        largest = int(min(largest, max(1, stored.min())))
    return max(min(largest, scales.SCALES[-1]), task.settings.n_neighbors or 1)


def _solve_at(task: Task, place: _build.Place, c: int, k: int) -> tuple[Problem, Result]:
    problem = _build.problem_at(place, task.settings, c, k, task.regress)
    return problem, run(problem, task.method, task.settings, task.seed, task.watch)


def run(problem: Problem, method: Method, settings: Settings, seed: int, watch: Watch) -> Result:
    """The method from its starts, timed and watched."""
    rng = np.random.default_rng(seed)
    with watch.phase("iterations"):
        return solve(
            problem,
            method,
            watch.each("start", starts(problem, settings.init, settings.n_init, rng)),
            lam=settings.lam,
            max_iter=settings.max_iter,
            tol=settings.tol,
            callback=watch,
        )


def count_clusters(task: Task) -> list[counting.CountEvidence]:
    """Evidence for each number of clusters, from the rows of the task."""
    largest = _largest_scale(task)
    return _count(task, _build.locate(task.X, task.size, task.settings, largest), largest)


def _count(task: Task, place: _build.Place, largest: int) -> list[counting.CountEvidence]:
    """Evidence for each number of clusters, from the data's own graphs at several scales.

    Empty where there are too few distinct rows to weigh anything: each is then a cluster.
    """
    fixed = task.settings.n_neighbors
    if len(place.idx) > COUNT_ROWS and not task.settings.precomputed:
        place = _build.locate(*_sample(task, COUNT_ROWS)[:3], largest)
    n = len(place.idx)
    most = counting.most_clusters(n)
    if most < 2 or task.n_distinct < 4:
        return []
    spectra = []
    for k in scales.candidate_scales(largest) if fixed is None else [fixed]:
        xi = graph.neighbour_xi(place.d[:, : k + 1], k)
        S = graph.to_csr(place.idx[:, :k], graph.solve_rows(place.d[:, :k], xi), n)
        spectra.append(counting.low_eigenvalues(((S + S.T) * 0.5).tocsr(), most + 1))
    return counting.weigh_counts(spectra)
