"""Real rows with many columns: pixels, embeddings, cells, genes.

python benchmarks/highdim.py [--sets usps orl] [--only DOGC k-means] [--out highdim-output]

Columns as given, as many clusters as classes, the defaults of each method and one run each. ARI and
NMI with the classes, seconds, and the ARI between the labels of two copies with noise of a
millionth of each column's deviation. UMAP, EVoC and HDBSCAN are run where they are installed.
Leiden finds its own number of clusters; rows that HDBSCAN and EVoC call noise are one more cluster.

Needs the sets of shared/highdim. highdim.csv and highdim.png are written to `--out`.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings
from typing import NamedTuple

import numpy as np
from battery_data import Problem, write_csv
from floors import floor_line
from peers import METHODS, OURS, timed
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

HIGHDIM = pathlib.Path(__file__).parents[2] / "shared" / "highdim"
NAMES = ("coil20", "orl", "palm", "usps", "glioma", "tweet", "snippets", "stackoverflow",
         "cells_bladder")  # fmt: skip
FAMILY = "many columns"
NOISE = 1e-6
# Seconds from which on a peer is not fitted again to noisy copies.
SLOW = 60.0


class Row(NamedTuple):
    """One method on one set."""

    data: str
    method: str
    ari: float
    nmi: float
    seconds: float
    noisy: float  # ARI between two noisy copies; NaN: not fitted again


def highdim_problems(names: tuple[str, ...] = NAMES) -> list[Problem]:
    """The sets that are there."""
    found = []
    for name in names:
        if (path := HIGHDIM / f"{name}.npz").exists():
            with np.load(path) as file:
                found.append(Problem(name, file["X"].astype(np.float32), [file["y"] + 1], FAMILY))
    return found


def measured(problem: Problem, method: str) -> Row:
    """One fit, and two of noisy copies."""
    X, (y,), c = problem.X, problem.references, problem.counts[0]
    cluster = METHODS[method]
    labels, seconds = timed(cluster, X, c)
    noisy = np.nan
    if seconds < SLOW or method in OURS:
        rng = np.random.default_rng(0)
        size = NOISE * X.std(axis=0, dtype=np.float64)
        pair = [cluster(X + size * rng.standard_normal(X.shape), c) for _ in range(2)]
        noisy = adjusted_rand_score(*pair)
    scores = (score(y, labels) for score in (adjusted_rand_score, normalized_mutual_info_score))
    return Row(problem.name, method, *map(float, scores), seconds, float(noisy))


def print_table(rows: list[Row], field: str, digits: int) -> None:
    """One number of all methods on all sets, and its mean."""
    names = list(dict.fromkeys(row.data for row in rows))
    print(f"\n{field:<20}" + "".join(f"{name[:9]:>10}" for name in names) + f"{'mean':>10}")
    for method in dict.fromkeys(row.method for row in rows):
        values = [getattr(row, field) for row in rows if row.method == method]
        cells = "".join(f"{value:10.{digits}f}" for value in values)
        print(f"{method:<20}{cells}{np.nanmean(values):10.{digits}f}")


def print_floors(rows: list[Row]) -> None:
    """Print the floors, where everything was run."""
    ari = {(row.data, row.method): row.ari for row in rows}
    noisy = {(row.data, row.method): row.noisy for row in rows}
    seconds = {(row.data, row.method): row.seconds for row in rows}
    mean = {m: np.mean([row.ari for row in rows if row.method == m]) for _, m in ari}
    if {name for name, _ in ari} != set(NAMES) or not {"DOGC", "k-means"} <= set(mean):
        return
    peers = max(value for name, value in mean.items() if name not in OURS)
    print()
    print(floor_line("mean ARI of DOGC", mean["DOGC"], ">=", 0.66))
    print(floor_line("mean ARI of DOGC, above the best peer", mean["DOGC"], ">=", peers))
    for name in ("snippets", "stackoverflow"):
        ratio = seconds[name, "DOGC"] / seconds[name, "k-means"]
        print(floor_line(f"{name}: ARI, not below k-means", ari[name, "DOGC"], ">=",
                         ari[name, "k-means"]))  # fmt: skip
        print(floor_line(f"{name}: two noisy copies", noisy[name, "DOGC"], ">=", 0.85))
        print(floor_line(f"{name}: seconds in those of k-means", ratio, "<=", 3.0))


def draw(rows: list[Row], path: pathlib.Path) -> None:
    """A line of dots for each set: one dot for each method."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row.data for row in rows))
    figure, ax = plt.subplots(figsize=(8, 0.45 * len(names) + 1.6), layout="constrained")
    for number, method in enumerate(dict.fromkeys(row.method for row in rows)):
        mine = [row for row in rows if row.method == method]
        ours = method in OURS
        look = {"s": 70, "zorder": 3} if ours else {"s": 35, "marker": "D", "alpha": 0.75}
        mean = np.mean([row.ari for row in mine])
        ax.scatter([row.ari for row in mine], [names.index(row.data) for row in mine],
                   label=f"{method} ({mean:.2f})", color=f"C{number}", **look)  # fmt: skip
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="adjusted Rand index with the classes", xlim=(-0.02, 1.0))
    ax.grid(axis="x", alpha=0.3)
    ax.legend(title="method (mean)", fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("highdim-output"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    problems = highdim_problems(tuple(options.sets))
    if not problems:
        parser.error(f"no sets in {HIGHDIM}")
    rows = []
    for problem in problems:
        for method in options.only:
            rows.append(measured(problem, method))
            _, name, ari, _, seconds, noisy = rows[-1]
            print(f"{problem.name:<14}{name:<20}{ari:7.3f}{seconds:9.2f} s  noisy {noisy:.3f}",
                  flush=True)  # fmt: skip
    for field, digits in (("ari", 3), ("nmi", 3), ("seconds", 2), ("noisy", 3)):
        print_table(rows, field, digits)
    print_floors(rows)
    cells = [(*row[:2], *(f"{value:.4f}" for value in row[2:])) for row in rows]
    print(f"\nwrote {write_csv(options.out / 'highdim.csv', Row._fields, cells)}")
    draw(rows, options.out / "highdim.png")


if __name__ == "__main__":
    main()
