"""Rows in the order of their values; those that occur more than once, held once with a weight."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from .._caller import warn_caller
from .._checks import LONGEST, check_unmasked, shown
from ..numerics import discrete
from ..numerics.matrix import Matrix
from . import sampling
from .scaling import BLOCK_ELEMENTS

# Steps of the range of a column, in which columns of the same ends are compared.
STEPS = 1 << 16


class DistinctRows(NamedTuple):
    """One of each row that has weight, and where the others are to be found."""

    X: Matrix
    first: np.ndarray  # (m,) where each occurs first
    inverse: np.ndarray  # (n,) which of them each row is; -1 where the weight is zero
    size: np.ndarray  # (m,) total weight of each, in units of their mean
    unit: float  # that mean
    n_distinct: int  # how many really differ: 1 where all rows are equal and kept apart
    columns: np.ndarray | None = None  # (d,) the order that X has them in; None: as they came


def distinct_rows(
    X: Matrix, weight: np.ndarray | None, *, apart: bool = False, any_columns: bool = False
) -> DistinctRows:
    """Collapse equal rows and sort them, so that neither copies nor the order of rows matter.

    With ``apart``, or where all rows are equal, every row is kept as it is. With ``any_columns``
    columns come in an order of their own, so that theirs does not matter either.
    """
    n = X.shape[0]
    kept = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    group, first = np.arange(len(kept)), kept
    n_distinct, columns = len(kept), None
    if not apart:
        weighted = X if len(kept) == n else X[kept]
        columns = column_order(weighted) if any_columns else None
        found = _sorted_groups(weighted, columns)
        n_distinct = len(found[1])
        if n_distinct > 1:
            group, first = found[0], kept[found[1]]
    inverse = np.full(n, -1)
    inverse[kept] = group
    size = np.bincount(group, weights=None if weight is None else weight[kept]).astype(float)
    unit = float(size.mean())
    X = X[first] if columns is None else X[first][:, columns]
    return DistinctRows(X, first, inverse, size / unit, unit, n_distinct, columns)


def sorted_rows(X: Matrix, *, apart: bool = False) -> tuple[Matrix, np.ndarray, np.ndarray]:
    """All rows in order of value, the place of each in it, and the group of equal rows of each.

    The order does not depend on the one in which they came. With ``apart``, as for a graph that is
    given, they stay as they are.
    """
    group = np.arange(X.shape[0]) if apart else _sorted_groups(X)[0]
    order = np.argsort(group, kind="stable")
    return X if apart else X[order], np.argsort(order), group[order]


def graph_as_given(A: Any, place: np.ndarray) -> Any:
    """A sparse graph on sorted rows as one on the rows in the order in which they came."""
    A = A.tocsr()[place][:, place]
    A.sort_indices()
    return A


def one_label_each(labels: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Copies take the label that most of them have, unless a cluster would be lost by that.

    Who is whose neighbour in a tie goes by the order of rows. Among copies that order is
    the one in which they came, so their own labels may depend on it.
    """
    m = int(group.max()) + 1
    if m == len(labels):
        return labels
    votes = np.zeros((m, int(labels.max()) + 1))
    np.add.at(votes, (group, labels), 1.0)
    return discrete.assign(votes)[group]


def without(rows: DistinctRows, left_out: np.ndarray) -> DistinctRows:
    """The same without some of the distinct rows."""
    kept = ~left_out
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    inverse = np.where(rows.inverse >= 0, place[rows.inverse], -1)
    size, n_distinct = rows.size[kept] * rows.unit, int(kept.sum())
    unit = float(size.mean())
    X, first, columns = rows.X[kept], rows.first[kept], rows.columns
    return DistinctRows(X, first, inverse, size / unit, unit, n_distinct, columns)


def _sorted_groups(X: Matrix, columns: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The group of equal rows that each row is in, groups in order of value; first of each."""
    n = X.shape[0]
    new = np.ones(n, dtype=bool)
    columns = np.arange(X.shape[1])[::-1] if columns is None else columns
    if sp.issparse(X):
        keys = _sparse_keys(sp.csr_array(X)[:, columns[::-1]])
        order = np.array(sorted(range(n), key=keys.__getitem__))
        new[1:] = [keys[i] != keys[j] for i, j in itertools.pairwise(order)]
    else:
        order = _sorted_rows(X, columns)
        step = max(1, BLOCK_ELEMENTS // max(X.shape[1], 1))
        for start in range(1, n, step):  # not all rows once more, in another order
            rows, before = order[start : start + step], order[start - 1 : start - 1 + step]
            new[start : start + step] = (X[rows] != X[before[: len(rows)]]).any(axis=1)
    group = np.empty(n, dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    return group, order[new]  # both sorts are stable: the first of a group comes first


def column_order(X: Matrix) -> np.ndarray:
    """An order of the columns that does not depend on how they came, nor on their common unit.

    By what is exact whatever the order of rows and the number of copies: their ends, and where some
    are the same by their values together. As among the keys of ``np.lexsort`` the last is foremost.

    Examples
    --------
    >>> column_order(np.array([[1.0, 2.0, 5.0], [0.0, 9.0, 5.0]]))
    array([2, 0, 1])
    >>> X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> bool((column_order(X[:, ::-1]) == 1 - column_order(X)).all())
    True
    """
    if X.shape[0] == 0 or X.shape[1] == 1:
        return np.arange(X.shape[1])
    high, low = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    varying, own = high > low, np.zeros(len(high), dtype=np.int64)
    if np.unique([high, low], axis=1).shape[1] < len(high):
        first = np.unique(sampling.row_keys(X), return_index=True)[1]
        steps = _steps(X[first].astype(np.float64), low, np.where(varying, high - low, 1.0))
        own = sampling.column_sums(steps, np.ones(len(first), np.int64), varying.astype(np.int64))
    return np.lexsort((own, -low, -high, ~varying))[::-1]


def _steps(X: Matrix, low: np.ndarray, reach: np.ndarray) -> Matrix:
    """Values in steps so coarse that no unit or shift changes one; those of sparse rows from 0."""
    if not sp.issparse(X):
        return np.rint((X - low) / reach * STEPS)
    X.data = np.rint(X.data / reach[X.indices] * STEPS)
    return X


def _sorted_rows(X: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """As ``np.lexsort`` of the columns; all but the foremost only where rows tie."""
    order = np.argsort(X[:, columns[-1]], kind="stable")
    first = X[order, columns[-1]]
    new = np.concatenate([[True], first[1:] != first[:-1]])
    rows = np.flatnonzero(~(new & np.append(new[1:], True)))
    later = X[np.ix_(order[rows], columns[:-1])]
    order[rows] = order[rows][np.lexsort((*later.T, np.cumsum(new)[rows]))]
    return order


def _sparse_keys(X: Matrix) -> list[bytes]:
    """Keys that sort sparse rows as the dense rows would sort, column after column.

    At the first column where two rows differ at least one has an entry. Positive entries
    beat the zero of the other, the more the earlier they come; negative ones lose to it.

    Examples
    --------
    >>> keys = _sparse_keys(sp.csr_array([[0.0, 2.0], [1.0, 0.0], [0.0, -2.0], [0.0, 0.0]]))
    >>> sorted(range(4), key=keys.__getitem__)
    [2, 3, 0, 1]
    """
    n = X.shape[0]
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    order = np.lexsort((X.data, X.indices, row))
    order = order[X.data[order] != 0]
    ends = np.cumsum(np.bincount(row[order], minlength=n))
    column, value = X.indices[order].astype(np.int64), X.data[order].astype(np.float64)
    del row, order
    above = value > 0
    # Bytes that compare as the numbers do: a sign, the column, and the bits of the value.
    parts = np.empty(len(value), dtype=[("sign", "u1"), ("column", ">u8"), ("value", ">u8")])
    parts["sign"] = np.where(above, 2, 0)
    parts["column"] = np.where(above, np.iinfo(np.int64).max - column, column)
    bits = value.view(np.uint64)
    parts["value"] = np.where(above, bits | np.uint64(1 << 63), ~bits)
    starts = np.concatenate([[0], ends[:-1]])
    return [parts[i:j].tobytes() + b"\x01" for i, j in zip(starts, ends, strict=True)]


def spread_graph(S: sp.csr_array, rows: DistinctRows) -> sp.csr_array:
    """A directed graph on distinct rows as one on all rows: copies lead to the first appearance."""
    n = len(rows.inverse)
    if np.array_equal(rows.first, np.arange(n)):
        return S
    S = S.tocoo()
    copy = np.setdiff1d(np.flatnonzero(rows.inverse >= 0), rows.first)
    original = rows.first[rows.inverse[copy]]
    data = np.concatenate([S.data, np.ones(len(copy), S.dtype)])
    i = np.concatenate([rows.first[S.row], copy])
    j = np.concatenate([rows.first[S.col], original])
    return sp.csr_array((data, (i, j)), shape=(n, n))


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray | None:
    """None, or one finite number of at least zero for each row, not all zero."""
    if sample_weight is None:
        return None
    check_unmasked("sample_weight", sample_weight)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weight = np.empty((0, 0))
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n} rows; got "
            f"{'an array of shape ' + str(weight.shape) if weight.size else shown(sample_weight)}."
        )
    if np.count_nonzero(weight) < 2:
        raise ValueError(
            "sample_weight is zero for all rows but one at most; give two rows weight."
        )
    if not (weight.min() >= 0 and 1.0 / LONGEST <= weight.max() <= LONGEST):  # nor is any NaN
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0, the largest of them between "
            f"{1.0 / LONGEST:g} and {LONGEST:g}; drop, repair or rescale the others."
        )
    return weight


def warn_few_rows(c: int, distinct: int) -> None:
    """Say that there are fewer distinct rows than clusters."""
    warn_caller(
        f"n_clusters={c} is larger than the number of distinct rows in X, {distinct}, so only "
        f"{distinct} clusters are returned; choose a smaller n_clusters.",
        ConvergenceWarning,
    )
