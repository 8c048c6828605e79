"""The memory that a fit needs, told before it starts.

A fit goes through phases, and its peak is that of the phase that needs most. What each phase holds
is in one table, in a few named terms. The numbers were fitted to measured peaks by
``benchmarks/memory.py``, which compares the two over many shapes: above 100 MB they agree within a
factor of 1.5, but for one shape of 154. Below that the constant ``FLOOR`` may say more than the
terms do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def bytes_in(
    phase: Sequence[float], n: int, d: int, row: float, k: int = 0, c: int = 0, m: int = 0
) -> float:
    """The peak of a phase.

    Parameters
    ----------
    phase : factors of the terms below, zero for those that are left out.
    n, d : numbers of rows and columns.
    row : bytes of a row as it came.
    k : neighbours, links or landmarks of a row.
    c : number of clusters.
    m : rows that are drawn.

    Examples
    --------
    >>> bytes_in([2.0, 0, 8], n=1000, d=10, row=80)
    168000.0
    """
    terms = (
        n * row,  # X as it came
        8.0 * n * d,
        n,
        n * k,
        n * c,
        8.0 * min(n, d) ** 2,
        8.0 * n**2,
        8.0 * min(m, n) * d,  # rows that are drawn
        n * k**FILL,  # each two neighbours of a row, of which some are counted already
    )
    return sum(factor * term for factor, term in zip(phase, terms, strict=False))


def needed(phases: Sequence[str], n: int, d: int, row: float, **asked: int) -> float:
    """About the peak of a fit, beside what is held already."""
    return FLOOR + max(bytes_in(PHASES[name], n, d, row, **asked) for name in phases)


def row_bytes(rows: RowSet) -> float:
    """Bytes of a row; one that is elsewhere comes to memory in 64 bits."""
    if not isinstance(rows, RowsInMemory):
        return 8.0 * rows.d
    X = rows.X
    return X.nnz * (X.dtype.itemsize + X.indices.itemsize) / rows.n if rows.sparse else X[0].nbytes


def check_learned(rows: RowSet, settings: Settings, regresses: bool) -> None:
    """Refuse a fit of a method that learns its graph."""
    wanted, n, d = settings.wanted, rows.n or 0, rows.d  # how many is not known before a look
    k, m = wanted.n_neighbors, wanted.n_components
    c, p = wanted.n_clusters, wanted.n_representatives
    if are_many(rows, p):
        _check_many(rows, p, wide_links(USUAL_NUMBER // 2, c or 1) if wanted.wide else k, c)
        return
    if wanted.wide:
        k = wide_scale(n, c)
    k = (n if wanted.everyone else k) or USUAL_NEIGHBOURS
    phases = ["loop"]
    if isinstance(m, int) and m < d:
        phases += ["wide row space" if d > n else "row space", "loop in a subspace"]
    elif m == "auto" and not rows.sparse and d < n:
        phases.append("row space")
    if regresses:
        sparse = "sparse regression" if min(n, d) <= DIRECT_UP_TO else "applied regression"
        phases.append(sparse if rows.sparse else "regression")
    remedy = ON_REPRESENTATIVES if p is None else SUBSET
    _check(rows, phases, remedy, k=k, c=c or USUAL_CLUSTERS)


def check_fixed(
    rows: RowSet, settings: GraphSettings, parameters: Mapping[str, Any], c: int, *own: str
) -> None:
    """Refuse a fit of a method on a fixed graph; ``own`` are the phases that it alone has."""
    p, k = parameters.get("n_representatives"), settings.n_neighbors
    learns = "changed graph" if "changed graph" in own else "graph"
    if settings.kind == "full":
        _check(rows, [f"full {learns}"], ", or use affinity='neighbors'")
    elif settings.kind == "precomputed":
        _check(rows, [f"given {learns}"], "")
    elif parameters.get("source") != "features" and are_many(rows, p):
        _check_many(rows, p, parameters["n_neighbors"], c)
    else:
        remedy = ON_REPRESENTATIVES if "n_representatives" in parameters else ANOTHER_METHOD
        _check(rows, [learns, *own], remedy, k=k, c=c)


def check_in_memory(X: Any, phase: str, **asked: int) -> None:
    """Refuse a fit of any other method."""
    _check(RowsInMemory(X), [phase], SUBSET, **asked)


def _check(rows: RowSet, phases: list[str], remedy: str, k: int = 0, **asked: int) -> None:
    n, d, row = rows.n or 0, rows.d, row_bytes(rows)
    phases = ["sparse rows" if rows.sparse else "rows", *phases]
    if d > n and DENSE.intersection(phases):
        phases.append("wide row space")
    k = min(k, max(n - 1, 0))
    check_room(lambda fewer: needed(phases, fewer, d, row, k=k, **asked), n, remedy)


def _check_many(rows: RowSet, p: Any, k: int | None, c: int | None) -> None:
    """The sample and the representatives, and the links of rows where rows are in memory.

    Numbers of representatives are tried as long as there is room for a graph in which nearly all
    are linked, so the largest of these is what a fit may need; the first is tried in any case.
    """
    n, d, row, most = rows.n or 0, rows.d, row_bytes(rows), sample_size(rows.d, p, c)
    linked, free = isinstance(rows, RowsInMemory), free_bytes()

    def estimate(n: int) -> float:
        sample = needed(["sample"], min(n, most), d, row)
        sample += bytes_in(PHASES["links"], n, d, row, k or LINKS) if linked else 0.0
        if isinstance(p, int):
            return sample + min(p, n) * (NODE_BYTES + 24.0 * d)
        first, *others = candidate_resolutions(n, c or 1) or [1]
        fits = [q for q in others if sample + PAIR_BYTES * q * q <= free]
        return sample + PAIR_BYTES * max([first, *fits]) ** 2

    check_room(estimate, n, FEWER_REPRESENTATIVES if isinstance(p, int) else SUBSET)
