"""Every departure from the paper is guarded: a test that it names fails where it is made untrue."""

from __future__ import annotations

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from errata_breaks import BREAKS

ROOT = pathlib.Path(__file__).parents[1]
FILES = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
NAMED = re.compile(
    r"`(test_\w+\.py)?(?:::(\w+))?`"
)  # as in test_docs.py, which sees that they exist
TITLE = re.compile(r"\*\*(.+?)\.?\*\*")


def entries() -> dict[str, list[tuple[str, str]]]:
    """The title of each entry of the page, and the tests that it names: (file, name)."""
    found = {}
    for block in re.split(r"\n\n|\n(?=[|#]|\*\*)", (ROOT / "docs/errata.md").read_text("utf-8")):
        if title := TITLE.match(block):
            found[title[1]] = named(block)
        elif block.startswith("|") and not re.match(r"\| where|\|-", block):
            found[block.split(" | ")[0].removeprefix("| ")] = named(block)
    return found


def named(text: str) -> list[tuple[str, str]]:
    pairs, current = [], ""
    for file, name in NAMED.findall(text):
        current = file or current
        pairs += [(current, name)] if current else []
    return pairs


ENTRIES = entries()


def functions(file: str) -> set[str]:
    """The tests of a file that a run of all fast tests runs."""
    tree = ast.parse(FILES[file].read_text("utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {f.name for f in found if "slow" not in map(ast.unparse, f.decorator_list)}


def broken(file: str, old: str, new: str) -> str:
    """The source of a file with its change."""
    source = (ROOT / "src/dogc" / file).read_text("utf-8")
    assert source.count(old) == 1, f"{file} must hold this once: {old}"
    return source.replace(old, new)


def outcome(place: pathlib.Path, tests: list[tuple[str, str]]) -> subprocess.CompletedProcess[str]:
    """The output of pytest where the package is that in a folder."""
    nodes = [f"{FILES[file].relative_to(ROOT)}::{name}" for file, name in tests]
    call = f"import mutants, pathlib; mutants.run_tests(pathlib.Path({str(place)!r}), {nodes})"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(ROOT / "tools"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", call], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def test_every_entry_names_tests_and_has_a_break():
    assert BREAKS.keys() == ENTRIES.keys()
    for title, tests in ENTRIES.items():
        assert tests, title
        for file, name in tests:
            assert name in functions(file), f"{title}: {file}::{name}"


def test_a_change_is_of_text_that_occurs_once():
    for change in BREAKS.values():
        source = broken(*change)
        if change[0].endswith(".py"):
            compile(source, change[0], "exec")


@pytest.mark.slow
def test_the_named_tests_pass_where_nothing_is_changed(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path, dirs_exist_ok=True)
    said = outcome(tmp_path, sorted({pair for tests in ENTRIES.values() for pair in tests}))
    assert said.returncode == 0, said.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("title", "change"), BREAKS.items(), ids=list(BREAKS))
def test_a_named_test_fails_where_an_entry_is_made_untrue(title, change, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path, dirs_exist_ok=True)
    (tmp_path / "dogc" / change[0]).write_text(broken(*change), "utf-8")
    said = outcome(tmp_path, ENTRIES[title])
    assert said.returncode == 1, said.stdout  # 1: tests ran and one failed
