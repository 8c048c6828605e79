"""The tables: which runs each needs, and how the runs become rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import printed
from .protocol import PREPROCESSINGS, Setting, halves_settings, has_chance, oracle_settings, seeded
from .runs import Cache, Result, Run, make_run, run_all

METRICS = ("acc", "nmi_max", "nmi_geometric", "purity")


class Row(NamedTuple):
    """One method on one data set by one measure, in three columns that are never mixed."""

    data: str
    method: str
    metric: str
    printed: float  # nan where the paper has none
    doubt: str  # why the printed number cannot be right; empty where it can
    oracle: float
    oracle_setting: str
    oracle_preprocessing: str
    honest_q1: float
    honest_median: float
    honest_q3: float
    kmeans: float  # median of k-means at its defaults on the preprocessing of the honest column
    oracle_kmeans: float  # the same on the preprocessing that the oracle chose
    seconds: float  # median of one fit at the defaults


def main_table(
    cache: Cache,
    datasets: Sequence[str],
    methods: Sequence[str] = printed.MAIN_METHODS,
    *,
    n_runs: int = 100,
    jobs: int = 1,
    quick: bool = False,
    progress: bool | None = None,
) -> list[Row]:
    """ACC, NMI and purity of the paper's ten methods (or the ablations)."""
    rows = []
    for data in datasets:
        for method in methods:
            usual = honest(cache, method, data, "z-score", n_runs, jobs, progress)
            winner, top = oracle(cache, method, data, n_runs, jobs, quick, progress)
            kmeans = [
                honest(cache, "KM", data, name, n_runs, jobs, progress)
                for name in ("z-score", winner.preprocessing)
            ]
            rows += list(_rows(winner, top, usual, *kmeans))
    return rows


def honest(
    cache: Cache,
    method: str,
    data: str,
    preprocessing: str,
    n_runs: int,
    jobs: int,
    progress: bool | None,
) -> list[Result]:
    """Runs at the defaults, one for each seed where a seed matters."""
    runs = _defaults(method, data, preprocessing, n_runs)
    run_all(runs, cache, jobs=jobs, title=f"{data} {method} defaults", progress=progress)
    return _good(cache, runs)


def _defaults(method: str, data: str, preprocessing: str, n_runs: int) -> list[Run]:
    drawn = [{"random_state": seed} for seed in range(n_runs)]
    settings = drawn if method in ("KM", "DKM") else [{}]
    return [make_run(method, data, setting, preprocessing) for setting in settings]


def oracle(
    cache: Cache,
    method: str,
    data: str,
    n_runs: int,
    jobs: int,
    quick: bool,
    progress: bool | None,
) -> tuple[Run, dict[str, float]]:
    """The best over grid, preprocessings and seeds, by ground truth.

    One seed goes over the whole grid; the setting with the best ACC, and the best of those with
    another number of dimensions, are then run with all seeds. Each measure keeps its own best, as
    the paper's tables do.
    """
    runs = [
        make_run(method, data, seeded(method, setting, 0), name)
        for name, setting in _grid(oracle_settings, method, data, quick)
    ]
    runs += _defaults(method, data, "z-score", n_runs)  # what the honest column has seen
    title = f"{data} {method} oracle"
    run_all(runs, cache, jobs=jobs, title=title, progress=progress)
    known = [run for run in runs if "acc" in (cache.get(run) or {})]
    more = [
        make_run(method, data, seeded(method, json.loads(best.setting), seed), best.preprocessing)
        for best in _best_two(cache, known)
        for seed in range(n_runs if has_chance(method) else 0)
    ]
    run_all(more, cache, jobs=jobs, title=title, progress=progress)
    winner = max([*known, *more], key=lambda run: _score(cache, run))
    results = _good(cache, [*known, *more])
    return winner, {metric: max(result[metric] for result in results) for metric in METRICS}


def _best_two(cache: Cache, runs: list[Run]) -> list[Run]:
    """The best run, and the best with another number of dimensions if there is one."""

    def dimensions(run: Run) -> Any:
        return json.loads(run.setting).get("n_components", "auto")

    ranked = sorted(runs, key=lambda run: -_score(cache, run))
    others = [run for run in ranked if dimensions(run) != dimensions(ranked[0])]
    return [ranked[0], *others[:1]]


def _grid(
    settings_of: Callable[..., Iterator[Setting]], method: str, data: str, quick: bool
) -> Iterator[tuple[str, Setting]]:
    """Preprocessings and settings; a few of them for a first look."""
    for name in ["z-score"] if quick else PREPROCESSINGS:
        settings = list(settings_of(method, *PREPROCESSINGS[name](data).shape))
        for setting in settings[:: max(1, len(settings) // 3)] if quick else settings:
            yield name, setting


def _score(cache: Cache, run: Run) -> float:
    return (cache.get(run) or {}).get("acc", -1.0)


def _good(cache: Cache, runs: list[Run]) -> list[Result]:
    results = [cache.get(run) or {} for run in runs]
    return [result for result in results if "acc" in result]


def _rows(
    winner: Run,
    top: dict[str, float],
    usual: list[Result],
    kmeans: list[Result],
    oracle_kmeans: list[Result],
) -> Iterator[Row]:
    data, method = winner.data, winner.method
    for metric in METRICS:
        q1, median, q3 = np.quantile([result[metric] for result in usual], [0.25, 0.5, 0.75])
        yield Row(
            data,
            method,
            metric,
            _printed(data, method, metric),
            printed.doubts().get((data, method), "") if metric == "acc" else "",
            top[metric],
            _readable(json.loads(winner.setting)),
            winner.preprocessing,
            float(q1),
            float(median),
            float(q3),
            float(np.median([result[metric] for result in kmeans])),
            float(np.median([result[metric] for result in oracle_kmeans])),
            float(np.median([result["seconds"] for result in usual])),
        )


def _printed(data: str, method: str, metric: str) -> float:
    tables = {
        "acc": (printed.ACC, printed.ABLATION_ACC),
        "nmi_max": (printed.NMI, printed.ABLATION_NMI),
        "nmi_geometric": (printed.NMI, printed.ABLATION_NMI),
    }.get(metric, ())
    for table in tables:
        if method in table.get(data, {}):
            return table[data][method]
    return float("nan")


def _readable(setting: Setting) -> str:
    shown: dict[str, Any] = {k: v for k, v in setting.items() if k != "random_state"}
    words = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in shown.items())
    return ", ".join(words) or "defaults"


class SplitRow(NamedTuple):
    """One method on the halves of one data set; medians and quartiles over the splits."""

    data: str
    method: str
    part: str  # "train" or "test"
    printed: float
    oracle: float  # best median over the grid, by ground truth
    oracle_setting: str
    oracle_preprocessing: str
    honest_q1: float
    honest_median: float
    honest_q3: float


def out_of_sample_table(
    cache: Cache,
    datasets: Sequence[str],
    *,
    n_splits: int = 20,
    jobs: int = 1,
    quick: bool = False,
    progress: bool | None = None,
) -> list[SplitRow]:
    """Training and test ACC with a 50/50 split: DOGC-OS by its regression, the others together.

    The oracle chooses one setting for all splits, by the median test ACC of the first four. The
    start is each method's own: the splits are what varies here.
    """
    rows = []
    for data in datasets:
        for method in printed.OUT_OF_SAMPLE_METHODS:
            title = f"{data} {method} halves"
            usual = _splits(method, data, {}, "z-score", n_splits)
            run_all(usual, cache, jobs=jobs, title=title, progress=progress)
            best = _best_on_halves(cache, method, data, n_splits, jobs, quick, title, progress)
            rows += list(_split_rows(cache, data, method, usual, best))
    return rows


def _splits(
    method: str, data: str, setting: Setting, preprocessing: str, n_splits: int
) -> list[Run]:
    return [make_run(method, data, setting, preprocessing, split) for split in range(n_splits)]


def _best_on_halves(
    cache: Cache,
    method: str,
    data: str,
    n_splits: int,
    jobs: int,
    quick: bool,
    title: str,
    progress: bool | None,
) -> list[Run]:
    def median(candidate: list[Run]) -> float:
        scores = [(cache.get(run) or {}).get("test_acc", np.nan) for run in candidate]
        return -1.0 if np.isnan(scores).any() else float(np.median(scores))

    few = min(4, n_splits)
    candidates = [
        _splits(method, data, setting, name, few)
        for name, setting in _grid(halves_settings, method, data, quick)
    ]
    runs = [run for candidate in candidates for run in candidate]
    run_all(runs, cache, jobs=jobs, title=title, progress=progress)
    winner = max(candidates, key=median)[0]
    chosen = _splits(method, data, json.loads(winner.setting), winner.preprocessing, n_splits)
    run_all(chosen, cache, jobs=jobs, title=title, progress=progress)
    return chosen


def _split_rows(
    cache: Cache, data: str, method: str, usual: list[Run], best: list[Run]
) -> Iterator[SplitRow]:
    tables = {"train": printed.TRAIN_ACC, "test": printed.TEST_ACC}
    for part, table in tables.items():
        scores = [(cache.get(run) or {})[f"{part}_acc"] for run in usual]
        top = [(cache.get(run) or {})[f"{part}_acc"] for run in best]
        q1, median, q3 = np.quantile(scores, [0.25, 0.5, 0.75])
        yield SplitRow(
            data,
            method,
            part,
            table[data][method],
            float(np.median(top)),
            _readable(json.loads(best[0].setting)),
            best[0].preprocessing,
            float(q1),
            float(median),
            float(q3),
        )
