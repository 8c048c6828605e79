"""scikit-learn estimators; nothing below them imports scikit-learn."""

from ._can import CAN, PCAN
from ._dogc import DOGC, DOGCOS, DOGCFixedGraph, DOGCRelaxed

__all__ = ["CAN", "DOGC", "DOGCOS", "PCAN", "DOGCFixedGraph", "DOGCRelaxed"]
