"""scikit-learn estimators, thin: validate, choose, solve, assign."""

from ._ablations import DOGCFixedGraph, DOGCRelaxed
from ._can import CAN, PCAN
from ._clr import CLR
from ._cuts import NormalizedCut, RatioCut
from ._discretising import spectral_rotation
from ._dkm import DiscriminativeKMeans
from ._dogc import DOGC, DOGCOS
from ._ensemble import USENC
from ._landmarks import LSC, USPEC
from ._local import CLGR, LocalLearningClustering
from ._lpp import LPP
from ._multiple_means import KMultipleMeans
from ._nmf import NMFClustering
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
    "USENC",
    "USPEC",
    "DOGCFixedGraph",
    "DOGCRelaxed",
    "DiscriminativeKMeans",
    "KMultipleMeans",
    "LocalLearningClustering",
    "NMFClustering",
    "NormalizedCut",
    "RatioCut",
    "spectral_rotation",
]
