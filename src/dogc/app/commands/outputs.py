"""Where a command may write, found out before anything is read, and how it does so."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..._atomic import NO_FILE, check_writable, clear_leftovers, draft_of, drafts_in
from ..tables import TableError
from .csv_rows import CsvRows


class Output(NamedTuple):
    """What was named as ``--out``, a file or a folder, and what may be done there."""

    path: pathlib.Path
    force: bool = False  # write over what is there
    raw: bool = False  # write cells as they are

    def check_file(self) -> None:
        """Refuse a file that cannot be written, or that would be overwritten unasked."""
        check_writable(self.path, self.path.parent)
        if self.path.is_dir():
            raise TableError(f"{self.path} is a folder; name a file.")
        if self.path.exists() and not self.force:
            raise TableError(f"{self.path} exists already; name another file, or add --force.")
        if self.path.exists() and not self.path.is_file():
            raise TableError(f"cannot write '{self.path}': {NO_FILE}.")

    def check_folder(self, names: Sequence[str]) -> None:
        """Refuse a folder that holds files of these names, or that cannot be written to."""
        check_writable(self.path, self.path)
        if self.path.exists():
            clear_leftovers(self.path)
            self._check_names(names)

    def _check_names(self, names: Sequence[str]) -> None:
        there = [name for name in names if (self.path / name).exists()]
        if there and not self.force:
            raise TableError(
                f"--out {self.path} holds {', '.join(there)} already; name another folder, or "
                "add --force."
            )
        for name in there:
            if not (self.path / name).is_file():
                raise TableError(f"cannot write '{self.path / name}': {NO_FILE}.")

    @contextlib.contextmanager
    def rows(self) -> Iterator[CsvRows]:
        """A CSV file to add rows to; it is there once all are written."""
        with draft_of(self.path) as draft:
            with self.rows_in(draft) as file:
                yield file
            self.check_file()  # again: another run may have written it meanwhile

    @contextlib.contextmanager
    def rows_in(self, path: pathlib.Path) -> Iterator[CsvRows]:
        """The same at a path inside a draft."""
        with open(path, "wb") as file:
            yield CsvRows(file, self.raw)

    @contextlib.contextmanager
    def whole_folder(self) -> Iterator[pathlib.Path]:
        """A folder to write files into; they move to their place when all are written.

        Where another run wrote there meanwhile, its files are not written over unasked.
        """
        with drafts_in(self.path, self._check_names) as draft:
            yield draft
