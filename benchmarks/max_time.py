"""How long a fit takes with ``max_time``: the limit against the clock, where fits take longest.

python benchmarks/max_time.py                  # all cases, four limits and none
python benchmarks/max_time.py sparse --limits 1 5
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp

from dogc import DOGC, DOGCOS


def sparse_noise(n: int = 5_000, d: int = 50_000, density: float = 1e-3) -> sp.csr_array:
    """Sparse rows without any structure."""
    rng = np.random.default_rng(0)
    entries = int(n * d * density)
    place = rng.integers(0, n, entries), rng.integers(0, d, entries)
    return sp.csr_array((rng.random(entries), place), shape=(n, d))


def texts(n: int = 5_000, d: int = 50_000, topics: int = 10) -> sp.csr_array:
    """Rows like texts: half of the words by topic, weighted by how rare they are."""
    rng = np.random.default_rng(0)
    own = [rng.permutation(d) for _ in range(topics)]
    row, column = [], []
    for i in range(n):
        half = int(rng.integers(15, 50))
        common = (d ** rng.random(half)).astype(int) - 1
        special = own[i % topics][np.minimum((5 * rng.pareto(0.8, half)).astype(int), d - 1)]
        row.append(np.full(2 * half, i))
        column.append(np.concatenate([common, special]))
    count = np.ones(sum(map(len, row)))
    X = sp.csr_array((count, (np.concatenate(row), np.concatenate(column))), shape=(n, d))
    rare = np.log(n / np.maximum(np.diff(X.tocsc().indptr), 1)) + 1.0
    X = (X @ sp.dia_array((rare[None, :], [0]), shape=(d, d))).tocsr()
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return (sp.dia_array((1.0 / length[None, :], [0]), shape=(n, n)) @ X).tocsr()


def noise(n: int = 200_000, d: int = 16) -> np.ndarray:
    """Normal noise."""
    return np.random.default_rng(0).standard_normal((n, d))


def mixed(n: int = 5_000) -> np.ndarray:
    """Numbers beside categories coded as columns of zeros and ones."""
    rng = np.random.default_rng(0)
    columns = [rng.standard_normal((n, 1))]
    columns.append(np.eye(30)[rng.choice(30, n, p=rng.dirichlet(np.full(30, 0.5)))])
    return np.hstack(columns)


CASES = {
    "sparse": (sparse_noise, lambda **limit: DOGCOS(10, **limit)),
    "texts": (texts, lambda **limit: DOGCOS(10, **limit)),
    "noise": (noise, lambda **limit: DOGC(3, **limit)),
    "noise-os": (noise, lambda **limit: DOGCOS(3, **limit)),
    "mixed": (mixed, lambda **limit: DOGC("auto", **limit)),
    "mixed-os": (mixed, lambda **limit: DOGCOS("auto", **limit)),
}


def main() -> None:
    """Print the table."""
    tool = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tool.add_argument("cases", nargs="*", default=list(CASES))
    tool.add_argument("--limits", nargs="*", type=float, default=[0.1, 1.0, 5.0, 20.0])
    tool.add_argument("--without", action="store_true", help="a fit without a limit as well")
    given = tool.parse_args()
    print("case      max_time  seconds  clusters  why it ended      phases")
    for name in given.cases:
        data, method = CASES[name]
        X = data()
        for limit in [*given.limits, *([None] if given.without else [])]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                began = time.perf_counter()
                model = method(max_time=limit).fit(X)
                seconds = time.perf_counter() - began
            phases = ", ".join(f"{key} {value:.1f}" for key, value in model.timings_.items())
            print(
                f"{name:9} {limit or 'none':>8} {seconds:8.2f} {model.n_clusters_:9}  "
                f"{model.stopping_reason_:16}  {phases}",
                flush=True,
            )


if __name__ == "__main__":
    main()
