"""The arguments of the printed algorithms, checked: one sentence each, with the remedy."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._limits import check_room

# Arrays of n x n numbers that are held at the peak of a fit, and bytes beside them; measured by
# benchmarks/memory.py.
GRAPHS, FLOOR = 10.0, 25e6


def whole(name: str, value: Any, low: int, high: int | None = None, what: str = "") -> int:
    """An integer within bounds; ``what`` is counted by the upper one.

    Examples
    --------
    >>> whole("n_clusters", 9, 1, 4, "rows")
    Traceback (most recent call last):
    ValueError: n_clusters=9 is too large: X has 4 rows; choose at most that.
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or int(value) < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {value!r}.")
    if high is not None and int(value) > high:
        raise ValueError(f"{name}={value} is too large: X has {high} {what}; choose at most that.")
    return int(value)


def within(name: str, value: Any, low: float, high: float = np.inf) -> float:
    """A finite number within bounds.

    Examples
    --------
    >>> within("p", 3, 0, 2)
    Traceback (most recent call last):
    ValueError: p must be a number from 0 to 2; got 3.
    """
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not low <= float(value) <= high or not np.isfinite(float(value)):
        bounds = f"of at least {low}" if np.isinf(high) else f"from {low} to {high}"
        raise ValueError(f"{name} must be a number {bounds}; got {value!r}.")
    return float(value)


def table(X: Any, columns: int | None = None) -> np.ndarray:
    """Rows as an array of float64; to label, with the columns that were fitted."""
    if sp.issparse(X):
        raise ValueError("X must be dense here; pass X.toarray().")
    try:
        with np.errstate(all="ignore"):
            if np.iscomplexobj(X):
                raise ValueError
            X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("X must be a table of real numbers; encode words as numbers.") from None
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"X must be a table of rows and columns; got shape {X.shape}.")
    if not np.isfinite(X).all():
        raise ValueError("X must be finite; fill gaps and infinite values first.")
    if columns is not None and X.shape[1] != columns:
        raise ValueError(f"X has {X.shape[1]} columns; pass the {columns} that were fitted.")
    return X


def seed(random_state: Any) -> np.random.Generator:
    """What draws the start.

    Examples
    --------
    >>> seed(-1)
    Traceback (most recent call last):
    ValueError: random_state must be None, an integer of at least 0 or a Generator; got -1.
    """
    whole_number = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    drawn = random_state is None or isinstance(random_state, np.random.Generator)
    if not drawn and not (whole_number and random_state >= 0):
        raise ValueError(
            "random_state must be None, an integer of at least 0 or a Generator; got "
            f"{random_state!r}."
        )
    return np.random.default_rng(random_state)


def rows_to_fit(X: Any) -> np.ndarray:
    """At least two rows, not all the same, whose squares are numbers, and room for their graph.

    Examples
    --------
    >>> rows_to_fit([[1.0, 2.0]])
    Traceback (most recent call last):
    ValueError: X has one row; pass at least two.
    """
    X = table(X)
    if len(X) < 2:
        raise ValueError("X has one row; pass at least two.")
    check_room(lambda n: FLOOR + 8.0 * GRAPHS * n**2, len(X), ", or use dogc.DOGC")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scatter = np.sum((X - X.mean(axis=0)) ** 2)
    if not np.finfo(float).tiny < scatter < np.inf:
        raise ValueError(
            "X has no scatter that can be computed; pass rows that differ, divided by their "
            "largest entry."
        )
    return X
