"""Discrete optimal graph clustering for scikit-learn users."""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_ESTIMATORS = (
    "CAN CLGR CLR DOGC DOGCOS LPP LSC PCAN SEC USPEC DOGCFixedGraph DOGCRelaxed NMFClustering "
    "DiscriminativeKMeans LocalLearningClustering NormalizedCut RatioCut spectral_rotation"
)
# Where each name lies: it is imported when it is first asked for, and scikit-learn with it. Type
# checkers read __init__.pyi.
_PLACES = {
    **dict.fromkeys(_ESTIMATORS.split(), ".estimators"),
    **dict.fromkeys(["ModelFileError", "load", "load_bundle", "save"], ".app.models.saving"),
    "MixedEncoder": ".encoding",
    "compare": ".comparison",
    "explore": ".exploration",
    "to_onnx": ".app.models.onnx",
}
_MODULES = ("datasets", "methods", "metrics", "plotting", "quality", "results")
__all__ = ["__version__", *_PLACES, *_MODULES]
_PLACES |= {name: f".{name}" for name in (*_MODULES, "comparison", "estimators", "exploration")}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = import_module(_PLACES[name], __name__)
    found = place if _PLACES[name] == f".{name}" else getattr(place, name)
    globals()[name] = found  # and not asked for here again
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
