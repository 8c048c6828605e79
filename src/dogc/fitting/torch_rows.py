"""Rows that torch works on: on a GPU, where they lie or streamed to it in blocks.

The same sample and the same representatives as in memory, bit for bit; links by the same formulas,
in 64 bits. Coordinates are rounded so that products of them are exact, and sums over rows are of
whole numbers, the same in any order: every fit on one device is the same. It differs from a fit by
NumPy only in rows that lie exactly between representatives.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..numerics import outliers
from ..numerics.matrix import Matrix
from . import links, sampling
from .in_memory import RowsInMemory
from .links import RowLinks
from .outlier_scores import usual_reach
from .repeatable import Report
from .representatives import (
    Linked,
    LinkedRows,
    Representatives,
    RowFacts,
    RowSet,
    direction_bits,
)
from .scaling import FARTHEST, LARGEST, within_range

# Numbers of a block: of rows, or of distances between rows and representatives.
ELEMENTS = 1 << 26
# The share of a device's free memory that links of rows may take.
SHARE = 0.3
LOWEST = -(1 << 63)
TINY = float(np.finfo(float).tiny)


def blocks(n: int, width: int) -> Iterator[slice]:
    """Blocks of n rows with so many numbers in each row."""
    size = max(1024, ELEMENTS // max(width, 1))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def row_keys(X: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """The bits of :func:`dogc.fitting.sampling.row_keys`, as numbers with a sign.

    Examples
    --------
    >>> X, names = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]]), np.array([5, 7])
    >>> keys = row_keys(torch.tensor(X), torch.tensor(names))
    >>> bool((keys.numpy().view(np.uint64) == sampling.row_keys(X, names)).all())
    True
    """
    mixed = sampling.spread(X.to(torch.float64).contiguous().view(torch.int64) + columns)
    mixed.masked_fill_((X == 0) | (columns == 0), 0)
    return sampling.spread(mixed.sum(dim=1))


def rounded(Z: torch.Tensor, unit: float, bits: int) -> torch.Tensor:
    """Coordinates of few bits, as :func:`dogc.numerics.exact.rounded`."""
    reach = (Z.abs().amax(dim=1, keepdim=True) / (2.0 * unit)).clamp_(min=1.0)
    step = torch.exp2(torch.ceil(torch.log2(reach))) * (unit * 2.0**-bits)
    return (Z / step).round_().mul_(step)


class TorchRows(RowSet):
    """A tensor of rows, or an array that is streamed to a device."""

    sparse = False
    spread: Any = RowsInMemory.spread

    def __init__(self, X: Any, weight: np.ndarray | None, device: torch.device):
        """Keep the rows where they are; ``weight`` of None: all count once."""
        self.X, self.device = torch.as_tensor(X), device
        self.n, self.d = self.X.shape
        self.dtype = np.dtype(str(self.X.dtype).removeprefix("torch."))
        self._given, self.unit, self.total = weight, 1.0, self.n
        self._weight = torch.ones(1, dtype=torch.int64, device=device).expand(self.n)
        if weight is not None:
            facts = sampling.weight_facts(weight)
            self._weight = torch.as_tensor(sampling.whole_weights(weight, facts))
            self.unit, self.total = facts.unit, int(self._weight.sum())

    def put(self, x: Any, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """An array or a number on the device."""
        return torch.as_tensor(x, dtype=dtype, device=self.device)

    def zeros(self, *shape: int) -> torch.Tensor:
        """Whole numbers on the device, for sums."""
        return torch.zeros(shape, dtype=torch.int64, device=self.device)

    def block(self, rows: slice) -> torch.Tensor:
        """Some rows, on the device, without numbers too small to be squared."""
        X = self.X[rows].to(self.device, non_blocking=True)
        return X.masked_fill(X.abs() < 1.0 / LARGEST[self.dtype], 0.0)

    def weight(self, rows: slice) -> torch.Tensor:
        """The weights of some rows, as whole numbers."""
        return self._weight[rows].to(self.device)

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of NumPy, from the rows of each block that the device cannot rule out."""

        def over_rows(make: Any, both: Any, *more: Any) -> Any:
            parts = ((self.block(rows), self.weight(rows)) for rows in blocks(self.n, self.d))
            kept = ((X[weight > 0], weight[weight > 0]) for X, weight in parts if weight.any())
            return functools.reduce(both, (make(X, weight, *more) for X, weight in kept))

        def ends(X: torch.Tensor, _: torch.Tensor) -> np.ndarray:
            return torch.stack([X.amax(dim=0), -X.amin(dim=0)]).double().cpu().numpy()

        def sums(X: torch.Tensor, weight: torch.Tensor, names: np.ndarray) -> np.ndarray:
            return sampling.column_sums(X.cpu().numpy(), weight.cpu().numpy(), names)

        def smallest(X: torch.Tensor, weight: torch.Tensor, names: np.ndarray) -> sampling.Sample:
            keys = row_keys(X, self.put(names, torch.int64)) ^ LOWEST  # in their order with a sign
            first = keys <= keys.unique()[:size][-1]
            X, weight = X[first].cpu(), weight[first].cpu()
            return sampling.smallest_keys(X.numpy(), weight.numpy(), size, names)

        sums_of = functools.partial(over_rows, sums, np.add)
        names = sampling.column_names(over_rows(ends, np.maximum), sums_of)
        return over_rows(smallest, functools.partial(sampling.merged, size=size), names)

    def sample_rows(self, sample: sampling.Sample) -> TorchRows:
        """The rows of a sample, worked on by the same device."""
        return TorchRows(sample.X, sample.weight, self.device)

    def few(self, apart: bool = False) -> tuple[Matrix, np.ndarray | None]:
        """The rows in the memory of this process."""
        return RowsInMemory(within_range(self.X.cpu().numpy(), some=True), self._given).few(apart)

    def nearest_mean(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """The nearest row of R for each row of Z, the first in a tie."""
        means = self.put(R)
        squares = means.square().sum(dim=1)
        parts = (self.put(Z[rows]) for rows in blocks(len(Z), len(R)))
        found = [torch.addmm(squares, Z, means.T, alpha=-2.0).argmin(dim=1) for Z in parts]
        return torch.cat(found).cpu().numpy()

    def link(self, fitted: Representatives, report: Report | None = None) -> Linked:
        """One pass over the rows: their links, and what they add up to."""
        linked = TorchLinks(self, fitted)
        return linked, linked.sums(report)


class TorchLinks(LinkedRows):
    """Rows and the representatives that they are linked with, on a device."""

    def __init__(self, rows: TorchRows, fitted: Representatives):
        """Make the representatives ready."""
        self.rows, self.fitted, self.n_links = rows, fitted, fitted.n_links
        self.search, self.kept = links.make_search(fitted.R, fitted.metric), list[RowLinks]()

    def points(self, X: torch.Tensor) -> torch.Tensor:
        """Rows as points, as :func:`dogc.fitting.representatives.as_points`."""
        frame, scaled, put = self.fitted.frame, self.fitted.frame.scaled, self.rows.put
        most = put(FARTHEST[np.dtype(float)] * scaled.unit)
        Z = (X.to(torch.float64) - put(scaled.origin)).clamp_(-most, most)
        Z = Z.div_(put(scaled.unit)).sub_(put(scaled.centre)).div_(put(scaled.scatter))
        if scaled.constant is not None:  # what is left of them is rounding
            Z.masked_fill_(put(scaled.constant, torch.bool), 0.0)
        if frame.directions is None:
            return Z
        bits = direction_bits(frame.directions)
        return rounded(Z - put(frame.middle), frame.unit, bits) @ put(frame.directions)

    def nearest(self, Z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The nearest representatives of points, nearest first, and their squared distances."""
        search = self.search
        R, Z = self.rows.put(search.R), Z - self.rows.put(search.origin)
        if search.bits:
            Z = rounded(Z, search.unit, search.bits)
        if search.bits and search.p == 2:
            D = torch.addmm(R.square().sum(dim=1), Z, R.T, alpha=-2.0)
            D += Z.square().sum(dim=1, keepdim=True)
        else:
            D = torch.zeros(len(Z), len(R), dtype=Z.dtype, device=Z.device)
            for z, r in zip(Z.T, R.T, strict=True):
                D += (z[:, None] - r).abs_().pow_(search.p)
        found = []
        for _ in range(min(self.n_links, len(R))):  # torch.topk names any of those that tie
            found.append(torch.min(D, dim=1, keepdim=True))
            D.scatter_(1, found[-1].indices, torch.inf)
        d, idx = (torch.cat(parts, dim=1) for parts in zip(*found, strict=True))
        return idx, d.clamp_(min=0.0) ** (2 / search.p)

    def link(self, X: torch.Tensor) -> RowLinks:
        """The links of rows, as :func:`dogc.fitting.links.link_rows`."""
        idx, d = self.nearest(self.points(X))
        own = (d[:, :1] / links.FAR**2).clamp_(min=max(self.fitted.width**2, TINY))
        relative = torch.exp((d[:, :1] - d) / own)
        smooth = relative ** (1.0 / links.SMOOTH**2)
        share = torch.round(smooth / smooth.sum(dim=1, keepdim=True) * links.ONE)
        strength = relative / relative.sum(dim=1, keepdim=True).sqrt()
        strength = torch.round(strength * torch.exp(-0.5 * d[:, :1] / own) * links.ONE)
        reach = d.sqrt().mean(dim=1).to(torch.float32)
        return RowLinks(idx.to(torch.int32), strength.long(), share.to(torch.int16), reach)

    def sums(self, report: Report | None = None) -> links.LinkSums:
        """Sums of the links of all rows, which are kept where they fit."""
        rows, p, size = self.rows, len(self.fitted.R), 4 + 6 * self.n_links
        A, mass, cuda = rows.zeros(p * p), rows.zeros(p), rows.device.type == "cuda"
        keeps = not cuda or rows.n * size < SHARE * torch.cuda.mem_get_info(rows.device)[0]
        parts = list(blocks(rows.n, p + rows.d))
        for done, part in enumerate(parts, 1):
            found = self.link(rows.block(part))
            strength, found = found.strength, found._replace(strength=None)
            idx, weight = found.idx.long(), rows.weight(part)[:, None]
            for j in range(idx.shape[1] - 1):  # each pair once, the nearer of the two first
                place = idx[:, j : j + 1] * p + idx[:, j + 1 :]
                both = weight * strength[:, j : j + 1] * strength[:, j + 1 :]
                A.scatter_add_(0, place.ravel(), both.ravel())
            mass.scatter_add_(0, idx.ravel(), (weight * found.share).ravel())
            self.kept += [found] if keeps else []
            if report is not None:
                report(done, len(parts))
        A = A.view(p, p)
        return links.LinkSums(sp.csr_array((A + A.T).cpu().numpy()), mass.cpu().numpy())

    def __iter__(self) -> Iterator[tuple[slice, RowLinks]]:
        """The links of rows, a block at a time."""
        for place, part in enumerate(blocks(self.rows.n, len(self.fitted.R) + self.rows.d)):
            yield part, self.kept[place] if self.kept else self.link(self.rows.block(part))

    def votes(self, found: RowLinks, names: np.ndarray, n_votes: int) -> torch.Tensor:
        """The weight of each name that representatives have, for each row."""
        own, share = self.rows.put(names, torch.int64), found.share[:, :n_votes].long()
        total = self.rows.zeros(len(share), int(names.max()) + 1)
        return total.scatter_add_(1, own[found.idx[:, :n_votes]], share)

    def scores(self, found: RowLinks, reach: Any) -> torch.Tensor:
        """The outlier score of each row, by the reach of representatives."""
        lift, k = outliers.LIFT * usual_reach(reach) or TINY, found.idx.shape[1]
        around = self.rows.put(reach)[found.idx].sort(dim=1).values
        median = (around[:, (k - 1) // 2] + around[:, k // 2]) / 2
        return ((found.reach + lift) / (median + lift)).clamp_(max=outliers.MOST)

    def sizes(self, labels: np.ndarray, n_votes: int) -> np.ndarray:
        """The sizes of labels that representatives have."""
        total = self.rows.zeros(int(labels.max()) + 1)
        for part, found in self:
            winner = self.votes(found, labels, n_votes).argmax(dim=1)
            total.scatter_add_(0, winner, self.rows.weight(part))
        return total.cpu().numpy()

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """The facts of each row, beside the rows."""
        X, parts, n_votes = self.rows.X, [], fitted.n_votes
        for _, found in self:
            votes = self.votes(found, fitted.labels, n_votes)
            facts = [votes.argmax(dim=1)]
            if fitted.stray is not None:
                score = torch.round(self.scores(found, fitted.reach), decimals=3)
                stray = self.votes(found, fitted.stray.astype(int), n_votes).argmax(dim=1)
                apart = (score > outliers.OUTLYING) | (stray == 1)
                if mark is not None:
                    facts[0].masked_fill_(apart, mark)
                # As dogc.numerics.outliers.discount has it.
                kept = (outliers.OUTLYING / score).clamp_(1e-6, 1.0)
                own = kept * (votes.amax(dim=1).double() / votes.sum(dim=1))
                own = (own + (1.0 - kept) / votes.shape[1]).clamp_(max=1.0)
                facts += [own.to(X.dtype), score.to(X.dtype), apart]
            parts.append([fact.to(X.device) for fact in facts])
        return RowFacts(*(torch.cat(part) for part in zip(*parts, strict=True)))

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """How far each representative is held by rows of each label, of shape (p, c)."""
        total = self.rows.zeros(len(self.fitted.R) * c)
        for part, found in self:
            place = found.idx * c + self.rows.put(labels[part], torch.int64)[:, None]
            total.scatter_add_(0, place.ravel(), found.share.ravel().long())
        return total.cpu().numpy().reshape(-1, c)
