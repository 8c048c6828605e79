"""Axes, files, and scores over draws and starts, for all figures (they need matplotlib)."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import numpy as np
import pandas as pd

from .._atomic import write_whole
from .reproduction_page import write_csv
from .runs import Results, Run

# What a line of a table begins with, and the runs that it is of.
Points = list[tuple[dict[str, Any], list[Run]]]
BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d9772b", "#3c8d5a", "#8a8a8a"


def spread(values: Any, prefix: str = "") -> dict[str, float]:
    """Worst, median and best, under names with a prefix."""
    ends = {"worst": np.min(values), "median": np.median(values), "best": np.max(values)}
    return {prefix + name: value for name, value in ends.items()}


def score_table(
    results: Results, path: pathlib.Path, points: Points, right: float | None = None
) -> pd.DataFrame:
    """Worst, median and best ACC and NMI of each point over its runs; written as a CSV file.

    With ``right`` also how many runs have an ACC of at least that.
    """
    results.do([run for _, runs in points for run in runs], path.stem)
    lines = []
    for point, runs in points:
        acc, nmi = (results.scores(runs, metric) for metric in ("acc", "nmi_max"))
        count = {} if right is None else {"right": np.sum(acc >= right)}
        lines.append({**point, **count, **spread(acc, "acc_"), **spread(nmi, "nmi_max_")})
    return write_csv(path, lines)


def figure_axes(n_columns: int, n_rows: int = 1, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure and its axes, without a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def write_figure(figure: Any, path: pathlib.Path) -> pathlib.Path:
    """Write a figure whole or not at all; in 256 colours, a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    Image.open(drawn).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return write_whole(path, small.getvalue())
