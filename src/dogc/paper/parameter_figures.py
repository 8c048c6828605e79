"""The figures on Vote and Ecoli: alpha, beta, gamma, p, and the objective by iteration.

All in the paper's own units and without an intercept, from random starts, as it has them.
"""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import protocol
from . import reproduction_page as pages
from .protocol import PAPER_RANGE, POWERS, Setting, rows_and_classes, seeded
from .runs import Results, fitted, make_run

STARTS = 10
NAMES = ("alpha", "beta", "gamma")
# The values at which fig:4 (Vote) and fig:5 (Ecoli) hold the parameter that a panel fixes.
FIXED = {
    "vote": {"alpha": 1e-4, "beta": 1e-2, "gamma": 1e-4},
    "ecoli": {"alpha": 1e-6, "beta": 1e-3, "gamma": 1e-6},
}
# The paper does not print the three groups of fig:6: its values on Vote, those on Ecoli, and
# the largest alpha that it recommends.
GROUPS = (*FIXED.values(), {"alpha": 1e-2, "beta": 1e-2, "gamma": 1e-4})
# The lines of fig:7: the paper's units, ours, and the paper's without a projection.
IN_UNITS: Setting = {"penalties": "paper", "n_components": 3}
LINES: dict[str, Setting] = {
    "paper units": IN_UNITS,
    "relative units": {**IN_UNITS, "penalties": "relative"},
    "no projection": {**IN_UNITS, "n_components": None},
}
LOOKS = ((pages.BLUE, 4.0), (pages.ORANGE, 1.5), (pages.GREEN, 1.5))  # a line may lie upon another
TOLERANCES = (1e-3, 1e-6)


def base_setting(data: str, method: str) -> Setting:
    """The parameters that are the same in all of these figures.

    The paper does not print m; its code has 3 for Vote. k is a tenth of the rows.
    """
    k = round(len(rows_and_classes(data, "z-score")[0]) / 10)
    return {**protocol.fixed(method, "paper"), "n_neighbors": k, "n_components": 3, "max_iter": 30}


def _over_starts(
    results: Results, path: pathlib.Path, method: str, points: Sequence[Setting]
) -> pd.DataFrame:
    """Scores of points (data, parameters) over random starts."""
    starts = range(min(STARTS, results.n_runs))
    lines: pages.Points = []
    for point in points:
        data = point["data"]
        own = {key: value for key, value in point.items() if key not in ("data", "panel")}
        setting = base_setting(data, method) | own
        seeds = [seeded(method, setting, seed) for seed in starts]
        texts = {key: _text(value) for key, value in point.items()}
        shown = {"method": method, **texts, "starts": len(starts)}
        lines.append((shown, [make_run(method, data, one, "z-score") for one in seeds]))
    return pages.write_scores(results, path, lines)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def alpha(results: Results, out: pathlib.Path) -> Any:
    """ACC and NMI of DOGC against alpha: the paper's units, ours, and without a projection."""
    return _curves(results, out / "alpha.csv", "DOGC", LINES, PAPER_RANGE, xscale="log")


def power(results: Results, out: pathlib.Path) -> Any:
    """ACC and NMI of DOGC-OS against p, with three groups of alpha, beta and gamma."""
    groups = {", ".join(f"{value:g}" for value in group.values()): group for group in GROUPS}
    return _curves(results, out / "p.csv", "DOGC-OS", groups, POWERS, title="alpha, beta, gamma")


def _curves(
    results: Results, path: pathlib.Path, method: str, lines: dict[str, Setting],
    values: Sequence[float], xscale: str = "linear", title: str | None = None,
) -> Any:  # fmt: skip
    """The median over starts and the range around it against a parameter, by data and measure."""
    name = path.stem
    every = itertools.product(FIXED, lines.values(), values)
    points = [{"data": data, **line, name: value} for data, line, value in every]
    found = _over_starts(results, path, method, points)
    figure, axes = pages.figure_axes(4)
    panels = itertools.product(FIXED, {"acc": "ACC", "nmi_max": "NMI"}.items())
    for axis, (data, (metric, measure)) in zip(axes[0], panels, strict=True):
        of_data = found[found.data == data]
        for i, (label, (colour, width)) in enumerate(zip(lines, LOOKS, strict=True)):
            rows = of_data[i * len(values) : (i + 1) * len(values)]
            low, middle, high = (rows[f"{metric}_{end}"] for end in ("worst", "median", "best"))
            axis.plot(values, middle, "o-", color=colour, ms=4, lw=width, label=label)
            axis.fill_between(values, low, high, color=colour, alpha=0.15, lw=0)
        axis.set(ylim=(0, 1), xscale=xscale, xlabel=name)
        axis.set_title(f"{data}, {measure}", fontsize=10)
    axes[0, 0].legend(fontsize=8, frameon=False, title=title, title_fontsize=8)
    return figure


def sensitivity(results: Results, out: pathlib.Path) -> Any:
    """ACC of DOGC-OS over two of alpha, beta and gamma, the third fixed, at p = 1.25."""
    panels = list(itertools.product(FIXED, ("alpha", "gamma", "beta")))
    points = []
    for data, name in panels:
        ranges = dict.fromkeys(NAMES, PAPER_RANGE) | {name: (FIXED[data][name],)}
        panel = {"data": data, "panel": name}
        points += [panel | one | {"p": 1.25} for one in protocol.combinations(**ranges)]
    found = _over_starts(results, out / "sensitivity.csv", "DOGC-OS", points)
    figure, axes = pages.figure_axes(3, 2, width=3.6, height=3.3)
    ticks = [f"{value:g}" for value in PAPER_RANGE]
    for axis, (data, name) in zip(axes.flat, panels, strict=True):
        rows = found[(found.data == data) & (found.panel == name)]
        table = rows.acc_median.to_numpy().reshape(len(ticks), -1)
        image = axis.imshow(table, vmin=0, vmax=1, cmap="viridis")
        for (i, j), value in np.ndenumerate(table):
            colour = "white" if value < 0.6 else "black"
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
        axis.set_xticks(range(len(ticks)), ticks, fontsize=7)
        axis.set_yticks(range(len(ticks)), ticks, fontsize=7)
        down, across = (other for other in NAMES if other != name)
        axis.set(xlabel=across, ylabel=down)
        axis.set_title(f"{data}, {name} = {FIXED[data][name]:g}", fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.6, label="ACC")
    return figure


def descent(method: str, data: str, at: str, seed: int) -> tuple[float, np.ndarray]:
    """One run at a fixed lambda: that with which its own search begins ("first") or ends ("last").

    Returns lambda, and the objective by iteration.
    """
    X, y = rows_and_classes(data, "z-score")
    own = {"alpha": FIXED[data]["alpha"]} if method == "DOGC" else {**FIXED[data], "p": 1.25}
    setting = seeded(method, base_setting(data, method) | own, seed)
    model = protocol.make_model(method, int(y.max()) + 1).set_params(**setting)
    lam = fitted(model, X).history_[0 if at == "first" else -1].lam
    # The end is where rounding leaves it, or the 300th iteration.
    history = fitted(model.set_params(lam=lam, tol=1e-15, max_iter=300), X).history_
    return lam, np.array([record.objective for record in history])


def settled(values: np.ndarray, tolerance: float) -> int:
    """Iterations until an objective is within a relative tolerance of its end, for good."""
    far = np.flatnonzero(np.abs(values - values[-1]) > tolerance * abs(values[-1]))
    return int(far[-1]) + 2 if len(far) else 1


def largest_rise(values: np.ndarray) -> float:
    """The largest relative rise from one iteration to the next; 0 if there is none."""
    return float(np.max(np.diff(values) / np.abs(values[:-1]), initial=0.0))


def convergence(results: Results, out: pathlib.Path) -> Any:
    """Objective against iteration, at the lambdas with which the search begins and ends."""
    figure, axes = pages.figure_axes(4)
    starts = min(STARTS, results.n_runs)
    panels = itertools.product(("DOGC", "DOGC-OS"), ("ecoli", "vote"))
    rows = []
    for axis, (method, data) in zip(axes[0], panels, strict=True):
        for at, colour in (("first", pages.ORANGE), ("last", pages.BLUE)):
            descents = [descent(method, data, at, seed) for seed in range(starts)]
            lam, runs = descents[0][0], [run for _, run in descents]
            for values in runs:
                above = np.maximum(values / values[-1] - 1.0, 1e-12)
                axis.semilogy(range(1, len(above) + 1), above, color=colour, lw=0.8, alpha=0.6)
            axis.plot([], [], color=colour, label=f"{at} lambda, {lam:.2g}")
            rise = f"{max(map(largest_rise, runs)):.1e}"
            for tolerance in TOLERANCES:
                counts = [settled(run, tolerance) for run in runs]
                rows.append({
                    "method": method, "data": data, "lambda": at, "value": f"{lam:.4g}",
                    "within": f"{tolerance:g}", "starts": starts,
                    "median": f"{np.median(counts):g}", "least": min(counts), "most": max(counts),
                    "largest_rise": rise,
                })  # fmt: skip
        axis.set(xlabel="iteration", xlim=(0, 60), ylim=(1e-9, 2))
        axis.set_title(f"{method}, {data}", fontsize=10)
        axis.axvline(10, color="#cccccc", lw=1, zorder=0)
        axis.legend(fontsize=8, frameon=False, loc="upper right")
    axes[0, 0].set_ylabel("objective / its end - 1")
    pages.write_csv(out / "convergence.csv", rows)
    return figure


FIGURES = {"alpha": alpha, "p": power, "sensitivity": sensitivity, "convergence": convergence}
