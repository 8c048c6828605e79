"""Columns that only say which row is which."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .statistics import ColumnStatistics

_WORDS = {"id", "ids", "identifier", "uuid", "guid", "key", "index", "idx", "rowid"}
_WHOLE_NAMES = {"no", "nr", "row", "rownames", "row_names", "rownumber", "unnamed: 0", "#"}
_TITLES = {"name", "title", "label"}
ENOUGH = 10  # fewer rows can be numbered by chance


def find_ids(columns: Mapping[str, ColumnStatistics], names: Sequence[str]) -> list[str]:
    """The columns that are ids, the most likely first.

    Whole numbers or text, all different, under a name such as ``id`` or ``customer_id``; then
    whole numbers that count the rows from 0 or 1, in any order; then names and titles that differ.
    """
    named = [name for name in names if looks_like_id(name) and columns[name].all_different()]
    counting = [name for name in names if columns[name].counts_rows(ENOUGH)]
    titles = [name for name in names if name.strip().lower() in _TITLES]
    titled = [name for name in titles if columns[name].all_different_text()]
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
