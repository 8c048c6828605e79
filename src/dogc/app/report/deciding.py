"""Columns that decide the clusters: one alone may be all that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.deciding_numbers import COLUMNS, deciding_number
from .features import Groups, feature_column, names_of
from .json_values import digits, short

if TYPE_CHECKING:
    from ..files.clustering import Clustering

# A value decides if clusters mix it less than this share of all rows, and the rows themselves more
# than that share. Columns of more values are not looked at.
MIXED, MIXED_BEFORE, MOST_VALUES = 0.01, 0.05, 50


def deciding_columns(clustering: Clustering, groups: Groups) -> list[str]:
    """The columns of few values that were used and that the clusters follow."""
    import pandas

    used = {name for feature in clustering.feature_names for name in names_of(feature)}
    found = []
    for place, name in enumerate(clustering.frame.columns):
        if str(name) not in used or groups.c < 2:
            continue
        column, kind = clustering.frame.iloc[:, place], clustering.frame.dtypes.iloc[place].kind
        # Durations of many thousand years cannot be written as text.
        codes, values = pandas.factorize(column if kind in "mM" else column.astype(str))
        numeric = kind in "iuf"
        few = len(values) == 2 if numeric else 2 <= len(values) <= MOST_VALUES
        if few and any(is_unmixed(codes == value, groups) for value in range(len(values))):
            found.append(short(name, 60))
    return found


def deciding_cuts(clustering: Clustering) -> dict[str, Any] | None:
    """The one column of numbers that gives the clusters when it is cut, and where to cut it."""
    if len(clustering.feature_names) > COLUMNS:
        return None
    found = [feature_column(clustering, j) for j in range(len(clustering.feature_names))]
    columns = {column.name: column for column in found if column.original}
    values = [(name, column.values) for name, column in columns.items()]
    number = deciding_number(values, clustering.labels)
    if number is None:
        return None
    name, cuts = number
    date = columns[name].date
    shown = [digits(cut, 6 if date else 3) for cut in cuts]
    return {"name": short(name, 60), "date": date, "cuts": shown}


def is_unmixed(has: np.ndarray, groups: Groups) -> bool:
    """Whether nearly all rows of each cluster have a value, or nearly none has."""
    share = float(has.mean())
    ones = np.bincount(groups.codes, weights=has, minlength=groups.c + 1)
    mixed = np.minimum(ones, groups.size - ones).sum() / len(has)
    return bool(mixed < MIXED and min(share, 1.0 - share) > MIXED_BEFORE)
