"""The functions of a block of rows, on tensors of any device.

The same arithmetic as in ``rows/representatives.py`` and ``rows/links.py``, in 64 bits and in the
same order, so that a device finds what the host finds; only exponentials, powers and, by torch on
a processor, square roots may differ in their last bit. Of representatives that are equally far
from a row, the one with the lower index is nearer here. Sums over rows are of integers, and sums
over the columns of a row have a fixed order: neither blocks nor the order of rows change them.

Rows too far away for squares have links to any representatives, and no strength.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch

from ..numerics.exact import exact_bits
from . import links
from .outlier_scores import usual_reach
from .representatives import Frame, Representatives
from .scaling import FARTHEST

# The bits of a number below those of its power of two.
FRACTION = (1 << 52) - 1


class DeviceFrame(NamedTuple):
    """How rows become points.

    Divisors are tensors of the device: a quotient by a number of the host may be a product with
    its inverse there, which is another number.
    """

    origin: torch.Tensor  # (d,)
    unit: torch.Tensor  # one number, or (d,)
    centre: torch.Tensor  # (d,)
    scatter: torch.Tensor  # one number
    constant: torch.Tensor | None  # (d,) which columns are; None: none
    directions: torch.Tensor | None  # (d, q); None: all features
    reach: torch.Tensor  # one number, beyond most coordinates, where there are directions
    middle: torch.Tensor  # where most rows are, there
    bits: int  # that rounded coordinates have, there


class DeviceSearch(NamedTuple):
    """Representatives that can be searched."""

    R: torch.Tensor  # (p, q), from the origin
    origin: torch.Tensor  # (q,)
    unit: torch.Tensor  # one number
    bits: int  # that rounded coordinates have; 0: they are not rounded
    metric: str
    squares: torch.Tensor  # (p,) squared lengths of R


class DeviceRepresentatives(NamedTuple):
    """All that links and labels rows."""

    frame: DeviceFrame
    search: DeviceSearch
    n_links: int
    width: float
    labels: torch.Tensor  # (p,)
    c: int
    n_votes: int
    reach: torch.Tensor | None  # (p,) NaN where it is not known
    usual: float  # mean of the reach
    stray: torch.Tensor | None  # (p,)


class DeviceLinks(NamedTuple):
    """The representatives that rows are linked with, nearest first."""

    idx: torch.Tensor  # (n, K) int64
    strength: torch.Tensor  # (n, K) int32, in units of 1 / links.ONE
    share: torch.Tensor  # (n, K) int32, in units of 1 / links.ONE
    reach: torch.Tensor  # (n,) float32: mean distance to them


def on_device(fitted: Representatives, device: torch.device | str) -> DeviceRepresentatives:
    """What links and labels rows, copied to a device.

    Examples
    --------
    >>> import numpy as np
    >>> from dogc.fitting import scaling
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> fitted = Representatives(Frame(scaling.scale_rows(X), None), X, 2, 1.0, np.array([0, 0, 1]))
    >>> on_device(fitted, "cpu").c
    2
    """
    stray, reach = fitted.stray, fitted.reach
    return DeviceRepresentatives(
        _frame_on(fitted.frame, device),
        _search_on(fitted, device),
        fitted.n_links,
        float(fitted.width),
        torch.tensor(fitted.labels, dtype=torch.int64, device=device),
        int(fitted.labels.max()) + 1,
        fitted.n_votes,
        None if reach is None else _floats(np.where(np.isfinite(reach), reach, np.nan), device),
        0.0 if reach is None else usual_reach(reach),
        None if stray is None else torch.tensor(stray, dtype=torch.int64, device=device),
    )


def _floats(x: object, device: torch.device | str) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float64, device=device)


def _frame_on(frame: Frame, device: torch.device | str) -> DeviceFrame:
    scaled, directions, constant = frame.scaled, frame.directions, frame.scaled.constant
    return DeviceFrame(
        _floats(scaled.origin, device),
        _floats(scaled.unit, device),
        _floats(scaled.centre, device),
        _floats(scaled.scatter, device),
        torch.tensor(constant, device=device) if np.any(constant) else None,
        None if directions is None else _floats(directions, device),
        _floats(frame.unit, device),
        _floats(frame.middle, device),
        0 if directions is None else exact_bits(len(directions)),
    )


def _search_on(fitted: Representatives, device: torch.device | str) -> DeviceSearch:
    search = links.make_search(fitted.R, fitted.metric)
    R = _floats(search.R, device)
    origin, unit = _floats(search.origin, device), _floats(search.unit, device)
    return DeviceSearch(R, origin, unit, search.bits, search.metric, (R * R).sum(dim=1))


def rounded(Z: torch.Tensor, unit: torch.Tensor, bits: int) -> torch.Tensor:
    """Coordinates of so few bits that products are exact, as :func:`dogc.numerics.exact.rounded`.

    Examples
    --------
    >>> import torch
    >>> Z = torch.tensor([[0.3, 1.0], [0.3, 9.0]], dtype=torch.float64)
    >>> rounded(Z, torch.tensor(1.0, dtype=torch.float64), 3).tolist()
    [[0.25, 1.0], [0.0, 9.0]]
    """
    reach = Z.abs().amax(dim=1, keepdim=True) / (2.0 * unit)
    # The next power of two by carrying into the exponent: logarithms may be off by a bit.
    beyond = reach.clamp(min=1.0).view(torch.int64)
    beyond = ((beyond + FRACTION) & ~FRACTION).view(torch.float64)
    step = beyond * (unit * 2.0**-bits)
    return (Z / step).round_().mul_(step)


def as_points(fitted: DeviceRepresentatives, X: torch.Tensor) -> torch.Tensor:
    """Rows as points, bit for bit as :func:`dogc.fitting.representatives.as_points`."""
    frame = fitted.frame
    Z = X.to(torch.float64) - frame.origin
    most = FARTHEST[np.dtype(np.float64)] * frame.unit
    Z = Z.clamp_(-most, most)
    Z /= frame.unit
    Z -= frame.centre
    Z /= frame.scatter
    if frame.constant is not None:
        Z.masked_fill_(frame.constant, 0.0)
    if frame.directions is None:
        return Z
    return rounded(Z - frame.middle, frame.reach, frame.bits) @ frame.directions


def nearest(
    fitted: DeviceRepresentatives, Z: torch.Tensor, k: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The k nearest representatives of each row, nearest first, and their squared distances.

    The lower index comes first in a tie. Takes the memory of two arrays of shape (n, p).
    """
    search = fitted.search
    Z = Z - search.origin
    if search.bits:
        Z = rounded(Z, search.unit, search.bits)
    squared = search.metric != "manhattan"
    if search.bits and squared:
        D = _by_products(Z, search)
    else:
        D = _by_differences(Z, search.R, squared=squared)
    d, idx = _smallest(D, min(k, len(search.R)))
    # The host's searches give distances, not squares, and what comes back is off by a rounding.
    return idx, torch.square(torch.sqrt(d.clamp_(min=0.0)) if squared else d)


def _by_products(Z: torch.Tensor, search: DeviceSearch) -> torch.Tensor:
    """All squared distances of rounded rows: sums of products without any rounding.

    Only a row far away has a step of its own; the order of sums is that of scikit-learn then.
    """
    D = Z @ (-2.0 * search.R.T)
    D += (Z * Z).sum(dim=1, keepdim=True)
    D += search.squares
    return D


def _by_differences(Z: torch.Tensor, R: torch.Tensor, *, squared: bool) -> torch.Tensor:
    """All distances, or squares of them, one column after the other as a tree adds them up."""
    D = torch.zeros(len(Z), len(R), dtype=torch.float64, device=Z.device)
    apart = torch.empty_like(D)
    for z, r in zip(Z.T, R.T, strict=True):
        torch.sub(z[:, None], r, out=apart)
        D += apart.square_() if squared else apart.abs_()
    return D


def _smallest(D: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k smallest of each row in their order, the first in a tie; D is used up.

    As many passes as links: ``torch.topk`` names any of those that tie.
    """
    d = torch.empty(len(D), k, dtype=D.dtype, device=D.device)
    idx = torch.empty(len(D), k, dtype=torch.int64, device=D.device)
    for j in range(k):
        d[:, j], idx[:, j] = torch.min(D, dim=1)
        D.scatter_(1, idx[:, j : j + 1], torch.inf)
    return d, idx


def nearest_mean(Z: torch.Tensor, R: torch.Tensor) -> torch.Tensor:
    """The nearest row of R for each row of Z, the first in a tie.

    As :func:`dogc.numerics.lloyd.nearest_mean` where both are :func:`rounded`.

    Examples
    --------
    >>> import torch
    >>> nearest_mean(torch.tensor([[0.0], [0.9], [3.0]]), torch.tensor([[0.0], [1.0]]))
    tensor([0, 1, 1])
    """
    scores = Z @ (-2.0 * R.T)
    scores += (R * R).sum(dim=1)
    return scores.argmin(dim=1)


def link_rows(fitted: DeviceRepresentatives, Z: torch.Tensor) -> DeviceLinks:
    """Link points, as :func:`dogc.fitting.links.link_rows`: a function of each row alone."""
    idx, d = nearest(fitted, Z, fitted.n_links)
    least = max(fitted.width**2, float(np.finfo(float).tiny))
    own = (d[:, :1] * links.FAR**-2).clamp(min=least)
    relative = torch.exp((d[:, :1] - d) / own).nan_to_num(nan=1.0)
    reach = torch.exp(-0.5 * d[:, :1] / own).nan_to_num()
    smooth = relative ** (1.0 / links.SMOOTH**2)
    share = torch.round(smooth / row_sums(smooth) * links.ONE)
    strength = torch.round(relative / torch.sqrt(row_sums(relative)) * reach * links.ONE)
    return DeviceLinks(idx, strength.to(torch.int32), share.to(torch.int32), mean_distance(d))


def mean_distance(d: torch.Tensor) -> torch.Tensor:
    """The mean of distances given as squares, for each row, in 32 bits.

    Examples
    --------
    >>> import torch
    >>> mean_distance(torch.tensor([[1.0, 9.0]], dtype=torch.float64))
    tensor([2.])
    """
    total = row_sums(torch.sqrt(d))[:, 0]
    return (total / torch.full_like(total, d.shape[1])).to(torch.float32)


def row_sums(x: torch.Tensor) -> torch.Tensor:
    """Sums of the rows of few columns, of shape (n, 1), in the order of NumPy.

    A sum by torch may have another order for another number of rows.
    """
    k = x.shape[1]
    whole = k - k % 8
    total, rest = x[:, :1], x[:, 1:]
    if whole:
        total, rest = x[:, :8], x[:, whole:]
        for j in range(8, whole, 8):
            total = total + x[:, j : j + 8]
        for _ in range(3):
            total = total[:, 0::2] + total[:, 1::2]
    for j in range(rest.shape[1]):
        total = total + rest[:, j : j + 1]
    return total


def add_links(
    A: torch.Tensor, mass: torch.Tensor, found: DeviceLinks, weight: torch.Tensor
) -> None:
    """Add to A and to mass, in place, what rows add that count as often as their weight says.

    Parameters
    ----------
    A : int64 tensor of shape (p, p)
        Only what lies above the diagonal is added; :func:`link_sums` completes it.
    mass : int64 tensor of shape (p,)
    found : links of n rows
    weight : int64 tensor of shape (n,)
    """
    p, k = len(mass), found.idx.shape[1]
    strength = found.strength.to(torch.int64)
    weighted = strength * weight[:, None]
    for j in range(k - 1):
        one, other = found.idx[:, j : j + 1], found.idx[:, j + 1 :]
        place = torch.minimum(one, other) * p + torch.maximum(one, other)
        both = weighted[:, j : j + 1] * strength[:, j + 1 :]
        A.view(-1).scatter_add_(0, place.ravel(), both.ravel())
    counted = found.share * weight[:, None]
    mass.scatter_add_(0, found.idx.ravel(), counted.ravel())


def link_sums(A: torch.Tensor, mass: torch.Tensor) -> links.LinkSums:
    """What :func:`add_links` added up, on the host; the diagonal is zero.

    Examples
    --------
    >>> import torch
    >>> link_sums(torch.tensor([[0, 3], [0, 0]]), torch.tensor([1, 2])).A.toarray()
    array([[0, 3],
           [3, 0]])
    """
    above = torch.triu(A, 1)
    place = torch.nonzero(above)
    value = above[place[:, 0], place[:, 1]].cpu().numpy()
    row, column = place.T.cpu().numpy()
    half = sp.csr_array((value, (row, column)), shape=tuple(A.shape))
    return links.LinkSums((half + half.T).tocsr(), mass.cpu().numpy())


def packed(found: DeviceLinks, p: int) -> DeviceLinks:
    """What labels need of the links of rows with p representatives, in little memory."""
    small = torch.int16 if p <= 1 << 15 else torch.int32
    none = found.strength[:0]
    return DeviceLinks(found.idx.to(small), none, found.share.to(torch.int16), found.reach)


def unpacked(found: DeviceLinks) -> DeviceLinks:
    """Links as they were before they were packed."""
    return found._replace(idx=found.idx.to(torch.int64), share=found.share.to(torch.int32))
