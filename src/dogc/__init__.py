"""Discrete optimal graph clustering for scikit-learn users."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from . import datasets, metrics, plotting, quality, results
    from .app.model_files.onnx import to_onnx
    from .app.model_files.saving import ModelFileError, load, load_bundle, save

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
    "ModelFileError",
    "NMFClustering",
    "NormalizedCut",
    "RatioCut",
    "__version__",
    "compare",
    "datasets",
    "load",
    "load_bundle",
    "metrics",
    "plotting",
    "quality",
    "results",
    "save",
    "spectral_rotation",
    "to_onnx",
]

# What is imported when it is first asked for.
_MODULES = ("datasets", "metrics", "plotting", "quality", "results")
_FROM_FILES = {
    "ModelFileError": ".app.model_files.saving",
    "load": ".app.model_files.saving",
    "load_bundle": ".app.model_files.saving",
    "save": ".app.model_files.saving",
    "to_onnx": ".app.model_files.onnx",
}


if not TYPE_CHECKING:  # who checks types knows the names above and no others

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name in _FROM_FILES:
            return getattr(import_module(_FROM_FILES[name], __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
