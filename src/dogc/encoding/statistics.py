"""Statistics of columns, gathered chunk by chunk: exact ones, and a sample of rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..fitting.column_maps import ONE_LENGTH, have_one_unit
from ..fitting.sampling import row_keys
from .errors import needed
from .values import dates_of, durations_of, levels_of, plain_numbers

if TYPE_CHECKING:
    import pandas

# The sample has so many rows: fewer in wide tables, where so many cells are enough.
SAMPLE_ROWS, LEAST_ROWS, SAMPLE_CELLS = 20_000, 1_000, 10_000_000
# Different texts of a column that are counted; of a column with more, those of the sample are.
MOST_TEXTS = 20_000
VALUES = {"number": plain_numbers, "date": dates_of, "duration": durations_of}


class ColumnStatistics:
    """Facts about all cells of a column, and the cells of the sampled rows.

    Parameters
    ----------
    column : pandas.Series
        The first cells; their type is that of all.

    Attributes
    ----------
    kind : str
        "number", "date" or "duration", of which ``low`` and ``high`` are known; "text" or
        "category", whose texts are counted; or "other".
    rows, missing : int
        Cells, and those among them that say nothing.
    counts : dict or None
        How often each text comes, by first appearance; None if there are too many.
    code : str or None
        A text such as "007", where there are too many texts to count.
    sample : pandas.Series
        The cells of the sampled rows.
    """

    def __init__(self, column: pandas.Series):
        """No cell is counted yet."""
        self.dtype = column.dtype
        self.kind = kind_of(column.dtype)
        self.rows = self.missing = 0
        self.low, self.high = np.inf, -np.inf
        self.counts: dict[str, int] | None = {}
        self.sample = column

    def add(self, column: pandas.Series) -> None:
        """Count more cells."""
        self.rows += len(column)
        if self.kind in VALUES:
            values = VALUES[self.kind](column)
            present = values[~np.isnan(values)]
            self.missing += len(values) - len(present)
            self.low = min(self.low, float(present.min(initial=np.inf)))
            self.high = max(self.high, float(present.max(initial=-np.inf)))
        elif self.kind != "other":
            try:
                levels = levels_of(column)
            except TypeError:  # lists and the like
                self.kind = "other"
                return
            self.missing += int((levels.codes < 0).sum())
            if self.counts is None:
                return
            for text, count in zip(levels.texts, levels.counts.tolist(), strict=True):
                self.counts[text] = self.counts.get(text, 0) + count
            if len(self.counts) > MOST_TEXTS:
                self.counts = None

    def all_different(self) -> bool:
        """Whether no cell is missing and none comes twice; of many rows, among the sampled ones."""
        whole = self.kind == "number" and self.dtype.kind in "iu" and not self.missing
        return bool(self.sample.is_unique) if whole else self.all_different_text()

    def all_different_text(self) -> bool:
        """Whether that is so and the cells are text."""
        if self.kind != "text" or self.dtype.kind == "b" or self.missing:
            return False
        if self.counts is not None:
            return len(self.counts) == self.rows
        return len(levels_of(self.sample).texts) == len(self.sample)

    def counts_rows(self, least: int) -> bool:
        """Whether these are the numbers of at least so many rows from 0 or 1, in any order."""
        span = self.high - self.low + 1
        from_start = self.low in (0, 1) and span == self.rows >= least
        return self.kind == "number" and from_start and self.all_different()


def kind_of(dtype: Any) -> str:
    """Kind of the cells of a column of this dtype: "number", "date", "text", ..."""
    from pandas.api import types

    if types.is_complex_dtype(dtype):
        return "other"
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype):
        return "date"
    if types.is_timedelta64_dtype(dtype):
        return "duration"
    return "category" if str(dtype) == "category" else "text"


def gather(chunks: Iterable[pandas.DataFrame], names: Sequence[str]) -> dict[str, ColumnStatistics]:
    """Statistics of some columns of a table; they do not depend on how it is cut into chunks."""
    most = max(LEAST_ROWS, min(SAMPLE_ROWS, SAMPLE_CELLS // max(len(names), 1)))
    found: dict[str, ColumnStatistics] = {}
    kept, keys, seen = [], np.empty(0, dtype=np.uint64), 0
    for frame in chunks:
        found = found or {name: ColumnStatistics(frame[name]) for name in names}
        for name in names:
            found[name].add(frame[name])
        keys = np.concatenate([keys, keys_of_rows(np.arange(seen, seen + len(frame)))])
        seen += len(frame)
        kept.append(frame[names])
        if len(keys) > most:  # those with the smallest keys stay, in their order
            low = np.sort(np.argpartition(keys, most)[:most])
            kept, keys = [needed("pandas").concat(kept).iloc[low]], keys[low]
    sample = kept[0] if len(kept) == 1 else needed("pandas").concat(kept)
    for name, column in found.items():
        column.sample = sample[name]
    return found


def keys_of_rows(numbers: np.ndarray) -> np.ndarray:
    """Keys of 64 bits for rows by their numbers from 0, which look drawn at random."""
    return row_keys((np.asarray(numbers, dtype=np.float64) + 1.0)[:, None])


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


class Moments(NamedTuple):
    """Mean and spread of features."""

    rows: int
    mean: np.ndarray  # (d,)
    squares: np.ndarray  # (d,) sums of squared distances from the mean
    low: np.ndarray  # (d,)
    high: np.ndarray  # (d,)
    lengths: tuple[float, float]  # the least and the largest squared length of a row
    zeros: int  # entries that are zero
    cross: np.ndarray | None = None  # (d, d) sums of products of distances from the mean

    @property
    def variance(self) -> np.ndarray:
        """Of each feature."""
        return self.squares / self.rows

    @property
    def one_unit(self) -> bool:
        """Whether the features have one unit, as pixels, embeddings and counts do."""
        short, long = self.lengths
        counts = bool(self.low.min() >= 0) and 2 * self.zeros > self.rows * len(self.mean)
        one_length = long - short <= ONE_LENGTH * float(self.variance.sum())
        return one_length or have_one_unit(np.sqrt(self.variance), counts)

    def merged(self, later: Moments) -> Moments:
        """With later rows (Chan, Golub and LeVeque)."""
        rows = self.rows + later.rows
        apart = later.mean - self.mean
        share = later.rows / rows
        cross = None
        if self.cross is not None and later.cross is not None:
            cross = self.cross + later.cross + np.outer(apart, apart) * (self.rows * share)
        return Moments(
            rows,
            self.mean + apart * share,
            self.squares + later.squares + apart**2 * (self.rows * share),
            np.minimum(self.low, later.low),
            np.maximum(self.high, later.high),
            (min(self.lengths[0], later.lengths[0]), max(self.lengths[1], later.lengths[1])),
            self.zeros + later.zeros,
            cross,
        )


def moments_of(X: np.ndarray, crossed: bool) -> Moments:
    """Of some rows; products of features only where they are asked for."""
    mean, low, high = X.mean(axis=0), X.min(axis=0), X.max(axis=0)
    length, zeros = np.einsum("ij,ij->i", X, X), int(X.size - np.count_nonzero(X))
    X = X - mean
    cross, squares = X.T @ X if crossed else None, np.einsum("ij,ij->j", X, X)
    lengths = float(length.min()), float(length.max())
    return Moments(len(X), mean, squares, low, high, lengths, zeros, cross)
