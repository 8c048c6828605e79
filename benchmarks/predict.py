"""Whether predict can be trusted: on the rows that were fitted, and on rows that were not.

python benchmarks/predict.py [--data FOLDER]

repeats     share of labels_ that predict gives again on the fitted rows
halves      ACC of labels_ on one half of the rows and of predict on the other, the mean of five
            draws; classes are those of the data
linear      share of DOGC-OS's labels that a logistic regression on standardised columns gives again
rule        what rule="auto" chooses, as the command line does

The twelve UCI sets are z-scored and need their folder; without it they are left out.
"""

from __future__ import annotations

import argparse
import pathlib
import warnings
from collections.abc import Iterator

import numpy as np
import real_data
import uci_data
from floors import floor_line
from sklearn.datasets import make_circles, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from dogc import DOGC, DOGCOS
from dogc.metrics import clustering_accuracy

REPEATED = 0.97
Set = tuple[str, np.ndarray, np.ndarray]


def straight(folder: pathlib.Path) -> Iterator[Set]:
    """Data that people have."""
    if folder.is_dir():
        for name in uci_data.NAMES:
            yield f"uci {name}", *uci_data.load(name, folder)
    for problem in real_data.real_problems():
        yield problem.name, problem.X, problem.references[0] - 1


def curved() -> Iterator[Set]:
    """Clusters that no linear rule can tell apart."""
    rng, halves = np.random.default_rng(0), np.repeat([0, 1], 300)
    noise = 0.05 * rng.standard_normal((600, 3))
    yield "two moons", *make_moons(600, noise=0.08, random_state=0)
    yield "two circles", *make_circles(600, noise=0.05, factor=0.4, random_state=0)
    turn = np.pi * (1.0 + 3.0 * np.sqrt(rng.random(600)))
    angle = turn + np.pi * halves
    arms = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    yield "two spirals", arms / np.pi + noise[:, :2], halves
    angle = 2.0 * np.pi * rng.random(600)
    x, y = np.cos(angle), np.sin(angle)
    linked = np.where(halves[:, None] == 0, np.column_stack([x, y, 0.0 * x]),
                      np.column_stack([1.0 + x, 0.0 * x, y]))  # fmt: skip
    yield "linked rings", linked + noise, halves
    shell = rng.standard_normal((600, 3))
    shell /= np.linalg.norm(shell, axis=1, keepdims=True)
    yield "ball in a shell", shell * np.where(halves == 0, 0.3, 1.5)[:, None] + noise, halves


def repeats(model: DOGC, X: np.ndarray) -> float:
    """As users would check it."""
    return float(np.mean(model.predict(X) == model.labels_))


def in_halves(model: DOGC, X: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """ACC on the half that is fitted and on the other, the mean of five draws."""
    found = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        known, new = np.array_split(order, 2)
        model.fit(X[known])
        found.append((clustering_accuracy(truth[known], model.labels_),
                      clustering_accuracy(truth[new], model.predict(X[new]))))  # fmt: skip
    return np.mean(found, axis=0)


def by_logistic_regression(X: np.ndarray, labels: np.ndarray) -> float:
    """The share of labels that a linear rule can repeat."""
    Z = scale(X)
    return float(LogisticRegression(C=1e3, max_iter=1000).fit(Z, labels).score(Z, labels))


def show(sets: Iterator[Set]) -> dict[str, list[float]]:
    """A line for each set; repeats of DOGC and DOGC-OS and what a linear rule can do."""
    found: dict[str, list[float]] = {}
    for name, X, truth in sets:
        c = len(np.unique(truth))
        near, linear = DOGC(c).fit(X), DOGCOS(c).fit(X)
        shares = [repeats(near, X), repeats(linear, X), by_logistic_regression(X, linear.labels_)]
        assert shares[1] == linear.label_agreement_
        halves = [in_halves(DOGC(c), X, truth), in_halves(DOGCOS(c), X, truth)]
        rule = DOGCOS(c, rule="auto").fit(X).rule_
        found[name] = [*shares, float(rule == "neighbors")]
        print(f"{name:<20}{len(X):6}{shares[0]:8.3f}{halves[0][0]:7.3f}{halves[0][1]:6.3f}"
              f"{shares[1]:10.3f}{halves[1][0]:7.3f}{halves[1][1]:6.3f}{shares[2]:9.3f}  {rule}",
              flush=True)  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, default=uci_data.DEFAULT_FOLDER)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':<26}{'DOGC':^23}{'DOGC-OS':^23}")
    print(f"{'set':<22}rows repeats  halves        repeats  halves        linear  rule")
    plain = show(straight(options.data))
    bent = show(curved())
    print()
    worst = min(row[0] for row in [*plain.values(), *bent.values()])
    print(floor_line("DOGC: least share of labels_ repeated", worst, ">=", REPEATED))
    able = [row for row in plain.values() if row[2] >= REPEATED]
    text = f"DOGC-OS: the same on {len(able)} sets where a linear rule can"
    print(floor_line(text, min(row[1] for row in able), ">=", REPEATED))
    fallen = sum(row[3] for row in bent.values())
    print(floor_line("curved sets on which neighbours step in", fallen, ">=", len(bent), 0))


if __name__ == "__main__":
    main()
