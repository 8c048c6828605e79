"""Values as JSON and people can take them: short, finite, text that any file can hold."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

MOST_ITEMS = 100
# Beyond these a browser's numbers are no longer exact.
LARGEST_INTEGER = 2**53


def short(text: Any, most: int = 40) -> str:
    """Text of at most so many characters, without halves of characters.

    Examples
    --------
    >>> short("a long story", 7)
    'a long…'
    """
    whole = str(text)
    cut = whole if len(whole) <= most else whole[: most - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")


def digits(value: Any, significant: int = 4) -> float | None:
    """A number with so many significant digits; None if it is not finite.

    Examples
    --------
    >>> digits(3.14159), digits(float("nan"))
    (3.142, None)
    """
    number = float(value)
    return float(f"{number:.{significant - 1}e}") if math.isfinite(number) else None


def cell(value: Any) -> Any:
    """A cell of a table: a number, a short text, or None where it is missing.

    Examples
    --------
    >>> cell(2.0), cell("<b>"), cell(float("nan")), cell(" "), cell(2**60)
    (2, '<b>', None, None, '1152921504606846976')
    """
    if isinstance(value, np.ndarray):
        return short(value)
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= LARGEST_INTEGER else short(value)
    if isinstance(value, float):
        if value.is_integer() and abs(value) <= LARGEST_INTEGER:
            return int(value)
        return short(value) if math.isinf(value) else digits(value, 6)
    return short(value)


def as_json(value: Any) -> Any:
    """Anything as JSON can hold it; what is not finite is missing, the rest becomes text.

    Examples
    --------
    >>> as_json({"lam": float("inf"), "sizes": (1, 2), 3: object})
    {'lam': None, 'sizes': [1, 2], '3': "<class 'object'>"}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {short(key, 100): as_json(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        items = list(value)
        more = [f"… {len(items) - MOST_ITEMS} more"] if len(items) > MOST_ITEMS else []
        return [as_json(item) for item in items[:MOST_ITEMS]] + more
    return short(value, 1000)
