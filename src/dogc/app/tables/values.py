"""What the cells of a column say: numbers, dates, or one of some words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._checks import LONGEST
from .table import TableError, needed

if TYPE_CHECKING:
    import pandas

# Cells that say nothing, in small letters and without the blanks around them.
MISSING = ("", "?", "-", "--", ".", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "null",
           "missing")  # fmt: skip
# Among numbers this is a gap as well; elsewhere it may be an answer.
MISSING_NUMBER = (*MISSING, "none")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.I | re.ASCII)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d+", re.ASCII)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})*(\.\d*)?|0", re.ASCII)
CODE = re.compile(r"0\d+", re.ASCII)  # a number would lose the zeros
TOO_SMALL = 1e-150  # squares of smaller numbers are 0
_DAY = np.timedelta64(1, "D")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d.*)?", re.ASCII)
_DATE_FORMATS = (
    "ISO8601",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
)
_TIMES = ("", " %H:%M", " %H:%M:%S")


class Levels(NamedTuple):
    """A column as text: which of its distinct texts each row holds."""

    codes: np.ndarray  # (n,) positions in texts, -1 where missing
    texts: list[str]  # distinct, by first appearance

    @property
    def counts(self) -> np.ndarray:
        """How many rows hold each text."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    def spread(self, values: np.ndarray) -> np.ndarray:
        """A number for each text becomes one for each row, NaN where missing."""
        return np.append(values, np.nan)[self.codes]


def is_missing(text: str) -> bool:
    """Whether a cell says nothing.

    Examples
    --------
    >>> is_missing(" NA "), is_missing("0")
    (True, False)
    """
    return text.strip().lower() in MISSING


def levels_of(column: pandas.Series) -> Levels:
    """The distinct texts of a column without blanks around them.

    Raises
    ------
    TypeError
        Where cells hold lists and the like.
    """
    codes, values = needed("pandas").factorize(column)
    places: dict[str, int] = {}
    place = np.full(len(values) + 1, -1)  # the last for code -1
    for i, value in enumerate(values):
        text = _text(value)
        if not is_missing(text):
            place[i] = places.setdefault(text, len(places))
    return Levels(place[codes], list(places))


def _text(value: Any) -> str:
    # A code is read as 1 from one file and as 1.0 from another.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def parse_numbers(texts: Sequence[str], style: str = "plain") -> np.ndarray:
    """Numbers as they are written, NaN for what is none.

    Parameters
    ----------
    texts : sequence of str
        Cells without blanks around them.
    style : {"plain", "decimal comma", "thousands"}
        How they are written: 1234.5, 1234,5 or 1,234.5.

    Examples
    --------
    >>> parse_numbers(["1.5", "2e3", "x"])
    array([1.5e+00, 2.0e+03,     nan])
    >>> parse_numbers(["1,5", "2"], "decimal comma")
    array([1.5, 2. ])
    """
    pattern = {"plain": NUMBER, "decimal comma": DECIMAL_COMMA, "thousands": THOUSANDS}[style]
    point = {"plain": ",", "decimal comma": ".", "thousands": ""}[style]
    found = [float(t.replace(",", point)) if pattern.fullmatch(t) else np.nan for t in texts]
    return np.array(found, dtype=np.float64)


def number_style(texts: Sequence[str]) -> str:
    """How the numbers of a column are written, if its cells are numbers."""
    if not any("," in text for text in texts):
        return "plain"
    if all(THOUSANDS.fullmatch(text) for text in texts):
        return "thousands"
    return "decimal comma" if all(DECIMAL_COMMA.fullmatch(text) for text in texts) else "plain"


def date_format(texts: Sequence[str]) -> str | None:
    """The way in which all cells of a column are dates, or None."""
    if not texts or not all(DATE.fullmatch(text) for text in texts):
        return None
    return next(readable_as(texts), None)


def readable_as(texts: Sequence[str]) -> Iterator[str]:
    """The ways in which all of some cells are dates."""
    few = texts[:100]  # most ways fail soon
    for date in _DATE_FORMATS:
        for time in _TIMES if date.startswith("%") else ("",):
            form = date + time
            if not (np.isnan(parse_dates(few, form)).any()
                    or np.isnan(parse_dates(texts, form)).any()):  # fmt: skip
                yield form


def parse_dates(texts: Sequence[str], form: str) -> np.ndarray:
    """Dates as days since 1970-01-01, NaN for what is none.

    Examples
    --------
    >>> parse_dates(["1970-01-02", "1970-01-01 12:00", "soon"], "ISO8601")
    array([1. , 0.5, nan])
    """
    when = needed("pandas").to_datetime(list(texts), format=form, errors="coerce", utc=True)
    return days(when.tz_localize(None).to_numpy())


def days(when: np.ndarray) -> np.ndarray:
    """Points in time as days since 1970-01-01, NaN where missing."""
    return (when - np.datetime64(0, "s").astype(when.dtype)) / _DAY


def plain_numbers(column: pandas.Series) -> np.ndarray:
    """The float64 values of a column of a numeric dtype, finite or NaN."""
    with np.errstate(invalid="ignore"):  # there are NaN that complain of being cast
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return check_finite(values, column)


def row_number(column: pandas.Series, place: int) -> int:
    """The number of a row for people: from 1, and through all pieces of a file."""
    index = column.index
    numbered = isinstance(index, needed("pandas").RangeIndex)
    return 1 + (int(index[place]) if numbered else place)


def check_finite(values: np.ndarray, column: pandas.Series) -> np.ndarray:
    """The values, unless one of them is infinite or too large to be squared."""
    with np.errstate(invalid="ignore"):
        large = np.abs(values) > LONGEST
    if large.any():
        place = int(large.argmax())
        what = "an infinite value" if np.isinf(values[place]) else f"the value {values[place]:g}"
        raise TableError(
            f"column '{column.name}' has {what} in row {row_number(column, place)}, with which "
            "nothing can be computed; correct it, or leave the column out."
        )
    return values
