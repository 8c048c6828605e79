"""From continuous to discrete labels: rotation, assignment, scaled indicators.

Y in Idx has a single one per row, so it is held as the vector of those columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import scipy.linalg
from scipy.optimize import linear_sum_assignment

from .lloyd import cell_means, nearest_mean

# Rows among which a rotation looks for those that lie furthest apart: all, or every so many.
PIVOT_ROWS = 100_000


def times(Y: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Y @ M, for Y a label vector (discrete) or a matrix (relaxed).

    Examples
    --------
    >>> import numpy as np
    >>> times(np.array([1, 0, 1]), np.array([[1.0], [5.0]])).ravel()
    array([5., 1., 5.])
    """
    return M[Y] if Y.ndim == 1 else Y @ M


def polar(M: np.ndarray) -> np.ndarray:
    """The orthonormal factor U V' of M: the nearest point with orthonormal columns.

    Examples
    --------
    >>> import numpy as np
    >>> np.abs(polar(np.array([[2.0, 0.0], [0.0, 5.0]]))).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    U, _, Vt = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    return U @ Vt


def procrustes(F: np.ndarray, Y: np.ndarray) -> np.ndarray:
    r"""The rotation of `eq:15`: :math:`\min_Q \|Y - F Q\|_F^2` s.t. :math:`Q^\top Q = I`.

    For Y a label vector F'Y are the sums of F over clusters.

    Examples
    --------
    >>> import numpy as np
    >>> procrustes(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]))
    array([[0., 1.],
           [1., 0.]])
    """
    if Y.ndim == 1:
        FtY = np.stack([np.bincount(Y, column, minlength=F.shape[1]) for column in F.T])
    else:
        FtY = F.T @ Y
    return polar(FtY)


def assign(gain: np.ndarray) -> np.ndarray:
    r"""Labels with the largest total gain that leave no cluster empty.

    .. math:: \max_{Y \in \mathrm{Idx}} \operatorname{Tr}(Y^\top M)
              \quad \text{s.t.} \quad Y^\top 1 \ge 1

    Each row takes its largest entry, the lowest column in a tie (`eq:18`). If that empties
    a cluster, every cluster is promised one row, the promises chosen to cost the least in
    total (an assignment problem), and all other rows keep their first choice. This is the
    exact optimum, so where the labels before left no cluster empty it cannot be worse.

    Parameters
    ----------
    gain : array of shape (n, c) with n >= c.

    Examples
    --------
    >>> import numpy as np
    >>> assign(np.array([[3.0, 1.0], [3.0, 2.5], [4.0, 0.0]]))
    array([0, 1, 0])
    """
    n, c = gain.shape
    labels = gain.argmax(axis=1)
    if np.count_nonzero(np.bincount(labels, minlength=c)) == c or n < c:
        return labels
    loss = gain.max(axis=1, keepdims=True) - gain
    # Some optimal set of promises uses only the c cheapest rows of each cluster.
    rows = np.unique(np.argsort(loss, axis=0, kind="stable")[:c])
    promised, cluster = linear_sum_assignment(loss[rows])
    labels[rows[promised]] = cluster
    return labels


def pivoted_rotation(F: np.ndarray) -> np.ndarray:
    """A rotation that takes F close to indicators, from F alone and without chance.

    Pivoted QR picks c rows of F that lie furthest apart; the rotation sends them as near
    to the unit vectors as it can (Damle, Minden and Ying, 2019).

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> np.sort(np.abs(F @ pivoted_rotation(F)).round(6), axis=1)
    array([[0., 1.],
           [0., 1.]])
    """
    sample = F[:: max(1, len(F) // PIVOT_ROWS)]
    _, _, pivots = scipy.linalg.qr(sample.T, mode="economic", pivoting=True, check_finite=False)
    return polar(sample[pivots[: F.shape[1]]].T)


def random_rotation(rng: np.random.Generator, c: int) -> np.ndarray:
    """An orthogonal matrix drawn uniformly.

    Examples
    --------
    >>> import numpy as np
    >>> Q = random_rotation(np.random.default_rng(0), 3)
    >>> bool(np.allclose(Q.T @ Q, np.eye(3)))
    True
    """
    Q, R = np.linalg.qr(rng.standard_normal((c, c)))
    return Q * np.sign(np.diag(R))


def rotate_to_labels(
    F: np.ndarray, Q: np.ndarray, max_iter: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    r"""Alternate `eq:15` and `eq:18` from Q: :math:`\min_{Q,Y} \|Y - FQ\|_F^2`.

    Each half step is exact, so the value falls until the labels repeat; bounded all the
    same, because equal values could alternate.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[0.7, 0.1], [0.7, 0.0], [0.1, 1.0]])
    >>> rotate_to_labels(F, np.eye(2))[1].tolist()
    [0, 0, 1]
    """
    labels = assign(F @ Q)
    for _ in range(max_iter):
        Q = procrustes(F, labels)
        new = assign(F @ Q)
        if np.array_equal(new, labels):
            break
        labels = new
    return Q, labels


def match_labels(labels: np.ndarray, reference: np.ndarray, c: int) -> np.ndarray:
    """The permutation ``new_name[old]`` that makes labels agree most with the reference.

    Examples
    --------
    >>> import numpy as np
    >>> match_labels(np.array([0, 0, 1]), np.array([1, 1, 0]), 2).tolist()
    [1, 0]
    """
    overlap = np.bincount(labels * c + reference, minlength=c * c).reshape(c, c)
    return linear_sum_assignment(-overlap)[1]


def size_order(labels: np.ndarray, c: int, size: np.ndarray | None = None) -> np.ndarray:
    """The permutation ``new_name[old]`` that numbers clusters by falling size.

    ``size`` is what each row counts for; None means 1.

    Equal sizes are numbered by first appearance, so that names depend on the partition
    and not on how it was found.

    Examples
    --------
    >>> import numpy as np
    >>> size_order(np.array([1, 0, 2, 2]), 3)[[1, 0, 2, 2]]
    array([1, 2, 0, 0])
    """
    # Rounded: sums of the same weights in another order are the same size.
    sizes = np.bincount(labels, weights=size, minlength=c).round(9)
    return falling(sizes, first_of(labels, c))


def first_of(labels: np.ndarray, c: int) -> np.ndarray:
    """The row in which each of c labels appears first; the number of rows if it does not.

    Examples
    --------
    >>> import numpy as np
    >>> first_of(np.array([1, 0, 1]), 3)
    array([1, 0, 3])
    """
    first = np.full(c, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    return first


def falling(sizes: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The permutation ``new_name[old]`` by falling size, then by first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> falling(np.array([5, 7, 5]), np.array([3, 0, 1]))
    array([2, 0, 1])
    """
    new_name = np.empty(len(sizes), dtype=np.int64)
    new_name[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return new_name


def label_shares(votes: np.ndarray, weight: np.ndarray, c: int) -> np.ndarray:
    """The weight that each row of votes gives each label, of shape (n, c).

    Examples
    --------
    >>> import numpy as np
    >>> label_shares(np.array([[0, 1, 1]]), np.array([[0.5, 0.25, 0.25]]), 2)
    array([[0.5, 0.5]])
    """
    n = len(votes)
    ballot = np.arange(n)[:, None] * c + votes
    return np.bincount(ballot.ravel(), weights=weight.ravel(), minlength=n * c).reshape(n, c)


def cluster_means(Z: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The mean of the rows of each cluster; every label from 0 up must occur.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_means(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1])).ravel()
    array([2., 7.])
    """
    return cell_means(Z, np.ones(len(Z)), labels, int(labels.max()) + 1).astype(Z.dtype)


def nearest_centre(Z: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The nearest of a few centres to each row, the first in a tie.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_centre(np.array([[0.9], [4.0]]), np.array([[1.0], [5.0]]))
    array([0, 1])
    """
    origin = centres[0]  # squares lose digits far from the origin
    return nearest_mean(Z - origin, centres - origin)


def adjusted_rand(a: np.ndarray, b: np.ndarray, size: np.ndarray) -> float:
    r"""Adjusted Rand index of two labellings of rows that count for ``size`` each.

    Pairs of the total weight N that both labellings keep together, beyond what chance gives:
    1 where they are the same up to names, 0 on average for independent ones. With sizes of
    one, the usual index; a row of size s counts as s rows.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.ones(4))
    1.0
    """
    table = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (a, b), size)
    return rand_index(table)


def rand_index(table: np.ndarray) -> float:
    """The adjusted Rand index, from weights of rows by the labels of two labellings.

    Examples
    --------
    >>> import numpy as np
    >>> rand_index(np.array([[2, 0], [1, 1]])), rand_index(np.array([[0, 2], [2, 0]]))
    (0.0, 1.0)
    """

    def pairs(weight: np.ndarray | float) -> float:
        return float(np.sum(weight * (weight - 1.0)) / 2.0)

    together = pairs(table)
    in_a, in_b = pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = in_a * in_b / max(pairs(table.sum()), np.finfo(float).tiny)
    most = (in_a + in_b) / 2.0
    if most == expected:  # all in one cluster, or each alone, in both
        return 1.0
    return (together - expected) / (most - expected)


def mutual_agreement(labellings: Sequence[np.ndarray], size: np.ndarray) -> np.ndarray:
    """The adjusted Rand index of each two labellings, of shape (s, s).

    Examples
    --------
    >>> import numpy as np
    >>> mutual_agreement([np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])], np.ones(4))
    array([[1., 1.],
           [1., 1.]])
    """
    s = len(labellings)
    agreement = np.eye(s)
    for i, j in itertools.combinations(range(s), 2):
        agreement[i, j] = agreement[j, i] = adjusted_rand(labellings[i], labellings[j], size)
    return agreement
