"""Samples and counts of different values that parts can be asked for one by one.

Every row, and every value, has a key of 64 bits that looks drawn at random. Those with the
smallest keys are the sample. So it does not depend on how the rows were cut into parts, and it is
all there is where that is little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...fitting.sampling import row_keys
from .table import needed

MOST_KEYS = 8192
# Values count as all different if this share of them is, as far as the smallest keys can tell.
ALL_DIFFERENT = 0.95


def keys_of_rows(numbers: np.ndarray) -> np.ndarray:
    """The keys of some rows by their numbers from 0."""
    return row_keys((np.asarray(numbers, dtype=np.float64) + 1.0)[:, None])


class Sample(NamedTuple):
    """The values under the smallest keys."""

    keys: np.ndarray
    values: np.ndarray

    def smallest(self, most: int) -> Sample:
        """At most so many of them.

        Examples
        --------
        >>> import numpy as np
        >>> Sample(np.array([3, 1, 2]), np.array(["c", "a", "b"])).smallest(2).values.tolist()
        ['a', 'b']
        """
        if len(self.keys) <= most:
            return self
        low = np.sort(np.argpartition(self.keys, most)[:most])
        return Sample(self.keys[low], self.values[low])

    def merged(self, later: Sample, most: int) -> Sample:
        """The sample of both."""
        keys = np.concatenate([self.keys, later.keys])
        return Sample(keys, np.concatenate([self.values, later.values])).smallest(most)


class Different(NamedTuple):
    """How many different values there are: exactly if few, else by their smallest keys."""

    keys: np.ndarray  # of different values, rising
    repeated: bool  # whether a value was seen twice in one part

    def merged(self, later: Different) -> Different:
        """Of both."""
        keys = np.unique(np.concatenate([self.keys, later.keys]))[:MOST_KEYS]
        return Different(keys, self.repeated or later.repeated)

    def estimate(self) -> int:
        """How many values are different; beyond 8,192 it may be wrong by a few percent."""
        if len(self.keys) < MOST_KEYS:
            return len(self.keys)
        return round((MOST_KEYS - 1) / (float(self.keys[-1]) / 2.0**64))

    def all_of(self, rows: int) -> bool:
        """Whether these were the values of so many rows, and all different."""
        if self.repeated or len(self.keys) < MOST_KEYS:
            return not self.repeated and len(self.keys) == rows
        return self.estimate() >= ALL_DIFFERENT * rows


def different(values: np.ndarray, rows: int) -> Different:
    """Of the distinct values in so many rows."""
    hashing = needed("pandas").util.hash_array
    keys = np.unique(hashing(values, categorize=False)) if len(values) else np.empty(0, np.uint64)
    return Different(keys[:MOST_KEYS], len(values) < rows)
