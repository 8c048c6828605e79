"""Real data at the defaults, beside peers in the same run; some means are held to floors.

python benchmarks/real.py [--out real-output] [--part sets uci moons]

sets    ARI on four sets of scikit-learn, raw and standardised, and on ten mixed tables
uci     mean ACC on the twelve UCI sets of the paper, z-scored
moons   the worst of twenty draws of two moons

The tables are left out where they are not at hand. real.csv in `--out` has one row a set.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings

import numpy as np
import real_data
from battery_data import Problem, best_score, write_csv
from floors import floor_line
from peers import METHODS, Cluster
from sklearn.datasets import make_moons
from tqdm.auto import tqdm

from dogc import DOGC
from dogc.datasets import UCI_NAMES
from dogc.metrics import clustering_accuracy
from dogc.paper import protocol

GIVEN, NO_PROJECTION = "DOGC, given", "DOGC, no W"
PEERS = ("Spectral, k-means", "k-means", "Gaussian mixture", "Ward", "HDBSCAN")
COMPARED: dict[str, Cluster] = {
    "DOGC": METHODS["DOGC"],
    GIVEN: lambda X, c: DOGC(c, geometry="given").fit_predict(X),
    NO_PROJECTION: lambda X, c: DOGC(c, n_components=None).fit_predict(X),
    **{name: METHODS[name] for name in PEERS},
}
UCI_METHODS = {name: METHODS[name] for name in ("DOGC", "CAN", *PEERS)}
# What CAN and k-means had when the floor was set.
UCI_FLOOR = 0.613
MOONS_FLOOR = 0.98
LARGEST_LOSS = 0.02
DRAWS = 20
WIDTH = {name: max(6, len(name)) for name in COMPARED}


def sets(out: pathlib.Path) -> None:
    """A row for each set, the means of the real ones and of the tables, and the floors."""
    real, tables = list(real_data.real_problems()), list(real_data.table_problems())
    print(f"\n{'ARI':<20}{'n':>6}{'d':>5}", *(f"{m:>{WIDTH[m]}}" for m in COMPARED), sep="  ")
    scores = np.array([score(problem) for problem in tqdm([*real, *tables], desc="sets")])
    titles = {"mean of the real sets": slice(0, len(real))}
    if tables:
        titles["mean of the tables"] = slice(len(real), None)
    for title, rows in titles.items():
        print_row(f"{title:<31}", scores[rows].mean(axis=0))
    names = [problem.name for problem in (*real, *tables)]
    cells = [(name, *(f"{s:.4f}" for s in row)) for name, row in zip(names, scores, strict=True)]
    path = write_csv(out / "real.csv", ("set", *COMPARED), cells)
    print_floors(names, scores, len(real))
    print(f"wrote {path}")


def score(problem: Problem) -> list[float]:
    """ARI of every method on one set, printed as they are known."""
    scores = [best_score(problem, cluster) for cluster in COMPARED.values()]
    n, d = problem.X.shape
    print_row(f"{problem.name:<20}{n:6}{d:5}", scores)
    return scores


def print_row(title: str, scores: list[float] | np.ndarray) -> None:
    cells = (f"{s:{WIDTH[m]}.4f}" for m, s in zip(COMPARED, scores, strict=True))
    tqdm.write("  ".join([title, *cells]))


def print_floors(names: list[str], scores: np.ndarray, n_real: int) -> None:
    """DOGC beside each peer on the real sets; what the projection costs where it costs most."""
    mean = dict(zip(COMPARED, scores[:n_real].mean(axis=0), strict=True))
    print()
    for peer in ("Spectral, k-means", "k-means", "Ward", "Gaussian mixture"):
        kind = "goal" if peer == "Gaussian mixture" else "must"
        text = f"real sets, DOGC against {peer} ({kind})"
        print(floor_line(text, mean["DOGC"], ">=", mean[peer]))
    auto, none = (scores[:, list(COMPARED).index(m)] for m in ("DOGC", NO_PROJECTION))
    loss = none - auto
    text = f"most lost by n_components='auto' ({names[loss.argmax()]})"
    print(floor_line(text, loss.max(), "<=", LARGEST_LOSS))


def uci() -> None:
    """Mean ACC on the z-scored UCI sets."""
    found: dict[str, list[float]] = {method: [] for method in UCI_METHODS}
    print(
        f"\n{'ACC, UCI z-scored':<20}", *(f"{m:>{WIDTH.get(m, 6)}}" for m in UCI_METHODS), sep="  "
    )
    for name in UCI_NAMES:
        X, truth = protocol.rows_and_classes(name, "z-score")
        for method, cluster in UCI_METHODS.items():
            labels = cluster(X, len(np.unique(truth)))
            found[method].append(clustering_accuracy(truth, labels))
        print_uci(name, [scores[-1] for scores in found.values()])
    print_uci("mean", [float(np.mean(scores)) for scores in found.values()])
    ours = float(np.mean(found["DOGC"]))
    print(floor_line("mean ACC on the UCI sets, DOGC", ours, ">=", UCI_FLOOR))
    for peer in ("CAN", "k-means"):
        needed = float(np.mean(found[peer]))
        print(floor_line(f"mean ACC on the UCI sets, DOGC against {peer}", ours, ">=", needed))


def print_uci(title: str, scores: list[float]) -> None:
    cells = (f"{s:{WIDTH.get(m, 6)}.4f}" for m, s in zip(UCI_METHODS, scores, strict=True))
    print(f"{title:<20}", *cells, sep="  ", flush=True)


def moons() -> None:
    """The worst ACC over draws of two moons, with 10 neighbours and at the defaults."""
    print()
    drawn = [make_moons(200, noise=0.08, random_state=seed) for seed in range(DRAWS)]
    for text, parameters in {"n_neighbors=10": {"n_neighbors": 10}, "the defaults": {}}.items():
        found = [
            clustering_accuracy(truth, DOGC(2, **parameters).fit_predict(X)) for X, truth in drawn
        ]
        print(floor_line(f"two moons, worst of {DRAWS}, {text}", min(found), ">=", MOONS_FLOOR))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = ["sets", "uci", "moons"]
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("real-output"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if "sets" in options.part:
        sets(options.out)
    if "uci" in options.part:
        uci()
    if "moons" in options.part:
        moons()


if __name__ == "__main__":
    main()
