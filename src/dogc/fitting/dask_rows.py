"""Rows that Dask holds: in files, lazily generated, or spread over the machines of a cluster.

A block of them is worked on as rows in memory are, by whoever has it. What comes back are sums of
whole numbers and a sample, so that labels do not depend on blocks, workers or their order, and
nothing grows with the number of rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_array

from .._checks import check_unmasked, shown
from . import labelling, links, sampling
from .distinct import check_sample_weight
from .in_memory import RowsInMemory, weigh
from .repeatable import Report, single_blas_thread
from .representatives import Linked, LinkedRows, Representatives, RowFacts, RowSet, Unseen
from .scaling import is_dask, unit_rows, within_range

# Blocks that are handed out at a time, and sums that one task adds up.
BLOCKS, ADDED = 512, 4
# Rows that are brought together where each is to be a node of the graph.
MOST_FEW = 80_000


def is_frame(X: Any) -> bool:
    """Whether X is a dask dataframe."""
    return hasattr(type(X), "map_partitions") and getattr(X, "ndim", 0) == 2


def as_dask_array(X: Any) -> da.Array:
    """A dask array or dataframe as an array of whole rows; nothing is computed."""
    if is_frame(X):
        words = [str(name) for name, kind in X.dtypes.items() if kind.kind not in "biuf"]
        if words:
            raise ValueError(
                f"X has columns that hold no numbers ({', '.join(words[:5])}); encode or drop "
                "them (see dogc.MixedEncoder), or use dogc cluster, which does."
            )
        short = set(X.dtypes) == {np.dtype(np.float32)}
        return _partitions(X, np.empty((0, len(X.columns)), np.float32 if short else np.float64))
    table = isinstance(X, da.Array) and X.ndim == 2 and not np.isnan(X.shape[1])
    if not (table and X.dtype.kind in "biuf" and isinstance(X._meta, np.ndarray)):
        raise ValueError(
            "X must be a dask dataframe, or a dask array of numbers in NumPy blocks with a known "
            f"number of columns; got {shown(X)}."
        )
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _partitions(frame: Any, meta: np.ndarray) -> da.Array:
    """The partitions of a frame or series as the blocks of an array.

    One by one: Dask would put small files together, and blocks would not be those of the frame.
    """
    numbers = dask.delayed(lambda part: part.to_numpy(dtype=meta.dtype, na_value=np.nan), pure=True)
    parts = [
        da.from_delayed(numbers(part), (np.nan, *meta.shape[1:]), meta=meta)
        for part in frame.to_delayed(optimize_graph=False)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def as_dask_weights(weight: Any, X: da.Array) -> da.Array:
    """Weights in the blocks of the rows."""
    if not is_dask(weight):
        if np.isnan(X.shape[0]):
            raise ValueError(
                "sample_weight must be a dask array in the blocks of X where their lengths are "
                "not known; or pass X.to_dask_array(lengths=True) of a dataframe, or call "
                "X.compute_chunk_sizes() of an array."
            )
        return da.from_array(check_sample_weight(weight, X.shape[0]), chunks=(X.chunks[0],))
    if not isinstance(weight, da.Array):
        weight = _partitions(weight, np.empty(0))
    known = not np.isnan(X.shape[0] + weight.shape[0])
    if known and weight.shape == X.shape[:1]:
        weight = weight.rechunk(X.chunks[:1])
    if weight.ndim != 1 or weight.numblocks != X.numblocks[:1] or (known and len(weight) != len(X)):
        raise ValueError(
            f"sample_weight must hold one number for each of the {X.shape[0]} rows, in the same "
            f"{X.numblocks[0]} blocks; got a dask array of shape {weight.shape} in "
            f"{weight.numblocks[0]} blocks."
        )
    return weight


# ------------------------------------------------------- functions of a block, run by any worker


def read_block(block: Any, dtype: Any, cosine: bool) -> np.ndarray:
    """The rows of a block, checked; there may be none."""
    block = check_unmasked("X", block)
    X = check_array(block, dtype=dtype, order="C", ensure_min_samples=0, input_name="X")
    X = within_range(X)
    return unit_rows(X) if cosine else X


def of_block(block: Any, weight: Any, read: Any, make: Any, *more: Any) -> Any:
    """A function of a block as rows in memory, in one thread."""
    rows = RowsInMemory(read(block), None, 1)
    if weight is not None:
        rows.weight = np.asarray(weight)
    with single_blas_thread:
        return make(rows, *more)


def weight_facts(weight: Any) -> sampling.WeightFacts:
    """The facts of a block of weights, which are checked."""
    weight = np.asarray(weight, dtype=np.float64)
    # There must be two rows with weight, but only in all blocks together.
    check_sample_weight(np.append(weight, [1.0, 1.0]), len(weight) + 2)
    return sampling.weight_facts(weight)


def whole_weights(weight: Any, facts: sampling.WeightFacts) -> np.ndarray:
    """A block of weights as whole numbers."""
    return sampling.whole_weights(np.asarray(weight, dtype=np.float64), facts)


def facts_of_columns(rows: RowsInMemory, make: Callable[..., np.ndarray], *more: Any) -> np.ndarray:
    """A number or two for each column of a block."""
    return make(rows.X, rows.weight, *more)


def draw(rows: RowsInMemory, size: int, columns: np.ndarray) -> tuple[Any, ...]:
    """The length of a block, the weight of its rows, and their sample."""
    sample = sampling.smallest_keys(rows.X, rows.weight, size, columns)
    return rows.n, int(rows.weight.sum()), sample


def weighed_keys(rows: RowsInMemory, columns: np.ndarray) -> np.ndarray:
    """The keys of a block's rows that have weight, in the order in which they come."""
    return in_order(sampling.row_keys(rows.X, columns)[rows.weight > 0])


def in_order(*keys: np.ndarray) -> np.ndarray:
    """The distinct ones of some keys, in the order in which they come."""
    every = np.concatenate(keys)
    return every[np.sort(np.unique(every, return_index=True)[1])]


def labels_of(rows: RowsInMemory, fitted: Representatives) -> np.ndarray:
    """The labels of a block."""
    return labelling.linked_labels(fitted, rows.X, 1)


def sizes_of(rows: RowsInMemory, fitted: Representatives) -> np.ndarray:
    """The weight of each label in a block."""
    return weigh(labels_of(rows, fitted), rows.weight, int(fitted.labels.max()) + 1)


def sums_of(rows: RowsInMemory, fitted: Representatives) -> links.LinkSums:
    """Sums of the links of a block."""
    return rows.link(fitted)[1]


def facts_of(
    rows: RowsInMemory, fitted: Representatives, mark: int | None, kinds: np.dtype
) -> np.ndarray:
    """The facts of each row of a block, side by side."""
    facts = rows.link(fitted)[0].facts(fitted, mark)
    return np.rec.fromarrays(list(facts), dtype=kinds)


def known_by_key(
    X: Any, weight: Any, read: Any, columns: Any, keys: np.ndarray, known: np.ndarray, unseen: Any
) -> np.ndarray:
    """The facts of each row of a block by its key; of rows without weight what the model says."""
    X = read(X)
    own = sampling.row_keys(X, columns)
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    found, new = known[at], (keys[at] != own) | (np.ravel(weight) == 0)
    if new.any():
        facts = unseen(X[new])._asdict()
        found[new] = np.rec.fromarrays(
            [facts[name] for name in known.dtype.names or ()], known.dtype
        )
    return found


# ------------------------------------------------------------------------------------ the rows


class DaskRows(RowSet):
    """A dask array of rows, with a dask array of what they weigh."""

    sparse = False
    sample_rows: Any = RowsInMemory.sample_rows  # the rows of a sample are in memory
    nearest_mean: Any = RowsInMemory.nearest_mean

    def __init__(self, X: da.Array, weight: da.Array | None, cosine: bool, n_jobs: int | None):
        """Keep the rows; ``weight`` of None: all count once."""
        self.X, self.n_jobs, self.d = X, n_jobs, X.shape[1]
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.read = functools.partial(read_block, dtype=self.dtype, cosine=cosine)
        self.n = None if np.isnan(X.shape[0]) else int(X.shape[0])
        self.total, self.unit = 0, 1.0
        blocks = X.to_delayed().ravel()
        self._weight, weights = da.ones_like(X[:, 0]), [None] * len(blocks)
        self._columns: np.ndarray | None = None  # the names of columns, once a sample is drawn
        self._few = np.empty(0)  # keys of the few rows
        if weight is not None:
            parts = [(part,) for part in weight.to_delayed().ravel()]
            facts = fold(weight_facts, parts, sampling.all_facts)
            if facts.positive < 2:
                check_sample_weight(np.zeros(2), 2)  # says so
            meta = np.empty(0, np.int64)
            self._weight = da.map_blocks(whole_weights, weight, facts, dtype=meta.dtype, meta=meta)
            self.unit, weights = facts.unit, self._weight.to_delayed().ravel()
        self._blocks = list(zip(blocks, weights, strict=True))

    def fold(self, make: Any, both: Any, *more: Any, report: Any = None) -> Any:
        """A function of each block, all put together."""
        given = [(*block, self.read, make, *more) for block in self._blocks]
        return fold(of_block, given, both, report)

    def map(self, function: Any, *more: Any, dtype: Any) -> da.Array:
        """A function of each block of the rows, made when it is asked for."""
        meta = np.empty(0, dtype)
        return da.map_blocks(function, self.X, *more, drop_axis=1, dtype=meta.dtype, meta=meta)

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows; rows are counted on the way."""

        def both(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
            return one[0] + other[0], one[1] + other[1], sampling.merged(one[2], other[2], size)

        if self._columns is None:
            fold = functools.partial(self.fold, facts_of_columns)
            sums = functools.partial(fold, np.add, sampling.column_sums)
            self._columns = sampling.column_names(fold(np.maximum, sampling.column_ends), sums)
        self.n, self.total, sample = self.fold(draw, both, size, self._columns)
        # Where there are fewer rows than two scikit-learn says so.
        check_array(np.zeros((min(self.n, 2), 1)), ensure_min_samples=2)
        if self.total > sampling.MOST:
            raise ValueError(
                f"X has {self.n:,} rows, and sums over more than {sampling.MOST:,} would overflow; "
                "fit on a part of them and predict the rest."
            )
        return sample

    def few(self, apart: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
        """All distinct rows in the order in which they come, or with ``apart`` all rows."""
        sample = self.draw(MOST_FEW)
        assert self.n is not None
        if (self.n if apart else len(sample.keys)) >= MOST_FEW:
            raise ValueError(
                f"X has {self.n:,} rows, too many for each to be a node of the graph here; leave "
                "n_representatives='auto', or fit on fewer rows and predict the rest."
            )
        if apart:
            X = self.read(self.X.compute())
            self._few = sampling.row_keys(X, self._columns)
            return X, None
        self._few, share = self.fold(weighed_keys, in_order, self._columns), 1.0
        if len(self._few) == 1:  # as in memory, where equal rows are kept apart if all are
            self._few, share = np.repeat(self._few, 2), 0.5
        order = np.searchsorted(sample.keys, self._few)
        return sample.X[order], sample.weight[order] * (share * self.unit)

    def spread(self, found: RowFacts, unseen: Unseen | None = None) -> RowFacts:
        """The facts of each row by its key: equal rows have the same."""
        parts = {name: part for name, part in found._asdict().items() if part is not None}
        kinds = np.dtype([(name, part.dtype) for name, part in parts.items()])
        known = np.rec.fromarrays(list(parts.values()), dtype=kinds)
        order = np.argsort(self._few, kind="stable")
        given = map(_constant, (self._columns, self._few[order], known[order], unseen))
        facts = self.map(known_by_key, self._weight[:, None], self.read, *given, dtype=kinds)
        return RowFacts(**{name: facts[name] for name in parts})

    def link(self, fitted: Representatives, report: Report | None = None) -> Linked:
        """One pass over the rows: what their links add up to. The links themselves are not kept."""
        sums = self.fold(sums_of, links.add, _constant(fitted), report=report)
        return DaskLinks(self, fitted), sums


class DaskLinks(LinkedRows):
    """Rows of Dask's that were linked with representatives."""

    def __init__(self, rows: DaskRows, fitted: Representatives):
        """Keep where the rows are."""
        self._rows, self._fitted, self.n_links = rows, fitted, fitted.n_links

    def sizes(self, labels: np.ndarray, n_votes: int) -> np.ndarray:
        """The sizes of labels that representatives have."""
        fitted = self._fitted._replace(labels=labels, n_votes=n_votes)
        return self._rows.fold(sizes_of, np.add, _constant(fitted))

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """The facts of each row, computed when somebody asks for them."""
        rows, real, ready = self._rows, self._rows.dtype, _constant(fitted)
        labels = rows.map(of_block, None, rows.read, labels_of, ready, dtype=np.int64)
        if fitted.reach is None:
            return RowFacts(labels)
        kinds = np.dtype(list(zip(RowFacts._fields, (np.int64, real, real, bool), strict=True)))
        facts = rows.map(of_block, None, rows.read, facts_of, ready, mark, kinds, dtype=kinds)
        found = RowFacts(*(facts[name] for name in RowFacts._fields))
        return found if mark is not None else found._replace(labels=labels)

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """Labels to start from have no place beside rows that are elsewhere."""
        raise NotImplementedError


def _constant(value: Any) -> Any:
    """A value that many tasks share: one task makes it."""
    return dask.delayed(value, traverse=False, pure=False)


def fold(task: Any, given: Sequence[Any], both: Any, report: Report | None = None) -> Any:
    """The results of a task for each block, all of them put together by the workers.

    Some blocks at a time: the client and the scheduler never see all tasks at once.
    """
    delayed, add = dask.delayed(task, pure=False), dask.delayed(functools.reduce, pure=False)
    total = None
    for start in range(0, len(given), BLOCKS):
        parts = [delayed(*arguments) for arguments in given[start : start + BLOCKS]]
        while len(parts) > 1:
            parts = [add(both, parts[i : i + ADDED]) for i in range(0, len(parts), ADDED)]
        (part,) = dask.compute(parts[0])
        total = part if total is None else both(total, part)
        if report is not None:
            report(min(start + BLOCKS, len(given)), len(given))
    return total
