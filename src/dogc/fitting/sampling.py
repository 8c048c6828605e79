"""A fixed sample of distinct rows that depends neither on chance nor on the order of rows.

Every row has a key, a number of 64 bits made from its values. The rows with the smallest keys
are the sample: as good as drawn at random, and the same whoever looks at the rows, in whatever
blocks and order. Equal rows have equal keys, so copies are one row of the sample that counts for
all of them. Neither the order of columns, nor a constant one, nor a unit that is a power of two
changes which rows have the smallest keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix

# The increment and the finaliser of splitmix64, whose factors are written with a sign: they spread
# every bit of a number over all 64.
STEP = np.uint64(0x9E3779B97F4A7C15)
SPREAD = ((30, 0xBF58476D1CE4E5B9 - 2**64), (27, 0x94D049BB133111EB - 2**64), (31, 1))
# A sample of so many rows is drawn sooner or later.
USUAL_SIZE = 80_000
# The most that weights may add up to, for sums of links to stay below 2^63.
MOST = 1 << 34


class Sample(NamedTuple):
    """Distinct rows in the order of their keys."""

    keys: np.ndarray  # (m,) rising
    X: Matrix  # (m, d)
    weight: np.ndarray  # (m,) whole numbers: what all copies of a row count for together


def row_keys(X: Matrix, columns: np.ndarray | None = None) -> np.ndarray:
    """One number for each row: equal for equal rows, dense or sparse, in 32 bits or 64.

    ``columns`` are the names of columns, as :func:`column_names` finds them; None: their places.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])
    >>> keys = row_keys(X)
    >>> bool(keys[0] == keys[2]), len(set(keys.tolist()))
    (True, 2)
    >>> bool((keys == row_keys(sp.csr_array(X))).all())
    True
    """
    if columns is None:
        columns = (np.arange(1, X.shape[1] + 1, dtype=np.uint64) * STEP).view(np.int64)
    total = np.zeros(X.shape[0], dtype=np.int64)
    for rows, _, mixed in _mixed(X, columns):
        np.add.at(total, rows, mixed)
    return spread(total).view(np.uint64)


def column_ends(X: Matrix, weight: np.ndarray) -> np.ndarray:
    """The largest entry of each column and of its negative, among rows with weight: (2, d)."""
    X = X[weight > 0]
    if not X.shape[0]:
        return np.full((2, X.shape[1]), -np.inf)
    ends = [X.max(axis=0), -X.min(axis=0)]
    dense = [end.toarray().ravel() if sp.issparse(end) else end for end in ends]
    return np.array(dense, dtype=np.float64)


def column_sums(X: Matrix, weight: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Sums over each column of what entries and the keys of their rows make together.

    They are exact, and which column has the larger one does not change with the unit of weights.
    """
    keys, sums = row_keys(X, columns).view(np.int64) | 1, np.zeros(X.shape[1], dtype=np.int64)
    for rows, place, mixed in _mixed(X, columns):  # 29 bits: sums stay below 2^63
        np.add.at(sums, place, _shifted(mixed * keys[rows], 35) * weight[rows])
    return sums


def column_names(ends: np.ndarray, sums: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A number for each column that neither its place nor the unit of X changes; constant ones: 0.

    Columns are counted in the order of their ends; those with equal ones by ``sums``, which are
    made where they are needed, for names that tell no column from another.
    """
    varying = ends[0] > -ends[1]
    # A power of two is taken out of a number by a difference of bits.
    exponent = np.frexp(ends[:, varying].max(initial=0.0))[1]
    unit = np.full(len(varying), int(exponent) * 2**52 % 2**64, dtype=np.uint64)
    own = np.zeros(len(varying))
    if np.unique(ends[:, varying], axis=1).shape[1] < varying.sum():
        own = sums(np.where(varying, STEP - unit, np.uint64(0)).view(np.int64))
    place = np.argsort(np.lexsort((own, *ends, ~varying))).astype(np.uint64)
    return np.where(varying, (place + np.uint64(1)) * STEP - unit, np.uint64(0)).view(np.int64)


def _mixed(X: Matrix, columns: np.ndarray) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Parts that entries add to the keys of their rows: those rows, the places of columns, numbers.

    Zeros and columns without a name add nothing.
    """
    if sp.issparse(X):
        if not X.has_canonical_format:  # an entry may be stored in parts
            X = X.copy()
            X.sum_duplicates()
        entries: Any = [(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices, X.data)]
    else:
        entries = ((slice(None), np.broadcast_to(j, len(X)), x) for j, x in enumerate(X.T))
    for rows, place, values in entries:
        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        name = columns[place]
        nothing = (values == 0) | (name == 0)
        yield rows, place, np.where(nothing, 0, spread(bits + name))


def spread(z: Any) -> Any:
    """Every bit of whole numbers of 64 bits, in an array or a tensor, spread over all of them."""
    for shift, factor in SPREAD:
        z = (z ^ _shifted(z, shift)) * factor
    return z


def _shifted(z: Any, bits: int) -> Any:
    """Bits moved to the right without their sign."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def smallest_keys(
    X: Matrix, weight: np.ndarray, size: int, columns: np.ndarray | None = None
) -> Sample:
    """The sample of at most ``size`` distinct rows of a block; rows of weight 0 are left out.

    Examples
    --------
    >>> import numpy as np
    >>> found = smallest_keys(np.array([[1.0], [2.0], [1.0]]), np.array([1, 1, 1]), 5)
    >>> sorted(zip(found.X.ravel().tolist(), found.weight.tolist()))
    [(1.0, 2), (2.0, 1)]
    """
    kept = weight > 0
    if not kept.all():
        X, weight = X[kept], weight[kept]
    return _first(row_keys(X, columns), X, weight, size)


def merged(one: Sample, other: Sample, size: int) -> Sample:
    """The sample of two sets of rows from the sample of each: the same in any order.

    Examples
    --------
    >>> import numpy as np
    >>> X, ones = np.arange(6.0)[:, None], np.ones(6, dtype=int)
    >>> parts = [smallest_keys(X[i : i + 2], ones[:2], 3) for i in (0, 2, 4)]
    >>> both = merged(parts[2], merged(parts[0], parts[1], 3), 3)
    >>> bool((both.X == smallest_keys(X, ones, 3).X).all())
    True
    """
    keys, weight = np.append(one.keys, other.keys), np.append(one.weight, other.weight)
    stack = sp.vstack if sp.issparse(one.X) else np.vstack
    return _first(keys, stack([one.X, other.X]), weight, size)


def _first(keys: np.ndarray, X: Matrix, weight: np.ndarray, size: int) -> Sample:
    """The rows with the smallest keys, copies held once."""
    keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, group, weight)
    return Sample(keys[:size], X[first[:size]], total[:size])


class WeightFacts(NamedTuple):
    """Facts of all weights that make whole numbers of them; exact in any order."""

    largest: float
    positive: int  # how many are above zero
    whole: int | None  # the sum of whole numbers; None: they are not all whole, or huge

    @property
    def scale(self) -> float | None:
        """The factor of the weights; None: they stay as they are."""
        if self.whole is not None and self.whole <= MOST:
            return None
        # A power of two, so that nothing is rounded but the weights.
        return float(2.0 ** min(20, int(np.log2(MOST / max(self.positive, 1)))))

    @property
    def unit(self) -> float:
        """The weight of a whole number of 1: a power of two, so that sums are exact."""
        if self.scale is None:
            return 1.0
        return math.ldexp(1.0 / self.scale, math.frexp(self.largest)[1])


def weight_facts(weight: np.ndarray) -> WeightFacts:
    """The facts of a block of weights.

    Examples
    --------
    >>> import numpy as np
    >>> weight_facts(np.array([2.0, 0.0, 1.0]))
    WeightFacts(largest=2.0, positive=2, whole=3)
    """
    largest = float(weight.max(initial=0.0))
    whole = None
    if largest <= MOST and (weight == np.rint(weight)).all():
        whole = int(weight.astype(np.int64).sum())
    return WeightFacts(largest, int(np.count_nonzero(weight)), whole)


def all_facts(one: WeightFacts, other: WeightFacts) -> WeightFacts:
    """The facts of the weights of both."""
    whole = None if one.whole is None or other.whole is None else one.whole + other.whole
    largest = max(one.largest, other.largest)
    return WeightFacts(largest, one.positive + other.positive, whole)


def whole_weights(weight: np.ndarray, facts: WeightFacts) -> np.ndarray:
    """Weights as whole numbers, so that sums of them are the same in any order.

    Whole numbers stay as they are, unless they are huge. Others keep up to 20 bits beside the
    largest of all, and at least one unit.

    Examples
    --------
    >>> import numpy as np
    >>> weight = np.array([2.0, 0.0, 1.0])
    >>> whole_weights(weight, weight_facts(weight))
    array([2, 0, 1])
    """
    if facts.scale is None:
        return weight.astype(np.int64)
    whole = np.rint(weight / facts.unit)
    return np.where(weight > 0, np.maximum(whole, 1), 0).astype(np.int64)
