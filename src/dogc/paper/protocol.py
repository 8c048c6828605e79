"""What is run for each column of the tables: preprocessing, settings, seeds.

Three columns, never mixed. *Printed* is the paper's number. *Oracle* follows its protocol: a
grid of settings, random starts, the best by ground truth. *Honest* is what a user gets: the
defaults, nothing chosen by ground truth.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale, scale

from ..datasets import load_uci, make_multi_cluster, make_two_gaussians, make_two_moons

Setting = dict[str, Any]


def z_scored(name: str) -> np.ndarray:
    """Categories by first appearance, gaps imputed, mean 0 and deviation 1."""
    X = load_uci(name).data
    return scale(X[:, X.std(axis=0) > 0])


def unscaled(name: str) -> np.ndarray:
    """Categories by first appearance, gaps imputed, nothing else."""
    return load_uci(name).data


def one_hot(name: str) -> np.ndarray:
    """A column of 0 and 1 for each category; numbers imputed and scaled to [0, 1]."""
    X = load_uci(name, encoding="onehot").data
    return minmax_scale(X[:, X.std(axis=0) > 0])


PREPROCESSINGS: Mapping[str, Callable[[str], np.ndarray]] = {
    "z-score": z_scored,
    "unscaled": unscaled,
    "one-hot": one_hot,
}

# Synthetic data are named with their parameter and seed: "clusters36 0.05 3".
SYNTHETIC: Mapping[str, Callable[[float, int], tuple[np.ndarray, np.ndarray]]] = {
    "clusters36": lambda noise, seed: make_multi_cluster(noise=noise, random_state=seed),
    "moons": lambda noise, seed: make_two_moons(noise=noise, random_state=seed),
    "gaussians": lambda distance, seed: make_two_gaussians(distance=distance, random_state=seed),
}


@functools.lru_cache(maxsize=64)
def rows_and_classes(name: str, preprocessing: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of a data set by name; synthetic ones are taken as they are."""
    kind, *parameters = name.split()
    if kind in SYNTHETIC:
        return SYNTHETIC[kind](float(parameters[0]), int(parameters[1]))
    return PREPROCESSINGS[preprocessing](name), load_uci(name).target


# The paper's range for the parameters of all methods, and its settings of DOGC and DOGC-OS.
PAPER_RANGE = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)


def neighbourhoods(n: int) -> list[int]:
    """A tenth of the rows, which the paper recommends, and sizes around it."""
    sizes = {round(n / 10), round(n / 20), round(n / 5), 5, 10, 15, 20}
    return sorted(size for size in sizes if 2 <= size <= n - 2)


def _grid(**choices: Any) -> list[Setting]:
    names = list(choices)
    return [
        dict(zip(names, values, strict=True)) for values in itertools.product(*choices.values())
    ]


def oracle_settings(method: str, n: int, n_features: int) -> Iterator[Setting]:
    """The settings among which the oracle chooses, for data of this shape."""
    near = neighbourhoods(n)
    # Gaussian widths in units of sqrt(d), about the distance of z-scored rows, and self-tuning.
    typical = np.sqrt(n_features)
    kernel = ["local", *(float(width * typical) for width in (0.25, 0.5, 1.0, 2.0))]
    grids: dict[str, list[Setting]] = {
        "KM": [{}],
        "R-cut": _grid(affinity=["full"], bandwidth=kernel),
        "CLR0": _grid(affinity=["full"], bandwidth=kernel),
        "DKM": _grid(lam=list(PAPER_RANGE)),
        "LL": _grid(n_neighbors=near, ridge=[1e-2, 1e-1, 1.0]),
        "CLGR": _grid(n_neighbors=near, lam=list(PAPER_RANGE)),
        "SEC": _grid(n_neighbors=near, mu=list(PAPER_RANGE)),
        "CAN": _grid(n_neighbors=near),
        "PCAN": _grid(n_neighbors=near, n_components=_dimensions(n_features)),
    }
    for name in ("N-cut", "NMF", "SC"):
        grids[name] = grids["R-cut"]
    grids["CLR1"] = grids["CLR0"]
    shared = {"n_components": _dimensions(n_features), "xi": ["row", "mean"]}
    grids["DOGC"] = _grid(n_neighbors=near, alpha=[1e-4, 1e-2], **shared)
    grids["DOGC-OS"] = _grid(
        n_neighbors=sorted({*near} & {15, round(n / 10), round(n / 5)}),
        alpha=[1e-2, 1.0],
        beta=[10.0, 100.0],
        gamma=[1e-2, 1.0],
        p=[1.0],
        **shared,
    )
    # On a line the start decides almost everything, so little is varied beside the seeds.
    grids["DOGC-OS"] += _grid(
        n_neighbors=[k for k in (5, 15) if k in near],
        alpha=[1.0],
        beta=[100.0],
        gamma=[1e-2],
        p=[1.0],
        n_components=[1],
        xi=["row", "mean"],
    )
    for name in ("DOGC", "DOGC-OS", "CAN", "PCAN"):
        grids[name] = [{**_as_in_the_paper(name), **setting} for setting in grids[name]]
    grids["DOGC-I"] = grids["DOGC-II"] = grids["DOGC-OS"]
    yield {}  # the defaults are always among them
    yield from (setting for setting in grids[method] if setting)


def _as_in_the_paper(method: str) -> Setting:
    """What the grid does not vary.

    The paper counts every component as a cluster, however small; its code runs 10 iterations.
    """
    columns = {"geometry": "given"} if method.startswith("DOGC") else {"xi": "row"}
    return {"min_cluster_size": 1, "max_iter": 30, **columns}


def halves_settings(method: str, n: int, n_features: int) -> Iterator[Setting]:
    """The settings for fits on half of the rows; for the others every fourth of their grid."""
    if method != "DOGC-OS":
        yield from itertools.islice(oracle_settings(method, n, n_features), 0, None, 4)
        return
    yield {}
    yield from _grid(
        n_neighbors=sorted({5, max(2, round(n / 20)), 15}),
        alpha=[1e-3, 1e-2],
        beta=[1.0, 10.0],
        gamma=[1e-2],
        n_components=_dimensions(n_features),
        xi=["row", "mean"],
        geometry=["given"],
    )


def _dimensions(n_features: int) -> list[int | None]:
    return [None, *(m for m in (2, 5) if m < n_features)]


def seeded(method: str, setting: Setting, seed: int) -> Setting:
    """A setting with a random start as the paper has it, where the method has one."""
    if method in ("DOGC", "DOGC-OS", "DOGC-II"):
        return {**setting, "init": "random", "random_state": seed}
    if method in ("R-cut", "N-cut", "SC", "NMF", "SEC", "LL", "CLGR", "KM", "DKM"):
        return {**setting, "n_init": 1, "random_state": seed}
    return setting


def has_chance(method: str) -> bool:
    """Whether another seed can give another answer."""
    return seeded(method, {}, 0) != {}
