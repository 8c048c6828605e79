"""A small language for what may stand in a model file, in which its table is written.

A check takes a value and the sizes that are known so far, by letters: ``real("n", "d")`` is a table
of finite numbers whose width must be that of everything else that has a ``d``. The first to come
fixes a letter. What does not fit raises :class:`~.archive.Misfit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._checks import shown
from .archive import Misfit

Sizes = dict[str, int]
Check = Callable[[Any, Sizes], None]

# Numbers on the scale of the problem are of order one; squares of these are finite.
LARGEST = np.float64(1e100)  # of 64 bits, whatever it is compared with
# Whole numbers that are neither rows nor columns of anything.
MOST = 1 << 53
_NUMBERS = (int, float, np.integer, np.floating)


def same(letter: str, size: int, sizes: Sizes) -> None:
    """Fix the size of a letter, or compare with what it was fixed to."""
    if sizes.setdefault(letter, size) != size:
        raise Misfit(f"has {size} of what is {sizes[letter]} elsewhere")


def _array(kinds: str, words: str, good: Callable[[np.ndarray, Sizes], Any]) -> Any:
    def of(*letters: str) -> Check:
        def check(value: Any, sizes: Sizes) -> None:
            if type(value) is not np.ndarray or value.dtype.kind not in kinds:
                raise Misfit(f"must be an array of {words}")
            if value.itemsize not in (8, 4, *(2, 1) * ("f" not in kinds)):
                raise Misfit("must hold numbers of 32 or 64 bits")
            if value.ndim != len(letters):
                raise Misfit(f"must be an array of {words} with {len(letters)} dimensions")
            for letter, size in zip(letters, value.shape, strict=True):
                same(letter, size, sizes)
            if not good(value, sizes):
                raise Misfit(f"must be an array of {words}")

        return check

    return of


def _within(value: np.ndarray, sizes: Sizes) -> bool:
    """Labels of clusters; where their number is not known, each has a member or more."""
    if not value.size:
        return True
    largest = int(value.max())
    if "c" not in sizes and largest < value.size:
        sizes["c"] = largest + 1
    return bool(value.min() >= 0 and largest < sizes.get("c", 0))


real = _array("f", "finite numbers", lambda x, _: np.isfinite(x).all())
moderate = _array("f", "moderate numbers", lambda x, _: (np.abs(x) <= LARGEST).all())
weight = _array("f", "finite numbers of at least 0", lambda x, _: (np.isfinite(x) & (x >= 0)).all())
positive = _array("f", "finite numbers above 0", lambda x, _: (np.isfinite(x) & (x > 0)).all())
loose = _array("f", "numbers", lambda x, _: True)
flags = _array("b", "yes and no", lambda x, _: True)
label = _array("i", "labels of clusters", _within)
marked = _array("i", "labels", lambda x, sizes: not x.size or x.max() < sizes.get("c", MOST))


def sparse(rows: str, columns: str, least: Any = -LARGEST) -> Check:
    """A sparse array of moderate numbers; its indices were looked at when it was made."""

    def check(value: Any, sizes: Sizes) -> None:
        if not sp.issparse(value) or value.format not in ("csr", "csc"):
            raise Misfit("must be a sparse array")
        for letter, size in zip((rows, columns), value.shape, strict=True):
            same(letter, size, sizes)
        if value.dtype.kind != "f" or not ((value.data >= least) & (value.data <= LARGEST)).all():
            raise Misfit("must hold moderate numbers")

    return check


def whole(least: int = 0, most: int = MOST) -> Check:
    """A whole number within bounds."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise Misfit(f"must be a whole number, not {shown(value)}")
        if not least <= value <= most:
            raise Misfit(f"must be a whole number from {least} to {most}")

    return check


def size_of(letter: str, least: int = 1) -> Check:
    """A whole number that says how many there are of something."""
    check_whole = whole(least)

    def check(value: Any, sizes: Sizes) -> None:
        check_whole(value, sizes)
        same(letter, int(value), sizes)

    return check


def number(least: float = -math.inf, *, finite: bool = True, above: bool = False) -> Check:
    """A number of at least, or above, a bound."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, _NUMBERS):
            raise Misfit(f"must be a number, not {shown(value)}")
        size = float(value)
        if finite and not (math.isfinite(size) and (size > least or (size == least and not above))):
            raise Misfit("must be a finite number within its bounds")

    return check


ABOVE = number(0, above=True)


def flag(value: Any, sizes: Sizes) -> None:
    """Yes or no."""
    if not isinstance(value, bool | np.bool_):
        raise Misfit(f"must be True or False, not {shown(value)}")


def text(value: Any, sizes: Sizes) -> None:
    """Text that any file can hold."""
    if not isinstance(value, str):
        raise Misfit(f"must be text, not {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Misfit("has a character that cannot be saved") from None


def anything(value: Any, sizes: Sizes) -> None:
    """Whatever it is, nothing is made of it."""


def one_of(*words: str) -> Check:
    """One of a few words."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, str) or value not in words:
            raise Misfit(f"must be one of {', '.join(map(repr, words))}")

    return check


def maybe(check: Check) -> Check:
    """The same, or None."""

    def or_none(value: Any, sizes: Sizes) -> None:
        if value is not None:
            check(value, sizes)

    return or_none


def either(*checks: Check) -> Check:
    """The first that fits; the last says what is wrong."""

    def any_of(value: Any, sizes: Sizes) -> None:
        for check in checks[:-1]:
            trial = dict(sizes)
            try:
                check(value, trial)
            except Misfit:
                continue
            sizes.update(trial)
            return
        checks[-1](value, sizes)

    return any_of


def each(check: Check, kinds: tuple[type, ...] = (list, tuple), letter: str = "") -> Check:
    """A list of such things, as many as the letter says."""

    def check_all(value: Any, sizes: Sizes) -> None:
        if type(value) not in kinds:
            raise Misfit(f"must be a list, not {shown(value)}")
        if letter:
            same(letter, len(value), sizes)
        for item in value:
            check(item, sizes)

    return check_all


def by_name(check: Check) -> Check:
    """A mapping from text to such things."""

    def check_all(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise Misfit(f"must be a mapping, not {shown(value)}")
        for name, item in value.items():
            text(name, sizes)
            check(item, sizes)

    return check_all


def asked(check: Callable[..., Any], *before: Any, after: tuple[Any, ...] = ()) -> Check:
    """What a check of arguments lets through."""

    def as_argument(value: Any, sizes: Sizes) -> None:
        try:
            check(*before, value, *after)
        except (ValueError, TypeError) as error:
            raise Misfit(f"is refused: {str(error).rstrip('.')}") from None

    return as_argument
