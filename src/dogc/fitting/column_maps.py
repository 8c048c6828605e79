r"""How columns are stretched before rows are compared: the geometry of the data.

A distance between rows depends on the units of the columns. There are four ways to settle them,
each a linear map: take the columns as they are given; divide each by its standard deviation; also
whiten them by the scatter within clusters, so that long and thin clusters become round; or, where
columns are too many for that, take the principal directions that stand out from chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix
from ..numerics.principal import standing_out

GEOMETRIES = ("given", "standard", "within", "principal")

# No direction is whitened as if it had less than this share of the mean scatter.
LEAST_SCATTER = 0.01
# Values of a column that differ by less than this share of its range are one.
STEP = 1e-4
# Of columns with one unit, three in four deviate by more than this part of the largest deviation.
ONE_UNIT = 0.1
# Squared lengths that differ by no more than this share of the scatter are one; 16 bits leave less.
ONE_LENGTH = 0.01


class Columns(NamedTuple):
    """The map that columns go through before rows are compared."""

    name: str
    unit: np.ndarray | None = None  # (d,) what each is divided by; None: one number for all
    T: np.ndarray | None = None  # (d, q) applied after that; None: nothing is mixed

    def in_places(self, place: np.ndarray) -> Columns:
        """The same for columns that stand in these places."""
        unit = None if self.unit is None else self.unit[place]
        T = None if self.T is None else self.T[place]
        if T is not None and self.name == "within":
            T = T[:, place]
        return self._replace(unit=unit, T=T)


GIVEN = Columns("given")


def standard_columns(X: np.ndarray, size: np.ndarray) -> Columns:
    """Each column in units of its standard deviation; a constant one stays.

    Parameters
    ----------
    X : array of shape (n, d)
    size : array of shape (n,), what each row counts for; some may count for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> standard_columns(np.array([[0.0, 7.0], [4.0, 7.0]]), np.ones(2)).unit
    array([2., 1.])
    """
    X, size = X[size > 0], size[size > 0]
    share = (size / size.sum())[:, None]
    # Half of each, so that no difference overflows.
    origin = 0.5 * X[0].astype(np.float64)
    away = 0.5 * X - origin
    reach = np.abs(away).max(axis=0)
    limits = np.finfo(X.dtype)
    constant = (reach <= 8 * limits.eps * np.abs(origin)) | (reach <= 4.0 / limits.max)
    # Squares in units of the largest: no scale is too small.
    away /= np.where(constant, 1.0, reach)
    variance = (share * (away - (share * away).sum(axis=0)) ** 2).sum(axis=0)
    return Columns("standard", np.where(constant, 1.0, 2.0 * reach * np.sqrt(variance)))


def have_one_unit(deviation: np.ndarray, counts: bool = False) -> bool:
    """Whether columns are measured in one unit, as pixels, embeddings and counts are.

    Counts are mostly zero. Otherwise three columns in four have at least a tenth of the largest
    standard deviation: the border of a picture hardly varies, but no pixel outweighs most others.
    One length of all rows, see :func:`have_one_length`, means one unit as well.

    Parameters
    ----------
    deviation : array of shape (d,), the standard deviations of the columns.
    counts : bool, whether no entry is negative and most are zero.

    Examples
    --------
    >>> import numpy as np
    >>> have_one_unit(np.array([0.7, 0.4, 1.8])), have_one_unit(np.array([15.0, 3.0, 0.9]))
    (True, False)
    """
    varying = deviation[deviation > 0]
    low = np.quantile(varying, 0.25, method="lower") if len(varying) else np.inf
    return counts or bool(low >= ONE_UNIT * varying.max(initial=0.0))


def own_columns(X: np.ndarray, size: np.ndarray, wanted: str | None, c: int | None) -> Columns:
    """The columns in which rows are compared first: standardised if they have several units.

    They stay as given if the user names a geometry, and in a table with codes for categories: its
    columns were given their weights by whoever coded them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> own_columns(X, np.ones(30), None, 2).name
    'given'
    >>> own_columns(X * [1.0, 50.0, 2.0], np.ones(30), None, 2).name
    'standard'
    """
    if wanted is not None or has_codes(X, c or 2) or have_one_length(X):
        return GIVEN
    columns = standard_columns(X, size)
    deviation = np.asarray(columns.unit)[np.ptp(X[size > 0], axis=0) > 0]
    counts = X.min() >= 0 and 2 * np.count_nonzero(X) < X.size
    return GIVEN if have_one_unit(deviation, bool(counts)) else columns


def has_codes(X: np.ndarray, c: int) -> bool:
    """Whether a column has no more values than there are clusters: a category, or a yes and no.

    A constant column does not count.

    Such a column could be the clusters. It would have no scatter within them, and whitening would
    make it all that counts; and its deviation says how rare a category is, not in which unit it is
    measured.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(9.0), np.arange(9) % 2])
    >>> has_codes(X, 2), has_codes(X, 1)
    (True, False)
    """
    # A few rows have more values than that already in most columns.
    head = np.sort(_coarse(X[: 4 * c + 20]), axis=0)
    few = np.count_nonzero(head[1:] != head[:-1], axis=0) < c
    return any(1 < len(np.unique(column)) <= c for column in _coarse(X[:, few]).T)


def _coarse(X: np.ndarray) -> np.ndarray:
    """Columns in steps so small that only noise is lost."""
    low, reach = X.min(axis=0), np.ptp(X, axis=0)
    return np.rint((X - low) / np.where(reach > 0, STEP * reach, 1.0))


def have_one_length(X: Matrix) -> bool:
    """Whether all rows have one length, as embeddings do: their columns have one unit then.

    Rows far away from the origin all have about one length; theirs must differ little beside the
    scatter of rows.

    Examples
    --------
    >>> import numpy as np
    >>> unit = np.array([[0.6, 0.8], [-1.0, 0.0], [0.0, 1.0]])
    >>> have_one_length(unit), have_one_length(unit + 1e6)
    (True, False)
    """
    X = X.astype(np.float64)
    square = np.ravel((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=1))
    mean = np.ravel(X.mean(axis=0))
    return bool(np.ptp(square) <= ONE_LENGTH * (square.mean() - mean @ mean))


def can_whiten(n: int, d: int) -> bool:
    """Whether n rows tell the scatter of d columns, which has d (d + 1) / 2 numbers.

    Examples
    --------
    >>> can_whiten(150, 4), can_whiten(100, 60)
    (True, False)
    """
    return d * (d + 1) <= 2 * n


def principal_columns(Z: np.ndarray) -> Columns | None:
    """The principal directions that stand out, of rows that are centred; None if none does."""
    T = standing_out(Z) if min(Z.shape) > 1 else np.empty((0, 0))
    return Columns("principal", None, T) if T.size else None


def within_columns(
    standard: Columns, Z: np.ndarray, labels: np.ndarray, size: np.ndarray
) -> Columns:
    r"""The columns whitened by the scatter within clusters.

    With :math:`\Sigma` the mean scatter of the rows about the means of their clusters, T is
    :math:`\Sigma^{-1/2}`: distances are those of Mahalanobis, and distances within clusters no
    longer depend on how the columns were measured or correlated.

    Parameters
    ----------
    standard : the columns in which Z are the rows, up to a shift.
    Z : array of shape (n, d)
    labels : int array of shape (n,)
    size : array of shape (n,), what each row counts for.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 9.0], [2.0, 9.0], [1.0, 8.5], [1.0, 9.5]])
    >>> labels = np.array([0, 0, 1, 1, 1, 1])
    >>> within_columns(GIVEN, Z, labels, np.ones(6)).T.round(2)
    array([[1.22, 0.  ],
           [0.  , 3.46]])
    """
    share = size / size.sum()
    names, label = np.unique(labels, return_inverse=True)
    total = np.bincount(label, weights=share, minlength=len(names))
    centre = np.zeros((len(names), Z.shape[1]))
    np.add.at(centre, label, share[:, None] * Z)
    away = Z - (centre / np.where(total > 0, total, 1.0)[:, None])[label]
    scatter = (away.T * share) @ away
    values, vectors = np.linalg.eigh(scatter)
    varying = np.ptp(Z, axis=0) > 0
    mean = values.sum() / max(np.count_nonzero(varying), 1)
    values = np.maximum(values, LEAST_SCATTER * max(mean, np.finfo(float).tiny))
    T = (vectors / np.sqrt(values)) @ vectors.T
    return Columns("within", standard.unit, T * np.outer(varying, varying))
