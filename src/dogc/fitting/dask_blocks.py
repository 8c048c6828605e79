"""What is done with a block of Dask's rows, by whoever has it: functions of the block alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from .._checks import check_unmasked
from . import linked, links, sampling
from .distinct import check_sample_weight
from .in_memory import RowsInMemory
from .magnitudes import within_range
from .repeatable import single_blas_thread
from .representatives import Representatives
from .scaling import unit_rows

# What is found for each row beside its label.
FACTS = ("confidence", "score", "outlier")


class Reading(NamedTuple):
    """How a block becomes rows."""

    dtype: Any
    cosine: bool


def read_block(block: Any, reading: Reading) -> np.ndarray:
    """The rows of a block, checked; there may be none."""
    block = check_unmasked("X", block)
    X = check_array(block, dtype=reading.dtype, order="C", ensure_min_samples=0, input_name="X")
    X = within_range(X)
    return unit_rows(X) if reading.cosine else X


class Drawn(NamedTuple):
    """Lengths of blocks, what their rows weigh together, and the sample of them."""

    lengths: tuple[int, ...]
    total: int
    sample: sampling.Sample


def _in_memory(
    block: Any, weight: Any, facts: sampling.WeightFacts | None, reading: Reading
) -> RowsInMemory:
    """A block as rows in memory, worked on by one thread."""
    X = read_block(block, reading)
    rows = RowsInMemory(X, None, 1)
    if facts is not None:
        rows.weight = sampling.whole_weights(_checked_weight(weight, len(X)), facts)
        rows.total = int(rows.weight.sum())
    return rows


def _checked_weight(weight: Any, n: int) -> np.ndarray:
    weight = np.asarray(weight, dtype=np.float64)
    # There must be two rows with weight, but only in all blocks together.
    checked = check_sample_weight(np.append(weight, [1.0, 1.0]), n + 2)
    assert checked is not None
    return checked[:-2]


def facts_of_weights(weight: Any) -> sampling.WeightFacts:
    """What must be known of a block of weights."""
    weight = np.asarray(weight)
    return sampling.weight_facts(_checked_weight(weight, len(weight)))


def draw_block(block: Any, weight: Any, facts: Any, reading: Reading, size: int) -> Drawn:
    """The sample of a block, its length and its weight."""
    rows = _in_memory(block, weight, facts, reading)
    sample = rows.draw(size) if rows.n else sampling.smallest_keys(rows.X, rows.weight, size)
    return Drawn((rows.n,), rows.total, sample)


def link_block(
    block: Any, weight: Any, facts: Any, reading: Reading, fitted: Representatives
) -> links.LinkSums:
    """What the links of the rows of a block add up to."""
    rows = _in_memory(block, weight, facts, reading)
    with single_blas_thread:
        return rows.sums(fitted)


def count_block(
    block: Any, weight: Any, facts: Any, reading: Reading, fitted: Representatives, start: int
) -> linked.LabelSizes:
    """The sizes of labels in a block that begins with row number ``start``."""
    rows = _in_memory(block, weight, facts, reading)
    c = int(fitted.labels.max()) + 1
    return linked.weigh(_labelled(fitted, rows.X), rows.weight, c, start)


def _labelled(fitted: Representatives, X: np.ndarray) -> np.ndarray:
    if not len(X):
        return np.empty(0, dtype=np.int64)
    with single_blas_thread:
        return linked.linked_labels(fitted, X, 1)


def label_block(
    block: Any, fitted: Representatives, reading: Reading, mark: int | None
) -> np.ndarray:
    """The labels of a block; outliers are marked where asked for."""
    X = read_block(block, reading)
    if mark is None or not len(X):
        return _labelled(fitted, X)
    with single_blas_thread:
        return RowsInMemory(X, None, 1).facts(fitted, mark).labels


def facts_of_block(block: Any, fitted: Representatives, reading: Reading, kinds: Any) -> np.ndarray:
    """How sure the labels of a block are, outlier scores, and who is an outlier."""
    X = read_block(block, reading)
    found = np.empty(len(X), dtype=kinds)
    if len(X):
        with single_blas_thread:
            facts = RowsInMemory(X, None, 1).facts(fitted)
        for name, values in zip(FACTS, facts[1:], strict=True):
            found[name] = values
    return found


def known_by_key(block: Any, weight: Any, given: Any, reading: Reading, place: int) -> np.ndarray:
    """What is known of each row by its key; of rows without weight what the model says."""
    keys, known, unseen = given
    X = read_block(block, reading)
    own = sampling.row_keys(X)
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    found, new = known[place][at], (keys[at] != own) | (np.ravel(weight) == 0)
    if new.any():
        found[new] = unseen(X[new])[place]
    return found


def first_rows(
    block: Any, weight: Any, facts: Any, reading: Reading, start: int
) -> tuple[np.ndarray, np.ndarray]:
    """The keys of a block's rows that have weight, rising, and where each occurs first."""
    rows = _in_memory(block, weight, facts, reading)
    kept = np.flatnonzero(rows.weight > 0)
    keys, first = np.unique(sampling.row_keys(rows.X)[kept], return_index=True)
    return keys, start + kept[first]


def earliest(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> Any:
    """The same of two sets of rows."""
    keys, group = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    first = np.full(len(keys), linked.NOWHERE)
    np.minimum.at(first, group, np.concatenate([one[1], other[1]]))
    return keys, first


def pairs_of_block(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of labels in a block, and how often each occurs."""
    return np.unique(np.vstack([one, other]), axis=1, return_counts=True)


def all_pairs(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> Any:
    """The same of two sets of rows."""
    pairs, group = np.unique(np.hstack([one[0], other[0]]), axis=1, return_inverse=True)
    count = np.zeros(pairs.shape[1], dtype=np.int64)
    np.add.at(count, group.ravel(), np.concatenate([one[1], other[1]]))
    return pairs, count
