"""Rows that are worked on by torch: on a GPU, where they lie or streamed to it in blocks.

The same sample, cells, links and votes as in memory, by the same arithmetic. Sums over rows are
of whole numbers, so labels are the same in every run, whatever the device does first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from ..numerics import outliers
from ..numerics.matrix import Matrix
from . import links, magnitudes, sampling, scaling, torch_labels, torch_links, torch_sampling
from .in_memory import RowsInMemory, counted
from .linked import NOWHERE, LabelSizes
from .passes import Report
from .representatives import Representatives, RowFacts, Unseen

# Where device="cuda" is.
CUDA = "cuda"
# Numbers of a block of rows, and pairs of rows and representatives that are compared at a time.
ELEMENTS, PAIRS = 1 << 25, 1 << 27
# Bytes for the links of a row beside those for each link, and the share of free memory for them.
ROW_BYTES, LINK_BYTES, SHARE = 4, 4, 0.3


def device_for(device: str, X: Any) -> torch.device | None:
    """Where rows are worked on; None: in memory, by NumPy."""
    where = X.device if isinstance(X, torch.Tensor) else torch.device("cpu")
    if device != "auto":
        where = torch.device(device.replace("cuda", CUDA, 1))
    if where.type == "cpu" and not (device.startswith("cuda") and CUDA == "cpu"):
        return None
    if where.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={device!r} needs a GPU that torch can use, and it finds none; "
            "set_params(device='auto') works where X is."
        )
    return where


def checked_tensor(X: torch.Tensor) -> torch.Tensor:
    """A dense tensor of rows and columns that holds finite numbers, in 32 or 64 bits."""
    if X.ndim != 2 or X.layout != torch.strided:
        raise ValueError(
            f"X must be a dense tensor of rows and columns; got {X.layout} of shape "
            f"{tuple(X.shape)}."
        )
    if X.is_complex():
        raise ValueError("X must hold real numbers; got a complex tensor.")
    X = X.detach()
    if not X.is_floating_point():
        X = X.to(torch.float64)
    elif X.dtype not in (torch.float32, torch.float64):
        X = X.to(torch.float32)
    if not len(X):
        raise ValueError("X has no rows; pass some.")
    if not all(bool(torch.isfinite(X[rows]).all()) for rows in slices(*X.shape)):
        raise ValueError("Input X contains NaN or infinity; drop or fill such rows.")
    return X


def within_range(X: torch.Tensor, *, some: bool) -> torch.Tensor:
    """As :func:`dogc.fitting.magnitudes.within_range`."""
    largest = magnitudes.LARGEST[np.dtype(str(X.dtype).removeprefix("torch."))]
    small = False
    for rows in slices(*X.shape):
        size = X[rows].abs()
        if bool((size > largest).any()):
            magnitudes.within_range(X[rows].cpu().numpy())  # says so
        small |= bool(((size < 1.0 / largest) & (size > 0)).any())
    if small:
        X = torch.where(X.abs() < 1.0 / largest, 0.0, X)
        if some and not bool(X.any()):
            raise ValueError(magnitudes.ALL_SMALL.format(1.0 / largest))
    return X


def slices(n: int, width: int, elements: int | None = None) -> Iterator[slice]:
    """Blocks of n rows so that each has so many numbers."""
    size = max(1024, (elements or ELEMENTS) // max(width, 1))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


class TorchRows(sampling.Sampled):
    """A tensor of rows, or an array that is streamed to a device."""

    sparse = False

    def __init__(
        self,
        X: torch.Tensor | np.ndarray,
        weight: np.ndarray | None,
        device: torch.device,
        cosine: bool = False,
    ):
        """Keep the rows where they are; ``weight`` of None: all count once."""
        self.X: Any = X if isinstance(X, torch.Tensor) else torch.from_numpy(X)
        self.device, self.cosine, self._given = device, cosine, weight
        self.n, self.d = self.X.shape
        self.dtype = np.dtype(np.float32 if self.X.dtype == torch.float32 else np.float64)
        self.weight, self.unit, self.total = None, 1.0, self.n
        if weight is not None:
            facts = sampling.weight_facts(weight)
            whole = sampling.whole_weights(weight, facts)
            self.weight, self.unit = torch.from_numpy(whole), facts.unit
            self.total = int(whole.sum())

    def block(self, rows: slice) -> torch.Tensor:
        """Some rows, on the device."""
        X = self.X[rows].to(self.device, non_blocking=True)
        return unit_rows(X) if self.cosine else X

    def weights(self, rows: slice) -> torch.Tensor:
        """What they weigh, as whole numbers."""
        if self.weight is None:
            return torch.ones(rows.stop - rows.start, dtype=torch.int64, device=self.device)
        return self.weight[rows].to(self.device)

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows."""
        drawn = None
        for rows in slices(self.n, self.d):
            part = torch_sampling.smallest_keys(self.block(rows), self.weights(rows), size)
            drawn = part if drawn is None else torch_sampling.merged(drawn, part, size)
        assert drawn is not None
        return torch_sampling.to_host(drawn)

    def held(self, sample: sampling.Sample) -> TorchRows:
        """The rows of a sample, worked on by the same device."""
        return TorchRows(sample.X, sample.weight, self.device)

    def few(self, apart: bool = False) -> tuple[Matrix, np.ndarray | None]:
        """The rows in the memory of this process."""
        X = self.X.cpu().numpy()
        rows = RowsInMemory(scaling.unit_rows(X) if self.cosine else X, self._given)
        return rows.few(apart)

    def spread(self, found: RowFacts, unseen: Unseen | None = None) -> RowFacts:
        """What was found is of all rows."""
        return found

    def nearest_mean(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """The nearest row of R for each row of Z, the first in a tie."""
        means, found = torch.from_numpy(R).to(self.device), []
        for rows in slices(len(Z), len(R), PAIRS):
            part = torch.from_numpy(Z[rows]).to(self.device)
            found.append(torch_links.nearest_mean(part, means))
        return torch.cat(found).cpu().numpy()

    def link(
        self, fitted: Representatives, report: Report | None = None
    ) -> tuple[TorchLinks, links.LinkSums]:
        """One pass over the rows: what their links add up to; links are kept where they fit."""
        p, ready = len(fitted.R), torch_links.on_device(fitted, self.device)
        A = torch.zeros(p, p, dtype=torch.int64, device=self.device)
        mass = torch.zeros(p, dtype=torch.int64, device=self.device)
        kept: list[torch_links.DeviceLinks] | None = [] if self._can_keep(fitted) else None
        blocks = list(slices(self.n, p, PAIRS))
        for done, rows in enumerate(blocks, 1):
            found = self.linked(ready, rows)
            torch_links.add_links(A, mass, found, self.weights(rows))
            if kept is not None:
                kept.append(torch_links.packed(found, p))
            if report is not None:
                report(done, len(blocks))
        return TorchLinks(self, fitted, kept), torch_links.link_sums(A, mass)

    def linked(self, ready: torch_links.DeviceRepresentatives, rows: slice) -> Any:
        """The links of some rows."""
        return torch_links.link_rows(ready, torch_links.as_points(ready, self.block(rows)))

    def _can_keep(self, fitted: Representatives) -> bool:
        if self.device.type != "cuda":
            return True
        free, _ = torch.cuda.mem_get_info(self.device)
        return self.n * (ROW_BYTES + LINK_BYTES * fitted.n_links) < SHARE * free


class TorchLinks:
    """Rows that were linked with representatives on a device."""

    def __init__(
        self,
        rows: TorchRows,
        fitted: Representatives,
        kept: list[torch_links.DeviceLinks] | None,
    ):
        """Keep the links, or where the rows are."""
        self._rows, self._fitted, self._kept = rows, fitted, kept

    def _blocks(
        self, ready: torch_links.DeviceRepresentatives
    ) -> Iterator[tuple[slice, torch_links.DeviceLinks]]:
        for place, rows in enumerate(slices(self._rows.n, len(self._fitted.R), PAIRS)):
            if self._kept is None:
                yield rows, self._rows.linked(ready, rows)
            else:
                yield rows, torch_links.unpacked(self._kept[place])

    def count(self, labels: np.ndarray) -> tuple[LabelSizes, int]:
        """The sizes of labels that representatives have, and how many links have a vote."""

        def sizes_by(n_votes: int) -> LabelSizes:
            fitted = self._fitted._replace(labels=labels, n_votes=n_votes)
            ready = torch_links.on_device(fitted, self._rows.device)
            weight = torch.zeros(ready.c, dtype=torch.int64, device=self._rows.device)
            first = torch.full_like(weight, NOWHERE)
            for rows, found in self._blocks(ready):
                own = torch_labels.labels(ready, found)
                weight.scatter_add_(0, own, self._rows.weights(rows))
                place = torch.arange(rows.start, rows.stop, device=own.device)
                first.scatter_reduce_(0, own, place, "amin")
            return LabelSizes(weight.cpu().numpy(), first.cpu().numpy())

        return counted(sizes_by, self._fitted.n_links, labels)

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """What becomes of each row, beside the rows."""
        ready, home = torch_links.on_device(fitted, self._rows.device), self._rows.X.device
        parts = [
            [part.to(home) for part in block_facts(ready, found, mark, self._rows.X.dtype)]
            for _, found in self._blocks(ready)
        ]
        return RowFacts(*(torch.cat(part) for part in zip(*parts, strict=True)))

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """How far each representative is held by rows of each label, of shape (p, c)."""
        ready = torch_links.on_device(self._fitted, self._rows.device)
        votes = torch.zeros(len(self._fitted.R) * c, dtype=torch.int64, device=self._rows.device)
        own = torch.from_numpy(np.ascontiguousarray(labels))
        for rows, found in self._blocks(ready):
            place = found.idx * c + own[rows].to(votes.device)[:, None]
            votes.scatter_add_(0, place.ravel(), found.share.ravel().to(torch.int64))
        return votes.cpu().numpy().reshape(-1, c)


def block_facts(
    ready: torch_links.DeviceRepresentatives,
    found: torch_links.DeviceLinks,
    mark: int | None,
    dtype: torch.dtype,
) -> list[torch.Tensor]:
    """Labels of rows by their links, how sure they are, and who is an outlier."""
    labels, sure = torch_labels.labels(ready, found), torch_labels.sureness(ready, found)
    if ready.reach is None or ready.stray is None:
        return [labels, sure]
    score = torch_labels.fitted_scores(ready, found)
    apart = torch_labels.are_outliers(ready, found, score)
    if mark is not None:
        labels = labels.masked_fill(apart, mark)
    return [labels, discount(sure, score, ready.c).to(dtype), score.to(dtype), apart]


def discount(shares: torch.Tensor, score: torch.Tensor, c: int) -> torch.Tensor:
    """Shares drawn towards even ones as far as a row is an outlier.

    As :func:`dogc.numerics.outliers.discount`.

    Examples
    --------
    >>> import torch
    >>> discount(torch.tensor([1.0]), torch.tensor([30.0]), 2).round(decimals=2)
    tensor([0.5500])
    """
    kept = (outliers.OUTLYING / score.clamp(min=1e-30)).clamp(1e-6, 1.0)
    return (kept * shares + (1.0 - kept) / c).clamp(max=1.0)


def unit_rows(X: torch.Tensor) -> torch.Tensor:
    """Rows of length one; zero rows stay. By the largest entry first, as in memory.

    The same bits as in memory, up to 128 columns: rows are sampled by their bits.

    Examples
    --------
    >>> import torch
    >>> unit_rows(torch.tensor([[3e30, 4e30], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    largest = X.abs().amax(dim=1, keepdim=True)
    X = X / torch.where(largest > 0, largest, 1.0)
    squares = torch_links.row_sums(X * X)
    # By NumPy: a square root of torch's on a processor may be off by a bit.
    size = torch.from_numpy(np.sqrt(squares.cpu().numpy())).to(X.device)
    return X / torch.where(size > 0, size, 1.0)


def of_new_rows(
    rows: TorchRows,
    fitted: Representatives,
    make: Callable[[torch_links.DeviceRepresentatives, torch_links.DeviceLinks], torch.Tensor],
) -> torch.Tensor:
    """What a function makes of the links of new rows, beside the rows."""
    ready = torch_links.on_device(fitted, rows.device)
    parts = [
        make(ready, rows.linked(ready, part)).to(rows.X.device)
        for part in slices(rows.n, len(fitted.R), PAIRS)
    ]
    return torch.cat(parts)


def discounted(
    ready: torch_links.DeviceRepresentatives, found: torch_links.DeviceLinks
) -> torch.Tensor:
    """The share of each label in the links of rows, of outliers more even."""
    score = torch_labels.outlier_scores(ready, found)
    return discount(torch_labels.shares(ready, found), score[:, None], ready.c)


def products(
    rows: TorchRows,
    coef: np.ndarray,
    intercept: np.ndarray | None = None,
    last: Callable[[torch.Tensor], torch.Tensor] = lambda scores: scores,
) -> torch.Tensor:
    """X times a matrix of shape (c, d) transposed, beside the rows, and what is made of it."""
    W = torch.from_numpy(coef).to(rows.device, rows.X.dtype).T
    b = 0.0 if intercept is None else torch.from_numpy(intercept).to(rows.device, rows.X.dtype)
    parts = [last(rows.block(part) @ W + b).to(rows.X.device) for part in slices(rows.n, rows.d)]
    return torch.cat(parts)


def as_compared(rows: TorchRows) -> torch.Tensor:
    """Rows as they are compared: as they are, or of length one."""
    return unit_rows(rows.X) if rows.cosine else rows.X
