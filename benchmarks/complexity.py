"""Seconds of each step against n, d, c and k, beside the orders that the paper names.

python benchmarks/complexity.py [--repeat 3]

One iteration of DOGC-OS from a spectral start at the lambda where its search begins, on random rows
around c centres: the smallest of some repetitions of each step. A line changes one of n, d, c, k.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from operator import matmul

from sklearn.datasets import make_blobs

from dogc import DOGCOS, methods
from dogc.paper import PrintedDOGC
from dogc.paper.as_printed import laplacian

BASE = {"n": 1000, "d": 20, "c": 5, "k": 10}
LARGER = {"n": (2000, 4000), "d": (80, 320), "c": (10, 20), "k": (20, 40)}
STEPS = ("step_S", "step_F", "step_W", "step_Q", "step_P", "step_Y_regression")


def seconds(n: int, d: int, c: int, k: int, repeat: int) -> dict[str, float]:
    """The seconds of each step in its second iteration."""
    X, _ = make_blobs(n, d, centers=c, cluster_std=4.0, random_state=0)
    estimator = DOGCOS(c, n_neighbors=k, n_components=min(c, d - 1))
    problem = methods.make_problem(X, estimator)
    start = methods.spectral_start(problem)
    state = methods.solve(problem, methods.DOGC_OS, start, max_iter=1).state
    found = {}
    for name in STEPS:
        step = getattr(methods.steps, name)
        if name == "step_F":  # its search multiplies L with F in every step
            found["LF"] = fastest(functools.partial(matmul, state.graph.L, state.F), repeat)
        found[name.removeprefix("step_")] = fastest(functools.partial(step, problem, state), repeat)
        state = step(problem, state)
    return found


def fastest(call: Callable[[], object], repeat: int) -> float:
    """The smallest of some times."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    settings = [BASE] + [BASE | {name: v} for name, values in LARGER.items() for v in values]
    names = None
    for setting in settings:
        found = seconds(**setting, repeat=options.repeat)
        if names is None:
            names = list(found)
            print("| n | d | c | k |", " | ".join(names), "|\n|" + "---|" * (4 + len(names)))
        cells = [*map(str, setting.values()), *(f"{1e3 * value:.2f}" for value in found.values())]
        print("|", " | ".join(cells), "|", flush=True)
    print("\nAs printed, dense: one iteration, and one product LF\n\n| n | c | iteration | LF |")
    print("|---|---|---|---|")
    for n, c in ((250, 5), (500, 5), (1000, 5), (1000, 10), (1000, 20)):
        X, _ = make_blobs(n, 10, centers=c, cluster_std=4.0, random_state=0)
        model = PrintedDOGC(c, max_iter=2, random_state=0)
        few, more = (
            fastest(functools.partial(model.set_params(max_iter=m).fit, X), 1) for m in (2, 4)
        )
        L = laplacian(model.S_)
        product = fastest(functools.partial(matmul, L, model.F_), options.repeat)
        print(f"| {n} | {c} | {500 * (more - few):.0f} | {1e3 * product:.2f} |", flush=True)


if __name__ == "__main__":
    main()
