"""Counts of all rows, and a sample of them, while they are labelled chunk by chunk."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...encoding.errors import needed
from ...encoding.statistics import keys_of_rows

if TYPE_CHECKING:
    import pandas

MEMBERSHIP_BINS = 10
SAMPLE_ROWS = 10_000
LEAST_OF_A_CLUSTER = 20


class Tally(NamedTuple):
    """Counts of rows, of which only some may be at hand; those of several chunks add up."""

    rows: int
    sizes: Counter[int]  # by label
    outliers: Counter[int]  # rows that lie apart, by label
    tenths: Counter[tuple[int, int]]  # by label and tenth of the membership, where it is known
    membership: Counter[int]  # its sum by label
    classes: Counter[tuple[str, int]]  # by known label and label

    def merged(self, later: Tally) -> Tally:
        """With later rows."""
        both: Any = zip(self, later, strict=True)
        return Tally(*(one + other for one, other in both))

    def histogram(self, label: int) -> list[int]:
        """Rows of a cluster by tenth of their membership."""
        return [self.tenths[label, place] for place in range(MEMBERSHIP_BINS)]

    def table(self) -> tuple[list[str], list[int], np.ndarray] | None:
        """Known labels, labels, and how many rows have both; None without known labels."""
        if not self.classes:
            return None
        names, labels = sorted({name for name, _ in self.classes}), sorted(self.sizes)
        counts = [[self.classes[name, label] for label in labels] for name in names]
        return names, labels, np.array(counts)


def named_sizes(sizes: Counter[int]) -> dict[str, int]:
    """Rows of each cluster as files name them; outliers under -1."""
    return {str(label): sizes[label] for label in sorted(sizes)}


def tally(
    labels: np.ndarray, membership: np.ndarray, outliers: np.ndarray, truth: np.ndarray | None
) -> Tally:
    """Count some rows.

    Examples
    --------
    >>> import numpy as np
    >>> found = tally(np.array([0, 1, 0]), np.array([1.0, 0.4, 0.9]), np.zeros(3, bool), None)
    >>> found.rows, found.sizes, found.histogram(1)
    (3, Counter({0: 2, 1: 1}), [0, 0, 0, 0, 1, 0, 0, 0, 0, 0])
    """
    known = np.isfinite(membership)
    of, share = labels[known], np.clip(membership[known], 0.0, 1.0)
    tenth = np.minimum(share * MEMBERSHIP_BINS, MEMBERSHIP_BINS - 1).astype(int)
    sums = {int(label): float(share[of == label].sum()) for label in np.unique(of)}
    pairs = () if truth is None else zip(truth.astype(str).tolist(), labels.tolist(), strict=True)
    return Tally(
        len(labels),
        Counter(labels.tolist()),
        Counter(labels[outliers].tolist()),
        Counter(zip(of.tolist(), tenth.tolist(), strict=True)),
        Counter(sums),
        Counter(pairs),
    )


class SampledRows(NamedTuple):
    """Rows with their labels; the index of the frame are their numbers from 0."""

    frame: pandas.DataFrame
    labels: np.ndarray
    membership: np.ndarray

    def merged(self, later: SampledRows, total: int) -> SampledRows:
        """The sample of these and later rows of a table with ``total`` rows."""
        return SampledRows(
            needed("pandas").concat([self.frame, later.frame]),
            np.concatenate([self.labels, later.labels]),
            np.concatenate([self.membership, later.membership]),
        ).kept(total)

    def kept(self, total: int) -> SampledRows:
        """The rows with the smallest keys, and of each cluster at least a few of them."""
        if total <= SAMPLE_ROWS:
            return self
        keys = needed("pandas").Series(keys_of_rows(self.frame.index.to_numpy()))
        rank = keys.groupby(self.labels).rank(method="first").to_numpy()
        low = keys.to_numpy() < 2.0**64 * SAMPLE_ROWS / total
        rows = np.flatnonzero(low | (rank <= LEAST_OF_A_CLUSTER))
        return SampledRows(self.frame.iloc[rows], self.labels[rows], self.membership[rows])
