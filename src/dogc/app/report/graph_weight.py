"""The learned graph: its weight between clusters, and a coarse picture of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...plotting._graph import bin_rows, sum_blocks
from .groups import Groups, group_rows
from .json_values import digits
from .points import lay_out

BINS = 60
# More clusters than these make no picture; the largest make the table.
MOST_CLUSTERS = 100
TIES = 5


def describe_graph(model: Any, groups: Groups, along: np.ndarray) -> dict | None:
    """The graph in bins of rows and between clusters; None where the model has no such graph.

    ``along`` orders the rows of a cluster. Where representatives stand for the rows, they are
    what the graph joins, and what is binned.
    """
    graph = getattr(model, "affinity_matrix_", None)
    representatives = getattr(model, "representatives_", None)
    if representatives is not None:
        groups = group_rows(model.representative_labels_)
        along = lay_out(model, representatives).at[:, 0]
    n = len(groups.codes)
    if graph is None or graph.shape != (n, n):
        return None
    bins, owner = bin_rows(groups.codes, along, BINS)
    weight = sum_blocks(graph, bins, len(owner))
    total = float(weight.sum())
    if not np.isfinite(total) or total <= 0:
        return None
    blocks = sum_blocks(weight, owner, groups.c + 1)
    shown = groups.shown[:MOST_CLUSTERS]
    picture = len(groups.shown) <= MOST_CLUSTERS
    return {
        "representatives": None if representatives is None else n,
        "inside": round(float(np.trace(blocks) / total), 9),
        "clusters": [groups.name(group) for group in shown],
        "blocks": shares(blocks)[np.ix_(shown, shown)].round(5).tolist(),
        "ties": strongest_ties(blocks / total, groups),
        "owner": [groups.name(group) for group in owner.tolist()] if picture else None,
        "bins": thousandths(shares(weight)) if picture else None,
        "edges": int(graph.nnz if sp.issparse(graph) else np.count_nonzero(graph)) // 2,
    }


def shares(weight: np.ndarray) -> np.ndarray:
    """Each row divided by its sum."""
    sums = weight.sum(axis=1, keepdims=True)
    return np.divide(weight, sums, out=np.zeros_like(weight), where=sums > 0)


def thousandths(share: np.ndarray) -> list[list[int]]:
    """Whole thousandths, rounded up: compact, and a faint trace still shows.

    Examples
    --------
    >>> import numpy as np
    >>> thousandths(np.array([[0.25, 0.00001, 0.0]]))
    [[250, 1, 0]]
    """
    return np.ceil(1000.0 * share - 1e-9).astype(np.int64).tolist()


def strongest_ties(share: np.ndarray, groups: Groups) -> list[dict]:
    """The pairs of groups that share most weight, as shares of all weight."""
    both = np.triu(share + share.T, k=1)
    best = np.argsort(-both, axis=None, kind="stable")[:TIES]
    pairs = zip(*np.unravel_index(best, both.shape), strict=True)
    return [
        {"between": [groups.name(int(a)), groups.name(int(b))], "share": digits(both[a, b])}
        for a, b in pairs
        if both[a, b] > 0
    ]
