"""Some rows for a report: spread evenly over all, and a few of each cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoding.errors import needed
from ...encoding.statistics import keys_of_rows

if TYPE_CHECKING:
    import pandas

SAMPLE_ROWS = 10_000
LEAST_OF_A_CLUSTER = 20


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
