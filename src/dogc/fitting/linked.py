"""From labels of representatives to labels of the rows that are linked with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics import discrete
from ..numerics.matrix import Matrix
from . import links
from .passes import over_blocks
from .representatives import Representatives, as_points


def row_votes(
    rows: links.RowLinks, labels: np.ndarray, n_votes: int | None = None, n_jobs: int | None = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The label with most of each row's weight, the lowest in a tie, and its share.

    The nearest ``n_votes`` of its links have a vote; None: all.
    """
    n, c = len(rows.idx), int(labels.max()) + 1
    found, sure = np.empty(n, dtype=np.int64), np.empty(n)

    def block(part: slice) -> None:
        idx, weight = rows.idx[part, :n_votes], rows.share[part, :n_votes]
        share = discrete.label_shares(labels[idx], weight, c)
        found[part] = share.argmax(axis=1)
        sure[part] = share.max(axis=1) / weight.sum(axis=1, dtype=np.int64)

    for _ in over_blocks(block, rows.idx, n_jobs):
        pass
    return found, sure


class LabelSizes(NamedTuple):
    """What the rows of each label weigh, and the first of them."""

    weight: np.ndarray  # (c,) whole numbers
    first: np.ndarray  # (c,) which row; NOWHERE if there is none


NOWHERE = np.iinfo(np.int64).max


def weigh(found: np.ndarray, weight: np.ndarray, c: int, start: int = 0) -> LabelSizes:
    """The sizes of c labels; the first row is number ``start``.

    Examples
    --------
    >>> import numpy as np
    >>> weigh(np.array([1, 0, 1]), np.array([5, 1, 0]), 2, start=7)
    LabelSizes(weight=array([1, 5]), first=array([8, 7]))
    """
    total, first = np.zeros(c, dtype=np.int64), np.full(c, NOWHERE)
    np.add.at(total, found, weight)
    np.minimum.at(first, found, np.arange(start, start + len(found)))
    return LabelSizes(total, first)


def both(one: LabelSizes, other: LabelSizes) -> LabelSizes:
    """The sizes of labels over the rows of both."""
    return LabelSizes(one.weight + other.weight, np.minimum(one.first, other.first))


def linked_shares(fitted: Representatives, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The share of each label in the links of new rows, of shape (n, c)."""
    search = links.make_search(fitted.R, fitted.metric)

    def block(rows: slice) -> np.ndarray:
        return _shares(fitted, search, as_points(fitted.frame, X[rows]))

    return np.concatenate(list(over_blocks(block, X, n_jobs)))


def linked_labels(fitted: Representatives, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """The label with the largest share, the lowest in a tie.

    Rows well inside a cluster are told by their nearest representatives alone.
    """
    search = links.make_search(fitted.R, fitted.metric)
    known = links.labelled(search, fitted.labels, min(fitted.n_votes, fitted.n_links))

    def block(rows: slice) -> np.ndarray:
        Z = as_points(fitted.frame, X[rows])
        labels, sure = links.surely(known, Z)
        if not sure.all():
            labels[~sure] = _shares(fitted, search, Z[~sure]).argmax(axis=1)
        return labels

    return np.concatenate(list(over_blocks(block, X, n_jobs)))


def _shares(fitted: Representatives, search: links.Search, Z: np.ndarray) -> np.ndarray:
    found = links.link_rows(search, Z, fitted.n_links, fitted.width)
    c, voters = int(fitted.labels.max()) + 1, fitted.n_votes
    votes = discrete.label_shares(fitted.labels[found.idx[:, :voters]], found.share[:, :voters], c)
    return votes / votes.sum(axis=1, keepdims=True)
