"""Rows that users pass as the arrays that the numerics work on: of numbers in range, scaled."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from .._checks import LONGEST
from ..numerics.matrix import Matrix, over_rows
from .column_maps import GIVEN, Columns
from .repeatable import BLOCK_ELEMENTS

# Significant bits that coordinates keep. What is rounded off is what changes when X is
# multiplied or shifted, so that integers and other rows full of ties get the same labels.
KEPT_BITS = {np.dtype(np.float64): 36, np.dtype(np.float32): 20}
# Larger numbers are refused, and those smaller than one over this count as 0. Of 32 bits only
# differences must be numbers: squares are taken of what was divided by the largest of them.
LARGEST = {np.dtype(np.float64): LONGEST, np.dtype(np.float32): 1e35}
# In units of the fitted rows nothing is farther away than this, so that squares are numbers.
FARTHEST = {np.dtype(np.float64): 1e30, np.dtype(np.float32): 1e15}


class Scaled(NamedTuple):
    """Rows divided by the root of their total scatter, dense ones centred as well."""

    X: Matrix
    origin: np.ndarray  # each column's median (zero for sparse rows)
    unit: Any  # largest distance from it, or a number for each column
    centre: np.ndarray  # mean of the rounded (X - origin) / unit (zero for sparse rows)
    scatter: float  # root of the total scatter about it
    mean: np.ndarray  # mean of the rows of X as they are now
    n_varying: int  # columns that are not constant
    constant: np.ndarray | None = None  # which columns are, up to rounding; None: not known
    T: np.ndarray | None = None  # (d, q) what the columns are mixed by; None: they are not
    order: np.ndarray | None = None  # (d,) the user's columns as all of this has them; None: as is

    @property
    def scale(self) -> Any:
        """The divisor of the rows, one number or one for each column."""
        return self.unit * self.scatter

    @property
    def shift(self) -> np.ndarray:
        """The origin that was subtracted before dividing."""
        return self.origin + self.unit * self.centre


def within_range(X: Matrix, *, some: bool = False) -> Matrix:
    """Rows without numbers that are too large or too small to be squared.

    With ``some`` they must not all be too small.

    Examples
    --------
    >>> import numpy as np
    >>> within_range(np.array([[2.0, 1e-200], [0.5, -1e-310]]))
    array([[2. , 0. ],
           [0.5, 0. ]])
    """
    values, largest = X.data if sp.issparse(X) else X, LARGEST[X.dtype]
    if values.max(initial=0.0) > largest or values.min(initial=0.0) < -largest:
        place = int(np.abs(values).argmax())
        row = np.searchsorted(X.indptr, place, "right") - 1 if sp.issparse(X) else place // len(X.T)
        raise ValueError(
            f"X has the value {values.flat[place]:g} in row {row}, and squares of numbers beyond "
            f"{largest:g} are not finite; rescale X, or drop such rows if they are mistakes."
        )
    if not any(over_rows(lambda rows: _small(values[rows], largest).any(), len(values))):
        return X
    X = X.copy()  # what was passed stays as it is
    values = X.data if sp.issparse(X) else X
    values[_small(values, largest)] = 0.0
    if some and not values.any():
        raise ValueError(
            f"X has no number as large as {1.0 / largest:g}, and smaller ones count as 0; rescale "
            "X, for example to X / abs(X).max()."
        )
    return X


def _small(values: np.ndarray, largest: float) -> np.ndarray:
    return (np.abs(values) < 1.0 / largest) & (values != 0.0)


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return hasattr(X, "__dask_graph__")


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def scale_rows(X: Matrix, columns: Columns = GIVEN) -> Scaled:
    """Scale rows to total scatter 1, so that no later step meets a huge or tiny number.

    Rows ``a X + b`` (a > 0) of few distinct values come out the same to the last bit.
    """
    zero = np.zeros(X.shape[1])
    if sp.issparse(X):
        unit: Any = float(abs(X).max()) or 1.0
        small = _rounded(X, zero, unit)
        mean = np.asarray(small.mean(axis=0), dtype=np.float64).ravel()
        squares = float(small.multiply(small).sum()) - X.shape[0] * float(mean @ mean)
        scatter = float(np.sqrt(max(squares, 0.0))) or 1.0
        varying = (X.max(axis=0) - X.min(axis=0)).count_nonzero()
        rows = (small / scatter).tocsr()
        return Scaled(rows, zero, unit, zero, scatter, mean / scatter, varying)
    origin = _medians(X)  # of X: shifts and scales as X does
    reach = np.maximum(X.max(axis=0) - origin, origin - X.min(axis=0))
    # A column that is constant may leave rounding behind; it must not be scaled up.
    constant = reach <= 4 * np.finfo(X.dtype).eps * np.abs(origin)
    unit = float(reach[~constant].max(initial=0.0)) or 1.0
    if columns.unit is not None:
        unit = columns.unit
    small = _rounded(X, origin, unit)
    small[:, constant] = 0.0
    centre = small.mean(axis=0, dtype=np.float64)
    np.subtract(small, centre, out=small, casting="same_kind")
    small = _mixed(small, columns.T)
    # Column by column and exact: neither their order nor a constant one changes the last digit.
    scatter = math.sqrt(math.fsum(np.einsum("ij,ij->j", small, small, dtype=np.float64))) or 1.0
    small /= scatter
    n_varying = int(np.count_nonzero(~constant))
    median = origin.astype(np.float64)
    return Scaled(small, median, unit, centre, scatter, zero, n_varying, constant, columns.T)


def apply_scale(scaled: Scaled, X: Matrix, *, drop_bits: bool = True) -> Matrix:
    """New rows on the scale of the fitted ones; dense ones may keep all their bits."""
    X = X if scaled.order is None else X[:, scaled.order]
    largest = LARGEST[X.dtype]
    if max(np.max(scaled.unit), np.abs(scaled.origin).max()) > largest or (
        np.min(scaled.unit) < 1.0 / largest
    ):
        X = X.astype(np.float64)  # 32 bits do not hold the units that were fitted in 64
    small = _rounded(X, scaled.origin.astype(X.dtype), scaled.unit, drop_bits)
    if sp.issparse(X):
        return (small / scaled.scatter).tocsr()
    if scaled.constant is not None and scaled.constant.any():
        small[:, scaled.constant] = 0.0  # what is left of it is rounding
    np.subtract(small, scaled.centre, out=small, casting="same_kind")
    small = _mixed(small, scaled.T)
    small /= scaled.scatter
    return small


def _mixed(X: np.ndarray, T: np.ndarray | None) -> np.ndarray:
    """X T to KEPT_BITS: what a product rounds depends on the rows that are multiplied with it."""
    return X if T is None else _keep_bits((X @ T).astype(X.dtype, copy=False))


def feature_map(scaled: Scaled | None, directions: np.ndarray | None) -> np.ndarray | None:
    """The map from the user's columns to where rows are compared, of shape (m, d).

    ``directions`` of shape (m, d) are taken there; None: all. The map is None where columns are
    as given and no direction is taken.
    """
    if scaled is None:
        return directions
    if np.ndim(scaled.unit) == 0 and scaled.T is None:
        return directions if directions is None else as_given(scaled, directions)
    T = np.eye(len(scaled.centre)) if scaled.T is None else scaled.T
    T = as_given(scaled, (T.T if directions is None else directions @ T.T) / scaled.unit)
    # Columns that are stretched or whitened stay in their places.
    square = directions is None and T.shape[0] == T.shape[1]
    return as_given(scaled, T.T).T if square else T


def as_given(scaled: Scaled, A: np.ndarray) -> np.ndarray:
    """The columns of A in the order in which the user has them."""
    return A if scaled.order is None else A[:, np.argsort(scaled.order)]


def _rounded(X: Matrix, origin: np.ndarray, unit: Any, drop_bits: bool = True) -> Matrix:
    """(X - origin) / unit to KEPT_BITS significant bits; sparse rows have no origin."""
    if sp.issparse(X):
        small = X.copy()
        small.data = _keep_bits(within_reach(small.data, unit) / unit)
        return small
    small = within_reach(X - origin, unit)
    small /= unit
    return _keep_bits(small) if drop_bits else small


def _medians(X: np.ndarray) -> np.ndarray:
    """The (lower) median of each column; few columns at a time, because each is copied."""
    n, d = X.shape
    middle, step = (n - 1) // 2, max(1, BLOCK_ELEMENTS // n)
    parts = [np.partition(X[:, j : j + step], middle, axis=0)[middle] for j in range(0, d, step)]
    return np.concatenate(parts)


def within_reach(away: np.ndarray, unit: Any) -> np.ndarray:
    """Differences of rows, drawn in where they are FARTHEST units away; they are changed."""
    most = np.minimum(np.float64(np.finfo(away.dtype).max), unit * FARTHEST[away.dtype])
    most = most.astype(away.dtype)
    return np.clip(away, -most, most, out=away)


def _keep_bits(x: np.ndarray) -> np.ndarray:
    """X itself to KEPT_BITS, some rows at a time."""
    # Dekker's splitting: adding and taking away a multiple of x pushes its last bits out.
    dropped = np.finfo(x.dtype).nmant + 1 - KEPT_BITS[x.dtype]
    step = max(1, BLOCK_ELEMENTS * len(x) // max(x.size, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(x), step):
            part = x[start : start + step]
            pushed = part * x.dtype.type(2**dropped + 1)
            kept = pushed - part
            np.subtract(pushed, kept, out=kept)
            np.copyto(part, kept, where=np.isfinite(kept))
    return x


def unit_rows(X: Matrix) -> Matrix:
    """Rows of length one, whose distances are those of their directions; zero rows stay."""
    # By the largest entry first: squares of huge and tiny numbers leave their range.
    if sp.issparse(X):
        return normalize(normalize(X, "max"), "l2")
    for order in (np.inf, 2):
        size = np.linalg.norm(X, order, axis=1, keepdims=True)
        X = X / np.where(size > 0, size, 1)
    return X


def same_kind(X: Matrix, fitted: Matrix) -> Matrix:
    """New rows dense or sparse as the fitted ones were."""
    if sp.issparse(fitted):
        return X if sp.issparse(X) else sp.csr_array(X)
    return X.toarray() if sp.issparse(X) else X
