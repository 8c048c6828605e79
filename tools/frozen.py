"""Labels of about 300 fits, before a change of the code and after it.

``python tools/frozen.py before.npz`` writes them; ``python tools/frozen.py after.npz before.npz``
writes them too, names every fit whose labels differ and exits 1 if there is one.
``PYTHONPATH`` picks the source. Labels of torch may differ in one row of 10,000 (ties).
"""

from __future__ import annotations

import pathlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as sk
from sklearn.preprocessing import scale

import dogc
from dogc import datasets

CLASSES = [
    "DOGC DOGCOS DOGCRelaxed DOGCFixedGraph CAN PCAN CLR NormalizedCut RatioCut SEC CLGR LSC USPEC",
    "DiscriminativeKMeans LocalLearningClustering NMFClustering LPP",
]
NAMES = " ".join(CLASSES).split()
OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {"n_clusters": "auto"},
    "alpha 0": {"alpha": 0.0},
    "paper": {"penalties": "paper"},
    "row": {"xi": "row"},
    "cosine": {"metric": "cosine"},
    "manhattan": {"metric": "manhattan"},
    "spectral": {"init": "spectral"},
    "modularity": {"init": "modularity"},
    "random": {"init": "random", "random_state": 3, "n_init": 2},
    "one neighbourhood": {"n_neighbors": 12},
    "wide": {"n_neighbors": "wide"},
    "given": {"geometry": "given"},
    "within": {"geometry": "within"},
    "standard": {"geometry": "standard"},
    "no projection": {"n_components": None},
    "two directions": {"n_components": 2},
    "outliers": {"outlier_label": -1},
    "every component": {"min_cluster_size": 1},
    "representatives": {"n_representatives": 60},
    "lambda": {"lam": 0.3},
}


def few() -> dict[str, tuple[np.ndarray, int]]:
    """Tables below 3,000 rows, with the number of clusters to ask for."""
    made: dict[str, tuple[np.ndarray, int]] = {}
    for name in ("wine", "zoo", "ecoli", "glass", "vote"):
        bunch = datasets.load_uci(name)
        made[name] = scale(bunch.data), len(np.unique(bunch.target))
    made["iris"] = sk.load_iris().data, 3
    made["moons"] = sk.make_moons(300, noise=0.08, random_state=1)[0], 2
    made["wide"] = sk.make_blobs(60, 90, centers=3, cluster_std=6.0, random_state=2)[0], 3
    made["blobs"] = sk.make_blobs(400, 5, centers=6, random_state=3)[0], 6
    return made


def many() -> dict[str, tuple[np.ndarray, int]]:
    """Tables above 3,000 rows."""
    return {
        "moons": (sk.make_moons(6000, noise=0.12, random_state=4)[0], 2),
        "blobs": (sk.make_blobs(20_000, 8, centers=9, cluster_std=3.0, random_state=5)[0], 9),
        "noise": (np.random.default_rng(6).normal(size=(5000, 4)), 3),
    }


def model(name: str, count: int, **options: Any) -> Any:
    """An estimator, or None if it has no such option."""
    made = getattr(dogc, name)
    known = made().get_params()
    if "n_clusters" not in known:
        return made(**options) if set(options) <= set(known) else None
    options = {"n_clusters": count, "random_state": 0} | options
    return made(**{k: v for k, v in options.items() if k in known or k != "random_state"})


def fitted(estimator: Any, X: Any, **fit: Any) -> np.ndarray:
    """Labels of a fit, then of ``predict``; the embedding, where there are no labels."""
    estimator.fit(X, **fit)
    if not hasattr(estimator, "labels_"):
        return np.round(estimator.transform(X), 9)
    found = [np.asarray(estimator.labels_)]
    if hasattr(estimator, "predict") and getattr(estimator, "metric", "") != "precomputed":
        found.append(np.asarray(estimator.predict(X)))
    return np.concatenate(found)


def cases() -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """The fits, by name."""
    small, large = few(), many()
    for name in NAMES:
        for data, (X, c) in small.items():
            yield f"{name} {data}", lambda n=name, X=X, c=c: fitted(model(n, c), X)
        for data, (X, c) in large.items():
            if name in ("DOGC", "DOGCOS", "CAN", "PCAN", "LSC", "USPEC", "DOGCRelaxed"):
                yield f"{name} many {data}", lambda n=name, X=X, c=c: fitted(model(n, c), X)
    for name in ("DOGC", "DOGCOS", "CAN"):
        known = getattr(dogc, name)().get_params()
        for option, given in OPTIONS.items():
            for data in ("wine", "moons", "glass"):
                X, c = small[data]
                if set(given) <= set(known):
                    yield (
                        f"{name} {option} {data}",
                        lambda n=name, X=X, c=c, g=given: fitted(model(n, c, **g), X),
                    )
    for name in ("DOGC", "DOGCOS"):
        yield from inputs(name, small, large)


def inputs(name: str, small: dict[str, Any], large: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Fits of weights, sparse rows, distances, Dask and torch."""
    rng = np.random.default_rng(7)
    text = sp.random(300, 400, density=0.02, random_state=8, format="csr")
    digits = sk.load_digits().data
    for data in ("wine", "glass", "moons"):
        X, c = small[data]
        weights = rng.integers(1, 4, len(X)).astype(float)
        yield (
            f"{name} weights {data}",
            lambda X=X, c=c, w=weights: fitted(model(name, c), X, sample_weight=w),
        )
        yield f"{name} sparse {data}", lambda X=X, c=c: fitted(model(name, c), sp.csr_matrix(X))
    yield f"{name} text", lambda: fitted(model(name, 4, metric="cosine"), text)
    yield f"{name} digits", lambda: fitted(model(name, 10), digits)
    X, c = large["moons"]
    weights = rng.integers(1, 4, len(X)).astype(float)
    yield f"{name} weights many", lambda: fitted(model(name, c), X, sample_weight=weights)
    for data in ("moons", "blobs"):
        rows, k = large[data]
        yield f"{name} dask {data}", lambda X=rows, c=k: in_dask(model(name, c), X)
        yield f"{name} torch {data}", lambda X=rows, c=k: in_torch(model(name, c), X)


def in_dask(estimator: Any, X: np.ndarray) -> np.ndarray:
    """Labels of a fit of blocks."""
    import dask.array as da

    estimator.fit(da.from_array(X, chunks=(1500, X.shape[1])))
    return np.asarray(estimator.labels_)


def in_torch(estimator: Any, X: np.ndarray) -> np.ndarray:
    """Labels of a fit of a tensor."""
    import torch

    estimator.fit(torch.as_tensor(X, dtype=torch.float64))
    return np.asarray(estimator.labels_)


def differing(name: str, now: np.ndarray, before: np.ndarray) -> bool:
    """Whether two fits differ, by more than ties where torch computes."""
    if now.shape != before.shape:
        return True
    allowed = 1e-4 if " torch " in name else 0.0
    return bool(np.mean(now != before) > allowed)


def main(arguments: list[str]) -> int:
    """Fit, write, compare."""
    warnings.simplefilter("ignore")
    found: dict[str, np.ndarray] = {}
    for name, fit in cases():
        try:
            found[name] = fit()
        except (ValueError, TypeError, AttributeError) as error:
            found[name] = np.array(f"{type(error).__name__}: {error}")
    np.savez_compressed(pathlib.Path(arguments[0]), **found)
    errors = [name for name, value in found.items() if value.dtype.kind == "U"]
    print(f"{len(found)} fits of {dogc.__file__}, {len(errors)} of them refused")
    if len(arguments) == 1:
        print("\n".join(f"{name}: {found[name]}" for name in errors))
        return 0
    with np.load(arguments[1]) as before:
        names = [n for n in found if n in before and differing(n, found[n], before[n])]
        print(f"{len(names)} differ, {len(set(before.files) - set(found))} are gone")
    print("\n".join(names))
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
