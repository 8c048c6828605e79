"""From distinct rows to a solution: how many clusters, which geometry and scale, the run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from .._checks import check_room
from ..loop.initial_states import spectral_start
from ..loop.methods import Method
from ..loop.running import Ran, held, is_spectral, may_hold, run, run_once
from ..loop.solver import HALTED, SUCCESS, Result
from ..loop.state import Problem, State
from ..loop.watch import Watch
from ..numerics import discrete, graph
from ..numerics.matrix import Matrix
from ..rows import outlier_scores, problems
from ..rows.columns import GIVEN, Columns, can_whiten, has_codes, standard_columns, within_columns
from ..rows.settings import Settings
from . import n_clusters as counting
from . import n_neighbors as scales
from . import n_representatives as resolutions

# Where there are more rows than resolutions.FEW_ROWS, geometry and scale are chosen on a sample of
# so many; the number of clusters always is: eigenvalues within a cluster fall with n, those
# between clusters are zero already.
SAMPLE_ROWS = 2_000
# Rows whose neighbours are so many times as far away (squared) as usual do not stretch columns.
LONELY = 1000.0
# The share of another's cut up to which labels are believed to be better.
FEWER = 0.6
# Scales whose scores differ by less agree alike.
ALIKE = 0.02


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
    place: problems.Place | None = None  # columns as given, where neighbours are known already


class Look(NamedTuple):
    """Rows in one geometry, and what their graphs say at several scales before any is learned."""

    columns: Columns
    place: problems.Place
    begun: dict[int, tuple[Problem, State]]  # by number of neighbours
    scales: scales.ScaleChoice
    solved: dict[int, Ran]  # what was solved on the way

    @property
    def score(self) -> float:
        """How far the scales agree with the one that they agree with most."""
        return float(self.scales.score.max())


class Choice(NamedTuple):
    """What was left open, and what it became."""

    c: int
    k: int
    counts: list[counting.CountEvidence]
    looks: list[Look]  # the geometries in the order of trying
    look: Look  # the one that was taken


class Solution(NamedTuple):
    """What came of it."""

    problem: Problem
    place: problems.Place
    result: Result
    choice: Choice


def solve_task(task: Task) -> Solution:
    """Choose what is left open and solve."""
    settings, n = task.settings, task.X.shape[0]
    if settings.precomputed or n <= resolutions.FEW_ROWS or not _is_open(settings):
        choice = choose(task)
        return Solution(*_settle(task, choice), choice)
    with task.watch.phase("choices"):
        choice = choose(_sample(task, SAMPLE_ROWS))
    place = _locate(task, choice.k, choice.look.columns)
    problem = problems.problem_at(place, settings, choice.c, choice.k, task.regress)
    result, _ = run(problem, task.method, settings, task.seed, task.watch)
    return Solution(problem, place, result, choice)


def lone_rows(task: Task, copies: np.ndarray) -> tuple[np.ndarray, problems.Place | None]:
    """Rows that are to have no say: far away, alone or in a group too small for a cluster.

    Who counts every component as the paper does, or in its units, has every row count. The second
    result is where all rows lie, if that was looked at.
    """
    settings, n = task.settings, task.X.shape[0]
    by_paper = settings.min_cluster_size is not None or not settings.relative
    if by_paper or settings.precomputed or not 4 <= n <= resolutions.FEW_ROWS:
        return np.zeros(n, dtype=bool), None
    place = _locate(task, _largest_scale(task), GIVEN)
    return outlier_scores.lone_rows(place, copies, settings.n_clusters, settings.n_jobs), place


def _is_open(settings: Settings) -> bool:
    return None in (settings.n_clusters, settings.n_neighbors, settings.geometry)


def _sample(task: Task, n_rows: int) -> Task:
    """The task on some of its rows, the same every time."""
    rows = np.sort(np.random.default_rng(0).choice(task.X.shape[0], n_rows, replace=False))
    X, size = task.X[rows], task.size[rows]
    return task._replace(X=X, size=size, watch=task.watch.quiet(), place=None)


def _locate(task: Task, k: int, columns: Columns) -> problems.Place:
    with task.watch.phase("neighbours"):
        advance = task.watch.advance
        place = problems.locate(task.X, task.size, task.settings, k, columns, advance)
        return problems.with_gram(place) if task.regress else place


def choose(task: Task) -> Choice:
    """The number of clusters, the geometry and the scale."""
    settings = task.settings
    place = task.place or _locate(task, _largest_scale(task), GIVEN)
    counts = [] if settings.n_clusters is not None else _count(task, place)
    c = settings.n_clusters or (counts[0].n_clusters if counts else task.n_distinct)
    check_room(settings.min_cluster_size, float(task.size.sum()) * settings.unit, c)
    looks = look_around(task, c, place)
    chosen = best_look(looks)
    k = settings.n_neighbors or chosen.scales.chosen
    task.watch.say(f"{c} clusters, geometry {chosen.columns.name}, {k} neighbours")
    return Choice(c, k, counts, looks, chosen)


def best_look(looks: list[Look]) -> Look:
    """The geometry whose scales agree most; the first, which changes less, in a tie.

    It is the first too where scales hardly agree in any: that is no evidence.
    """
    best = max(looks, key=lambda look: look.score)
    return best if best.score >= scales.EVIDENCE else looks[0]


def look_around(task: Task, c: int, place: problems.Place | None = None) -> list[Look]:
    """The geometries to choose from.

    Columns as given; unless the scales agree there, columns that are standardised and, where rows
    are enough, whitened by the scatter within the clusters that are found so. A table with codes
    for categories stays as it is: its columns were given their weights by whoever coded them.
    """
    wanted = task.settings.geometry
    place = place or _locate(task, _largest_scale(task), GIVEN)
    looks = [look(task, c, GIVEN, place)] if wanted in (None, "given") else []
    settled = wanted == "given" or c == 1 or task.n_distinct == 1
    # Where noise has one level in all directions, the columns have one unit.
    settled |= place.geometry.lookup is not None
    if looks and (settled or looks[0].score >= scales.AGREED or task.watch.overdue):
        return looks
    size = _in_company(place, task.size)
    codes = has_codes(task.X[size > 0], c)
    if wanted is None and codes:
        return looks
    columns = standard_columns(task.X, size)
    unit = np.asarray(columns.unit)
    alike = bool(looks) and np.ptp(unit) <= 1e-9 * unit.max()  # the columns have one deviation
    standard = looks[0] if alike else look(task, c, columns)
    whiten = not codes and can_whiten(int(np.count_nonzero(size)), task.X.shape[1])
    if wanted == "within" and not whiten:
        raise ValueError(
            "geometry='within' needs columns of more values than n_clusters and, for d of them, "
            "d (d + 1) / 2 distinct rows (of the 2,000 that decide, where there are many); use "
            "geometry='standard'."
        )
    if wanted == "standard" or not whiten or (task.watch.overdue and wanted is None):
        return [*looks, standard]
    return [*looks, look(task, c, _within(task, columns, standard, size))]


def _in_company(place: problems.Place, size: np.ndarray) -> np.ndarray:
    """What each row counts for in the scatter of columns: nothing if it is far from all others."""
    reach = place.d[:, -1]
    usual = float(np.median(reach))
    return size if usual == 0.0 else np.where(reach <= LONELY * usual, size, 0.0)


def _within(task: Task, columns: Columns, standard: Look, size: np.ndarray) -> Columns:
    """The columns whitened by the scatter within the clusters of a first solution."""
    with task.watch.phase("choices"):
        k = standard.scales.chosen  # whatever the user named: the choice does not hang on it
        problem, start = standard.begun[k]
        watch = task.watch.quiet()
        ran = run(problem, task.method, task.settings, task.seed, watch, start)
        standard.solved[k] = ran
        scaled = standard.place.geometry.scaled
        assert scaled is not None
        Z = scaled.X * (scaled.scatter * (scaled.unit / np.asarray(columns.unit)))
        labels = task.method.final_labels(problem, ran.result.state)
        return within_columns(columns, Z, labels, size)


def look(task: Task, c: int, columns: Columns, place: problems.Place | None = None) -> Look:
    """What the graphs of rows say in one geometry, at one scale or at several."""
    settings, n = task.settings, task.X.shape[0]
    largest = _largest_scale(task)
    place = place or _locate(task, largest, columns)
    candidates = [settings.n_neighbors or 1]
    if settings.n_neighbors is None or settings.geometry is None:
        # More neighbours than a cluster has rows would tie every cluster to another.
        candidates = scales.candidate_scales(min(largest, max(5, n // c)))

    def begin(k: int) -> tuple[Problem, State] | None:
        late = task.watch.overdue and k != candidates[0]
        return None if late else _begin(task, place, c, k)

    with task.watch.phase("start"):
        run_all = Parallel(n_jobs=settings.n_jobs, prefer="threads")
        found = run_all(delayed(begin)(k) for k in candidates)
    begun = {k: start for k, start in zip(candidates, found, strict=True) if start is not None}
    labels = {k: state.Y for k, (_, state) in begun.items()}
    broken = {k for k, (_, state) in begun.items() if state.n_components > c}
    choice = scales.weigh_scales(labels, task.size, broken)
    return Look(columns, place, begun, choice, {})


def _largest_scale(task: Task) -> int:
    """The most neighbours that are ever asked for."""
    settings = task.settings
    if not _is_open(settings):
        return settings.n_neighbors or 1
    largest = max(1, (task.X.shape[0] - 1) // 2)
    if settings.precomputed:
        stored = np.diff(sp.csr_array(task.X).indptr) - (task.X.diagonal() != 0)
        largest = int(min(largest, max(1, stored.min())))
    return max(min(largest, scales.SCALES[-1]), settings.n_neighbors or 1)


def _settle(task: Task, choice: Choice) -> tuple[Problem, problems.Place, Result]:
    """The solution at the scale that was chosen, or at one that agrees as much and cuts less."""
    look, k = choice.look, choice.k
    if k not in look.begun:
        with task.watch.phase("start"):
            look.begun[k] = _begin(task, look.place, choice.c, k)
    problem, result = _solve_at(task, look, k)
    labels = task.method.final_labels(problem, result.state)
    for other in _rivals(task, look, k, result):
        there, start = look.begun[other]
        if discrete.adjusted_rand(labels, start.Y, task.size) >= scales.AGREED:
            continue
        with task.watch.phase("choices"):
            watch = task.watch.quiet()
            tried = run_once(there, task.method, task.settings, task.seed, watch, start)
        found = task.method.final_labels(there, tried.state)
        # Both are judged in the wider of the two graphs, which sees more of a gap.
        if tried.reason in SUCCESS and _cuts_far_less(look, max(k, other), found, labels):
            k, problem, result, labels = other, there, tried, found
    return problem, look.place, result


def _solve_at(task: Task, look: Look, k: int) -> tuple[Problem, Result]:
    """The solution at one scale.

    One that leaves the clusters it started from is believed if it cuts far less than they do. If
    not, it follows the fringes of clusters that overlap, and alpha is to hold it to the labels.
    """
    settings, method = task.settings, task.method
    problem, start = look.begun[k]
    # What was solved for a choice is taken as it is, unless somebody wants to watch.
    if k not in look.solved or task.watch.audience:
        look.solved[k] = run(problem, method, settings, task.seed, task.watch, start)
    result, firm = look.solved[k]
    if not firm and is_spectral(settings.init) and may_hold(settings, result, task.watch):
        labels = method.final_labels(problem, result.state)
        left = discrete.adjusted_rand(labels, start.Y, task.size) < scales.AGREED
        if left and not _cuts_far_less(look, k, labels, start.Y):
            result = run_once(held(problem), method, settings, task.seed, task.watch, start)
    return problem, result


def _rivals(task: Task, look: Look, k: int, result: Result) -> list[int]:
    """Scales that agree with the others about as much as the one that was taken.

    None where all agree, or where the graph falls into the clusters by itself.
    """
    start, settings = look.begun[k][1], task.settings
    ended = task.watch.overdue or result.reason in HALTED
    whole = start.n_components >= len(start.Q)
    if settings.n_neighbors or look.score >= scales.AGREED or whole or ended:
        return []
    scored = zip(look.scales.n_neighbors, look.scales.score, strict=True)
    return [j for j, score in scored if j != k and score >= look.score - ALIKE]


def _cuts_far_less(look: Look, k: int, labels: np.ndarray, others: np.ndarray) -> bool:
    """Whether labels cut far less than others do, in the data's own graph with k neighbours."""
    problem, start = look.begun[k]
    A = graph.to_csr(start.idx, start.S, problem.n)
    return graph.normalised_cut(A, labels) <= FEWER * graph.normalised_cut(A, others)


def _begin(task: Task, place: problems.Place, c: int, k: int) -> tuple[Problem, State]:
    problem = problems.problem_at(place, task.settings, c, k, task.regress)
    return problem, spectral_start(problem)


def count_clusters(task: Task) -> list[counting.CountEvidence]:
    """Evidence for each number of clusters, from the rows of the task."""
    return _count(task, problems.locate(task.X, task.size, task.settings, _largest_scale(task)))


def _count(task: Task, place: problems.Place) -> list[counting.CountEvidence]:
    """Evidence for each number of clusters, from the data's own graphs at several scales.

    Empty where there are too few distinct rows to weigh anything: each is then a cluster.
    """
    fixed, largest = task.settings.n_neighbors, _largest_scale(task)
    columns = GIVEN
    if task.settings.geometry in ("standard", "within"):
        columns = standard_columns(task.X, _in_company(place, task.size))
    if len(place.idx) > SAMPLE_ROWS and not task.settings.precomputed:
        place = problems.locate(*_sample(task, SAMPLE_ROWS)[:3], largest, columns)
    elif columns is not GIVEN:
        place = problems.locate(task.X, task.size, task.settings, largest, columns)
    n = len(place.idx)
    most = counting.most_clusters(n)
    if most < 2 or task.n_distinct < 4:
        return []
    graphs = []
    for k in scales.candidate_scales(largest) if fixed is None else [fixed]:
        xi = graph.neighbour_xi(place.d[:, : k + 1], k)
        S = graph.to_csr(place.idx[:, :k], graph.solve_rows(place.d[:, :k], xi), n)
        graphs.append(((S + S.T) * 0.5).tocsr())
    return counting.weigh_counts(graphs, most)
