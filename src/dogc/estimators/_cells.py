"""Approximate neighbours: a tree of cells, and brute force among the cells that lie nearest.

Needs nothing but matrix products, uses no chance, and labels new rows too. The price is recall
where rows fill many dimensions evenly: there the neighbours of a row are spread over many cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors

from ..arrays import Matrix

CELL_ROWS = 256
# So many rows of F are in a processor's cache at once.
CACHED_ROWS = 2048
# Rows that each row is compared with: a tenth of them all, and so many at most.
SHARE, CANDIDATES = 0.1, 8000
# In sparse regions the cells are wide and their neighbours many: there so many times more.
WIDER = 4
# Rows from which the direction of a split is estimated, and power iterations for it.
SPLIT_ROWS, POWER_STEPS = 256, 6
# Rows by which a split is placed; a valley is this much wider than usual.
CUT_ROWS, VALLEY = 1024, 2.0
# Steps from the leaf that a row falls into to the cell whose centre is nearest.
HOPS = 2


class Cells(NamedTuple):
    """A binary tree over rows, and for each of its leaves the leaves nearest to it."""

    X: Matrix
    direction: np.ndarray  # (q, d) of each split
    cut: np.ndarray  # (q,) rows whose product with the direction is below go left
    child: np.ndarray  # (q, 2) a split, or ~cell
    order: np.ndarray  # (n,) rows, cell after cell
    first: np.ndarray  # (n_cells + 1,) where each cell begins in it
    centre: np.ndarray  # (n_cells, d) means of their rows
    near: np.ndarray  # (n_cells, p) the nearest cells, itself first
    enough: int  # how many of them are searched for a row in no sparse region

    def members(self, cell: int) -> np.ndarray:
        """The rows of a cell."""
        return self.order[self.first[cell] : self.first[cell + 1]]


def near_together(X: Matrix) -> np.ndarray:
    """An order of rows in which those that lie near one another mostly stand together."""
    return np.concatenate(_tree(X, CACHED_ROWS).cells)


class _Tree(NamedTuple):
    direction: list[np.ndarray]
    cut: list[float]
    child: list[list[int]]
    cells: list[np.ndarray]


def _tree(X: Matrix, cell_rows: int) -> _Tree:
    """Split rows along their main direction until cells are small."""
    direction: list[np.ndarray] = []
    cut: list[float] = []
    child: list[list[int]] = []
    cells: list[np.ndarray] = []
    stack = [(np.arange(X.shape[0]), -1, 0)]
    while stack:
        rows, parent, side = stack.pop()
        split = _split(X, rows) if len(rows) > cell_rows else None
        if split is None:
            name = ~len(cells)
            cells.append(rows)
        else:
            name = len(child)
            v, level, along = split
            direction.append(v)
            cut.append(level)
            child.append([0, 0])
            stack.append((rows[along >= level], name, 1))
            stack.append((rows[along < level], name, 0))
        if parent >= 0:
            child[parent][side] = name
    return _Tree(direction, cut, child, cells)


def build_cells(X: Matrix, n_neighbors: int) -> Cells:
    """A tree of small cells, and what lies near what."""
    direction, cut, child, cells = _tree(X, CELL_ROWS)
    sizes = np.array([len(rows) for rows in cells])
    centres = np.vstack([_mean(X[rows]) for rows in cells])
    candidates = min(CANDIDATES, SHARE * len(sizes) * np.median(sizes))
    enough = int(np.ceil(max(candidates / np.median(sizes), (n_neighbors + 1) / sizes.min())))
    n_near = min(len(cells), WIDER * enough)
    return Cells(
        X,
        np.array(direction).reshape(len(cut), X.shape[1]),
        np.array(cut),
        np.array(child, dtype=np.int64).reshape(len(cut), 2),
        np.concatenate(cells),
        np.concatenate([[0], np.cumsum(sizes)]),
        centres,
        _brute_force(centres, centres, n_near),
        min(len(cells), enough),
    )


def _mean(rows: Matrix) -> np.ndarray:
    return np.asarray(rows.mean(axis=0)).ravel()


def _split(X: Matrix, rows: np.ndarray) -> tuple[np.ndarray, float, np.ndarray] | None:
    """A direction, where to cut along it, and where the rows lie on it; None if all are equal."""
    for step in {max(1, len(rows) // SPLIT_ROWS): None, 1: None}:
        v = _main_direction(X[rows[::step]])
        along = X[rows] @ v
        if along.min() < along.max():
            return v, _cut(along), along
    return None


def _main_direction(rows: Matrix) -> np.ndarray:
    """About the first principal direction, by a few power iterations from a fixed start."""
    mean = _mean(rows)
    v = np.random.default_rng(0).standard_normal(rows.shape[1])
    for _ in range(POWER_STEPS):
        along = rows @ v - mean @ v
        v = rows.T @ along - mean * along.sum()
        v /= np.linalg.norm(v) or 1.0
    return v.astype(rows.dtype)


def _cut(along: np.ndarray) -> float:
    """Where to split: in a valley of the density if there is one, else at the median.

    A cell on both sides of a valley would have its centre, by which its neighbours are found,
    where none of its rows are.
    """
    sample = np.sort(along[:: max(1, len(along) // CUT_ROWS)])
    n = len(sample)
    reach = n // 20
    middle = np.arange(n // 5, n - n // 5)
    width = sample[middle + reach] - sample[middle - reach]
    best = int(np.argmax(width))
    if width[best] > VALLEY * np.median(width):
        gap = sample[middle[best] - reach : middle[best] + reach + 1]
        widest = int(np.argmax(np.diff(gap)))
        level = 0.5 * (gap[widest] + gap[widest + 1])
    else:
        level = float(np.partition(along, len(along) // 2)[len(along) // 2])
    # Ties can leave one side empty.
    return float(level) if (along < level).any() else float(np.nextafter(along.min(), np.inf))


def cells_of(index: Cells, Z: Matrix) -> Iterator[tuple[int, np.ndarray]]:
    """The cell whose centre each row is nearest to: pairs of a cell and rows of Z.

    The tree comes close; a row that it took to the far side of a gap finds its way back from
    there.
    """
    groups: Iterable[tuple[int, np.ndarray]] = _fall(index, Z)
    for _ in range(HOPS):
        groups = regroup(_nearer(index, Z, groups))
    return iter(groups)


def _nearer(index: Cells, Z: Matrix, groups: Iterable[tuple[int, np.ndarray]]) -> np.ndarray:
    """For each row the cell with the nearest centre among those near the cell it is in."""
    cell = np.empty(Z.shape[0], dtype=np.int64)
    squares = np.einsum("ij,ij->i", index.centre, index.centre)
    for here, rows in groups:
        near = index.near[here, : index.enough]
        product = np.asarray(Z[rows] @ index.centre[near].T)
        cell[rows] = near[np.argmin(squares[near] - 2.0 * product, axis=1)]
    return cell


def regroup(cell: np.ndarray) -> list[tuple[int, np.ndarray]]:
    order = np.argsort(cell, kind="stable")
    names, first = np.unique(cell[order], return_index=True)
    return list(zip(names.tolist(), np.split(order, first[1:]), strict=True))


def _fall(index: Cells, Z: Matrix) -> Iterator[tuple[int, np.ndarray]]:
    """The leaf of the tree that each row falls into."""
    stack = [(0 if len(index.cut) else -1, np.arange(Z.shape[0]))]
    while stack:
        node, rows = stack.pop()
        if not len(rows):
            continue
        if node < 0:
            yield ~node, rows
            continue
        left = Z[rows] @ index.direction[node] < index.cut[node]
        stack.append((int(index.child[node, 1]), rows[~left]))
        stack.append((int(index.child[node, 0]), rows[left]))


def search_cell(
    index: Cells, cell: int, rows: Matrix, n_neighbors: int, wide: bool = False
) -> np.ndarray:
    """The nearest fitted rows of each of some rows in one cell."""
    near = index.near[cell] if wide else index.near[cell, : index.enough]
    candidates = np.concatenate([index.members(other) for other in near])
    candidates.sort()
    return candidates[_brute_force(index.X[candidates], rows, n_neighbors)]


def _brute_force(X: Matrix, rows: Matrix, n_neighbors: int) -> np.ndarray:
    n_neighbors = min(n_neighbors, X.shape[0])
    search = NearestNeighbors(algorithm="brute").fit(X)
    return search.kneighbors(rows, n_neighbors, return_distance=False)
