"""The runs behind each column of the tables: preprocessing, settings, seeds.

Three columns, never mixed. *Printed* is the paper's number. *Oracle* follows its protocol: many
settings, random starts, the best by ground truth. *Honest* is what a user gets: the defaults,
nothing chosen by ground truth.

The oracle of DOGC, DOGC-OS and the ablations draws settings from the paper's ranges, in the
paper's units (`eq:26`) and apart from that in the relative units of this library. The other methods
have few parameters: a grid is tried whole.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale, normalize, scale

from ..datasets import load_uci, make_multi_cluster, make_two_gaussians, make_two_moons

Setting = dict[str, Any]


PREPROCESSINGS = ("z-score", "unscaled", "one-hot", "unit rows")


def prepared(name: str, preprocessing: str) -> np.ndarray:
    """A UCI set as numbers, gaps imputed; categories by first appearance unless one-hot.

    "z-score": mean 0 and deviation 1. "one-hot": a column of 0 and 1 for each category, numbers
    scaled to [0, 1]. "unit rows": unscaled rows divided by their length.
    """
    X = load_uci(name, encoding="onehot" if preprocessing == "one-hot" else "ordinal").data
    if preprocessing in ("unscaled", "unit rows"):
        return X if preprocessing == "unscaled" else normalize(X)
    varying = X[:, X.std(axis=0) > 0]
    return scale(varying) if preprocessing == "z-score" else minmax_scale(varying)


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
    return prepared(name, preprocessing), load_uci(name).target


# The paper's range for the parameters of all methods.
PAPER_RANGE = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)
TEN = tuple(10.0**exponent for exponent in range(-6, 5))
POWERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
DRAWN = ("DOGC", "DOGC-OS", "DOGC-I", "DOGC-II")  # the methods with many parameters
UNITS = ("paper", "relative")

Space = dict[str, Sequence[Any]]  # parameter -> its values; "preprocessing" is one of them


def neighbourhoods(n: int) -> list[int]:
    """A tenth of the rows, which the paper recommends, and sizes around it."""
    shares = (round(n / part) for part in (5, 7, 10, 15, 20, 30))
    sizes = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 18, 20, 25, *shares}
    return sorted(size for size in sizes if 2 <= size <= n - 2)


def search_space(method: str, data: str, units: str) -> Space:
    """The grid of the oracle for DOGC and its kin.

    In the paper's units the penalties take every power of ten of its range and p every value of
    its figure. The paper does not say how many iterations it ran (its published code: 10), so
    that is searched too.
    """
    X, y = rows_and_classes(data, "z-score")
    dimensions = {m for m in (1, 2, 3, 4, 5, 6, int(y.max()) + 1) if m < X.shape[1]}
    space: Space = {
        "preprocessing": list(PREPROCESSINGS),
        "n_neighbors": neighbourhoods(len(X)),
        "n_components": [None, *sorted(dimensions)],
        "xi": ["row", "mean"],
        "max_iter": [5, 10, 30],
        "init": ["spectral", "random"],
        "alpha": TEN,
    }
    if method != "DOGC":
        space |= {"beta": TEN, "gamma": TEN, "p": POWERS}
    if units == "relative":  # one means: as strong as what it is measured against
        space |= {name: TEN[1:-1] for name in ("alpha", "beta", "gamma") if name in space}
    if method == "DOGC-I":  # its labels are found by k-means; the start does not matter
        del space["init"]
    return space


# What wider searches found (every k up to 40, 4,000 draws): the search begins with it too.
FOUND: Mapping[tuple[str, str, str], list[Setting]] = {
    ("glass", "DOGC", "paper"): [
        {"preprocessing": "unit rows", "n_neighbors": 12, "n_components": 5, "xi": "mean",
         "max_iter": 10, "init": "random", "alpha": 1e-3}
    ],
    ("glass", "DOGC-OS", "paper"): [
        {"preprocessing": "unit rows", "n_neighbors": 16, "n_components": 5, "xi": "mean",
         "max_iter": 2, "init": "random", "alpha": 1e-3, "beta": 1e-3, "gamma": 1e-6, "p": 2.0}
    ],
    ("ecoli", "DOGC-OS", "paper"): [
        {"preprocessing": "z-score", "n_neighbors": 11, "n_components": None, "xi": "mean",
         "max_iter": 30, "init": "random", "alpha": 1e-6, "beta": 1e-6, "gamma": 0.1, "p": 0.75}
    ],
}  # fmt: skip


def fixed(method: str, units: str) -> Setting:
    """The parts that all settings of a search share.

    The paper counts every component as a cluster, however small, takes columns as they are and
    has no intercept in `eq:27`.
    """
    setting: Setting = {"penalties": units, "min_cluster_size": 1, "geometry": "given"}
    if units == "paper" and method != "DOGC":
        setting["fit_intercept"] = False
    return setting


def _grid(**choices: Any) -> list[Setting]:
    names = list(choices)
    return [
        dict(zip(names, values, strict=True)) for values in itertools.product(*choices.values())
    ]


def grid_settings(method: str, n: int, n_features: int) -> Iterator[Setting]:
    """The settings among which the oracle chooses for the other methods, for rows of this shape."""
    near = neighbourhoods(n)
    # Gaussian widths in units of sqrt(d), about the distance of z-scored rows, and self-tuning.
    typical = np.sqrt(n_features)
    kernel = ["local", *(float(width * typical) for width in (0.25, 0.5, 1.0, 2.0))]
    dimensions = [None, *(m for m in (2, 5) if m < n_features)]
    grids: dict[str, list[Setting]] = {
        "KM": [],
        "R-cut": _grid(affinity=["full"], bandwidth=kernel),
        "DKM": _grid(lam=PAPER_RANGE),
        "LL": _grid(n_neighbors=near, ridge=[1e-2, 1e-1, 1.0]),
        "CLGR": _grid(n_neighbors=near, lam=PAPER_RANGE),
        "SEC": _grid(n_neighbors=near, mu=PAPER_RANGE),
        "CAN": _grid(n_neighbors=near, **_AS_IN_THEIR_PAPER),
        "PCAN": _grid(n_neighbors=near, n_components=dimensions, **_AS_IN_THEIR_PAPER),
    }
    for name in ("N-cut", "NMF", "SC", "CLR0", "CLR1"):
        grids[name] = grids["R-cut"]
    yield {}  # the defaults are always among them
    yield from grids[method]


_AS_IN_THEIR_PAPER = {"min_cluster_size": [1], "max_iter": [30], "xi": ["row"]}


def seeded(method: str, setting: Setting, seed: int) -> Setting:
    """A setting with a random start as the paper has it, where the method has one."""
    if method in ("DOGC", "DOGC-OS", "DOGC-II"):
        return {**setting, "init": "random", "random_state": seed}
    if method in ("R-cut", "N-cut", "SC", "NMF", "SEC", "LL", "CLGR", "KM", "DKM"):
        return {**setting, "n_init": 1, "random_state": seed}
    return setting
