"""Statements of fitted models about themselves, on the battery: counts, outliers, membership."""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

import numpy as np
import real_data
from battery_data import Problem
from floors import floor_line
from highdim import highdim_problems
from scipy.optimize import linear_sum_assignment
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import LocalOutlierFactor
from tqdm.auto import tqdm

from dogc import DOGC
from dogc.fitting.auto import n_clusters as rule

FIRST, AMONG, ONES = 0.70, 0.88, 0.9
# Sets with many columns whose number is to be right within a factor of two.
NEAR = 5
# Constants of the rule among which families that are left out choose.
GRID = ((0.5, 0.6, 0.7, 0.8), (0.25, 0.5, 0.75), (0.4, 0.5, 0.6), (0.5, 0.6, 0.7))
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


class Proposal(NamedTuple):
    """The evidence for numbers of clusters of one set, and which numbers are right."""

    family: str
    right: list[int]
    table: list[rule.CountEvidence]

    def hit(self, proposed: list[int]) -> tuple[bool, bool]:
        """Whether the first is right, and whether one of three is."""
        return proposed[0] in self.right, not set(self.right).isdisjoint(proposed[:3])


def counts(problems: list[Problem]) -> None:
    """How often n_clusters="auto" is right: first, and among its first three."""
    found, seconds = [], []
    for problem in tqdm(problems, desc="counts"):
        began = time.perf_counter()
        found.append(Proposal(problem.family, problem.counts, _table(problem.X)))
        seconds.append(time.perf_counter() - began)
        proposed = _numbers(found[-1].table)
        if not found[-1].hit(proposed)[0]:
            tqdm.write(f"{problem.name:<18} proposed {proposed[:3]}, references {problem.counts}")
    hits = [proposal.hit(_numbers(proposal.table)) for proposal in found]
    _print_hits('n_clusters="auto"', found, hits)
    ones = [_table(X) for _, X in shapeless()]
    _print_hits("families left out", found, families_left_out(found, ones))
    for problem in real_data.real_problems():
        proposed = _numbers(_table(problem.X))[:3]
        print(f"{problem.name:<20} {problem.counts[0]} classes, proposed {proposed}")
    factors, fewest = [], np.inf
    for problem in highdim_problems():
        c, proposed = problem.counts[0], _numbers(_table(problem.X))
        factors.append(max(c, proposed[0]) / min(c, proposed[0]))
        fewest = min(fewest, proposed[0])
        print(f"{problem.name:<20} {c} classes, proposed {proposed[:3]}")
    if factors:
        print(floor_line("least number in many columns", fewest, ">=", 2))
        near = sum(factor <= 2 for factor in factors)
        print(floor_line(f"of {len(factors)} sets within a factor of two", near, ">=", NEAR))
    share = np.mean([_numbers(table)[0] == 1 for table in ones])
    print(floor_line(f"1 on {len(ones)} sets without clusters", share, ">=", ONES))
    middle, most = np.median(seconds), max(seconds)
    print(f"a fit takes {middle:.2f} s (median), {most:.1f} s at most")


def families_left_out(
    found: list[Proposal], ones: list[list[rule.CountEvidence]]
) -> list[tuple[bool, bool]]:
    """Hits on each set by the constants that are best on all other families."""
    own = rule.LEVEL, rule.SHARE, rule.GREAT_EXCESS, rule.POWER
    hits, missed = {}, {}
    for constants in (own, *itertools.product(*GRID)):
        rule.LEVEL, rule.SHARE, rule.GREAT_EXCESS, rule.POWER = constants
        hits[constants] = [proposal.hit(_again(proposal.table)) for proposal in found]
        missed[constants] = np.mean([_again(table)[0] != 1 for table in ones]) > 1.0 - ONES
    rule.LEVEL, rule.SHARE, rule.GREAT_EXCESS, rule.POWER = own
    best = {}
    for family in {proposal.family for proposal in found}:
        others = [i for i, proposal in enumerate(found) if proposal.family != family]
        allowed = [constants for constants in hits if not missed[constants]]
        best[family] = max(allowed, key=lambda x: np.sum([hits[x][i] for i in others]))
        print(f"without {family:<20} level, share, great excess, power: {best[family]}")
    return [hits[best[proposal.family]][i] for i, proposal in enumerate(found)]


def _again(table: list[rule.CountEvidence]) -> list[int]:
    """The numbers in the order that the constants of today give them."""
    apart = min(_numbers(table)) - 1  # small groups, which count anyway
    rows = [row for row in table if row.n_clusters > apart + 1]
    for level in (rule.level_of, rule.lowest_level):
        again = []
        for row in rows:
            c, at = row.n_clusters - apart, level(row.reference)
            again.append(row._replace(score=c**rule.POWER * (row.firmness - at)))
        ordered = rule._ordered([rule.CountEvidence(apart + 1, 0.0, 0, 1), *again])
        if ordered[0].n_clusters > apart + 1:
            break
    return _numbers(ordered)


def _print_hits(title: str, found: list[Proposal], hits: list[tuple[bool, bool]]) -> None:
    print(f"\n{title:<20}  sets  first  among three")
    for family in [*dict.fromkeys(proposal.family for proposal in found), "all"]:
        here = [hit for x, hit in zip(found, hits, strict=True) if family in (x.family, "all")]
        first, among = np.mean(here, axis=0)
        print(f"{family:<20}{len(here):6}{first:7.2f}{among:13.2f}")
    print(floor_line("right first", first, ">=", FIRST))
    print(floor_line("right among the first three", among, ">=", AMONG))


def _table(X: np.ndarray) -> list[rule.CountEvidence]:
    return DOGC("auto").fit(X).cluster_counts_


def _numbers(table: list[rule.CountEvidence]) -> list[int]:
    return [row.n_clusters for row in table]


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


def membership(problems: list[Problem]) -> None:
    """Accuracy of the rows with the highest membership, and by membership."""
    families: dict[str, list[list[float]]] = {}
    sure, right, weight = [], [], []
    for problem in tqdm([*problems, *highdim_problems()], desc="membership"):
        best: tuple[float, np.ndarray, np.ndarray] | None = None
        for c in problem.counts:
            model = DOGC(c).fit(problem.X)
            for reference in (r for r in problem.references if r.max() == c):
                inside = reference > 0
                found = _right(reference[inside], model.labels_[inside])
                if best is None or found.mean() > best[0]:
                    best = found.mean(), found, model.membership_[inside]
        assert best is not None
        order = np.argsort(-best[2], kind="stable")
        curve = [best[1][order[: max(1, int(kept * len(order)))]].mean() for kept in KEPT]
        families.setdefault(problem.family, []).append(curve)
        right.append(best[1])
        sure.append(best[2])
        weight.append(np.full(len(order), 1.0 / len(order)))
    print("\naccuracy of the rows with the highest membership, mean over sets")
    print(f"{'family':<20}" + "".join(f"{kept:8.0%}" for kept in KEPT))
    curves = [curve for family in families.values() for curve in family]
    for family, found in {**families, "all": curves}.items():
        print(f"{family:<20}" + "".join(f"{value:8.3f}" for value in np.mean(found, axis=0)))
    sure_, right_, weight_ = map(np.concatenate, (sure, right, weight))
    print("\nmembership          accuracy  share of rows (every set counts the same)")
    edges = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0 + 1e-9)
    for low, high in itertools.pairwise(edges):
        here = (sure_ >= low) & (sure_ < high)
        accuracy = np.average(right_[here], weights=weight_[here])
        share = weight_[here].sum() / weight_.sum()
        print(f"{low:4.2f} to {min(high, 1.0):4.2f}{accuracy:16.3f}{share:15.3f}")
