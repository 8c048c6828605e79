"""Progress of a command, on the terminal."""

from __future__ import annotations

from typing import Any


class RowsDone:
    """A bar over rows for each thing that is done to them, one after the other."""

    def __init__(self, shown: bool):
        """Show bars, or nothing."""
        self.shown = shown
        self._what = ""
        self._bar: Any = None

    def __call__(self, what: str, rows: int, total: int | None = None) -> None:
        """So many rows more are done; without rows, something else shows how far it is."""
        if what != self._what:
            self.close()
            self._what = what
        if not rows or not self.shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=what, unit=" rows", unit_scale=True, leave=False)
        self._bar.update(rows)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._what = None, ""
