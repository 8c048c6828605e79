"""Agreement of the clusters with labels that were known beforehand."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...metrics import scores_of
from ..files.tally import Tally
from .groups import OUTLIER
from .json_values import digits, short

# Classes and clusters that the table shows: the largest clusters and their classes.
MOST_SHOWN = 20


def describe_truth(counted: Tally) -> dict | None:
    """Scores, and the table of classes and clusters in matched order; None without truth."""
    found = counted.table()
    if found is None:  # or with too many classes
        return None
    names, labels, table = found
    if labels[0] == OUTLIER:  # outliers come last
        labels, table = [*labels[1:], OUTLIER], np.roll(table, -1, axis=1)
    order, matched = match_classes(table)
    scores = scores_of(table)
    shown = {"acc": "acc", "nmi": "nmi_max", "purity": "purity", "ari": "ari"}
    return {
        "scores": {name: digits(scores[key]) for name, key in shown.items()},
        "classes_total": len(names),
        "clusters_total": len(labels),
        "classes": [short(names[i], 60) for i in order],
        "clusters": labels[:MOST_SHOWN],
        "matched": [labels[matched[i]] if i in matched else None for i in order],
        "table": table[order, :MOST_SHOWN].tolist(),
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
