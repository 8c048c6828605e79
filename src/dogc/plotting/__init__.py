"""Pictures of fitted models, in scikit-learn's Display convention (needs matplotlib).

Each display takes data, draws with ``plot`` and keeps ``ax_``, ``figure_`` and what it drew.
Classmethods ``from_estimator`` and ``from_predictions`` make and draw in one call. A pipeline
whose last step is the clusterer may be passed wherever a clusterer may.
"""

from ._canvas import PALETTE
from ._choices import CountDisplay, ScaleDisplay
from ._clusters import ClusterDisplay
from ._confusion import ConfusionDisplay
from ._convergence import ConvergenceDisplay
from ._graph import GraphDisplay
from ._splits import SplitDisplay

__all__ = [
    "PALETTE",
    "ClusterDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "CountDisplay",
    "GraphDisplay",
    "ScaleDisplay",
    "SplitDisplay",
]
