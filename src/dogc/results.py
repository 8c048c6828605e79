"""What fitted attributes hold, by names that stay: evidence for choices, the history of a run."""

from .choices.n_clusters import CountEvidence
from .choices.n_neighbors import ScaleChoice
from .choices.n_representatives import ResolutionChoice
from .loop.solver import STOPPING_REASONS, Record

__all__ = ["STOPPING_REASONS", "CountEvidence", "Record", "ResolutionChoice", "ScaleChoice"]
