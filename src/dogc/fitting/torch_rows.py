"""Rows that torch works on: on a GPU, where they lie or streamed to it in blocks.

The same sample and the same representatives as in memory, bit for bit; links by the same formulas,
in 64 bits. Coordinates are rounded so that products of them are exact, and sums over rows are of
whole numbers, the same in any order: every fit on one device is the same. It differs from a fit by
NumPy only in rows that lie exactly between representatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ..numerics import outliers
from ..numerics.exact import exact_bits
from ..numerics.matrix import Matrix
from . import links, sampling
from .in_memory import RowsInMemory, counted
from .links import RowLinks
from .outlier_scores import usual_reach
from .repeatable import Report
from .representatives import Representatives, RowFacts
from .scaling import FARTHEST, LARGEST, unit_rows, within_range

# Numbers of a block: of rows, or of distances between rows and representatives.
ELEMENTS = 1 << 26
# The share of a device's free memory that links of rows may take.
SHARE = 0.3
# The whole numbers with a sign that have the bits of those without one.
SPREAD = [(int(shift), int(factor.astype(np.int64))) for shift, factor in sampling.SPREAD]
LOWEST = -(1 << 63)
TINY = float(np.finfo(float).tiny)


def blocks(n: int, width: int) -> Iterator[slice]:
    """Blocks of n rows with so many numbers in each row."""
    size = max(1024, ELEMENTS // max(width, 1))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def as_real(X: torch.Tensor) -> torch.Tensor:
    """The tensor in 32 bits or 64: whole numbers in 64, floats of fewer bits in 32."""
    short = X.is_floating_point() and X.itemsize < 8
    return X.detach().to(torch.float32 if short else torch.float64)


def may_be_squared(X: torch.Tensor) -> bool:
    """Whether all numbers are finite and not too large."""
    largest = LARGEST[np.dtype(str(X.dtype).removeprefix("torch."))]
    return all(bool(X[rows].abs().amax() <= largest) for rows in blocks(*X.shape))


def row_keys(X: torch.Tensor, columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The bits of :func:`dogc.fitting.sampling.row_keys` as numbers with a sign.

    With what each entry adds to them.

    Examples
    --------
    >>> X, names = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]]), np.array([5, 7])
    >>> keys, _ = row_keys(torch.tensor(X), torch.tensor(names))
    >>> bool((keys.numpy().view(np.uint64) == sampling.row_keys(X, names.view(np.uint64))).all())
    True
    """

    def spread(z: torch.Tensor) -> torch.Tensor:
        for shift, factor in SPREAD:
            z = (z ^ shifted(z, shift)) * factor
        return z

    mixed = spread(X.to(torch.float64).contiguous().view(torch.int64) + columns)
    mixed.masked_fill_((X == 0) | (columns == 0), 0)
    return spread(mixed.sum(dim=1)), mixed


def shifted(z: torch.Tensor, bits: int) -> torch.Tensor:
    """Bits moved to the right as in numbers without a sign, which a shift would repeat."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def rounded(Z: torch.Tensor, unit: float, bits: int) -> torch.Tensor:
    """Coordinates of few bits, as :func:`dogc.numerics.exact.rounded`."""
    reach = (Z.abs().amax(dim=1, keepdim=True) / (2.0 * unit)).clamp_(min=1.0)
    step = torch.exp2(torch.ceil(torch.log2(reach))) * (unit * 2.0**-bits)
    return (Z / step).round_().mul_(step)


class TorchRows(sampling.Sampled):
    """A tensor of rows, or an array that is streamed to a device."""

    sparse = False
    spread: Any = RowsInMemory.spread

    def __init__(
        self, X: Any, weight: np.ndarray | None, device: torch.device, cosine: bool = False
    ):
        """Keep the rows where they are; ``weight`` of None: all count once."""
        self.X, self.device = torch.as_tensor(X), device
        self.n, self.d = self.X.shape
        if cosine:  # by NumPy: the sample goes by the last bits of rows of length one
            parts = (unit_rows(self.X[rows].cpu().numpy()) for rows in blocks(self.n, self.d))
            self.X = torch.cat([torch.as_tensor(part, device=self.X.device) for part in parts])
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

    def block(self, rows: slice) -> torch.Tensor:
        """Some rows, on the device, without numbers too small to be squared."""
        X = self.X[rows].to(self.device, non_blocking=True)
        return X.masked_fill(X.abs() < 1.0 / LARGEST[self.dtype], 0.0)

    def weight(self, rows: slice) -> torch.Tensor:
        """The weights of some rows, as whole numbers."""
        return self._weight[rows].to(self.device)

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows."""
        found: Any = None
        columns = sampling.column_names(self._column_ends(), self._column_sums)
        names = self.put(columns.view(np.int64), torch.int64)
        for rows in blocks(self.n, self.d):
            X, weight = self.block(rows), self.weight(rows)
            keys = row_keys(X, names)[0] ^ LOWEST  # in their order with a sign
            part = [x[weight > 0] for x in (keys, X, weight)]
            if found is not None:
                part = [torch.cat(pair) for pair in zip(found, part, strict=True)]
            keys, X, weight = part
            keys, group = torch.unique(keys, return_inverse=True)
            total = torch.zeros_like(keys).scatter_add_(0, group, weight)
            place = torch.arange(len(group), device=self.device)
            first = torch.zeros_like(keys).scatter_reduce_(
                0, group, place, "amin", include_self=False
            )
            found = keys[:size], X[first[:size]], total[:size]
        keys, X, weight = (part.cpu().numpy() for part in found)
        return sampling.Sample((keys ^ LOWEST).view(np.uint64), X, weight)

    def _column_ends(self) -> np.ndarray:
        """The largest of each column and of its negative, as :func:`sampling.column_ends`."""
        ends = self.put(np.full((2, self.d), -np.inf), self.X.dtype)
        for rows in blocks(self.n, self.d):
            X = self.block(rows)[self.weight(rows) > 0]
            ends = torch.stack([X, -X]).amax(dim=1).maximum(ends) if len(X) else ends
        return ends.to(torch.float64).cpu().numpy()

    def _column_sums(self, columns: np.ndarray) -> np.ndarray:
        """Sums that tell apart columns of equal ends, as :func:`sampling.column_sums`."""
        sums = self.put(np.zeros(self.d), torch.int64)
        for rows in blocks(self.n, self.d):
            keys, mixed = row_keys(self.block(rows), self.put(columns.view(np.int64), torch.int64))
            sums += (shifted(mixed * (keys | 1)[:, None], 35) * self.weight(rows)[:, None]).sum(
                dim=0
            )
        return sums.cpu().numpy()

    def held(self, sample: sampling.Sample) -> TorchRows:
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

    def link(
        self, fitted: Representatives, report: Report | None = None
    ) -> tuple[TorchLinks, links.LinkSums]:
        """One pass over the rows: their links, and what they add up to."""
        linked = TorchLinks(self, fitted)
        return linked, linked.sums(report)

    def products(self, coef: np.ndarray, intercept: Any = 0.0) -> torch.Tensor:
        """Rows times a matrix of shape (c, d) transposed, beside them."""
        W, b = (self.put(x, self.X.dtype) for x in (coef, intercept))
        parts = (self.block(rows) @ W.T + b for rows in blocks(self.n, self.d))
        return torch.cat([part.to(self.X.device) for part in parts])


class TorchLinks:
    """Rows and the representatives that they are linked with, on a device."""

    def __init__(self, rows: TorchRows, fitted: Representatives):
        """Copy the representatives to the device."""
        self.rows, self.fitted, self.kept = rows, fitted, list[RowLinks]()
        scaled, directions = fitted.frame.scaled, fitted.frame.directions
        self.directions = None if directions is None else rows.put(directions)
        most, unit = FARTHEST[np.dtype(float)] * scaled.unit, scaled.unit
        if scaled.constant is not None:
            unit = np.where(scaled.constant, np.inf, unit)  # what is left of them is rounding
        frame = (scaled.origin, most, unit, scaled.centre, scaled.scatter, fitted.frame.middle)
        self.frame = [rows.put(part) for part in frame]
        self.search = links.make_search(fitted.R, fitted.metric)
        self.R, self.middle = rows.put(self.search.R), rows.put(self.search.origin)

    def points(self, X: torch.Tensor) -> torch.Tensor:
        """Rows as points, as :func:`dogc.fitting.representatives.as_points`."""
        origin, most, unit, centre, scatter, middle = self.frame
        Z = (X.to(torch.float64) - origin).clamp_(-most, most)
        Z = Z.div_(unit).sub_(centre).div_(scatter)
        if self.directions is None:
            return Z
        bits = exact_bits(len(self.directions))
        return rounded(Z - middle, self.fitted.frame.unit, bits) @ self.directions

    def nearest(self, Z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The nearest representatives of points, nearest first, and their squared distances."""
        R, Z, search = self.R, Z - self.middle, self.search
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
        for _ in range(min(self.fitted.n_links, len(R))):  # torch.topk names any of those that tie
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
        rows, p, size = self.rows, len(self.R), 4 + 6 * self.fitted.n_links
        A, mass = (torch.zeros(m, dtype=torch.int64, device=rows.device) for m in (p * p, p))
        cuda = rows.device.type == "cuda"
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
        for place, part in enumerate(blocks(self.rows.n, len(self.R) + self.rows.d)):
            yield part, self.kept[place] if self.kept else self.link(self.rows.block(part))

    def voting(self, names: np.ndarray, n_votes: int) -> Callable[[RowLinks], torch.Tensor]:
        """From the links of rows to the weight of each name that representatives have in them."""
        c, own = int(names.max()) + 1, self.rows.put(names, torch.int64)

        def votes(found: RowLinks) -> torch.Tensor:
            given, share = own[found.idx[:, :n_votes]], found.share[:, :n_votes].long()
            return own.new_zeros(len(given), c).scatter_add_(1, given, share)

        return votes

    def scoring(self, reach: Any) -> Callable[[RowLinks], torch.Tensor]:
        """From the links of rows to outlier scores, by the reach of representatives."""
        own, lift = self.rows.put(reach), outliers.LIFT * usual_reach(reach) or TINY

        def scores(found: RowLinks) -> torch.Tensor:
            around, k = own[found.idx].sort(dim=1).values, found.idx.shape[1]
            median = (around[:, (k - 1) // 2] + around[:, k // 2]) / 2
            return ((found.reach + lift) / (median + lift)).clamp_(max=outliers.MOST)

        return scores

    def count(self, labels: np.ndarray) -> tuple[np.ndarray, int]:
        """The sizes of labels that representatives have, and how many links have a vote."""

        def sizes_by(n_votes: int) -> np.ndarray:
            votes = self.voting(labels, n_votes)
            weight = self.rows.put(np.zeros(int(labels.max()) + 1), torch.int64)
            for part, found in self:
                weight.scatter_add_(0, votes(found).argmax(dim=1), self.rows.weight(part))
            return weight.cpu().numpy()

        return counted(sizes_by, self.fitted.n_links, labels)

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """The facts of each row, beside the rows."""
        X, parts, stray = self.rows.X, [], fitted.stray
        votes = self.voting(fitted.labels, fitted.n_votes)
        if stray is not None:
            scores = self.scoring(fitted.reach)
            stray_votes = self.voting(stray.astype(int), fitted.n_votes)
        for _, found in self:
            given = votes(found)
            facts = [given.argmax(dim=1)]
            if stray is not None:
                score = torch.round(scores(found), decimals=3)
                apart = (score > outliers.OUTLYING) | (stray_votes(found).argmax(dim=1) == 1)
                if mark is not None:
                    facts[0].masked_fill_(apart, mark)
                sure = discounted(given, score).amax(dim=1)
                facts += [sure.to(X.dtype), score.to(X.dtype), apart]
            parts.append([fact.to(X.device) for fact in facts])
        return RowFacts(*(torch.cat(part) for part in zip(*parts, strict=True)))

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """How far each representative is held by rows of each label, of shape (p, c)."""
        votes = self.rows.put(np.zeros(len(self.R) * c), torch.int64)
        for part, found in self:
            place = found.idx * c + self.rows.put(labels[part], torch.int64)[:, None]
            votes.scatter_add_(0, place.ravel(), found.share.ravel().long())
        return votes.cpu().numpy().reshape(-1, c)

    def of_new_rows(self, name: str) -> torch.Tensor:
        """The labels, memberships or outlier scores of rows that were not fitted, beside them."""
        fitted = self.fitted
        if name == "predict":
            return self.facts(fitted._replace(stray=None)).labels
        scores, votes = self.scoring(fitted.reach), self.voting(fitted.labels, fitted.n_votes)
        parts = []
        for _, found in self:
            part = scores(found)
            part = discounted(votes(found), part) if name == "predict_membership" else part
            parts.append(part.to(self.rows.X.device))
        return torch.cat(parts)


def discounted(votes: torch.Tensor, score: torch.Tensor) -> torch.Tensor:
    """Shares of labels, as :func:`dogc.numerics.outliers.discount` has them."""
    kept = (outliers.OUTLYING / score).clamp_(1e-6, 1.0)[:, None]
    shares = votes.to(torch.float64) / votes.sum(dim=1, keepdim=True)
    return (kept * shares + (1.0 - kept) / votes.shape[1]).clamp_(max=1.0)
