"""Errors of tables: one sentence for the person who gave the table, and the checks that raise."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from types import ModuleType

from .. import _extras
from .._limits import room
from .._words import LONGEST_SENTENCE, shown

_MOST_NAMES = 12  # a sentence that lists more columns than this is not read
_LOOKED_AT = 1000
# Tables of genes have some 60,000 columns. Each takes about a millisecond and 50 kB until all is
# written, so that this many are a matter of minutes and a few GB.
MOST_COLUMNS = 100_000


class TableError(ValueError):
    """A table cannot be used; the message is one sentence for the person who gave it."""

    def __init__(self, sentence: str):
        """Keep the sentence, whatever stands in the names that it quotes."""
        super().__init__(shown(sentence, LONGEST_SENTENCE))


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
    return shortened([f"'{shown(name)}'" for name in names], most)


def shortened(items: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Items with commas between; those beyond the first few are counted."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def no_such_column(name: str, columns: Sequence[str]) -> TableError:
    """Error for a column that is not there: which are, and which was perhaps meant."""
    # Likeness takes long: of a wide table, some columns are enough to look at.
    lowered = {column.lower(): column for column in columns[:_LOOKED_AT] if len(column) < 100}
    close = difflib.get_close_matches(name.lower()[:100], lowered, 1, 0.6)
    meant = f" (did you mean '{shown(lowered[close[0]])}'?)" if close else ""
    return TableError(
        f"there is no column '{shown(name)}'{meant}; the columns are {listed(columns)}."
    )


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table that has two columns of the same name, or too many columns."""
    check_columns(len(names), source)
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in places:
            raise TableError(
                f"{source} has two columns named '{shown(name)}' (columns {places[name]} and "
                f"{place}); rename one of them."
            )
        places[name] = place


def check_columns(count: int, source: str) -> None:
    """Refuse a table of more columns than can be dealt with one by one."""
    if count > MOST_COLUMNS:
        raise TableError(
            f"{source} has {count:,} columns, and {MOST_COLUMNS:,} are the most that can be used; "
            "leave some out, or write the table the other way round if its rows are columns."
        )


def check_memory(size: float, source: str) -> None:
    """Refuse what needs more bytes than are free."""
    free, _ = room()
    if size > free:
        raise TableError(
            f"{source} needs {size / 1e9:.1f} GB of memory or more where {free / 1e9:.1f} GB are "
            "free; give fewer rows, or a CSV or Parquet file, which is read in chunks."
        )


def numbered_names(count: int) -> list[str]:
    """Names for columns that have none: c1, c2, ..."""
    return [f"c{place}" for place in range(1, count + 1)]
