"""All figures by name (they need matplotlib)."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from .drawing import FigureOptions
from .parameter_figures import alpha, convergence, power, sensitivity
from .synthetic_figures import clusters36, gaussians, moons

__all__ = ["FIGURES", "FigureOptions"]

FIGURES: dict[str, Callable[[FigureOptions], pathlib.Path]] = {
    "clusters36": clusters36,
    "moons": moons,
    "gaussians": gaussians,
    "alpha": alpha,
    "p": power,
    "sensitivity": sensitivity,
    "convergence": convergence,
}
