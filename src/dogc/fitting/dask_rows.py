"""Rows that Dask holds: in files, lazily generated, or spread over the machines of a cluster.

A block of them is worked on as rows in memory are, by whoever has it. What comes back are sums of
whole numbers and a sample, so that labels do not depend on blocks, workers or their order, and
nothing grows with the number of rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np

from .._checks import check_enough_rows
from . import dask_blocks, linked, links, sampling
from .distinct import check_sample_weight
from .in_memory import RowsInMemory, counted
from .passes import Report
from .representatives import Representatives, RowFacts, Unseen

# Blocks for each thread that are handed out at a time, and sums that one task adds up.
BLOCKS_EACH, ADDED = 16, 4
# Rows that are brought together where each is to be a node of the graph.
MOST_FEW = 80_000


class DaskRows(sampling.Sampled):
    """A dask array of rows, with a dask array of what they weigh."""

    sparse = False

    def __init__(self, X: da.Array, weight: da.Array | None, cosine: bool, n_jobs: int | None):
        """Keep the rows; ``weight`` of None: all count once."""
        self.X, self.n_jobs, self.d = X, n_jobs, X.shape[1]
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.reading = dask_blocks.Reading(self.dtype, cosine)
        self.n = None if np.isnan(X.shape[0]) else int(X.shape[0])
        self.total, self.unit = 0, 1.0
        self._blocks = list(X.to_delayed().ravel())
        self._weights = [None] * len(self._blocks)
        self._weight = da.ones_like(X[:, 0], dtype=np.float64) if weight is None else weight
        self._facts: sampling.WeightFacts | None = None
        self.lengths: tuple[int, ...] = ()
        self._few: np.ndarray | None = None  # keys of the few rows; None: they are as they were
        if weight is not None:
            self._weights = list(weight.to_delayed().ravel())
            self._facts = fold(
                dask_blocks.facts_of_weights, [(w,) for w in self._weights], sampling.all_facts
            )
            if self._facts.positive < 2:
                check_sample_weight(np.zeros(2), 2)  # says so
            self.unit = self._facts.unit

    def each(self, *more: Any) -> list[tuple[Any, ...]]:
        """What a task is given for each block."""
        pairs = zip(self._blocks, self._weights, strict=True)
        return [(block, weight, self._facts, self.reading, *more) for block, weight in pairs]

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows; rows are counted on the way."""

        def both(one: dask_blocks.Drawn, other: dask_blocks.Drawn) -> dask_blocks.Drawn:
            sample = sampling.merged(one.sample, other.sample, size)
            return dask_blocks.Drawn(one.lengths + other.lengths, one.total + other.total, sample)

        drawn = fold(dask_blocks.draw_block, self.each(size), both)
        self.lengths, self.total = drawn.lengths, drawn.total
        self.n = sum(drawn.lengths)
        check_enough_rows(self.n)
        if self.total > sampling.MOST:
            raise ValueError(
                f"X has {self.n:,} rows, and sums over more than {sampling.MOST:,} would overflow; "
                "fit on a part of them and predict the rest."
            )
        return drawn.sample

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
            return dask_blocks.read_block(self.X.compute(), self.reading), None
        keys, first = self._first_rows()
        order, share = np.argsort(first[np.searchsorted(keys, sample.keys)]), 1.0
        if len(order) == 1:  # as in memory, where equal rows are kept apart if there are no others
            order, share = np.zeros(2, dtype=np.int64), 0.5
        self._few = sample.keys[order]
        return sample.X[order], sample.weight[order] * (share * self.unit)

    def spread(self, found: RowFacts, unseen: Unseen | None = None) -> RowFacts:
        """What became of each row, by its key or, where rows were kept apart, by its place."""
        if self._few is None:
            return RowFacts(*(None if part is None else self._by_place(part) for part in found))
        order = np.argsort(self._few)
        known = [None if part is None else part[order] for part in found]
        given = _constant((self._few[order], known, unseen))
        return RowFacts(
            *(
                da.map_blocks(
                    dask_blocks.known_by_key,
                    self.X,
                    self._weight[:, None],
                    given,
                    self.reading,
                    place,
                    drop_axis=1,
                    dtype=part.dtype,
                    meta=part[:0],
                )
                for place, part in enumerate(found)
            )
        )

    def _by_place(self, values: np.ndarray) -> da.Array:
        parts = np.split(values, np.cumsum(self.lengths)[:-1])
        return da.concatenate(
            [
                da.from_delayed(_constant(part), (length,), meta=part[:0])
                for part, length in zip(parts, self.X.chunks[0], strict=True)
            ],
            allow_unknown_chunksizes=True,
        )

    def held(self, sample: sampling.Sample) -> RowsInMemory:
        """The rows of a sample: in the memory of this process."""
        return RowsInMemory(sample.X, sample.weight, self.n_jobs)

    def nearest_mean(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """The nearest row of R for each row of Z, the first in a tie."""
        return RowsInMemory(Z, None, self.n_jobs).nearest_mean(Z, R)

    def link(
        self, fitted: Representatives, report: Report | None = None
    ) -> tuple[DaskLinks, links.LinkSums]:
        """One pass over the rows: what their links add up to. The links themselves are not kept."""
        sums = fold(dask_blocks.link_block, self.each(_constant(fitted)), links.add, report)
        return DaskLinks(self, fitted), sums

    def _first_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of distinct rows that have weight, rising, and where each occurs first."""
        tasks = [(*task, start) for task, start in zip(self.each(), self._starts(), strict=True)]
        return fold(dask_blocks.first_rows, tasks, dask_blocks.earliest)

    def _starts(self) -> list[int]:
        return [0, *np.cumsum(self.lengths)[:-1].tolist()]


class DaskLinks:
    """Rows of Dask's that were linked with representatives."""

    def __init__(self, rows: DaskRows, fitted: Representatives):
        """Keep where the rows are."""
        self._rows, self._fitted = rows, fitted

    def count(self, labels: np.ndarray) -> tuple[linked.LabelSizes, int]:
        """The sizes of labels that representatives have, and how many links have a vote."""
        rows = self._rows

        def sizes_by(n_votes: int) -> linked.LabelSizes:
            fitted = _constant(self._fitted._replace(labels=labels, n_votes=n_votes))
            tasks = zip(rows.each(fitted), rows._starts(), strict=True)
            return fold(
                dask_blocks.count_block, [(*task, start) for task, start in tasks], linked.both
            )

        return counted(sizes_by, self._fitted.n_links, labels)

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """What becomes of each row, computed when somebody asks for it."""
        X, reading, ready = self._rows.X, self._rows.reading, _constant(fitted)
        labels = da.map_blocks(
            dask_blocks.label_block,
            X,
            ready,
            reading,
            mark,
            drop_axis=1,
            dtype=np.int64,
            meta=np.empty(0, np.int64),
        )
        if fitted.reach is None:
            return RowFacts(labels, None)
        kinds = np.dtype(
            list(zip(dask_blocks.FACTS, (reading.dtype, reading.dtype, bool), strict=True))
        )
        facts = da.map_blocks(
            dask_blocks.facts_of_block,
            X,
            ready,
            reading,
            kinds,
            drop_axis=1,
            dtype=kinds,
            meta=np.empty(0, kinds),
        )
        return RowFacts(labels, *(facts[name] for name in dask_blocks.FACTS))

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """Labels to start from have no place beside rows that are elsewhere."""
        raise NotImplementedError


def paired_counts(one: da.Array, other: da.Array) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of labels that occur, of shape (2, m), and how often; nothing grows with n."""
    blocks = zip(one.to_delayed(), other.to_delayed(), strict=True)
    return fold(dask_blocks.pairs_of_block, list(blocks), dask_blocks.all_pairs)


def _constant(value: Any) -> Any:
    """A value that many tasks share: one task makes it."""
    return dask.delayed(value, traverse=False, pure=False)


def fold(
    task: Callable[..., Any],
    given: Sequence[tuple[Any, ...]],
    both: Callable[[Any, Any], Any],
    report: Report | None = None,
) -> Any:
    """What a task makes of each block, all of it put together by the workers.

    Some blocks at a time: the client and the scheduler never see all tasks at once.
    """
    delayed, add = dask.delayed(task, pure=False), dask.delayed(_together, pure=False)
    total, size = None, max(1, BLOCKS_EACH * n_threads())
    for start in range(0, len(given), size):
        parts = [delayed(*arguments) for arguments in given[start : start + size]]
        while len(parts) > 1:
            parts = [add(both, parts[i : i + ADDED]) for i in range(0, len(parts), ADDED)]
        (part,) = dask.compute(parts[0])
        total = part if total is None else both(total, part)
        if report is not None:
            report(min(start + size, len(given)), len(given))
    return total


def n_threads() -> int:
    """Threads of the active client's workers, or of this machine."""
    try:
        from distributed import get_client

        return max(1, sum(get_client().nthreads().values()))
    except (ImportError, ValueError):  # there is no client
        return os.cpu_count() or 1


def _together(both: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = both(total, part)
    return total
