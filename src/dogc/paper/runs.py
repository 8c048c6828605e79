"""Single runs, remembered on disk: an interrupted job goes on where it was."""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import json
import pathlib
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from .. import __version__
from .._atomic import write_error
from ..comparison import METHODS
from ..metrics import clustering_accuracy, clustering_report
from .protocol import rows_and_classes

# What a fit and its scores run through.
SOURCE = pathlib.Path(__file__).parents[1]
ROOMS = ("numerics", "loop", "fitting", "estimators", "datasets")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
FILES = ("paper/protocol.py", "paper/runs.py")


class Run(NamedTuple):
    """One fit: what is needed to do it again."""

    method: str
    data: str
    preprocessing: str
    setting: str  # JSON, keys sorted
    split: int | None = None  # seed of a 50/50 split; None for all rows


Result = dict[str, Any]


def make_run(
    method: str, data: str, setting: dict[str, Any], preprocessing: str, split: int | None = None
) -> Run:
    """A run with its setting in canonical form."""
    return Run(method, data, preprocessing, json.dumps(setting, sort_keys=True), split)


def model_of(run: Run) -> Any:
    """The estimator of a run, not fitted; no method starts by modularity, as in the paper."""
    _, y = rows_and_classes(run.data, run.preprocessing)
    model = METHODS[run.method](int(y.max()) + 1)
    if getattr(model, "init", None) == "auto":
        model.set_params(init="spectral")
    return model.set_params(**json.loads(run.setting))


def execute(run: Run) -> Result:
    """Do one run: scores and seconds, or the reason why there are none."""
    X, y = rows_and_classes(run.data, run.preprocessing)
    model = model_of(run)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if run.split is not None:
                return {**_in_halves(model, X, y, run), "seconds": time.perf_counter() - began}
            labels = model.fit(X).labels_
        except ValueError as error:
            return {"error": " ".join(str(error).split())}
    return {**clustering_report(y, labels), "seconds": time.perf_counter() - began}


def _in_halves(model: Any, X: np.ndarray, y: np.ndarray, run: Run) -> Result:
    """ACC on both halves of the rows.

    DOGC-OS is fitted on the first and labels the second by its regression; the other methods
    cluster all rows together, as in the paper.
    """
    assert run.split is not None
    known = half(len(X), run.split)
    new = np.setdiff1d(np.arange(len(X)), known)
    if run.method == "DOGC-OS":
        if "rule" not in json.loads(run.setting):
            model.set_params(rule="paper")
        model.fit(X[known])
        found = {"train_acc": model.labels_, "test_acc": model.predict(X[new])}
    else:
        labels = model.fit(X).labels_
        found = {"train_acc": labels[known], "test_acc": labels[new]}
    truth = {"train_acc": y[known], "test_acc": y[new]}
    return {name: clustering_accuracy(truth[name], labels) for name, labels in found.items()}


def half(n: int, seed: int) -> np.ndarray:
    """A random half of the rows, in order."""
    return np.sort(np.random.default_rng(seed).permutation(n)[: n // 2])


@functools.cache
def code_version() -> str:
    """The library's version, and a fingerprint of the code and the data of a run.

    Comments and docstrings do not count. So a result is used again only while the code that gave
    it is unchanged.
    """
    files = [path for room in ("", *ROOMS) for path in sorted((SOURCE / room).glob("*.py"))]
    files += [SOURCE / name for name in FILES]
    texts = [_code_alone(path.read_text(encoding="utf-8")) for path in files]
    data = sorted((SOURCE / "datasets" / "data").glob("*.csv"))
    texts += [path.read_text(encoding="utf-8") for path in data]
    return f"{__version__}+{hashlib.sha256(chr(10).join(texts).encode()).hexdigest()[:10]}"


def _code_alone(text: str) -> str:
    """Source without comments, docstrings and blank lines: the same for every Python."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            words = node.body[0]
            for row in range(words.lineno - 1, words.end_lineno or words.lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


@functools.cache
def key(run: Run) -> str:
    """A short name for a run: its data, every parameter of its estimator, and all versions."""
    full = {
        "run": run,
        "parameters": model_of(run).get_params(),
        "versions": [code_version(), np.__version__, scipy.__version__, sklearn.__version__],
    }
    return hashlib.sha256(json.dumps(full, sort_keys=True, default=str).encode()).hexdigest()[:20]


class Cache:
    """Results by run, in a file of one JSON object a line; a torn line is ignored."""

    def __init__(self, path: pathlib.Path):
        """Read what is there."""
        self.path = path
        self.results: dict[str, Result] = {}
        self.seconds: Counter[str] = Counter()  # spent so far, by method
        if path.exists():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    record = json.loads(line)
                    self._keep(record["key"], record["run"]["method"], record["result"])
                except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
                    continue

    def _keep(self, name: str, method: str, result: Result) -> None:
        self.seconds[method] += result.get("seconds", 0.0)
        self.results[name] = result

    def get(self, run: Run) -> Result | None:
        """What is known of a run."""
        return self.results.get(key(run))

    def add(self, run: Run, result: Result) -> None:
        """Remember a result, on disk at once."""
        self._keep(key(run), run.method, result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key(run), "run": run._asdict(), "result": result})
        # A line of its own even after one that was torn by an interrupt, and in one piece, so that
        # another command may add to the same file.
        try:
            with open(self.path, "ab") as file:
                file.write(f"\n{line}".encode())
        except OSError as error:
            raise write_error(self.path, error) from error


class Options(NamedTuple):
    """How runs are done: how many seeds, in how many processes."""

    n_runs: int = 100
    jobs: int = 1
    quick: bool = False
    progress: bool | None = None


def run_all(
    runs: Iterable[Run],
    cache: Cache,
    options: Options = Options(),  # noqa: B008
    title: str = "",
) -> None:
    """Do the runs that the cache does not know yet, with a progress bar."""
    wanted = [run for run in dict.fromkeys(runs) if cache.get(run) is None]
    if not wanted:
        return
    done = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(execute)(run) for run in wanted
    )
    disable = None if options.progress is None else not options.progress
    bar = tqdm(zip(wanted, done, strict=True), total=len(wanted), desc=title, disable=disable)
    for run, result in bar:
        cache.add(run, result)
