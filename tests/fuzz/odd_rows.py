"""Rows as nobody should pass them, and as somebody will."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

Rng = np.random.Generator


def pick(rng: Rng, choices: Any) -> Any:
    """One of them, as it is."""
    return choices[int(rng.integers(len(choices)))]


# ------------------------------------------------------------------------------ values


def _power(rng: Rng, most: float) -> float:
    return float(10.0 ** rng.uniform(-most, most))


def _one_far(rng: Rng, X: np.ndarray) -> np.ndarray:
    X[rng.integers(len(X))] = pick(rng, [1e200, -1e160, 1e149, 1e100, 1e30, 1e9])
    return X


def _bad_numbers(rng: Rng, X: np.ndarray) -> np.ndarray:
    X.flat[rng.integers(X.size)] = pick(rng, [np.nan, np.inf, -np.inf])
    return X


def _constant_columns(rng: Rng, X: np.ndarray) -> np.ndarray:
    held = rng.random(X.shape[1]) < 0.5
    X[:, held] = pick(rng, [0.0, 0.1, -7.0, 1e100, 1e-100, 1e-310])
    return X


VALUES: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "ordinary": lambda rng, X: X,
    "scaled": lambda rng, X: X * _power(rng, 148),
    "ends": lambda rng, X: X * pick(rng, [1e-310, 1e-323, 1e-170, 1e-149, 1e149, 1e170, 1e307]),
    "mixed rows": lambda rng, X: X * 10.0 ** rng.uniform(-149, 149, (len(X), 1)),
    "mixed columns": lambda rng, X: X * 10.0 ** rng.uniform(-320, 149, X.shape[1]),
    "shifted": lambda rng, X: X + _power(rng, 20),
    "one far row": _one_far,
    "copies": lambda rng, X: X[rng.integers(max(len(X) // 8, 1), size=len(X))],
    "constant columns": _constant_columns,
    "bad numbers": _bad_numbers,
    "mostly zero": lambda rng, X: np.where(rng.random(X.shape) < 0.9, 0.0, X),
    "clusters": lambda rng, X: X + 20.0 * rng.integers(3, size=(len(X), 1)),
}


def values(rng: Rng) -> np.ndarray:
    """Numbers in rows and columns."""
    n = int(pick(rng, [1, 2, 3, 5, 12]) if rng.random() < 0.2 else rng.integers(8, 61))
    d = int(pick(rng, [1, 2, 4, 8, 70]))
    make = pick(rng, list(VALUES.values()))
    with np.errstate(all="ignore"):
        X = make(rng, rng.standard_normal((n, d)))
        return pick(rng, list(VALUES.values()))(rng, X) if rng.random() < 0.2 else X


# -------------------------------------------------------------------------- containers

SPARSE = ("csr", "csc", "coo", "bsr", "lil", "dok")
DTYPES = (np.float32, np.float16, np.int8, np.int64, np.uint8, np.uint64, np.longdouble, bool)


def _sparse(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    i, j = np.nonzero(rng.random(X.shape) < pick(rng, [0.3, 1.0]))
    i, j = np.append(i, i[:3]), np.append(j, j[:3])  # some twice: they are added
    order = rng.permutation(len(i))
    data = X[i, j] * rng.integers(0, 2, len(i))  # zeros that are stored
    A = sp.coo_array((data[order], (i[order], j[order])), shape=X.shape)
    if rng.random() < 0.3:
        A = A.astype(np.float32)
    A = A.asformat(pick(rng, SPARSE))
    if A.format == "csr" and rng.random() < 0.5:
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return sp.csr_matrix(A) if rng.random() < 0.2 else A


def _typed(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    return X.astype(pick(rng, DTYPES))


def _read_only(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(rng: Rng, X: np.ndarray, folder: pathlib.Path) -> Any:
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def _frame(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    kind, first = pick(rng, ["plain", "nullable", "category", "twice", "date", "text"]), "x0"
    if kind == "nullable":
        frame = frame.astype("Float64")
        frame.iloc[0, 0] = pd.NA
    elif kind == "category":
        frame[first] = pd.Categorical(["a", "b"][i % 2] for i in range(len(X)))
    elif kind == "twice":
        frame.columns = ["x"] * X.shape[1]
    elif kind != "plain":
        frame[first] = {"date": pd.Timestamp("2020-01-01"), "text": pick(rng, ["word", "1.5"])}[
            kind
        ]
    return frame


def _objects(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    A = X.astype(object)
    A.flat[0] = pick(rng, [A.flat[0], None, "text", 10**400, {"a": 1}, 1j, pd.NA, [1, 2], True])
    return A


def _masked(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    return np.ma.masked_array(X, mask=rng.random(X.shape) < pick(rng, [0.0, 0.1, 1.0]))


def _shapeless(rng: Rng, X: np.ndarray, folder: Any) -> Any:
    odd = [X[0], X[0, 0], X[None], X[:0], X[:, :0], [], None, "rows", [[1.0], [2.0, 3.0]], object()]
    return pick(rng, odd)


CONTAINERS: tuple[Callable[[Rng, np.ndarray, pathlib.Path], Any], ...] = (
    *[lambda rng, X, folder: X] * 25,
    *[_sparse] * 9,
    *[_typed] * 5,
    *[_frame] * 2,
    _objects,
    _masked,
    _shapeless,
    _read_only,
    _mapped,
    lambda rng, X, folder: X.tolist(),
    lambda rng, X, folder: X.astype(complex),
    lambda rng, X, folder: X.astype(str),
    lambda rng, X, folder: np.asfortranarray(X),
    lambda rng, X, folder: X.astype("M8[s]"),
)


def contained(rng: Rng, X: np.ndarray, folder: pathlib.Path) -> Any:
    """The numbers as somebody may hold them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pick(rng, CONTAINERS)(rng, X, folder)
