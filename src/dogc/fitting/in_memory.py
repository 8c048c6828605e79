"""Rows that are in memory: a pass over them is made by threads, a block at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs

from ..numerics import lloyd, outliers
from ..numerics.matrix import Matrix
from . import links, outlier_scores, sampling
from .repeatable import Found, Report, over_blocks
from .representatives import Linked, LinkedRows, Representatives, RowFacts, RowSet, as_points

# Rows for each of those that are to differ, among which they are looked for first.
HEAD = 100


class RowsInMemory(RowSet):
    """An array or a sparse matrix, with what each row weighs as a whole number."""

    def __init__(self, X: Matrix, weight: np.ndarray | None = None, n_jobs: int | None = None):
        """Keep the rows; ``weight`` of None: all count once."""
        self.X, self.n_jobs, self.sparse = X, n_jobs, sp.issparse(X)
        self.n, self.d = X.shape
        self.dtype, self._given = X.dtype, weight
        if weight is None:
            self.weight, self.unit = np.ones(self.n, dtype=np.int64), 1.0
        else:
            facts = sampling.weight_facts(weight)
            self.weight, self.unit = sampling.whole_weights(weight, facts), facts.unit
        self.total = int(self.weight.sum())

    def _draw(self, size: int) -> sampling.Sample:
        """The sample of at most so many distinct rows."""

        def over_rows(make: Callable[..., Any], both: Callable[..., Any], *more: Any) -> Any:
            X, weight = self.X, self.weight
            parts = over_blocks(lambda rows: make(X[rows], weight[rows], *more), X, self.n_jobs)
            return functools.reduce(both, parts)

        sums = functools.partial(over_rows, sampling.column_sums, np.add)
        columns = sampling.column_names(over_rows(sampling.column_ends, np.maximum), sums)
        merged = functools.partial(sampling.merged, size=size)
        return over_rows(sampling.smallest_keys, merged, size, columns)

    def sample_rows(self, sample: sampling.Sample) -> RowsInMemory:
        """The rows of a sample: in memory as well."""
        return RowsInMemory(sample.X, sample.weight, self.n_jobs)

    def count_distinct(self, enough: int) -> int:
        """Number of distinct rows, counted no further than ``enough``."""
        found = 0
        for rows in (self.X[: HEAD * enough], self.X):  # mostly the first rows are enough
            found = found if found >= enough else len(np.unique(sampling.row_keys(rows)))
        return min(enough, found)

    def few(self, apart: bool = False) -> tuple[Matrix, np.ndarray | None]:
        """The rows as they are, with weights that add up to the same in any order."""
        return self.X, None if self._given is None else self.weight * self.unit

    def spread(self, found: RowFacts, unseen: Any = None) -> RowFacts:
        """The same: results already cover all rows."""
        return found

    def nearest_mean(self, Z: np.ndarray, R: np.ndarray) -> np.ndarray:
        """The nearest row of R for each row of Z, the first in a tie."""
        return lloyd.nearest_mean(Z, R, effective_n_jobs(self.n_jobs))

    def link(self, fitted: Representatives, report: Report | None = None) -> Linked:
        """One pass over the rows: the links of each, and what they add up to."""
        X, weight, p = self.X, self.weight, len(fitted.R)
        search = links.make_search(fitted.R, fitted.metric)

        def block(rows: slice) -> tuple[links.RowLinks, links.LinkSums]:
            Z = as_points(fitted.frame, X[rows])
            found = links.link_rows(search, Z, fitted.n_links, fitted.width)
            return found, links.link_sums(found, weight[rows], p)

        parts, total = [], links.no_sums(p)
        for found, sums in over_blocks(block, X, self.n_jobs, report, fitted.n_links):
            # A row's strengths are in the sums now; only its shares are needed for its label.
            parts.append((found.idx, found.share, found.reach))
            total = links.add(total, sums)
        idx, share, reach = (np.concatenate(part) for part in zip(*parts, strict=True))
        return LinksInMemory(self, links.RowLinks(idx, None, share, reach), p), total


class LinksInMemory(LinkedRows):
    """The links of rows."""

    def __init__(self, source: RowsInMemory, rows: links.RowLinks, p: int):
        """Keep them; p is the number of representatives."""
        self.source, self.rows, self.p, self.n_links = source, rows, p, rows.idx.shape[1]

    def _each(self, function: Callable[[links.RowLinks], Found]) -> Iterator[Found]:
        """Results of a function for the links of each block of rows."""
        idx, _, share, reach = self.rows

        def block(part: slice) -> Found:
            return function(links.RowLinks(idx[part], None, share[part], reach[part]))

        return over_blocks(block, idx, self.source.n_jobs)

    def sizes(self, labels: np.ndarray, n_votes: int) -> np.ndarray:
        """The sizes of labels that representatives have."""
        found = self._each(lambda rows: row_votes(rows, labels, n_votes)[0])
        return weigh(np.concatenate(list(found)), self.source.weight, int(labels.max()) + 1)

    def facts(self, fitted: Representatives, mark: int | None = None) -> RowFacts:
        """Facts of each row, once representatives have labels."""
        facts = self._each(lambda rows: row_facts(fitted, rows, mark, self.source.dtype))
        parts = zip(*facts, strict=True)
        return RowFacts(*(None if part[0] is None else np.concatenate(part) for part in parts))

    def first_votes(self, labels: np.ndarray, c: int) -> np.ndarray:
        """How far each representative is held by rows of each label, of shape (p, c)."""
        votes = np.zeros((self.p, c), dtype=np.int64)
        np.add.at(votes, (self.rows.idx, labels[:, None]), self.rows.share)
        return votes


def row_votes(
    rows: links.RowLinks, labels: np.ndarray, n_votes: int
) -> tuple[np.ndarray, np.ndarray]:
    """The label with most of each row's weight, the lowest in a tie, and its share.

    The nearest ``n_votes`` of its links have a vote.
    """
    votes = links.votes(rows, labels, n_votes)
    return votes.argmax(axis=1), votes.max(axis=1) / votes.sum(axis=1)


def weigh(found: np.ndarray, weight: np.ndarray, c: int) -> np.ndarray:
    """The weight of the rows of each of c labels, in whole numbers.

    Examples
    --------
    >>> weigh(np.array([1, 0, 1]), np.array([5, 1, 0]), 2)
    array([1, 5])
    """
    return np.bincount(found, weight, c).astype(np.int64)


def row_facts(
    fitted: Representatives, rows: links.RowLinks, mark: int | None, dtype: Any
) -> RowFacts:
    """Labels of rows by their links, how far they belong to them, and who is an outlier."""
    labels, membership = row_votes(rows, fitted.labels, fitted.n_votes)
    if fitted.reach is None or fitted.stray is None:
        return RowFacts(labels, membership)
    score = outlier_scores.row_scores(fitted, rows)
    stray, _ = row_votes(rows, fitted.stray.astype(np.int64), fitted.n_votes)
    apart = (score > outliers.OUTLYING) | (stray == 1)
    own = outliers.discount(membership, score, int(fitted.labels.max()) + 1)
    if mark is not None:
        labels[apart] = mark
    return RowFacts(labels, own.astype(dtype), score.astype(dtype), apart)
