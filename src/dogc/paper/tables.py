"""The tables: which runs each needs, and how the runs become rows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import printed
from .oracle import (
    HALVES_DRAWS,
    QUICK_DRAWS,
    Best,
    as_setting,
    drawn,
    grid,
    oracle,
    result_of,
    scored,
)
from .protocol import DRAWN, UNITS, Setting, grid_settings, search_space
from .rerun import command_of, seed_of, setting_text
from .runs import Cache, Options, Result, Run, code_version, make_run, run_all

KEPT_OF_HALVES = 10  # settings that are run on all splits


class Row(NamedTuple):
    """One method on one data set by one measure, in three columns that are never mixed."""

    data: str
    method: str
    metric: str
    units: str  # of the oracle's penalties, "paper" or "relative"; empty where there are none
    printed: float  # nan where the paper has none
    doubt: str  # why the printed number cannot be right; empty where it can
    oracle: float  # the best of all that was tried, by this measure
    oracle_start: str  # "seed 7", or "no seed" where the start is not drawn
    oracle_share: float  # of the seeds that reach it at that setting
    oracle_median: float  # over the seeds at that setting
    oracle_preprocessing: str
    oracle_setting: str
    oracle_tried: int  # runs of which it is the best
    honest_q1: float
    honest_median: float
    honest_q3: float
    kmeans: float  # median of k-means at its defaults on the preprocessing of the honest column
    oracle_kmeans: float  # the same on the preprocessing that the oracle chose
    seconds: float  # median of one fit at the defaults
    seeds: int  # of each setting that is reported
    extent: str  # "full", or "quick" for a first look
    version: str  # of the code that was run
    oracle_command: str  # gives the oracle's number again
    honest_command: str  # gives the honest ones again


def main_table(
    cache: Cache,
    datasets: Sequence[str],
    methods: Sequence[str] = printed.MAIN_METHODS,
    options: Options = Options(),  # noqa: B008
) -> list[Row]:
    """ACC, NMI and purity of the paper's ten methods (or the ablations)."""
    rows: list[Row] = []
    for data in datasets:
        for method in methods:
            for units in UNITS if method in DRAWN else ("",):
                rows += _rows(cache, method, data, units, options)
    return rows


def honest(
    cache: Cache, method: str, data: str, preprocessing: str, options: Options
) -> list[Result]:
    """Runs at the defaults, one for each seed where a seed matters."""
    runs = _defaults(method, data, preprocessing, options.n_runs)
    title = f"{data} {method} defaults"
    run_all(runs, cache, options, title)
    return [result_of(cache, run) for run in scored(cache, runs)]


def _defaults(method: str, data: str, preprocessing: str, n_runs: int) -> list[Run]:
    drawn: list[Setting] = [{"random_state": seed} for seed in range(n_runs)]
    settings = drawn if method in ("KM", "DKM") else [{}]
    return [make_run(method, data, setting, preprocessing) for setting in settings]


def _rows(cache: Cache, method: str, data: str, units: str, options: Options) -> Iterator[Row]:
    usual = honest(cache, method, data, "z-score", options)
    defaults = _defaults(method, data, "z-score", options.n_runs)
    # The oracle sees the defaults too, unless it keeps to the paper's units.
    found = oracle(cache, method, data, units, [] if units == "paper" else defaults, options)
    kmeans = honest(cache, "KM", data, "z-score", options)
    for metric, best in found.items():
        as_oracle = honest(cache, "KM", data, best.run.preprocessing, options)
        q1, median, q3 = np.quantile([result[metric] for result in usual], [0.25, 0.5, 0.75])
        yield Row(
            data=data,
            method=method,
            metric=metric,
            units=units,
            printed=_printed(data, method, metric),
            doubt=printed.doubts().get((data, method), "") if metric == "acc" else "",
            **_oracle_columns(best),
            honest_q1=float(q1),
            honest_median=float(median),
            honest_q3=float(q3),
            kmeans=float(np.median([result[metric] for result in kmeans])),
            oracle_kmeans=float(np.median([result[metric] for result in as_oracle])),
            seconds=float(np.median([result["seconds"] for result in usual])),
            seeds=options.n_runs,
            extent="quick" if options.quick else "full",
            version=code_version(),
            honest_command=command_of(defaults[:1], seeds=len(defaults)),
        )


def _oracle_columns(best: Best) -> dict[str, Any]:
    return {
        "oracle": best.score,
        "oracle_start": seed_of(best.run),
        "oracle_share": best.share,
        "oracle_median": float(np.median(best.seeds)),
        "oracle_preprocessing": best.run.preprocessing,
        "oracle_setting": setting_text(best.run),
        "oracle_tried": best.tried,
        "oracle_command": command_of([best.run]),
    }


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


class SplitRow(NamedTuple):
    """One method on the halves of one data set; medians and quartiles over the splits."""

    data: str
    method: str
    part: str  # "train" or "test"
    printed: float
    oracle: float  # best median over the settings, by ground truth
    oracle_preprocessing: str
    oracle_setting: str
    oracle_tried: int
    honest_q1: float
    honest_median: float
    honest_q3: float
    seeds: int  # splits
    extent: str
    version: str
    oracle_command: str
    honest_command: str


def out_of_sample_table(
    cache: Cache,
    datasets: Sequence[str],
    methods: Sequence[str] = printed.OUT_OF_SAMPLE_METHODS,
    n_splits: int = 20,
    options: Options = Options(),  # noqa: B008
) -> list[SplitRow]:
    """Training and test ACC with a 50/50 split: DOGC-OS by its regression, the others together.

    The oracle chooses one setting for all splits, by their median test ACC.
    """
    rows = []
    for data in datasets:
        for method in methods:
            title = f"{data} {method} halves"
            usual = _splits(method, data, {}, "z-score", n_splits)
            run_all(usual, cache, options, title)
            best, tried = _best_on_halves(cache, method, data, n_splits, options)
            rows += list(_split_rows(cache, usual, best, tried, options))
    return rows


def _splits(
    method: str, data: str, setting: Setting, preprocessing: str, n_splits: int
) -> list[Run]:
    if method == "KM":  # scikit-learn draws its starts from nowhere unless told
        setting = {"random_state": 0, **setting}
    return [make_run(method, data, setting, preprocessing, split) for split in range(n_splits)]


def _best_on_halves(
    cache: Cache, method: str, data: str, n_splits: int, options: Options
) -> tuple[list[Run], int]:
    """The setting with the best median over all splits, of the best on the first four."""

    def median(candidate: list[Run]) -> float:
        scores = [result_of(cache, run).get("test_acc", np.nan) for run in candidate]
        return -1.0 if np.isnan(scores).any() else float(np.median(scores))

    def best_of(settings: Sequence[tuple[Setting, str]], count: int) -> list[list[Run]]:
        candidates = [_splits(method, data, *setting, count) for setting in settings]
        runs = [run for candidate in candidates for run in candidate]
        title = f"{data} {method} halves"
        run_all(runs, cache, options, title)
        return sorted(candidates, key=median, reverse=True)

    settings = list(_halves_settings(method, data, options.quick))
    ranked = best_of(settings, min(4, n_splits))
    kept = [
        (json.loads(runs[0].setting), runs[0].preprocessing) for runs in ranked[:KEPT_OF_HALVES]
    ]
    # The defaults are the first: what is chosen is not below them.
    return best_of([settings[0], *kept], n_splits)[0], len(settings)


def _halves_settings(method: str, data: str, quick: bool) -> Iterator[tuple[Setting, str]]:
    """The defaults first; then draws for DOGC-OS, for the others every fourth of their grid."""
    yield {}, "z-score"
    if method != "DOGC-OS":
        settings = ((setting, name) for name, setting in grid(grid_settings, method, data, quick))
        yield from itertools.islice(settings, 0, None, 1 if quick else 4)
        return
    for units in UNITS:
        space = search_space(method, data, units)
        if units == "paper":
            space |= {"gamma": (0.1, 1.0)}  # what the paper sets where new rows are predicted
        points = drawn(space, QUICK_DRAWS if quick else HALVES_DRAWS, f"{data} halves {units}")
        yield from (as_setting(method, units, point) for point in points)


def _split_rows(
    cache: Cache, usual: list[Run], best: list[Run], tried: int, options: Options
) -> Iterator[SplitRow]:
    first = best[0]
    tables = {"train": printed.TRAIN_ACC, "test": printed.TEST_ACC}
    for part, table in tables.items():
        scores = [result_of(cache, run)[f"{part}_acc"] for run in usual]
        top = [result_of(cache, run)[f"{part}_acc"] for run in best]
        q1, median, q3 = np.quantile(scores, [0.25, 0.5, 0.75])
        yield SplitRow(
            data=first.data,
            method=first.method,
            part=part,
            printed=table[first.data][first.method],
            oracle=float(np.median(top)),
            oracle_preprocessing=first.preprocessing,
            oracle_setting=setting_text(first),
            oracle_tried=tried,
            honest_q1=float(q1),
            honest_median=float(median),
            honest_q3=float(q3),
            seeds=len(usual),
            extent="quick" if options.quick else "full",
            version=code_version(),
            oracle_command=command_of(best),
            honest_command=command_of(usual),
        )
