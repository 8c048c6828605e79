"""The choice of n_neighbors: the one whose labels the others confirm."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.discrete import mutual_agreement

# Below this agreement scales say nothing, and a fit says so.
EVIDENCE = 0.7
# Neighbourhood sizes to ask, about a factor of two apart, and from where on labels are the same.
SCALES = (5, 10, 20, 45)
AGREED = 0.98

# Of sizes that agree alike the one nearest to the usual is taken.
USUAL = 10
# Scores that differ by less are alike.
ALIKE = 0.02


class ScaleChoice(NamedTuple):
    """The numbers of neighbours that were tried, the agreement of their labels, and the choice.

    Labels are compared before learning: they are the spectral clusters of the neighbour graph of
    the data. If the user set the number, or only one was possible, it is the only entry and its
    agreement is 1. ``ScaleDisplay.from_estimator(model)`` draws it.
    """

    n_neighbors: tuple[int, ...]
    agreement: np.ndarray  # (s, s) adjusted Rand index of each two labellings
    score: np.ndarray  # (s,) mean agreement with the others
    chosen: int


def only_scale(k: int) -> ScaleChoice:
    """The choice where there was none."""
    return ScaleChoice((k,), np.eye(1), np.ones(1), k)


def candidate_scales(largest: int) -> list[int]:
    """The sizes to ask where a row can have at most ``largest`` neighbours.

    Examples
    --------
    >>> candidate_scales(24), candidate_scales(3)
    ([5, 10, 20], [3])
    """
    return [k for k in SCALES if k <= largest] or [max(largest, 1)]


def distance_from_usual(k: int) -> float:
    """How far a size is from the usual one, in powers."""
    return abs(float(np.log(k / USUAL)))


def support(agreement: np.ndarray) -> np.ndarray:
    """The mean agreement of each labelling with the others; one alone agrees with itself.

    Examples
    --------
    >>> import numpy as np
    >>> support(np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.9], [0.5, 0.9, 1.0]]))
    array([0.5, 0.7, 0.7])
    """
    s = len(agreement)
    return (agreement.sum(axis=1) - 1.0) / (s - 1) if s > 1 else np.ones(1)


def better_start(scores: Sequence[float], alike: float = ALIKE, least: float = EVIDENCE) -> int:
    """The place of the start that is taken, by how far the labels of each agree over scales.

    Of those that agree alike the last: starts come in the order in which large clusters count more,
    and their labels are the less likely to be those of a few fringes. The last too where the first
    agrees less than ``least``: one large cluster and a few fringes agree so far by themselves.

    Examples
    --------
    >>> better_start([0.8, 0.9]), better_start([0.9, 0.8]), better_start([0.91, 0.9])
    (1, 0, 1)
    >>> better_start([0.6, 0.5]), better_start([0.6, 0.5], least=0.0)
    (1, 0)
    """
    if scores[0] < least:
        return len(scores) - 1
    return max(i for i, score in enumerate(scores) if score >= max(scores) - alike)


def weigh_scales(
    found: Mapping[int, np.ndarray], size: np.ndarray, broken: Container[int] = ()
) -> ScaleChoice:
    """The size whose labels agree most with those of the other sizes.

    Parameters
    ----------
    found : labels of shape (n,) at each size
    size : array of shape (n,)
        What each row counts for.
    broken : sizes at which the graph falls into more pieces than clusters; of sizes that agree
        alike another is taken.

    Examples
    --------
    >>> import numpy as np
    >>> labels = {5: np.array([0, 1, 1, 0]), 10: np.array([1, 0, 0, 1]), 20: np.array([0, 0, 1, 1])}
    >>> weigh_scales(labels, np.ones(4)).chosen
    10
    """
    found = dict(sorted(found.items()))
    agreement = mutual_agreement(list(found.values()), size)
    score = support(agreement)
    enough = min(score.max() - 1e-9, AGREED)
    alike = [k for k, value in zip(found, score, strict=True) if value >= enough]
    chosen = min(alike, key=lambda k: (k in broken, distance_from_usual(k)))
    return ScaleChoice(tuple(found), agreement, score, chosen)
