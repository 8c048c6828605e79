"""Whether rows are so many that representatives stand for them, and what is known before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._checks import check_representatives, check_room
from ...loop.methods import Method
from ...loop.running import run
from ...loop.state import Subspace
from ...loop.watch import Watch
from ...numerics import lloyd, principal, separation, trace_ratio
from ...numerics.matrix import Matrix
from .. import sampling
from ..column_maps import GIVEN, Columns, have_one_length
from ..problems import Geometry, problem_on, projection
from ..representatives import (
    FEW_ROWS,
    Frame,
    ManyRows,
    Options,
    RowSet,
    as_points,
    projected,
)
from ..scaling import feature_map, scale_rows
from ..settings import Settings, SmallestCluster, wide_scale
from .geometry import Look, best_look, look_around
from .n_clusters import CountEvidence, count_clusters
from .n_components import geometry_of
from .n_representatives import EACH_CLUSTER, candidate_resolutions
from .solving_representatives import make_trial
from .task import SAMPLE_ROWS, Task, placed

# Rows of the sample on which representatives are made and their number is chosen: so many, or so
# many for each representative; fewer where they have very many columns.
LARGE_SAMPLE, SAMPLE_EACH = 80_000, 20
SAMPLE_ELEMENTS = 1 << 26
# Representatives are dense. Sparse rows of more columns have them only where a number is asked for.
MOST_SPARSE_COLUMNS = 2_000
# How many numbers of representatives are asked where each row has wide links.
WIDE_NUMBERS = 2
# Representatives on which a projection is learned.
PROJECTION_NODES = 500
# Multiples of the golden ratio are spread evenly over the unit interval.
GOLDEN = 0.6180339887498949


class Drawn(NamedTuple):
    """A sample of the rows."""

    sample: sampling.Sample
    room: int  # rows to reckon with for the number of representatives


def are_many(rows: RowSet, p: int | str | None) -> bool:
    """Whether rows are so many that representatives stand for them; copies are not known yet."""
    few = p if isinstance(p, int) else FEW_ROWS
    wide = rows.sparse and rows.d > MOST_SPARSE_COLUMNS and not isinstance(p, int)
    return p is not None and not wide and (rows.n is None or rows.n > few)


def sample_size(d: int, p: int | str | None, c: int | None) -> int:
    """Rows of d columns to draw, from which p representatives are made."""
    asked = p if isinstance(p, int) else EACH_CLUSTER * (c or 1)
    return max(min(LARGE_SAMPLE, SAMPLE_ELEMENTS // d), SAMPLE_EACH * asked)


def draw_many(rows: RowSet, p: int | str | None, c: int | None) -> Drawn | None:
    """A sample of the rows, or None where every row is to be its own representative."""
    if not are_many(rows, p):
        return None
    few, size = p if isinstance(p, int) else FEW_ROWS, sample_size(rows.d, p, c)
    sample = rows.draw(size)
    assert rows.n is not None
    distinct = len(sample.keys) if len(sample.keys) < size else rows.n
    if distinct <= few:
        return None
    return Drawn(sample, distinct if size >= LARGE_SAMPLE else min(distinct, size))


def numbers_for(drawn: Drawn, p: int | str | None, c: int, share: float = 1.0) -> list[int]:
    """The numbers of representatives to choose from; the smallest cluster has at most a share."""
    parts = max(c, int(np.ceil(1.0 / share)))
    return [p] if isinstance(p, int) else candidate_resolutions(drawn.room, parts)


def smallest_share(few: Task | None, c: int) -> float:
    """The share of rows in the smallest of the groups apart that are to be clusters."""
    if few is None or few.place is None or few.place.piece is None or not few.settings.may_stand:
        return 1.0
    least = few.settings.smallest.size(few.size.sum(), c)
    stands = separation.stands(few.size, few.place.piece, c, least)
    total = np.bincount(stands + 1, weights=few.size)[1:]
    return float(total[total > 0].min(initial=few.size.sum()) / few.size.sum())


class Job(NamedTuple):
    """What is to be solved, whatever the rows."""

    settings: Settings
    method: Method
    seed: int
    watch: Watch


class Prepared(NamedTuple):
    """Many rows, and what a method that learns its graph knows of them before."""

    many: ManyRows
    components: np.ndarray | None  # (m, d), from the user's columns to where rows are compared
    counts: list[CountEvidence]
    looks: list[Look]  # the geometries that were tried, none where it was given
    geometry: str
    dtype: Any


def prepare(rows: RowSet, job: Job) -> Prepared | None:
    """What is needed to learn a graph on representatives; None where rows are few enough."""
    settings, wanted = job.settings, job.settings.wanted
    p = wanted.n_representatives
    with job.watch.phase("rows"):
        drawn = draw_many(rows, p, wanted.n_clusters)
    if drawn is None:
        return None
    with job.watch.phase("choices"):
        # Rows of one length have columns of one unit.
        given = wanted.geometry == "given" or have_one_length(drawn.sample.X)
        geometry = geometry_of(drawn.sample.X, wanted.n_components)
        few = None
        if not given or wanted.n_clusters is None:
            few = _few_rows(_spread(drawn.sample, geometry), job)
        counts = [] if few is None or wanted.n_clusters else count_clusters(few)
        c = wanted.n_clusters or counts[0].n_clusters
        check_representatives(p, c, "euclidean")
        check_room(settings.smallest.rows, rows.total * rows.unit, c)
        numbers = numbers_for(drawn, p, c, smallest_share(few, c))
        if wanted.wide:  # more of them would only take longer
            numbers = numbers[:WIDE_NUMBERS]
        if not numbers:
            return None
        looks = [] if given or few is None else look_around(few, c)
        columns = best_look(looks).columns if looks else GIVEN
        if columns is not GIVEN:
            geometry = geometry_of(drawn.sample.X, wanted.n_components, columns)
        frame = frame_in(drawn.sample.X, columns, geometry)
        if settings.lookup.norm == "euclidean":
            frame = led(frame, drawn.sample.weight)
        many = ManyRows(rows, drawn.sample, frame, numbers, c)
        W = None
        if geometry.m is not None:
            W = _learned_projection(many, geometry, job)
            many = many._replace(frame=frame if geometry.space is None else projected(frame, W))
        components = feature_map(geometry.scaled, W)
        return Prepared(many, components, counts, looks, columns.name, rows.dtype)


def frame_in(X: Matrix, columns: Columns, geometry: Geometry) -> Frame:
    """How rows become points in these columns, where neighbours are looked up."""
    assert geometry.scaled is not None
    if columns.T is None:
        frame = Frame(geometry.scaled, None)
    else:  # the frame mixes the columns in its own, exact way
        frame = Frame(scale_rows(X, columns._replace(T=None)), None)
        frame = projected(frame, columns.T.T / np.abs(columns.T).max())
    return frame if geometry.lookup is None else projected(frame, geometry.lookup.T)


def led(frame: Frame, weight: np.ndarray) -> Frame:
    """The frame that looks along the leading principal directions, where columns are many.

    So many directions hold what clusters are; the others cost time and hold noise.
    """
    X = frame.scaled.X
    if frame.directions is not None or X.shape[1] <= principal.DIRECTIONS:
        return frame
    return projected(frame, principal.leading_directions(X, weight, principal.DIRECTIONS))


def _spread(sample: sampling.Sample, geometry: Geometry) -> sampling.Sample:
    """Rows spread over the sample, by their place and not by chance."""
    if len(sample.keys) <= SAMPLE_ROWS:
        return sample
    Z = as_points(led(frame_in(sample.X, GIVEN, geometry), sample.weight), sample.X)
    Z = principal.own_axes(Z, sample.weight)
    cell = lloyd.halved_cells(Z, sample.weight, SAMPLE_ROWS)
    order = np.lexsort((Z.sum(axis=1), cell))
    first = np.searchsorted(cell[order], np.arange(cell.max() + 2))
    # One row stands for its cell: of low sum here, of high sum there, so that none is preferred.
    part = np.arange(len(first) - 1) * GOLDEN % 1.0
    rows = order[first[:-1] + (part * np.diff(first)).astype(np.int64)]
    weight = np.add.reduceat(sample.weight[order], first[:-1])
    return sampling.Sample(sample.keys[rows], sample.X[rows], weight)


def _few_rows(sample: sampling.Sample, job: Job) -> Task:
    """Choices to be made on some rows of the sample, by their own graph."""
    settings, method, seed, watch = job
    size = sample.weight / sample.weight.mean()
    wanted = settings.wanted
    k = wide_scale(len(size), wanted.n_clusters) if wanted.wide else None
    settings = settings._replace(
        wanted=settings.wanted._replace(n_neighbors=k),
        smallest=SmallestCluster(None),
        run=settings.run._replace(init=settings.run.init if settings.run.is_own else "spectral"),
    )
    few = Task(sample.X, size, len(size), settings, method, seed, watch.quiet())
    return few._replace(place=placed(few))


def _scatter_about_nodes(rows: np.ndarray, weight: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The scatter of rows about their nodes: what the nodes lack of the scatter of all rows.

    Means of many rows hardly scatter along columns of noise, which would look like structure.
    """
    share = weight / weight.sum() * len(R)
    values, vectors = np.linalg.eigh((rows.T * share) @ rows - R.T @ R)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def frame_of(drawn: Drawn) -> Frame:
    """Rows as they are, on a scale of their own."""
    return Frame(scale_rows(drawn.sample.X), None)


def _learned_projection(many: ManyRows, geometry: Geometry, job: Job) -> np.ndarray:
    """The projection, of shape (m, d): rows meet their representatives there.

    Where the spectrum tells signal from noise it is the directions of the signal. Otherwise it is
    the W of a solution on some representatives, whose links are measured in all features.
    """
    settings, method, seed, watch = job
    space, d = geometry.space, many.sample.X.shape[1]
    if space is None:  # as many dimensions as there are
        return np.eye(geometry.m or d, d, dtype=geometry.dtype)
    if geometry.lookup is not None:  # the others are noise
        W = trace_ratio.settle_signs(space.V[:, : geometry.m])
        return np.ascontiguousarray(W.T.astype(geometry.dtype))
    p = min(max(PROJECTION_NODES, many.numbers[0]), many.numbers[-1])
    nodes = make_trial(many, p, Options.of(settings), watch).nodes
    problem = problem_on(nodes, many.frame, settings, many.c, regress=method.regresses)
    R = np.sqrt(nodes.mass)[:, None] * ((nodes.X - many.frame.scaled.mean) @ space.V)
    within = _scatter_about_nodes(space.R, many.sample.weight, R)
    subspace = Subspace(R, min(geometry.m or 0, R.shape[1]), within)
    run_settings = settings.run._replace(init="spectral")
    result, _ = run(problem._replace(subspace=subspace), method, run_settings, seed, watch.quiet())
    components = projection(geometry, result.state, d)
    assert components is not None
    return components
