"""Without an extra, what needs it says so in one sentence that names the extra."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dogc
from dogc import _extras, plotting
from dogc.datasets import load_uci

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


@pytest.fixture(scope="module")
def model():
    return dogc.DOGCOS("auto").fit(load_uci("wine").data[:60])


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), dogc.DOGCOS(3)).fit(load_uci("wine").data[:60])


def compared():
    return dogc.compare(np.arange(20.0).reshape(10, 2), 2, ["KM"])


# What is asked for without a package.
NEEDS = {
    "to_frame": ("pandas", lambda: compared().to_frame()),
    "agreement_frame": ("pandas", lambda: compared().agreement_frame()),
    "as_frame": ("pandas", lambda: load_uci("wine", as_frame=True)),
    "cuda": ("torch", lambda: dogc.DOGC(2, device="cuda").fit(np.eye(9))),
    "pynndescent": (
        "pynndescent",
        lambda: dogc.DOGC(2, neighbors_algorithm="pynndescent").fit(np.eye(9)),
    ),
}
OF_MODELS = {
    "save": ("skops.io", lambda model: dogc.save(model, "never")),
    "to_onnx": ("onnx", dogc.to_onnx),
    **{
        name: ("matplotlib.pyplot", getattr(plotting, name).from_estimator)
        for name in plotting.__all__
        if hasattr(getattr(plotting, name), "from_estimator")
    },
}
PACKAGES = ("rich", "pandas", "pyarrow", "skops")
COMMANDS = (("cluster", "t.csv", "--clusters", "3"), ("demo",), ("info", "m.skops"), ("datasets",),
            ("predict", "m.skops", "t.csv"), ("compare", "t.csv", "--clusters", "3"),
            ("report", "m.skops"))  # fmt: skip


def says_how(said, package):
    package = package.split(".")[0]
    assert package in said
    assert re.search(rf'pip install "dogc\[{_extras.EXTRAS[package]}\]"', said)
    assert "\n" not in said.strip()


@pytest.mark.parametrize("name", NEEDS)
def test_what_needs_a_package_names_its_extra(name, monkeypatch):
    package, ask = NEEDS[name]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises((ImportError, ValueError)) as refused:
        ask()
    says_how(str(refused.value), package)


@pytest.mark.parametrize("name", OF_MODELS)
def test_so_does_what_becomes_of_a_model(name, model, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    package, ask = OF_MODELS[name]
    monkeypatch.setitem(sys.modules, package, None)
    rows, classes = (values[:60] for values in load_uci("wine", return_X_y=True))
    needs = {"ClusterDisplay": [rows], "ConfusionDisplay": [rows, classes]}.get(name, [])
    with pytest.raises(ImportError) as refused:
        ask(model, *needs)
    says_how(str(refused.value), package)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_command_says_it_before_it_reads_anything(package, monkeypatch, capsys, tmp_path):
    pytest.importorskip("typer")
    from dogc.app.commands.command_line import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    for arguments in COMMANDS:
        assert run(arguments) == 2
        said = capsys.readouterr().err
        assert said.startswith("dogc: the command line needs ")
        says_how(said, package)


def test_the_table_of_extras_is_that_of_the_package():
    listed = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for package, extra in _extras.EXTRAS.items():
        assert any(package in requirement for requirement in listed[extra])
