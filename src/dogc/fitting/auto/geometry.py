"""The choice of the geometry: the columns in which scales agree most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...loop.running import Ran, RunSettings, run
from ...numerics.discrete import mutual_agreement
from ..column_maps import (
    GIVEN,
    Columns,
    can_whiten,
    has_codes,
    have_one_length,
    principal_columns,
    standard_columns,
    within_columns,
)
from ..problems import Place, in_company
from .n_neighbors import (
    AGREED,
    ALIKE,
    EVIDENCE,
    LEAST,
    ScaleChoice,
    better_start,
    candidate_scales,
    distance_from_usual,
    weigh_scales,
)
from .task import Begun, Task, begun, largest_scale, placed

# Columns whose deviations differ by no more than this factor have one unit.
ONE_UNIT = 10.0
# Where scales agree as far as this in the columns as given, no other geometry is tried.
CERTAIN = 0.995


class Look(NamedTuple):
    """Rows in one geometry and from one start: what their graphs say at several scales.

    Nothing is learned yet.
    """

    columns: Columns
    place: Place
    begun: dict[int, Begun]  # by number of neighbours
    scales: ScaleChoice
    start: str = "spectral"
    solved: dict[int, Ran] = {}  # noqa: RUF012  # what was solved on the way

    @property
    def score(self) -> float:
        """How far the scales agree with the one that they agree with most."""
        return float(self.scales.score.max())


def better_looks(looks: list[Look]) -> dict[str, Look]:
    """For each geometry the look from the start that is taken there."""
    by_name: dict[str, list[Look]] = {}
    for look in looks:
        by_name.setdefault(look.columns.name, []).append(look)
    return {
        name: here[better_start([look.score for look in here])] for name, here in by_name.items()
    }


def best_look(looks: list[Look]) -> Look:
    """The geometry and start whose scales agree most; the last, which is whitened, if alike.

    It is the first where scales hardly agree in any: that is no evidence.
    """
    chosen = list(better_looks(looks).values())
    most = max(look.score for look in chosen)
    best = [look for look in chosen if look.score >= most - ALIKE][-1]
    return best if best.score >= EVIDENCE else chosen[0]


def look_around(task: Task, c: int) -> list[Look]:
    """The geometries to choose from.

    Columns as given; unless the scales agree there, columns that are standardised and, where rows
    are enough, whitened by the scatter within the clusters that are found so. Where there are more
    columns than rows, the principal directions that stand out from chance. A table with codes
    for categories stays as it is: its columns were given their weights by whoever coded them.
    """
    wanted, place = task.settings.wanted.geometry, placed(task)
    tried = looks_in(task, c, GIVEN, place) if wanted in (None, "given") else []
    settled = wanted == "given" or c == 1 or task.n_distinct == 1
    # Where noise has one level in all directions, the columns have one unit; so they have where
    # rows have one length.
    settled |= place.geometry.lookup is not None or have_one_length(task.X)
    if tried and (settled or best_look(tried).score >= CERTAIN or task.watch.overdue):
        return tried
    size = in_company(place, task.size)
    codes = has_codes(task.X[size > 0], c)
    few = not can_whiten(int(np.count_nonzero(size)), task.X.shape[1])
    wide = task.X.shape[1] > task.X.shape[0]
    if wanted == "principal":
        return principal_looks(task, c, place)
    if wanted is None and codes:
        return [*tried, *(principal_looks(task, c, place) if wide else [])]
    columns = standard_columns(task.X, size)
    if wanted == "within" and (few or codes):
        raise ValueError(
            "geometry='within' needs columns of more values than n_clusters and, for d of them, "
            "d (d + 1) / 2 distinct rows (of the 2,000 that decide, where there are many); use "
            "geometry='standard'."
        )
    if few or codes or wanted == "standard" or (task.watch.overdue and wanted is None):
        standard = looks_in(task, c, columns, placed(task, columns))
        wide = wide and wanted is None
        return [*tried, *standard, *(principal_looks(task, c, place) if wide else [])]
    return whitened_looks(task, c, columns, tried, size)


def whitened_looks(
    task: Task, c: int, columns: Columns, tried: list[Look], size: np.ndarray
) -> list[Look]:
    """What was tried, and what graphs say in columns whitened within the clusters of a solution.

    Columns of about one deviation have one unit: their axes mean nothing, and the solution is one
    of the rows as they are. Others are standardised first.
    """
    unit = np.asarray(columns.unit)[np.ptp(task.X[size > 0], axis=0) > 0]
    if len(unit) and unit.max() > ONE_UNIT * unit.min():
        first, solved = None, columns
    else:
        first, solved = best_look(tried) if tried else None, GIVEN
        columns = columns._replace(unit=None)
    if first is None:
        start = task.settings.run.starts[0]
        first = look(task, c, solved, placed(task, solved), start, None)
    done = solved_once(task, first)
    whitened = _whitened(task, columns, done, size)
    # What was solved need not be solved again.
    tried = [done if other is first else other for other in tried]
    return [*tried, *looks_in(task, c, whitened, placed(task, whitened))]


def principal_looks(task: Task, c: int, place: Place) -> list[Look]:
    """What the graphs say in the principal directions that stand out, if any do."""
    scaled = place.geometry.scaled
    columns = principal_columns(scaled.X) if scaled is not None else None
    if columns is None:
        if task.settings.wanted.geometry == "principal":
            raise ValueError(
                "geometry='principal' needs columns that vary together; none of their principal "
                "directions stands out from chance. Use geometry='auto'."
            )
        return []
    return looks_in(task, c, columns, placed(task, columns))


def solved_once(task: Task, look: Look) -> Look:
    """The look with a solution at its best scale, whatever scale the user named."""
    problem, start = look.begun[look.scales.chosen]
    with task.watch.phase("choices"):
        watch, settings = task.watch.quiet(), begins_at(task.settings.run, look)
        ran = run(problem, task.method, settings, task.seed, watch, start)
    return look._replace(solved={look.scales.chosen: ran})


def begins_at(settings: RunSettings, look: Look) -> RunSettings:
    """The settings of a run that begins where a look does, unless the user says where."""
    return settings._replace(init=look.start) if settings.is_own else settings


def _whitened(task: Task, columns: Columns, standard: Look, size: np.ndarray) -> Columns:
    """The columns whitened by the scatter within the clusters of a first solution."""
    ((k, ran),) = standard.solved.items()
    labels = task.method.final_labels(standard.begun[k][0], ran.result.state)
    scaled = standard.place.geometry.scaled
    assert scaled is not None
    Z = scaled.X
    if columns.unit is not None:
        Z = Z * (scaled.scatter * (scaled.unit / columns.unit))
    return within_columns(columns, Z, labels, size)


def looks_in(task: Task, c: int, columns: Columns, place: Place) -> list[Look]:
    """What the graphs of rows say in one geometry: one look for each start.

    The second start is not looked at where the scales agree on the first.
    """
    looks: list[Look] = []
    for start in task.settings.run.starts:
        if looks and (looks[0].score >= AGREED or c == 1 or task.watch.overdue):
            break
        first = looks[0] if looks else None
        looks.append(look(task, c, columns, place, start, first))
    return looks


def look(
    task: Task, c: int, columns: Columns, place: Place, start: str, first: Look | None
) -> Look:
    """The same for one start, at one scale or at several, as long as it may be taken.

    Beside a first start it is taken if its scales agree about as much. Scales are asked from the
    usual one on until it is clear that they do not.
    """
    wanted, n = task.settings.wanted, task.X.shape[0]
    candidates = [wanted.n_neighbors or 1]
    if wanted.wide:  # half of it says how far the clusters depend on the width
        candidates = sorted({max(1, candidates[0] // 2), candidates[0]})
    elif task.settings.is_open:
        # More neighbours than a cluster has rows would tie every cluster to another.
        candidates = candidate_scales(min(largest_scale(task), max(5, n // c)))
    known: dict[int, Begun] = {}
    with task.watch.phase("start"):
        for number, k in enumerate(sorted(candidates, key=distance_from_usual)):
            if number and (task.watch.overdue or _is_hopeless(known, len(candidates), task, first)):
                break
            task.watch.trying(f"{start} start, scale {number + 1} of {len(candidates)}")
            known[k] = begun(task, place, c, k, start, first.begun if first else {})
    labels = {k: state.Y for k, (_, state) in known.items()}
    broken = {k for k, (_, state) in known.items() if state.graph.n_components > c}
    return Look(columns, place, known, weigh_scales(labels, task.size, broken), start)


def _is_hopeless(known: dict[int, Begun], total: int, task: Task, first: Look | None) -> bool:
    """Whether scales agree too little, even if all others should agree with one of these."""
    if first is None or first.score < LEAST:
        return False
    agreement = mutual_agreement([state.Y for _, state in known.values()], task.size)
    most = (agreement.sum(axis=1).max() - 1.0 + total - len(known)) / max(total - 1, 1)
    return most < first.score - ALIKE
