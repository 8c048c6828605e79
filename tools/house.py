"""Measure the source: ``python tools/house.py [FOLDER]`` prints sizes and the path of one fit.

FOLDER holds the package ``dogc`` and is ``src`` unless named; an older checkout can be measured
beside this one.
"""

from __future__ import annotations

import ast
import pathlib
import statistics
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).resolve().parents[1] / "src"


class Path(NamedTuple):
    """The functions of the package that one call goes through."""

    functions: int
    modules: int
    hops: int  # calls from a function of one module into another module
    depth: int


def trace(call: Callable[[], Any], package: pathlib.Path) -> Path:
    """Trace a call, in all threads."""
    inside = str(package)
    functions: set[tuple[str, str, int]] = set()
    totals = {"hops": 0, "depth": 0}
    stacks: dict[int, list[str]] = {}

    def watch(frame: Any, event: str, argument: Any) -> None:
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(inside):
            return
        stack = stacks.setdefault(threading.get_ident(), [])
        if event == "return":
            if stack:
                stack.pop()
            return
        code = frame.f_code
        functions.add((code.co_filename, code.co_name, code.co_firstlineno))
        if stack and stack[-1] != code.co_filename:
            totals["hops"] += 1
        stack.append(code.co_filename)
        totals["depth"] = max(totals["depth"], len(stack))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    modules = len({name for name, _, _ in functions})
    return Path(len(functions), modules, totals["hops"], totals["depth"])


def code_lines(text: str) -> int:
    """Lines with code: no docstrings, comments or blank lines."""
    tree = ast.parse(text)
    spoken: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            spoken.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        1 for i, line in lines if i not in spoken and line.strip() and line.strip()[0] != "#"
    )


def functions_in(tree: ast.Module) -> list[int]:
    """The length of each function, its docstring not counted."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    docs = [len((ast.get_docstring(node, clean=False) or "").splitlines()) for node in found]
    return [
        (node.end_lineno or node.lineno) - node.lineno + 1 - doc
        for node, doc in zip(found, docs, strict=True)
    ]


def tuples_in(tree: ast.Module) -> dict[str, int]:
    """The width of each named tuple."""
    return {
        node.name: sum(isinstance(part, ast.AnnAssign) for part in node.body)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
    }


def sizes(package: pathlib.Path) -> list[tuple[str, str]]:
    """The size of the source."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    trees = [ast.parse(text) for text in texts.values()]
    lengths = {path: len(text.splitlines()) for path, text in texts.items()}
    functions = sorted(length for tree in trees for length in functions_in(tree))
    widths = {name: width for tree in trees for name, width in tuples_in(tree).items()}
    wide = sorted(widths.items(), key=lambda item: -item[1])[:6]
    longest = max(lengths, key=lengths.__getitem__)
    top = [path for path in package.iterdir() if path.suffix == ".py"]
    return [
        ("lines in all", f"{sum(lengths.values()):,}"),
        ("lines of code", f"{sum(map(code_lines, texts.values())):,}"),
        ("files", f"{len(texts)}, {len(top)} of them at the top"),
        ("median file", f"{statistics.median(lengths.values()):.0f} lines"),
        ("longest file", f"{lengths[longest]} lines, {longest.relative_to(package)}"),
        ("functions", str(len(functions))),
        ("function, 90 % are at most", f"{functions[int(0.9 * len(functions))]} lines"),
        ("widest named tuples", ", ".join(f"{name} {width}" for name, width in wide)),
    ]


def paths(package: pathlib.Path) -> list[tuple[str, str]]:
    """The path of fit and predict, on iris at the defaults."""
    sys.path.insert(0, str(package.parent))
    from sklearn.datasets import load_iris

    from dogc import DOGC

    X = load_iris().data
    model = DOGC(n_clusters=3, random_state=0, n_jobs=1).fit(X)  # imports are done
    found = {}
    for name, call in {"fit": lambda: model.fit(X), "predict": lambda: model.predict(X)}.items():
        found[name] = trace(call, package)
    return [
        (
            f"{name} on iris",
            f"{path.functions} functions in {path.modules} modules, {path.hops} changes of "
            f"module, {path.depth} calls deep",
        )
        for name, path in found.items()
    ]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    folder = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
    package = folder / "dogc"
    for name, value in [*sizes(package), *paths(package)]:
        print(f"{name:28s} {value}")


if __name__ == "__main__":
    main()
