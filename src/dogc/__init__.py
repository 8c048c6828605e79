"""Discrete optimal graph clustering for scikit-learn users."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, methods, metrics, plotting, quality, results
    from .app.models.onnx import to_onnx
    from .app.models.saving import ModelFileError, load, load_bundle, save
    from .comparison import compare
    from .encoding import MixedEncoder
    from .estimators import (
        CAN,
        CLGR,
        CLR,
        DOGC,
        DOGCOS,
        LPP,
        LSC,
        PCAN,
        SEC,
        USPEC,
        DiscriminativeKMeans,
        DOGCFixedGraph,
        DOGCRelaxed,
        LocalLearningClustering,
        NMFClustering,
        NormalizedCut,
        RatioCut,
        spectral_rotation,
    )
    from .exploration import explore

__version__ = "0.1.0"

__all__ = [
    "CAN",
    "CLGR",
    "CLR",
    "DOGC",
    "DOGCOS",
    "LPP",
    "LSC",
    "PCAN",
    "SEC",
    "USPEC",
    "DOGCFixedGraph",
    "DOGCRelaxed",
    "DiscriminativeKMeans",
    "LocalLearningClustering",
    "MixedEncoder",
    "ModelFileError",
    "NMFClustering",
    "NormalizedCut",
    "RatioCut",
    "__version__",
    "compare",
    "datasets",
    "explore",
    "load",
    "load_bundle",
    "methods",
    "metrics",
    "plotting",
    "quality",
    "results",
    "save",
    "spectral_rotation",
    "to_onnx",
]

# Where each name lies: it is imported when it is first asked for, and scikit-learn with it.
_PLACES = {
    **dict.fromkeys(__all__, ".estimators"),  # but for these
    "MixedEncoder": ".encoding",
    "ModelFileError": ".app.models.saving",
    "compare": ".comparison",
    "comparison": ".comparison",
    "datasets": ".datasets",
    "estimators": ".estimators",
    "exploration": ".exploration",
    "explore": ".exploration",
    "load": ".app.models.saving",
    "load_bundle": ".app.models.saving",
    "methods": ".methods",
    "metrics": ".metrics",
    "plotting": ".plotting",
    "quality": ".quality",
    "results": ".results",
    "save": ".app.models.saving",
    "to_onnx": ".app.models.onnx",
}


if not TYPE_CHECKING:  # who checks types knows the names above and no others

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        place = import_module(_PLACES[name], __name__)
        found = place if _PLACES[name] == f".{name}" else getattr(place, name)
        globals()[name] = found  # and not asked for here again
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
