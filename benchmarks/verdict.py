"""The verdict of ``evidence_`` on clusters, beside the truth.

python benchmarks/verdict.py [--jobs 1] [--picture docs/_static/verdict.svg]

The sets of shared/battery and shared/highdim, the UCI sets, and generated blobs, each at its
true number of clusters: how many fits have each verdict, and how many of them have an adjusted Rand
index of .8 and more; the rank correlation of stability with that index; and what the thresholds
would be if each family were left out. Then rows without clusters: cubes, Gaussians, heavy tails,
permuted columns, Gaussians with the covariance of real sets. Then good fits by stability, and
accuracy by membership: two curves, which `--picture` draws.

Exits with 1 where a floor is missed.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from battery_data import Problem, problems
from floors import floor_line
from highdim import highdim_problems
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale
from uci_data import DEFAULT_FOLDER, NAMES, load

from dogc import DOGC
from dogc.fitting import evidence

VERDICTS = ("clear", "plausible", "doubtful", "none")
GOOD = 0.8
BORDERS = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0)
# Between these the share of good fits is taken by stability.
STABILITY = (0.0, 0.3, 0.5, 0.65, 0.75, 0.85, 0.95, 1.0)


class Fit(NamedTuple):
    """The statements of a fit, and the truth."""

    family: str
    name: str
    evidence: Any
    ari: float  # NaN where there is no truth
    accuracy: list[float]  # between BORDERS of the membership; NaN where no row is


def uci() -> list[Problem]:
    """The twelve sets of the paper, standardised."""
    found = []
    for name in NAMES if DEFAULT_FOLDER.exists() else ():
        X, y = load(name, DEFAULT_FOLDER)
        found.append(Problem(name, X, [np.unique(y, return_inverse=True)[1] + 1], "uci"))
    return found


def blobs() -> list[Problem]:
    """Gaussian clusters from far apart to none, in few and in many columns."""
    rng, found = np.random.default_rng(11), []
    for n in (300, 1500):
        for d in (2, 8, 50):
            for c in (2, 4, 8):
                for spread in (0.6, 1.2, 2.0):
                    centres = rng.uniform(-1, 1, (c, d)) * 6 / np.sqrt(d)
                    y = rng.integers(0, c, n)
                    X = centres[y] + spread * rng.standard_normal((n, d))
                    found.append(Problem(f"blobs {n} {d} {c} {spread}", X, [y + 1], "blobs"))
    return found


def without_clusters() -> list[tuple[str, np.ndarray]]:
    """Rows that have no clusters."""
    rng, found = np.random.default_rng(101), []
    for n in (300, 1200, 2000):
        for d in (2, 3, 8, 40):
            found.append((f"cube {d}", rng.random((n, d))))
            found.append((f"Gaussian {d}", rng.standard_normal((n, d))))
        found.append(
            ("any covariance", rng.standard_normal((n, 30)) @ rng.standard_normal((30, 30)))
        )
        low = rng.standard_normal((n, 5)) @ rng.standard_normal((5, 100))
        found.append(("five factors", low + 0.3 * rng.standard_normal((n, 100))))
        found.append(("Laplace", rng.laplace(size=(n, 4))))
        found.append(("t, 5 degrees", rng.standard_t(5, (n, 6))))
        found.append(("gamma", rng.gamma(3, size=(n, 5))))
        found.append(("rectangle", rng.random((n, 2)) * [2, 1]))
    real = {"iris": datasets.load_iris().data, "wine": scale(datasets.load_wine().data)}
    real["digits"] = datasets.load_digits().data
    real |= {
        problem.name: problem.X
        for problem in uci()
        if problem.name in ("glass", "vehicle", "ecoli")
    }
    for name, X in real.items():
        found.append((f"{name}, permuted", rng.permuted(X, axis=0)))
        G = rng.multivariate_normal(X.mean(axis=0), np.cov(X.T), len(X), check_valid="ignore")
        found.append((f"{name}, its covariance", G))
    return found


def fit_of(problem: Problem, c: int) -> Fit:
    warnings.simplefilter("ignore")
    X = problem.X.astype(np.float64)
    model = DOGC(c).fit(X)
    if not problem.references:
        return Fit(problem.family, problem.name, model.evidence_, np.nan, [])
    truths = [truth for truth in problem.references if truth.max() == c]
    scores = [adjusted_rand_score(y[y > 0], model.labels_[y > 0]) for y in truths]
    truth = truths[int(np.argmax(scores))]
    table = np.zeros((int(truth.max()) + 1, c))
    np.add.at(table, (truth, model.labels_), 1)
    classes, clusters = linear_sum_assignment(-table[1:])
    name = dict(zip(clusters, classes + 1, strict=True))
    known = truth > 0
    right = np.array([name.get(label, -1) for label in model.labels_])[known] == truth[known]
    place = np.digitize(model.membership_[known], BORDERS[1:-1])
    accuracy = [
        float(right[place == i].mean()) if (place == i).any() else np.nan
        for i in range(len(BORDERS) - 1)
    ]
    return Fit(problem.family, problem.name, model.evidence_, max(scores), accuracy)


def counted(fits: list[Fit]) -> str:
    """How many fits have each verdict, and how many of them are good."""
    cells = []
    for verdict in VERDICTS:
        of = [fit for fit in fits if fit.evidence.verdict == verdict]
        good = sum(fit.ari >= GOOD for fit in of)
        cells.append(f"{len(of):>8} ({good})" if fits[0].ari == fits[0].ari else f"{len(of):>12}")
    return "".join(f"{cell:>14}" for cell in cells)


def clear_at(fits: list[Fit], stability: float, separation: float) -> list[Fit]:
    """The fits that would be clear at other thresholds."""
    least = evidence.CLEAR_EXCESS
    return [
        fit
        for fit in fits
        if fit.evidence.stability >= stability
        and fit.evidence.separation >= separation
        and fit.evidence.separation - fit.evidence.reference_separation >= least
    ]


def left_out(fits: list[Fit], chance: list[Fit]) -> list[Fit]:
    """The clear fits of each family at thresholds that the other families choose."""
    found = []
    for family in sorted({fit.family for fit in fits}):
        rest = [fit for fit in fits if fit.family != family]
        best = (-1, 0.0, 0.0)
        for stability in np.arange(0.6, 0.96, 0.05):
            for separation in np.arange(0.9, 1.8, 0.1):
                clear = clear_at(rest, stability, separation)
                good = sum(fit.ari >= GOOD for fit in clear)
                chosen = clear_at(chance, stability, separation)
                if clear and good >= 0.92 * len(clear) and len(chosen) <= 0.015 * len(chance):
                    best = max(best, (good, stability, separation))
        clear = clear_at([fit for fit in fits if fit.family == family], *best[1:])
        good = sum(fit.ari >= GOOD for fit in clear)
        at = f"stability {best[1]:.2f}, separation {best[2]:.1f}"
        print(f"{family:<22} {at}: {len(clear)} clear, {good} good")
        found += clear
    return found


def draw(good: list[float], accuracy: np.ndarray, path: pathlib.Path) -> None:
    """The two curves side by side, each bin as a step."""
    import matplotlib.pyplot as plt

    style = {"svg.fonttype": "none", "svg.hashsalt": "dogc", "font.size": 11}
    with plt.rc_context(style):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        axes[0].stairs(good, STABILITY, baseline=None, color="#2f6fab", linewidth=2.5)
        axes[0].set(xlabel="stability", ylabel=f"share of fits with ARI ≥ {GOOD}")
        axes[1].stairs(accuracy, BORDERS, baseline=None, color="#2f6fab", linewidth=2.5)
        axes[1].plot([0, 1], [0, 1], color="#9aa3ad", linestyle="--", zorder=0)
        axes[1].set(xlabel="membership", ylabel="share of rows that are right")
        for ax in axes:
            ax.set(xlim=(0, 1), ylim=(0, 1.02))
            ax.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
    print(f"wrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--picture", type=pathlib.Path, help="an SVG file to write")
    options = parser.parse_args()
    sets = [*problems(), *highdim_problems(), *uci(), *blobs()]
    tasks = [(problem, c) for problem in sets for c in problem.counts]
    tasks += [
        (Problem(name, X, [], "chance"), c) for name, X in without_clusters() for c in (2, 3, 5, 8)
    ]
    tasks.sort(key=lambda task: -task[0].X.size)
    found = Parallel(n_jobs=options.jobs, batch_size=1)(delayed(fit_of)(*task) for task in tasks)
    chance = [fit for fit in found if fit.family == "chance"]
    fits = [fit for fit in found if fit.family != "chance"]
    print(f"fits with each verdict, and those with an ARI of {GOOD} or more")
    print(f"{'':<22}" + "".join(f"{verdict:>14}" for verdict in VERDICTS))
    for family in sorted({fit.family for fit in fits}):
        print(f"{family:<22}" + counted([fit for fit in fits if fit.family == family]))
    print(f"{'all':<22}" + counted(fits))
    print(f"{'no clusters':<22}" + counted(chance))
    print(
        "\nclear, but wrong: "
        + ", ".join(
            f"{fit.name} {fit.ari:.2f}"
            for fit in fits
            if fit.evidence.verdict == "clear" and fit.ari < GOOD
        )
    )
    print(
        "clear without clusters: "
        + ", ".join(fit.name for fit in chance if fit.evidence.verdict == "clear")
    )
    print("\nthresholds of clear clusters chosen without the family")
    kept = left_out(fits, chance)
    real = [fit for fit in fits if fit.family != "blobs"]
    print(f"\nfits with an ARI of {GOOD} or more, by stability, without generated sets")
    place = np.digitize([fit.evidence.stability for fit in real], STABILITY[1:-1])
    good_at = [[fit.ari >= GOOD for fit, at in zip(real, place, strict=True) if at == i]
               for i in range(len(STABILITY) - 1)]  # fmt: skip
    for i, found_good in enumerate(good_at):
        share = f"{np.mean(found_good):.3f}" if found_good else "-"
        print(f"{STABILITY[i]:.2f} to {STABILITY[i + 1]:.2f}  {share}  of {len(found_good)}")
    print("\naccuracy by membership (every set counts the same)")
    table = np.array([fit.accuracy for fit in fits if fit.family not in ("blobs", "uci")])
    accuracy = np.nanmean(table, axis=0)
    for i, mean in enumerate(accuracy):
        print(f"{BORDERS[i]:.2f} to {BORDERS[i + 1]:.2f}  {mean:.3f}")
    if options.picture:
        draw([np.mean(each) if each else np.nan for each in good_at], accuracy, options.picture)
    correlation = spearmanr([fit.evidence.stability for fit in real], [fit.ari for fit in real])[0]
    clear = [fit for fit in fits if fit.evidence.verdict == "clear"]
    true = [fit for fit in real if fit.evidence.verdict == "clear"]

    def good(fits: list[Fit]) -> float:
        return float(np.mean([fit.ari >= GOOD for fit in fits]))

    said = [fit.evidence.verdict for fit in chance]
    low = (said.count("none") + said.count("doubtful")) / len(said)
    lines = [
        floor_line("clear fits that are good", good(clear), ">=", 0.9),
        floor_line("of them, without generated sets", good(true), ">=", 0.9),
        floor_line("the same, families left out", good(kept), ">=", 0.9),
        floor_line("no clusters, clear", said.count("clear") / len(said), "<=", 0.02),
        floor_line("no clusters, doubtful or none", low, ">=", 0.85),
        floor_line("rank correlation of stability with ARI", float(correlation), ">=", 0.6),
    ]
    print("\n" + "\n".join(lines))
    sys.exit(any("not met" in line for line in lines))


if __name__ == "__main__":
    main()
