"""Numbers whose squares are numbers: what rows may hold."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._checks import LONGEST
from ..numerics.matrix import Matrix
from ..numerics.row_blocks import over_rows

# Larger numbers are refused, and those smaller than one over this count as 0. Of 32 bits only
# differences must be numbers: squares are taken of what was divided by the largest of them.
LARGEST = {np.dtype(np.float64): LONGEST, np.dtype(np.float32): 1e35}
ALL_SMALL = (
    "X has no number as large as {:g}, and smaller ones count as 0; rescale X, for example to "
    "X / abs(X).max()."
)


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
        raise ValueError(ALL_SMALL.format(1.0 / largest))
    return X


def _small(values: np.ndarray, largest: float) -> np.ndarray:
    return (np.abs(values) < 1.0 / largest) & (values != 0.0)
