r"""K-multiple-means: rows share prototypes so that the bipartite graph has exactly c components.

.. math:: \min_{S, F} \sum_{ij} \omega_i \left(\|x_i - a_j\|^2 s_{ij} + \xi_i s_{ij}^2\right)
          + \lambda \operatorname{Tr}(F^\top \tilde L F)
          \quad \text{s.t.} \quad s_i^\top 1 = 1,\ s_i \ge 0,\ F^\top F = I_c

with :math:`\tilde L` the normalised Laplacian of the graph of n rows and m prototypes. F is a
transfer cut. Given F, each row is a row problem with the distances
:math:`\|x_i - a_j\|^2 + \lambda \tfrac12 \|u_i - y_j\|^2`, where u and y are the rows and the
prototypes in the cut (Nie, Wang and Li, KDD 2019).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import bipartite, graph

# Most steps of the search for lambda, and the relative width at which its bracket is empty.
MOST_STEPS = 60
CLOSED = 0.03
GROWTH = 2.0


class Candidates(NamedTuple):
    """The prototypes that each row may have."""

    idx: np.ndarray  # (n, k) nearest first
    d: np.ndarray  # (n, k) squared distances
    xi: np.ndarray  # (n,) regularisers of the row problem
    omega: np.ndarray  # (n,) what rows count for
    m: int  # prototypes


class Shares(NamedTuple):
    """Weights of rows on prototypes, and the pieces that their graph falls into."""

    S: np.ndarray  # (n, k) rows sum to one
    E: sp.csr_array  # (m, m) graph of the prototypes
    member: np.ndarray  # (m,) component of each prototype; -1 if no row has it
    n_components: int
    lam: float


def candidates(idx: np.ndarray, d: np.ndarray, k: int, omega: np.ndarray, m: int) -> Candidates:
    """The k nearest of m prototypes, from the k + 1 nearest and their squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> candidates(np.array([[0, 1, 2]]), np.array([[1.0, 2.0, 4.0]]), 2, np.ones(1), 3).xi
    array([2.5])
    """
    return Candidates(idx[:, :k], d[:, :k], graph.neighbour_xi(d, k, floor=0.0), omega, m)


def shares_at(given: Candidates, cost: np.ndarray, lam: float) -> Shares:
    """The solution of every row problem, where each pair costs ``lam * cost`` more.

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.array([[0, 1], [1, 0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> given = candidates(idx, d, 1, np.ones(2), 2)
    >>> found = shares_at(given, np.zeros((2, 1)), 0.0)
    >>> found.S.tolist(), found.member.tolist(), found.n_components
    ([[1.0], [1.0]], [0, 1], 2)
    """
    S = graph.solve_rows(given.d + lam * cost, given.xi)
    E = bipartite.landmark_graph(given.idx, S, given.omega, given.m)
    count, member = bipartite.landmark_components(E)
    return Shares(S, E, member, count, lam)


def cut_cost(given: Candidates, shares: Shares, c: int) -> np.ndarray:
    """Half the squared distance of rows to their prototypes in the cut, of shape (n, k).

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.array([[0, 1], [1, 0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> given = candidates(idx, d, 1, np.ones(2), 2)
    >>> cut_cost(given, shares_at(given, np.zeros((2, 1)), 0.0), 2)
    array([[0.],
           [0.]])
    """
    cut = bipartite.transfer_cut(shares.E, c, shares.member)
    U = bipartite.place_rows(given.idx, shares.S, cut.V)
    return 0.5 * graph.pair_distances(U, cut.Y, given.idx)


def constrained_shares(given: Candidates, c: int, lam: float | None = None) -> Shares:
    """Shares whose graph has exactly c components, as far as lambda can bring that about.

    Lambda goes up where there are too few components and between where there are too many; after
    an overshoot the last graph with too few is taken again. The result has more than c where the
    rows alone fall into more, and fewer where no lambda was found.

    Parameters
    ----------
    given : what each row may have.
    c : number of components, at most that of prototypes with rows.
    lam : where to start; None: where the two distances of the row problem balance.

    Examples
    --------
    >>> import numpy as np
    >>> x, a = np.array([0.0, 1.0, 4.5, 5.5]), np.array([0.0, 1.0, 4.5, 5.5])
    >>> d = (x[:, None] - a) ** 2
    >>> idx = np.argsort(d, axis=1, kind="stable")
    >>> given = candidates(idx, np.take_along_axis(d, idx, 1), 3, np.ones(4), 4)
    >>> constrained_shares(given, 2).member.tolist()
    [0, 0, 1, 1]
    """
    anchor = shares_at(given, np.zeros_like(given.d), 0.0)
    if anchor.n_components >= c:
        return anchor
    cost = cut_cost(given, anchor, c)
    lam = balanced_lambda(given, c) if lam is None else lam
    low, high = 0.0, math.inf
    for _ in range(MOST_STEPS):
        found = shares_at(given, cost, lam)
        enough = np.count_nonzero(found.member >= 0) >= c  # prototypes for c columns of F
        if found.n_components == c:
            return found
        if found.n_components < c and enough:
            anchor, low = found, lam
            cost = cut_cost(given, anchor, c)
        else:
            high = lam
        lam = _between(low, high)
        if high <= low * (1.0 + CLOSED) or not 0.0 < lam < math.inf:
            break
    return anchor


def balanced_lambda(given: Candidates, c: int) -> float:
    """The lambda at which clusters lie as far apart in the cut as rows usually do.

    Rows of two clusters of equal weight are about c over the total weight apart.

    Examples
    --------
    >>> import numpy as np
    >>> idx, d = np.array([[0, 1], [1, 0]]), np.array([[1.0, 4.0], [3.0, 4.0]])
    >>> balanced_lambda(candidates(idx, d, 1, np.ones(2), 2), 2)
    2.0
    """
    reach = float(np.median(given.d.mean(axis=1))) or float(given.d.mean())
    return reach * float(given.omega.sum()) / c if reach > 0 else 1.0


def _between(low: float, high: float) -> float:
    if math.isinf(high):
        return low * GROWTH
    return math.sqrt(low * high) if low > 0.0 else high / GROWTH**2
