"""A fit of many rows: representatives stand for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import _limits
from .._checks import check_representatives, check_room
from ..loop.running import run
from ..loop.state import Subspace, similarities
from ..loop.watch import Watch
from ..numerics import discrete, lloyd, principal, separation, trace_ratio
from ..numerics.matrix import Matrix
from . import labelling, outlier_scores, sampling
from .auto.geometry import Look, best_look, look_around
from .auto.n_clusters import CountEvidence, count_clusters
from .auto.n_components import geometry_of
from .auto.n_neighbors import only_scale
from .auto.n_representatives import EACH_CLUSTER, candidate_resolutions
from .auto.task import SAMPLE_ROWS, Task, place_of
from .auto.trials import Trial, make_trial, partition_of, resolve, sample_labels
from .column_maps import GIVEN, Columns, have_one_length, own_columns
from .distinct import column_order
from .evidence import Evidence, evidence_of, spread_rows
from .in_memory import RowsInMemory
from .links import LINKS
from .new_rows import Model
from .problems import Geometry, problem_on, projection
from .representatives import (
    FEW_ROWS,
    Frame,
    ManyRows,
    Options,
    Representatives,
    RowSet,
    as_points,
    projected,
)
from .result import FitResult, LearnedMatrices, choices_of, other_counts
from .rule import fitted_rule, judged_rule, sampled_rows
from .scaling import feature_map, scale_rows
from .settings import SmallestCluster, wide_links, wide_scale

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
# Bytes for a representative: its links with about a hundred others, several times over.
NODE_BYTES = 7_000
# Representatives to reckon with where their number is open and the links of a row are a share.
USUAL_NUMBER = 250
# Multiples of the golden ratio are spread evenly over the unit interval.
GOLDEN = 0.6180339887498949


class ManyChoices(NamedTuple):
    """Many rows with everything that is chosen before a graph is learned on representatives."""

    many: ManyRows
    counts: list[CountEvidence]
    looks: list[Look]  # the geometries that were tried, none where it was given
    geometry: str
    components: np.ndarray | None  # (m, d), from the user's columns to where rows are compared


def choose(rows: RowSet, task: Task) -> ManyChoices | None:
    """Draw a sample and choose on it; None where rows are few enough to be nodes themselves."""
    settings, watch = task.settings, task.watch
    wanted, p = settings.wanted, settings.wanted.n_representatives
    # 1) A sample
    with watch.phase("rows"):
        k = wide_links(USUAL_NUMBER, wanted.n_clusters or 1) if wanted.wide else wanted.n_neighbors
        drawn = draw(rows, p, wanted.n_clusters, k)
    if drawn is None:
        return None
    sample, space = drawn
    with watch.phase("choices"):
        # 2) The number of clusters and the geometry, on some rows spread over the sample
        # Rows of one length have columns of one unit.
        given = wanted.geometry == "given" or have_one_length(sample.X)
        named = "given" if given else wanted.geometry
        own = own_columns(sample.X, sample.weight, named, wanted.n_clusters)
        geometry, some = geometry_of(sample.X, wanted.n_components, own), None
        if not given or wanted.n_clusters is None:
            some = _some_rows(_spread(sample, geometry), task)
        counts = [] if some is None or wanted.n_clusters else count_clusters(some)
        c = wanted.n_clusters or counts[0].n_clusters
        check_representatives(p, c)
        check_room(settings.smallest.rows, rows.total * rows.unit, c)
        numbers = numbers_for(space, p, c, smallest_share(some, c))
        if wanted.wide:  # more of them would only take longer
            numbers = numbers[:WIDE_NUMBERS]
        if not numbers:
            return None
        looks = [] if given or some is None else look_around(some, c)
        columns = best_look(looks).columns if looks else GIVEN
        # 3) Where rows meet representatives, and the projection
        if columns is not GIVEN:
            assert some is not None
            assert some.columns is not None
            columns = columns.in_places(np.argsort(some.columns))
        if columns is not own:
            geometry = geometry_of(sample.X, wanted.n_components, columns)
        frame = frame_in(sample.X, columns, geometry)
        if settings.lookup.norm == "euclidean":
            frame = leading_frame(frame, sample.weight)
        all_rows = ManyRows(rows, sample, frame, numbers, c)
        W = None
        if geometry.m is not None:
            W = _learned_projection(all_rows, geometry, task)
            frame = frame if geometry.space is None else projected(frame, W)
            all_rows = all_rows._replace(frame=frame)
    components = feature_map(geometry.scaled, W)
    return ManyChoices(all_rows, counts, looks, columns.name, components)


def many(rows: RowSet, task: Task) -> FitResult | None:
    """Fit rows by representatives; None where they are few enough to be nodes themselves."""
    settings, watch = task.settings, task.watch
    choice, jobs, dtype = choose(rows, task), settings.lookup.n_jobs, rows.dtype
    if choice is None:
        return None
    all_rows, counts, looks, geometry, components = choice
    # 4) The number of representatives, and the solution
    trial, solved, starts = resolve(all_rows, task.solve, Options.of(settings), watch)
    # 5) What becomes of rows, and of new ones
    problem, result = solved.outcome
    state, nodes = result.state, trial.nodes
    sizes, n_votes = trial.rows.count(solved.labels)
    # Of the same size the one with the first representative: rows come in any order.
    new_name = discrete.falling(sizes, discrete.first_of(solved.labels, problem.c))
    named = new_name[solved.labels]
    fitted = trial.fitted
    reach = outlier_scores.representative_reach(fitted.R, fitted.n_links, fitted.metric)
    stray = state.graph.stray | nodes.tied
    fitted = fitted._replace(labels=named, n_votes=n_votes, reach=reach, stray=stray)
    model = Model(fitted, None, settings.lookup.metric, settings.outlier_label, jobs)
    agreement = 1.0  # labels are the votes that predict takes
    if settings.rule is not None:  # by the rows of the sample: the same, wherever the rows are
        basis = sampled_rows(fitted, all_rows, state, new_name, jobs)
        rule = fitted_rule(basis, settings, dtype, watch.end.is_near)
        sample = all_rows.sample
        own = labelling.new_labels(fitted, sample.X, jobs)
        rule, agreement = judged_rule(rule, settings, sample.X, own, sample.weight, agreement)
        model = model._replace(rule=rule)
    learned = LearnedMatrices(
        similarities(state),
        (state.F / problem.nodes.root).astype(dtype),
        components,
        state.Q[:, np.argsort(new_name)],
        dtype,
    )
    scale = only_scale(fitted.n_links)
    choices = choices_of(
        settings, problem.c, scale, counts, geometry, looks, trial.start, starts, 1.0
    )
    facts = trial.rows.facts(fitted, settings.outlier_label)
    nodes_found = (trial, named, rows.unit)
    seen = evidence_later(all_rows, fitted, jobs, settings.wanted.wide)
    others = partitions(all_rows, trial, counts, watch)
    return FitResult(choices, result, learned, facts, model, agreement, seen, others, nodes_found)


def evidence_later(
    all_rows: ManyRows, fitted: Representatives, jobs: int | None, wide: bool
) -> Callable[[], Evidence]:
    """The evidence for the labels of some rows of the sample, which alone are kept for it."""
    some = all_rows.sample.X[spread_rows(len(all_rows.sample.keys))]
    labels = labelling.new_labels(fitted, some, jobs)
    seen = as_points(fitted.frame, some)
    return functools.partial(evidence_of, seen, labels, wide=wide)


def partitions(
    all_rows: ManyRows, trial: Trial, counts: list[CountEvidence], watch: Watch
) -> dict[int, np.ndarray]:
    """Labels by modularity for the numbers of clusters that were ranked next, of rows in memory."""
    found: dict[int, np.ndarray] = {}
    if not isinstance(all_rows.rows, RowsInMemory):
        return found
    for c in other_counts(counts, all_rows.c):
        if watch.overdue:
            break
        nodes = partition_of(all_rows._replace(c=c), trial.fitted, trial.nodes, watch)
        labels = sample_labels(trial, nodes)
        found[c] = discrete.size_order(labels, c)[labels]
    return found


def are_many(rows: RowSet, p: int | str | None) -> bool:
    """Whether rows are so many that representatives stand for them; copies are not known yet."""
    few = p if isinstance(p, int) else FEW_ROWS
    wide = rows.sparse and rows.d > MOST_SPARSE_COLUMNS and not isinstance(p, int)
    return p is not None and not wide and (rows.n is None or rows.n > few)


def sample_size(d: int, p: int | str | None, c: int | None) -> int:
    """Rows of d columns to draw, from which p representatives are made."""
    asked = p if isinstance(p, int) else EACH_CLUSTER * (c or 1)
    return max(min(LARGE_SAMPLE, SAMPLE_ELEMENTS // d), SAMPLE_EACH * asked)


def check_memory(rows: RowSet, p: int | str | None, c: int | None, k: int | None) -> None:
    """Refuse rows whose sample, fewest representatives and links do not fit into memory."""
    d, row, most = rows.d, _limits.row_bytes(rows), sample_size(rows.d, p, c)

    def estimate(n: int) -> float:
        few = p if isinstance(p, int) else (candidate_resolutions(n, c or 1) or [1])[0]
        kept = NODE_BYTES * min(few, n) + 24.0 * d * min(few, n)
        if isinstance(rows, RowsInMemory):  # links of others are not kept here
            kept += _limits.needed("links", n, d, row, k or LINKS) - _limits.FLOOR
        return kept + _limits.needed("sample", min(n, most), d, row)

    lower = ", or lower n_representatives" if isinstance(p, int) else ""
    _limits.check_room(estimate, rows.n or 0, f" and predict the rest{lower}")


def draw(
    rows: RowSet, p: int | str | None, c: int | None, k: int | None
) -> tuple[sampling.Sample, int] | None:
    """A sample of the rows, and the rows to reckon with for the number of representatives.

    None where every row is to be its own representative. Each row is to have k links.
    """
    if not are_many(rows, p):
        return None
    check_memory(rows, p, c, k)
    few, size = p if isinstance(p, int) else FEW_ROWS, sample_size(rows.d, p, c)
    sample = rows.draw(size)
    assert rows.n is not None
    distinct = len(sample.keys) if len(sample.keys) < size else rows.n
    if distinct <= few:
        return None
    return sample, distinct if size >= LARGE_SAMPLE else min(distinct, size)


def numbers_for(n: int, p: int | str | None, c: int, share: float = 1.0) -> list[int]:
    """The numbers of representatives to choose from; the smallest cluster has at most a share."""
    parts = max(c, int(np.ceil(1.0 / share)))
    return [p] if isinstance(p, int) else candidate_resolutions(n, parts)


def smallest_share(some: Task | None, c: int) -> float:
    """The share of rows in the smallest of the groups apart that are to be clusters."""
    if (
        some is None
        or some.place is None
        or some.place.piece is None
        or not some.settings.may_stand
    ):
        return 1.0
    least = some.settings.smallest.size(some.size.sum(), c)
    stands = separation.stands(some.size, some.place.piece, c, least)
    total = np.bincount(stands + 1, weights=some.size)[1:]
    return float(total[total > 0].min(initial=some.size.sum()) / some.size.sum())


def frame_in(X: Matrix, columns: Columns, geometry: Geometry) -> Frame:
    """How rows become points in these columns, where neighbours are looked up."""
    assert geometry.scaled is not None
    if columns.T is None:
        frame = Frame(geometry.scaled, None)
    else:  # the frame mixes the columns in its own, exact way
        frame = Frame(scale_rows(X, columns._replace(T=None)), None)
        T = columns.T[:, columns.T.any(axis=0)]  # columns that vary
        frame = projected(frame, T.T / np.abs(T).max())
    return frame if geometry.lookup is None else projected(frame, geometry.lookup.T)


def leading_frame(frame: Frame, weight: np.ndarray) -> Frame:
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
    Z = as_points(leading_frame(frame_in(sample.X, GIVEN, geometry), sample.weight), sample.X)
    Z = principal.own_axes(Z, sample.weight)
    cell = lloyd.halved_cells(Z, sample.weight, SAMPLE_ROWS)
    order = np.lexsort((Z.sum(axis=1), cell))
    first = np.searchsorted(cell[order], np.arange(cell.max() + 2))
    # One row stands for its cell: of low sum here, of high sum there, so that none is preferred.
    part = np.arange(len(first) - 1) * GOLDEN % 1.0
    rows = order[first[:-1] + (part * np.diff(first)).astype(np.int64)]
    weight = np.add.reduceat(sample.weight[order], first[:-1])
    return sampling.Sample(sample.keys[rows], sample.X[rows], weight)


def _some_rows(sample: sampling.Sample, task: Task) -> Task:
    """Choices to be made on some rows of the sample, by their own graph."""
    settings, wanted = task.settings, task.settings.wanted
    size = sample.weight / sample.weight.mean()
    k = wide_scale(len(size), wanted.n_clusters) if wanted.wide else None
    settings = settings._replace(
        wanted=wanted._replace(n_neighbors=k),
        smallest=SmallestCluster(None),
        run=settings.run._replace(init=settings.run.init if settings.run.is_own else "spectral"),
    )
    columns = column_order(sample.X)
    some = task._replace(
        settings=settings,
        watch=task.watch.quiet(),
        X=sample.X[:, columns],
        size=size,
        n_distinct=len(size),
        columns=columns,
    )
    some = some.in_own_columns()
    return some._replace(place=place_of(some))


def _scatter_about_nodes(rows: np.ndarray, weight: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The scatter of rows about their nodes: what the nodes lack of the scatter of all rows.

    Means of many rows hardly scatter along columns of noise, which would look like structure.
    """
    share = weight / weight.sum() * len(R)
    values, vectors = np.linalg.eigh((rows.T * share) @ rows - R.T @ R)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _learned_projection(many: ManyRows, geometry: Geometry, task: Task) -> np.ndarray:
    """The projection, of shape (m, d): rows meet their representatives there.

    Where the spectrum tells signal from noise it is the directions of the signal. Otherwise it is
    the W of a solution on some representatives, whose links are measured in all features.
    """
    settings, method, watch = task.settings, task.method, task.watch
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
    result, _ = run(
        problem._replace(subspace=subspace), method, run_settings, task.seed, watch.quiet()
    )
    components = projection(geometry, result.state, d)
    assert components is not None
    return components
