"""Warnings that point at the line of whoever called this library."""

from __future__ import annotations

import sys
import warnings

# Frames of these packages are not the caller's: a Pipeline calls fit from within scikit-learn.
_INSIDE = {"dogc", "sklearn", "joblib"}


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the first line outside this library and scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _package(frame.f_globals) in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).split(".")[0]
