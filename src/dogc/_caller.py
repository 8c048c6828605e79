"""Warnings: pointed at the line of the caller, or gathered from a fit."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

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


def timed(fit: Callable[[], Any]) -> tuple[Any, float, list[str]]:
    """The result of a fit, its seconds, and what it warned of, the same words once."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit()
    notes = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    return found, time.perf_counter() - began, list(notes)


def timed_fit(estimator: Any, X: Any) -> tuple[np.ndarray, float, str]:
    """The labels of a fit, its seconds and its warnings.

    An interrupt ends all: the other fits are not wanted either.
    """
    labels, seconds, notes = timed(lambda: np.asarray(estimator.fit_predict(X)))
    if getattr(estimator, "stopping_reason_", None) == "interrupted":
        raise KeyboardInterrupt
    return labels, seconds, "; ".join(notes)
