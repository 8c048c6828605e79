"""The twelve UCI sets of the paper, z-scored, from a folder of CSV files."""

from __future__ import annotations

import csv
import pathlib

import numpy as np

NAMES = [
    "solar",
    "vehicle",
    "vote",
    "ecoli",
    "wine",
    "glass",
    "lenses",
    "heart",
    "zoo",
    "cars",
    "auto",
    "balance",
]
DEFAULT_FOLDER = pathlib.Path(__file__).parents[2] / "shared" / "data"


def load(name: str, folder: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Features with mean 0 and deviation 1, and the class of each row as an integer.

    Categories are coded 1, 2, ... by first appearance; a missing category becomes the most
    frequent one, a missing number the mean; votes are y = 1, n = 0, missing = 0.5. The names of
    cars, whose make tells the class, are dropped, and constant columns.
    """
    with open(folder / f"{name}.csv", newline="") as file:
        header, *rows = csv.reader(file)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    truth = _code(columns.pop("class")).astype(int) - 1
    columns.pop("car_name", None)
    X = np.column_stack([_vote(c) if name == "vote" else _column(c) for c in columns.values()])
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), truth


def _vote(cells: tuple[str, ...]) -> np.ndarray:
    return np.array([{"y": 1.0, "n": 0.0, "": 0.5}[cell] for cell in cells])


def _column(cells: tuple[str, ...]) -> np.ndarray:
    try:
        numbers = np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return _code(cells)
    return np.where(np.isnan(numbers), np.nanmean(numbers), numbers)


def _code(cells: tuple[str, ...]) -> np.ndarray:
    present = [cell for cell in cells if cell]
    usual = max(dict.fromkeys(present), key=present.count)
    code = {cell: i for i, cell in enumerate(dict.fromkeys(c or usual for c in cells), 1)}
    return np.array([float(code[cell or usual]) for cell in cells])
