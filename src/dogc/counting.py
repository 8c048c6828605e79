"""How many clusters the data's own graph suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from . import eigen, graph

# Eigenvalues below this are all "zero": a graph that is as good as cut.
EIGENVALUE_FLOOR = 1e-4
# Above this many clusters nothing is proposed.
MOST = 60


class CountEvidence(NamedTuple):
    """How much speaks for one number of clusters.

    The first of ``cluster_counts_`` is the one that was taken; the others follow by score.
    """

    n_clusters: int
    score: float  # mean over the scales of the log of the ratio of eigenvalues c+1 and c
    votes: int  # scales at which it is the largest
    n_scales: int


def most_clusters(n: int) -> int:
    """The largest number of clusters to consider for n rows.

    Examples
    --------
    >>> most_clusters(150), most_clusters(10_000)
    (30, 60)
    """
    return min(MOST, max(n // 5, 2), max(n - 2, 1))


def low_eigenvalues(A: sp.csr_array, how_many: int) -> np.ndarray:
    r"""The smallest eigenvalues of the normalised Laplacian :math:`I - D^{-1/2} A D^{-1/2}`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> A = sp.csr_array(np.kron(np.eye(2), 1.0 - np.eye(3)))
    >>> low_eigenvalues(A, 3).round(6) + 0.0
    array([0. , 0. , 1.5])
    """
    root = np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    scale = sp.dia_array((1.0 / np.where(root > 0, root, 1.0)[None, :], [0]), shape=A.shape)
    L = (sp.dia_array((np.ones((1, len(root))), [0]), shape=A.shape) - scale @ A @ scale).tocsr()
    _, member = graph.components(A)
    F = eigen.bottom_eigenvectors(L, how_many, member, weights=root)
    return np.maximum(scipy.linalg.eigvalsh(F.T @ (L @ F)), 0.0)


def weigh_counts(spectra: Sequence[np.ndarray]) -> list[CountEvidence]:
    r"""Evidence for each number of clusters c from 2 on, the best first.

    A graph that falls into c groups has c small eigenvalues and a jump after them. The
    evidence is :math:`\log(\mu_{c+1} / \mu_c)`, eigenvalues lifted by a small floor, averaged
    over graphs of several scales.

    Examples
    --------
    >>> import numpy as np
    >>> weigh_counts([np.array([0.0, 0.01, 0.5, 0.6]), np.array([0.0, 0.02, 0.4, 0.6])])[0]
    CountEvidence(n_clusters=2, score=3.447, votes=2, n_scales=2)
    """
    lifted = np.array(spectra) + EIGENVALUE_FLOOR
    jumps = np.log(lifted[:, 2:] / lifted[:, 1:-1])
    score = jumps.mean(axis=0).round(3)
    votes = np.bincount(jumps.argmax(axis=1), minlength=len(score))
    table = [
        CountEvidence(c + 2, float(score[c]), int(votes[c]), len(spectra))
        for c in range(len(score))
    ]
    return sorted(table, key=lambda row: (-row.score, row.n_clusters))
