"""Tests that can fail: change the code in one place at a time and see whether a test notices.

    python tools/mutants.py --module numerics/graph numerics/l2p --sample 60
    python tools/mutants.py --module loop/steps --tests tests/loop/test_steps.py --then tests/loop

Without ``--tests`` a module is held to its own test file, tests/ROOM/test_MODULE.py; its doctests
count too. Survivors are tried again with ``--then``. The working tree is copied, never changed.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

ROOT = pathlib.Path(__file__).parents[1]
FORK = multiprocessing.get_context("fork")
ARITHMETIC = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Pow: "*",
    ast.Mod: "*", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ["<=", ">="], ast.LtE: ["<", ">"], ast.Gt: [">=", "<="], ast.GtE: [">", "<"],
    ast.Eq: ["!="], ast.NotEq: ["=="], ast.Is: ["is not"], ast.IsNot: ["is"],
}  # fmt: skip
OTHER_NAME = {"min": "max", "argmin": "argmax", "minimum": "maximum", "any": "all"}
OTHER_NAME |= {b: a for a, b in OTHER_NAME.items()}


class Mutant(NamedTuple):
    """One change: the bytes from start to end of the file become ``new``."""

    line: int
    start: int
    end: int
    old: str
    new: str


def mutants(source: str) -> list[Mutant]:
    """All changes of a module, in the order of its lines."""
    raw, starts, found = source.encode(), [0], set()
    for text in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))

    def change(first: ast.AST, last: ast.AST, new: str) -> None:
        start = starts[first.lineno - 1] + first.col_offset
        end = starts[last.end_lineno - 1] + last.end_col_offset
        end += isinstance(first, ast.keyword) and raw[end : end + 1] == b","
        new = f"({new})" if isinstance(first, ast.expr) else new
        found.add(Mutant(first.lineno, start, end, raw[start:end].decode(), new))

    for node in _walk(ast.parse(source)):
        for new in _instead(node):
            change(node, node, new)
        if isinstance(node, ast.If):
            change(node.body[0], node.body[-1], "pass")
        for keyword in node.keywords if isinstance(node, ast.Call) else []:
            if keyword.arg:
                change(keyword, keyword, "")
    return sorted(found)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of annotations, decorators and f-strings."""
    yield node
    for field, value in ast.iter_fields(node):
        if field not in {"annotation", "returns", "decorator_list"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from _walk(child)


def _instead(node: ast.AST) -> list[str]:
    """Replacements of a node."""
    text = ast.unparse
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            others = COMPARISONS.get(type(op), [])
            return [f"{text(left)} {other} {text(right)}" for other in others]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return [f"({text(left)}) {ARITHMETIC[type(op)]} ({text(right)})"]
        case ast.BoolOp(op=op, values=values):
            other = " or " if isinstance(op, ast.And) else " and "
            return [other.join(f"({text(value)})" for value in values)]
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            return [text(operand)]
        case ast.Constant(value=bool(value)):
            return [str(not value)]
        case ast.Constant(value=int(value) | float(value)):
            return [str(value + 1 if isinstance(value, int) else 2.0 * value or 1.0)]
        case ast.Name(id=name) if name in OTHER_NAME:
            return [OTHER_NAME[name]]
        case ast.Attribute(value=value, attr=name) if name in OTHER_NAME:
            return [f"{text(value)}.{OTHER_NAME[name]}"]
        case ast.IfExp(body=body, orelse=orelse):
            return [text(body), text(orelse)]
        case ast.AugAssign(target=target, op=op, value=value):
            return ["pass", f"{text(target)} {ARITHMETIC.get(type(op), '')}= {text(value)}"]
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return ["pass"] if re.search(rf"\b{name}\b", text(value)) else []
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Expr(value=ast.Call()):
            return ["pass"]
    return []


def _outcome(task: tuple[pathlib.Path, str, Mutant, list[str], float]) -> str:
    """The verdict of the tests on a mutant: killed, survived or timed out."""
    original, file, mutant, tests, timeout = task
    place = original.parent / f"copy-{os.getpid()}"  # one for each worker
    if not place.exists():
        shutil.copytree(original, place)
    raw = (original / file).read_bytes()
    (place / file).write_bytes(raw[: mutant.start] + mutant.new.encode() + raw[mutant.end :])
    child = FORK.Process(target=_pytest, args=(place, file, tests))
    child.start()
    child.join(timeout)
    if child.is_alive():
        child.kill()
        return "timed out"
    return "killed" if child.exitcode else "survived"


def _pytest(place: pathlib.Path, file: str, tests: list[str]) -> None:
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    run_tests(place, [str(place / file), *tests])


def run_tests(place: pathlib.Path, tests: list[str]) -> None:
    """End this process as pytest ends that runs the tests, up to one that fails, on a copy of src.

    Not to be called where dogc is imported already.
    """
    import hypothesis
    import pytest

    sys.path.insert(0, str(place))
    os.environ["PYTHONPATH"] = str(place)
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]  # no time for shrinking
    hypothesis.settings.register_profile("m", derandomize=True, database=None, phases=phases)
    hypothesis.settings.load_profile("m")
    options = "-x -q -p no:cacheprovider --assert=plain -c pyproject.toml -o pythonpath=tests"
    sys.exit(pytest.main([*options.split(), *tests]))


def _run(module: str, place: pathlib.Path, arguments: argparse.Namespace) -> None:
    file = f"dogc/{module}.py"
    left = mutants((place / file).read_text(encoding="utf-8"))
    left = [m for m in left if not arguments.line or m.line in arguments.line]
    left = sorted(random.Random(0).sample(left, min(arguments.sample or len(left), len(left))))
    counts = dict.fromkeys(("killed", "timed out", "survived"), 0)
    own = arguments.tests or f"tests/{module.replace('/', '/test_')}.py"
    for tests in (wave.split() for wave in (own, arguments.then) if wave):
        begun = time.monotonic()
        if _outcome((place, file, Mutant(0, 0, 0, "", ""), tests, 3600.0)) != "survived":
            raise SystemExit(f"{' '.join(tests)} must pass before anything is changed.")
        timeout = 20.0 + 5.0 * (time.monotonic() - begun)
        with ProcessPoolExecutor(arguments.jobs, FORK) as pool:
            tasks = [(place, file, mutant, tests, timeout) for mutant in left]
            outcomes = list(pool.map(_outcome, tasks))
        counts["survived"] = 0
        counts.update({key: counts[key] + outcomes.count(key) for key in counts})
        left = [m for m, outcome in zip(left, outcomes, strict=True) if outcome == "survived"]
    print(f"{module}:", ", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    for mutant in left:
        print(f"  src/{file}:{mutant.line}:", *mutant.old.split(), " -> ", mutant.new, flush=True)


def main() -> None:
    """Read the command line, copy the package, go through the modules."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", nargs="+", required=True, help="such as numerics/graph")
    parser.add_argument("--tests", default="", help="what pytest runs")
    parser.add_argument("--then", default="", help="what pytest runs for those that survive")
    parser.add_argument("--sample", type=int, default=0, help="so many mutants; 0 for all")
    parser.add_argument("--line", type=int, nargs="+", help="only mutants that begin there")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    os.chdir(ROOT)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "original"
        shutil.copytree(ROOT / "src", place)
        # Imports what the package needs, once; the package itself is imported by each child.
        sys.path.insert(0, str(place))
        __import__("dogc")
        sys.dont_write_bytecode = True  # a mutant of the same second and size would be overlooked
        for name in [name for name in sys.modules if name.split(".")[0] == "dogc"]:
            del sys.modules[name]
        for module in arguments.module:
            _run(module, place, arguments)


if __name__ == "__main__":
    main()
