r"""How many clusters: as many as were easier to cut out than they are to cut in two.

For labels with clusters 1, ..., c in a graph A whose rows sum to about one,

.. math:: \varphi_i = \frac{\mathrm{cut}_i + 1}{\min(\mathrm{vol}_i, \mathrm{vol} -
          \mathrm{vol}_i) + 1}

is what it took to cut cluster i out, and :math:`\psi_i` the least of the same over all halves that
its own second eigenvector proposes: what it would take to cut it in two. Clusters are firm as far
as the mean of :math:`\log(\psi_i / \varphi_i)` is large. It is small if clusters are merged, since
:math:`\psi` is, and if they are split, since :math:`\varphi` is large. The one that is added is the
weight of one row: a handful of rows cannot claim that it is cut off for nothing.

Two witnesses are heard alike: the mean of the graphs at all scales, and the one scale whose own
clusters are firmest.

One cluster is the answer unless another number is firmer than a level that rows without clusters
do not reach. It rises with the firmness of a Gaussian that has the covariance of the rows: halves
of a long strip are firm by chance. Where no number reaches it, the level falls to that of the
Gaussian: in many columns cuts are so dear that the firmness of any clusters is far below that of
planar ones.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigsh

from ...numerics import affinity, discrete, eigen, graph, separation
from ...numerics.matrix import Ended, never
from ..column_maps import standard_columns
from ..problems import Place, in_company, points
from ..settings import SMALLEST_SHARE
from ..structureless import from_neighbours, gaussian_like, in_directions, neighbour_graph
from .n_neighbors import SCALES, candidate_scales
from .task import SAMPLE_ROWS, Task, largest_scale, place_of, sampled

# Above this many clusters nothing is proposed.
MOST = 60
# Firmness that structure must exceed: halves of a uniform square have about 0, those of a uniform
# strip log 2 = 0.69, and most data without clusters 0 to 0.5.
LEVEL = 0.6
# The level rises by this share of the firmness of a Gaussian with the same covariance, where that
# is positive; and what firmness must exceed the Gaussian's by where it is below the level.
SHARE, GREAT_EXCESS = 0.5, 0.5
# The mean over c clusters is the firmer evidence the more there are; by theory the root of c.
POWER = 0.6
# Counts that are looked at: the smallest, those after which eigenvalues jump most, and some of all
# sizes.
SMALLEST, JUMPS = 5, 8
GRID = (8, 12, 16, 24, 40, 60)
# Eigenvalues below this are all "zero": a graph that is as good as cut.
EIGENVALUE_FLOOR = 1e-4
# The share of the widest graph in each, so that fragments are tied to what lies near them.
TIE = 1e-3
# Half steps of the rotation to labels, and rows up to which a dense eigenvector is found faster.
ROTATIONS, DENSE = 10, 150


class CountEvidence(NamedTuple):
    """Evidence for one number of clusters.

    The first entry of ``cluster_counts_`` is the chosen number. The score of one cluster is 0; a
    number with a negative score is less plausible than no clusters at all.
    """

    n_clusters: int
    score: float  # c ** 0.6 times (firmness - the level that clusters must exceed)
    votes: int  # scales at which firmness exceeds that level
    n_scales: int
    firmness: float = 0.0  # mean log ratio of the cut that halves a cluster to the cut around it
    jump: float = 0.0  # mean log of the ratio of eigenvalues c + 1 and c
    reference: float | None = None  # firmness of a Gaussian of the same covariance, if asked


def most_clusters(n: int) -> int:
    """The largest number of clusters to consider for n rows.

    Examples
    --------
    >>> most_clusters(150), most_clusters(10_000)
    (30, 60)
    """
    return min(MOST, max(n // 5, 2), max(n - 2, 1))


def weigh_counts(
    graphs: Sequence[sp.csr_array],
    most: int,
    ended: Ended = never,
    trying: Callable[[str], object] = lambda what: None,
    reference: Sequence[sp.csr_array] = (),
) -> list[CountEvidence]:
    """Evidence for numbers of clusters, one among them, the best first.

    Parameters
    ----------
    graphs : sparse arrays of shape (n, n), symmetric
        The data's own graphs, the one with the fewest neighbours first.
    most : int
        The largest number to consider, below n - 1.
    ended : callable
        Says whether there is no more time. The numbers that were weighed until then are all; one
        cluster is always among them.
    trying : callable
        Told what is tried next.
    reference : sparse arrays like ``graphs``
        Graphs of rows without clusters. Without them firmness must exceed 0.6.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = np.kron(np.eye(3), np.ones((6, 6)) - np.eye(6)) / 5 + 1e-3
    >>> weigh_counts([sp.csr_array(A - np.diag(np.diag(A)))], 5)[0].n_clusters
    3
    """
    trying(f"1 to {most} clusters")
    own, jumps = _spectra(graphs, most, ended)
    found: dict[int, _Found] = {}

    def table(level: Callable[[float | None], float]) -> list[CountEvidence]:
        rows = [_weighed(c, row, level(row.reference)) for c, row in found.items()]
        return _ordered([CountEvidence(1, 0.0, 0, len(graphs)), *rows])

    @functools.cache
    def chance() -> _Spectra:
        trying("rows without clusters")
        return _spectra(reference, most, ended)[0]

    wanted = [] if ended() else _candidates(jumps)  # the last spectrum is rough then
    while wanted:  # until the best has been compared with its neighbours
        for c in wanted:
            if ended():
                return table(level_of)
            trying(f"{c} clusters")
            firm, scales = firmest(own, c)
            # What does not reach the level need not be compared.
            without = firmest(chance(), c)[0] if reference and firm > LEVEL else None
            found[c] = _Found(firm, scales, float(jumps[c - 2]), without)
        best = table(level_of)[0].n_clusters
        wanted = [c for c in (best - 1, best + 1) if 2 <= c <= most and c not in found]
    rows = table(level_of)
    if rows[0].n_clusters > 1 or not reference:
        return rows
    for c in found:
        if not ended():
            found[c] = found[c]._replace(reference=firmest(chance(), c)[0])
    return table(lowest_level)


class _Found(NamedTuple):
    """The figures of one number of clusters."""

    firm: float
    own: list[float]  # firmness at each scale
    jump: float
    reference: float | None


class _Spectra(NamedTuple):
    """Graphs at several scales, their mean, and the bottom eigenvectors of each, tied."""

    graphs: Sequence[sp.csr_array]
    mean: sp.csr_array
    vectors: list[np.ndarray]


def _spectra(
    graphs: Sequence[sp.csr_array], most: int, ended: Ended
) -> tuple[_Spectra, np.ndarray]:
    """The spectra, and the mean jump of the eigenvalues at each number of clusters."""
    mean = (sum(graphs[1:], graphs[0]) * (1.0 / len(graphs))).tocsr()
    tied = [(A + TIE * graphs[-1]).tocsr() for A in graphs[:-1]] + [graphs[-1], mean]
    found = [low_spectrum(A, most + 1, ended) for A in tied]
    jumps = mean_jumps([values for values, _ in found[:-1]])
    return _Spectra(graphs, mean, [vectors for _, vectors in found]), jumps


def firmest(spectra: _Spectra, c: int) -> tuple[float, list[float]]:
    """The firmness of c clusters by both witnesses, and at each scale."""
    graphs, mean, vectors = spectra
    found = [_labels(F[:, :c]) for F in vectors]
    least = min(found, key=lambda labels: graph.normalised_cut(mean, labels))
    own = [firmness(A, labels) for A, labels in zip(graphs, found, strict=False)]
    return 0.5 * (firmness(mean, least) + max(own)), own


def level_of(reference: float | None) -> float:
    """The firmness that clusters must exceed, where rows without clusters have ``reference``.

    Examples
    --------
    >>> level_of(0.0), level_of(0.5), level_of(None)
    (0.6, 0.85, 0.6)
    """
    return LEVEL if reference is None else LEVEL + SHARE * max(reference, 0.0)


def lowest_level(reference: float | None) -> float:
    """The level where no clusters reach the usual one.

    Examples
    --------
    >>> lowest_level(-1.0), lowest_level(0.0), lowest_level(0.5)
    (-0.5, 0.5, 0.85)
    """
    if reference is None:
        return LEVEL
    return min(LEVEL, reference + GREAT_EXCESS) + SHARE * max(reference, 0.0)


def _rank(row: CountEvidence) -> tuple[float, int]:
    return -row.score, row.n_clusters


def _ordered(table: list[CountEvidence]) -> list[CountEvidence]:
    """By score; but in third place a neighbour of the first, the better one that is not second.

    Where the best number is wrong, it is mostly wrong by one.
    """
    first, *others = sorted(table, key=_rank)
    second, rest = others[:1], others[1:]
    best = first.n_clusters
    beside = [row for row in rest if abs(row.n_clusters - best) == 1 and row.n_clusters > 1]
    third = beside[:1]
    return [first, *second, *third, *(row for row in rest if row not in third)]


def _weighed(c: int, found: _Found, level: float) -> CountEvidence:
    """The evidence for c clusters, by how far their firmness exceeds a level."""
    score = round(float(c**POWER * (found.firm - level)), 3)
    votes = sum(value > level for value in found.own)
    reference = None if found.reference is None else round(found.reference, 3)
    firm, jump = round(found.firm, 3), round(found.jump, 3)
    return CountEvidence(c, score, votes, len(found.own), firm, jump, reference)


def low_spectrum(
    A: sp.csr_array, how_many: int, ended: Ended = never
) -> tuple[np.ndarray, np.ndarray]:
    r"""The smallest eigenvalues of :math:`I - D^{-1/2} A D^{-1/2}`, and their vectors.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.kron(np.eye(2), 1.0 - np.eye(3)))
    >>> low_spectrum(A, 3)[0].round(6) + 0.0
    array([0. , 0. , 1.5])
    """
    L, root = affinity.normalised_laplacian(A)
    F = eigen.bottom_eigenvectors(L, how_many, graph.components(A)[1], root, ended)
    values, V = scipy.linalg.eigh(F.T @ (L @ F))
    return np.maximum(values, 0.0), F @ V


def mean_jumps(spectra: Sequence[np.ndarray]) -> np.ndarray:
    r"""The mean of :math:`\log(\mu_{c+1} / \mu_c)` for c = 2, 3, ..., eigenvalues lifted.

    Examples
    --------
    >>> import numpy as np
    >>> mean_jumps([np.array([0.0, 0.01, 0.5, 0.6]), np.array([0.0, 0.02, 0.4, 0.6])]).round(2)
    array([3.45, 0.29])
    """
    lifted = np.array(spectra) + EIGENVALUE_FLOOR
    return np.log(lifted[:, 2:] / lifted[:, 1:-1]).mean(axis=0)


def firmness(A: sp.csr_array, labels: np.ndarray) -> float:
    """The mean over clusters of the log of what cuts one in two over what cut it out.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.kron(np.eye(2), np.ones((8, 8)) - np.eye(8)) + 0.01)
    >>> right, wrong = np.repeat([0, 1], 8), np.repeat([0, 1, 2], [8, 4, 4])
    >>> firmness(A, right) > firmness(A, wrong)
    True
    """
    names, labels = np.unique(labels, return_inverse=True)
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(len(names) + 1))
    A = A[order][:, order].tocsr()
    volume = np.bincount(labels[order], np.asarray(A.sum(axis=1)).ravel())
    blocks = [A[a:b, a:b].tocsr() for a, b in itertools.pairwise(ends)]
    cut = np.maximum(volume - np.array([B.sum() for B in blocks]), 0.0)
    outside = (cut + 1.0) / (np.minimum(volume, volume.sum() - volume) + 1.0)
    inside = np.array([inner_cut(B) for B in blocks])
    return float(np.log(inside / outside).mean())


def inner_cut(B: sp.csr_array) -> float:
    """The least (cut + 1) / (smaller volume + 1) over the halves along B's second eigenvector.

    Fewer than four rows count as whole.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> halves = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    >>> inner_cut(sp.csr_array(halves))  # nothing is cut: 1 / (12 + 1)
    0.07692307692307693
    """
    m = B.shape[0]
    if m < 4:
        return 1.0
    degree = np.asarray(B.sum(axis=1)).ravel()
    order = np.argsort(_second_eigenvector(B, degree), kind="stable")
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(m)
    edges = B.tocoo()
    row, column = edges.row, edges.col
    low, high = np.minimum(place[row], place[column]), np.maximum(place[row], place[column])
    opened = np.bincount(low, edges.data, m) - np.bincount(high, edges.data, m)
    cut = np.maximum(0.5 * np.cumsum(opened)[:-1], 0.0)  # each edge is stored twice
    volume = np.cumsum(degree[order])[:-1]
    smaller = np.minimum(volume, degree.sum() - volume)
    return float(((cut + 1.0) / (smaller + 1.0)).min())


def _second_eigenvector(B: sp.csr_array, degree: np.ndarray) -> np.ndarray:
    """Coordinates of rows along it; where B is in pieces, which piece a row is in."""
    count, member = graph.components(B)
    m = len(degree)
    if count > 1:
        return np.bincount(member, degree)[member] + 1e-9 * member
    scale = sp.dia_array(((1.0 / np.sqrt(degree))[None, :], [0]), shape=B.shape)
    N = (scale @ B @ scale).tocsr()
    if m > DENSE:
        try:
            start = np.cos(1.7 * np.arange(m)) + 0.1  # the same every time
            values, V = eigsh(N, 2, which="LA", tol=1e-2, v0=start, maxiter=300)
            return V[:, values.argmin()] / np.sqrt(degree)
        except ArpackError:
            pass
    # All of them: LAPACK can miss one that is asked for alone among many that are equal.
    return scipy.linalg.eigh(N.toarray())[1][:, m - 2] / np.sqrt(degree)


def _candidates(jumps: np.ndarray) -> list[int]:
    """The numbers to weigh, those after which eigenvalues jump most first."""
    best = np.argsort(-jumps, kind="stable")[:JUMPS] + 2
    smallest = np.arange(2, min(SMALLEST, len(jumps) + 1) + 1)
    grid = [c for c in GRID if c <= len(jumps) + 1]
    return list(dict.fromkeys(int(c) for c in (*best, *smallest, *grid)))


def _labels(F: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(F, axis=1, keepdims=True)
    F = F / np.where(length > 1e-12, length, 1.0)
    return discrete.rotate_to_labels(F, discrete.pivoted_rotation(F), ROTATIONS)[1]


def count_clusters(task: Task) -> list[CountEvidence]:
    """Evidence for each number of clusters, from the data's own graphs at several scales.

    Empty where there are too few distinct rows to weigh anything: each is then a cluster.
    """
    settings, place = task.settings, place_of(task)
    columns = None
    if settings.wanted.geometry in ("standard", "within"):
        columns = standard_columns(task.X, in_company(place, task.size))
    # Eigenvalues within a cluster fall with n, those between clusters are zero already.
    if len(place.idx) > SAMPLE_ROWS and not settings.lookup.precomputed:
        place = place_of(sampled(task), columns, largest_scale(task))
    elif columns is not None:
        place = place_of(task, columns)
    apart = _small_pieces(place) if settings.may_stand else np.full(len(place.idx), -1)
    rest = np.flatnonzero(apart < 0)
    most = most_clusters(len(rest))
    if most < 2 or task.n_distinct < 4:
        return []
    idx, d = separation.set_apart(place.idx, place.d, apart)
    fixed = settings.wanted.n_neighbors
    scales = candidate_scales(largest_scale(task)) if fixed is None else [fixed]
    graphs = [from_neighbours(idx, d, k)[rest][:, rest] for k in scales]
    reference = []
    if place.geometry.scaled is not None:
        G = gaussian_like(in_directions(points(place.geometry)[rest]))
        reference = [neighbour_graph(G, k) for k in scales]
    with task.watch.phase("choices"):
        ended, trying = task.watch.end.is_near, task.watch.trying
        found = weigh_counts(graphs, most, ended, trying, reference)
    more = len(np.unique(apart[apart >= 0]))
    return [row._replace(n_clusters=row.n_clusters + more) for row in found]


def _small_pieces(place: Place) -> np.ndarray:
    """Groups apart of a small share of the rows, fewer than a neighbourhood may have; -1: none.

    Each is a cluster, which the wider graphs do not see.
    """
    if place.piece is None:
        return np.full(len(place.idx), -1)
    rows = np.bincount(place.piece)
    small = (rows < SCALES[-1]) & (rows < SMALLEST_SHARE * rows.sum())
    return np.where(small[place.piece], place.piece, -1)
