"""Tables of one or several files, read chunk by chunk as often as needed."""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...encoding.errors import TableError, check_memory, needed
from .arrays import read_npy, read_npz
from .arrow_files import frame_of_arrow, parquet_tables, read_feather
from .celltypes import Cells, as_kind, look_at
from .opening import File, matching, named, opened_file
from .text import text_tables

if TYPE_CHECKING:
    import pandas

_WHOLE = {"feather": read_feather, "npy": read_npy, "npz": read_npz}
_CHUNKED: dict[str, Callable[[Sequence[File]], Iterator[Any]]] = {
    "text": text_tables, "parquet": parquet_tables,
}  # fmt: skip


SMALL = 1 << 24  # bytes of a table, as read, up to which it stays in memory


class Table(NamedTuple):
    """A table of any size, in memory or read chunk by chunk.

    Parameters
    ----------
    names : list of str
        Of the columns.
    rows : int
        Their number.
    source : str
        The name of the file for people, or "standard input".
    sha256 : str
        Of the bytes that were read.
    chunks : callable
        Gives the rows in order as frames, numbered from 0. Text is as it was written; a column of
        text files is numbers only where the numbers say the same as the text.
    in_memory : bool
        Whether all rows are one frame in memory.
    """

    names: list[str]
    rows: int
    source: str
    sha256: str
    chunks: Callable[[], Iterator[pandas.DataFrame]]
    in_memory: bool

    @classmethod
    def of(cls, frame: pandas.DataFrame, source: str, sha256: str) -> Table:
        """A frame as a table."""
        names = list(frame.columns)
        return cls(names, len(frame), source, sha256, lambda: iter([frame]), in_memory=True)

    @property
    def frame(self) -> pandas.DataFrame:
        """All rows in memory."""
        frames = list(self.chunks())
        return frames[0] if self.in_memory else needed("pandas").concat(frames)


@contextlib.contextmanager
def open_table(
    path: str,
    watch: Callable[[str, int, int | None], None] = lambda what, rows, total: None,
    flat: bool = False,
) -> Iterator[Table]:
    """Open a table of any size in a file, or in all files that a pattern stands for.

    CSV and other text (separated by commas, tabs, semicolons or ``|``, with or without names
    in the first row; both are found out), Parquet, Feather, ``.npy`` and ``.npz`` of
    two-dimensional arrays, Excel (``.xlsx``), and each of these with gzip. Text and Parquet are
    read in chunks; what comes from standard input or is packed is copied to a temporary folder.

    Parameters
    ----------
    path : str
        The file or pattern; "-" for standard input. ``data.npz:X`` is the array X of a file of
        several, ``book.xlsx:May`` the sheet May.
    watch : callable
        Told what is being done, and to how many more rows it was done.
    flat : bool
        Whether an array of more than two dimensions is read as one row for each sample.

    Raises
    ------
    TableError
        Where it cannot be read as a table, in one sentence that says why.
    """
    needed("pandas")
    needed("pyarrow")
    paths = matching(path)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(prefix="dogc-") as folder:
        files = [
            opened_file(path, pathlib.Path(folder), digest)._replace(flat=flat) for path in paths
        ]
        kinds, kind = {file.kind for file in files}, files[0].kind
        if len(files) > 1 and (len(kinds) > 1 or kind in _WHOLE):
            raise TableError(
                f"{named(paths)} are not all text, or all Parquet, as several files for one table "
                "must be; give files of one kind, or one alone."
            )
        if kind in _WHOLE:
            check_memory(2 * files[0].path.stat().st_size, files[0].source)
            table = Table.of(_WHOLE[kind](files[0]), named(paths), digest.hexdigest())
        else:
            table = _looked_at(
                lambda: _CHUNKED[kind](files), kind, named(paths), digest.hexdigest(), watch
            )
        if not table.rows:
            what = "has a header but no rows" if kind == "text" else "has no rows"
            raise TableError(f"{files[0].source} {what}; give a table with rows.")
        yield table


def _looked_at(
    read: Callable[[], Iterator[Any]], kind: str, source: str, sha256: str, watch: Any
) -> Table:
    """A table whose cells were looked at once; in memory if it is small."""
    arrow = needed("pyarrow")
    cells: dict[str, Cells] = {}
    kept: list[Any] = []
    names, rows, size = [], 0, 0
    for table in read():
        names, rows, size = table.column_names, rows + table.num_rows, size + table.nbytes
        kept = [*kept, table] if size <= SMALL or rows == table.num_rows else []
        for name, column in zip(names, table.columns, strict=True):
            if kind == "text" and table.num_rows:
                cells[name] = cells.get(name, Cells()).merged(look_at(column))
        watch("reading", table.num_rows, None)
    kinds = {name: found.kind() for name, found in cells.items()}
    if kept:
        return Table.of(_typed(arrow.concat_tables(kept), kinds, source), source, sha256)

    def chunks() -> Iterator[pandas.DataFrame]:
        start = 0
        for table in read():
            if table.num_rows:
                frame = _typed(table, kinds, source)
                yield frame.set_axis(range(start, start + len(frame)), axis=0)
                start += len(frame)
        if start != rows:
            raise TableError(
                f"{source} was changed while it was read; start again when no other program is "
                "writing to it."
            )

    return Table(names, rows, source, sha256, chunks, in_memory=False)


def _typed(table: Any, kinds: dict[str, str], source: str) -> pandas.DataFrame:
    """The frame of an Arrow table, its columns of text in these types."""
    columns = [
        as_kind(column, kinds.get(name, "string"))
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return frame_of_arrow(needed("pyarrow").table(columns, names=table.column_names), source)


def read_table(path: str, flat: bool = False) -> Table:
    """Read a table into memory: see :func:`~dogc.app.files.open_table`.

    Parameters
    ----------
    path : str
        The file or pattern; "-" for standard input.
    flat : bool
        Whether an array of more than two dimensions is read as one row for each sample.

    Returns
    -------
    table : Table
        Its frame holds what the file holds: text as it was written, and numbers. Columns
        without names are called c1, c2, ... Missing numbers are NaN.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from dogc.app.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "shop.csv")
    ...     _ = path.write_bytes(b"customer;spent\\n007;12.5\\n008;3\\n")
    ...     table = read_table(str(path))
    >>> table.source, list(table.frame["customer"]), list(table.frame["spent"])
    ('shop.csv', ['007', '008'], [12.5, 3.0])
    """
    with open_table(path, flat=flat) as table:
        return Table.of(table.frame, table.source, table.sha256)
