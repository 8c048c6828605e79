"""The one place that builds the similarity graph of the methods that do not learn it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import _checks, _limits
from ..numerics import affinity, discrete, graph
from ..numerics.matrix import Matrix
from . import neighbours, scaling
from .repeatable import in_chunks

KINDS = ("neighbors", "full", "precomputed")

# A full kernel holds n^2 numbers; beyond this many rows it is refused.
FULL_UP_TO = 20_000
# What to do where there is no room: with a graph of another kind there is another choice.
ANOTHER_METHOD = ", or use a method on representatives, such as DOGC"
REMEDIES = {"full": ", or use affinity='neighbors'", "precomputed": ""}


class GraphSettings(NamedTuple):
    """How to build the graph, checked against the data."""

    kind: str
    n_neighbors: int
    bandwidth: float | None  # None: local
    n_jobs: int | None


class FixedGraph(NamedTuple):
    """A similarity graph and the pairs of rows that it was made of, in scaled units."""

    A: Any  # (n, n) CSR, symmetric, non-negative, zero diagonal; None if only neighbours count
    nodes: Any = None  # (n, d) coordinates, to merge components by; None: unknown
    scaled: Any = None  # the rows; None if the graph is given, or on representatives
    idx: Any = None  # (n, k) those that each row is compared with
    d: Any = None  # (n, k) squared distances
    sigma: Any = None  # (n,) bandwidths


def check_graph(parameters: Any, n: int, kinds: tuple[str, ...] = KINDS) -> GraphSettings:
    """Check the parameters that concern the graph of n rows."""
    kind = _checks.check_choice("affinity", parameters.get("affinity", "neighbors"), kinds)
    if kind == "full" and n > FULL_UP_TO:
        raise ValueError(
            f"affinity='full' would hold {n:,} x {n:,} numbers; use affinity='neighbors' beyond "
            f"{FULL_UP_TO:,} rows."
        )
    k, width = _checks.check_neighbors(parameters["n_neighbors"], n), parameters["bandwidth"]
    width = _checks.check_positive("bandwidth", width, "local", largest=_checks.LONGEST)
    return GraphSettings(kind, k, width, _checks.check_jobs(parameters["n_jobs"]))


def check_memory(
    rows: Any, settings: GraphSettings, phase: str, c: int, remedy: str = ANOTHER_METHOD
) -> None:
    """Refuse rows that are too many for the graph, or for a phase that a method alone has."""
    phases, remedy = [f"{settings.kind} graph", phase], REMEDIES.get(settings.kind, remedy)
    _limits.check_phases(rows, phases, remedy, k=settings.n_neighbors, c=c)


def build_graph(X: Matrix, settings: GraphSettings) -> FixedGraph:
    """The graph that the settings ask for."""
    if settings.kind == "precomputed":
        neighbours.check_square(X, "affinity", "affinities")
        if abs(X - X.T).max() > 1e-6 * abs(X).max():
            raise ValueError(
                "X is not symmetric, which affinity='precomputed' needs; symmetrise it, for "
                "example with 0.5 * (X + X.T)."
            )
        A = sp.csr_array(X).astype(np.float64)
        A = ((A + A.T) * 0.5).tocsr()
        A = (A - sp.dia_array((A.diagonal()[None, :], [0]), shape=A.shape)).tocsr()
        A.eliminate_zeros()
        return FixedGraph(A)
    pairs = compared_pairs(X, settings)
    return pairs._replace(A=affinity.symmetric_graph(pairs.idx, np.exp(-exponents(pairs))))


def compared_pairs(X: Matrix, settings: GraphSettings) -> FixedGraph:
    """Neighbours, their distances and the bandwidths; no graph is made."""
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
        return FixedGraph(None, scaled.X, scaled, idx, d, affinity.local_bandwidth(d))
    # exp(-d / (sigma_i sigma_j)) is exp(-d / (2 sigma^2)) with sqrt(2) sigma for both.
    common = np.sqrt(2.0) * settings.bandwidth / scaled.scale
    return FixedGraph(None, scaled.X, scaled, idx, d, np.full(n, common))


def exponents(pairs: FixedGraph) -> np.ndarray:
    """The kernel's exponents on the pairs."""
    sigma = pairs.sigma
    return affinity.gaussian_exponents(pairs.d, pairs.idx, sigma, sigma)


class Voters(NamedTuple):
    """Fitted rows, ready to label a new row by the weight of its edges to them."""

    search: neighbours.Index
    scaled: scaling.Scaled
    sigma: np.ndarray
    settings: GraphSettings
    labels: np.ndarray  # (n,) of the fitted rows


def index_voters(pairs: FixedGraph, settings: GraphSettings, labels: np.ndarray) -> Voters | None:
    """Index the fitted rows; a precomputed graph has none."""
    if pairs.scaled is None:
        return None
    index = neighbours.fit_index(pairs.scaled.X, n_neighbors=settings.n_neighbors)
    return Voters(index, pairs.scaled, pairs.sigma, settings, labels)


def edge_labels(voters: Voters, X: Matrix) -> np.ndarray:
    """The label with the most edge weight, the lowest in a tie."""
    labels, settings = voters.labels, voters.settings
    k = min(settings.n_neighbors, len(labels))

    def vote(rows: Matrix) -> np.ndarray:
        rows = scaling.apply_scale(voters.scaled, scaling.same_kind(rows, voters.scaled.X))
        # A row beyond the range of squares is infinitely far from everything: any label is right.
        with np.errstate(over="ignore", invalid="ignore"):
            idx = np.sort(neighbours.query(voters.search, rows, k, settings.n_jobs), axis=1)
            d = graph.pair_distances(rows, voters.scaled.X, idx)
            apart = affinity.gaussian_exponents(d, idx, _new_bandwidths(d, voters), voters.sigma)
            # Only ratios count, so the nearest gets weight one and nothing can vanish.
            weight = np.nan_to_num(np.exp(apart.min(axis=1, keepdims=True) - apart))
        return discrete.label_shares(labels[idx], weight, int(labels.max()) + 1).argmax(axis=1)

    return in_chunks(vote, X)


def given_edge_labels(X: Matrix, labels: np.ndarray) -> np.ndarray:
    """The same for rows that come with their affinities to the fitted ones."""
    neighbours.check_entries(X, "affinity", "affinities")
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
