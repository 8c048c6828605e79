"""Options as they were typed, checked; and the options of parameters that the library names.

All of this is done before a file is read, but for columns, which are looked up in the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ... import comparison
from ..._checks import ParameterError
from ..._words import shown
from ...encoding import MixedEncoder, TableError
from ...encoding.errors import no_such_column
from ..files.opening import split_array
from ..files.reading import Table
from .outputs import Output

LARGEST_SEED = 2**32 - 1
METRICS = ("euclidean", "cosine", "manhattan")
# The options of parameters.
OPTIONS = {"n_clusters": "--clusters", "n_neighbors": "--neighbors", "geometry": "--geometry",
           "metric": "--metric", "n_components": "--components", "max_time": "--max-time",
           "n_representatives": "--representatives", "outlier_label": "--outliers"}  # fmt: skip
# The settings that not all methods have: as they are typed, and as a method has them.
SETTINGS = {"--metric": "metric", "--components": "n_components", "--outliers": "outlier_label"}


class Columns(NamedTuple):
    """The columns of a table that are used, and how."""

    label: str | None
    drop: Sequence[str]
    used: Sequence[str]
    keep: Sequence[str]
    weights: Mapping[str, float]
    scale: bool

    def encoder_of(self, table: Table) -> MixedEncoder:
        """The encoder of a table."""
        return MixedEncoder(
            scale=self.scale,
            drop=left_out(table.names, self.used, self.drop, self.label),
            label_column=self.label,
            weights=dict(self.weights) or "auto",
            keep=tuple(self.keep),
        )


class Asked(NamedTuple):
    """The options of ``cluster``, ``compare`` and ``explore``, as far as a command has them."""

    file: str
    clusters: int | str
    out: Output
    columns: Columns
    seed: int
    method: str
    settings: Mapping[str, Any]  # of the method, those that were given
    max_time: float | None

    def parameters(self, progress: bool) -> dict[str, Any]:
        """Of the method, as far as it has them."""
        return {"max_time": self.max_time, "n_jobs": -1, "verbose": int(progress),
                "random_state": self.seed, **self.settings}  # fmt: skip


def asked(given: Mapping[str, Any], clusters: int | str) -> Asked:
    """The options of a command by their names, checked."""
    several = {name: given[name] or () for name in ("drop", "columns", "keep", "weight")}
    if not 0 <= (seed := given["seed"]) <= LARGEST_SEED:
        raise TableError(f"--seed is {seed}; pass a whole number from 0 to {LARGEST_SEED}.")
    return Asked(
        with_array(given["file"], given["array"]),
        clusters,
        Output(given["out"], given["force"], given["raw_cells"]),
        Columns(
            given["label_column"],
            several["drop"],
            several["columns"],
            several["keep"],
            weights_of(several["weight"]),
            # Angles are seen from the origin.
            scale=not given["no_scale"] and given.get("metric") != "cosine",
        ),
        seed,
        given.get("method", ""),
        settings_of(given),
        given.get("max_time"),
    )


def with_options(sentence: str, command: str = "cluster") -> str:
    """A sentence of the library, and behind it the options that set the parameters it names.

    Examples
    --------
    >>> with_options("raise n_neighbors, or wait.")
    'raise n_neighbors, or wait (n_neighbors is --neighbors).'
    """
    options = OPTIONS | ({"n_clusters": "--from and --to"} if command == "explore" else {})
    words = set(re.findall(r"\w+", sentence))
    other = {name: option for name, option in options.items() if option != f"--{name}"}
    named = [f"{name} is {option}" for name, option in other.items() if name in words]
    return f"{sentence.rstrip('.')} ({', '.join(named)})." if named else sentence


def said_of(error: Exception) -> str:
    """The sentence of an error, its parameter by the name of the option."""
    if isinstance(error, ParameterError) and error.name in OPTIONS:
        return with_options(f"{OPTIONS[error.name]}{error.fault}")
    return with_options(" ".join(str(error).split()))


def count(option: str, given: str, least: int = 1, none: str = "", more: str = ", or auto") -> Any:
    """A whole number of at least this, auto, or None for none, where that means something."""
    if (word := given.strip().lower()) in ("auto", *["none"] * bool(none)):
        return None if word == "none" else "auto"
    try:
        number = int(given)
    except ValueError:
        number = least - 1
    if number < least:
        more = f", auto, or none for {none}" if none else more
        raise TableError(f"{option} is {given!r}; pass a whole number above {least - 1}{more}.")
    return number


def one_count(given: str) -> Any:
    """A whole number above 0; a comparison has no other."""
    if given.strip().lower() == "auto":
        raise TableError(
            "--clusters is auto, but all methods are compared at the same number of clusters; "
            "pass a number; dogc cluster --clusters auto proposes one."
        )
    return count("--clusters", given, more="")


def with_array(file: str, array: str | None) -> str:
    """A file with the name of the array or the sheet to read behind it."""
    if array is None:
        return file
    if split_array(f"{file}:{array}")[1] is None:
        raise TableError(f"--array is for a .npz or an .xlsx file, which {shown(file)} is not.")
    return f"{file}:{array}"


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a method, by the names it has for them; those left alone are absent."""
    if (metric := given.get("metric", "euclidean")) not in METRICS:
        raise TableError(f"--metric is {metric!r}; choose from {', '.join(METRICS)}.")
    components, representatives = given.get("components", "auto"), given["representatives"]
    found = {
        "n_neighbors": count("--neighbors", given["neighbors"]),
        "geometry": given.get("geometry", "auto"),
        "metric": metric,
        "n_components": count("--components", components, 1, "no projection"),
        "n_representatives": count("--representatives", representatives, 2, "a graph of all rows"),
        "outlier_label": -1 if given.get("outliers") else "auto",
    }
    return {name: value for name, value in found.items() if value not in ("auto", "euclidean")}


def check_settings(method: str, chosen: Mapping[str, Any]) -> None:
    """Refuse a method that is unknown, or that has no such setting."""
    has = comparison.named_estimator(method, 2, {}).get_params(deep=False)
    for option, name in SETTINGS.items():
        if name in chosen and name not in has:
            raise TableError(
                f"--method {method} has no {option}; leave it out, or choose --method dogc-os."
            )


def left_out(
    names: Sequence[str], columns: Sequence[str], drop: Sequence[str], label: str | None
) -> tuple[str, ...]:
    """The columns of a table that are not used: those dropped, and all but the chosen ones.

    Examples
    --------
    >>> left_out(["a", "b", "c,d"], ["a,b", "c,d"], ["a=yes"], None)
    ('a',)
    >>> left_out(["a", "b", "y"], ["a"], [], "y")
    ('b',)
    """
    dropped = [_column(name, names) for name in drop]
    if columns:
        # One column that has commas in its name, or several with commas between.
        lists = [[given] if given in names else given.split(",") for given in columns]
        parts = [part for found in lists for part in found if part.strip()]
        used = {_column(part if part in names else part.strip(), names) for part in parts}
        dropped += [name for name in names if name not in used and name != label]
    return tuple(dict.fromkeys(dropped))


def _column(given: str, names: Sequence[str]) -> str:
    """A column by its name, or by one of its values as reports name it: city=Rome."""
    ends = [len(given), *(place for place, letter in enumerate(given) if letter == "=")]
    found = [name for end in ends for name in (given[:end], given[:end].rstrip()) if name in names]
    if not found:
        raise no_such_column(given, names)
    return max(found, key=len)


def weights_of(given: Sequence[str]) -> dict[str, float]:
    """Weights of columns, from what was typed: COLUMN=NUMBER."""
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
