"""Attempts on the process: killed, interrupted or stopped at any import and any step of writing.

A command starts in a process of its own. It counts what it imports, or what it does to files of
its output, and sends itself the signal when it has come to a number; so a moment is a number, and
an attempt comes again.
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

import numpy as np

import dogc
from fuzz.harness import Broken

SOURCE = pathlib.Path(__file__).parents[2] / "src"
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "stop": signal.SIGTERM}
IMPORTS = 2_600  # below this number are most moments
DRIVER = """
import os, sys
kind, number, out, which = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
sys.argv = ["dogc", *sys.argv[5:]]
seen = 0
FILES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.scandir",
         "os.listdir", "shutil.rmtree"}
def watch(event, given):
    global seen
    if kind == "import":
        counts = event == "import"
    else:
        counts = event in FILES and any(out in str(g) for g in given)
    if counts:
        seen += 1
        if seen == number:
            os.kill(os.getpid(), which)
if sys.argv[1] == "save":
    import dogc
    model = dogc.load(sys.argv[2])
    begin = lambda: dogc.save(model, sys.argv[3])
else:
    from dogc.app.cli import main as begin
sys.addaudithook(watch)
begin()
"""
ROWS = {"old": 30, "new": 24}
# What a command writes, the last of it seals the set; the steps that it takes to write that.
WRITES = {
    "cluster": (("labels.csv", "model.skops", "report.html", "run.json"), 36),
    "predict": (("file.csv",), 14),
    "save": (("file.skops",), 11),
}


def asked(kind: str, at: pathlib.Path, name: str, made: pathlib.Path) -> list[str]:
    """The arguments of a command, for one of the tables."""
    model, table = str(at / "old" / "model.skops"), str(at / f"{name}.csv")
    if kind == "cluster":
        return ["cluster", table, "--clusters", "3", "--out", str(made)]
    if kind == "predict":
        return ["predict", model, table, "--out", str(made / "file.csv")]
    return ["save", str(at / name / "model.skops"), str(made / "file.skops")]


@functools.cache
def sources() -> pathlib.Path:
    """Tables, their models and what commands make of the old one; kept until the process ends."""
    kept = tempfile.TemporaryDirectory(prefix="dogc-fuzz-kills-")
    sources.kept = kept  # type: ignore[attr-defined]
    at = pathlib.Path(kept.name)
    for name, rows in ROWS.items():
        points = np.random.default_rng(rows).normal(0, 0.5, (rows, 3))
        points += 6.0 * np.eye(3)[np.arange(rows) % 3]
        np.savetxt(at / f"{name}.csv", points, "%.4f", ",", header="x,y,z", comments="")
        run(asked("cluster", at, name, at / name))
    for kind in WRITES:
        (at / f"was-{kind}").mkdir()
        code, said = run([*asked(kind, at, "old", at / f"was-{kind}"), *forced(kind)])
        assert code == 0, said
    return at


def forced(kind: str) -> list[str]:
    """The option that lets a command write over what is there."""
    return [] if kind == "save" else ["--force"]


def run(arguments: list[str]) -> tuple[int, str]:
    """A command in this process: its exit code, and what it said."""
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
    kind = str(rng.choice([*WRITES], p=[0.5, 0.25, 0.25]))
    name = str(rng.choice([*SIGNALS], p=[0.5, 0.25, 0.25]))
    moment = "file" if rng.random() < 0.8 else "import"
    number = int(rng.integers(1, IMPORTS if moment == "import" else WRITES[kind][1]))
    at, made, full = sources(), folder / "made", bool(rng.random() < 0.6)
    if full:
        shutil.copytree(at / f"was-{kind}", made)
    given = [*asked(kind, at, "new", made), *forced(kind)]
    told = [moment, str(number), str(made), str(int(SIGNALS[name]))]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *told, *given],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    # It may end by itself before, and a signal that comes before anything is to do kills at once.
    fine = {0, -SIGNALS[name], 128 + SIGNALS[name]}
    # How a script of the user's own ends is its affair.
    if (kind, name) != ("save", "interrupt") and (
        done.returncode not in fine or "Traceback" in done.stderr
    ):
        raise Broken(f"{name}: {done.returncode} {done.stderr[-600:]}")
    version(made, kind, full, sealed=True)
    for path in made.rglob(".*"):  # a run removes what has been there for a day
        os.utime(path, (0, 0))
    code, said = run(given)
    if code != 0 or version(made, kind, False, sealed=False) != "new" or hidden(made):
        raise Broken(f"the run after it ended with {code} and left {hidden(made)}: {said}")
    return f"{name} {kind}"


def hidden(folder: pathlib.Path) -> list[str]:
    """Drafts that are left behind."""
    return sorted(path.name for path in folder.rglob(".*")) if folder.exists() else []


def version(made: pathlib.Path, kind: str, full: bool, *, sealed: bool) -> str:
    """The set that stands there: old, new, some (of a killed run, without its seal) or none."""
    names, _ = WRITES[kind]
    there = [name for name in names if (made / name).exists()]
    versions = {version_of(made / name) for name in there}
    if not there and not full:
        return "none"
    if len(there) == len(names) and len(versions) == 1:
        return versions.pop()
    if sealed and names[-1] not in there:
        return "some"
    raise Broken(f"there are {there} of {versions}")


def version_of(path: pathlib.Path) -> str:
    """Whether a file is of the old table or of the new one; it must be whole."""
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8")
        if not text.rstrip().endswith("</html>"):
            raise Broken(f"{path.name} is not whole")
        return "old" if "old.csv" in text else "new"
    if path.suffix == ".skops":
        found = len(dogc.load(path).labels_)
    elif path.suffix == ".json":
        found = json.loads(path.read_text())["rows"]
    else:
        found = path.read_text().count("\n") - 1
    return {rows: name for name, rows in ROWS.items()}[found]
