"""Discrete optimal graph clustering for scikit-learn users."""

from .estimators import CAN, DOGC, DOGCOS, PCAN, DOGCFixedGraph, DOGCRelaxed

__version__ = "0.1.0"

__all__ = ["CAN", "DOGC", "DOGCOS", "PCAN", "DOGCFixedGraph", "DOGCRelaxed", "__version__"]
