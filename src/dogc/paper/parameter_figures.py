"""The figures on Vote and Ecoli: alpha, beta, gamma, p, and the objective by iteration.

All in the paper's own units and without an intercept, from random starts, as it has them.
"""

from __future__ import annotations

import itertools
import pathlib
from typing import Any, NamedTuple

import numpy as np

from .. import DOGC, DOGCOS
from .._atomic import write_csv
from .drawing import (
    BLUE,
    GREEN,
    ORANGE,
    SCORES,
    Case,
    FigureOptions,
    figure_axes,
    fitted,
    score_cells,
    scores,
    spread,
    write_figure,
)
from .protocol import PAPER_RANGE, POWERS, fixed, rows_and_classes

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
LINES: dict[str, dict[str, Any]] = {
    "paper units": {},
    "relative units": {"penalties": "relative"},
    "no projection": {"n_components": None},
}
COLOURS, WIDTHS = (BLUE, ORANGE, GREEN), (4.0, 1.5, 1.5)  # a line may lie upon another
TOLERANCES = (1e-3, 1e-6)


def _setting(data: str, method: str) -> dict[str, Any]:
    """What is the same in all of these figures.

    The paper does not print m; its code has 3 for Vote. k is a tenth of the rows.
    """
    k = round(len(rows_and_classes(data, "z-score")[0]) / 10)
    return {**fixed(method, "paper"), "n_neighbors": k, "n_components": 3, "max_iter": 30}


def _over_starts(
    options: FigureOptions, name: str, method: str, points: list[dict[str, Any]]
) -> list[dict[str, np.ndarray]]:
    """Scores of points (data, parameters) over random starts; all of them in a CSV file."""
    starts = min(STARTS, options.n_runs)
    cases = []
    for point in points:
        own = {key: value for key, value in point.items() if key not in ("data", "panel")}
        cases.append(Case(method, point["data"], {**_setting(point["data"], method), **own}))
    found = scores(options, cases, range(starts), drawn=False, title=name)
    rows = [
        (method, *(_plain(value) for value in point.values()), starts, *score_cells(values))
        for point, values in zip(points, found, strict=True)
    ]
    write_csv(options.out / f"{name}.csv", ("method", *points[0], "starts", *SCORES), rows)
    return found


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def alpha(options: FigureOptions) -> pathlib.Path:
    """ACC and NMI of DOGC against alpha: the paper's units, ours, and without a projection."""
    points = [
        {"data": data, "penalties": "paper", "n_components": 3, **line, "alpha": value}
        for data in FIXED
        for line in LINES.values()
        for value in PAPER_RANGE
    ]
    found = iter(_over_starts(options, "alpha", "DOGC", points))
    figure, axes = figure_axes(4)
    for pair, data in zip((axes[0, :2], axes[0, 2:]), FIXED, strict=True):
        for i, name in enumerate(LINES):
            curve = [next(found) for _ in PAPER_RANGE]
            _lines(pair, data, PAPER_RANGE, curve, i, name)
        for axis in pair:
            axis.set(xscale="log", xlabel="alpha")
    axes[0, 0].legend(fontsize=8, frameon=False)
    return write_figure(figure, options.out / "alpha.png")


def power(options: FigureOptions) -> pathlib.Path:
    """ACC and NMI of DOGC-OS against p, with three groups of alpha, beta and gamma."""
    points = [{"data": data, **group, "p": p} for data in FIXED for group in GROUPS for p in POWERS]
    found = iter(_over_starts(options, "p", "DOGC-OS", points))
    figure, axes = figure_axes(4)
    for pair, data in zip((axes[0, :2], axes[0, 2:]), FIXED, strict=True):
        for i, group in enumerate(GROUPS):
            curve = [next(found) for _ in POWERS]
            _lines(pair, data, POWERS, curve, i, ", ".join(f"{group[n]:g}" for n in NAMES))
        for axis in pair:
            axis.set(xlabel="p")
    axes[0, 0].legend(fontsize=8, frameon=False, title="alpha, beta, gamma", title_fontsize=8)
    return write_figure(figure, options.out / "p.png")


def _lines(axes: Any, data: str, values: Any, curve: list[Any], line: int, label: str) -> None:
    """The median over starts in two panels, ACC and NMI, and the range around it."""
    for axis, metric, name in zip(axes, ("acc", "nmi_max"), ("ACC", "NMI"), strict=True):
        low, middle, high = np.array([spread(found[metric]) for found in curve]).T
        colour, width = COLOURS[line], WIDTHS[line]
        axis.plot(values, middle, "o-", color=colour, ms=4, lw=width, label=label)
        axis.fill_between(values, low, high, color=colour, alpha=0.15, lw=0)
        axis.set(ylim=(0, 1))
        axis.set_title(f"{data}, {name}", fontsize=10)


def sensitivity(options: FigureOptions) -> pathlib.Path:
    """ACC of DOGC-OS over two of alpha, beta and gamma, the third fixed, at p = 1.25."""
    panels = [(data, name) for data in FIXED for name in ("alpha", "gamma", "beta")]
    points = [
        {"data": data, "panel": name, **dict(zip(_others(name), pair, strict=True)),
         name: FIXED[data][name], "p": 1.25}
        for data, name in panels
        for pair in itertools.product(PAPER_RANGE, PAPER_RANGE)
    ]  # fmt: skip
    keys = ("data", "panel", *NAMES, "p")  # the same columns in every panel
    points = [{key: point[key] for key in keys} for point in points]
    found = iter(_over_starts(options, "sensitivity", "DOGC-OS", points))
    figure, axes = figure_axes(3, 2, width=3.6, height=3.3)
    ticks = [f"{value:g}" for value in PAPER_RANGE]
    for axis, (data, name) in zip(axes.flat, panels, strict=True):
        table = np.array([np.median(next(found)["acc"]) for _ in range(len(ticks) ** 2)])
        table = table.reshape(len(ticks), -1)
        image = axis.imshow(table, vmin=0, vmax=1, cmap="viridis")
        for (i, j), value in np.ndenumerate(table):
            colour = "white" if value < 0.6 else "black"
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
        axis.set_xticks(range(len(ticks)), ticks, fontsize=7)
        axis.set_yticks(range(len(ticks)), ticks, fontsize=7)
        down, across = _others(name)
        axis.set(xlabel=across, ylabel=down)
        axis.set_title(f"{data}, {name} = {FIXED[data][name]:g}", fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.6, label="ACC")
    return write_figure(figure, options.out / "sensitivity.png")


def _others(name: str) -> tuple[str, str]:
    first, second = (other for other in NAMES if other != name)
    return first, second


class Descent(NamedTuple):
    """How fast the objective falls at one fixed lambda, from one random start."""

    lam: float
    objective: list[float]

    def settled(self, tolerance: float) -> int:
        """Iterations until it is within a relative tolerance of its end, for good."""
        values = np.array(self.objective)
        far = np.flatnonzero(np.abs(values - values[-1]) > tolerance * abs(values[-1]))
        return int(far[-1]) + 2 if len(far) else 1

    def rise(self) -> float:
        """The largest relative rise from one iteration to the next; 0 if there is none."""
        values = np.array(self.objective)
        return float(np.max(np.diff(values) / np.abs(values[:-1]), initial=0.0))


def descent(method: str, data: str, at: str, seed: int) -> Descent:
    """One run at the lambda with which its own search begins ("first") or ends ("last")."""
    X, y = rows_and_classes(data, "z-score")
    names = NAMES if method == "DOGC-OS" else NAMES[:1]
    own = {name: FIXED[data][name] for name in names}
    cls, power = (DOGCOS, {"p": 1.25}) if method == "DOGC-OS" else (DOGC, {})
    setting = {**_setting(data, method), **own, **power, "init": "random", "random_state": seed}
    searched = fitted(cls(int(y.max()) + 1, **setting), X).history_
    lam = searched[0 if at == "first" else -1].lam
    # The end is where rounding leaves it, or the 300th iteration.
    setting.update(lam=lam, tol=1e-15, max_iter=300)
    history = fitted(cls(int(y.max()) + 1, **setting), X).history_
    return Descent(lam, [record.objective for record in history])


def convergence(options: FigureOptions) -> pathlib.Path:
    """Objective against iteration, at the lambdas with which the search begins and ends."""
    figure, axes = figure_axes(4)
    starts = min(STARTS, options.n_runs)
    panels = [(method, data) for method in ("DOGC", "DOGC-OS") for data in ("ecoli", "vote")]
    rows = []
    for axis, (method, data) in zip(axes[0], panels, strict=True):
        for at, colour in (("first", ORANGE), ("last", BLUE)):
            runs = [descent(method, data, at, seed) for seed in range(starts)]
            for run in runs:
                end = run.objective[-1]
                above = np.maximum(np.array(run.objective) / end - 1.0, 1e-12)
                steps = range(1, len(above) + 1)
                axis.semilogy(steps, above, color=colour, lw=0.8, alpha=0.6)
            axis.plot([], [], color=colour, label=f"{at} lambda, {runs[0].lam:.2g}")
            rise = max(run.rise() for run in runs)
            for tolerance in TOLERANCES:
                least, middle, most = spread([run.settled(tolerance) for run in runs])
                cells = (f"{tolerance:g}", starts, f"{middle:g}", f"{least:g}", f"{most:g}")
                rows.append((method, data, at, f"{runs[0].lam:.4g}", *cells, f"{rise:.1e}"))
        axis.set(xlabel="iteration", xlim=(0, 60), ylim=(1e-9, 2))
        axis.set_title(f"{method}, {data}", fontsize=10)
        axis.axvline(10, color="#cccccc", lw=1, zorder=0)
        axis.legend(fontsize=8, frameon=False, loc="upper right")
    axes[0, 0].set_ylabel("objective / its end - 1")
    header = ("method", "data", "lambda", "value", "within", "starts", "median", "least", "most")
    write_csv(options.out / "convergence.csv", (*header, "largest_rise"), rows)
    return write_figure(figure, options.out / "convergence.png")
