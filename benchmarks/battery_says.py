"""Statements of fitted models about themselves, on the battery: counts, outliers, confidence."""

from __future__ import annotations

import itertools
import time

import numpy as np
import real_data
from battery_data import Problem
from floors import floor_line
from scipy.optimize import linear_sum_assignment
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import LocalOutlierFactor
from tqdm.auto import tqdm

from dogc import DOGC

FIRST, AMONG = 0.70, 0.88
KEPT = (1.0, 0.9, 0.75, 0.5)


def shapeless() -> list[tuple[str, np.ndarray]]:
    """Rows without clusters."""
    rng = np.random.default_rng(0)
    found = []
    for d in (2, 5, 10, 20):
        for n in (200, 500, 1500):
            found.append((f"uniform {n} x {d}", rng.random((n, d))))
            found.append((f"normal {n} x {d}", rng.standard_normal((n, d))))
    return found


def counts(problems: list[Problem]) -> None:
    """How often n_clusters="auto" is right: first, and among its first three."""
    hits: dict[str, list[tuple[bool, bool]]] = {}
    seconds = []
    for problem in tqdm(problems, desc="counts"):
        began = time.perf_counter()
        proposed = _proposed(problem.X)
        seconds.append(time.perf_counter() - began)
        hit = (proposed[0] in problem.counts, not set(problem.counts).isdisjoint(proposed[:3]))
        hits.setdefault(problem.family, []).append(hit)
        if not hit[0]:
            tqdm.write(f"{problem.name:<18} proposed {proposed[:3]}, references {problem.counts}")
    everything = [hit for family in hits.values() for hit in family]
    print('\nn_clusters="auto"     sets  first  among three')
    for family, found in {**hits, "all": everything}.items():
        first, among = np.mean(found, axis=0)
        print(f"{family:<20}{len(found):6}{first:7.2f}{among:13.2f}")
    first, among = np.mean(everything, axis=0)
    print(floor_line("right first", first, ">=", FIRST))
    print(floor_line("right among the first three", among, ">=", AMONG))
    for problem in real_data.real_problems():
        proposed = _proposed(problem.X)[:3]
        print(f"{problem.name:<20} {problem.counts[0]} classes, proposed {proposed}")
    ones = [(name, _proposed(X)) for name, X in shapeless()]
    share = np.mean([proposed[0] == 1 for _, proposed in ones])
    print(f"rows without clusters: 1 is proposed first on {share:.0%} of {len(ones)} sets")
    middle, most = np.median(seconds), max(seconds)
    print(f"a fit takes {middle:.2f} s (median), {most:.1f} s at most")


def _proposed(X: np.ndarray) -> list[int]:
    return [row.n_clusters for row in DOGC("auto").fit(X).cluster_counts_]


def outliers(problems: list[Problem]) -> None:
    """Area under the ROC curve of outlier scores for the noise points of the references."""
    table = []
    print("\noutliers          rows  noise    DOGC    LOF  forest")
    for problem in problems:
        noisy = [reference for reference in problem.references if (reference == 0).any()]
        if not noisy:
            continue
        truth, X = noisy[0] == 0, problem.X
        scores = {
            "DOGC": DOGC(int(noisy[0].max())).fit(X).outlier_scores_,
            "LOF": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
            "forest": -IsolationForest(random_state=0).fit(X).score_samples(X),
        }
        table.append([roc_auc_score(truth, score) for score in scores.values()])
        areas = "".join(f"{area:8.3f}" for area in table[-1])
        print(f"{problem.name:<16}{len(X):6}{truth.sum():7}{areas}", flush=True)
    print(f"{'mean':<29}" + "".join(f"{area:8.3f}" for area in np.mean(table, axis=0)))


def _right(reference: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """True for the rows that are right under the best renaming of clusters."""
    table = contingency_matrix(reference, labels)
    row, column = linear_sum_assignment(-table)
    matched = set(zip(np.unique(reference)[row], np.unique(labels)[column], strict=True))
    return np.array([pair in matched for pair in zip(reference, labels, strict=True)])


def confidence(problems: list[Problem]) -> None:
    """Accuracy of the rows that a model is most sure of, and by confidence."""
    families: dict[str, list[list[float]]] = {}
    sure, right, weight = [], [], []
    for problem in tqdm(problems, desc="confidence"):
        best: tuple[float, np.ndarray, np.ndarray] | None = None
        for c in problem.counts:
            model = DOGC(c).fit(problem.X)
            for reference in (r for r in problem.references if r.max() == c):
                inside = reference > 0
                found = _right(reference[inside], model.labels_[inside])
                if best is None or found.mean() > best[0]:
                    best = found.mean(), found, model.confidence_[inside]
        assert best is not None
        order = np.argsort(-best[2], kind="stable")
        curve = [best[1][order[: max(1, int(kept * len(order)))]].mean() for kept in KEPT]
        families.setdefault(problem.family, []).append(curve)
        right.append(best[1])
        sure.append(best[2])
        weight.append(np.full(len(order), 1.0 / len(order)))
    print("\naccuracy of the most confident share of rows, mean over sets")
    print(f"{'family':<20}" + "".join(f"{kept:8.0%}" for kept in KEPT))
    curves = [curve for family in families.values() for curve in family]
    for family, found in {**families, "all": curves}.items():
        print(f"{family:<20}" + "".join(f"{value:8.3f}" for value in np.mean(found, axis=0)))
    sure_, right_, weight_ = map(np.concatenate, (sure, right, weight))
    print("\nconfidence          accuracy  share of rows (every set counts the same)")
    edges = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0 + 1e-9)
    for low, high in itertools.pairwise(edges):
        here = (sure_ >= low) & (sure_ < high)
        accuracy = np.average(right_[here], weights=weight_[here])
        share = weight_[here].sum() / weight_.sum()
        print(f"{low:4.2f} to {min(high, 1.0):4.2f}{accuracy:16.3f}{share:15.3f}")
