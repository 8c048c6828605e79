"""The commands on the pages work: `dogc ...` is run, `make ...` and scripts exist."""

import importlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")

from typer.main import get_command  # noqa: E402

from dogc.app.commands.command_line import app, run  # noqa: E402
from dogc.paper import command as paper_command  # noqa: E402

ROOT = pathlib.Path(__file__).parents[1]
OTHERS = ("README.md", "SECURITY.md", "CONTRIBUTING.md")
FOLDERS = (ROOT / "docs", ROOT / "docs" / "user_guide", ROOT / "docs" / "guides")
PAGES = [ROOT / name for name in OTHERS]
PAGES += [page for folder in FOLDERS for page in sorted(folder.glob("*.md"))]
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```", flags=re.S | re.M)
# These take minutes or need a cluster: they are parsed, not run.
LONG = ("paper tables", "paper figures", "paper departures")


def lines(page):
    text = page.read_text(encoding="utf-8")
    blocks = [block for kind, block in BLOCK.findall(text) if kind in ("", "bash")]
    return [line.strip() for block in blocks for line in block.splitlines()]


def commands(page):
    """The words behind `dogc` in the lines that begin with it."""
    found = [shlex.split(line, comments=True)[1:] for line in lines(page) if line[:5] == "dogc "]
    return [words for words in found if "FILE" not in words]


PIPES = [line for page in PAGES for line in lines(page) if "| dogc " in line]
WITH_COMMANDS = [pytest.param(page, id=page.name) for page in PAGES if commands(page)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(scale=9, size=(5, 3)), 40, axis=0)
    table = pd.DataFrame(
        centres + rng.normal(size=centres.shape), columns=["age", "spend", "visits"]
    )
    for name in ("customers.csv", "new.csv", "clicks.csv"):
        table.to_csv(name, index=False)
    table.to_csv("rows.csv.gz", index=False)
    pathlib.Path("parts").mkdir()
    for part in range(2):
        table.to_csv(f"parts/{part}.csv", index=False)
        table.to_parquet(f"parts/{part}.parquet")
    return tmp_path


def leaf(words):
    """The command that words lead to, and what it is given."""
    command, rest = get_command(app), list(words)
    while hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def check(words):
    """Run a command, or parse it if it takes long; files of commands before are replaced."""
    command, rest = leaf(words)
    parsed_only = any(mark in " ".join(words) for mark in LONG)
    if words[0] == "paper":
        paper_command.parser().parse_args(rest) if parsed_only else paper_command.main(rest)
    elif parsed_only:
        command.make_context("dogc", rest)
    else:
        options = {flag for option in command.params for flag in option.opts}
        assert run([*words, *(["--force"] if "--force" in options else [])]) == 0, words


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_on_the_page_run_in_order(page, folder):
    run(["datasets", "wine", "--force"])
    run(["cluster", "wine.csv", "--clusters", "3", "--label-column", "class", "--quiet"])
    for words in commands(page):
        check(words)


@pytest.mark.slow
@pytest.mark.parametrize("line", PIPES)
def test_pipes_on_the_pages_run(line, folder):
    programs = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    if shutil.which("dogc", path=programs) is None or shutil.which("zcat") is None:
        pytest.skip("dogc and zcat are not programs on this machine")
    done = subprocess.run(
        line, shell=True, capture_output=True, env={**os.environ, "PATH": programs}
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 200


def test_targets_and_scripts_on_the_pages_exist():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    for target in re.findall(r"`make ([\w-]+)|^make ([\w-]+)", text, flags=re.M):
        assert "".join(target) in targets, target
    for script in re.findall(r"\bpython ((?:benchmarks|docs|tools)/\w+\.py)", text):
        assert (ROOT / script).exists(), script


def test_the_tables_of_all_methods_are_what_the_benchmark_prints(capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    comparison = importlib.import_module("comparison")
    comparison.show(list(comparison.kept().values()))
    printed = {line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")}
    for page in ("README.md", "docs/benchmarks.md"):
        lines = (ROOT / page).read_text(encoding="utf-8").partition("| data | DOGC |")[2]
        rows = lines.partition("\n\n")[0].splitlines()[2:]
        assert len(rows) >= len(comparison.DATA) - 1
        assert set(rows) <= printed
