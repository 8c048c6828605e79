"""The tables: which runs each needs, and how the runs become rows.

The oracle is the best that ground truth can choose: settings are tried, the best are run with all
seeds. DOGC and its kin have up to ten parameters. Their settings are drawn at random from the
paper's ranges; then one parameter at a time is varied around the best, as the paper does by hand.
The draws are protocol.fixed, so the same command tries the same settings.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import printed, protocol
from .protocol import DRAWN, UNITS, Setting, seeded
from .runs import NO_SEED, Results, Run, code_version, command_of, make_run

METRICS = ("acc", "nmi_max", "nmi_geometric", "purity")
# Settings that are drawn: most where the printed numbers are to be reached. Then, that many times,
# one parameter at a time is varied around the best.
DRAWS = {"paper": 1500, "relative": 400}
ABLATION_DRAWS, HALVES_DRAWS, QUICK_DRAWS = 400, 150, 6
ROUNDS, KEPT = 3, 4
KEPT_OF_HALVES = 10  # settings that are run on all splits

# The columns of the files, in three parts that are never mixed. `doubt`: why the printed number
# cannot be right. `units`: of the oracle's penalties, "paper" or "relative", or "protocol"; empty
# where there are none. `oracle`: the best of `oracle_tried` runs by this measure; `oracle_start`:
# its seed; `oracle_share` of the seeds at its setting reach it; `oracle_changed`: labels that
# changed in its iterations, all together; with 0 its score is that of the start. `kmeans`: median
# of k-means at its defaults, on z-scored data and (`oracle_kmeans`) on the preprocessing that the
# oracle chose. `seconds`: of one fit at the defaults. `extent`: "full", or "quick" for a first
# look. `oracle_command` and `honest_command` give the numbers again.
OF_ALL_ROWS = [
    "data", "method", "metric", "units", "printed", "doubt", "oracle", "oracle_start",
    "oracle_share", "oracle_median", "oracle_changed", "oracle_preprocessing", "oracle_setting",
    "oracle_tried", "honest_q1", "honest_median", "honest_q3", "kmeans", "oracle_kmeans", "seconds",
    "seeds", "extent", "version", "oracle_command", "honest_command",
]  # fmt: skip
OF_HALVES = [
    "data", "method", "part", "printed", "oracle", "oracle_preprocessing", "oracle_setting",
    "oracle_tried", "honest_q1", "honest_median", "honest_q3", "seeds", "extent", "version",
    "oracle_command", "honest_command",
]  # fmt: skip

Row = dict[str, Any]


# ---------------------------------------------------------------------------------- the oracle


def oracle(
    results: Results, method: str, data: str, units: str, others: Sequence[Run] = ()
) -> dict[str, tuple[Run, Row]]:
    """The best run by each measure, by ground truth, and what its columns say of it.

    The best is over settings, preprocessings and seeds. Settings are ranked by one seed. The best
    by each measure are then run with all seeds, so every setting that is reported has all of them.
    `others` are runs that count as tried too: one that is drawn must be there with all its seeds.
    """

    def best(metric: str) -> Run:
        return max(runs, key=lambda run: results[run][metric])

    title = f"{data} {method} {units}".strip()
    if method in DRAWN:
        runs = _search(results, method, data, units)
    else:
        settings = grid(method, data, results.quick)
        runs = [make_run(method, data, seeded(method, one, 0), name) for one, name in settings]
    runs = results.do(runs, title)
    again = [run for metric in METRICS for run in all_seeds(best(metric), results.n_runs)]
    runs = results.do([*runs, *again, *others], title)
    tried = {"oracle_tried": len(runs)}
    bests = {metric: best(metric) for metric in METRICS}
    return {metric: (run, _found(results, run, metric) | tried) for metric, run in bests.items()}


def _found(results: Results, run: Run, metric: str) -> Row:
    """The columns of the oracle's best run."""
    seeds = results.do(all_seeds(run, results.n_runs)) if is_drawn(run) else [run]
    scores, score = results.scores(seeds, metric), results[run][metric]
    return {
        "oracle": score,
        "oracle_start": f"seed {run.parameters['random_state']}" if is_drawn(run) else NO_SEED,
        "oracle_share": np.mean(scores >= score - 1e-12),
        "oracle_median": np.median(scores),
        "oracle_changed": results[run].get("changed", float("nan")),
    }


def all_seeds(run: Run, n_runs: int) -> list[Run]:
    """A run's setting with every seed; nothing where no seed matters.

    A setting whose start is not drawn is run from random starts, as the paper has it.
    """
    if not seeded(run.method, {}, 0):  # the method has no chance in it
        return []
    setting = run.parameters if is_drawn(run) else seeded(run.method, run.parameters, 0)
    settings = [{**setting, "random_state": seed} for seed in range(n_runs)]
    return [make_run(run.method, run.data, one, run.preprocessing) for one in settings]


def is_drawn(run: Run) -> bool:
    """Whether a run has a seed."""
    return "random_state" in run.parameters


def drawn(space: protocol.Space, count: int, name: str) -> list[Setting]:
    """That many points of a space, the same for the same name."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return [
        {key: values[int(generator.integers(len(values)))] for key, values in space.items()}
        for _ in range(count)
    ]


def _search(results: Results, method: str, data: str, units: str) -> list[Run]:
    """Settings at random, then one parameter at a time around the best; the protocol whole."""
    space, title = protocol.search_space(method, data, units), f"{data} {method} {units}"
    if results.quick:
        return [as_run(method, data, units, point) for point in drawn(space, QUICK_DRAWS, title)]
    if units == "protocol":
        return [as_run(method, data, units, point) for point in protocol.combinations(**space)]
    draws = drawn(space, DRAWS[units] if method in printed.OURS else ABLATION_DRAWS, title)
    draws += [point for name, point in protocol.FOUND.items() if name == title]
    points = {as_run(method, data, units, point): point for point in draws}
    for _ in range(ROUNDS):
        ranked = sorted(results.do(points, title), key=lambda run: -results[run]["acc"])
        for best in ranked[:KEPT]:
            around = ({**points[best], name: value} for name in space for value in space[name])
            points |= {as_run(method, data, units, point): point for point in around}
    return list(points)


def as_run(method: str, data: str, units: str, point: Setting) -> Run:
    """The run of a point of a search space."""
    setting = {**protocol.fixed(method, units), **point}
    preprocessing = setting.pop("preprocessing")
    if setting.get("init") == "random":
        setting.setdefault("random_state", 0)
    return make_run(method, data, setting, preprocessing)


def grid(method: str, data: str, quick: bool) -> Iterator[tuple[Setting, str]]:
    """Settings and preprocessings; a few of them for a first look."""
    for name in ["z-score"] if quick else protocol.PREPROCESSINGS:
        shape = protocol.rows_and_classes(data, name)[0].shape
        settings = protocol.grid_settings(method, *shape)
        for setting in settings[:: max(1, len(settings) // 3)] if quick else settings:
            yield setting, name


# ------------------------------------------------------------------------------------ all rows


def main_table(results: Results, datasets: Sequence[str], methods: Sequence[str]) -> list[Row]:
    """ACC, NMI and purity of the paper's ten methods (or the ablations, which have no protocol)."""
    rows: list[Row] = []
    kinds = UNITS if {"DOGC-I", "DOGC-II"}.isdisjoint(methods) else UNITS[1:]
    for data, method in itertools.product(datasets, methods):
        usual = _defaults(results, method, data)
        for units in kinds if method in DRAWN else ("",):
            # The oracle sees the defaults too, unless it keeps to the paper's units or protocol.
            others = usual if units in ("", "relative") else []
            for metric, (best, row) in oracle(results, method, data, units, others).items():
                row |= {"data": data, "method": method, "metric": metric, "units": units}
                rows.append(row | _beside(results, best, metric, usual))
    return rows


def _defaults(
    results: Results, method: str, data: str, preprocessing: str = "z-score"
) -> list[Run]:
    """Runs at the defaults, one for each seed where a seed matters."""
    seeds = [{"random_state": seed} for seed in range(results.n_runs)]
    settings: list[Setting] = seeds if method in ("KM", "DKM") else [{}]
    runs = [make_run(method, data, setting, preprocessing) for setting in settings]
    return results.do(runs, f"{data} {method} defaults")


def _beside(results: Results, best: Run, metric: str, usual: Sequence[Run]) -> Row:
    """The columns of a row beside those of the oracle."""
    kmeans, as_oracle = (
        np.median(results.scores(_defaults(results, "KM", best.data, preprocessing), metric))
        for preprocessing in ("z-score", best.preprocessing)
    )
    return {
        "printed": _printed(best.data, best.method, metric),
        "doubt": printed.doubts().get((best.data, best.method), "") if metric == "acc" else "",
        **{"kmeans": kmeans, "oracle_kmeans": as_oracle},
        "seconds": np.median(results.scores(usual, "seconds")),
        "seeds": results.n_runs,
        **_shared(results, metric, [best], usual),
    }


def known_rows(results: Results, rows: pd.DataFrame, runs_of: Callable[[str], list[Run]]) -> Any:
    """Rows of a file again, at the settings that they name; nothing is searched.

    All seeds of the oracle's setting are run again only where its score is another one now.
    """
    commands = dict.fromkeys([*rows.oracle_command, *rows.honest_command])
    results.do(itertools.chain(*map(runs_of, commands)), "known settings")
    for row in rows.to_dict("records"):
        best, usual = runs_of(row["oracle_command"]), runs_of(row["honest_command"])
        if "part" in row:
            yield row | _shared(results, f"{row['part']}_acc", best, usual)
        else:
            run, metric = best[0], row["metric"]
            row["oracle_changed"] = results[run].get("changed", float("nan"))
            if abs(results[run][metric] - row["oracle"]) > 5e-5:
                runs = results.do([run, *all_seeds(run, results.n_runs)])
                run = max(runs, key=lambda one: results[one][metric])
                row |= _found(results, run, metric)
            yield row | _beside(results, run, metric, usual)


def _shared(results: Results, metric: str, best: Sequence[Run], usual: Sequence[Run]) -> Row:
    """The columns that all tables have, made from the oracle's runs and those at the defaults."""
    q1, median, q3 = np.quantile(results.scores(usual, metric), [0.25, 0.5, 0.75])
    pairs = best[0].parameters.items()
    setting = " ".join(f"{name}={value}" for name, value in pairs if name != "random_state")
    return {
        **{"honest_q1": q1, "honest_median": median, "honest_q3": q3},
        "oracle": np.median(results.scores(best, metric)),
        "oracle_preprocessing": best[0].preprocessing,
        "oracle_setting": setting or "defaults",
        "extent": "quick" if results.quick else "full",
        "version": code_version(),
        "oracle_command": command_of(best),
        "honest_command": command_of(usual),
    }


def _printed(data: str, method: str, metric: str) -> float:
    of_method = printed.PRINTED.get(method, {})
    # Of both NMI one is printed.
    found = (of_method.get((table, data)) for table in (metric[:3], f"ablation {metric[:3]}"))
    return next((value for value in found if value and value > 0), float("nan"))


# ---------------------------------------------------------------------------------- two halves


def out_of_sample_table(
    results: Results, datasets: Sequence[str], methods: Sequence[str], n_splits: int
) -> list[Row]:
    """Training and test ACC with a 50/50 split: DOGC-OS by its regression, the others together.

    The oracle chooses one setting for all splits, by their median test ACC.
    """
    rows = []
    for data, method in itertools.product(datasets, methods):
        tried = list(_halves_runs(method, data, results.quick))
        usual = results.do(_splits(tried[0], n_splits), f"{data} {method}")
        best = _best_on_halves(results, tried, n_splits)
        for part, table in {"train": printed.TRAIN_ACC, "test": printed.TEST_ACC}.items():
            row = {"data": data, "method": method, "part": part, "printed": table[data][method]}
            row |= {"oracle_tried": len(tried), "seeds": n_splits}
            rows.append(row | _shared(results, f"{part}_acc", best, usual))
    return rows


def _splits(run: Run, n_splits: int) -> list[Run]:
    return [run._replace(split=split) for split in range(n_splits)]


def _best_on_halves(results: Results, tried: Sequence[Run], n_splits: int) -> list[Run]:
    """The setting with the best median over all splits, of the best on the first four."""

    def median(runs: list[Run]) -> float:
        failed = any("error" in results[run] for run in runs)
        return -1.0 if failed else float(np.median(results.scores(runs, "test_acc")))

    kept = tried
    for count in (min(4, n_splits), n_splits):
        candidates = [_splits(run, count) for run in kept]
        results.do(itertools.chain(*candidates), f"{tried[0].data} {tried[0].method} halves")
        ranked = sorted(candidates, key=median, reverse=True)
        # The defaults are the first: what is chosen is not below them.
        kept = [tried[0], *(runs[0] for runs in ranked[:KEPT_OF_HALVES])]
    return ranked[0]


def _halves_runs(method: str, data: str, quick: bool) -> Iterator[Run]:
    """The defaults first; then draws for DOGC-OS, for the others every fourth of their grid."""
    # scikit-learn draws the starts of k-means from nowhere unless told.
    start = {"random_state": 0} if method == "KM" else {}
    yield make_run(method, data, start, "z-score")
    if method != "DOGC-OS":
        some = itertools.islice(grid(method, data, quick), 0, None, 1 if quick else 4)
        yield from (make_run(method, data, start | one, name) for one, name in some)
        return
    for units in UNITS[1:]:
        space = protocol.search_space(method, data, units)
        if units == "paper":
            space |= {"gamma": (0.1, 1.0)}  # what the paper sets where new rows are predicted
        points = drawn(space, QUICK_DRAWS if quick else HALVES_DRAWS, f"{data} halves {units}")
        yield from (as_run(method, data, units, point) for point in points)
