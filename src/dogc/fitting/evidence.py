r"""Evidence that clusters are there: found again, set apart, and more so than by chance.

Two figures of labels, both without ground truth, on the neighbour graphs of some rows:

- *stability*, the mean adjusted Rand index of the labels with the modularity partitions of the
  graphs of 10 and of 20 neighbours and of random two thirds of the rows, moved by a quarter of the
  distance to their neighbours;
- *separation*, the mean log ratio of the cut that halves a cluster to the cut around it, the
  firmness of :mod:`~dogc.fitting.auto.n_clusters`, over the same two graphs.

The same figures for the partition of a Gaussian with the same covariance say what chance gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from ..numerics import modularity
from ..numerics.matrix import Matrix
from .auto.n_clusters import firmness
from .settings import wide_scale
from .structureless import from_neighbours, gaussian_like, in_directions, nearest, neighbour_graph

# Rows that are looked at: more change little and take longer.
ROWS = 1_000
# Numbers of neighbours, the share of rows in each sample, the number of samples, and how far rows
# are moved in units of the distance to the fifth neighbour.
SCALES, SHARE, SAMPLES, MOVED = (10, 20), 0.67, 2, 0.25
# Fewest rows that say anything.
FEWEST = 10
# What clear clusters have at least; what plausible ones have, where the separation may also exceed
# that of the reference; and below what there are none.
CLEAR_STABILITY, CLEAR_SEPARATION, CLEAR_EXCESS = 0.75, 1.3, 0.3
PLAUSIBLE_STABILITY, PLAUSIBLE_SEPARATION, PLAUSIBLE_EXCESS = 0.5, 0.8, 0.9
NO_STABILITY, NO_SEPARATION = 0.5, 0.55


class Evidence(NamedTuple):
    """Evidence that clusters are there, from the rows and their labels alone.

    ``verdict`` is "clear", "plausible", "doubtful" or "none". The two reference figures are those
    of a Gaussian with the same covariance, which has no clusters; they are NaN for a precomputed
    graph.
    """

    verdict: str
    stability: float  # 0 to 1: agreement with partitions of resampled and perturbed rows
    separation: float  # mean log ratio of the cut that halves a cluster to the cut around it
    reference_stability: float = float("nan")
    reference_separation: float = float("nan")


class _Figures(NamedTuple):
    stability: float
    separation: float


class _Witness(NamedTuple):
    """The modularity partition of some rows, and their graph where it is of all."""

    rows: np.ndarray
    found: np.ndarray
    graph: sp.csr_array | None


# By the number of clusters: the witnesses, and the figures of rows without clusters.
Known = dict[int, tuple[list[_Witness], _Figures]]
NOTHING = Evidence("none", float("nan"), float("nan"))


def evidence_of(
    X: Matrix, labels: np.ndarray, known: Known | None = None, wide: bool = False
) -> Evidence:
    """Evidence for the labels of points in the space where rows are compared.

    Negative labels are left out. With one cluster, or too few rows to say anything, there is none.
    What does not depend on the labels is kept in ``known``, for other labels of the same rows.
    ``wide`` looks at wide neighbourhoods, for columns of few values: small ones share all of them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 9.0]
    >>> evidence_of(X, np.repeat([0, 1], 60)).verdict
    'clear'
    """
    rows = np.flatnonzero(labels >= 0)
    whole = len(rows) == len(labels)
    rows = rows[spread_rows(len(rows))]
    y = np.unique(labels[rows], return_inverse=True)[1]
    if len(y) < FEWEST or y.max() == 0:
        return NOTHING
    c = int(y.max()) + 1
    known = known if known is not None and whole else {}
    if c not in known:
        Z = in_directions(X[rows])
        scales = wide_scales(len(Z), c) if wide else SCALES
        chance = _witnesses(gaussian_like(Z), c, scales)
        known[c] = _witnesses(Z, c, scales), _figures(chance, chance[0].found, own=True)
    witnesses, reference = known[c]
    own = _figures(witnesses, y)
    return Evidence(verdict_of(own, reference), *own, *reference)


def evidence_of_graph(A: sp.csr_array, labels: np.ndarray) -> Evidence:
    """The same for rows of which only the symmetric neighbour graph is known: no reference."""
    y = np.unique(labels, return_inverse=True)[1]
    if len(y) < FEWEST or y.max() == 0:
        return NOTHING
    rng, c, agreement = np.random.default_rng(0), int(y.max()) + 1, []
    for share in (1.0, *[SHARE] * SAMPLES):
        rows = np.sort(rng.permutation(len(y))[: int(share * len(y))])
        part = A[rows][:, rows]
        found = modularity.partition(part, c, np.arange(len(rows)))
        agreement.append(adjusted_rand_score(found, y[rows]))
    own = _Figures(_share(agreement), firmness(A, y))
    return Evidence(verdict_of(own, None), *own)


def verdict_of(own: _Figures, chance: _Figures | None) -> str:
    """The verdict on figures beside those of rows without clusters."""
    excess = np.inf if chance is None else own.separation - chance.separation
    stable, apart = own
    if stable >= CLEAR_STABILITY and apart >= CLEAR_SEPARATION and excess >= CLEAR_EXCESS:
        return "clear"
    beyond = chance is not None and excess >= PLAUSIBLE_EXCESS
    if stable >= PLAUSIBLE_STABILITY and (apart >= PLAUSIBLE_SEPARATION or beyond):
        return "plausible"
    return "none" if stable < NO_STABILITY and apart < NO_SEPARATION else "doubtful"


def spread_rows(n: int) -> np.ndarray:
    """The places of the rows that are looked at, spread over n rows."""
    return np.arange(n) if n <= ROWS else np.arange(ROWS) * n // ROWS


def wide_scales(n: int, c: int) -> tuple[int, int]:
    """Half a wide neighbourhood, and a whole one.

    Examples
    --------
    >>> wide_scales(1000, 4)
    (100, 200)
    """
    return max(1, wide_scale(n, c) // 2), wide_scale(n, c)


def _witnesses(Z: np.ndarray, c: int, scales: Sequence[int]) -> list[_Witness]:
    """The partitions into c clusters of the graphs of all rows, then of samples that were moved."""
    smallest = scales[0]
    scales = [k for k in scales if k <= max(smallest, len(Z) // c)]
    idx, d = nearest(Z, scales[-1])
    order, rows = modularity.from_the_middle(Z), np.arange(len(Z))
    witnesses = []
    for k in scales:
        A = from_neighbours(idx, d, min(k, idx.shape[1] - 1))
        witnesses.append(_Witness(rows, modularity.partition(A, c, order), A))
    rng, step = np.random.default_rng(1), MOVED * np.sqrt(d[:, min(4, d.shape[1] - 1)] / Z.shape[1])
    for _ in range(SAMPLES):
        rows = np.sort(rng.permutation(len(Z))[: max(int(SHARE * len(Z)), c + 2)])
        moved = Z[rows] + step[rows, None] * rng.standard_normal((len(rows), Z.shape[1]))
        A, order = neighbour_graph(moved, smallest), modularity.from_the_middle(moved)
        witnesses.append(_Witness(rows, modularity.partition(A, c, order), None))
    return witnesses


def _figures(witnesses: list[_Witness], y: np.ndarray, own: bool = False) -> _Figures:
    """Stability and separation of labels of all rows; ``own``: of those of the first witness."""
    agreement = [adjusted_rand_score(found, y[rows]) for rows, found, _ in witnesses[own:]]
    apart = [firmness(A, y) for _, _, A in witnesses if A is not None]
    return _Figures(_share(agreement), float(np.mean(apart)))


def _share(agreement: list[float]) -> float:
    return float(np.clip(np.mean(agreement), 0.0, 1.0))
