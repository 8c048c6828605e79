"""The orderings that the paper claims, counted on our own numbers."""

from __future__ import annotations

import csv
import itertools
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..datasets import UCI_NAMES
from . import printed
from .printed import OURS

Scores = Mapping[str, Mapping[str, float]]  # data set -> method -> score


class Claim(NamedTuple):
    """A sentence of the paper, and where it holds here."""

    text: str
    column: str  # "oracle" or "honest"
    holds: tuple[str, ...]  # data sets
    fails: tuple[str, ...]
    ties: tuple[str, ...] = ()  # those of the first where the other side is as good


def read_scores(path: pathlib.Path, column: str, units: str = "paper", **where: str) -> Scores:
    """One column of a table that ``dogc paper tables`` wrote."""
    scores: dict[str, dict[str, float]] = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row.get("units", "") in ("", units) and where.items() <= row.items():
                scores.setdefault(row["data"], {})[row["method"]] = float(row[column])
    return scores


def tested(text: str, column: str, scores: Scores, lead: Callable[..., float]) -> Claim:
    """Count the data sets on which a claim holds: where the lead is not negative."""
    leads = {name: lead(score) for name, score in scores.items()}
    return Claim(
        text,
        column,
        tuple(name for name, by in leads.items() if by >= 0),
        tuple(name for name, by in leads.items() if by < 0),
        tuple(name for name, by in leads.items() if by == 0),
    )


def at_least(ours: Iterable[str], others: Sequence[str] | None = None) -> Callable[..., float]:
    """By how much the best of ours leads the best of the others (by default: all others)."""
    ours = set(ours)

    def lead(score: Mapping[str, float]) -> float:
        rest = set(score) - ours if others is None else others
        return max(score[name] for name in ours) - max(score[name] for name in rest)

    return lead


def complete(tables: Mapping[str, Sequence[Any]]) -> bool:
    """Whether every method is there on every data set of every table, by file name."""
    wanted = {
        "main.csv": (UCI_NAMES, printed.MAIN_METHODS),
        "ablation.csv": (printed.FIVE, printed.ABLATIONS),
        "out-of-sample.csv": (printed.FIVE, printed.OUT_OF_SAMPLE_METHODS),
    }
    return all(
        set(itertools.product(*names)) <= {(row.data, row.method) for row in tables.get(file, ())}
        for file, names in wanted.items()
    )


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
