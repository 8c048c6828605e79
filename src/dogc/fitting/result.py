"""The result of a fit: all that an estimator keeps of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..loop.solver import Result
from .auto.geometry import Look, better_looks
from .auto.n_clusters import CountEvidence
from .auto.n_neighbors import ScaleChoice
from .auto.trials import Trial
from .evidence import Evidence
from .new_rows import Model
from .representatives import RowFacts
from .settings import Settings


class Choices(NamedTuple):
    """Everything that could be left open, and what it became: one fitted attribute each."""

    n_clusters: int
    n_neighbors: int
    scales: ScaleChoice
    cluster_counts: list[CountEvidence]
    geometry: str
    geometries: dict[str, ScaleChoice]
    init: str
    starts: dict[str, Any]  # the scales or resolutions of each start that was tried
    neighbors_recall: float | None


class LearnedMatrices(NamedTuple):
    """The matrices that the loop left, as the user sees them."""

    S: sp.csr_array
    F: np.ndarray
    W: np.ndarray | None
    Q: np.ndarray
    dtype: Any


# Numbers of clusters, the best first, for which there are labels.
AT_HAND = 5

# The representatives of a fit, their labels, and what a weight of 1 stands for.
Nodes = tuple[Trial, np.ndarray, float]


class FitResult(NamedTuple):
    """All that an estimator keeps of a fit."""

    choices: Choices
    run: Result
    learned: LearnedMatrices
    rows: RowFacts
    model: Model
    agreement: float  # share of labels that the model gives again
    evidence: Callable[[], Evidence]  # which takes as long as the fit of few rows
    partitions: dict[int, np.ndarray]  # labels for other numbers of clusters
    nodes: Nodes | None = None


def choices_of(
    settings: Settings,
    c: int,
    chosen: ScaleChoice,
    counts: list[CountEvidence],
    geometry: str,
    looks: list[Look],
    start: str,
    starts: dict[str, Any],
    recall: float | None,
) -> Choices:
    """The choices, each start by its own evidence; a start of the user's has none."""
    init, k = settings.run.init, chosen.chosen
    if not settings.run.is_own:
        start, starts = init if isinstance(init, str) else "labels", {}
    geometries = {name: look.scales for name, look in better_looks(looks).items()}
    return Choices(c, k, chosen, counts, geometry, geometries, start, starts, recall)


def other_counts(counts: list[CountEvidence], c: int) -> list[int]:
    """The numbers of clusters beside c that were ranked first."""
    ranked = [row.n_clusters for row in counts[:AT_HAND]]
    return [number for number in ranked if number not in (1, c)]
