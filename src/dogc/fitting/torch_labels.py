"""From links on a device to labels of rows, how sure these are, and outlier scores."""

from __future__ import annotations

import numpy as np
import torch

from ..numerics import outliers
from .torch_links import DeviceLinks, DeviceRepresentatives


def votes(
    fitted: DeviceRepresentatives, found: DeviceLinks, names: torch.Tensor, c: int
) -> torch.Tensor:
    """What a row's links give to each of c names that representatives have: whole numbers."""
    idx, share = found.idx[:, : fitted.n_votes], found.share[:, : fitted.n_votes]
    total = torch.zeros(len(idx), c, dtype=torch.int64, device=idx.device)
    return total.scatter_add_(1, names[idx], share.to(torch.int64))


def shares(fitted: DeviceRepresentatives, found: DeviceLinks) -> torch.Tensor:
    """The share of each label in the links of rows, of shape (n, c)."""
    given = votes(fitted, found, fitted.labels, fitted.c).to(torch.float64)
    return given / given.sum(dim=1, keepdim=True)


def labels(fitted: DeviceRepresentatives, found: DeviceLinks) -> torch.Tensor:
    """The label with the largest share, the lowest in a tie."""
    return votes(fitted, found, fitted.labels, fitted.c).argmax(dim=1)


def sureness(fitted: DeviceRepresentatives, found: DeviceLinks) -> torch.Tensor:
    """The share of the label that a row gets."""
    return shares(fitted, found).amax(dim=1)


def outlier_scores(fitted: DeviceRepresentatives, found: DeviceLinks) -> torch.Tensor:
    """How far rows lie from their representatives, where these lie so far from each other.

    In 64 bits, as new rows get it; see :func:`fitted_scores` for what a fit keeps.
    """
    assert fitted.reach is not None
    tiny, lift = float(np.finfo(float).tiny), outliers.LIFT * fitted.usual
    # In 32 bits as on the host, unless what is added has no place there.
    reach = found.reach + lift if lift else found.reach.to(torch.float64) + tiny
    score = reach / (_median(fitted.reach[found.idx], fitted.usual) + (lift or tiny))
    return score.clamp_(max=outliers.MOST)


def _median(around: torch.Tensor, otherwise: float) -> torch.Tensor:
    """The median of what is known in each row; of an even number, the mean of the middle two."""
    known = (~torch.isnan(around)).sum(dim=1, keepdim=True)
    ordered = torch.sort(around, dim=1).values  # what is not known comes last
    low, high = ((known - 1) // 2).clamp_(min=0), known // 2
    middle = (ordered.gather(1, low) + ordered.gather(1, high.clamp_(max=around.shape[1] - 1))) / 2
    return torch.where(known > 0, middle, otherwise)[:, 0]


def fitted_scores(fitted: DeviceRepresentatives, found: DeviceLinks) -> torch.Tensor:
    """Outlier scores to three digits, in 32 bits, as a fit keeps them."""
    score = outlier_scores(fitted, found)
    # Tensors are divided by tensors: a number of the host might be turned into its inverse.
    return ((score * 1e3).round_() / torch.full_like(score, 1e3)).to(torch.float32)


def are_outliers(
    fitted: DeviceRepresentatives, found: DeviceLinks, score: torch.Tensor
) -> torch.Tensor:
    """Rows with a high score, and those that belong to a group too small for a cluster."""
    far = score > outliers.OUTLYING
    if fitted.stray is None:
        return far
    return far | (votes(fitted, found, fitted.stray, 2).argmax(dim=1) == 1)
