"""What is counted of all rows while they are labelled part by part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CONFIDENCE_BINS = 10
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
    sizes: dict[int, int]  # by label
    outliers: dict[int, int]  # rows that lie apart, by label
    sureness: dict[int, Sureness]  # by label
    classes: dict[tuple[str, int], int] | None  # rows by known label and label

    def merged(self, later: Tally) -> Tally:
        """With later rows."""
        both = dict(self.sureness)
        for label, sure in later.sureness.items():
            both[label] = both[label].merged(sure) if label in both else sure
        classes = None
        if self.classes is not None and later.classes is not None:
            classes = _added(self.classes, later.classes)
            classes = classes if len({name for name, _ in classes}) <= MOST_CLASSES else None
        return Tally(
            self.rows + later.rows,
            _added(self.sizes, later.sizes),
            _added(self.outliers, later.outliers),
            both,
            classes,
        )

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


def _added(one: dict, other: dict) -> dict:
    total = dict(one)
    for key, count in other.items():
        total[key] = total.get(key, 0) + count
    return total


def tally(
    labels: np.ndarray, confidence: np.ndarray, outliers: np.ndarray, truth: np.ndarray | None
) -> Tally:
    """Count some rows.

    Examples
    --------
    >>> import numpy as np
    >>> found = tally(np.array([0, 1, 0]), np.array([1.0, 0.4, 0.9]), np.zeros(3, bool), None)
    >>> found.rows, found.sizes, found.sureness[1].unsure
    (3, {0: 2, 1: 1}, 1)
    """
    names, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    apart = np.bincount(codes, weights=outliers, minlength=len(names))
    classes = None
    if truth is not None:
        known, which = np.unique(truth.astype(str), return_inverse=True)
        pairs, times = np.unique(which * len(names) + codes, return_counts=True)
        both = zip(*np.divmod(pairs, len(names)), times.tolist(), strict=True)
        classes = {(str(known[i]), int(names[j])): count for i, j, count in both}
    return Tally(
        len(labels),
        {int(name): int(count) for name, count in zip(names, counts, strict=True)},
        {int(name): int(count) for name, count in zip(names, apart, strict=True)},
        {int(name): sureness_of(confidence[codes == i]) for i, name in enumerate(names)},
        classes,
    )
