"""The memory that a fit needs, told before it starts.

A fit goes through phases, and its peak is that of the phase that needs most. What each phase holds
is in one table, in a few named terms. The numbers were fitted to measured peaks by
``benchmarks/memory.py``, which compares the two over many shapes: above 100 MB they agree within a
factor of 1.5, but for one shape of 154. Below that the constant ``FLOOR`` may say more than the
terms do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._limits import check_room, free_bytes
from ..numerics.l2p import DIRECT_UP_TO
from .auto.n_representatives import candidate_resolutions
from .auto.trials import PAIR_BYTES
from .fixed_graph import GraphSettings
from .in_memory import RowsInMemory
from .links import LINKS
from .many import are_many, sample_size
from .representatives import RowSet
from .settings import Settings, wide_links, wide_scale

# Beside all phases: blocks that are worked on at a time, small arrays, what libraries keep.
FLOOR = 25_000_000
# Neighbours of neighbours are the fewer the more neighbours there are: this power of them.
FILL = 1.7
# What to reckon with where it is left open: neighbours, clusters, representatives.
USUAL_NEIGHBOURS, USUAL_CLUSTERS, USUAL_NUMBER = 24, 20, 500
# Bytes for a representative: its links with about a hundred others, several times over.
NODE_BYTES = 7_000
# Phases that look for a basis of the rows.
DENSE = {"regressed graph", "locality", "discriminants"}
# What to do with the rows that there is no room for.
SUBSET = " and predict the rest"
ON_REPRESENTATIVES = f"{SUBSET}, or leave n_representatives at 'auto'"
FEWER_REPRESENTATIVES = f"{SUBSET}, or lower n_representatives"
ANOTHER_METHOD = ", or use a method on representatives, such as DOGC"
# Memory that a phase holds at its peak, beside X itself: multiples of the terms of bytes_in.
PHASES: dict[str, tuple[float, ...]] = {
    # Rows that are sorted and scaled. Keys of sparse rows are larger than the rows.
    "rows": (2.1, 0, 100),
    "sparse rows": (7.0, 0, 300),
    # Coordinates in the span of the rows; with more columns than rows, its basis as well.
    "row space": (2.0, 1.5, 0, 0, 0, 3.5),
    "wide row space": (2.0, 5.0, 0, 0, 0, 2.0),
    # The loop on a graph of all rows, and what is said of them afterwards.
    "loop": (2.0, 0, 2000, 165, 50),
    "loop in a subspace": (2.0, 1.2, 2000, 165, 50),
    "regression": (2.0, 2.5, 2000, 110, 50, 1.5),
    "sparse regression": (5.0, 0, 2000, 110, 50, 3.0),
    "applied regression": (7.0, 0, 2000, 110, 100),
    # Methods on a fixed graph.
    "graph": (2.0, 0, 300, 130, 40),
    "changed graph": (2.0, 0, 300, 200, 40),
    "full graph": (0, 0, 0, 0, 0, 0, 9.5),
    "full changed graph": (0, 0, 0, 0, 0, 0, 14.0),
    "given graph": (8.0,),
    "given changed graph": (19.0,),
    "regressed graph": (2.0, 2.0, 300, 130, 40, 2.0),
    "local models": (2.0, 0, 300, 130, 0, 0, 0, 0, 70),
    "factors of features": (2.0, 3.0, 300, 130, 40),
    "locality": (2.0, 2.5, 0, 0, 0, 6.0),
    "discriminants": (2.0, 2.8, 0, 0, 0, 3.0),
    "kernel map": (2.0, 0, 4 * 500 * 8),
    # Representatives and landmarks, made of rows that are drawn.
    "sample": (2.0, 2.1, 100),
    "links": (0, 0, 5, 12),
    "landmarks": (1.8, 0, 60, 27, 20, 0, 0, 4.0),
}


class Size(NamedTuple):
    """The rows of a fit, and what is asked of them."""

    n: int
    d: int
    row: float  # bytes of a row as it came
    k: int = 0  # neighbours, links or landmarks of a row
    c: int = 0
    m: int = 0  # rows that are drawn of them
    sparse: bool = False


def size_of(X: Any, **asked: int) -> Size:
    """The size of a fit to X, an array, a sparse one, or rows that are elsewhere."""
    (n, d), sparse = X.shape, hasattr(X, "nnz")
    row = X.nnz * (X.dtype.itemsize + X.indices.itemsize) / n if sparse else d * X.dtype.itemsize
    return Size(n, d, row, sparse=sparse, **asked)


def bytes_in(phase: Sequence[float], size: Size) -> float:
    """The peak of a phase.

    Examples
    --------
    >>> bytes_in([2.0, 0, 8], Size(n=1000, d=10, row=80))
    168000.0
    """
    n, d, k = size.n, size.d, size.k
    terms = (
        n * size.row,  # X as it came
        8.0 * n * d,
        n,
        n * k,
        n * size.c,
        8.0 * min(n, d) ** 2,
        8.0 * n**2,
        8.0 * min(size.m, n) * d,  # rows that are drawn
        n * k**FILL,  # each two neighbours of a row, of which some are counted already
    )
    return sum(factor * term for factor, term in zip(phase, terms, strict=False))


def needed(phases: Sequence[str], size: Size) -> float:
    """About the peak of a fit, beside what is held already."""
    return FLOOR + max(bytes_in(PHASES[name], size) for name in phases)


def check_learned(rows: RowSet, settings: Settings, regresses: bool) -> None:
    """Refuse a fit of a method that learns its graph."""
    wanted = settings.wanted
    k, c, m = wanted.n_neighbors, wanted.n_clusters, wanted.n_components
    many = are_many(rows, wanted.n_representatives)
    if wanted.wide:
        k = wide_links(USUAL_NUMBER // 2, c or 1) if many else wide_scale(rows.n or 1, c)
    k = rows.n if wanted.everyone and not many else k
    if many and not settings.lookup.precomputed:
        _check_many(rows, wanted.n_representatives, k, c)
        return
    size = _size(rows, k or USUAL_NEIGHBOURS, c)
    phases, wide = ["loop"], size.d > size.n
    if isinstance(m, int) and m < size.d:
        phases += ["wide row space" if wide else "row space", "loop in a subspace"]
    elif m == "auto" and not size.sparse and not wide and size.d < size.n:
        phases.append("row space")
    if regresses:
        direct = min(size.n, size.d) <= DIRECT_UP_TO
        sparse = "sparse regression" if direct else "applied regression"
        phases.append(sparse if size.sparse else "regression")
    _check(size, phases, ON_REPRESENTATIVES if wanted.n_representatives is None else SUBSET)


def check_fixed(
    rows: RowSet, settings: GraphSettings, parameters: Mapping[str, Any], c: int, *own: str
) -> None:
    """Refuse a fit of a method on a fixed graph; ``own`` are the phases that it alone has."""
    p = parameters.get("n_representatives")
    size = _size(rows, settings.n_neighbors, c)
    learns = "changed graph" if "changed graph" in own else "graph"
    if settings.kind == "full":
        _check(size, [f"full {learns}"], ", or use affinity='neighbors'")
    elif settings.kind == "precomputed":
        _check(size, [f"given {learns}"], "")
    elif parameters.get("source") != "features" and are_many(rows, p):
        _check_many(rows, p, parameters["n_neighbors"], c)
    else:
        remedy = ON_REPRESENTATIVES if "n_representatives" in parameters else ANOTHER_METHOD
        _check(size, [learns, *own], remedy)


def check_in_memory(X: Any, phase: str, **asked: int) -> None:
    """Refuse a fit of any other method."""
    _check(size_of(X, **asked), [phase], SUBSET)


def _size(rows: RowSet, k: int, c: int | None) -> Size:
    """The size of a fit on all rows; those that are elsewhere come to memory then."""
    c = USUAL_CLUSTERS if c is None else c
    if isinstance(rows, RowsInMemory):
        return size_of(rows.X, k=min(k, rows.X.shape[0] - 1), c=c)
    return Size(rows.n or 0, rows.d, 8.0 * rows.d, k, c)  # how many is not known before a look


def _check(size: Size, phases: list[str], remedy: str) -> None:
    if not phases[0].startswith(("full", "given")):
        phases = ["sparse rows" if size.sparse else "rows", *phases]
    if set(phases) & DENSE and size.d > size.n:
        phases = [*phases, "wide row space"]
    check_room(lambda n: needed(phases, size._replace(n=n)), size.n, remedy)


def _check_many(rows: RowSet, p: Any, k: int | None, c: int | None) -> None:
    """The sample and the representatives, and the links of rows where rows are in memory.

    Numbers of representatives are tried as long as there is room for a graph in which nearly all
    are linked, so the largest of these is what a fit may need; the first is tried in any case.
    """
    size, most = _size(rows, k or LINKS, c), sample_size(rows.d, p, c)
    linked, free = isinstance(rows, RowsInMemory), free_bytes()

    def estimate(n: int) -> float:
        sample = needed(["sample"], size._replace(n=min(n, most)))
        sample += bytes_in(PHASES["links"], size._replace(n=n)) if linked else 0.0
        if isinstance(p, int):
            return sample + min(p, n) * (NODE_BYTES + 24.0 * rows.d)
        first, *others = candidate_resolutions(n, c or 1) or [1]
        fits = [q for q in others if sample + PAIR_BYTES * q * q <= free]
        return sample + PAIR_BYTES * max([first, *fits]) ** 2

    check_room(estimate, size.n, FEWER_REPRESENTATIVES if isinstance(p, int) else SUBSET)
