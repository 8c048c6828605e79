"""From many rows, wherever they are, to a graph of representatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from ..loop.running import FIRMER
from ..numerics import fragments, lloyd, principal, separation
from ..numerics.exact import exact_bits, power_of_two, rounded
from ..numerics.matrix import Ended, Matrix, never
from . import links, sampling, scaling
from .repeatable import Report
from .settings import Settings, SmallestCluster, wide_links

# Rows of the sample on which Lloyd's steps are taken: so many for each representative, and as many
# as can be compared with all of them by so many distances. Few enough rows are all of them: which
# are first in the sample hangs on their last digits.
MEANS_EACH, MEANS_DISTANCES = 40, 10_000_000
# Few steps, because halves of halves are good cells already.
STEPS = 5
# Up to so many distinct rows every row is its own representative, unless a number is asked for.
FEW_ROWS = 3_000
# No representative counts for less than this share of the mean.
LEAST_MASS = 1e-6
# Representatives around each among which groups that lie apart are looked for, and the fewest of
# such a group.
NEAR, FEWEST_APART = 45, 4


class Frame(NamedTuple):
    """How rows become points that are compared with representatives."""

    scaled: scaling.Scaled
    directions: np.ndarray | None  # (d, q); None: all features
    unit: float = 1.0  # a power of two beyond most coordinates, where there are directions
    middle: Any = 0.0  # (d,) where most rows are, there


class Options(NamedTuple):
    """User settings for the representative graph."""

    n_links: int | None = None  # of each row; None: as many as usual
    width: float | None = None  # common width in units of X; None: by the rows
    min_cluster_size: int | None = None  # None: a share of an even split
    init: Any = "spectral"
    starts: tuple[str, ...] = ("spectral",)  # to choose from
    firmer: float | None = None  # what alpha is multiplied with for labels by modularity
    norm: str = "euclidean"
    wide: bool = False  # whether each row has many links
    may_stand: bool = False  # whether a group apart may be a cluster however small it is

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """Those among the settings of a method that learns its graph."""
        return cls(
            settings.wanted.n_neighbors,
            min_cluster_size=settings.smallest.rows,
            init=settings.run.init,
            starts=settings.run.starts,
            firmer=FIRMER if settings.run.may_firm else None,
            norm=settings.lookup.norm,
            wide=settings.wanted.wide,
            may_stand=settings.may_stand,
        )


class NodeGraph(NamedTuple):
    """Representatives as nodes of a graph."""

    A: sp.csr_array  # (p, p) links
    X: np.ndarray  # (p, d) in units of the frame
    size: np.ndarray  # (p,) what is linked to each, in units of their mean
    unit: float  # that mean
    mass: np.ndarray  # (p,) what they count for in F and Y: their links, in units of the mean
    min_size: float  # the least that makes a cluster
    tied: np.ndarray  # (p,) in pieces that were too small
    stands: np.ndarray  # (p,) groups that are clusters although they are small; -1: none
    standing: np.ndarray  # (p,) what each counts for beside the least


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


class RowFacts(NamedTuple):
    """Labels, membership and outlier scores of rows, in arrays of their kind."""

    labels: Any  # (n,) the mark for outliers, where there is one
    membership: Any = None  # (n,)
    scores: Any = None  # (n,) outlier scores; None: not asked for
    outliers: Any = None  # (n,)


# What is made of rows that had no say.
Unseen = Callable[[Matrix], RowFacts]


class LinkedRows(Protocol):
    """Rows that are linked with representatives."""

    n_links: int

    def sizes(self, labels: np.ndarray, n_votes: int) -> np.ndarray:
        """The sizes of labels that representatives have, where so many links of a row vote."""

    def count(self, labels: np.ndarray) -> tuple[np.ndarray, int]:
        """The sizes of labels that representatives have, and how many links of a row have a vote.

        All links vote, unless a label would have no row at all: then the nearest alone.
        """
        sizes = self.sizes(labels, self.n_links)
        if self.n_links > 1 and (sizes[np.unique(labels)] == 0).any():
            return self.sizes(labels, 1), 1
        return sizes, self.n_links

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """The facts of each row, once representatives have labels."""

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """How far each representative is held by rows of each label, of shape (p, c)."""


# The links of rows, and what they add up to.
Linked = tuple[LinkedRows, links.LinkSums]


class RowSet(Protocol):
    """Rows that may be too many to be nodes of a graph themselves: in memory, or elsewhere."""

    X: Any
    n: int | None  # None: not known before a sample is drawn
    d: int
    dtype: Any
    sparse: bool
    total: int  # what they weigh together, as whole numbers
    unit: float  # what a weight of 1 stands for

    _drawn: sampling.Sample | None = None
    _drawn_size: int = 0

    def _draw(self, size: int) -> sampling.Sample:
        """Draw the sample."""

    def draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows: the first of the largest that was drawn."""
        if self._drawn is None or size > self._drawn_size:
            self._drawn, self._drawn_size = self._draw(size), size
        return sampling.Sample(*(part[:size] for part in self._drawn))

    def sample_rows(self, sample: sampling.Sample) -> RowSet:
        """The rows of a sample, where they are worked on best."""

    def count_distinct(self, enough: int) -> int:
        """Number of distinct rows, counted no further than ``enough``."""
        return min(enough, len(self.draw(max(enough, sampling.USUAL_SIZE)).keys))

    def few(self, apart: bool = False) -> tuple[Matrix, np.ndarray | None]:
        """The rows in memory with what they weigh, where they are few; equal ones may be one."""

    def spread(self, found: RowFacts, unseen: Unseen | None = None) -> RowFacts:
        """The facts of each row, from those of the few; ``unseen`` tells of others."""

    def nearest_mean(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """The nearest row of R for each row of Z, the first in a tie."""

    def link(self, fitted: Representatives, report: Report | None = None) -> Linked:
        """One pass over the rows: their links, and what these add up to."""


class ManyRows(NamedTuple):
    """Rows that are too many to be nodes of a graph themselves."""

    rows: RowSet
    sample: sampling.Sample
    frame: Frame
    numbers: list[int]  # of representatives, to choose from
    c: int


def projected(frame: Frame, components: np.ndarray) -> Frame:
    """The frame with directions to look along, of shape (q, d)."""
    X: Any = frame.scaled.X
    sparse = sp.issparse(X)
    middle: Any = 0.0 if sparse else np.median(X, axis=0).astype(np.float64)
    reach = abs(X).max(axis=1).toarray() if sparse else np.abs(X - middle).max(axis=1)
    directions = components.T.astype(np.float64)
    bits = direction_bits(directions)
    unit = power_of_two(float(np.quantile(reach, 0.9)))
    directions = rounded(directions, 1.0, bits)
    return frame._replace(directions=directions, unit=unit, middle=middle)


def direction_bits(directions: np.ndarray) -> int:
    """Bits for products with directions; columns that have no part in any do not count."""
    return exact_bits(int(np.count_nonzero(directions.any(axis=1))))


def as_points(frame: Frame, X: Matrix) -> np.ndarray:
    """Rows as points: a function of each row alone, to the last bit.

    In 64 bits and without dropping any: here ties are broken otherwise.
    """
    X = X.toarray() if sp.issparse(X) else X
    Z = scaling.apply_scale(frame.scaled, X.astype(np.float64, copy=False), drop_bits=False)
    if frame.directions is None:
        return Z
    # Products of so few bits are exact, whatever rows are multiplied together.
    bits = direction_bits(frame.directions)
    return rounded(Z - frame.middle, frame.unit, bits) @ frame.directions


def make_representatives(
    many: ManyRows, p: int, options: Options, ended: Ended = never
) -> Representatives:
    """At most p means of cells of the sample, not labelled yet."""
    frame, rows = many.frame, slice(max(MEANS_EACH * p, MEANS_DISTANCES // p))
    X, weight = many.sample.X[rows], many.sample.weight[rows]
    Z = as_points(frame, X)
    cell = lloyd.halved_cells(principal.own_axes(Z, weight), weight, p)
    start = lloyd.cell_means(Z, weight, cell, p)
    cell, _ = lloyd.cells(Z, weight, start, STEPS, many.rows.nearest_mean, ended)
    found = int(cell.max()) + 1
    if found < many.c:
        raise ValueError(
            f"n_clusters={many.c} is too large: only {found} representatives of the rows "
            "of X can be told apart, as few rows are many times larger than all others; drop these "
            "rows, or choose fewer clusters."
        )
    own = as_points(frame._replace(directions=None), X)
    X = lloyd.cell_means(own, weight, cell, found)
    R = X if frame.directions is None else lloyd.cell_means(Z, weight, cell, found)
    usual = wide_links(p, many.c) if options.wide else links.LINKS
    n_links = min(options.n_links or usual, len(R))
    if options.width is None:
        _, d = links.nearest(links.make_search(R, options.norm), Z, n_links)
        width = links.common_width(d, weight)
    else:  # exp(-d / (2 sigma^2)) is exp(-d / width^2)
        width = np.sqrt(2.0) * options.width / frame.scaled.scale
    frame = frame._replace(scaled=frame.scaled._replace(X=X))
    blank = np.zeros(len(R), dtype=np.int64)
    return Representatives(frame, R, n_links, width, blank, metric=options.norm)


def make_nodes(
    fitted: Representatives, sums: links.LinkSums, many: ManyRows, options: Options
) -> NodeGraph:
    """The graph of representatives; pieces that are too small to be clusters are tied."""
    linked = sums.mass / links.ONE
    unit = float(linked.mean())
    size = linked / unit
    smallest = SmallestCluster(options.min_cluster_size, unit * many.rows.unit)
    least = smallest.size(size.sum(), many.c)
    stands = np.full(len(size), -1)
    if options.may_stand:
        idx, d = links.nearest(links.make_search(fitted.R, fitted.metric), fitted.R, NEAR + 1)
        piece = separation.pieces(idx[:, 1:], d[:, 1:], FEWEST_APART)
        stands = separation.stands(size, piece, many.c, least)
    standing = separation.standing(size, stands, least)
    A = separation.without_links(links.link_graph(sums), stands)
    A, tied = fragments.tie_small(A, fitted.R, standing, least)
    degree = np.asarray(A.sum(axis=1)).ravel()
    mass = np.maximum(degree / (degree.mean() or 1.0), LEAST_MASS)
    return NodeGraph(A, fitted.frame.scaled.X, size, unit, mass, least, tied, stands, standing)
