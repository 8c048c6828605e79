"""Types of fitted attributes: evidence for choices, the history of a run."""

from .fitting.auto.n_clusters import CountEvidence
from .fitting.auto.n_neighbors import ScaleChoice
from .fitting.auto.n_representatives import ResolutionChoice
from .loop.solver import STOPPING_REASONS, Record

__all__ = ["STOPPING_REASONS", "CountEvidence", "Record", "ResolutionChoice", "ScaleChoice"]
