"""Axes, files, and scores over draws and starts, for all figures (they need matplotlib)."""

from __future__ import annotations

import io
import itertools
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._atomic import draft_of
from .reproduction_page import write_csv
from .runs import Results, Run

BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d9772b", "#3c8d5a", "#8a8a8a"


def spread(values: Any) -> dict[str, float]:
    """Worst, median and best."""
    return {"worst": np.min(values), "median": np.median(values), "best": np.max(values)}


def score_table(
    results: Results, path: pathlib.Path, points: Iterable[dict[str, Any]],
    runs: Sequence[Sequence[Run]], right: float | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Worst, median and best ACC and NMI of each point over its runs; written as a CSV file.

    With ``right`` also how many runs have an ACC of at least that.
    """
    results.do(itertools.chain(*runs), path.stem)
    lines = []
    for point, of_point in zip(points, runs, strict=True):
        line = dict(point)
        if right is not None:
            line["right"] = np.sum(results.scores(of_point, "acc") >= right)
        for metric in ("acc", "nmi_max"):
            found = spread(results.scores(of_point, metric))
            line |= {f"{metric}_{name}": value for name, value in found.items()}
        lines.append(line)
    return write_csv(path, lines)


def colours(count: int) -> np.ndarray:
    """That many colours, up to 40, that differ."""
    from matplotlib import colormaps

    return np.vstack([colormaps[name](range(20)) for name in ("tab20", "tab20b")])[:count]


def figure_axes(n_columns: int, n_rows: int = 1, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure and its axes, without a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def write_figure(figure: Any, path: pathlib.Path) -> pathlib.Path:
    """Write a figure whole or not at all; in 256 colours, a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    with draft_of(path) as draft:
        Image.open(drawn).convert("RGB").quantize(256).save(draft, format="png", optimize=True)
    return path
