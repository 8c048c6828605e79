"""The docstrings of the estimators say what there is, and shared paragraphs are the same."""

import ast
import importlib.util
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from dogc import estimators

ROOT = pathlib.Path(__file__).parents[1]
TOOL = ROOT / "tools" / "docstrings.py"
SHARED = "Results do not depend on it."  # of n_jobs
PUBLIC = [getattr(estimators, name) for name in estimators.__all__]
CLASSES = [thing for thing in PUBLIC if inspect.isclass(thing)]
each = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def described(cls, section):
    """The entries of a section of a class docstring: names, each with what follows the colon."""
    text = inspect.cleandoc(cls.__doc__) + "\n\n"
    _, _, after = text.partition(f"\n{section}\n{'-' * len(section)}\n")
    return re.findall(r"^(\w+) : (.*)$", re.split(r"\n\n(?=\S)", after)[0], flags=re.M)


@each
def test_parameters_are_described_with_their_defaults(cls):
    parameters = inspect.signature(cls).parameters
    told = described(cls, "Parameters") + described(cls, "Other Parameters")
    assert told[0][0] == next(iter(parameters))  # all others are passed by name
    assert sorted(name for name, _ in told) == sorted(parameters)
    for name, kind in told:
        _, stated, default = kind.partition(", default=")
        assert stated, name
        assert ast.literal_eval(default) == parameters[name].default, name


@pytest.mark.parametrize("cls", [estimators.DOGC, estimators.DOGCOS])
def test_what_users_need_stands_first(cls):
    first = [name for name, _ in described(cls, "Parameters")]
    assert len(set(first) - {"rule"}) == 6
    assert first[0] == "n_clusters"
    own = [name for name in first if name != "rule"]
    assert list(inspect.signature(cls).parameters)[: len(own)] == own
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    told = re.findall(r"^#{2,3} (\w+)\n", page, flags=re.M)
    assert sorted(told) == sorted(["Advanced", *inspect.signature(estimators.DOGCOS).parameters])
    for name, default in re.findall(r"^#{2,3} (\w+)\n.*default `(.*)`\.$", page, flags=re.M):
        given = inspect.signature(estimators.DOGCOS).parameters[name].default
        assert ast.literal_eval(default) == given, name


@each
def test_attributes_that_fit_sets_are_described_and_no_others(cls):
    X, _ = make_blobs(40, centers=2, random_state=0)
    model = cls(2).fit(pd.DataFrame(X, columns=["a", "b"]))
    fitted = [name for name in dir(model) if re.fullmatch(r"[a-z]\w*[^_]_", name)]
    names = [name for name, _ in described(cls, "Attributes")]
    assert sorted(names) == sorted(fitted)


@each
def test_docstrings_are_written_out(cls):
    text = pathlib.Path(inspect.getfile(cls)).read_text(encoding="utf-8")
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    source = next(ast.get_docstring(node) for node in classes if node.name == cls.__name__)
    assert source == inspect.cleandoc(cls.__doc__)  # nothing is put in when it is imported
    assert not re.search(r"(?<![\w^}])\{[a-z]\w*\}", source)  # {ij} after _ or ^ is LaTeX
    assert ".. math::" in source


def run_tool(*arguments):
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_shared_paragraphs_are_the_same():
    done = run_tool()
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_estimator_is_compared():
    spec = importlib.util.spec_from_file_location("docstrings", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert {cls.__name__ for cls in CLASSES} == set(tool.FOLLOWS)


def test_the_tool_names_what_differs_and_puts_it_right(tmp_path):
    folder = tmp_path / "estimators"
    shutil.copytree(pathlib.Path(estimators.__file__).parent, folder)
    before = {path: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    for file in ("_sec.py", "_can.py"):
        text = before[folder / file]
        assert SHARED in text
        (folder / file).write_text(text.replace(SHARED, "Try it.\n\n        Twice.", 1))
    done = run_tool(folder)
    assert done.returncode == 1
    for name, other in (("SEC", "RatioCut"), ("CAN", "DOGC")):
        assert f" {name}.n_jobs differs from {other}\n" in done.stdout
    assert done.stdout.count("\n") == 2
    assert run_tool("--write", folder).returncode == 0
    assert {path: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} == before
    # A change in the first class that has a paragraph goes to all others.
    first = before[folder / "_dogc.py"].replace(SHARED, "Try.", 1)
    (folder / "_dogc.py").write_text(first)
    assert run_tool("--write", folder).returncode == 0
    assert not any(SHARED in path.read_text(encoding="utf-8") for path in folder.glob("*.py"))


def test_no_docstring_begins_with_what_who_or_where():
    found = []
    for path in (ROOT / "src" / "dogc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                doc = ast.get_docstring(node) or ""
                found += [f"{path.name}: {doc}"] if re.match(r"(What|Who|Where)\b", doc) else []
    assert found == []
