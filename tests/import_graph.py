"""The graph of imports in a package: every import, wherever it stands."""

from __future__ import annotations

import ast
import graphlib
import importlib.util
import pathlib


def modules(package: pathlib.Path) -> dict[str, pathlib.Path]:
    """The modules of a package by their dotted names."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: pathlib.Path) -> dict[str, set[str]]:
    """The modules of the package that each one imports, in functions and under conditions too."""
    known = modules(package)
    return {name: set(_imported(name, path, known)) for name, path in known.items()}


def _imported(name, path, known):
    inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = inside.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, [base, node.module]))
            targets = [
                f"{source}.{alias.name}" if f"{source}.{alias.name}" in known else source
                for alias in node.names
            ]
        elif _is_import_call(node):
            targets = [importlib.util.resolve_name(node.args[0].value, inside)]
        else:
            continue
        yield from (target for target in targets if target in known and target != name)


def _is_import_call(node):
    """import_module("...") or __import__("...") with the name written out."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    written = isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    return called in ("import_module", "__import__") and written


def upward(graph: dict[str, set[str]], levels: dict[str, int]) -> list[str]:
    """Imports that do not go down, between the rooms that have levels."""
    wrong = []
    for name, others in graph.items():
        for other in others:
            here, there = room(name), room(other)
            if here != there and levels[there] >= levels[here]:
                wrong.append(f"{name} imports {other}")
    return sorted(wrong)


def room(name: str) -> str:
    """The room at the top of the package that a module is in; the package itself is one."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def cycles(graph: dict[str, set[str]], face: str) -> list[str]:
    """Modules that import each other in a circle, and so with the folders in each folder.

    The face of the package is left out: it shows what lies anywhere.
    """
    found = []
    for folder in {name.rpartition(".")[0] for name in graph} | set(graph):
        children: dict[str, set[str]] = {}
        for name, others in graph.items():
            if (child := _child(folder, name)) is not None and name != face:
                inside = {_child(folder, other) for other in others}
                children.setdefault(child, set()).update(inside - {None, child})
        found += [f"{folder}: {' <-> '.join(sorted(group))}" for group in _circles(children)]
    return sorted(found)


def _child(folder: str, name: str) -> str | None:
    """The part of a folder that a module is or is in, its own __init__ among them."""
    if name == folder:
        return "__init__"
    if not name.startswith(f"{folder}."):
        return None
    return name[len(folder) + 1 :].split(".")[0]


def _circles(graph: dict[str, set[str]]) -> list[set[str]]:
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return [set(error.args[1])]
    return []
