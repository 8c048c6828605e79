"""Checks of arguments: one sentence each, naming the argument and the remedy."""

from __future__ import annotations

import numbers
import re
import textwrap
from typing import Any

import numpy as np
import scipy.sparse as sp

from .numerics.matrix import Matrix

DEFAULT_NEIGHBORS = 15


def shown(value: Any) -> str:
    """A value as it fits into a sentence."""
    return textwrap.shorten(repr(value), 60, placeholder="...")


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


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
    """Where rows are worked on: "auto", "cpu", "cuda", a numbered "cuda:0", or torch's own."""
    if type(device).__module__ == "torch":
        device = str(device)
    if not isinstance(device, str) or not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise ValueError(
            f"device must be 'auto', 'cpu', 'cuda' or 'cuda:' with a number; got {shown(device)}."
        )
    return device


def check_weight(name: str, value: Any) -> float:
    """A finite number, zero or more."""
    if not _is_real(value) or not np.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0; got {shown(value)}.")
    return float(value)


def check_power(p: Any) -> float:
    """The power of the l2,p loss."""
    if not _is_real(p) or not 0 < p <= 2:
        raise ValueError(f"p must lie in (0, 2]; got {shown(p)}. Use p=2 for least squares.")
    return float(p)


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
    if not _is_real(lam) or not np.isfinite(lam) or lam <= 0:
        raise ValueError(f"lam must be 'auto' or a finite number above 0; got {shown(lam)}.")
    return float(lam)


def check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    if not _is_real(value) or not np.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0; got {shown(value)}.")
    return float(value)


def check_bandwidth(bandwidth: Any, word: str = "local") -> float | None:
    """A word (None) or a positive number."""
    if isinstance(bandwidth, str) and bandwidth == word:
        return None
    if not _is_real(bandwidth) or not np.isfinite(bandwidth) or bandwidth <= 0:
        raise ValueError(
            f"bandwidth must be {word!r} or a finite number above 0; got {shown(bandwidth)}."
        )
    return float(bandwidth)


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
    if not _is_real(max_time) or np.isnan(max_time) or max_time <= 0:
        raise ValueError(
            f"max_time must be a number of seconds above 0, or None; got {shown(max_time)}."
        )
    return float(max_time)


def check_clusters(n_clusters: Any, n: int) -> int | None:
    """A number of clusters, or None for "auto"."""
    return None if is_auto("n_clusters", n_clusters) else check_cluster_count(n_clusters, n)


def check_cluster_count(n_clusters: Any, n: int) -> int:
    """A number of clusters that n rows can have."""
    return check_count("n_clusters", n_clusters, 1, n, f"there are only {n} rows in X")


def check_scale(n_neighbors: Any, n: int) -> int | None:
    """A neighbourhood size, or None for "auto"."""
    if is_auto("n_neighbors", n_neighbors):
        return None
    if n_neighbors is None:
        raise ValueError("n_neighbors must be 'auto' or an integer of at least 1; got None.")
    return check_neighbors(n_neighbors, n)


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
    """'spectral', 'random', or one label a row that uses exactly c values."""
    if isinstance(init, str):
        return check_choice("init", init, ("spectral", "random"))
    if c is None:
        raise ValueError("init gives labels, so n_clusters cannot be 'auto'; pass their number.")
    try:
        labels = np.asarray(init)
    except ValueError:  # ragged
        labels = np.empty(0)
    if labels.shape != (n,):
        raise ValueError(
            f"init must be 'spectral', 'random' or one label for each of the {n} rows; "
            f"got {'an array of shape ' + str(labels.shape) if labels.ndim else repr(init)}."
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


def check_neighbour_graph(D: Matrix, n_neighbors: int) -> None:
    """A square sparse graph of distances, as KNeighborsTransformer makes it."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(
            f"X must be square when metric='precomputed'; got shape {D.shape}. Pass the "
            "neighbour graph that KNeighborsTransformer(mode='distance') returns for the rows."
        )
    check_distances(D)
    check_symmetric_where_known(D)
    row = np.repeat(np.arange(D.shape[0]), np.diff(D.indptr))
    stored = np.bincount(row[D.indices != row], minlength=D.shape[0])
    if stored.min() < n_neighbors:
        short = int(stored.argmin())
        raise ValueError(
            f"n_neighbors={n_neighbors} is too large: row {short} of the precomputed graph X holds "
            f"only {int(stored[short])} neighbours; lower n_neighbors or compute more neighbours."
        )


def check_distances(D: Matrix) -> None:
    """No negative entries: an affinity passed for a distance often shows up here."""
    if D.data.size and D.data.min() < 0:
        raise ValueError(
            "X holds negative distances, but metric='precomputed' takes a graph of distances; "
            "pass one made with KNeighborsTransformer(mode='distance')."
        )


def check_symmetric_where_known(D: Matrix) -> None:
    """Where both (i, j) and (j, i) are stored they must agree; one alone is fine."""
    stored = sp.csr_array((np.ones_like(D.data), D.indices, D.indptr), shape=D.shape)
    both = stored.multiply(stored.T)
    gap = abs(sp.csr_array(D).multiply(both) - sp.csr_array(D.T).multiply(both))
    if gap.nnz and gap.max() > 1e-6 * D.data.max():
        raise ValueError(
            "X is not symmetric: metric='precomputed' needs the same distance from i to j as from "
            "j to i wherever both are stored; symmetrise it, for example with X.maximum(X.T)."
        )


def check_affinity_matrix(A: Matrix) -> None:
    """A square, symmetric, non-negative matrix of affinities."""
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"X must be square when affinity='precomputed'; got shape {A.shape}. Pass the "
            "affinities between all rows, or features with another affinity."
        )
    check_non_negative(A)
    gap = abs(A - A.T)
    if gap.max() > 1e-6 * abs(A).max():
        raise ValueError(
            "X is not symmetric, which affinity='precomputed' needs; symmetrise it, for example "
            "with 0.5 * (X + X.T)."
        )


def check_non_negative(A: Matrix) -> None:
    """Affinities are zero or more."""
    if A.shape[0] and A.min() < 0:
        raise ValueError(
            "X holds negative affinities, but affinity='precomputed' takes values of at least 0; "
            "pass similarities such as a Gaussian kernel's."
        )
