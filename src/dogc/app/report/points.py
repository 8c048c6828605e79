"""Rows in the plane, a sample of them to show, and the weight of the graph between clusters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import r_regression
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from ...fitting.exemplars import exemplars
from ...plotting._graph import bin_rows, sum_blocks
from ...plotting._plane import graph_layout, kept_apart, main_plane
from .features import MOST_CLUSTERS, Groups, feature_column, group_rows
from .page import cell, digits, short

if TYPE_CHECKING:
    from ..files.clustering import Clustering

LEAST_OF_A_CLUSTER = 20
COLUMNS_SHOWN = 6
# Letters of a cell of a column that was asked for, and representatives that place a row.
LONGEST_SHOWN, BESIDE = 160, 3
# Up to so many clusters show all their typical rows; of more, each shows some.
FEW_CLUSTERS, OF_EACH = 8, 3
# Rows of a graph that are laid out within a second or two.
MOST_ISLANDERS = 20_000
# Bytes that the values of the rows may take on the page.
MOST_BYTES = 1_000_000
GRAPH_BINS = 60
# More than MOST_CLUSTERS make no picture of the graph; the largest make the table.
TIES = 5
Layout = tuple[np.ndarray, dict[str, Any]]  # places of rows, and what to say of them


def lay_out(model: Any, X: np.ndarray) -> Layout:
    """Rows along the first two principal directions of the learned subspace, or of X.

    With them comes each direction's share of the variance, whether the model learned the space,
    and its dimensions.
    """
    Z, learned = learned_space(model, X)
    at, share = main_plane(Z)
    if at.shape[1] < 2:  # one dimension only
        at = np.column_stack([at[:, 0], kept_apart(len(at)) * np.ptp(at) * 0.3])
    return at, {"share": [*map(digits, share)], "learned": learned, "dimensions": Z.shape[1]}


def learned_space(model: Any, X: np.ndarray) -> tuple[np.ndarray, bool]:
    """The rows in the subspace that the model learned, if it did."""
    learned = getattr(model, "components_", None) is not None and hasattr(model, "transform")
    return np.asarray(model.transform(X) if learned else X, dtype=np.float64), learned


def sample_rows(groups: Groups, most: int) -> np.ndarray:
    """At most so many rows, a fair share of every cluster but a few of each, in mixed order.

    The order is mixed so that no cluster is always drawn on top of the others.
    """
    import pandas

    order = np.random.default_rng(0).permutation(len(groups.codes))
    if len(order) <= most:
        return order
    least = np.minimum(groups.size, max(1, min(LEAST_OF_A_CLUSTER, most // len(groups.size))))
    spare = (groups.size - least) * max(most - least.sum(), 0) / max((groups.size - least).sum(), 1)
    quota = least + spare.astype(np.int64)
    codes = groups.codes[order]
    rank = pandas.Series(codes).groupby(codes).cumcount().to_numpy()
    return order[rank < quota[codes]]


def describe_points(
    clustering: Clustering, groups: Groups, layout: Layout, most: int, telling: list[str]
) -> dict:
    """The sample with its places, scaled to the unit square, and what to say of each row."""
    rows, (places, space) = sample_rows(groups, most), layout
    low, high = view(places)
    span = np.where(high > low, high - low, 1.0)
    at = (places[rows] - low) / span
    x, y = np.clip(at, 0, 1).round(5).T.tolist()
    return {
        "row": (clustering.rows.frame.index.to_numpy()[rows] + 1).tolist(),
        "x": x,
        "y": y,
        "cluster": [groups.name(code) for code in groups.codes[rows].tolist()],
        "membership": [digits(value, 3) for value in clustering.rows.membership[rows]],
        "outside": np.flatnonzero(((at < 0) | (at > 1)).any(axis=1)).tolist(),
        "aspect": digits(span[1] / span[0]),
        **space,
        "islands": describe_islands(clustering, rows),
        "axes": [describe_axis(clustering, column) for column in places.T[: len(space["share"])]],
        **row_values(clustering, rows, telling),
    }


def describe_islands(clustering: Clustering, rows: np.ndarray) -> dict | None:
    """The same rows by the learned graph; None where it joins neither rows nor representatives."""
    model, X, labels = clustering.model, clustering.X, clustering.rows.labels
    graph, R = (getattr(model, name, None) for name in ("affinity_matrix_", "representatives_"))
    nodes, of_nodes = (X, labels) if R is None else (R, model.representative_labels_)
    n = len(nodes)
    if graph is None or graph.shape != (n, n) or not 4 <= n <= MOST_ISLANDERS:
        return None
    at = graph_layout(graph, of_nodes, nodes)
    at = at[rows] if R is None else among(at, R, of_nodes, X[rows], labels[rows])
    span = np.maximum(np.ptp(at, axis=0), 1e-9)
    x, y = ((at - at.min(axis=0)) / span).T.round(5).tolist()
    return {"x": x, "y": y, "aspect": digits(span[1] / span[0])}


def among(
    at: np.ndarray, R: np.ndarray, of_nodes: np.ndarray, X: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Places of rows among the nearest representatives of their cluster, which have places.

    Examples
    --------
    >>> import numpy as np
    >>> R, at = np.array([[0.0], [4.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> among(at, R, np.array([0, 0]), np.array([[2.0], [4.0]]), np.array([0, 0])).round(3)
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    places = np.empty((len(X), 2))
    for label in np.unique(labels):
        own = np.flatnonzero(of_nodes == label)
        own = own if len(own) else np.arange(len(R))  # outliers, whose nearest are of any cluster
        rows = np.flatnonzero(labels == label)
        d, idx = NearestNeighbors(n_neighbors=min(BESIDE, len(own))).fit(R[own]).kneighbors(X[rows])
        weight = 1.0 / np.maximum(d**2, np.finfo(float).eps * max(float(d.max()) ** 2, 1e-300))
        places[rows] = ((weight / weight.sum(axis=1, keepdims=True))[..., None] * at[own[idx]]).sum(
            axis=1
        )
    return places


def describe_exemplars(clustering: Clustering, groups: Groups, telling: list[str]) -> dict:
    """The most typical rows of each cluster, with their own values."""
    Z = learned_space(clustering.model, clustering.X)[0]
    rows = exemplars(Z, clustering.rows.labels, clustering.rows.membership, groups.c)
    rows = rows[:MOST_CLUSTERS, : None if groups.c <= FEW_CLUSTERS else OF_EACH]
    rows = rows[rows >= 0]
    return {
        "row": (clustering.rows.frame.index.to_numpy()[rows] + 1).tolist(),
        "cluster": clustering.rows.labels[rows].tolist(),
        **row_values(clustering, rows, telling),
    }


def view(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the picture: all rows, unless a few far ones would squeeze the rest."""
    low, inner_low, inner_high, high = np.quantile(at, [0.0, 0.005, 0.995, 1.0], axis=0)
    inner = inner_high - inner_low
    squeezed = (inner > 0) & (high - low > 3.0 * inner)
    ends = np.maximum(low, inner_low - 0.5 * inner), np.minimum(high, inner_high + 0.5 * inner)
    return np.where(squeezed, ends[0], low), np.where(squeezed, ends[1], high)


def describe_axis(clustering: Clustering, coordinate: np.ndarray) -> list[dict]:
    """The features that follow a direction most closely, with the sign of their correlation."""
    centred = clustering.X - clustering.X.mean(axis=0)  # so that a constant column is zero
    correlation = r_regression(centred, coordinate)
    best = np.argsort(-np.abs(correlation), kind="stable")[:2]
    return [
        {
            "name": short(clustering.feature_names[j], 60),
            "sign": int(np.sign(correlation[j])),
            "date": feature_column(clustering, int(j)).date,
        }
        for j in best
        if abs(correlation[j]) >= 0.4
    ]


def row_values(clustering: Clustering, rows: np.ndarray, telling: list[str]) -> dict:
    """The id, the known label and a few values of each row: those asked for, then telling ones."""
    frame, id_name = clustering.rows.frame.iloc[rows], clustering.id_column
    ids = None if id_name is None else [cell(value) for value in frame[id_name].tolist()]
    known = clustering.truth
    truth = None if known is None else [cell(value) for value in known[rows].tolist()]
    names: list[str] = []
    values: list[list[Any]] = []
    left, asked = MOST_BYTES, clustering.settings.get("show", [])
    rank = {name: place for place, name in enumerate([*asked, *telling])}
    order = sorted(enumerate(frame.columns), key=lambda at: rank.get(str(at[1]), len(rank)))
    for position, name in order:
        if len(names) == COLUMNS_SHOWN + len(asked):
            break
        most = LONGEST_SHOWN if name in asked else 40
        column = [cell(value, most) for value in frame.iloc[:, position].tolist()]
        # The known label has a place of its own.
        if name == id_name or (truth and [*map(str, column)] == [*map(str, truth)]):
            continue
        left -= len(json.dumps(column, ensure_ascii=False).encode())
        if left > 0:
            names.append(short(name, 60))
            values.append(column)
    id_name = None if ids is None else short(id_name, 60)
    return {"id": ids, "id_name": id_name, "columns": names, "values": values, "truth": truth}


def describe_graph(model: Any, groups: Groups, along: np.ndarray) -> dict | None:
    """The graph in bins of rows and between clusters; None where the model has no such graph.

    ``along`` orders the rows of a cluster. Where representatives stand for the rows, they are
    what the graph joins, and what is binned.
    """
    graph = getattr(model, "affinity_matrix_", None)
    representatives = getattr(model, "representatives_", None)
    if representatives is not None:
        groups = group_rows(model.representative_labels_)
        along = lay_out(model, representatives)[0][:, 0]
    n = len(groups.codes)
    if graph is None or graph.shape != (n, n):
        return None
    bins, owner = bin_rows(groups.codes, along, GRAPH_BINS)
    weight = sum_blocks(graph, bins, len(owner))
    total = float(weight.sum())
    if not np.isfinite(total) or total <= 0:
        return None
    blocks = sum_blocks(weight, owner, groups.c + 1)
    # Whole thousandths, rounded up: compact, and a faint trace still shows.
    faint = np.ceil(1000.0 * normalize(weight, norm="l1") - 1e-9).astype(np.int64).tolist()
    shown = groups.shown[:MOST_CLUSTERS]
    picture = len(groups.shown) <= MOST_CLUSTERS
    return {
        "representatives": None if representatives is None else n,
        "inside": round(float(np.trace(blocks) / total), 9),
        "clusters": [groups.name(group) for group in shown],
        "blocks": normalize(blocks, norm="l1")[np.ix_(shown, shown)].round(5).tolist(),
        "ties": strongest_ties(blocks / total, groups),
        "owner": [groups.name(group) for group in owner.tolist()] if picture else None,
        "bins": faint if picture else None,
        "edges": int(graph.nnz if sp.issparse(graph) else np.count_nonzero(graph)) // 2,
    }


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
