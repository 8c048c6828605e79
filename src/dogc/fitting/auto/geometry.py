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
    have_one_unit,
    principal_columns,
    standard_columns,
    within_columns,
)
from ..problems import Place, in_company
from .n_neighbors import (
    AGREED,
    ALIKE,
    EVIDENCE,
    ScaleChoice,
    better_start,
    candidate_scales,
    distance_from_usual,
    weigh_scales,
)
from .task import Start, Task, largest_scale, place_of, start_at

# Where scales agree as far as this in the own columns, no other geometry is tried.
CERTAIN = 0.995


class Look(NamedTuple):
    """Rows in one geometry and from one start: what their graphs say at several scales.

    Nothing is learned yet.
    """

    columns: Columns
    place: Place
    starts: dict[int, Start]  # where a run begins, by number of neighbours
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

    The own columns; unless the scales agree there, columns that are standardised and, where rows
    are enough, whitened by the scatter within the clusters that are found so. Where there are more
    columns than rows, the principal directions that stand out from chance. A table with codes
    for categories stays as it is: its columns were given their weights by whoever coded them.
    """
    wanted, place, own = task.settings.wanted.geometry, place_of(task), task.own
    tried = looks_in(task, c, own, place) if wanted in (None, "given") else []
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
    columns = standard_columns(task.X, size) if own is GIVEN else own
    if wanted == "within" and (few or codes):
        raise ValueError(
            "geometry='within' needs columns of more values than n_clusters and, for d of them, "
            "d (d + 1) / 2 distinct rows (of the 2,000 that decide, where there are many); use "
            "geometry='standard'."
        )
    if few or codes or wanted == "standard" or (task.watch.overdue and wanted is None):
        is_new = own is GIVEN
        standard = looks_in(task, c, columns, place_of(task, columns)) if is_new else []
        wide = wide and wanted is None
        return [*tried, *standard, *(principal_looks(task, c, place) if wide else [])]
    # Columns of one unit: their axes mean nothing, and labels are those of the rows as they are.
    # Others are standardised first.
    varying = np.ptp(task.X[size > 0], axis=0) > 0
    mixed = own is not GIVEN or not have_one_unit(np.asarray(columns.unit)[varying])
    if not mixed:
        columns = columns._replace(unit=None)
    if tried and mixed == (own is not GIVEN):
        first = best_look(tried)
    else:
        solved, starts = columns if mixed else GIVEN, task.settings.run.starts[:1]
        first = looks_in(task, c, solved, place_of(task, solved), starts)[0]
    # Labels of a solution at the best scale, whatever scale the user named
    k = first.scales.chosen
    problem, start = first.starts[k]
    with task.watch.phase("choices"):
        settings = begins_at(task.settings.run, first)
        ran = run(problem, task.method, settings, task.seed, task.watch.quiet(), start)
    # What was solved need not be solved again.
    done = first._replace(solved={k: ran})
    tried = [done if other is first else other for other in tried]
    labels = task.method.final_labels(problem, ran[0].state)
    whitened = _whitened(columns, first.place, labels, size)
    return [*tried, *looks_in(task, c, whitened, place_of(task, whitened))]


def principal_looks(task: Task, c: int, place: Place) -> list[Look]:
    """Looks in the principal directions that stand out, if any do."""
    scaled = place.geometry.scaled
    columns = principal_columns(scaled.X) if scaled is not None else None
    if columns is None:
        if task.settings.wanted.geometry == "principal":
            raise ValueError(
                "geometry='principal' needs columns that vary together; none of their principal "
                "directions stands out from chance. Use geometry='auto'."
            )
        return []
    columns = columns._replace(unit=task.own.unit)
    return looks_in(task, c, columns, place_of(task, columns))


def begins_at(settings: RunSettings, look: Look) -> RunSettings:
    """The settings of a run that begins where a look does, unless the user says where."""
    return settings._replace(init=look.start) if settings.is_own else settings


def _whitened(columns: Columns, place: Place, labels: np.ndarray, size: np.ndarray) -> Columns:
    """The columns whitened by the scatter within clusters."""
    scaled = place.geometry.scaled
    assert scaled is not None
    Z = scaled.X
    if columns.unit is not None:
        Z = Z * (scaled.scatter * (scaled.unit / columns.unit))
    return within_columns(columns, Z, labels, size)


def looks_in(
    task: Task, c: int, columns: Columns, place: Place, starts: tuple[str, ...] | None = None
) -> list[Look]:
    """The graphs of rows in one geometry: one look for each start, at one scale or at several.

    The second start is not looked at where the scales agree on the first. It is taken if its
    scales agree about as much: they are asked from the usual one on until it is clear that they do
    not.
    """
    wanted, n, watch = task.settings.wanted, task.X.shape[0], task.watch
    candidates = [wanted.n_neighbors or 1]
    if wanted.wide:  # half of it says how far the clusters depend on the width
        candidates = sorted({max(1, candidates[0] // 2), candidates[0]})
    elif task.settings.is_open:
        # More neighbours than a cluster has rows would tie every cluster to another.
        candidates = candidate_scales(min(largest_scale(task), max(5, n // c)))
    candidates = sorted(candidates, key=distance_from_usual)
    looks: list[Look] = []
    for start in starts or task.settings.run.starts:
        first = looks[0] if looks else None
        if first is not None and (first.score >= AGREED or c == 1 or watch.overdue):
            break
        known: dict[int, Start] = {}
        with watch.phase("start"):
            for number, k in enumerate(candidates, 1):
                hopeless = known and _is_hopeless(known, len(candidates), task, first)
                if known and (watch.overdue or hopeless):
                    break
                watch.trying(f"{start} start, scale {number} of {len(candidates)}")
                known[k] = start_at(task, place, c, k, start, first.starts if first else {})
        labels = {k: state.Y for k, (_, state) in known.items()}
        broken = {k for k, (_, state) in known.items() if state.graph.n_components > c}
        scales = weigh_scales(labels, task.size, broken)
        looks.append(Look(columns, place, known, scales, start))
    return looks


def _is_hopeless(known: dict[int, Start], total: int, task: Task, first: Look | None) -> bool:
    """Whether scales agree too little, even if all others should agree with one of these."""
    if first is None or first.score < EVIDENCE:
        return False
    agreement = mutual_agreement([state.Y for _, state in known.values()], task.size)
    most = (agreement.sum(axis=1).max() - 1.0 + total - len(known)) / max(total - 1, 1)
    return most < first.score - ALIKE
