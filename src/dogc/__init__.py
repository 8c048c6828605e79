"""Discrete optimal graph clustering for scikit-learn users."""

from .app.model_files.onnx import to_onnx
from .app.model_files.saving import load, load_bundle, save
from .comparison import compare
from .estimators import (
    CAN,
    CLGR,
    CLR,
    DOGC,
    DOGCOS,
    LPP,
    PCAN,
    SEC,
    DiscriminativeKMeans,
    DOGCFixedGraph,
    DOGCRelaxed,
    LocalLearningClustering,
    NMFClustering,
    NormalizedCut,
    RatioCut,
    spectral_rotation,
)

__version__ = "0.1.0"

__all__ = [
    "CAN",
    "CLGR",
    "CLR",
    "DOGC",
    "DOGCOS",
    "LPP",
    "PCAN",
    "SEC",
    "DOGCFixedGraph",
    "DOGCRelaxed",
    "DiscriminativeKMeans",
    "LocalLearningClustering",
    "NMFClustering",
    "NormalizedCut",
    "RatioCut",
    "__version__",
    "compare",
    "load",
    "load_bundle",
    "save",
    "spectral_rotation",
    "to_onnx",
]
