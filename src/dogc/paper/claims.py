"""The orderings that the paper claims, counted on our own numbers."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Scores = Mapping[str, Mapping[str, float]]  # data set -> method -> score

OURS = ("DOGC", "DOGC-OS")


class Claim(NamedTuple):
    """A sentence of the paper, and where it holds here."""

    text: str
    column: str  # "oracle" or "honest"
    holds: tuple[str, ...]  # data sets
    fails: tuple[str, ...]


def read_scores(path: pathlib.Path, column: str, **where: str) -> Scores:
    """One column of a table that ``dogc paper tables`` wrote."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if where.items() <= row.items()]
    scores: dict[str, dict[str, float]] = {}
    for row in rows:
        scores.setdefault(row["data"], {})[row["method"]] = float(row[column])
    return scores


def tested(text: str, column: str, scores: Scores, holds: Callable[..., bool]) -> Claim:
    """Count the data sets on which a claim holds."""
    good = tuple(name for name, score in scores.items() if holds(score))
    return Claim(text, column, good, tuple(name for name in scores if name not in good))


def at_least(ours: Iterable[str], others: Sequence[str] | None = None) -> Callable[..., bool]:
    """Whether the best of ours reaches the best of the others (by default: all others)."""
    ours = set(ours)

    def holds(score: Mapping[str, float]) -> bool:
        rest = set(score) - ours if others is None else others
        return max(score[name] for name in ours) >= max(score[name] for name in rest)

    return holds


def claims(folder: pathlib.Path) -> list[Claim]:
    """All claims about the tables in a folder, in both of our columns."""
    found = []
    for column, name in (("oracle", "oracle"), ("honest", "honest_median")):
        main = read_scores(folder / "main.csv", name, metric="acc")
        ablation = read_scores(folder / "ablation.csv", name, metric="acc")
        halves = read_scores(folder / "out-of-sample.csv", name, part="test")
        best = "DOGC or DOGC-OS has the best ACC of the ten methods"
        found += [
            tested(best, column, main, at_least(OURS)),
            tested("DOGC-OS is not below DOGC-I", column, ablation, at_least(OURS[1:], ["DOGC-I"])),
            tested(
                "DOGC-OS is not below DOGC-II", column, ablation, at_least(OURS[1:], ["DOGC-II"])
            ),
            tested("DOGC-OS has the best ACC on test rows", column, halves, at_least(OURS[1:])),
        ]
    return found
