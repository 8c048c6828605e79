"""Attempts on the process: killed, interrupted or stopped at any import and any step of writing.

A command starts in a process of its own. It counts what it imports, or what it does to files of
its output, and sends itself the signal when it has come to a number; so a moment is a number, and
an attempt comes again. Some moments are points in time all the same: those within a fit.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzz.harness import Broken

SOURCE = pathlib.Path(__file__).parents[2] / "src"
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "stop": signal.SIGTERM}
# What a moment is, and below which number most are.
IMPORTS, SECONDS = 2_600, 0.8

DRIVER = """
import os, signal, sys, threading
kind, number, out, which = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
sys.argv = ["dogc", *sys.argv[5:]]
seen = 0
FILES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.scandir",
         "os.listdir", "shutil.rmtree"}
def watch(event, given):
    global seen
    if kind == "import":
        counts = event == "import"
    else:
        counts = event == "fcntl.flock" or event in FILES and any(out in str(g) for g in given)
    if counts:
        seen += 1
        if seen == number:
            os.kill(os.getpid(), which)
if sys.argv[1] == "save":
    import dogc, numpy
    model = dogc.load(sys.argv[2])
    begin = lambda: dogc.save(model, sys.argv[3])
else:
    from dogc.app.cli import main as begin
if kind == "second":
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), which))
    signal.setitimer(signal.ITIMER_REAL, number)
else:
    sys.addaudithook(watch)
begin()
"""
# Has imported everything, and lets a child of its own be the process of each attempt: that saves
# two seconds each. One thread, so that there are none to lose in a fork.
SERVER = f"""
import json, os, sys, traceback
import dogc.app.commands.terminal, dogc.paper.command
import pyarrow.csv, skops.io, sklearn.cluster, sklearn.linear_model, dask.array, distributed
for line in sys.stdin:
    given, said = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv, code = ["", *given], 1
        try:
            exec({DRIVER!r}, dict(__name__="__main__"))
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Kind(NamedTuple):
    """A command, what it writes and how many steps it takes to write that."""

    arguments: Callable[[pathlib.Path, str], list[str]]  # of the sources and of one of them
    names: tuple[str, ...]  # the last of them seals the set
    steps: int


def _table(folder: pathlib.Path, name: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    points = rng.normal(0, 0.5, (rows, 3)) + 6.0 * np.eye(3)[np.arange(rows) % 3]
    lines = [",".join(f"{value:.4f}" for value in point) for point in points]
    (folder / f"{name}.csv").write_text("\n".join(["x,y,z", *lines]) + "\n")
    for half in (0, 1):
        path = folder / f"parts-{name}" / f"{name}{half}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(["x,y,z", *lines[half::2]]) + "\n")


ROWS = {"old": 30, "new": 24}
CLUSTER = ("labels.csv", "model.skops", "report.html", "run.json")
PAPER = ("--quick", "--only", "acc", "--datasets", "lenses", "--methods", "KM", "--jobs", "1",
         "--quiet", "--out")  # fmt: skip
KINDS = {
    "cluster": Kind(lambda at, name: ["cluster", f"{at}/{name}.csv", "--clusters", "3", "--out"],
                    CLUSTER, 36),
    "parts": Kind(lambda at, name: ["cluster", f"{at}/parts-{name}/*.csv", "--clusters", "3",
                                    "--out"], CLUSTER, 36),
    "compare": Kind(lambda at, name: ["compare", f"{at}/{name}.csv", "--clusters", "3", "--method",
                                      "km", "--out"],
                    ("compare.csv", "compare.html", "labels.csv"), 32),
    "predict": Kind(lambda at, name: ["predict", f"{at}/old/model.skops", f"{at}/{name}.csv",
                                      "--out"], ("file.csv",), 14),
    "save": Kind(lambda at, name: ["save", f"{at}/{name}/model.skops"], ("file.skops",), 11),
    "paper": Kind(lambda at, name: ["paper", "tables", *PAPER],
                  ("main.csv", "runs.jsonl", "tables.html"), 40),
}  # fmt: skip


@functools.cache
def _sources() -> pathlib.Path:
    """Tables and their models; kept until the process ends."""
    kept = tempfile.TemporaryDirectory(prefix="dogc-fuzz-kills-")
    _sources.kept = kept  # type: ignore[attr-defined]
    at = pathlib.Path(kept.name)
    for name, rows in ROWS.items():
        _table(at, name, rows)
        _run([*KINDS["cluster"].arguments(at, name), str(at / name)])
    return at


@functools.cache
def _was(kind: str) -> pathlib.Path:
    """What a command has made of the old table."""
    at = _sources()
    code, said = _run([*KINDS[kind].arguments(at, "old"), str(_out(at / f"was-{kind}", kind))])
    assert code == 0, said
    return at / f"was-{kind}"


def _out(folder: pathlib.Path, kind: str) -> pathlib.Path:
    """What ``--out`` names: the folder, or a file in it."""
    names = KINDS[kind].names
    return folder / names[0] if len(names) == 1 else folder


def _run(arguments: list[str]) -> tuple[int, str]:
    """A command in this process: its exit code, and what it said."""
    import dogc
    from dogc.app.cli import main

    if arguments[0] == "save":
        dogc.save(dogc.load(arguments[1]), arguments[2])
        return 0, ""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(arguments)
        except SystemExit as ended:
            return int(ended.code or 0), said.getvalue()
    return 0, said.getvalue()


def attempt(rng: np.random.Generator, folder: pathlib.Path) -> str:
    """Stop a command at some moment; what is left must be whole, and the next must succeed."""
    kind = str(rng.choice([*KINDS], p=[0.3, 0.1, 0.15, 0.15, 0.1, 0.2]))
    name = str(rng.choice([*SIGNALS], p=[0.5, 0.25, 0.25]))
    moment, number = _moment(rng, kind)
    full = bool(rng.random() < 0.6)
    at, made = _sources(), folder / "made"
    if full:
        shutil.copytree(_was(kind), made)
    out, force = str(_out(made, kind)), [] if kind in ("paper", "save") else ["--force"]
    asked = KINDS[kind].arguments(at, "new")
    given = [*asked, out, *force]
    driven = [moment, str(number), str(made), str(int(SIGNALS[name])), *given]
    _check_end(*(_started if moment == "import" else _forked)(driven, folder), name, kind)
    # A script of the user's own is not ours to guard against a request to stop: it dies of it.
    dead = name == "kill" or (kind, name) == ("save", "stop")
    _check_set(made, kind, full, sealed=dead)
    if not dead and (left := _hidden(made)):
        raise Broken(f"{name} left {left}")
    if force:  # not asked to write over anything, a command says what is there or writes it
        code, said = _run([*asked, out])
        if code != (2 if "already" in said else 0):
            raise Broken(f"the next run ended with {code}: {said}")
        _check_set(made, kind, full, sealed=False)
    code, said = _run(given)
    if code != 0:
        raise Broken(f"the run after it ended with {code}: {said}")
    if _check_set(made, kind, False, sealed=False) != "new":
        raise Broken("the run after it did not write")
    if left := _hidden(made):
        raise Broken(f"the run after it left {left}")
    return f"{name} {kind}"


def _moment(rng: np.random.Generator, kind: str) -> tuple[str, float]:
    which = rng.choice(["file", "import", "second"], p=[0.75, 0.15, 0.1])
    if which == "second":
        return "second", float(rng.uniform(0.01, SECONDS))
    most = KINDS[kind].steps if which == "file" else IMPORTS
    return str(which), int(rng.integers(1, most))


ENVIRONMENT = {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _started(driven: list[str], folder: pathlib.Path) -> tuple[int, str]:
    """A process from its very beginning: how it ends, and what it says."""
    process = subprocess.run(
        [sys.executable, "-c", DRIVER, *driven], env={**os.environ, **ENVIRONMENT},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return process.returncode, process.stderr


def _forked(driven: list[str], folder: pathlib.Path) -> tuple[int, str]:
    """One that has all imported already."""
    server, said = _server(), folder / "said"
    print(json.dumps([driven, str(said)]), file=server.stdin, flush=True)
    return int(server.stdout.readline()), said.read_text()


@functools.cache
def _server() -> Any:
    return subprocess.Popen(
        [sys.executable, "-c", SERVER], env={**os.environ, **ENVIRONMENT}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def _check_end(code: int, said: str, name: str, kind: str) -> None:
    number = SIGNALS[name]
    # It may end by itself before, and a signal that comes before anything is to do kills at once.
    fine = {0, -number, 128 + number}
    if kind == "save" and name == "interrupt":
        return  # a script of the user's own: how it ends is its affair
    if code not in fine or "Traceback" in said:
        raise Broken(f"{name}: {code} {said[-600:]}")


def _hidden(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*")) if folder.exists() else []


def _check_set(made: pathlib.Path, kind: str, full: bool, *, sealed: bool) -> str:
    """Which set stands there: old, new, some (of a killed run, without its seal) or none."""
    names = KINDS[kind].names
    there = [name for name in names if (made / name).exists()]
    versions = {_version(made / name, kind) for name in there} - {"any"}
    if kind == "paper":  # a file of its own each, that the next run goes on with
        return "new" if len(there) == len(names) else "some"
    if not there and not full:
        return "none"
    if len(there) == len(names) and len(versions) == 1:
        return versions.pop()
    if sealed and names[-1] not in there:
        return "some"
    raise Broken(f"there are {there} of {versions}")


def _version(path: pathlib.Path, kind: str) -> str:
    """Whether a file is of the old table or of the new one; it must be whole."""
    import dogc

    if kind == "paper":
        return _of_paper(path)
    if path.suffix == ".skops":
        found = len(dogc.load(path).labels_)
    elif path.name == "run.json":
        found = json.loads(path.read_text())["rows"]
    elif path.suffix == ".csv" and path.name != "compare.csv":
        found = path.read_text().count("\n") - 1
    else:
        return _of_text(path)
    return {rows: name for name, rows in ROWS.items()}[found]


def _of_text(path: pathlib.Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html" and not text.rstrip().endswith("</html>"):
        raise Broken(f"{path.name} is not whole")
    if path.name == "compare.csv":
        if not text.endswith("\n"):
            raise Broken("compare.csv is not whole")
        return "any"
    return "old" if "old.csv" in text or "old0.csv" in text else "new"


def _of_paper(path: pathlib.Path) -> str:
    from dogc.paper.table_files import read_rows
    from dogc.paper.tables import Row

    if path.suffix == ".csv":
        read_rows(path, Row)
    elif path.suffix == ".html":
        return _of_text(path)
    else:
        for line in path.read_text().splitlines():
            if line:
                json.loads(line)
    return "any"
