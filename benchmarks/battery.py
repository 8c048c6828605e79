"""Every method at its defaults on a battery of problems nobody here wrote.

python benchmarks/battery.py [--rows 3000] [--out battery-output] [--part main noise counts ...]

main        mean ARI by family and over all sets, with a CSV file and a picture: sets x methods
noise       what the projection does about 50 columns of noise
counts      what n_clusters="auto" proposes
outliers    outlier scores of the noise points, beside two of scikit-learn's
membership  how often rows are right, by their membership
time        what n_neighbors="auto" costs, in fits with 15 neighbours

Needs the battery (its protocol: drop constant columns, centre, divide by one number; cluster with
each count among the references; the best adjusted Rand index over them) and the packages of
peers.py.
"""

from __future__ import annotations

import argparse
import pathlib
import time
import warnings

import battery_data
import battery_says
import numpy as np
from battery_data import Problem, write_csv
from peers import METHODS, OURS
from tqdm.auto import tqdm

from dogc import DOGC

Scores = dict[str, dict[str, float]]  # by set and method


def compare(options: argparse.Namespace, problems: list[Problem]) -> None:
    """ARI of every method on every set: a table of means, a file and a picture."""
    table: Scores = {}
    seconds = dict.fromkeys(METHODS, 0.0)
    for problem in tqdm(problems, desc="sets"):
        for name, cluster in METHODS.items():
            began = time.perf_counter()
            table.setdefault(problem.name, {})[name] = battery_data.best_score(problem, cluster)
            seconds[name] += time.perf_counter() - began
    print_means(problems, table, seconds)
    rows = [
        (p.name, p.family, len(p.X), *(f"{table[p.name][m]:.4f}" for m in METHODS))
        for p in problems
    ]
    path = write_csv(options.out / "battery.csv", ("set", "family", "n", *METHODS), rows)
    print(f"wrote {path}")
    print(f"wrote {draw(table, options.out / 'battery.png')}")


def groups(problems: list[Problem]) -> dict[str, list[str]]:
    """The names of the sets that a mean is taken over: families, suites, all."""
    found = {f: [p.name for p in problems if p.family == f] for f in battery_data.FAMILIES}
    found["first, n <= 3000"] = [p.name for p in problems if battery_data.is_early(p)]
    found["deric"] = [p.name for p in problems if p.family in battery_data.SECOND]
    found["all"] = [p.name for p in problems]
    return {group: names for group, names in found.items() if names}


def print_means(problems: list[Problem], table: Scores, seconds: dict[str, float]) -> None:
    columns = groups(problems)
    width = {group: max(6, len(group)) for group in columns}
    print(f"\n{'mean ARI':<18}", *(f"{g:>{width[g]}}" for g in columns), "seconds", sep="  ")
    print(f"{'sets':<18}", *(f"{len(s):>{width[g]}}" for g, s in columns.items()), sep="  ")
    for method in METHODS:
        means = (
            f"{np.mean([table[s][method] for s in sets]):{width[group]}.4f}"
            for group, sets in columns.items()
        )
        print(f"{method:<18}", *means, f"{seconds[method]:7.1f}", sep="  ")


def draw(table: Scores, path: pathlib.Path) -> pathlib.Path:
    """A dot for each set and method; ours in colour, the mean of each at the top."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = sorted(table, key=lambda s: -np.mean(list(table[s].values())))
    colours = {"DOGC": "#2563a8", "DOGC-OS": "#d9772b", "CAN": "#3c8d5a"}
    figure, axis = plt.subplots(figsize=(9, 0.26 * len(names) + 1.5), layout="constrained")
    greys = plt.get_cmap("Greys")(np.linspace(0.35, 0.75, len(METHODS) - len(OURS)))
    for i, method in enumerate(m for m in METHODS if m not in OURS):
        look = {"marker": "x^sv+D*<>pPh"[i], "color": greys[i], "s": 22, "linewidths": 1}
        axis.scatter([table[s][method] for s in names], range(len(names)), label=method, **look)
    for offset, method in zip((0.0, 0.18, -0.18), OURS, strict=True):
        axis.scatter([table[s][method] for s in names], np.arange(len(names)) + offset, s=34,
                     color=colours[method], label=method, zorder=3)  # fmt: skip
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set(xlabel="adjusted Rand index", xlim=(-0.1, 1.03), ylim=(len(names) - 0.4, -0.6))
    axis.grid(axis="y", lw=0.3)
    axis.legend(fontsize=8, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def noise(problems: list[Problem]) -> None:
    """ARI with 50 columns of noise: no projection, and n_components="auto"."""
    print("\n50 noise columns     none   auto")
    scores = []
    for problem in (p for p in problems if p.name in battery_data.NOISY):
        noisy = battery_data.with_noise(problem)
        scores.append(
            [
                battery_data.best_score(
                    noisy, lambda X, c, m=m: DOGC(c, n_components=m).fit_predict(X)
                )
                for m in (None, "auto")
            ]
        )
        print(f"{problem.name:<18} {scores[-1][0]:6.3f} {scores[-1][1]:6.3f}", flush=True)
    none, auto = np.array(scores).T
    print(
        f"{'mean':<18} {none.mean():6.3f} {auto.mean():6.3f}; worst loss {(none - auto).max():.3f}"
    )


def cost(problems: list[Problem]) -> None:
    """Time of n_neighbors="auto" in units of a fit with 15 neighbours."""
    ratios = []
    for problem in tqdm(problems, desc="time"):
        for c in problem.counts:
            taken = []
            for k in (15, "auto"):
                began = time.perf_counter()
                DOGC(c, n_neighbors=min(k, len(problem.X) - 1) if k == 15 else k).fit(problem.X)
                taken.append(time.perf_counter() - began)
            ratios.append(taken[1] / taken[0])
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    print(f"n_neighbors='auto' costs {middle:.2f} fits (quartiles {low:.2f}, {high:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ["main", "noise", "counts", "outliers", "membership", "time"]
    parser.add_argument("--rows", type=int, default=10**9, help="leave larger sets out")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("battery-output"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    problems = list(battery_data.problems(most_rows=options.rows))
    if not problems:
        parser.error(f"no battery in {battery_data.BATTERY}")
    if "main" in options.part:
        compare(options, problems)
    for part, function in (
        ("noise", noise),
        ("counts", battery_says.counts),
        ("outliers", battery_says.outliers),
        ("membership", battery_says.membership),
        ("time", cost),
    ):
        if part in options.part:
            function(problems)


if __name__ == "__main__":
    main()
