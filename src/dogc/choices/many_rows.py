"""Whether rows are so many that representatives stand for them, and what is known before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._checks import check_representatives, check_room
from ..loop import running
from ..loop.methods import Method
from ..loop.watch import Watch
from ..numerics import trace_ratio
from ..numerics.matrix import Matrix
from ..rows import problems, sampling
from ..rows.columns import GIVEN, Columns
from ..rows.representatives import Frame, ManyRows, Options, draw, projected
from ..rows.scaling import feature_map, scale_rows
from ..rows.settings import Settings
from . import geometry
from . import n_representatives as resolutions
from .n_clusters import CountEvidence
from .resolving import make_trial

# Rows of the sample on which representatives are made and their number is chosen: so many, or so
# many for each representative; fewer where they have very many columns.
SAMPLE_ROWS, SAMPLE_EACH = 80_000, 20
SAMPLE_ELEMENTS = 1 << 26
# Representatives are dense. Sparse rows of more columns have them only where a number is asked for.
MOST_SPARSE_COLUMNS = 2_000
# Representatives on which a projection is learned.
PROJECTION_NODES = 500


class Drawn(NamedTuple):
    """The rows as whole numbers and a sample of them."""

    weight: np.ndarray
    unit: float
    sample: sampling.Sample
    room: int  # rows to reckon with for the number of representatives


def draw_many(
    X: Matrix, weight: np.ndarray | None, p: int | str | None, c: int | None, n_jobs: int | None
) -> Drawn | None:
    """A sample of the rows, or None where every row is to be its own representative."""
    n, d = X.shape
    wide = sp.issparse(X) and d > MOST_SPARSE_COLUMNS
    if p is None or (n <= p if isinstance(p, int) else n <= resolutions.FEW_ROWS or wide):
        return None
    asked = p if isinstance(p, int) else resolutions.EACH_CLUSTER * (c or 1)
    size = max(min(SAMPLE_ROWS, SAMPLE_ELEMENTS // d), SAMPLE_EACH * asked)
    whole, unit = sampling.whole_weights(weight, n)
    sample = draw(X, whole, size, n_jobs)
    distinct = len(sample.keys) if len(sample.keys) < size else n
    if distinct <= (p if isinstance(p, int) else resolutions.FEW_ROWS):
        return None
    room = distinct if size >= SAMPLE_ROWS else min(distinct, size)
    return Drawn(whole, unit, sample, room)


def numbers_for(drawn: Drawn, p: int | str | None, c: int) -> list[int]:
    """The numbers of representatives to choose from."""
    return [p] if isinstance(p, int) else resolutions.candidate_resolutions(drawn.room, c)


class Prepared(NamedTuple):
    """Many rows, and what a method that learns its graph knows of them before."""

    many: ManyRows
    components: np.ndarray | None  # (m, d), from the user's columns to where rows are compared
    counts: list[CountEvidence]
    looks: list[geometry.Look]  # the geometries that were tried, none where it was given
    geometry: str
    dtype: Any


def prepare(
    X: Matrix,
    weight: np.ndarray | None,
    settings: Settings,
    method: Method,
    seed: int,
    watch: Watch,
) -> Prepared | None:
    """What is needed to learn a graph on representatives; None where rows are few enough."""
    with watch.phase("rows"):
        p = settings.n_representatives
        drawn = draw_many(X, weight, p, settings.n_clusters, settings.n_jobs)
    if drawn is None:
        return None
    with watch.phase("choices"):
        task = _sample_task(drawn.sample, settings, method, seed, watch)
        counts = [] if settings.n_clusters else geometry.count_clusters(task)
        c = settings.n_clusters or counts[0].n_clusters
        check_representatives(p, c, "euclidean")
        check_room(settings.min_cluster_size, float(drawn.weight.sum()) * drawn.unit, c)
        numbers = numbers_for(drawn, p, c)
        if not numbers:
            return None
        columns, looks = _columns(task, c)
        place = problems.geometry_of(drawn.sample.X, settings, columns)
        frame = Frame(scale_rows(drawn.sample.X, columns._replace(T=None)), None)
        if columns.T is not None:
            frame = projected(frame, columns.T / np.abs(columns.T).max())
        if place.lookup is not None:
            frame = projected(frame, place.lookup.T)
        many = ManyRows(drawn.weight, drawn.unit, drawn.sample, frame, numbers, c)
        W = None
        if place.m is not None:
            W = _learned_projection(many, place, settings, method, seed, watch)
            many = many._replace(frame=frame if place.space is None else projected(frame, W))
        assert place.scaled is not None
        components = feature_map(place.scaled, W)
        return Prepared(many, components, counts, looks, columns.name, X.dtype)


def _columns(task: geometry.Task, c: int) -> tuple[Columns, list[geometry.Look]]:
    """The geometry: as asked for, or as a few rows of the sample choose it."""
    if task.settings.geometry == "given":
        return GIVEN, []
    looks = geometry.look_around(task, c)
    return geometry.best_look(looks).columns, looks


def _sample_task(
    sample: sampling.Sample, settings: Settings, method: Method, seed: int, watch: Watch
) -> geometry.Task:
    """Choices to be made on the first rows of the sample, by their own graph."""
    rows = slice(geometry.SAMPLE_ROWS)
    size = sample.weight[rows] / sample.weight[rows].mean()
    settings = settings._replace(n_neighbors=None, min_cluster_size=None, init="spectral", unit=1.0)
    return geometry.Task(
        sample.X[rows], size, settings, method, method.regresses, seed, watch.quiet(), len(size)
    )


def _within(rows: np.ndarray, weight: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The scatter of rows about their nodes: what the nodes lack of the scatter of all rows.

    Means of many rows hardly scatter along columns of noise, which would look like structure.
    """
    share = weight / weight.sum() * len(R)
    values, vectors = np.linalg.eigh((rows.T * share) @ rows - R.T @ R)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def frame_of(drawn: Drawn) -> Frame:
    """Rows as they are, on a scale of their own."""
    return Frame(scale_rows(drawn.sample.X), None)


def _learned_projection(
    many: ManyRows,
    place: problems.Geometry,
    settings: Settings,
    method: Method,
    seed: int,
    watch: Watch,
) -> np.ndarray:
    """The projection, of shape (m, d): rows meet their representatives there.

    Where the spectrum tells signal from noise it is the directions of the signal. Otherwise it is
    the W of a solution on some representatives, whose links are measured in all features.
    """
    space, d = place.space, many.sample.X.shape[1]
    if space is None:  # as many dimensions as there are
        return np.eye(place.m or d, d, dtype=place.dtype)
    if place.lookup is not None:  # the others are noise
        W = trace_ratio.settle_signs(space.V[:, : place.m])
        return np.ascontiguousarray(W.T.astype(place.dtype))
    p = min(max(PROJECTION_NODES, many.numbers[0]), many.numbers[-1])
    nodes = make_trial(many, p, Options.of(settings)).nodes
    problem = problems.problem_on(nodes, many.frame, settings, many.c, regress=method.regresses)
    R = np.sqrt(nodes.mass)[:, None] * ((nodes.X - many.frame.scaled.mean) @ space.V)
    within = _within(space.R, many.sample.weight, R)
    problem = problem._replace(R=R, m=min(place.m or 0, R.shape[1]), within=within)
    settings = settings._replace(init="spectral")
    result, _ = running.run(problem, method, settings, seed, watch.quiet())
    components = problems.projection(place, result.state, d)
    assert components is not None
    return components
