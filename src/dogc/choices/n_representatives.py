"""How many representatives to trust: as many as it takes for the labels not to change with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..numerics import discrete

# Up to so many distinct rows every row is its own representative, unless a number is asked for.
FEW_ROWS = 3_000
# The numbers to ask: the first, the usual last, and rows and clusters that each must leave room
# for. With fewer rows to a representative its links are noise, with fewer representatives to a
# cluster there is no graph within it.
FIRST, LAST = 125, 4000
ROWS_EACH, EACH_CLUSTER = 10, 8
# Two that are nearer than this say nothing about each other.
APART = 1.35
# Two neighbouring resolutions whose labels agree as far as this need no third.
AGREED = 0.95
# Where even the first ones agree no further than this there is nothing to be found.
NOTHING = 0.1
FEW = 3
# Below this agreement it is worth a word.
LOW_AGREEMENT = 0.7


class ResolutionChoice(NamedTuple):
    """The numbers of representatives that were asked, how far their labels agree, which was taken.

    ``ScaleDisplay`` draws it. Where one number was asked, because the user named it or no other
    was possible, it is the only one here, and its score says nothing.
    """

    n_representatives: tuple[int, ...]
    agreement: np.ndarray  # (s, s) adjusted Rand index of each two labellings
    score: np.ndarray  # (s,) agreement with the neighbour in resolution that agrees more
    chosen: int

    @property
    def confirmed(self) -> float:
        """How far the labels that were taken agree with those of a neighbouring resolution.

        NaN where there was no other to agree with.
        """
        if len(self.n_representatives) == 1:
            return float("nan")
        return float(self.score[self.n_representatives.index(self.chosen)])


def only_resolution(p: int) -> ResolutionChoice:
    """The choice where there was none."""
    return ResolutionChoice((p,), np.eye(1), np.ones(1), p)


def candidate_resolutions(n: int, c: int) -> list[int]:
    """The numbers of representatives to ask for n distinct rows and c clusters, rising.

    Each is about twice the one before. Empty where every row should be its own representative:
    there are not rows enough for any.

    Examples
    --------
    >>> candidate_resolutions(1_000_000, 3), candidate_resolutions(5_000, 15)
    ([125, 250, 500, 1000, 2000, 4000], [125, 250, 500])
    >>> candidate_resolutions(1_000_000, 100), candidate_resolutions(5_000, 300)
    ([800, 1789, 4000], [])
    """
    first = max(FIRST, EACH_CLUSTER * c)
    last = min(n // ROWS_EACH, max(LAST, 4 * first))
    if last < first:
        return [first] if ROWS_EACH * first <= 2 * n else []
    if last < APART * first:
        return [last]
    steps = max(1, round(np.log2(last / first)))
    return sorted({round(first * (last / first) ** (i / steps)) for i in range(steps + 1)})


def choose_resolution(
    labels_at: Callable[[int], np.ndarray | None], candidates: Sequence[int], size: np.ndarray
) -> ResolutionChoice:
    """The first two neighbouring resolutions that agree, or else the two that agree most.

    Of the two the finer one is taken. Each resolution is asked only if those before it did not
    agree.

    Parameters
    ----------
    labels_at : function of a number of representatives that returns labels of shape (n,), or
        None to end the search with what is known.
    candidates : numbers in rising order
    size : array of shape (n,)
        What each row counts for.

    Examples
    --------
    >>> import numpy as np
    >>> labels = {1: [0, 1, 1, 0], 2: [0, 0, 1, 1], 4: [1, 1, 0, 0], 8: [0, 1, 0, 1]}
    >>> choice = choose_resolution(lambda p: np.array(labels[p]), [1, 2, 4, 8], np.ones(4))
    >>> choice.n_representatives, choice.chosen, choice.confirmed
    ((1, 2, 4), 4, 1.0)
    """
    asked: list[int] = []
    found: list[np.ndarray] = []
    agreement = np.eye(len(candidates))
    for p, labels in _answers(labels_at, candidates):
        for i, other in enumerate(found):
            agreement[i, len(found)] = agreement[len(found), i] = discrete.adjusted_rand(
                labels, other, size
            )
        asked.append(p)
        found.append(labels)
        pairs = np.diag(agreement, 1)[: len(asked) - 1]
        if len(pairs) and pairs[-1] >= AGREED:
            break
        if len(asked) == FEW and pairs.max() <= NOTHING:
            break
    s = len(asked)
    pairs = np.diag(agreement, 1)[: s - 1]
    score = np.ones(1) if s == 1 else np.maximum(np.append(pairs, -1.0), np.append(-1.0, pairs))
    chosen = asked[0] if s == 1 else asked[int(np.argmax(pairs)) + 1]
    return ResolutionChoice(tuple(asked), agreement[:s, :s], score, chosen)


def _answers(
    labels_at: Callable[[int], np.ndarray | None], candidates: Sequence[int]
) -> Iterator[tuple[int, np.ndarray]]:
    for p in candidates:
        labels = labels_at(p)
        if labels is None:
            return
        yield p, labels
