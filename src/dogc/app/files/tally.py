"""Counts of all rows, and a sample of them, while they are labelled chunk by chunk."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoding.errors import needed
from ...encoding.statistics import keys_of_rows

if TYPE_CHECKING:
    import pandas

CONFIDENCE_BINS = 10
SAMPLE_ROWS = 10_000
LEAST_OF_A_CLUSTER = 20
# Of a label column with more values than these, agreement is not counted.
MOST_CLASSES = 10_000


class Sureness(NamedTuple):
    """How sure some rows are."""

    known: int
    total: float  # of the confidence
    unsure: int  # below a half
    histogram: np.ndarray  # (CONFIDENCE_BINS,)

    def merged(self, later: Sureness) -> Sureness:
        """With later rows."""
        return Sureness(
            self.known + later.known,
            self.total + later.total,
            self.unsure + later.unsure,
            self.histogram + later.histogram,
        )


def sureness_of(confidence: np.ndarray) -> Sureness:
    """How sure rows are; NaN where that is not known."""
    known = confidence[np.isfinite(confidence)]
    count, _ = np.histogram(np.clip(known, 0, 1), bins=CONFIDENCE_BINS, range=(0.0, 1.0))
    return Sureness(len(known), float(known.sum()), int(np.count_nonzero(known < 0.5)), count)


class Tally(NamedTuple):
    """Counts of all rows, of which only some may be at hand."""

    rows: int
    sizes: Counter[int]  # by label
    outliers: Counter[int]  # rows that lie apart, by label
    sureness: dict[int, Sureness]  # by label
    classes: Counter[tuple[str, int]] | None  # rows by known label and label

    def merged(self, later: Tally) -> Tally:
        """With later rows."""
        sureness = dict(self.sureness)
        for label, sure in later.sureness.items():
            sureness[label] = sureness[label].merged(sure) if label in sureness else sure
        classes = None
        if self.classes is not None and later.classes is not None:
            classes = self.classes + later.classes
            classes = classes if len({name for name, _ in classes}) <= MOST_CLASSES else None
        sizes, outliers = self.sizes + later.sizes, self.outliers + later.outliers
        return Tally(self.rows + later.rows, sizes, outliers, sureness, classes)

    def named_sizes(self) -> dict[str, int]:
        """Rows of each cluster as files name them."""
        return {str(label): self.sizes[label] for label in sorted(self.sizes)}

    def table(self) -> tuple[list[str], list[int], np.ndarray] | None:
        """Known labels, labels, and how many rows have both; None without known labels."""
        if not self.classes:
            return None
        names = sorted({name for name, _ in self.classes})
        labels = sorted(self.sizes)
        place = {name: i for i, name in enumerate(names)}
        column = {label: j for j, label in enumerate(labels)}
        counts = np.zeros((len(names), len(labels)), dtype=np.int64)
        for (name, label), count in self.classes.items():
            counts[place[name], column[label]] = count
        return names, labels, counts


def tally(
    labels: np.ndarray, confidence: np.ndarray, outliers: np.ndarray, truth: np.ndarray | None
) -> Tally:
    """Count some rows.

    Examples
    --------
    >>> import numpy as np
    >>> found = tally(np.array([0, 1, 0]), np.array([1.0, 0.4, 0.9]), np.zeros(3, bool), None)
    >>> found.rows, found.sizes, found.sureness[1].unsure
    (3, Counter({0: 2, 1: 1}), 1)
    """
    sure = {int(label): sureness_of(confidence[labels == label]) for label in np.unique(labels)}
    pairs = None if truth is None else zip(truth.astype(str).tolist(), labels.tolist(), strict=True)
    return Tally(
        len(labels),
        Counter(labels.tolist()),
        Counter(labels[outliers].tolist()),
        sure,
        None if pairs is None else Counter(pairs),
    )


class SampledRows(NamedTuple):
    """Rows with their labels; the index of the frame are their numbers from 0."""

    frame: pandas.DataFrame
    labels: np.ndarray
    confidence: np.ndarray

    def merged(self, later: SampledRows, total: int) -> SampledRows:
        """The sample of these and later rows of a table with ``total`` rows."""
        return SampledRows(
            needed("pandas").concat([self.frame, later.frame]),
            np.concatenate([self.labels, later.labels]),
            np.concatenate([self.confidence, later.confidence]),
        ).kept(total)

    def kept(self, total: int) -> SampledRows:
        """The rows with the smallest keys, and of each cluster at least a few of them."""
        numbers = self.frame.index.to_numpy()
        keys = keys_of_rows(numbers)
        rank = np.empty(len(keys), dtype=np.int64)  # among the rows of the cluster
        order = np.lexsort((keys, self.labels))
        _, starts, sizes = np.unique(self.labels[order], return_index=True, return_counts=True)
        rank[order] = np.arange(len(order)) - np.repeat(starts, sizes)
        low = keys < 2.0**64 * min(1.0, SAMPLE_ROWS / total)
        rows = np.flatnonzero(low | (rank < LEAST_OF_A_CLUSTER) | (total <= SAMPLE_ROWS))
        if len(rows) == len(keys):
            return self
        return SampledRows(self.frame.iloc[rows], self.labels[rows], self.confidence[rows])
