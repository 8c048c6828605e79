"""Single runs, remembered on disk: an interrupted job goes on where it was."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import pathlib
import shlex
import time
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from .. import __version__
from ..metrics import clustering_accuracy, clustering_report
from .protocol import DRAWN, Setting, make_model, rows_and_classes

SOURCE = pathlib.Path(__file__).parents[1]
# The code and the data that a fit and its scores run through.
PARTS = ["*.py", "datasets/data/*.csv", "paper/protocol.py", "paper/runs.py"]
PARTS += [f"{room}/**/*.py" for room in ("numerics", "loop", "fitting", "estimators", "datasets")]
NO_SEED = "no seed"

Result = dict[str, Any]


class Run(NamedTuple):
    """One fit: what is needed to do it again."""

    method: str
    data: str
    preprocessing: str
    setting: str  # JSON, keys sorted
    split: int | None = None  # seed of a 50/50 split; None for all rows

    @property
    def parameters(self) -> Setting:
        """The setting as a dictionary."""
        return json.loads(self.setting)


def make_run(
    method: str, data: str, setting: Setting, preprocessing: str, split: int | None = None
) -> Run:
    """A run with its setting in canonical form."""
    return Run(method, data, preprocessing, json.dumps(setting, sort_keys=True), split)


def model_of(run: Run) -> Any:
    """The estimator of a run, not fitted; no method starts by modularity, as in the paper."""
    _, y = rows_and_classes(run.data, run.preprocessing)
    model = make_model(run.method, int(y.max()) + 1)
    if getattr(model, "init", None) == "auto":
        model.set_params(init="spectral")
    return model.set_params(**run.parameters)


def fitted(model: Any, X: np.ndarray) -> Any:
    """A fitted model, without its warnings: it is measured where it ends."""
    with warnings.catch_warnings(action="ignore"):
        return model.fit(X)


def execute(run: Run) -> Result:
    """Do one run: scores and seconds, or the reason why there are none."""
    X, y = rows_and_classes(run.data, run.preprocessing)
    model = model_of(run)
    began = time.perf_counter()
    try:
        if run.split is not None:
            scores = _in_halves(model, X, y, run)
        else:
            scores = clustering_report(y, fitted(model, X).labels_)
            if run.method in DRAWN:  # 0: the score is that of the start
                scores["changed"] = sum(one.labels_changed for one in model.history_)
    except ValueError as error:
        return {"error": " ".join(str(error).split())}
    return {**scores, "seconds": time.perf_counter() - began}


def _in_halves(model: Any, X: np.ndarray, y: np.ndarray, run: Run) -> Result:
    """ACC on both halves of the rows.

    DOGC-OS is fitted on the first and labels the second by its regression; the other methods
    cluster all rows together, as in the paper.
    """
    order = np.random.default_rng(run.split).permutation(len(X))
    known, new = np.sort(order[: len(X) // 2]), np.sort(order[len(X) // 2 :])
    if run.method == "DOGC-OS":
        model.set_params(**({"rule": "paper"} | run.parameters))
        train, test = fitted(model, X[known]).labels_, model.predict(X[new])
    else:
        labels = fitted(model, X).labels_
        train, test = labels[known], labels[new]
    return {
        "train_acc": clustering_accuracy(y[known], train),
        "test_acc": clustering_accuracy(y[new], test),
    }


def command_of(runs: Sequence[Run]) -> str:
    """The command that does runs again: one, all seeds of a setting, or all its splits."""
    run, setting, many = runs[0], runs[0].parameters, []
    if run.split is not None:
        many = ["--splits", str(len(runs))]
    elif len(runs) > 1:
        setting.pop("random_state", None)
        many = ["--seeds", str(len(runs))]
    words = ["dogc", "paper", "run", run.data, run.method, "--preprocessing", run.preprocessing]
    if setting:
        words += ["--set", *(f"{name}={value}" for name, value in setting.items())]
    return shlex.join([*words, *many])


@functools.cache
def code_version() -> str:
    """The library's version, and a fingerprint of the code and the data of a run.

    So a result is used again only while the code that gave it is unchanged.
    """
    texts = [path.read_bytes() for part in PARTS for path in sorted(SOURCE.glob(part))]
    return f"{__version__}+{hashlib.sha256(b''.join(texts)).hexdigest()[:10]}"


@functools.cache
def versions() -> str:
    """Versions of the code and of the packages that decide the numbers."""
    names = ("numpy", "scipy", "scikit-learn")
    return ", ".join([f"dogc {code_version()}", *(f"{name} {version(name)}" for name in names)])


@functools.cache
def key(run: Run) -> str:
    """A short name for a run: its data, every parameter of its estimator, and all versions.

    A file of data or an estimator of one's own counts with its text.
    """
    model = model_of(run)
    full = {"run": run, "parameters": model.get_params(), "versions": versions()}
    own = [inspect.getfile(type(model))] * (":" in run.method)
    own += [run.data] * run.data.endswith(".csv")
    full |= {path: pathlib.Path(path).read_text("utf-8") for path in own}
    return hashlib.sha256(json.dumps(full, sort_keys=True, default=str).encode()).hexdigest()[:20]


class Results:
    """Results by run, in a file of one JSON object a line; a torn line is ignored.

    Runs that are not there yet are done, in ``jobs`` processes; ``n_runs`` is the number of seeds
    of each setting, ``quick`` stands for a first look at few settings.
    """

    def __init__(
        self, path: pathlib.Path, n_runs: int = 100, jobs: int = 1, quick: bool = False,
        quiet: bool = True,
    ):  # fmt: skip
        """Read what is there."""
        self.path, self.n_runs, self.jobs, self.quick, self.quiet = path, n_runs, jobs, quick, quiet
        self.known: dict[str, Result] = {}
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                record = json.loads(line)
                self.known[record["key"]] = record["result"]

    def __getitem__(self, run: Run) -> Result:
        """The result of a run; nothing while it is not known."""
        return self.known.get(key(run), {})

    def scores(self, runs: Iterable[Run], measure: str) -> np.ndarray:
        """One measure of some runs that did not fail."""
        return np.array([self[run][measure] for run in runs])

    def add(self, run: Run, result: Result) -> None:
        """Remember a result, on disk at once."""
        self.known[key(run)] = result
        line = json.dumps({"key": key(run), "run": run._asdict(), "result": result})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line of its own even after one that was torn by an interrupt, and in one piece, so that
        # another command may add to the same file.
        with open(self.path, "ab") as file:
            file.write(f"\n{line}".encode())

    def do(self, runs: Iterable[Run], title: str = "") -> list[Run]:
        """Do those of the runs that are not known; return those that did not fail, each once."""
        runs = list(dict.fromkeys(runs))
        wanted = [run for run in runs if not self[run]]
        done = in_parallel(execute, [(run,) for run in wanted], self.jobs, title, self.quiet)
        for run, result in zip(wanted, done, strict=True):
            self.add(run, result)
        return [run for run in runs if "error" not in self[run]]


def in_parallel(function: Any, calls: list, jobs: int, title: str = "", quiet: bool = True) -> Any:
    """The results of calls, in order, with a progress bar."""
    done = Parallel(n_jobs=jobs, return_as="generator")(delayed(function)(*call) for call in calls)
    return tqdm(done, total=len(calls), desc=title, disable=quiet or not calls or None)
