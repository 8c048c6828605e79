"""The one place that builds the similarity graph of the methods that do not learn it."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import _checks
from ..numerics import affinity, discrete, graph
from ..numerics.matrix import Matrix
from . import given_graphs, neighbours, scaling
from .passes import in_chunks

KINDS = ("neighbors", "full", "precomputed")

# A full kernel holds n^2 numbers; beyond this many rows it is refused.
FULL_UP_TO = 20_000


class GraphSettings(NamedTuple):
    """How to build the graph, checked against the data."""

    kind: str
    n_neighbors: int
    bandwidth: float | None  # None: local
    n_jobs: int | None


class Pairs(NamedTuple):
    """Rows, whom each is compared with, and at which bandwidth; all in scaled units."""

    scaled: scaling.Scaled
    idx: np.ndarray  # (n, k)
    d: np.ndarray  # (n, k) squared distances
    sigma: np.ndarray  # (n,)


class FixedGraph(NamedTuple):
    """A similarity graph and where it came from."""

    A: Any  # (n, n) CSR, symmetric, non-negative, zero diagonal; None if only neighbours count
    pairs: Pairs | None  # None if precomputed, or on representatives
    nodes: Matrix | None = None  # (n, d) coordinates, to merge components by; None: unknown


def check_graph(parameters: Any, n: int, kinds: tuple[str, ...] = KINDS) -> GraphSettings:
    """Check the parameters that concern the graph of n rows."""
    kind = _checks.check_choice("affinity", parameters.get("affinity", "neighbors"), kinds)
    if kind == "full" and n > FULL_UP_TO:
        raise ValueError(
            f"affinity='full' would hold {n:,} x {n:,} numbers; use affinity='neighbors' beyond "
            f"{FULL_UP_TO:,} rows."
        )
    return GraphSettings(
        kind,
        _checks.check_neighbors(parameters["n_neighbors"], n),
        _checks.check_bandwidth(parameters["bandwidth"]),
        _checks.check_jobs(parameters["n_jobs"]),
    )


def build_graph(X: Matrix, settings: GraphSettings) -> FixedGraph:
    """The graph that the settings ask for."""
    if settings.kind == "precomputed":
        given_graphs.check_affinity_matrix(X)
        A = sp.csr_array(X).astype(np.float64)
        A = ((A + A.T) * 0.5).tocsr()
        A = (A - sp.dia_array((A.diagonal()[None, :], [0]), shape=A.shape)).tocsr()
        A.eliminate_zeros()
        return FixedGraph(A, None)
    pairs = compared_pairs(X, settings)
    weights = exponents(pairs)
    np.negative(weights, out=weights)
    A = affinity.symmetric_graph(pairs.idx, np.exp(weights, out=weights))
    return FixedGraph(A, pairs, pairs.scaled.X)


def compared_pairs(X: Matrix, settings: GraphSettings) -> Pairs:
    """Neighbours, their distances and the bandwidths."""
    n = X.shape[0]
    scaled = scaling.scale_rows(X)
    if settings.kind == "full":
        others = np.arange(n - 1, dtype=np.int32)[None, :]
        idx = others + (others >= np.arange(n)[:, None])
        d = graph.pair_distances(scaled.X, scaled.X, idx)
    else:
        index = neighbours.fit_index(scaled.X, n_neighbors=settings.n_neighbors + 1)
        k, n_jobs = settings.n_neighbors, settings.n_jobs
        idx, d = neighbours.neighbours_among(index, scaled.X, k, n_jobs)
    if settings.bandwidth is None:
        return Pairs(scaled, idx, d, affinity.local_bandwidth(d))
    # exp(-d / (sigma_i sigma_j)) is exp(-d / (2 sigma^2)) with sqrt(2) sigma for both.
    common = np.sqrt(2.0) * settings.bandwidth / scaled.scale
    return Pairs(scaled, idx, d, np.full(n, common))


def exponents(pairs: Pairs) -> np.ndarray:
    """The kernel's exponents on the pairs pairs."""
    sigma = pairs.sigma
    return affinity.gaussian_exponents(pairs.d, pairs.idx, sigma, sigma)


class Voters(NamedTuple):
    """What is needed to label a new row by the weight of its edges to fitted ones."""

    search: neighbours.Index
    scaled: scaling.Scaled
    sigma: np.ndarray
    settings: GraphSettings
    labels: np.ndarray  # (n,) of the fitted rows


def index_voters(pairs: Pairs | None, settings: GraphSettings, labels: np.ndarray) -> Voters | None:
    """Index the fitted rows; a precomputed graph has none."""
    if pairs is None:
        return None
    index = neighbours.fit_index(pairs.scaled.X, n_neighbors=settings.n_neighbors)
    return Voters(index, pairs.scaled, pairs.sigma, settings, labels)


def edge_labels(voters: Voters, X: Matrix) -> np.ndarray:
    """The label with the most edge weight, the lowest in a tie."""
    return in_chunks(functools.partial(_vote, voters), X)


def _vote(voters: Voters, X: Matrix) -> np.ndarray:
    """The same for some rows."""
    labels = voters.labels
    X = scaling.apply_scale(voters.scaled, scaling.same_kind(X, voters.scaled.X))
    k = min(voters.settings.n_neighbors, len(labels))
    # A row beyond the range of squares is infinitely far from everything: any label is right.
    with np.errstate(over="ignore", invalid="ignore"):
        idx = np.sort(neighbours.query(voters.search, X, k, voters.settings.n_jobs), axis=1)
        d = graph.pair_distances(X, voters.scaled.X, idx)
        apart = affinity.gaussian_exponents(d, idx, _new_bandwidths(d, voters), voters.sigma)
        # Only ratios count, so the nearest gets weight one and nothing can vanish.
        weight = np.nan_to_num(np.exp(apart.min(axis=1, keepdims=True) - apart))
    return discrete.weighted_vote(labels[idx], weight, int(labels.max()) + 1)


def given_edge_labels(X: Matrix, labels: np.ndarray) -> np.ndarray:
    """The same for rows that come with their affinities to the fitted ones."""
    given_graphs.check_non_negative(X)
    weight = sp.csr_array(X).astype(np.float64)
    alone = np.asarray(weight.sum(axis=1)).ravel() <= 0
    if alone.any():
        raise ValueError(
            f"row {int(alone.argmax())} of X has no affinity to any fitted row; pass the "
            "affinities between new rows and the rows that this estimator was fitted on."
        )
    return np.asarray(weight @ np.eye(int(labels.max()) + 1)[labels]).argmax(axis=1)


def _new_bandwidths(d: np.ndarray, voters: Voters) -> np.ndarray:
    """The bandwidth of each new row by itself: it must not depend on the rows it comes with."""
    if voters.settings.bandwidth is not None:
        return np.full(len(d), voters.sigma[0])
    place = min(affinity.BANDWIDTH_RANK, d.shape[1]) - 1
    own = np.sqrt(np.partition(d, place, axis=1)[:, place])
    return np.maximum(own, voters.sigma.min())
