"""Columns that only say which row is which."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .values import levels_of

if TYPE_CHECKING:
    import pandas

_WORDS = {"id", "ids", "identifier", "uuid", "guid", "key", "index", "idx", "rowid"}
_WHOLE_NAMES = {"no", "nr", "row", "rownames", "row_names", "rownumber", "unnamed: 0", "#"}
ENOUGH = 10  # fewer rows can be numbered by chance


def find_ids(frame: pandas.DataFrame) -> list[str]:
    """The columns that are ids, the most likely first.

    Whole numbers or text, all different, under a name such as ``id`` or ``customer_id``; then
    whole numbers that count the rows from 0 or 1, in any order.
    """
    return choose_ids(
        list(frame.columns),
        different=lambda name: _different(frame[name]),
        different_text=lambda name: _different_text(frame[name]),
        counts_rows=lambda name: _counts_rows(frame[name]),
    )


def choose_ids(
    names: Sequence[str],
    *,
    different: Callable[[str], bool],
    different_text: Callable[[str], bool],
    counts_rows: Callable[[str], bool],
) -> list[str]:
    """The columns that are ids by their names and by what is true of their cells."""
    named = [name for name in names if looks_like_id(name) and different(name)]
    titled = [name for name in names if _is_title(name) and different_text(name)]
    counting = [name for name in names if counts_rows(name)]
    return list(dict.fromkeys([*named, *counting, *titled]))


def looks_like_id(name: str) -> bool:
    """Whether a column has the name of an id.

    Examples
    --------
    >>> [looks_like_id(name) for name in ("id", "CustomerID", "order-id", "width", "idle")]
    [True, True, True, False, False]
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[a-z]+", name)
    return name.strip().lower() in _WHOLE_NAMES or bool(_WORDS & {word.lower() for word in words})


def _is_title(name: str) -> bool:
    return name.strip().lower() in ("name", "title", "label")


def _different(column: pandas.Series) -> bool:
    from pandas.api import types

    if types.is_integer_dtype(column.dtype):
        return bool(column.notna().all() and column.is_unique)
    return _different_text(column)


def _different_text(column: pandas.Series) -> bool:
    from pandas.api import types

    dtype = column.dtype
    if not (types.is_string_dtype(dtype) or types.is_object_dtype(dtype)):
        return False
    try:
        levels = levels_of(column)
    except TypeError:
        return False
    return len(levels.texts) == len(column)


def _counts_rows(column: pandas.Series) -> bool:
    from pandas.api import types

    n = len(column)
    if n < ENOUGH or not types.is_integer_dtype(column.dtype) or column.isna().any():
        return False
    values = column.to_numpy()
    low = int(values.min())
    if low not in (0, 1) or int(values.max()) != low + n - 1:
        return False
    return bool(np.bincount(values.astype(np.int64) - low, minlength=n).max() == 1)
