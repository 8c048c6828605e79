"""Which neighbourhood size to trust: the one whose labels its neighbours in scale confirm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from . import discrete

# Neighbourhood sizes to ask, about a third apart; the first to ask; and when they agree.
SCALES = (5, 7, 10, 15, 20, 30, 45, 70)
FIRST = (10, 15)
AGREED = 0.98

# How fast the say of another scale falls with its distance, in log k.
REACH = 0.5


class ScaleChoice(NamedTuple):
    """The sizes that were asked, how far their labels agree, and the one that was taken.

    ``ScaleDisplay.from_estimator(model)`` draws it. Where one size was asked, because the user
    named it or no other was possible, it is the only one here and agrees with itself.
    """

    n_neighbors: tuple[int, ...]
    agreement: np.ndarray  # (s, s) adjusted Rand index of each two labellings
    score: np.ndarray  # (s,) mean agreement with the others, near scales counting most
    chosen: int


def only_scale(k: int) -> ScaleChoice:
    """The choice where there was none."""
    return ScaleChoice((k,), np.eye(1), np.ones(1), k)


def candidate_scales(largest: int) -> list[int]:
    """The sizes to ask where a row can have at most ``largest`` neighbours.

    Examples
    --------
    >>> candidate_scales(24), candidate_scales(3)
    ([5, 7, 10, 15, 20], [3])
    """
    return [k for k in SCALES if k <= largest] or [max(largest, 1)]


def choose_scale(
    labels_at: Callable[[int], np.ndarray], candidates: Sequence[int], size: np.ndarray
) -> ScaleChoice:
    """The size whose labels agree most with those of the sizes near it.

    Two sizes in the middle are asked first. If their labels agree the smaller is taken and no
    other is asked: where the scale matters, it shows there. Otherwise all are asked.

    Parameters
    ----------
    labels_at : function of a size that returns labels of shape (n,)
    candidates : sizes in rising order
    size : array of shape (n,)
        What each row counts for.

    Examples
    --------
    >>> import numpy as np
    >>> labels = {5: [0, 1, 1, 0], 10: [0, 0, 1, 1], 15: [0, 1, 0, 1], 20: [1, 1, 0, 0]}
    >>> choose_scale(lambda k: np.array(labels[k]), [5, 10, 15, 20], np.ones(4)).chosen
    20
    """
    asked = [k for k in candidates if k in FIRST]
    if len(asked) == len(FIRST):
        found = {k: labels_at(k) for k in asked}
        choice = weigh_scales(found, size)
        if choice.agreement.min() >= AGREED:
            return choice
    else:
        found = {}
    found |= {k: labels_at(k) for k in candidates if k not in found}
    return weigh_scales(found, size)


def weigh_scales(found: Mapping[int, np.ndarray], size: np.ndarray) -> ScaleChoice:
    """The choice among sizes whose labels are known.

    Examples
    --------
    >>> import numpy as np
    >>> labels = {5: np.array([0, 1, 1, 0]), 7: np.array([1, 0, 0, 1]), 10: np.array([0, 0, 1, 1])}
    >>> weigh_scales(labels, np.ones(4)).chosen
    5
    """
    found = dict(sorted(found.items()))
    k = np.array(list(found))
    labels = list(found.values())
    agreement = np.eye(len(k))
    for i, j in zip(*np.triu_indices(len(k), 1), strict=True):
        agreement[i, j] = agreement[j, i] = discrete.adjusted_rand(labels[i], labels[j], size)
    say = np.exp(-np.abs(np.subtract.outer(np.log(k), np.log(k))) / REACH)
    np.fill_diagonal(say, 0.0)
    total = say.sum(axis=1)
    score = np.where(total > 0, (say * agreement).sum(axis=1) / np.where(total > 0, total, 1.0), 1)
    # Rounding must not decide between sizes that agree alike: the smallest of them wins.
    best = int(np.flatnonzero(score >= score.max() - 1e-9)[0])
    return ScaleChoice(tuple(int(value) for value in k), agreement, score, int(k[best]))
