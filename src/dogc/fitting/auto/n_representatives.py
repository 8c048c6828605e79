"""The choice of n_representatives: as many as it takes for the labels not to change with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.discrete import mutual_agreement
from .n_neighbors import EVIDENCE, support

# The numbers to ask: the first, the usual last, and rows and clusters that each must leave room
# for. With fewer rows to a representative its links are noise, with fewer representatives to a
# cluster there is no graph within it.
FIRST, LAST = 125, 4000
ROWS_EACH, EACH_CLUSTER = 9, 8
# Two neighbouring resolutions whose labels agree as far as this need no third.
AGREED = 0.95
# Where even the first few agree no further than this there is nothing to be found; nor where many
# agree little.
NOTHING = 0.1
FEW, MANY = 3, 5
# Starts whose steadiness differs by less are alike: it hangs on few labellings.
ALIKE = 0.05


class ResolutionChoice(NamedTuple):
    """The numbers of representatives that were tried, the agreement of their labels, the choice.

    If the user set the number, or only one was possible, it is the only entry and its score has
    no meaning. ``ScaleDisplay`` draws it.
    """

    n_representatives: tuple[int, ...]
    agreement: np.ndarray  # (s, s) adjusted Rand index of each two labellings
    score: np.ndarray  # (s,) agreement with the neighbour in resolution that agrees more
    chosen: int

    @property
    def confirmed(self) -> float:
        """Agreement of the chosen labels with those of the next resolution (adjusted Rand index).

        NaN if only one resolution was tried.
        """
        if len(self.n_representatives) == 1:
            return float("nan")
        return float(self.score[self.n_representatives.index(self.chosen)])

    @property
    def steadiness(self) -> float:
        """How far labels hold: from one number to the next, and over all numbers, in equal parts.

        Structure that only many representatives show holds from one to the next; labels that drift
        slowly with their number hold there too, but not over all. 0 if only one was tried.
        """
        if len(self.n_representatives) == 1:
            return 0.0
        return 0.5 * (self.confirmed + float(support(self.agreement).max()))


def only_resolution(p: int) -> ResolutionChoice:
    """The choice where there was none."""
    return ResolutionChoice((p,), np.eye(1), np.ones(1), p)


def fewest_representatives(c: int) -> int:
    """The first number to ask for c clusters."""
    return max(FIRST, EACH_CLUSTER * c)


def candidate_resolutions(n: int, c: int) -> list[int]:
    """The numbers of representatives to ask for n distinct rows and c clusters, rising.

    Each is twice the one before: a few rows more or less do not change them. Empty where every row
    should be its own representative: there are not rows enough for any.

    Examples
    --------
    >>> candidate_resolutions(1_000_000, 3), candidate_resolutions(5_000, 15)
    ([125, 250, 500, 1000, 2000, 4000], [125, 250, 500])
    >>> candidate_resolutions(1_000_000, 100), candidate_resolutions(5_000, 300)
    ([800, 1600, 3200], [])
    """
    first = fewest_representatives(c)
    last = min(n // ROWS_EACH, max(LAST, 4 * first))
    if last < first:
        return [first] if ROWS_EACH * first <= 2 * n else []
    return [first * 2**i for i in range(int(np.log2(last / first)) + 1)]


def are_enough(pairs: Sequence[float]) -> bool:
    """Whether another resolution need be asked: not after two that agree, nor where nothing does.

    Parameters
    ----------
    pairs : agreement of each two neighbouring resolutions that were asked.

    Examples
    --------
    >>> are_enough([0.4, 0.97]), are_enough([0.05, 0.1]), are_enough([0.4, 0.5]), are_enough([])
    (True, True, False, False)
    >>> are_enough([0.3, 0.4, 0.2, 0.5])
    True
    """
    if not pairs:
        return False
    nothing = len(pairs) >= FEW - 1 and max(pairs) <= NOTHING
    little = len(pairs) >= MANY - 1 and max(pairs) < EVIDENCE
    return pairs[-1] >= AGREED or nothing or little


def weigh_resolutions(found: Mapping[int, np.ndarray], size: np.ndarray) -> ResolutionChoice:
    """The first two neighbouring resolutions that agree, or else the two that agree most.

    Of the two the finer one is taken, and the finest where several pairs agree alike: which of them
    agrees most would hang on the last digit of the rows.

    Parameters
    ----------
    found : labels of shape (n,) at each number of representatives, in rising order
    size : array of shape (n,)
        What each row counts for.

    Examples
    --------
    >>> import numpy as np
    >>> labels = {1: np.array([0, 1, 1, 0]), 2: np.array([0, 0, 1, 1]), 4: np.array([1, 1, 0, 0])}
    >>> choice = weigh_resolutions(labels, np.ones(4))
    >>> choice.chosen, choice.confirmed
    (4, 1.0)
    """
    asked = tuple(found)
    agreement = mutual_agreement(list(found.values()), size)
    if len(asked) == 1:
        return only_resolution(asked[0])
    pairs = np.diag(agreement, 1)
    score = np.maximum(np.append(pairs, -1.0), np.append(-1.0, pairs))
    taken = int(np.flatnonzero(pairs >= pairs.max() - ALIKE)[-1])
    return ResolutionChoice(asked, agreement, score, asked[taken + 1])
