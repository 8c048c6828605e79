"""The table of the README: dogc beside its peers on every kind of data.

python benchmarks/comparison.py                       # everything: about two hours
python benchmarks/comparison.py --only DOGC           # one method again, the others as kept
python benchmarks/comparison.py --data battery real   # some kinds of data
python benchmarks/comparison.py --missing             # what is not kept yet
python benchmarks/comparison.py --show                # the table of what is kept
python benchmarks/comparison.py --show --data highdim # and that of the sets of one kind of data

All methods are given the same rows and the number of classes, and all rows count: noise is one more
cluster. Scores are means over the sets, adjusted Rand indices (of UCI: accuracy); a fit that fails,
or takes more than LONGEST seconds, counts as one cluster. Seconds are CPU time on one thread, the
sum over the sets; "~" is an estimate for what would take too long. Results by set are kept in
docs/_static/comparison.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import pathlib
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any, NamedTuple

import battery_data
import highdim
import numpy as np
import real_data
import scale_data
import tables
from battery_data import Problem, write_csv
from peers import PEERS, timed

from dogc import DOGC, MixedEncoder
from dogc.app.files.clustering import asked_of
from dogc.datasets import UCI_NAMES
from dogc.metrics import clustering_accuracy
from dogc.paper import protocol

KEPT = pathlib.Path(__file__).parents[1] / "docs" / "_static" / "comparison.csv"
LONGEST = 900  # CPU seconds of one set
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
METHODS = ("DOGC", *PEERS)


class Case(NamedTuple):
    """One set, and what `dogc cluster` would set for DOGC."""

    problem: Problem
    settings: tuple[tuple[str, Any], ...] = ()


class Row(NamedTuple):
    """One method on one set."""

    data: str
    set: str
    method: str
    score: float
    seconds: float
    note: str = ""


def battery() -> Iterator[Case]:
    return map(Case, battery_data.problems())


def real() -> Iterator[Case]:
    return (Case(p) for p in real_data.real_problems() if p.family == real_data.REAL[0])


def highdims() -> Iterator[Case]:
    return map(Case, highdim.highdim_problems())


def categories(found: Iterator[tables.Table]) -> Iterator[Case]:
    """Tables after MixedEncoder."""
    for name, frame, y in found:
        encoder = MixedEncoder()
        X = encoder.fit_transform(frame)
        asked = tuple(item for item in asked_of(encoder, {}).items() if item[0] != "rule")
        yield Case(Problem(name, X, [y + 1]), asked)


def one_hot() -> Iterator[Case]:
    for name, frame, y in tables.real_tables():
        yield Case(Problem(name, tables.one_hot(frame), [y + 1]))


def uci() -> Iterator[Case]:
    for name in UCI_NAMES:
        X, y = protocol.rows_and_classes(name, "z-score")
        yield Case(Problem(name, X, [np.unique(y, return_inverse=True)[1] + 1]))


def scale(rows: int, *names: str) -> Iterator[Case]:
    for name in names:
        X, y = scale_data.make(name, rows)
        yield Case(Problem(name, X, [y + 1]))


# Name, how the table calls it, and its sets.
DATA: dict[str, tuple[str, Callable[[], Iterator[Case]]]] = {
    "battery": ("78 public problems", battery),
    "real": ("iris, wine, breast cancer, digits, raw", real),
    "tables": (
        "ten tables with categories, `MixedEncoder`",
        lambda: categories(tables.real_tables()),
    ),
    "tables, one-hot": ("the same, one-hot", one_hot),
    "highdim": ("nine sets of pixels, text embeddings, cells, genes", highdims),
    "scale": (
        "moons, blobs, rings, 100,000 rows each",
        lambda: scale(100_000, "moons 0.1", "blobs 3", "rings"),
    ),
    "million": ("two moons, a million rows", lambda: scale(1_000_000, "moons 0.1")),
    "uci": ("held out: twelve UCI sets, standardised (accuracy)", uci),
    "segments": (
        "held out: fifteen generated tables, `MixedEncoder`",
        lambda: categories(map(tables.segments, range(200, 215))),
    ),
}


def clustered(data: str, method: str, case: Case) -> tuple[float, float]:
    """Score and seconds of one method on one set; this process is ended after LONGEST seconds."""
    warnings.simplefilter("ignore")
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return scored(data, method, case)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def scored(data: str, method: str, case: Case) -> tuple[float, float]:
    """The best score over the references, by the protocol of the battery."""
    total = 0.0

    def cluster(X: np.ndarray, c: int) -> np.ndarray:
        nonlocal total
        labels, seconds = timed(PEERS.get(method, ours), X, c)
        total += seconds
        return np.asarray(labels)

    def ours(X: np.ndarray, c: int) -> np.ndarray:
        return DOGC(c, **dict(case.settings)).fit_predict(X)

    X, references = case.problem.X, case.problem.references
    if data == "uci":
        (y,) = references
        return clustering_accuracy(y, cluster(X, int(y.max()))), total
    return battery_data.best_score(case.problem, cluster), total


def warmed(method: str) -> None:
    """Compile and import what a method needs."""
    X = np.random.default_rng(0).normal(size=(5_000, 4))  # UMAP searches otherwise below 4,096
    clustered("", method, Case(Problem("", X, [np.arange(5_000) % 3])))


class Worker:
    """A process that clusters; another one after it was ended."""

    pool: ProcessPoolExecutor | None = None
    warm: set[str]

    def run(self, data: str, method: str, case: Case) -> Row:
        """The result, or what became of it; one cluster then."""
        y, began = case.problem.references[0], time.perf_counter()
        score = float(np.bincount(y).max() / len(y)) if data == "uci" else 0.0
        try:
            if self.pool is None:
                self.pool, self.warm = ProcessPoolExecutor(1, get_context("spawn")), set()
            if method not in self.warm:
                self.pool.submit(warmed, method).result()
                self.warm.add(method)
            score, seconds = self.pool.submit(clustered, data, method, case).result()
        except BrokenProcessPool:
            self.pool = None
            late = time.perf_counter() - began > LONGEST
            note = f"more than {LONGEST} s" if late else "more than the memory"
            return Row(data, case.problem.name, method, score, np.nan, note)
        except Exception as error:
            return Row(data, case.problem.name, method, score, 0.0, f"failed: {error}"[:80])
        return Row(data, case.problem.name, method, float(score), seconds)


def kept() -> dict[tuple[str, str, str], Row]:
    """Results of earlier runs, by data, set and method."""
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="", encoding="utf-8") as file:
        rows = [Row(*r[:3], float(r[3]), float(r[4]), r[5]) for r in list(csv.reader(file))[1:]]
    return {row[:3]: row for row in rows}


def keep(rows: dict[tuple[str, str, str], Row]) -> None:
    """Write all results, in the order of the tables."""
    order = {name: i for i, name in enumerate([*DATA, *METHODS])}
    by_place = sorted(rows.values(), key=lambda row: (order[row.data], row.set, order[row.method]))
    cells = [(*r[:3], f"{r.score:.4f}", f"{r.seconds:.4f}", r.note) for r in by_place]
    write_csv(KEPT, Row._fields, cells)


def estimated(rows: list[Row], method: str) -> str:
    """The time on a million moons from that on 100,000: it grows at least like n, or n^2."""
    known = {row.method: row.seconds for row in rows if row[:2] == ("scale", "moons 0.1")}
    if method not in known:
        return ""
    seconds = known[method] * (100 if "HDBSCAN" in method else 10)
    return f"{'too slow' if seconds > LONGEST else 'still to run'} (~{seconds:,.0f})"


def show(rows: list[Row]) -> None:
    """A row of Markdown for each kind of data: mean score (seconds)."""
    print(f"\n| data | {' | '.join(METHODS)} |")
    print("|---" * (len(METHODS) + 1) + "|")
    for data in dict.fromkeys(row.data for row in rows):
        own = {m: [r for r in rows if (r.data, r.method) == (data, m)] for m in METHODS}
        most = max(map(len, own.values()))
        means = {m: f"{np.mean([r.score for r in mine]):.3f}" for m, mine in own.items() if mine}
        best = max(text for method, text in means.items() if len(own[method]) == most)
        cells = []
        for method, mine in own.items():
            late = int(sum(np.isnan(row.seconds) for row in mine))
            seconds = np.nansum([row.seconds for row in mine]) + LONGEST * late
            text = f"**{best}**" if means.get(method) == best else means.get(method, "")
            text += f" ({'> ' * (late > 0)}{seconds:.{int(seconds < 9.95)}f})"
            text += "" if len(mine) == most else f", {len(mine)} of {most} sets"
            cells.append(text if mine else estimated(rows, method) if data == "million" else "")
        print(f"| {DATA[data][0]} | {' | '.join(cells)} |")
    for row in rows:
        if row.note:
            print(f"{row.method} on {row.set} ({row.data}): {row.note}")


def show_sets(rows: list[Row]) -> None:
    """A row of Markdown for each method: the score on every set, their mean, the seconds."""
    names = list(dict.fromkeys(row.set for row in rows))
    print(f"\n| {rows[0].data} | {' | '.join(names)} | mean | seconds |")
    print("|---" * (len(names) + 3) + "|")
    for method in METHODS:
        mine = {row.set: row for row in rows if row.method == method}
        scores = [mine[name].score if name in mine else np.nan for name in names]
        cells = (f"{score:.3f}" for score in [*scores, np.mean(scores)])
        seconds = np.nansum([row.seconds for row in mine.values()])
        print(f"| {method} | {' | '.join(cells)} | {seconds:.1f} |")


def is_installed(method: str) -> bool:
    """Whether the package of a method is there; what is kept of others stays."""
    needs = {"UMAP": "umap", "EVoC": "evoc", "Genie": "genieclust"}
    return find_spec(needs.get(method.split()[0], "numpy")) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS, metavar="NAME")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--missing", action="store_true", help="run what is not kept")
    parser.add_argument("--show", action="store_true", help="run nothing")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))  # for the process that clusters
    worker = Worker()
    for data in () if options.show else options.data:
        for case in DATA[data][1]():
            for method in filter(is_installed, options.only):
                if options.missing and (data, case.problem.name, method) in kept():
                    continue
                row = worker.run(data, method, case)
                print(f"{data:<16}{row.set:<24}{method:<18}{row.score:7.3f}{row.seconds:9.2f} s  "
                      f"{row.note}", flush=True)  # fmt: skip
                rows = kept()  # read again: other runs may have added theirs
                keep({**rows, row[:3]: row})
    rows = list(kept().values())
    show(rows)
    if len(options.data) == 1:
        show_sets([row for row in rows if row.data in options.data])


if __name__ == "__main__":
    main()
