"""The range of a feature that tells a cluster from all other rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .groups import Groups
from .histograms import Column

# Values at which a feature may be cut in two.
CUTS = 256
# How much a second cut must add to be worth the words.
WORTH_A_SECOND_CUT = 0.1
# How much of its gap a contrast may lose for the sake of a shorter number.
COST_OF_ROUNDING = 0.005


class Contrast(NamedTuple):
    """The range of a feature that a cluster's rows are in most more often than the others."""

    side: str  # "above", "below", "between" or "outside"
    cuts: tuple[float, ...]
    share: float  # of the cluster's rows in that range
    rest: float  # of all other rows

    @property
    def gap(self) -> float:
        """The difference of both shares."""
        return self.share - self.rest


def contrasts(
    column: Column, groups: Groups, clusters: list[int]
) -> Iterator[tuple[int, Contrast]]:
    """The difference of each cluster from the rest in a feature, if there is any.

    The difference of the two distribution functions has a highest and a lowest point; cutting
    at either, or at both, gives the range that tells cluster and rest apart best.
    """
    finite = np.isfinite(column.values)
    values, codes = column.values[finite], groups.codes[finite]
    ordered = np.sort(values)
    if not len(ordered) or ordered[0] == ordered[-1]:
        return
    at = np.linspace(0, len(ordered) - 1, min(CUTS, len(ordered))).round().astype(np.int64)
    cuts = np.unique(ordered[at])
    bins = codes * len(cuts) + np.searchsorted(cuts, values)
    count = np.bincount(bins, minlength=(groups.c + 1) * len(cuts)).reshape(-1, len(cuts))
    total = count.sum(axis=0)
    for group in clusters:
        mine, others = count[group], total - count[group]
        if mine.sum() and others.sum():
            F = np.cumsum(mine) / mine.sum(), np.cumsum(others) / others.sum()
            yield group, best_contrast(*F, cuts)


def best_contrast(F: np.ndarray, rest: np.ndarray, cuts: np.ndarray) -> Contrast:
    """The range with the largest gap, given both distribution functions at the cuts.

    Examples
    --------
    >>> import numpy as np
    >>> cuts = np.array([1.0, 2.0, 3.0])
    >>> best_contrast(np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 1.0]), cuts)
    Contrast(side='above', cuts=(1.0,), share=1.0, rest=0.0)
    """
    difference = F - rest
    high, low = int(difference.argmax()), int(difference.argmin())
    above, below = max(-difference[low], 0.0), max(difference[high], 0.0)
    if min(above, below) >= WORTH_A_SECOND_CUT:
        first, last = sorted((low, high))
        mine, others = float(F[last] - F[first]), float(rest[last] - rest[first])
        if low < high:
            return Contrast("between", (float(cuts[low]), float(cuts[high])), mine, others)
        return Contrast("outside", (float(cuts[high]), float(cuts[low])), 1.0 - mine, 1.0 - others)
    if above >= below:
        return Contrast("above", (float(cuts[low]),), float(1.0 - F[low]), float(1.0 - rest[low]))
    return Contrast("below", (float(cuts[high]),), float(F[high]), float(rest[high]))


def with_short_cuts(contrast: Contrast, mine: np.ndarray, others: np.ndarray) -> Contrast:
    """The same range with cuts that are as short as they can be without telling less.

    Examples
    --------
    >>> import numpy as np
    >>> with_short_cuts(Contrast("above", (3.1416,), 1.0, 0.0), np.array([4.5]), np.array([2.2]))
    Contrast(side='above', cuts=(3.0,), share=1.0, rest=0.0)
    """
    for place in range(len(contrast.cuts)):
        for significant in range(16):
            cuts = list(contrast.cuts)
            cuts[place] = float(f"{cuts[place]:.{significant}e}")
            share, rest = (in_range(values, contrast.side, cuts) for values in (mine, others))
            if share - rest >= contrast.gap - COST_OF_ROUNDING and cuts == sorted(cuts):
                contrast = Contrast(contrast.side, tuple(cuts), share, rest)
                break
    return contrast


def in_range(values: np.ndarray, side: str, cuts: Sequence[float]) -> float:
    """The share of values in a range."""
    above = values > cuts[0]
    if side in ("between", "outside"):
        above &= values <= cuts[1]
    share = float(above.mean())
    return share if side in ("above", "between") else 1.0 - share
