"""Options as they were typed, checked; and the options of parameters that the library names.

All of this is done before a file is read, but for columns, which are looked up in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ... import comparison
from ..._words import shown
from ...encoding import MixedEncoder, TableError
from ...encoding.errors import no_such_column
from ..files.opening import matching, split_array
from .outputs import Output

LARGEST_SEED = 2**32 - 1
METRICS = ("euclidean", "cosine", "manhattan")
# The options of parameters, where sentences of the library name these.
OPTIONS = {"n_clusters": "--clusters", "n_neighbors": "--neighbors",
           "n_components": "--components", "n_representatives": "--representatives",
           "max_time": "--max-time"}  # fmt: skip
# The settings that not all methods have: as they are typed, and as a method has them.
SETTINGS = {"--metric": "metric", "--components": "n_components", "--outliers": "outlier_label"}


class TableOptions(NamedTuple):
    """The options of ``cluster``, ``compare`` and ``explore``, as far as a command has them."""

    file: str
    out: Output
    encoder: MixedEncoder  # of all columns but those in drop
    columns: Sequence[str]  # all, if empty
    seed: int
    method: str
    settings: dict[str, Any]  # of the method, those that were given
    show: Sequence[str]  # columns that are shown and not used
    max_time: float | None
    flat: bool

    def encoder_of(self, names: Sequence[str]) -> MixedEncoder:
        """The encoder of a table with these columns."""
        drop = (*self.encoder.drop, *self.show)
        drop = left_out(names, self.columns, drop, self.encoder.label_column)
        return self.encoder.set_params(drop=drop)

    def parameters(self, progress: bool) -> dict[str, Any]:
        """Of the method, as far as it has them."""
        return {"max_time": self.max_time, "n_jobs": -1, "verbose": int(progress),
                "random_state": self.seed, **self.settings}  # fmt: skip


def table_options(given: Mapping[str, Any]) -> TableOptions:
    """The options of a command by their names, checked."""
    if not 0 <= (seed := given["seed"]) <= LARGEST_SEED:
        raise TableError(f"--seed is {seed}; pass a whole number from 0 to {LARGEST_SEED}.")
    encoder = MixedEncoder(
        scale=scale_of(given["scale"], given.get("metric")),
        drop=tuple(given["drop"] or ()),
        label_column=given["label_column"],
        weights=weights_of(given["weight"] or ()) or "auto",
        keep=tuple(given["keep"] or ()),
    )
    method, settings = given.get("method", ""), settings_of(given)
    if method:
        has = comparison.named_estimator(method, 2, {}).get_params(deep=False)
        if method.lower() in {name.lower() for name in comparison.OTHERS}:
            raise TableError(f"--method {method} is for dogc compare; see dogc compare --help.")
        for option, name in SETTINGS.items():
            if name in settings and name not in has:
                raise TableError(
                    f"--method {method} has no {option}; leave it out, or choose --method dogc-os."
                )
    matching(file := with_array(given["file"], given["array"]))
    return TableOptions(
        file,
        Output(given["out"], given["force"], given["raw_cells"]),
        encoder,
        given["columns"] or (),
        seed,
        method,
        settings,
        tuple(given.get("show") or ()),
        given.get("max_time"),
        given["flatten"],
    )


def scale_of(given: bool | None, metric: str | None) -> bool | str:
    """Whether columns are standardised; never for angles, which are seen from the origin."""
    if metric == "cosine":
        return False
    return "auto" if given is None else given


def with_options(sentence: str) -> str:
    """A sentence of the library with the options that set the parameters it names.

    Examples
    --------
    >>> with_options("raise n_neighbors, or wait.")
    'raise --neighbors, or wait.'
    """
    for name, option in OPTIONS.items():
        sentence = sentence.replace(name, option)
    return sentence


def count(option: str, given: str, *words: str, least: int = 1) -> Any:
    """A whole number of at least this or a word; "none" is None.

    Examples
    --------
    >>> count("--components", "5", "auto"), count("--components", "none", "auto", "none for all")
    (5, None)
    """
    word = given.strip().lower()
    if word in {each.split()[0] for each in words}:
        return None if word == "none" else word
    number = int(word) if word.isdecimal() and len(word) < 20 else least - 1
    if number < least:
        more = "".join(f", {'or ' * (each == words[-1])}{each}" for each in words)
        raise TableError(f"{option} is {given!r}; pass a whole number above {least - 1}{more}.")
    return number


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
    found = {
        "n_neighbors": count("--neighbors", given["neighbors"], "auto"),
        "geometry": given.get("geometry", "auto"),
        "metric": metric,
        "n_components": count("--components", given.get("components", "auto"), "auto",
                              "none for no projection"),
        "n_representatives": count("--representatives", given["representatives"], "auto",
                                   "none for a graph of all rows", least=2),
        "outlier_label": -1 if given.get("outliers") else "auto",
    }  # fmt: skip
    return {name: value for name, value in found.items() if value not in ("auto", "euclidean")}


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
            found[name] = float(number if name else "")
        except ValueError:
            raise TableError(
                f"--weight is {text!r}; pass a column and a number, such as --weight age=0.5."
            ) from None
    return found
