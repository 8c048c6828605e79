"""Names that ``import dogc`` shows, and that nothing is imported before it is needed."""

import ast
import importlib
import inspect
import json
import pathlib
import subprocess
import sys

import pytest

import dogc
from dogc import estimators

# Packages that are looked for are written down, whether they are installed or not.
WATCH = """
import json, sys

looked_for = set()

class Watch:
    def find_spec(name, path=None, target=None):
        looked_for.add(name.partition(".")[0])

sys.meta_path.insert(0, Watch)
"""
HEAVY = {"dask", "distributed", "matplotlib", "torch"}
NUMERIC = {"joblib", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "skops", "tqdm"}


def fresh(code, *arguments):
    """The output of a new interpreter."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def looked_for(code):
    """The packages that a new interpreter looks for while it runs the code."""
    last = "\nprint()\nprint(json.dumps(sorted(looked_for)))"
    return set(json.loads(fresh(WATCH + code + last).splitlines()[-1]))


def test_the_package_alone_imports_nothing_large():
    found = looked_for("import dogc; dogc.__version__; dir(dogc)")
    assert "dogc" in found
    assert not found & (HEAVY | NUMERIC)


def test_a_fit_imports_nothing_that_it_does_not_need():
    found = looked_for(
        "from dogc import DOGC\n"
        "labels = DOGC(2).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])\n"
        "assert labels[0] != labels[-1]"
    )
    assert {"numpy", "scipy", "sklearn"} <= found
    assert not found & HEAVY


def test_a_model_file_is_written_and_read_without_what_it_does_not_need(tmp_path):
    pytest.importorskip("skops")
    found = looked_for(
        "import dogc\n"
        "model = dogc.DOGC(2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])\n"
        f"path = dogc.save(model, {str(tmp_path / 'model.skops')!r})\n"
        "assert dogc.load(path).predict([[0.0]]) == model.predict([[0.0]])\n"
        "assert 'torch' not in sys.modules"
    )
    assert not found & {"torch", "dask"}


@pytest.mark.parametrize("typed", [["--help"], ["cluster"]])
def test_help_and_slips_of_the_fingers_import_nothing_large(typed):
    pytest.importorskip("typer")
    code = f"""
from dogc.app.cli import main
try:
    main({typed})
except SystemExit:
    pass
assert "dogc.app.commands.command_line" in sys.modules
"""
    assert not looked_for(code) & (HEAVY | NUMERIC)


def shown_to_type_checkers():
    """Names in the stub of the package, each with the module that it is taken from."""
    stub = pathlib.Path(dogc.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for node in ast.parse(stub).body:
        for alias in getattr(node, "names", []):
            every = estimators.__all__ if alias.name == "*" else [alias.name]
            yield from ((name, node.module) for name in every)


def test_type_checkers_are_shown_what_there_is():
    shown = dict(shown_to_type_checkers())
    assert {*shown, "__version__"} == set(dogc.__all__) == set(dir(dogc))
    for name, module in shown.items():
        if module is None:
            assert getattr(dogc, name) is importlib.import_module(f"dogc.{name}")
        else:
            place = importlib.import_module(f"dogc.{module}")
            assert getattr(dogc, name) is getattr(place, name)


def test_every_estimator_is_shown():
    classes = {name for name in dogc.__all__ if hasattr(getattr(dogc, name), "fit")}
    classes -= {"MixedEncoder"}  # of tables
    assert classes == {n for n in estimators.__all__ if inspect.isclass(getattr(estimators, n))}
    assert set(estimators.__all__) <= set(dogc.__all__)


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="module 'dogc' has no attribute 'DOGS'"):
        dogc.DOGS  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'DOGS' from 'dogc'"):
        from dogc import DOGS  # noqa: F401
