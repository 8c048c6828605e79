"""The direction of imports, the size of rooms, and no n x n array anywhere."""

import ast
import pathlib
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import dogc
import import_graph
from conftest import BASELINES, made
from dogc import CAN, DOGC, DOGCOS, LPP

SOURCE = pathlib.Path(dogc.__file__).parent
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "docs"))
from architecture import BANDS  # noqa: E402

# A room may import rooms of lower bands of the drawing only.
LEVELS = {room: -height for height, band in enumerate(BANDS) for room in band.rooms}
GRAPH = import_graph.imports(SOURCE)


def test_every_room_is_in_the_drawing():
    assert {import_graph.room(name) for name in GRAPH} == set(LEVELS)


def test_no_import_goes_up():
    face = GRAPH["dogc"]  # shows users what lies anywhere; who may import it has a level
    assert import_graph.upward({**GRAPH, "dogc": set()}, LEVELS) == []
    assert face <= set(GRAPH)


def test_nothing_is_imported_in_a_circle():
    assert import_graph.cycles(GRAPH, face="dogc") == []


@pytest.fixture
def house(tmp_path):
    """A package of two rooms; each test adds a file that must not be."""
    files = {
        "__init__": "",
        "low/__init__": "",
        "low/a": "",
        "low/b": "from . import a",
        "high/__init__": "",
        "high/c": "from ..low import a\nfrom ..low.b import x",
    }
    for name, text in files.items():
        path = tmp_path / "house" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "house"


HOUSE = {"house": 2, "high": 1, "low": 0}


def test_a_house_in_order_passes(house):
    graph = import_graph.imports(house)
    assert graph["house.high.c"] == {"house.low.a", "house.low.b"}
    assert import_graph.upward(graph, HOUSE) == import_graph.cycles(graph, "house") == []


UPWARD = """from ..high import c
import house.high.c as c
from house import anything
def f(): from ..high import c
if False: from house.high.c import x
import importlib; importlib.import_module('house.high.c')
from importlib import import_module; import_module('..high.c', 'house.low')
__import__('house.high.c')"""


@pytest.mark.parametrize("line", UPWARD.splitlines())
def test_an_upward_import_of_any_kind_is_seen(house, line):
    (house / "low" / "a.py").write_text(line)
    assert len(import_graph.upward(import_graph.imports(house), HOUSE)) == 1


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("low/a", "from . import b"),
        ("low/a", "def f():\n    from .b import x"),
        ("low/a", "from ..high import c"),
        ("low/__init__", "from .c import x"),
    ],
)
def test_a_circle_of_any_kind_is_seen(house, file, line):
    (house / f"{file}.py").write_text(line)
    (house / "low" / "c.py").write_text("from . import anything")
    assert import_graph.cycles(import_graph.imports(house), "house")


def imported_packages(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_numerics_and_the_loop_need_no_scikit_learn():
    for room in ("numerics", "loop"):
        for path in (SOURCE / room).glob("*.py"):
            assert not {"sklearn", "joblib", "threadpoolctl"} & set(imported_packages(path))


def test_the_paper_uses_what_users_use():
    public = {"dogc", "dogc.datasets", "dogc.metrics", "dogc.comparison"}
    public |= {f"dogc._{name}" for name in ("atomic", "extras", "limits", "policy", "stopping")}
    for name, others in GRAPH.items():
        if import_graph.room(name) == "paper":
            assert {other for other in others if import_graph.room(other) != "paper"} <= public


def test_rooms_stay_small():
    # Docstrings do not count: those of the estimators describe every parameter.
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            doc = 0
            if documented and ast.get_docstring(node):
                doc = node.body[0].end_lineno - node.body[0].lineno + 1
            lines -= doc
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                assert node.end_lineno - node.lineno - doc <= 55, (path, node.name)
        assert lines <= 350, path


@pytest.mark.slow
@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN, *BASELINES, LPP], ids=lambda e: e.__name__)
def test_memory_stays_far_below_n_squared(cls):
    n = 4000
    X, _ = make_blobs(n, n_features=8, centers=4, cluster_std=4.0, random_state=0)
    X = X.astype(np.float64)
    tracemalloc.start()
    made(cls, 4, n_neighbors=10).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.4 * n * n * 8
