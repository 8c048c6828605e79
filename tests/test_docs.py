"""The documents tell the truth: their code runs and the tests they name exist."""

import importlib
import inspect
import pathlib
import re

import pytest
from sklearn.datasets import load_iris

import dogc
import test_docs_site as site

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.S)
# These take more than a second or two.
LONG = ("methods.md", "cluster.md", "guide.md")
WITH_PYTHON = [
    pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in LONG else [])
    for page in PAGES
    if BLOCK.search(page.read_text(encoding="utf-8")) and page not in site.PASTED
]


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    names = {"X": load_iris().data}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(block, names)


TESTS = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("page", [ROOT / "README.md", *site.PAGES], ids=lambda p: p.name)
def test_links_and_named_tests_exist(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert link.startswith("https://") or (page.parent / link).exists(), link
    current = None
    for file, name in re.findall(r"`(test_\w+\.py)?(?:::(\w+))?`", text):
        current = file or current
        if file:
            assert file in TESTS, file
        if name:
            assert f"def {name}(" in TESTS[current].read_text(encoding="utf-8"), name


def test_changelog_names_every_public_class():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in dogc.__all__:
        assert name.startswith("__") or re.search(rf"`(dogc\.)?{name}`", text), name


def test_the_release_has_one_number_and_one_list_of_what_it_needs():
    recipe, cff, changes, project = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("recipe/meta.yaml", "CITATION.cff", "CHANGELOG.md", "pyproject.toml")
    )
    assert f'version = "{dogc.__version__}"' in recipe
    assert f"version: {dogc.__version__}\n" in cff
    assert re.search(r"^## (\d.*) - ", changes, flags=re.M)[1] == dogc.__version__
    needed = re.search(r"^dependencies = \[(.*?)\]", project, flags=re.S | re.M)[1]
    for package, least in re.findall(r'"([\w-]+)>=([\d.]+)"', needed):
        assert f"- {package} >={least}\n" in recipe, package


NUMERICS = sorted((ROOT / "src" / "dogc" / "numerics").glob("[a-z]*.py"))
ROOMS = ["metrics", *(f"numerics.{path.stem}" for path in NUMERICS)]


def test_every_public_function_of_the_numerics_has_an_example():
    for room in ROOMS:
        module = importlib.import_module(f"dogc.{room}")
        shown = getattr(module, "__all__", vars(module))
        for name, thing in ((name, getattr(module, name)) for name in shown):
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                assert name.startswith("_") or ">>>" in thing.__doc__, f"{room}.{name}"
