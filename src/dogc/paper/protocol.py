"""The runs behind each column of the tables: preprocessing, settings, seeds.

Three columns, never mixed. *Printed* is the paper's number. *Oracle* follows its protocol: many
settings, random starts, the best by ground truth. *Honest* is what a user gets: the defaults,
nothing chosen by ground truth.

The oracle of DOGC and DOGC-OS has three columns: within the values that the paper says it tried
("protocol"); with settings drawn from wider ranges, in the paper's units (`eq:26`); and in the
relative units of this library. The ablations have the last two. The other methods have few
parameters: a grid is tried whole.

An estimator that is not the library's is named "module:Class", a table of one's own by its file.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import os
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import minmax_scale, normalize, scale

from ..comparison import METHODS
from ..datasets import load_uci, make_multi_cluster, make_two_gaussians, make_two_moons

Setting = dict[str, Any]


PREPROCESSINGS = ("z-score", "unscaled", "one-hot", "unit rows")


def loaded(name: str, encoding: str) -> tuple[np.ndarray, np.ndarray]:
    """The features and classes of a UCI set, or of a CSV file whose last column is the class."""
    if not name.endswith(".csv"):
        return load_uci(name, encoding=encoding, return_X_y=True)
    table = pd.read_csv(name)
    if table.isna().any(axis=None) or table.shape[1] < 2:
        raise ValueError(f"{name} must have features and then the class, with no empty cell")
    X = table.iloc[:, :-1]
    text = X.select_dtypes(exclude="number")
    codes = text.apply(lambda column: pd.factorize(column)[0] + 1)
    X = pd.get_dummies(X) if encoding == "onehot" else X.assign(**codes)
    return X.to_numpy(dtype=float), pd.factorize(table.iloc[:, -1])[0]


def make_model(method: str, c: int) -> Any:
    """The estimator of a method's name, or of "module:Class"."""
    if method in METHODS:
        return METHODS[method](c)
    module, _, name = method.partition(":")
    if os.getcwd() not in sys.path:  # in a worker too
        sys.path.append(os.getcwd())
    try:
        model = getattr(importlib.import_module(module), name)(c)
        return model if model.fit_predict else None
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"{method}: {error}; name a method of the paper, or as MODULE:CLASS a clusterer that "
            "takes the number of clusters"
        ) from error


# Synthetic data are named with their parameter and seed: "clusters36 0.05 3".
SYNTHETIC: Mapping[str, Callable[[float, int], tuple[np.ndarray, np.ndarray]]] = {
    "clusters36": lambda noise, seed: make_multi_cluster(noise=noise, random_state=seed),
    "moons": lambda noise, seed: make_two_moons(noise=noise, random_state=seed),
    "gaussians": lambda distance, seed: make_two_gaussians(distance=distance, random_state=seed),
}


@functools.lru_cache(maxsize=64)
def rows_and_classes(name: str, preprocessing: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes of a data set by name; synthetic ones are taken as they are.

    Gaps are imputed, categories are numbers by first appearance unless one-hot. "z-score": mean 0
    and deviation 1. "one-hot": a column of 0 and 1 for each category, numbers scaled to [0, 1].
    "unit rows": unscaled rows divided by their length.
    """
    kind, *parameters = name.split()
    if kind in SYNTHETIC:
        return SYNTHETIC[kind](float(parameters[0]), int(parameters[1]))
    X, y = loaded(name, "onehot" if preprocessing == "one-hot" else "ordinal")
    if preprocessing in ("unscaled", "unit rows"):
        return (X if preprocessing == "unscaled" else normalize(X)), y
    varying = X[:, X.std(axis=0) > 0]
    return (scale(varying) if preprocessing == "z-score" else minmax_scale(varying)), y


# The paper's range for the parameters of all methods.
PAPER_RANGE = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)
TEN = tuple(10.0**exponent for exponent in range(-6, 5))
POWERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
DRAWN = ("DOGC", "DOGC-OS", "DOGC-I", "DOGC-II")  # the methods with many parameters
UNITS = ("protocol", "paper", "relative")

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
    that is searched too. Its protocol is what it says it tried: a tenth of the rows, few values of
    alpha, random starts; of m, which it does not print, c as in W'W = I_c and the 3 of its code.
    """
    X, y = rows_and_classes(data, "z-score")
    if units == "protocol":
        space: Space = {
            "preprocessing": ["z-score", "unscaled"],
            "n_neighbors": [max(2, round(len(X) / 10))],
            "n_components": sorted({min(m, X.shape[1]) for m in (3, int(y.max()) + 1)}),
            "init": ["random"],
            "random_state": range(3),
            "alpha": PAPER_RANGE[:3] if method == "DOGC" else PAPER_RANGE[1:3],
        }
        rest: Space = {"beta": PAPER_RANGE, "gamma": [1e-4], "p": [1.25]}
        return space if method == "DOGC" else space | rest
    dimensions = {m for m in (1, 2, 3, 4, 5, 6, int(y.max()) + 1) if m < X.shape[1]}
    space = {
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


# What wider searches found (every k up to 40, 4,000 draws), by data, method and units: the search
# begins with it too.
FOUND: dict[str, Setting] = json.loads(pathlib.Path(__file__).with_name("found.json").read_bytes())


def fixed(method: str, units: str) -> Setting:
    """The parts that all settings of a search share.

    The paper counts every component as a cluster, however small, takes columns as they are and
    has no intercept in `eq:27`.
    """
    kind = "relative" if units == "relative" else "paper"
    setting: Setting = {"penalties": kind, "min_cluster_size": 1, "geometry": "given"}
    if kind == "paper" and method != "DOGC":
        setting["fit_intercept"] = False
    return setting


def combinations(**choices: Any) -> list[Setting]:
    """All settings with one value of each parameter."""
    return [dict(zip(choices, one, strict=True)) for one in itertools.product(*choices.values())]


def grid_settings(method: str, n: int, n_features: int) -> list[Setting]:
    """The settings among which the oracle chooses for the other methods, for rows of this shape."""
    near = neighbourhoods(n)
    # Gaussian widths in units of sqrt(d), about the distance of z-scored rows, and self-tuning.
    typical = np.sqrt(n_features)
    widths = ["local", *(float(width * typical) for width in (0.25, 0.5, 1.0, 2.0))]
    kernels = combinations(affinity=["full"], bandwidth=widths)
    dimensions = [None, *(m for m in (2, 5) if m < n_features)]
    grids: dict[str, list[Setting]] = {
        **dict.fromkeys(("R-cut", "N-cut", "NMF", "SC", "CLR0", "CLR1"), kernels),
        "DKM": combinations(lam=PAPER_RANGE),
        "LL": combinations(n_neighbors=near, ridge=[1e-2, 1e-1, 1.0]),
        "CLGR": combinations(n_neighbors=near, lam=PAPER_RANGE),
        "SEC": combinations(n_neighbors=near, mu=PAPER_RANGE),
        "CAN": combinations(n_neighbors=near, **_AS_IN_THEIR_PAPER),
        "PCAN": combinations(n_neighbors=near, n_components=dimensions, **_AS_IN_THEIR_PAPER),
    }
    return [{}, *grids.get(method, [])]  # the defaults are always among them


_AS_IN_THEIR_PAPER = {"min_cluster_size": [1], "max_iter": [30], "xi": ["row"]}


def seeded(method: str, setting: Setting, seed: int) -> Setting:
    """A setting with a random start as the paper has it, where the method has one."""
    if method in ("DOGC", "DOGC-OS", "DOGC-II"):
        return {**setting, "init": "random", "random_state": seed}
    if method in ("R-cut", "N-cut", "SC", "NMF", "SEC", "LL", "CLGR", "KM", "DKM"):
        return {**setting, "n_init": 1, "random_state": seed}
    if method not in METHODS and "random_state" in make_model(method, 2).get_params():
        return {**setting, "random_state": seed}
    return setting
