"""The choice of the geometry: the columns in which scales agree most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..loop.running import Ran, run
from ..loop.state import Problem, State
from ..rows.column_maps import (
    GIVEN,
    Columns,
    can_whiten,
    has_codes,
    standard_columns,
    within_columns,
)
from ..rows.places import Place, in_company
from .n_neighbors import AGREED, EVIDENCE, ScaleChoice, candidate_scales, weigh_scales
from .task import Task, begun, largest_scale, placed


class Look(NamedTuple):
    """Rows in one geometry, and what their graphs say at several scales before any is learned."""

    columns: Columns
    place: Place
    begun: dict[int, tuple[Problem, State]]  # by number of neighbours
    scales: ScaleChoice
    solved: dict[int, Ran]  # what was solved on the way

    @property
    def score(self) -> float:
        """How far the scales agree with the one that they agree with most."""
        return float(self.scales.score.max())


def best_look(looks: list[Look]) -> Look:
    """The geometry whose scales agree most; the first, which changes less, in a tie.

    It is the first too where scales hardly agree in any: that is no evidence.
    """
    best = max(looks, key=lambda look: look.score)
    return best if best.score >= EVIDENCE else looks[0]


def look_around(task: Task, c: int) -> list[Look]:
    """The geometries to choose from.

    Columns as given; unless the scales agree there, columns that are standardised and, where rows
    are enough, whitened by the scatter within the clusters that are found so. A table with codes
    for categories stays as it is: its columns were given their weights by whoever coded them.
    """
    wanted, place = task.settings.wanted.geometry, placed(task)
    looks = [look(task, c, GIVEN, place)] if wanted in (None, "given") else []
    settled = wanted == "given" or c == 1 or task.n_distinct == 1
    # Where noise has one level in all directions, the columns have one unit.
    settled |= place.geometry.lookup is not None
    if looks and (settled or looks[0].score >= AGREED or task.watch.overdue):
        return looks
    size = in_company(place, task.size)
    codes = has_codes(task.X[size > 0], c)
    if wanted is None and codes:
        return looks
    columns = standard_columns(task.X, size)
    unit = np.asarray(columns.unit)
    alike = bool(looks) and np.ptp(unit) <= 1e-9 * unit.max()  # the columns have one deviation
    standard = looks[0] if alike else look(task, c, columns, placed(task, columns))
    whiten = not codes and can_whiten(int(np.count_nonzero(size)), task.X.shape[1])
    if wanted == "within" and not whiten:
        raise ValueError(
            "geometry='within' needs columns of more values than n_clusters and, for d of them, "
            "d (d + 1) / 2 distinct rows (of the 2,000 that decide, where there are many); use "
            "geometry='standard'."
        )
    if wanted == "standard" or not whiten or (task.watch.overdue and wanted is None):
        return [*looks, standard]
    standard = solved_once(task, standard)
    whitened = _whitened(task, columns, standard, size)
    looks = [standard] if alike else looks
    return [*looks, look(task, c, whitened, placed(task, whitened))]


def solved_once(task: Task, look: Look) -> Look:
    """The look with a solution at its best scale, whatever scale the user named."""
    problem, start = look.begun[look.scales.chosen]
    with task.watch.phase("choices"):
        watch = task.watch.quiet()
        ran = run(problem, task.method, task.settings.run, task.seed, watch, start)
    return look._replace(solved={look.scales.chosen: ran})


def _whitened(task: Task, columns: Columns, standard: Look, size: np.ndarray) -> Columns:
    """The columns whitened by the scatter within the clusters of a first solution."""
    ((k, ran),) = standard.solved.items()
    labels = task.method.final_labels(standard.begun[k][0], ran.result.state)
    scaled = standard.place.geometry.scaled
    assert scaled is not None
    Z = scaled.X * (scaled.scatter * (scaled.unit / np.asarray(columns.unit)))
    return within_columns(columns, Z, labels, size)


def look(task: Task, c: int, columns: Columns, place: Place) -> Look:
    """What the graphs of rows say in one geometry, at one scale or at several."""
    wanted, n = task.settings.wanted, task.X.shape[0]
    candidates = [wanted.n_neighbors or 1]
    if wanted.wide:  # half of it says how far the clusters depend on the width
        candidates = sorted({max(1, candidates[0] // 2), candidates[0]})
    elif wanted.n_neighbors is None or wanted.geometry is None:
        # More neighbours than a cluster has rows would tie every cluster to another.
        candidates = candidate_scales(min(largest_scale(task), max(5, n // c)))
    with task.watch.phase("start"):
        run_all = Parallel(n_jobs=task.settings.lookup.n_jobs, prefer="threads")
        found = run_all(
            delayed(_begun_in_time)(task, place, c, candidates, number)
            for number in range(len(candidates))
        )
    known = {k: start for k, start in zip(candidates, found, strict=True) if start is not None}
    labels = {k: state.Y for k, (_, state) in known.items()}
    broken = {k for k, (_, state) in known.items() if state.graph.n_components > c}
    return Look(columns, place, known, weigh_scales(labels, task.size, broken), {})


def _begun_in_time(
    task: Task, place: Place, c: int, scales: list[int], number: int
) -> tuple[Problem, State] | None:
    if number and task.watch.overdue:  # the first is needed
        return None
    task.watch.trying(f"scale {number + 1} of {len(scales)}")
    return begun(task, place, c, scales[number])
