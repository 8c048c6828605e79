"""Whether a fit fits into memory: which phases each kind of method goes through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._limits import check_room
from ..fitting import memory
from ..fitting.auto import many_rows
from ..fitting.fixed_graph import GraphSettings
from ..fitting.in_memory import RowsInMemory
from ..fitting.links import LINKS
from ..fitting.representatives import RowSet
from ..fitting.settings import Settings, wide_links, wide_scale
from ..numerics.l2p import DIRECT_UP_TO
from ..numerics.matrix import Matrix

# What to reckon with where it is left open: neighbours in the middle of the scales that are asked,
# where larger ones need half as much again.
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


def check_learned(rows: RowSet, settings: Settings, regresses: bool) -> None:
    """Refuse a fit of a method that learns its graph."""
    wanted, lookup = settings.wanted, settings.lookup
    k, c, m = wanted.n_neighbors, wanted.n_clusters, wanted.n_components
    if wanted.wide:
        many = many_rows.are_many(rows, wanted.n_representatives)
        k = wide_links(USUAL_NUMBER // 2, c or 1) if many else wide_scale(rows.n or 1, c)
    if not lookup.precomputed and many_rows.are_many(rows, wanted.n_representatives):
        _check_many(rows, wanted.n_representatives, k, c)
        return
    size = _size(rows, k or USUAL_NEIGHBOURS, c)
    phases, wide = [_first(size), "loop"], size.d > size.n
    if isinstance(m, int) and m < size.d:
        phases += ["wide row space" if wide else "row space", "loop in a subspace"]
    elif m == "auto" and not size.sparse and size.d < size.n:
        phases.append("row space")
    if regresses and size.sparse:
        direct = min(size.n, size.d) <= DIRECT_UP_TO
        phases.append("sparse regression" if direct else "applied regression")
    elif regresses:
        phases.append("regression")
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
    elif parameters.get("source") != "features" and many_rows.are_many(rows, p):
        _check_many(rows, p, parameters["n_neighbors"], c)
    else:
        remedy = ON_REPRESENTATIVES if "n_representatives" in parameters else ANOTHER_METHOD
        wide = ["wide row space"] if size.d > size.n and set(own) & DENSE else []
        _check(size, [_first(size), learns, *own, *wide], remedy)


def check_in_memory(X: Matrix, phase: str, **asked: int) -> None:
    """Refuse a fit of any other method."""
    size = memory.size_of(X, **asked)
    wide = ["wide row space"] if phase in DENSE and size.d > size.n else []
    _check(size, [_first(size), phase, *wide], SUBSET)


def _first(size: memory.Size) -> str:
    return "sparse rows" if size.sparse else "rows"


def _size(rows: RowSet, k: int, c: int | None) -> memory.Size:
    """The size of a fit on all rows; those that are elsewhere come to memory then."""
    c = USUAL_CLUSTERS if c is None else c
    if isinstance(rows, RowsInMemory):
        return memory.size_of(rows.X, min(k, rows.X.shape[0] - 1), c)
    n = rows.n or 0  # not known before they are looked at
    return memory.Size(n, rows.d, rows.d * np.dtype(rows.dtype).itemsize, k, c)


def _check(size: memory.Size, phases: list[str], remedy: str) -> None:
    check_room(lambda n: memory.needed(phases, size._replace(n=n)), size.n, remedy)


def _check_many(rows: RowSet, p: Any, k: int | None, c: int | None) -> None:
    """The sample and the representatives, and the links of rows where rows are in memory."""
    size, most = _size(rows, k or LINKS, c), many_rows.sample_size(rows.d, p, c)
    number = p if isinstance(p, int) else USUAL_NUMBER
    linked = isinstance(rows, RowsInMemory)

    def estimate(n: int) -> float:
        nodes = min(number, n) * (NODE_BYTES + 24.0 * rows.d)
        links = memory.bytes_in(memory.PHASES["links"], size._replace(n=n)) if linked else 0.0
        return memory.needed(["sample"], size._replace(n=min(n, most))) + nodes + links

    check_room(estimate, size.n, FEWER_REPRESENTATIVES if isinstance(p, int) else SUBSET)
