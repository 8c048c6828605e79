"""Types of fitted attributes: evidence for choices, the history of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from .fitting.auto.n_clusters import CountEvidence
from .fitting.auto.n_neighbors import ScaleChoice
from .fitting.auto.n_representatives import ResolutionChoice
from .fitting.evidence import Evidence
from .loop.solver import STOPPING_REASONS, Record

__all__ = [
    "STOPPING_REASONS",
    "CountEvidence",
    "Evidence",
    "Record",
    "ResolutionChoice",
    "ScaleChoice",
]

WIDTH = 79  # of tables that are printed
Row = TypeVar("Row", bound=tuple)


class Results(Generic[Row]):
    """Rows of a result, each a name, its labels and more; indexed by name."""

    rows: list[Row]

    @property
    def labels(self) -> dict[Any, np.ndarray]:
        """Labels by name, of the fits that succeeded."""
        return {row[0]: row[1] for row in self.rows if row[1] is not None}

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """Go over the rows."""
        return iter(self.rows)

    def __getitem__(self, name: Any) -> Row:
        """Return the row of a name."""
        for row in self.rows:
            if row[0] == name:
                return row
        raise KeyError(f"{name!r} was not tried; these were: {[row[0] for row in self.rows]}")

    def __repr__(self) -> str:
        """Return the table as text."""
        return str(self)
