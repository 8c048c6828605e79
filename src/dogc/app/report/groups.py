"""The rows of a clustering by cluster, with the outliers as a group of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

OUTLIER = -1


class Groups(NamedTuple):
    """The group of each row: clusters 0 to c - 1, then the outliers."""

    codes: np.ndarray  # (n,) group of each row
    size: np.ndarray  # (c + 1,) rows in each group; the last are the outliers
    c: int

    @property
    def shown(self) -> list[int]:
        """The groups that have rows, outliers last."""
        return [int(group) for group in np.flatnonzero(self.size)]

    def name(self, group: int) -> int:
        """The label of a group, as in the file of labels."""
        return OUTLIER if group == self.c else group


def group_rows(labels: np.ndarray) -> Groups:
    """Groups from labels; any negative label is an outlier's.

    Examples
    --------
    >>> import numpy as np
    >>> groups = group_rows(np.array([0, 1, -1, 0]))
    >>> groups.codes, groups.size, [groups.name(g) for g in groups.shown]
    (array([0, 1, 2, 0]), array([2, 1, 1]), [0, 1, -1])
    """
    labels = np.asarray(labels).astype(np.int64)
    c = int(labels.max(initial=-1)) + 1
    codes = np.where(labels < 0, c, labels)
    return Groups(codes, np.bincount(codes, minlength=c + 1), c)
