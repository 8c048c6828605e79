"""A feature in the units people know, and its distribution in a cluster beside all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoding import TableError
from ...encoding.columns import plan_column, with_gaps
from .groups import Groups
from .json_values import digits, short

if TYPE_CHECKING:
    import pandas

    from ..files.clustering import Clustering

BINS = 24


class Column(NamedTuple):
    """One feature: the original numbers where the table has them, the prepared ones where not."""

    name: str
    values: np.ndarray  # (n,), not finite where missing
    original: bool
    two_values: bool  # whether it only says yes or no
    date: bool = False  # whether the numbers are days since 1970-01-01


class Features:
    """The features of a clustering by their position."""

    def __init__(self, clustering: Clustering):
        """Look up which features are columns of the table."""
        self.clustering = clustering
        self.places: dict[str, list[int]] = {}
        for i, name in enumerate(clustering.frame.columns):
            self.places.setdefault(str(name), []).append(i)

    def __getitem__(self, j: int) -> Column:
        """The j-th feature, from the table if one column of numbers or dates has its name."""
        name = str(self.clustering.feature_names[j])
        places = self.places.get(name, [])
        values, date = None, False
        if len(places) == 1:
            values, date = _numbers_or_days(self.clustering.frame.iloc[:, places[0]])
        original = values is not None
        if values is None:
            values = np.asarray(self.clustering.X[:, j], dtype=np.float64)
        present = values[np.isfinite(values)]
        low, high = present.min(initial=np.inf), present.max(initial=-np.inf)
        two_values = bool(np.all((present == low) | (present == high)))
        return Column(short(name, 80), values, original, two_values, date)


def _numbers_or_days(column: pandas.Series) -> tuple[np.ndarray | None, bool]:
    """The numbers of a column, or its days as the preparation understands them; else None."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype):
        with np.errstate(invalid="ignore"):  # there are NaN that complain of being cast
            return column.to_numpy(dtype=np.float64, na_value=np.nan), False
    try:
        plan = plan_column(column)
    except TableError:
        return None, False
    return (with_gaps(column, plan), True) if plan["kind"] == "date" else (None, False)


def describe_column(column: Column, groups: Groups, clusters: list[int]) -> dict:
    """The histogram of all rows and of each cluster, on one scale."""
    finite = np.isfinite(column.values)
    values, codes = column.values[finite], groups.codes[finite]
    low, high, bins, log = choose_scale(values)
    on, ends = (np.log(values), np.log([low, high])) if log else (values, np.array([low, high]))
    part = (on - ends[0]) / (ends[1] - ends[0])  # a quotient of ends may be too large for a number
    inner = np.clip((part * bins).astype(np.int64), 0, bins - 1)
    count = np.bincount(codes * bins + inner, minlength=(groups.c + 1) * bins).reshape(-1, bins)
    return {
        "name": column.name,
        "original": column.original,
        "two_values": column.two_values,
        "date": column.date,
        "values": [digits(values.min(), 6), digits(values.max(), 6)],
        "median": digits(np.median(values), 5),
        "missing": int(len(finite) - len(values)),
        "edges": [digits(low, 5), digits(high, 5)],
        "log": log,
        "beyond": [bool(values.min() < low), bool(values.max() > high)],
        "all": count.sum(axis=0).tolist(),
        "clusters": {str(group): count[group].tolist() for group in clusters},
    }


class Scale(NamedTuple):
    """The ends of a histogram, its number of bins, and whether they grow in size."""

    low: float
    high: float
    bins: int
    log: bool


def choose_scale(values: np.ndarray) -> Scale:
    """A bin for each whole number if there are few, else bins of equal width.

    A few far values do not squeeze the others: they are counted in the first or last bin.

    Examples
    --------
    >>> import numpy as np
    >>> choose_scale(np.array([1.0, 2.0, 4.0]))
    Scale(low=0.5, high=4.5, bins=4, log=False)
    """
    low, high = float(values.min()), float(values.max())
    whole = high - low < BINS and max(abs(low), abs(high)) < 1e9
    if whole and np.all(values == np.round(values)):
        return Scale(low - 0.5, high + 0.5, int(high - low) + 1, False)
    if is_skewed(values):
        return Scale(low, high, BINS, True)
    inner_low, inner_high = np.quantile(values, [0.02, 0.98]).tolist()
    margin = 0.75 * (inner_high - inner_low)
    if margin > 0:
        low, high = max(low, inner_low - margin), min(high, inner_high + margin)
    return Scale(low, high, BINS, False)


def is_skewed(values: np.ndarray) -> bool:
    """Whether sizes differ so much that only their order of magnitude shows.

    Examples
    --------
    >>> import numpy as np
    >>> is_skewed(np.array([1.0, 10.0, 1000.0])), is_skewed(np.array([1.0, 2.0, 3.0]))
    (True, False)
    """
    low, high = float(values.min()), float(values.max())
    return low > 0 and high > 20.0 * float(np.median(values)) and high > 50.0 * low
