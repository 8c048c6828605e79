"""The direction of imports, the size of rooms, and no n x n array anywhere."""

import ast
import pathlib
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import dogc
from conftest import BASELINES, made
from dogc import CAN, DOGC, DOGCOS, LPP

SOURCE = pathlib.Path(dogc.__file__).parent

# A room may import rooms of a lower number only.
LEVELS = {
    "arrays": 0,
    "products": 0.5,
    "graph": 1,
    "stiefel": 1,
    "eigen": 1,
    "affinity": 1,
    "local_models": 1,
    "symnmf": 1,
    "lpp": 1,
    "spectrum": 1,
    "trace_ratio": 1,
    "discrete": 1,
    "l2p": 1,
    "sampling": 1,
    "means": 1,
    "geometry": 1,
    "resolutions": 2,
    "fragments": 2,
    "outliers": 2,
    "scales": 2,
    "counting": 2,
    "state": 2,
    "objective": 3,
    "steps": 4,
    "lambda_search": 5,
    "start": 6,
    "methods": 6,
    "solver": 7,
    "restarts": 8,
    "links": 8.5,
    "estimators": 9,
    "metrics": 9,
    "quality": 9.5,
    "files": 9,
    "comparison": 10,
    "plotting": 10,
    "datasets": 10,
    "paper": 11,
    "storable": 11,
    "tables": 11,
    "persistence": 12,
    "onnx_export": 12,
    "report": 12,
    "commands": 13,
    "cli": 14,
}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def room_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported_rooms(path):
    depth = len(path.relative_to(SOURCE).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            yield from [node.module.split(".")[0]] if node.module else [a.name for a in node.names]


def imported_packages(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_import_goes_up(path):
    room = room_of(path)
    if room == "__init__":
        return
    assert room in LEVELS, f"give {room} a level"
    for other in imported_rooms(path):
        assert LEVELS[other] < LEVELS[room], f"{room} imports {other}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_links_of_rows_and_above_import_scikit_learn(path):
    if LEVELS.get(room_of(path), 0) < LEVELS["links"]:
        assert not {"sklearn", "joblib", "threadpoolctl"} & set(imported_packages(path))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_rooms_stay_small(path):
    # Docstrings do not count: those of the estimators describe every parameter.
    lines = len(path.read_text().splitlines())
    for node in ast.walk(ast.parse(path.read_text())):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node):
            lines -= node.body[0].end_lineno - node.body[0].lineno + 1
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            doc = ast.get_docstring(node) or ""
            length = node.end_lineno - node.lineno - len(doc.splitlines())
            assert length <= 45, node.name
    assert lines <= 350


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
