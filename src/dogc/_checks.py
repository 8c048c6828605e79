"""Checks of arguments: one sentence each, naming the argument and the remedy."""

from __future__ import annotations

import math
import numbers
import re
from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp

WIDE = "wide"  # neighbourhoods that reach across the cuts that categories make
DEFAULT_NEIGHBORS = 15
# No weight may be larger, and none that must be above zero smaller than one over this; lengths in
# units of X may be as large and small as what X holds.
LARGEST, LONGEST = 1e30, 1e150
MOST_JOBS = 10_000


def shown(value: Any) -> str:
    """A value as it fits into a sentence."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no number of more than 4,300 digits
        text = f"a {type(value).__name__} of very many digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def _real(value: Any) -> float:
    """A number as Python has it; NaN for anything else, and for numbers that it cannot hold."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 300 digits
        return math.nan


def check_numbers(name: str, X: Any) -> None:
    """Say what no number can be made of; shapes and missing values are scikit-learn's to judge."""
    check_unmasked(name, X)
    for column, times in Counter(getattr(X, "columns", ())).items():
        if times > 1:
            raise ValueError(
                f"{name} has {times} columns named {shown(column)}; give each its own name."
            )
    kinds: Any = getattr(X, "dtypes", getattr(X, "dtype", None))
    kinds = np.atleast_1d(kinds)  # a Series has one
    if any(getattr(kind, "kind", "O") == "c" for kind in kinds):
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers; pass {name}.real and "
            f"{name}.imag as columns."
        )
    if sp.issparse(X) or all(getattr(kind, "kind", "O") in "biufc" for kind in kinds):
        return
    try:
        np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".").replace("\n", " ")
        raise type(error)(
            f"{name} must hold numbers, one for each row and column ({reason}); encode or drop "
            "the others."
        ) from None
    except OverflowError:
        raise ValueError(
            f"{name} holds a whole number that has no square in 64 bits; rescale {name}."
        ) from None


def check_unmasked(name: str, value: Any) -> Any:
    """Anything but an array with masked entries: NumPy would take what is below the mask."""
    if np.ma.is_masked(value):
        raise ValueError(
            f"{name} is an array with masked entries, whose values are unknown; fill them, for "
            f"example with {name}.filled(0), or drop their rows."
        )
    return value


def check_count(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """An integer within bounds."""
    if not _is_integer(value) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {shown(value)}.")
    if high is not None and value > high:
        raise ValueError(f"{name}={value} is too large: {why}; choose at most {high}.")
    return int(value)


def check_enough_rows(n: int) -> None:
    """Say that there are not two rows, as scikit-learn does."""
    if n < 2:
        raise ValueError(
            f"Found array with {n} sample(s) while a minimum of 2 is required; pass more rows."
        )


def check_device(device: Any) -> str:
    """The device that works on rows: "auto", "cpu", "cuda", a numbered "cuda:0", or torch's own."""
    if type(device).__module__ == "torch":
        device = str(device)
    if not isinstance(device, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise ValueError(
            f"device must be 'auto', 'cpu', 'cuda' or 'cuda:' with a number; got {shown(device)}."
        )
    return device


def check_weight(name: str, value: Any) -> float:
    """A finite number, zero or more."""
    weight = _real(value)
    if not 0 <= weight < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0; got {shown(value)}.")
    return _not_huge(name, weight, LARGEST)


def _not_huge(name: str, value: float, largest: float) -> float:
    """A number whose products with others are numbers."""
    if value > largest:
        raise ValueError(f"{name}={value:g} is too large; choose at most {largest:g}.")
    return value


LEAST_POWER = 1e-6  # weights of rows, p/2 times a power of their distance, stay numbers


def check_power(p: Any) -> float:
    """The power of the l2,p loss."""
    power = _real(p)
    if not LEAST_POWER <= power <= 2:
        raise ValueError(
            f"p must lie in [{LEAST_POWER:g}, 2]; got {shown(p)}. Use p=2 for least squares."
        )
    return power


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {words}; got {shown(value)}.")
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {shown(value)}.")
    return bool(value)


def check_jobs(n_jobs: Any) -> int | None:
    """None or a number of threads, negative to count from the number of processors."""
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {shown(n_jobs)}.")
    if n_jobs is not None and abs(n_jobs) > MOST_JOBS:
        raise ValueError(f"n_jobs={shown(n_jobs)} is too large; choose at most {MOST_JOBS}.")
    return n_jobs


def check_verbose(verbose: Any) -> None:
    """A flag or a number."""
    if not isinstance(verbose, bool | np.bool_ | numbers.Integral) or verbose < 0:
        raise ValueError(
            f"verbose must be an integer of at least 0, or a flag; got {shown(verbose)}."
        )


def check_callback(callback: Any) -> None:
    """None or something to call."""
    if callback is not None and not callable(callback):
        raise ValueError(
            f"callback must be None or a function of one record; got {shown(callback)}."
        )


def check_lam(lam: Any) -> float | None:
    """'auto' (None) or a positive number."""
    if isinstance(lam, str) and lam == "auto":
        return None
    return check_positive("lam", lam, "'auto' or ")


def check_positive(name: str, value: Any, word: str = "", largest: float = LARGEST) -> float:
    """A finite number above zero; ``word`` says what else it could have been."""
    number = _real(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be {word}a finite number above 0; got {shown(value)}.")
    if number < 1.0 / largest:
        raise ValueError(f"{name}={number:g} is too small; choose at least {1.0 / largest:g}.")
    return _not_huge(name, number, largest)


def check_bandwidth(bandwidth: Any, word: str = "local") -> float | None:
    """A word (None) or a positive number."""
    if isinstance(bandwidth, str) and bandwidth == word:
        return None
    return check_positive("bandwidth", bandwidth, f"{word!r} or ", LONGEST)


def check_starts(n_init: Any) -> int | None:
    """'auto' (None) or a number of starts."""
    if isinstance(n_init, str) and n_init == "auto":
        return None
    if isinstance(n_init, str):
        raise ValueError(f"n_init must be 'auto' or an integer of at least 1; got {shown(n_init)}.")
    return check_count("n_init", n_init, 1)


def check_neighbors(n_neighbors: Any, n: int) -> int:
    """The neighbourhood size, resolved."""
    if n_neighbors is None:
        return min(DEFAULT_NEIGHBORS, n - 1)
    why = f"a row has only {n - 1} other rows to be joined with"
    return check_count("n_neighbors", n_neighbors, 1, n - 1, why)


def check_algorithm(algorithm: Any, names: tuple[str, ...]) -> Any:
    """One of the names, or an object that searches neighbours."""
    if isinstance(algorithm, str) or not hasattr(algorithm, "fit"):
        listed = ", ".join(repr(name) for name in names)
        if algorithm not in names:
            raise ValueError(
                f"neighbors_algorithm must be one of {listed} or a transformer such as "
                f"KNeighborsTransformer(mode='distance'); got {shown(algorithm)}."
            )
    elif isinstance(algorithm, type) or not hasattr(algorithm, "transform"):
        raise ValueError(
            "neighbors_algorithm must be an object with fit and transform, such as "
            f"KNeighborsTransformer(mode='distance'); got {shown(algorithm)}."
        )
    return algorithm


def check_time(max_time: Any) -> float | None:
    """None, or seconds."""
    if max_time is None:
        return None
    seconds = _real(max_time)
    if not seconds > 0:
        raise ValueError(
            f"max_time must be a number of seconds above 0, or None; got {shown(max_time)}."
        )
    return seconds


def check_clusters(n_clusters: Any, n: int) -> int | None:
    """A number of clusters, or None for "auto"."""
    return None if is_auto("n_clusters", n_clusters) else check_cluster_count(n_clusters, n)


def check_cluster_count(n_clusters: Any, n: int) -> int:
    """A number of clusters that n rows can have."""
    return check_count("n_clusters", n_clusters, 1, n, f"there are only {n} rows in X")


def check_scale(n_neighbors: Any, n: int, metric: str = "euclidean") -> int | None:
    """A neighbourhood size, or None for "auto" and "wide"."""
    if isinstance(n_neighbors, str) and n_neighbors == WIDE:
        if metric == "precomputed":
            raise ValueError(
                "n_neighbors='wide' needs features, and metric is 'precomputed'; pass a number of "
                "neighbours."
            )
        return None
    if n_neighbors is None or (isinstance(n_neighbors, str) and n_neighbors != "auto"):
        raise ValueError(
            f"n_neighbors must be 'auto', 'wide' or an integer of at least 1; got "
            f"{shown(n_neighbors)}."
        )
    return None if isinstance(n_neighbors, str) else check_neighbors(n_neighbors, n)


def check_representatives(p: Any, c: int | None, metric: str) -> int | str | None:
    """A number of representatives, "auto", or None for every row."""
    if p is None or is_auto("n_representatives", p):
        return None if metric == "precomputed" else p
    if metric == "precomputed":
        raise ValueError(
            "n_representatives needs features, and a precomputed graph gives none; leave it out."
        )
    check_count("n_representatives", p, 2)
    if c is not None and p < c:
        raise ValueError(
            f"n_representatives={p} is too small for n_clusters={c}: every cluster needs one; "
            f"choose {8 * c} or more."
        )
    return int(p)


def is_auto(name: str, value: Any) -> bool:
    """Whether a number is left open; any other word is an error."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name} must be 'auto' or an integer; got {shown(value)}.")
    return isinstance(value, str)


def check_smallest(min_cluster_size: Any) -> int | None:
    """The least size of a cluster, or None for "auto"."""
    if is_auto("min_cluster_size", min_cluster_size):
        return None
    return check_count("min_cluster_size", min_cluster_size, 1)


def check_room(min_cluster_size: int | None, total: float, c: int) -> None:
    """Whether rows of this total weight can form c clusters of the least size."""
    if min_cluster_size is not None and min_cluster_size * c > total:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is too large: {c} such clusters need more than "
            f"the {total:g} rows that there are (or their total weight); choose at most "
            f"{max(int(total // c), 1)}."
        )


def check_outlier_label(label: Any) -> int | None:
    """None or a negative number, which no cluster has."""
    if label is None:
        return None
    if not _is_integer(label) or label >= 0:
        raise ValueError(
            f"outlier_label must be None or an integer below 0, such as -1; got {shown(label)}."
        )
    return int(label)


def check_components(n_components: Any, d: int, metric: str) -> int | str | None:
    """The dimension m of the learned subspace, "auto", or None for no projection."""
    if isinstance(n_components, str) and n_components == "auto":
        return "auto" if metric in ("euclidean", "cosine") else None
    if n_components is None:
        return None
    if metric not in ("euclidean", "cosine"):
        raise ValueError(
            f"n_components needs features to project and their Euclidean distances, which "
            f"metric={metric!r} does not give; set n_components=None."
        )
    if not _is_integer(n_components):
        raise ValueError(
            f"n_components must be 'auto', None or an integer; got {shown(n_components)}."
        )
    return check_count("n_components", n_components, 1, d, f"X has only {d} features")


def check_init(init: Any, n: int, c: int | None) -> str | np.ndarray:
    """'auto', 'spectral', 'modularity', 'random', or one label a row that uses exactly c values."""
    if isinstance(init, str):
        return check_choice("init", init, ("auto", "spectral", "modularity", "random"))
    if c is None:
        raise ValueError("init gives labels, so n_clusters cannot be 'auto'; pass their number.")
    try:
        labels = np.asarray(check_unmasked("init", init))
    except ValueError:  # ragged
        labels = np.empty(0)
    if labels.shape != (n,):
        given = f"an array of shape {labels.shape}" if labels.ndim else repr(init)
        raise ValueError(
            "init must be 'auto', 'spectral', 'modularity', 'random' or one label for each of the "
            f"{n} rows; got {given}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("init has labels that are NaN or infinite; give each row a finite one.")
    try:
        values, labels = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "init mixes labels that cannot be compared, such as numbers and text; use one kind."
        ) from None
    if len(values) != c:
        raise ValueError(
            f"init has {len(values)} distinct labels but n_clusters={c}; make the two agree."
        )
    return labels.astype(np.int64)
