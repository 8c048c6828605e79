"""Meanings of cells: numbers, dates, or one of some words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._checks import LONGEST
from .errors import TableError, needed

if TYPE_CHECKING:
    import pandas

# Cells that say nothing, in small letters and without the blanks around them.
MISSING = ("", "?", "-", "--", ".", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "nat", "null",
           "missing")  # fmt: skip
# Among numbers this is a gap as well; elsewhere it may be an answer.
MISSING_NUMBER = (*MISSING, "none")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.I | re.ASCII)
# With a point between thousands or none: 1.000,50 or 0,13.
DECIMAL_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?|[+-]?\d*,\d+|[+-]?\d+", re.ASCII)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})*(\.\d*)?|0", re.ASCII)
CODE = re.compile(r"0\d+", re.ASCII)  # a number would lose the zeros
TOO_SMALL = 1e-150  # squares of smaller numbers are 0
_DAY = np.timedelta64(1, "D")
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d.*)?", re.ASCII)
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y")
DATE_FORMATS = (
    "ISO8601", *(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S"))
)  # fmt: skip
_CURRENCIES = r"[$€£¥₹]|[A-Z]{0,2}\$|USD|EUR|GBP|CHF|JPY"
# A number with a currency before it, or with a percent sign, a currency or a unit behind it.
_WITH_UNIT = re.compile(
    rf"[+-]?(?P<before>(?:{_CURRENCIES})?)\s*[+-]?[\d.,]*\d\s*"
    rf"(?P<after>(?:%|‰|{_CURRENCIES}|[A-Za-zµμ°][A-Za-zµμ°²³/]{{0,7}})?)"
)


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
        How they are written: 1234.5, 1234,5 (also 1.234,5) or 1,234.5.

    Examples
    --------
    >>> parse_numbers(["1.5", "2e3", "x"])
    array([1.5e+00, 2.0e+03,     nan])
    >>> parse_numbers(["1,5", "1.000,5"], "decimal comma")
    array([   1.5, 1000.5])
    """
    pattern = {"plain": NUMBER, "decimal comma": DECIMAL_COMMA, "thousands": THOUSANDS}[style]
    point = {"plain": ",", "decimal comma": ".", "thousands": ""}[style]
    if style == "decimal comma":
        texts = [t.replace(".", "") if pattern.fullmatch(t) else t for t in texts]
    found = [float(t.replace(",", point)) if pattern.fullmatch(t) else np.nan for t in texts]
    return np.array(found, dtype=np.float64)


def number_style(texts: Sequence[str]) -> str:
    """How the numbers of a column are written, if its cells are numbers."""
    if not any("," in text for text in texts):
        return "plain"
    if all(THOUSANDS.fullmatch(text) for text in texts):
        return "thousands"
    return "decimal comma" if all(DECIMAL_COMMA.fullmatch(text) for text in texts) else "plain"


def unit_of(texts: Sequence[str]) -> tuple[str, str] | None:
    """The text that all of some cells have before and behind their number, if any.

    Examples
    --------
    >>> unit_of(["5.20 cm", "3 cm"]), unit_of(["$4.83", "-$1"]), unit_of(["20%"])
    (('', 'cm'), ('$', ''), ('', '%'))
    >>> unit_of(["5 cm", "3 mm"]), unit_of(["5", "3"])
    (None, None)
    """
    found = _WITH_UNIT.fullmatch(texts[0]) if texts else None
    unit = ("", "") if found is None else (found["before"], found["after"])
    if unit == ("", ""):
        return None
    for text in texts:
        found = _WITH_UNIT.fullmatch(text)
        if found is None or (found["before"], found["after"]) != unit:
            return None
    return unit


def without_unit(text: str, before: str, after: str) -> str:
    """A cell without what stands before and behind its number.

    Examples
    --------
    >>> without_unit("-$4.83", "$", ""), without_unit("5.20 cm", "", "cm")
    ('-4.83', '5.20')
    """
    sign = text[:1] if text[:1] in ("+", "-") and before else ""
    rest = text[len(sign) :].removeprefix(before).strip()
    return sign + rest.removesuffix(after).strip()


def date_format(texts: Sequence[str], counts: np.ndarray | None = None) -> str | None:
    """How most of some cells are written as dates, the likely formats first; None if as no dates.

    ``counts`` are the rows that hold each text. Without them, all cells must be dates.
    """
    alike = np.array([DATE.fullmatch(text) is not None for text in texts], dtype=bool)
    rows = np.ones(len(texts), dtype=np.int64) if counts is None else counts
    total = int(rows.sum())
    if not texts or 2 * int(rows[alike].sum()) <= total:
        return None
    few, found = texts[:100], {}  # most formats fail soon
    for form in DATE_FORMATS:
        if 2 * np.count_nonzero(np.isnan(parse_dates(few, form))) <= len(few):
            found[form] = int(rows[~np.isnan(parse_dates(texts, form))].sum())
            if found[form] == total:
                return form
    return None if counts is None else max(found, key=found.__getitem__, default=None)


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


def dates_of(column: pandas.Series) -> np.ndarray:
    """Days since 1970-01-01 of a column of dates."""
    when = needed("pandas").to_datetime(column, utc=True)
    return days(when.dt.tz_localize(None).to_numpy())


def durations_of(column: pandas.Series) -> np.ndarray:
    """Days of a column of durations."""
    return column.to_numpy() / _DAY


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
            f"column '{column.name}' has {what} in row {row_number(column, place)}, which "
            "cannot be used; correct it, or leave the column out."
        )
    return values
