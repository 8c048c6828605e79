"""What a table is, what goes wrong with one, and the words both need."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ... import _extras
from ..._words import LONGEST_SENTENCE, shown

if TYPE_CHECKING:
    import pandas

_MOST_NAMES = 12  # a sentence that lists more columns than this is not read
_LOOKED_AT = 1000


class TableError(ValueError):
    """A table cannot be used; the message is one sentence for the person who gave it."""

    def __init__(self, sentence: str):
        """Keep the sentence, whatever stands in the names that it quotes."""
        super().__init__(shown(sentence, LONGEST_SENTENCE))


class Table(NamedTuple):
    """A file as it was read.

    Parameters
    ----------
    frame : pandas.DataFrame
        All columns in their order. Text stays as it was written; a column of text files becomes
        numbers only where the numbers say the same as the text.
    source : str
        The name of the file for people, or "standard input".
    sha256 : str
        Of the bytes that were read.
    """

    frame: pandas.DataFrame
    source: str
    sha256: str


def needed(name: str) -> ModuleType:
    """Import a package that only tables need."""
    return _extras.needed(name, "reading a table")


def listed(names: Iterable[object], most: int = _MOST_NAMES) -> str:
    """Names in quotes with commas between; those beyond the first few are counted.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(5), most=2)
    "'0', '1' and 3 more"
    """
    names = list(names)
    found = ", ".join(f"'{shown(name)}'" for name in names[:most])
    return found if len(names) <= most else f"{found} and {len(names) - most} more"


def counted_files(names: Sequence[str]) -> str:
    """What to call files: by their name, or by the first and last of them.

    Examples
    --------
    >>> counted_files(["a.csv"]), counted_files(["a.csv", "b.csv", "c.csv"])
    ('a.csv', '3 files (a.csv to c.csv)')
    """
    return names[0] if len(names) == 1 else f"{len(names):,} files ({names[0]} to {names[-1]})"


def no_such_column(name: str, columns: Sequence[str]) -> TableError:
    """The error for a column that is not there: what is, and which was perhaps meant."""
    # Likeness takes long: of a wide table, some columns are enough to look at.
    lowered = {column.lower(): column for column in columns[:_LOOKED_AT] if len(column) < 100}
    close = difflib.get_close_matches(name.lower()[:100], lowered, 1, 0.6)
    meant = f" (did you mean '{shown(lowered[close[0]])}'?)" if close else ""
    return TableError(
        f"there is no column '{shown(name)}'{meant}; the columns are {listed(columns)}."
    )


def different_names(names: Sequence[str], source: str) -> None:
    """Refuse a table that has two columns of the same name."""
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in places:
            raise TableError(
                f"{source} has two columns named '{shown(name)}' (columns {places[name]} and "
                f"{place}); rename one of them."
            )
        places[name] = place


def check_dates(frame: pandas.DataFrame, source: str) -> None:
    """Refuse dates that no calendar has, before something that shows them fails."""
    for name in frame.columns[[kind.kind == "M" for kind in frame.dtypes]]:
        dates = frame[name].dropna()
        years = [dates.min().year, dates.max().year] if len(dates) else []
        beyond = [year for year in years if not 1 <= year <= 9999]
        if beyond:
            raise TableError(
                f"column '{shown(name)}' of {source} holds a date in the year {beyond[0]}; correct "
                "it, or leave the column out."
            )


def numbered_names(count: int) -> list[str]:
    """Names for columns that have none: c1, c2, ..."""
    return [f"c{place}" for place in range(1, count + 1)]
