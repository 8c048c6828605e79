"""Attempts to change labels by changes of the data that mean nothing."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import dogc
from fuzz.harness import Broken

METHODS = ("DOGC", "DOGCOS", "CAN", "PCAN", "DOGCRelaxed", "DOGCFixedGraph", "CLR", "NormalizedCut")
# Clusters so far apart that no rounding moves a row to another one.
APART = 12.0

Rng = np.random.Generator
Rows = np.ndarray


def constant_column(rng: Rng, X: Rows) -> Rows:
    """The rows with one more column, somewhere, that is the same in all of them."""
    return np.insert(X, rng.integers(X.shape[1] + 1), rng.normal(), axis=1)


def turned(rng: Rng, X: Rows) -> Rows:
    """The rows in other axes."""
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]


# What must leave labels equal, and what may change their last digits only.
EXACT: dict[str, Callable[[Rng, Rows], Rows]] = {
    "columns": lambda rng, X: X[:, rng.permutation(X.shape[1])],
    "unit": lambda rng, X: X * 2.0 ** rng.integers(-20, 21),
    "constant": constant_column,
    "Fortran": lambda rng, X: np.asfortranarray(X),
    "sparse": lambda rng, X: sp.csr_array(X),
}
NEARLY: dict[str, Callable[[Rng, Rows], Rows]] = {
    "scale": lambda rng, X: X * np.exp(rng.normal()),
    "shift": lambda rng, X: X + 10.0 * rng.normal(size=X.shape[1]),
    "turn": turned,
    "32 bits": lambda rng, X: X.astype(np.float32),
}


def rows(rng: Rng) -> tuple[Rows, int, bool]:
    """Rows of a few clusters, how many, and whether they lie far apart."""
    n, d, c = int(rng.choice([60, 200, 3200])), int(rng.integers(2, 6)), int(rng.integers(2, 5))
    far = bool(rng.random() < 0.5)
    centres = np.linalg.qr(rng.normal(size=(max(c, d),) * 2))[0][:c, :d] * (APART if far else 3.0)
    if far and d < c:  # on a line they stay apart
        centres = APART * np.arange(c)[:, None] * np.eye(1, d)
    y = np.arange(n) % c
    return centres[y] + rng.normal(size=(n, d)), c, far


def attempt(rng: Rng, folder: pathlib.Path) -> str:
    """One method before and after one change."""
    X, c, far = rows(rng)
    method = getattr(dogc, str(rng.choice(METHODS)))
    name = str(rng.choice([*EXACT, "rows", *(NEARLY if far else ())]))
    learns = method not in (dogc.CLR, dogc.NormalizedCut)
    if learns and rng.random() < 0.3:  # whole numbers, full of ties
        X = np.rint(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = method(c).fit(X).labels_
        if name == "rows":
            order = rng.permutation(len(X))
            before, after = before[order], method(c).fit(X[order]).labels_
        else:
            after = method(c).fit({**EXACT, **NEARLY}[name](rng, X)).labels_
    ari = adjusted_rand_score(before, after)
    if name in EXACT or name == "rows":
        # Methods on a fixed graph name clusters of one size by the columns as they come.
        if not (np.array_equal(before, after) if learns else ari == 1.0):
            raise Broken(f"{method.__name__}, {name}, {X.shape}, {c}: ARI {ari:.3f}")
    elif far and ari < 0.99:
        raise Broken(f"{method.__name__}, {name}, {X.shape}, {c}: ARI {ari:.3f}")
    return name
