"""The sample of ``rows/sampling.py``, bit for bit, from rows that are tensors on any device."""

from __future__ import annotations

from typing import NamedTuple

import torch

from . import sampling


def _signed(number: int) -> int:
    """The whole number whose 64 bits, read with a sign, are these."""
    return number - (1 << 64) if number >> 63 else number


# Torch has no arithmetic of unsigned numbers; the low 64 bits of sums and products are the same.
STEP = _signed(int(sampling.STEP))
SPREAD = tuple((int(shift), _signed(int(factor))) for shift, factor in sampling.SPREAD)
SIGN = _signed(1 << 63)


class DeviceSample(NamedTuple):
    """Distinct rows in the order of their keys."""

    keys: torch.Tensor  # (m,) the bits of unsigned numbers that rise, in int64
    X: torch.Tensor  # (m, d)
    weight: torch.Tensor  # (m,) whole numbers: what all copies of a row count for together


def row_keys(X: torch.Tensor) -> torch.Tensor:
    """The bits of :func:`dogc.fitting.sampling.row_keys`, in int64.

    Examples
    --------
    >>> import numpy as np, torch
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])
    >>> keys = row_keys(torch.tensor(X)).numpy().view(np.uint64)
    >>> bool((keys == sampling.row_keys(X)).all())
    True
    """
    columns = torch.arange(1, X.shape[1] + 1, device=X.device) * STEP
    mixed = _spread(X.to(torch.float64).contiguous().view(torch.int64) + columns)
    return _spread(mixed.masked_fill_(X == 0, 0).sum(dim=1))


def _spread(z: torch.Tensor) -> torch.Tensor:
    for shift, factor in SPREAD:
        # A shift of signed numbers repeats the sign; the mask leaves what an unsigned one would.
        z = z ^ ((z >> shift) & ((1 << (64 - shift)) - 1))
        z *= factor
    return z


def smallest_keys(X: torch.Tensor, weight: torch.Tensor, size: int) -> DeviceSample:
    """The sample of at most ``size`` distinct rows of a block; rows of weight 0 are left out.

    Examples
    --------
    >>> import torch
    >>> rows, ones = torch.tensor([[1.0], [2.0], [1.0]]), torch.ones(3, dtype=torch.int64)
    >>> found = smallest_keys(rows, ones, 5)
    >>> sorted(zip(found.X.ravel().tolist(), found.weight.tolist()))
    [(1.0, 2), (2.0, 1)]
    """
    kept = torch.nonzero(weight > 0).ravel()
    keys, first, total = _distinct(row_keys(X)[kept], weight[kept], size)
    return DeviceSample(keys, X[kept[first]], total)


def merged(one: DeviceSample, other: DeviceSample, size: int) -> DeviceSample:
    """The sample of two sets of rows from the sample of each: the same in any order.

    Examples
    --------
    >>> import torch
    >>> X, ones = torch.arange(6.0)[:, None], torch.ones(6, dtype=torch.int64)
    >>> parts = [smallest_keys(X[i : i + 2], ones[:2], 3) for i in (0, 2, 4)]
    >>> both = merged(parts[2], merged(parts[0], parts[1], 3), 3)
    >>> bool((both.X == smallest_keys(X, ones, 3).X).all())
    True
    """
    keys, X, weight = (torch.cat(pair) for pair in zip(one, other, strict=True))
    keys, first, total = _distinct(keys, weight, size)
    return DeviceSample(keys, X[first], total)


def _distinct(
    keys: torch.Tensor, weight: torch.Tensor, size: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The smallest distinct keys, the first row that has each, and the weight of all that have.

    A sort that leaves equal keys in their order is the same on every device; sums are of integers.
    """
    # With the sign turned over, signed numbers are in the order of the unsigned ones.
    keys, order = torch.sort(keys ^ SIGN, stable=True)
    keys, group, count = torch.unique_consecutive(keys, return_inverse=True, return_counts=True)
    total = torch.zeros(len(keys), dtype=torch.int64, device=keys.device)
    total.scatter_add_(0, group, weight[order].to(torch.int64))
    first = order[(torch.cumsum(count, 0) - count)[:size]]
    return keys[:size] ^ SIGN, first, total[:size]


def to_host(sample: DeviceSample) -> sampling.Sample:
    """The sample as arrays, as :func:`dogc.fitting.sampling.smallest_keys` gives it.

    Examples
    --------
    >>> import torch
    >>> sample = smallest_keys(torch.tensor([[7.0]]), torch.tensor([2]), 1)
    >>> found = to_host(sample)
    >>> found.keys.dtype, found.X, found.weight
    (dtype('uint64'), array([[7.]], dtype=float32), array([2]))
    """
    keys, X, weight = (part.cpu().numpy() for part in sample)
    return sampling.Sample(keys.view("uint64"), X, weight)
