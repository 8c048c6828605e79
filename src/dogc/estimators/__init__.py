"""scikit-learn estimators, thin: validate, choose, solve, assign."""

from ._can import CAN, PCAN
from ._clr import CLR
from ._cuts import NormalizedCut, RatioCut
from ._discretising import spectral_rotation
from ._dkm import DiscriminativeKMeans
from ._dogc import DOGC, DOGCOS
from ._landmarks import LSC, USPEC
from ._local import CLGR, LocalLearningClustering
from ._lpp import LPP
from ._nmf import NMFClustering
from ._regressing import DOGCFixedGraph, DOGCRelaxed
from ._sec import SEC

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
    "NMFClustering",
    "NormalizedCut",
    "RatioCut",
    "spectral_rotation",
]
