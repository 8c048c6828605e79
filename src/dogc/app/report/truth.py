"""How far the clusters agree with labels that were known beforehand."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...metrics import contingency
from ..files.clustering import Clustering, agreement
from ..files.tally import agreement_of_counts
from .groups import Groups
from .json_values import digits, short

# Classes and clusters that the table shows: the largest clusters and their classes.
MOST_SHOWN = 20


def describe_truth(clustering: Clustering, groups: Groups) -> dict | None:
    """Scores, and the table of classes and clusters in matched order; None without truth."""
    if clustering.truth is None or not len(clustering.truth):
        return None
    present = groups.shown
    if clustering.tally is None:
        names, classes = np.unique(np.asarray(clustering.truth).astype(str), return_inverse=True)
        scores = agreement(classes, groups.codes)
        table = contingency(classes, groups.codes, groups.c + 1)
    else:
        counted = clustering.tally.table()
        if counted is None:  # too many classes
            return None
        names, labels, counts = np.array(counted[0]), counted[1], counted[2]
        scores = agreement_of_counts(counts)
        table = np.zeros((len(names), groups.c + 1), dtype=np.int64)
        table[:, [groups.c if label < 0 else label for label in labels]] = counts
    order, matched = match_classes(table[:, present])
    columns = present[:MOST_SHOWN]
    return {
        "scores": {name: digits(value) for name, value in scores.items()},
        "classes_total": len(names),
        "clusters_total": len(present),
        "classes": [short(names[i], 60) for i in order],
        "clusters": [groups.name(group) for group in columns],
        "matched": [groups.name(present[matched[i]]) if i in matched else None for i in order],
        "table": table[np.ix_(order, columns)].tolist(),
    }


def match_classes(table: np.ndarray) -> tuple[list[int], dict[int, int]]:
    """The classes to show in order, and the column of each that is matched.

    Matched classes stand in the order of their clusters, then the others by their commonest.

    Examples
    --------
    >>> import numpy as np
    >>> match_classes(np.array([[0, 5], [2, 4], [7, 0]]))
    ([2, 0, 1], {0: 1, 2: 0})
    """
    rows, columns = linear_sum_assignment(-table)
    place, unmatched = table.argmax(axis=1), np.ones(len(table), dtype=bool)
    place[rows], unmatched[rows] = columns, False
    order = np.lexsort((place, unmatched))[:MOST_SHOWN]
    return order.tolist(), dict(zip(rows.tolist(), columns.tolist(), strict=True))
