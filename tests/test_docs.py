"""The documents tell the truth: their code runs and the tests they name exist."""

import inspect
import pathlib
import re

import pytest
from sklearn.datasets import load_iris

import dogc
from test_architecture import LEVELS

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    names = {"X": load_iris().data}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.S):
        exec(block, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_named_tests_exist(page):
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("http") or (page.parent / link).exists(), link
    current = None
    for file, name in re.findall(r"`(test_\w+\.py)?(?:::(\w+))?`", text):
        current = file or current
        if file:
            assert (ROOT / "tests" / file).exists(), file
        if name:
            assert f"def {name}(" in (ROOT / "tests" / current).read_text(), name


def test_changelog_names_every_public_class():
    text = (ROOT / "CHANGELOG.md").read_text()
    for name in dogc.__all__:
        assert name.startswith("__") or f"`{name}`" in text, name


ROOMS = ["metrics", *(room for room, level in LEVELS.items() if level <= 1)]


def test_every_public_function_of_the_numerics_has_an_example():
    for room in ROOMS:
        module = __import__(f"dogc.{room}", fromlist=[room])
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                assert name.startswith("_") or ">>>" in thing.__doc__, f"{room}.{name}"
