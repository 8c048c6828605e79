"""Real data sets whose classes are known: four of scikit-learn's and ten mixed tables."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Iterator

import numpy as np
from battery_data import Problem
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler, scale

TABLES = pathlib.Path(__file__).parents[2] / "shared" / "tables"
REAL = ("real", "real, standardised")

_LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}

# Columns that look like numbers and are codes of categories, as their source says.
CODES = {
    "anneal": ("formability", "enamelability", "bore", "packing"),
    "breast-cancer": ("deg-malig",),
}


def real_problems() -> Iterator[Problem]:
    """Four sets as they are, then the same with columns of mean 0 and deviation 1."""
    for family in REAL:
        for name, load in _LOADERS.items():
            X, target = load(return_X_y=True)
            title = name
            if family == REAL[1]:
                X, title = StandardScaler().fit_transform(X), f"{name}, std"
            yield Problem(title, X, [target + 1], family)


def table_problems(folder: pathlib.Path = TABLES) -> Iterator[Problem]:
    """The tables of a folder, by name."""
    for path in sorted(folder.glob("*.csv")):
        yield read_table(path)


def read_table(path: pathlib.Path) -> Problem:
    """Numbers z-scored after the mean has filled gaps; categories 0/1, a missing one 0 in all.

    The last column holds the classes. Columns that are constant then are dropped.
    """
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    *columns, classes = zip(*rows, strict=True)
    codes = CODES.get(path.stem, ())
    blocks = [
        _categories(cells) if name in codes or not _are_numbers(cells) else _numbers(cells)
        for name, cells in zip(header[:-1], columns, strict=True)
        if any(cells)
    ]
    X = np.column_stack(blocks)
    X = X[:, np.ptp(X, axis=0) > 0]
    target = np.unique(np.array(classes), return_inverse=True)[1]
    return Problem(path.stem, X, [target + 1], "tables")


def _are_numbers(cells: tuple[str, ...]) -> bool:
    try:
        [float(cell) for cell in cells if cell]
    except ValueError:
        return False
    return True


def _numbers(cells: tuple[str, ...]) -> np.ndarray:
    numbers = np.array([float(cell) if cell else np.nan for cell in cells])
    return scale(np.where(np.isnan(numbers), np.nanmean(numbers), numbers))


def _categories(cells: tuple[str, ...]) -> np.ndarray:
    names = np.array(sorted(set(cells) - {""}))
    return (np.array(cells)[:, None] == names).astype(float)
