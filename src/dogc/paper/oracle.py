"""The best that ground truth can choose: settings are tried, the best are run with all seeds.

DOGC and its kin have up to ten parameters. Their settings are drawn at random from the paper's
ranges; then one parameter at a time is varied around the best, as the paper does by hand. The draws
are fixed, so the same command tries the same settings.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .printed import OURS
from .protocol import (
    DRAWN,
    FOUND,
    PREPROCESSINGS,
    Setting,
    Space,
    fixed,
    grid_settings,
    has_chance,
    rows_and_classes,
    search_space,
    seeded,
)
from .runs import Cache, Options, Result, Run, make_run, run_all

METRICS = ("acc", "nmi_max", "nmi_geometric", "purity")
# Settings that are drawn: most where the printed numbers are to be reached. Then, that many times,
# one parameter at a time is varied around the best.
DRAWS = {"paper": 1500, "relative": 400}
ABLATION_DRAWS, HALVES_DRAWS, QUICK_DRAWS = 400, 150, 6
ROUNDS, KEPT = 3, 4


class Best(NamedTuple):
    """The best run by one measure, and what all seeds give at its setting."""

    run: Run
    score: float
    seeds: tuple[float, ...]  # the measure over all seeds; that of the run alone without chance
    tried: int  # runs of which it is the best

    @property
    def share(self) -> float:
        """The share of seeds that reach the score."""
        return float(np.mean(np.array(self.seeds) >= self.score - 1e-12))


def oracle(
    cache: Cache, method: str, data: str, units: str, others: list[Run], options: Options
) -> dict[str, Best]:
    """The best run by each measure: over settings, preprocessings and seeds, by ground truth.

    Settings are ranked by one seed. The best by each measure are then run with all seeds, so every
    setting that is reported has all of them. `others` are runs that count as tried too: one that is
    drawn must be there with all its seeds.
    """
    title = f"{data} {method} {units}".strip()
    if method in DRAWN:
        runs = _search(cache, method, data, units, options)
    else:
        runs = [
            make_run(method, data, seeded(method, setting, 0), name)
            for name, setting in grid(grid_settings, method, data, options.quick)
        ]
    run_all([*runs, *others], cache, options, title)
    runs = scored(cache, runs)
    winners = [_best(cache, runs, metric) for metric in METRICS]
    again = [run for winner in winners for run in all_seeds(winner, options.n_runs)]
    run_all(again, cache, options, title)
    runs = scored(cache, [*runs, *again, *others])
    return {metric: _reported(cache, runs, metric, options.n_runs) for metric in METRICS}


def _reported(cache: Cache, runs: list[Run], metric: str, n_runs: int) -> Best:
    run = _best(cache, runs, metric)
    seeds = scored(cache, all_seeds(run, n_runs)) if is_drawn(run) else [run]
    scores = tuple(result_of(cache, seed)[metric] for seed in seeds)
    return Best(run, result_of(cache, run)[metric], scores, len(runs))


def all_seeds(run: Run, n_runs: int) -> list[Run]:
    """A run's setting with every seed; nothing where no seed matters.

    A setting whose start is not drawn is run from random starts, as the paper has it.
    """
    if not has_chance(run.method):
        return []
    setting = json.loads(run.setting)
    if not is_drawn(run):
        setting = seeded(run.method, setting, 0)
    settings = [{**setting, "random_state": seed} for seed in range(n_runs)]
    return [make_run(run.method, run.data, one, run.preprocessing) for one in settings]


def is_drawn(run: Run) -> bool:
    """Whether a run has a seed."""
    return "random_state" in json.loads(run.setting)


def drawn(space: Space, count: int, name: str) -> list[Setting]:
    """That many points of a space, the same for the same name."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return [
        {key: values[int(generator.integers(len(values)))] for key, values in space.items()}
        for _ in range(count)
    ]


def _search(cache: Cache, method: str, data: str, units: str, options: Options) -> list[Run]:
    """Settings at random, then one parameter at a time around the best."""
    space = search_space(method, data, units)
    count = DRAWS[units] if method in OURS else ABLATION_DRAWS
    draws = drawn(space, QUICK_DRAWS if options.quick else count, f"{data} {method} {units}")
    draws += [] if options.quick else FOUND.get((data, method, units), [])
    points = {_as_run(method, data, units, point): point for point in draws}
    title = f"{data} {method} {units}"
    run_all(points, cache, options, title)
    for _ in range(0 if options.quick else ROUNDS):
        ranked = sorted(scored(cache, points), key=lambda run: -result_of(cache, run)["acc"])
        for best in ranked[:KEPT]:
            for point in _around(points[best], space):
                points.setdefault(_as_run(method, data, units, point), point)
        run_all(points, cache, options, title)
    return list(points)


def _around(point: Setting, space: Space) -> Iterator[Setting]:
    for name, values in space.items():
        yield from ({**point, name: value} for value in values)


def _as_run(method: str, data: str, units: str, point: Setting) -> Run:
    return make_run(method, data, *as_setting(method, units, point))


def as_setting(method: str, units: str, point: Setting) -> tuple[Setting, str]:
    """The parameters of a point of a search space, and its preprocessing."""
    setting = {**fixed(method, units), **point}
    preprocessing = setting.pop("preprocessing")
    if setting.get("init") == "random":
        setting["random_state"] = 0
    return setting, preprocessing


def grid(
    settings_of: Callable[..., Iterable[Setting]], method: str, data: str, quick: bool
) -> Iterator[tuple[str, Setting]]:
    """Preprocessings and settings; a few of them for a first look."""
    for name in ["z-score"] if quick else PREPROCESSINGS:
        settings = list(settings_of(method, *rows_and_classes(data, name)[0].shape))
        for setting in settings[:: max(1, len(settings) // 3)] if quick else settings:
            yield name, setting


def result_of(cache: Cache, run: Run) -> Result:
    """What a run gave; nothing while it is not known."""
    return cache.get(run) or {}


def scored(cache: Cache, runs: Iterable[Run]) -> list[Run]:
    """Those of the runs that did not fail, each once."""
    return [run for run in dict.fromkeys(runs) if "error" not in result_of(cache, run)]


def _best(cache: Cache, runs: list[Run], metric: str) -> Run:
    return max(runs, key=lambda run: result_of(cache, run)[metric])
