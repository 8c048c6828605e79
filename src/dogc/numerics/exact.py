"""Coordinates of so few bits that products of rows are exact: the same in any order, anywhere."""

from __future__ import annotations

import numpy as np


def exact_bits(q: int) -> int:
    """Bits that coordinates may have for products of q of them to be exact.

    Examples
    --------
    >>> exact_bits(16)
    23
    """
    return (50 - int(np.ceil(np.log2(max(q, 1))))) // 2


def varying(Z: np.ndarray) -> int:
    """Number of columns that vary; a constant one is to change no bit.

    Examples
    --------
    >>> import numpy as np
    >>> varying(np.array([[7.0, 1.0], [7.0, 2.0]]))
    1
    """
    return int(np.count_nonzero(np.ptp(Z, axis=0)))


def power_of_two(size: float) -> float:
    """The next power of two: multiples of its fractions are numbers of few bits.

    Examples
    --------
    >>> power_of_two(0.3), power_of_two(0.0)
    (0.5, 1.0)
    """
    return float(2.0 ** np.ceil(np.log2(size))) if size > 0 else 1.0


def usual_unit(R: np.ndarray) -> float:
    """A power of two beyond the coordinates of most rows; a few may lie far away.

    Examples
    --------
    >>> import numpy as np
    >>> usual_unit(np.array([[0.3, -3.0]]))
    4.0
    """
    return power_of_two(float(np.quantile(np.abs(R).max(axis=1), 0.9)))


def rounded(Z: np.ndarray, unit: float, bits: int) -> np.ndarray:
    """Coordinates of so few bits that products of two rows are exact in any order.

    The unit is a power of two. Rows beyond twice of it keep as many bits of their own largest
    coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> rounded(np.array([[0.3, 1.0], [0.3, 9.0]]), 1.0, 3)
    array([[0.25, 1.  ],
           [0.  , 9.  ]])
    """
    reach = np.abs(Z).max(axis=1, keepdims=True) / (2.0 * unit)
    beyond = np.exp2(np.ceil(np.log2(np.maximum(reach, 1.0))))
    step = beyond * (unit * 2.0**-bits)
    steps = Z / step
    np.rint(steps, out=steps)
    steps *= step
    return steps
