"""One run again, by the command that stands in the tables: ``dogc paper run``."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .protocol import Setting
from .runs import Run, execute, make_run

SHOWN = {"acc": "ACC", "nmi_max": "NMI (max)", "nmi_geometric": "NMI (root)", "purity": "purity",
         "ari": "ARI", "train_acc": "ACC, first half", "test_acc": "ACC, second half"}  # fmt: skip


NO_SEED = "no seed"


def setting_text(run: Run) -> str:
    """The setting of a run, as ``--set`` takes it; the seed stands apart."""
    setting = json.loads(run.setting)
    pairs = [f"{name}={value}" for name, value in setting.items() if name != "random_state"]
    return " ".join(pairs) or "defaults"


def seed_of(run: Run) -> str:
    """The seed of a run in words."""
    seed = json.loads(run.setting).get("random_state")
    return NO_SEED if seed is None else f"seed {seed}"


def command_of(runs: Sequence[Run], *, seeds: int = 1) -> str:
    """The command that does a run again: one run, one setting with many seeds, or all splits."""
    run = runs[0]
    setting = json.loads(run.setting)
    if seeds > 1:
        setting.pop("random_state", None)
    words = ["dogc", "paper", "run", run.data, run.method, "--preprocessing", run.preprocessing]
    if setting:
        words += ["--set", *(f"{name}={value}" for name, value in setting.items())]
    if seeds > 1:
        words += ["--seeds", str(seeds)]
    if run.split is not None:
        words += ["--splits", str(len(runs))]
    return shlex.join(words)


def read_setting(pairs: Sequence[str]) -> Setting:
    """Parameters from ``name=value``; a value is what Python reads in it, or a word."""
    setting: Setting = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign or not name:
            raise ValueError(f"--set {pair}: write name=value, as in alpha=0.01")
        if name in setting:
            raise ValueError(f"--set {pair}: {name} is there twice; leave one of them out")
        setting[name] = _value(text)
    return setting


def _value(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if value is None or isinstance(value, bool | int | float) else text


def runs_of(
    data: str, method: str, preprocessing: str, setting: Setting, seeds: int, splits: int
) -> list[Run]:
    """The runs that a command names."""
    if splits:
        return [make_run(method, data, setting, preprocessing, split) for split in range(splits)]
    if seeds > 1:
        settings = [{**setting, "random_state": seed} for seed in range(seeds)]
        return [make_run(method, data, one, preprocessing) for one in settings]
    return [make_run(method, data, setting, preprocessing)]


def scores_of(runs: Sequence[Run], jobs: int) -> dict[str, np.ndarray]:
    """Every measure over the runs; a run that fails is an error with its reason."""
    results = Parallel(n_jobs=jobs if len(runs) > 1 else 1)(delayed(execute)(run) for run in runs)
    for result in results:
        if "error" in result:
            raise ValueError(result["error"])
    names = [name for name in SHOWN if name in results[0]]
    return {name: np.array([result[name] for result in results]) for name in names}


def run_text(scores: dict[str, np.ndarray]) -> str:
    """One line a measure: the value, or median, quartiles, best and the share that reaches it."""
    lines = []
    for name, values in scores.items():
        line = f"{SHOWN[name]:<16} {np.median(values):.4f}"
        if len(values) > 1:
            q1, q3 = np.quantile(values, [0.25, 0.75])
            share = float(np.mean(values >= values.max() - 1e-12))
            line += f"  median of {len(values)}; quartiles {q1:.4f} and {q3:.4f}; "
            line += f"best {values.max():.4f}, reached by {share:.0%}"
        lines.append(line)
    return "\n".join(lines)
