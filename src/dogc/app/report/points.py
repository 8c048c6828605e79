"""The rows in the plane: two directions of the learned subspace, and a sample of rows to show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...plotting._plane import graph_layout, kept_apart, main_plane
from .groups import Groups
from .histograms import Features
from .json_values import cell, digits, short

if TYPE_CHECKING:
    import pandas

    from ..tables.clustered_table import Clustering

SEED = 0
LEAST_OF_A_CLUSTER = 20
COLUMNS_SHOWN = 6
# Rows of a graph that are laid out within a second or two.
MOST_ISLANDERS = 20_000
# Bytes that the values of the rows may take on the page.
MOST_BYTES = 1_000_000


class Layout(NamedTuple):
    """Rows in two dimensions, and what these are."""

    at: np.ndarray  # (n, 2)
    share: list[float]  # of the variance, for each direction
    learned: bool  # whether the model learned the space they lie in
    dimensions: int  # of that space


def lay_out(model: Any, X: np.ndarray) -> Layout:
    """The first two principal directions of the learned subspace, or of X."""
    learned = getattr(model, "components_", None) is not None and hasattr(model, "transform")
    Z = np.asarray(model.transform(X) if learned else X, dtype=np.float64)
    at, share = main_plane(Z)
    if at.shape[1] < 2:  # one dimension only
        at = np.column_stack([at[:, 0], kept_apart(len(at)) * np.ptp(at) * 0.3])
    return Layout(at, share, learned, Z.shape[1])


def sample_rows(groups: Groups, most: int) -> np.ndarray:
    """At most so many rows, a fair share of every cluster but a few of each, in mixed order.

    The order is mixed so that no cluster is always drawn on top of the others.
    """
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(groups.codes))
    if len(order) <= most:
        return order
    least = np.minimum(groups.size, max(1, min(LEAST_OF_A_CLUSTER, most // len(groups.size))))
    spare = (groups.size - least) * max(most - least.sum(), 0) / max((groups.size - least).sum(), 1)
    quota = least + spare.astype(np.int64)
    by_group = order[np.argsort(groups.codes[order], kind="stable")]
    starts = np.cumsum(groups.size) - groups.size
    rank = np.arange(len(order)) - np.repeat(starts, groups.size)
    return rng.permutation(by_group[rank < np.repeat(quota, groups.size)])


def describe_points(
    clustering: Clustering, groups: Groups, layout: Layout, most: int, telling: Sequence[str] = ()
) -> dict:
    """The sample with its places, scaled to the unit square, and what to say of each row."""
    rows = sample_rows(groups, most)
    low, high = view(layout.at)
    span = np.where(high > low, high - low, 1.0)
    at = (layout.at[rows] - low) / span
    outside = np.flatnonzero(((at < 0) | (at > 1)).any(axis=1))
    confidence = clustering.confidence[rows]
    has_confidence = bool(np.isfinite(clustering.confidence).any())
    return {
        "total": clustering.n_rows,
        "row": (clustering.row_numbers[rows] + 1).tolist(),
        "x": np.clip(at[:, 0], 0, 1).round(5).tolist(),
        "y": np.clip(at[:, 1], 0, 1).round(5).tolist(),
        "cluster": [groups.name(code) for code in groups.codes[rows].tolist()],
        "confidence": [digits(value, 3) for value in confidence] if has_confidence else None,
        "outside": outside.tolist(),
        "aspect": digits(span[1] / span[0]),
        "share": [digits(value) for value in layout.share],
        "learned": layout.learned,
        "dimensions": layout.dimensions,
        "islands": describe_islands(clustering, rows),
        "axes": [describe_axis(clustering, column) for column in layout.at.T[: len(layout.share)]],
        **row_values(clustering, rows, telling),
    }


def describe_islands(clustering: Clustering, rows: np.ndarray) -> dict | None:
    """The same rows by the learned graph; None where it does not join the rows at hand."""
    graph, n = getattr(clustering.model, "affinity_matrix_", None), len(clustering.X)
    if graph is None or graph.shape != (n, n) or not 4 <= n <= MOST_ISLANDERS:
        return None
    if not np.isfinite(graph.sum()) or not np.isfinite(clustering.X).all():
        return None
    at = graph_layout(graph, clustering.labels, clustering.X)
    span = np.maximum(np.ptp(at, axis=0), 1e-9)
    x, y = ((at[rows] - at.min(axis=0)) / span).T.round(5).tolist()
    return {"x": x, "y": y, "aspect": digits(span[1] / span[0])}


def view(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the picture: all rows, unless a few far ones would squeeze the rest."""
    low, high = at.min(axis=0), at.max(axis=0)
    inner_low, inner_high = np.quantile(at, [0.005, 0.995], axis=0)
    margin = 0.5 * (inner_high - inner_low)
    squeezed = (high - low) > 3.0 * (inner_high - inner_low)
    squeezed &= inner_high > inner_low
    return (
        np.where(squeezed, np.maximum(low, inner_low - margin), low),
        np.where(squeezed, np.minimum(high, inner_high + margin), high),
    )


def describe_axis(clustering: Clustering, coordinate: np.ndarray) -> list[dict]:
    """The features that follow a direction most closely, with the sign of their correlation."""
    Xc = clustering.X - clustering.X.mean(axis=0)
    along = coordinate - coordinate.mean()
    norm = np.linalg.norm(Xc, axis=0) * np.linalg.norm(along)
    correlation = np.divide(Xc.T @ along, norm, out=np.zeros(len(norm)), where=norm > 0)
    best = np.argsort(-np.abs(correlation), kind="stable")[:2]
    features = Features(clustering)
    return [
        {
            "name": short(clustering.feature_names[j], 60),
            "sign": int(np.sign(correlation[j])),
            "date": features[j].date,
        }
        for j in best
        if abs(correlation[j]) >= 0.4
    ]


def row_values(clustering: Clustering, rows: np.ndarray, telling: Sequence[str] = ()) -> dict:
    """The id, the known label and a few original values of each sampled row, telling ones first."""
    frame, id_column = clustering.frame, clustering.id_column
    ids = truth = None
    if id_column is not None:
        ids = cells_shown(frame[id_column].iloc[rows])
    if clustering.truth is not None:
        truth = [cell(value) for value in clustering.truth[rows].tolist()]
    names: list[str] = []
    values: list[list[Any]] = []
    left = MOST_BYTES
    rank = {name: place for place, name in enumerate(telling)}
    order = sorted(enumerate(frame.columns), key=lambda at: rank.get(str(at[1]), len(rank)))
    for position, name in order:
        if len(names) == COLUMNS_SHOWN:
            break
        column = cells_shown(frame.iloc[rows, position])
        # The known label has a place of its own.
        if name == id_column or (truth is not None and texts(column) == texts(truth)):
            continue
        left -= len(json.dumps(column, ensure_ascii=False).encode())
        if left > 0:
            names.append(short(name, 60))
            values.append(column)
    id_name = None if ids is None else short(id_column, 60)
    return {"id": ids, "id_name": id_name, "columns": names, "values": values, "truth": truth}


def cells_shown(column: pandas.Series) -> list[Any]:
    """A column as the page shows it."""
    return [cell(value) for value in column.tolist()]


def texts(column: list[Any]) -> list[str]:
    """A column as text, to compare."""
    return [str(value) for value in column]
