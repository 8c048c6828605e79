"""Checks of arguments: one sentence each, naming the argument and the remedy."""

from __future__ import annotations

import math
import numbers
import re
from typing import Any

import numpy as np

from . import _words

WIDE = "wide"  # neighbourhoods that reach across the cuts that categories make
DEFAULT_NEIGHBORS = 15
# No weight may be larger, and none that must be above zero smaller than one over this; lengths in
# units of X may be as large and small as what X holds.
LARGEST, LONGEST = 1e30, 1e150
MOST_JOBS = 10_000


class ParameterError(ValueError):
    """A parameter that cannot be used; its name and its fault are told apart for who asks."""

    def __init__(self, name: str, fault: str):
        """Keep both; the message is the name, directly followed by the fault."""
        super().__init__(name, fault)
        self.name, self.fault = name, fault

    def __str__(self) -> str:
        return self.name + self.fault


def shown(value: Any) -> str:
    """A value as it fits into a sentence."""
    return _words.shown(" ".join(repr(value).split()))


def check_unmasked(name: str, value: Any) -> Any:
    """Anything but an array with masked entries: NumPy would take what is below the mask."""
    if np.ma.is_masked(value):
        raise ValueError(
            f"{name} is an array with masked entries, whose values are unknown; fill them, for "
            f"example with {name}.filled(0), or drop their rows."
        )
    return value


def _is_word(value: Any, words: tuple[str | None, ...]) -> bool:
    return (value is None or isinstance(value, str)) and value in words


def _or(words: tuple[str | None, ...]) -> str:
    """The words that a number may be instead, as a sentence begins."""
    return f"{', '.join(map(repr, words))} or " if words else ""


def check_count(
    name: str,
    value: Any,
    low: int = 1,
    high: int | None = None,
    why: str = "",
    words: tuple[str | None, ...] = (),
) -> Any:
    """An integer within bounds, or None for one of the words."""
    if _is_word(value, words):
        return None
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not whole or value < low:
        must = f"{_or(words)}an integer of at least {low}"
        raise ParameterError(name, f" must be {must}; got {shown(value)}.")
    if high is not None and value > high:
        because = f": {why}" if why else ""
        raise ParameterError(name, f"={shown(value)} is too large{because}; choose at most {high}.")
    return int(value)


def check_weight(
    name: str,
    value: Any,
    least: float = 0.0,
    largest: float = LARGEST,
    words: tuple[str | None, ...] = (),
) -> Any:
    """A finite number within bounds, or None for one of the words."""
    if _is_word(value, words):
        return None
    real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not real or not 0 <= value < math.inf or (least and not value):
        must = f"{_or(words)}a finite number {'above 0' if least else 'of at least 0'}"
        raise ParameterError(name, f" must be {must}; got {shown(value)}.")
    if value < least:
        raise ParameterError(
            name, f"={_words.shown(value)} is too small; choose at least {least:g}."
        )
    if value > largest:  # products with others are to be numbers
        raise ParameterError(
            name, f"={_words.shown(value)} is too large; choose at most {largest:g}."
        )
    return float(value)


def check_positive(name: str, value: Any, *words: str | None, largest: float = LARGEST) -> Any:
    """A finite number above zero, or None for one of the words."""
    return check_weight(name, value, 1.0 / largest, largest, words)


def check_device(device: Any) -> str:
    """The device that works on rows: "auto", "cpu", "cuda", a numbered "cuda:0", or torch's own."""
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", str(device)):
        raise ValueError(
            f"device must be 'auto', 'cpu', 'cuda' or 'cuda:' with a number; got {shown(device)}."
        )
    return str(device)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(name, f" must be one of {words}; got {shown(value)}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(name, f" must be True or False; got {shown(value)}.")
    return bool(value)


def check_callback(callback: Any) -> None:
    """None or something to call."""
    if callback is not None and not callable(callback):
        raise ValueError(
            f"callback must be None or a function of one record; got {shown(callback)}."
        )


def check_jobs(n_jobs: Any) -> int | None:
    """None or a number of threads, negative to count from the number of processors."""
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {shown(n_jobs)}.")
    return check_count("n_jobs", n_jobs, -MOST_JOBS, MOST_JOBS, words=(None,))


def check_verbose(verbose: Any) -> None:
    """A flag or a number."""
    check_count("verbose", int(verbose) if isinstance(verbose, bool | np.bool_) else verbose, 0)


def check_neighbors(n_neighbors: Any, n: int, *words: str) -> Any:
    """The neighbourhood size, or None for one of the words."""
    if n_neighbors is None and not words:
        return min(DEFAULT_NEIGHBORS, n - 1)
    why = f"a row has only {n - 1} other rows to be joined with"
    return check_count("n_neighbors", n_neighbors, 1, n - 1, why, words)


def check_algorithm(algorithm: Any, names: tuple[str, ...]) -> Any:
    """One of the names, or an object that searches neighbours."""
    searches = hasattr(algorithm, "fit") and hasattr(algorithm, "transform")
    if not _is_word(algorithm, names) and (isinstance(algorithm, type) or not searches):
        raise ValueError(
            f"neighbors_algorithm must be one of {', '.join(map(repr, names))} or an object with "
            "fit and transform, such as KNeighborsTransformer(mode='distance'); got "
            f"{shown(algorithm)}."
        )
    return algorithm


def check_cluster_count(n_clusters: Any, n: int, *words: str) -> Any:
    """A number of clusters that n rows can have, or None for one of the words."""
    return check_count("n_clusters", n_clusters, 1, n, f"there are only {n} rows in X", words)


def check_representatives(p: Any, c: int | None, possible: bool = True) -> int | str | None:
    """A number of representatives, "auto", or None for every row."""
    number = check_count("n_representatives", p, 2, words=("auto", None))
    if number is None:
        return p if possible else None
    if not possible:
        raise ValueError(
            "n_representatives needs a graph of neighbours that is made of features; leave it out, "
            "or set it to None."
        )
    return check_enough("n_representatives", number, c)


def check_enough(name: str, number: Any, c: int | None) -> Any:
    """A number of points of which every cluster needs one, or None."""
    if number is not None and c is not None and number < c:
        raise ParameterError(
            name,
            f"={number} is too small for n_clusters={c}: every cluster needs one; choose {8 * c} "
            "or more.",
        )
    return number


def check_outlier_label(label: Any) -> int | None:
    """None or a negative number, which no cluster has."""
    if label is not None and (not isinstance(label, numbers.Integral) or int(label) >= 0):
        raise ValueError(
            f"outlier_label must be None or an integer below 0, such as -1; got {shown(label)}."
        )
    return None if label is None else int(label)


def check_components(n_components: Any, d: int, metric: str) -> int | str | None:
    """The dimension m of the learned subspace, "auto", or None for no projection."""
    words, why = ("auto", None), f"X has only {d} features"
    m = check_count("n_components", n_components, 1, d, why, words)
    if metric in ("euclidean", "cosine"):
        return n_components if m is None else m
    if m is not None:
        raise ParameterError(
            "n_components",
            f" needs features to project and their Euclidean distances, which metric={metric!r} "
            "does not give; set n_components=None.",
        )
    return None


def check_room(min_cluster_size: int | None, total: float, c: int) -> None:
    """Whether rows of this total weight can form c clusters of the least size."""
    if min_cluster_size is not None and min_cluster_size * c > total:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is too large: {c} such clusters need more than "
            f"the {total:g} rows that there are (or their total weight); choose at most "
            f"{max(int(total // c), 1)}."
        )


def check_init(init: Any, n: int, c: int | None) -> str | np.ndarray:
    """'auto', 'spectral', 'modularity', 'random', or one label a row that uses exactly c values."""
    if isinstance(init, str):
        return check_choice("init", init, ("auto", "spectral", "modularity", "random"))
    if c is None:
        raise ValueError("init gives labels, so n_clusters cannot be 'auto'; pass their number.")
    labels = np.asarray(check_unmasked("init", init))
    if labels.shape != (n,):
        given = f"an array of shape {labels.shape}" if labels.ndim else shown(init)
        raise ValueError(
            "init must be 'auto', 'spectral', 'modularity', 'random' or one label for each of the "
            f"{n} rows; got {given}."
        )
    values, labels = np.unique(labels, return_inverse=True)
    if len(values) != c:
        raise ValueError(
            f"init has {len(values)} distinct labels but n_clusters={c}; make the two agree."
        )
    return labels.astype(np.int64)
