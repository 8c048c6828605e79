"""From many rows to a graph of representatives, and from its labels back to the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from ..loop.running import FIRMER
from ..numerics import discrete, fragments, lloyd
from ..numerics.matrix import Matrix
from . import links, sampling, scaling
from .passes import Report, over_blocks
from .settings import Settings, SmallestCluster

# Rows of the sample on which Lloyd's steps are taken, at least and for each representative; the
# steps, and those for many representatives.
MEANS_ROWS, MEANS_EACH = 10_000, 40
STEPS, FEW_STEPS, MANY_MEANS = 15, 5, 1_000
# Rows of it that tell the common width.
WIDTH_ROWS = 10_000
# Up to so many distinct rows every row is its own representative, unless a number is asked for.
FEW_ROWS = 3_000
# No representative counts for less than this share of the mean.
LEAST_MASS = 1e-6


class Frame(NamedTuple):
    """How rows become points that are compared with representatives."""

    scaled: scaling.Scaled
    directions: np.ndarray | None  # (d, q); None: all features
    unit: float = 1.0  # beyond most coordinates, where there are directions
    middle: Any = 0.0  # (d,) where most rows are, there


class Options(NamedTuple):
    """What the user has a say in."""

    n_jobs: int | None
    n_links: int | None = None  # of each row; None: as many as usual
    width: float | None = None  # common width in units of X; None: by the rows
    min_cluster_size: int | None = None  # None: a share of an even split
    init: Any = "spectral"
    firmer: float | None = None  # what alpha is multiplied with where resolutions disagree
    norm: str = "euclidean"

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """Those among the settings of a method that learns its graph."""
        return cls(
            settings.lookup.n_jobs,
            settings.wanted.n_neighbors,
            min_cluster_size=settings.smallest.rows,
            init=settings.run.init,
            firmer=FIRMER if settings.run.may_firm else None,
            norm=settings.lookup.norm,
        )


class ManyRows(NamedTuple):
    """Rows that are too many to be nodes of a graph themselves."""

    weight: np.ndarray  # (n,) whole numbers
    unit: float  # what a weight of 1 stands for
    sample: sampling.Sample
    frame: Frame
    numbers: list[int]  # of representatives, to choose from
    c: int


class NodeGraph(NamedTuple):
    """Representatives as nodes of a graph."""

    A: sp.csr_array  # (p, p) links
    X: np.ndarray  # (p, d) in units of the frame
    size: np.ndarray  # (p,) what is linked to each, in units of their mean
    unit: float  # that mean
    mass: np.ndarray  # (p,) what they count for in F and Y: their links, in units of the mean
    min_size: float  # the least that makes a cluster
    tied: np.ndarray  # (p,) in pieces that were too small


class Representatives(NamedTuple):
    """All that labels new rows."""

    frame: Frame  # whose scaled.X are the representatives
    R: np.ndarray  # (p, q) as points
    n_links: int
    width: float
    labels: np.ndarray  # (p,)
    n_votes: int = links.LINKS  # of its links, those that have a say in a row's label
    reach: np.ndarray | None = None  # (p,) mean distance of each to the nearest others
    stray: np.ndarray | None = None  # (p,) whether each is in a group too small for a cluster
    metric: str = "euclidean"


def draw(X: Matrix, weight: np.ndarray, size: int, n_jobs: int | None) -> sampling.Sample:
    """The sample of at most so many distinct rows."""
    drawn: sampling.Sample | None = None
    for part in over_blocks(
        lambda rows: sampling.smallest_keys(X[rows], weight[rows], size), X, n_jobs
    ):
        drawn = part if drawn is None else sampling.merged(drawn, part, size)
    assert drawn is not None
    return drawn


def projected(frame: Frame, components: np.ndarray) -> Frame:
    """The frame with directions to look along, of shape (q, d)."""
    X: Any = frame.scaled.X
    middle: Any = 0.0
    if sp.issparse(X):
        reach = abs(X).max(axis=1).toarray()
    else:
        middle = np.median(X, axis=0).astype(np.float64)
        reach = np.abs(X - middle).max(axis=1)
    directions = components.T.astype(np.float64)
    bits = links.exact_bits(len(directions))
    unit = float(np.quantile(reach, 0.9)) or 1.0
    directions = links.rounded(directions, 1.0, bits)
    return frame._replace(directions=directions, unit=unit, middle=middle)


def as_points(frame: Frame, X: Matrix) -> np.ndarray:
    """Rows as points: a function of each row alone, to the last bit.

    As ``scaling.apply_scale``, in 64 bits and without dropping any: here ties are broken otherwise.
    """
    scaled = frame.scaled
    X = scaling.same_kind(X, scaled.X)
    Z = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    Z -= scaled.origin
    Z /= scaled.unit
    Z -= scaled.centre
    Z /= scaled.scatter
    if scaled.constant is not None and scaled.constant.any():
        Z[:, scaled.constant] = 0.0  # what is left of it is rounding
    if frame.directions is None:
        return Z
    # Products of so few bits are exact, whatever rows are multiplied together.
    bits = links.exact_bits(len(frame.directions))
    return links.rounded(Z - frame.middle, frame.unit, bits) @ frame.directions


def make_representatives(many: ManyRows, p: int, options: Options) -> Representatives:
    """At most p means of cells of the sample, not labelled yet."""
    frame, rows = many.frame, slice(max(MEANS_ROWS, MEANS_EACH * p))
    X, weight = many.sample.X[rows], many.sample.weight[rows]
    Z = as_points(frame, X)
    steps = STEPS if p <= MANY_MEANS else FEW_STEPS
    cell, _ = lloyd.cells(Z, weight, p, steps, effective_n_jobs(options.n_jobs))
    X = lloyd.cell_means(
        as_points(frame._replace(directions=None), X), weight, cell, cell.max() + 1
    )
    R = X
    if frame.directions is not None:
        R = lloyd.cell_means(Z, weight, cell, len(X))
    n_links = min(options.n_links or links.LINKS, len(R))
    if options.width is None:
        _, d = links.nearest(links.make_search(R, options.norm), Z[:WIDTH_ROWS], n_links)
        width = links.common_width(d, weight[:WIDTH_ROWS])
    else:  # exp(-d / (2 sigma^2)) is exp(-d / width^2)
        width = np.sqrt(2.0) * options.width / frame.scaled.scale
    frame = frame._replace(scaled=frame.scaled._replace(X=X))
    blank = np.zeros(len(R), dtype=np.int64)
    return Representatives(frame, R, n_links, width, blank, metric=options.norm)


def pass_over(
    fitted: Representatives,
    X: Matrix,
    weight: np.ndarray,
    n_jobs: int | None,
    report: Report | None = None,
) -> tuple[links.RowLinks, links.LinkSums]:
    """One pass over the rows: the links of each, and what they add up to."""
    search, p = links.make_search(fitted.R, fitted.metric), len(fitted.R)

    def block(rows: slice) -> tuple[links.RowLinks, links.LinkSums]:
        Z = as_points(fitted.frame, X[rows])
        found = links.link_rows(search, Z, fitted.n_links, fitted.width)
        return found, links.link_sums(found, weight[rows], p)

    parts, total = [], None
    for found, sums in over_blocks(block, X, n_jobs, report):
        # A row's strengths are in the sums now; only its shares are needed for its label.
        parts.append((found.idx, found.share, found.reach))
        total = sums if total is None else links.add(total, sums)
    assert total is not None
    idx, share, reach = (np.concatenate(part) for part in zip(*parts, strict=True))
    return links.RowLinks(idx, np.empty((0, 0)), share, reach), total


def make_nodes(
    fitted: Representatives, sums: links.LinkSums, many: ManyRows, options: Options
) -> NodeGraph:
    """The graph of representatives; pieces that are too small to be clusters are tied."""
    linked = sums.mass / links.ONE
    unit = float(linked.mean())
    size = linked / unit
    smallest = SmallestCluster(options.min_cluster_size, unit * many.unit)
    least = smallest.size(size.sum(), many.c)
    A, tied = fragments.tie_small(links.link_graph(sums), fitted.R, size, least)
    degree = np.asarray(A.sum(axis=1)).ravel()
    mass = np.maximum(degree / (degree.mean() or 1.0), LEAST_MASS)
    return NodeGraph(A, fitted.frame.scaled.X, size, unit, mass, least, tied)


def row_votes(
    rows: links.RowLinks, labels: np.ndarray, n_jobs: int | None = 1
) -> tuple[np.ndarray, np.ndarray, int]:
    """The label with most of each row's weight, the lowest in a tie, its share, and the voters.

    All links of a row vote, unless a label would have no row at all: then the nearest alone.
    """
    n, c = len(rows.idx), int(labels.max()) + 1
    found, sure = np.empty(n, dtype=np.int64), np.empty(n)
    voters = rows.idx.shape[1]

    def block(part: slice) -> None:
        idx, weight = rows.idx[part, :voters], rows.share[part, :voters]
        share = discrete.label_shares(labels[idx], weight, c)
        found[part] = share.argmax(axis=1)
        sure[part] = share.max(axis=1) / weight.sum(axis=1, dtype=np.int64)

    for _ in over_blocks(block, rows.idx, n_jobs):
        pass
    if voters > 1 and not np.isin(np.unique(labels), found).all():
        voters = 1
        for _ in over_blocks(block, rows.idx, n_jobs):
            pass
    return found, sure, voters


def named_votes(
    rows: links.RowLinks, labels: np.ndarray, weight: np.ndarray, c: int, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """As :func:`row_votes`, labels numbered by falling size, and the new name of each label.

    Ties are broken by the new names, as ``predict`` will break them.
    """
    votes = row_votes(rows, labels, n_jobs)
    new_name = discrete.size_order(votes[0], c, weight)
    if (new_name != np.arange(c)).any():
        votes = row_votes(rows, new_name[labels], n_jobs)
    return *votes, new_name


def linked_shares(fitted: Representatives, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The share of each label in the links of new rows, of shape (n, c)."""
    search = links.make_search(fitted.R, fitted.metric)

    def block(rows: slice) -> np.ndarray:
        return _shares(fitted, search, as_points(fitted.frame, X[rows]))

    return np.concatenate(list(over_blocks(block, X, n_jobs)))


def linked_labels(fitted: Representatives, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The label with the largest share, the lowest in a tie.

    Rows well inside a cluster are told by their nearest representatives alone.
    """
    search = links.make_search(fitted.R, fitted.metric)
    known = links.labelled(search, fitted.labels, min(fitted.n_votes, fitted.n_links))

    def block(rows: slice) -> np.ndarray:
        Z = as_points(fitted.frame, X[rows])
        labels, sure = links.surely(known, Z)
        if not sure.all():
            labels[~sure] = _shares(fitted, search, Z[~sure]).argmax(axis=1)
        return labels

    return np.concatenate(list(over_blocks(block, X, n_jobs)))


def _shares(fitted: Representatives, search: links.Search, Z: np.ndarray) -> np.ndarray:
    found = links.link_rows(search, Z, fitted.n_links, fitted.width)
    c, voters = int(fitted.labels.max()) + 1, fitted.n_votes
    votes = discrete.label_shares(fitted.labels[found.idx[:, :voters]], found.share[:, :voters], c)
    return votes / votes.sum(axis=1, keepdims=True)
