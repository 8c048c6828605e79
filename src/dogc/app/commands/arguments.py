"""What was typed, checked and understood; and sentences of the library in the words that are typed.

All of this is done before a file is read, but for columns, which are looked up in the table.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import comparison
from ..._words import shown
from ...encoding.columns import NOTHING, OTHER
from ...encoding.errors import TableError, listed, no_such_column
from ..files.opening import split_array

# Looks up the values of a column; None where they cannot be listed.
ValuesOf = Callable[[str], Sequence[str] | None]
LARGEST_SEED = 2**32 - 1
OUTLIER = -1
METRICS = ("euclidean", "cosine", "manhattan")
# What the options are called in Python, and here.
TYPED = {"n_clusters": "--clusters", "n_neighbors": "--neighbors", "max_time": "--max-time",
         "geometry=": "--geometry ", "geometry must": "--geometry must",
         "metric=": "--metric ", "n_components": "--components",
         "n_representatives": "--representatives", "methods holds": "--method is",
         "rows in X": "rows"}  # fmt: skip
# Advice that cannot be typed, and what is said in its place.
UNTYPED = {
    r", or pass a graph with more edges": "",
    r"; [^;]*\b(a graph with more edges|bandwidth|n_landmarks)\b[^;]*(?=\.$)": "",
    r" or n_prototypes\b": "",
    r"\bmax_iter was reached": "the limit of iterations was reached",
    r"; raise (max_iter|n_prototypes)\b[^;]*(?=\.$)": "",
    r"\bmax_iter=(\d+)": r"\1 iterations",
    r"\bof labels_": "of the labels",
}
# What ``dogc explore``, which tries several numbers, says of the number of clusters.
EXPLORED = {"exactly n_clusters components": "as many components as clusters",
            "components than n_clusters": "components than clusters",
            "n_clusters=": "", "n_clusters is wrong": "their number is wrong",
            "n_clusters": "number of clusters"}  # fmt: skip
# The settings that not all methods have: as they are typed, and as a method has them.
SETTINGS = {"--metric": "metric", "--components": "n_components", "--outliers": "outlier_label"}


def as_typed(sentence: str, command: str = "cluster") -> str:
    """A sentence of the library with the options named as they are typed.

    What stands in quotes belongs to the user, such as the name of a column: it is never changed.
    A name may hold quotes too, so all between the first and the last of them is left alone.

    Examples
    --------
    >>> as_typed("n_clusters must be at most 3; got 'n_clusters'.")
    "--clusters must be at most 3; got 'n_clusters'."
    >>> as_typed("try another n_clusters; raise max_iter.", "explore")
    'try another number of clusters.'
    """
    for words in ("; neighbors_algorithm='brute' finds all of them but is slower",
                  *[" ('auto' proposes one)"] * (command != "cluster")):  # fmt: skip
        sentence = sentence.replace(words, "")
    first, last = sentence.find("'"), sentence.rfind("'")
    if first < 0:
        return _renamed(sentence, command)
    front, back = sentence[:first], sentence[last:]
    return _renamed(front, command) + sentence[first:last] + _renamed(back, command)


def _renamed(text: str, command: str) -> str:
    for pattern, words in UNTYPED.items():
        text = re.sub(pattern, words, text)
    for name, typed in [*(EXPLORED if command == "explore" else {}).items(), *TYPED.items()]:
        text = re.sub(rf"(?<![\w.]){re.escape(name)}", typed, text)  # no part of a name
    return text


def count(option: str, given: str) -> int | str:
    """A whole number above 0, or auto."""
    if given.strip().lower() == "auto":
        return "auto"
    number = _whole(given)
    if number < 1:
        raise TableError(f"{option} is {given!r}; pass a whole number above 0, or auto.")
    return number


def count_or_none(option: str, given: str, least: int, none: str) -> int | str | None:
    """A whole number of at least this, auto, or None for none, which means something."""
    if (word := given.strip().lower()) in ("auto", "none"):
        return None if word == "none" else "auto"
    number = _whole(given)
    if number < least:
        raise TableError(
            f"{option} is {given!r}; pass a whole number above {least - 1}, auto, or none for "
            f"{none}."
        )
    return number


def one_count(given: str) -> int:
    """A whole number above 0; a comparison has no other."""
    if given.strip().lower() == "auto":
        raise TableError(
            "--clusters is auto, but all methods are compared at the same number of clusters; "
            "pass a number; dogc cluster --clusters auto proposes one."
        )
    number = _whole(given)
    if number < 1:
        raise TableError(f"--clusters is {given!r}; pass a whole number above 0.")
    return number


def _whole(given: str) -> int:
    try:
        return int(given)
    except ValueError:
        return 0


def with_array(file: str, array: str | None) -> str:
    """A file with the name of the array or the sheet to read behind it."""
    if array is None:
        return file
    if split_array(f"{file}:{array}")[1] is None:
        raise TableError(f"--array is for a .npz or an .xlsx file, which {shown(file)} is not.")
    return f"{file}:{array}"


def check_seed(seed: int) -> int:
    """A seed that every method takes."""
    if not 0 <= seed <= LARGEST_SEED:
        raise TableError(f"--seed is {seed}; pass a whole number from 0 to {LARGEST_SEED}.")
    return seed


def is_scaled(no_scale: bool, metric: str) -> bool:
    """Whether columns are centred and scaled: not for angles, which are seen from the origin."""
    return not no_scale and metric != "cosine"


def settings_of(
    neighbors: str = "auto",
    geometry: str = "auto",
    metric: str = "euclidean",
    components: str = "auto",
    representatives: str = "auto",
    outliers: bool = False,
) -> dict[str, Any]:
    """The settings of a method, by the names it has for them; those left alone are absent."""
    if metric not in METRICS:
        raise TableError(f"--metric is {metric!r}; choose from {', '.join(METRICS)}.")
    given = {
        "n_neighbors": count("--neighbors", neighbors),
        "geometry": geometry,
        "metric": metric,
        "n_components": count_or_none("--components", components, 1, "no projection"),
        "n_representatives": count_or_none(
            "--representatives", representatives, 2, "a graph of all rows"
        ),
        "outlier_label": OUTLIER if outliers else "auto",
    }
    return {name: value for name, value in given.items() if value not in ("auto", "euclidean")}


def check_settings(method: str, chosen: Mapping[str, Any]) -> None:
    """Refuse a method that is unknown, or that has no such setting."""
    has = comparison.named_estimator(method, 2, {}).get_params(deep=False)
    for option, name in SETTINGS.items():
        if name in chosen and name not in has:
            raise TableError(
                f"--method {method} has no {option}; leave it out, or choose --method dogc-os."
            )


def left_out(
    names: Sequence[str],
    columns: Sequence[str],
    drop: Sequence[str],
    label: str | None,
    values: ValuesOf = lambda name: None,
) -> tuple[str, ...]:
    """The columns of a table that are not used: those dropped, and all but the chosen ones.

    ``values`` looks up the values of a column, where one is named by a value.

    Examples
    --------
    >>> left_out(["a", "b", "c,d"], ["a,b", "c,d"], ["a=yes"], None)
    ('a',)
    >>> left_out(["a", "b", "y"], ["a"], [], "y")
    ('b',)
    """
    dropped = [_column("--drop", name, names, values) for name in drop]
    if columns:
        parts = [part for given in columns for part in _parts(given, names)]
        used = {_column("--columns", part, names, values) for part in parts}
        dropped += [name for name in names if name not in used and name != label]
    return tuple(dict.fromkeys(dropped))


def _parts(given: str, names: Sequence[str]) -> list[str]:
    """One column that has commas in its name, or several with commas between."""
    if given in names:
        return [given]
    return [part.strip() for part in given.split(",") if part.strip()]


def _column(option: str, given: str, names: Sequence[str], values: ValuesOf) -> str:
    """A column by its name, or by one of its values as reports name it: city=Rome."""
    if given in names:
        return given
    name, value = _named_by_value(given, names)
    known = values(name)
    if known is None or value in (*known, OTHER, NOTHING):
        return name
    close = difflib.get_close_matches(value[:100], known[:1000], 1, 0.6)
    meant = f" (did you mean '{shown(close[0])}'?)" if close else ""
    raise TableError(
        f"{option} is '{shown(given)}', but column '{shown(name)}' has no value "
        f"'{shown(value)}'{meant}; its values are {listed(known)}; {option} {shown(name)} names "
        "the column without one."
    )


def _named_by_value(given: str, names: Sequence[str]) -> tuple[str, str]:
    """The column and the value of what was typed as city=Rome; names may hold such signs too."""
    places = [place for place, letter in enumerate(given) if letter == "="]
    for end in reversed(places):
        for name in (given[:end], given[:end].rstrip()):
            if name in names:
                return name, given[end + 1 :].strip()
    raise no_such_column(given, names)


def check_weights(weights: Mapping[str, float], names: Sequence[str]) -> None:
    """Refuse the weight of a single value: only columns have one."""
    for given, weight in weights.items():
        if given not in names:
            name, value = _named_by_value(given, names)
            raise TableError(
                f"--weight names '{shown(value)}' of column '{shown(name)}', but only a whole "
                f"column has a weight; write --weight '{shown(name)}={weight:g}'."
            )


def weights_of(given: Sequence[str]) -> dict[str, float]:
    """How much columns count, from what was typed: COLUMN=NUMBER."""
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise TableError(
                f"--weight is {text!r}; pass a column and a number, such as --weight age=0.5."
            )
    return found
