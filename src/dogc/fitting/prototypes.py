"""Labels of new rows by the prototypes that lie nearest to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics import discrete, graph
from ..numerics.matrix import Matrix
from . import links
from .landmarks import placed
from .passes import over_blocks
from .representatives import Frame


class Prototypes(NamedTuple):
    """All that labels new rows."""

    frame: Frame
    R: np.ndarray  # (m, q) as points
    n_links: int
    labels: np.ndarray  # (m,)


def new_labels(fitted: Prototypes, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The label with the most weight in the row problem of each new row, lowest in a tie."""
    search, k = links.make_search(fitted.R), fitted.n_links
    c = int(fitted.labels.max()) + 1

    def block(rows: slice) -> np.ndarray:
        idx, d = links.nearest(search, placed(fitted.frame, X[rows]), k + 1)
        weight = graph.solve_rows(d[:, :k], graph.neighbour_xi(d, k, floor=0.0))
        return discrete.weighted_vote(fitted.labels[idx[:, :k]], weight, c)

    return np.concatenate(list(over_blocks(block, X, n_jobs)))
