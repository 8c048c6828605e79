"""Parts of one or several files, each small enough to be read at once, anywhere.

A part is a few numbers and names, so that it can be sent to another process. All parts of the
same files give their columns the same types, as :func:`read_table` would.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from . import parquet_parts, text_parts
from .arff import is_arff
from .opening import Origin, kind_of, opened, origin_of
from .parquet_parts import ParquetPart
from .sniffing import SAMPLE
from .table import TableError
from .text_parts import TextPart
from .workers import Watch, Workers, unwatched

Part = TextPart | ParquetPart


class Parts(NamedTuple):
    """The rows of one or several files, in parts."""

    parts: list[Part]  # in the order of the rows
    source: str  # for people
    sha256: str  # of the bytes of all files, one after the other

    @property
    def rows(self) -> int:
        """Of all parts."""
        return self.parts[-1].first_row + self.parts[-1].rows

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return list(self.parts[0].names)


def can_be_cut(path: str) -> bool:
    """Whether a file is text or Parquet, which can be read in parts."""
    return _kind(path) is not None


def _kind(path: str) -> str | None:
    """ "text" or "parquet", None for what is read as a whole."""
    if path == "-":
        return None
    origin = origin_of(path)
    with opened(path) as file:
        head = file.read(SAMPLE)
    kind = kind_of(head, origin)
    if kind == "text" and is_arff(head.decode("utf-8", "replace"), origin):
        return None
    return kind if kind in ("text", "parquet") else None


def find_parts(
    paths: Sequence[str], source: str, workers: Workers, watch: Watch = unwatched
) -> Parts:
    """Cut files into parts, and decide what their columns hold.

    Parameters
    ----------
    paths : sequence of str
        The files, all text or all Parquet, with the same columns.
    source : str
        What to call them.
    workers : Workers
        Who reads the parts.
    watch : callable, default=None
        Told after each part what is being done, and to how many rows it was done now.

    Raises
    ------
    TableError
        Where the files do not belong together, or one of them is no table.
    """
    kinds = {path: _kind(path) for path in paths}
    for path, kind in kinds.items():
        if kind is None:
            raise TableError(
                f"{origin_of(path).source} is neither text nor Parquet, which are what can be "
                "read in parts; convert it, or give it alone."
            )
        if kind != kinds[paths[0]]:
            raise TableError(
                f"{origin_of(paths[0]).source} and {origin_of(path).source} are not of the same "
                "kind; give files that are all text or all Parquet."
            )
    files = [(str(pathlib.Path(path).absolute()), origin_of(path)) for path in paths]
    digest = hashlib.sha256()
    if kinds[paths[0]] == "parquet":
        parts = _parquet(files, digest)
    else:
        parts = _text(files, digest, workers, watch)
    if not parts:
        raise TableError(f"{source} has no rows; give a table with some.")
    return Parts(parts, source, digest.hexdigest())


def _parquet(files: Sequence[tuple[str, Origin]], digest: Any) -> list[Part]:
    schema = parquet_parts.common_schema(files)
    cut = [part for path, origin in files for part in parquet_parts.cut(path, origin, schema)]
    for path, _ in files:
        with open(path, "rb") as file:
            while block := file.read(1 << 24):
                digest.update(block)
    return numbered(cut)


def _text(
    files: Sequence[tuple[str, Origin]], digest: Any, workers: Workers, watch: Watch
) -> list[Part]:
    form = text_parts.form_of(*files[0])
    cut: Iterator[TextPart] = (
        part for path, origin in files for part in text_parts.cut(path, origin, form, digest)
    )
    found: list[TextPart] = []

    def remembered() -> Iterator[TextPart]:
        for part in cut:
            found.append(part)
            yield part

    looks: list[text_parts.Look] = []
    for look in workers.in_order(text_parts.look, remembered()):
        looks.append(look)
        watch("reading", look.rows, None)
    parts = [part._replace(rows=look.rows) for part, look in zip(found, looks, strict=True)]
    cells = [look.cells for look in looks if look.rows]
    if not cells:
        raise TableError(f"{files[0][1].source} has a header but no rows; give a table with rows.")
    merged = functools.reduce(text_parts.merge_cells, cells)
    form = form._replace(kinds=tuple(cell.kind() for cell in merged))
    return numbered([part._replace(form=form) for part in parts])


def numbered(parts: Sequence[Part]) -> list[Part]:
    """Parts that have rows, with the number of the first row of each."""
    found: list[Part] = []
    start = 0
    for part in parts:
        if part.rows:
            found.append(part._replace(first_row=start))
            start += part.rows
    return found
