"""Tables from files: read as a whole, or some rows at a time."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from .arff import is_arff, parse_arff
from .binary import read_feather, read_npy, read_npz, read_parquet, stream_parquet
from .opening import Origin, check_text, kind_of, opened, origin_of, unpacked
from .sniffing import SAMPLE
from .table import Table, TableError, needed
from .text import parse_text, stream_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Table", "TableError", "read_chunks", "read_table"]

_BINARY = {
    "parquet": read_parquet,
    "feather": read_feather,
    "npy": read_npy,
    "npz": read_npz,
}


def read_table(path: str) -> Table:
    """Read a table from a file.

    CSV and other text (separated by commas, tabs, semicolons or ``|``, with or without names
    in the first row; both are found out), Parquet, Feather, ARFF, ``.npy`` and ``.npz`` of one
    two-dimensional array, and each of these with gzip.

    Parameters
    ----------
    path : str
        The file; "-" for standard input.

    Returns
    -------
    table : Table
        Its frame holds what the file holds: text as it was written, and numbers. Columns
        without names are called c1, c2, ... Missing numbers are NaN.

    Raises
    ------
    TableError
        Where the file cannot be read as a table, in one sentence that says why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from dogc.app.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "shop.csv")
    ...     _ = path.write_bytes(b"customer;spent\\n007;12.5\\n008;3\\n")
    ...     table = read_table(str(path))
    >>> table.source, list(table.frame["customer"]), list(table.frame["spent"])
    ('shop.csv', ['007', '008'], [12.5, 3.0])
    """
    _check_installed()
    origin = origin_of(path)
    with opened(path) as file:
        data = file.read()
    frame = _frame(data, origin)
    return _checked(Table(frame, origin.source, hashlib.sha256(data).hexdigest()))


def read_chunks(path: str, rows: int) -> Iterator[Table]:
    """Read a table some rows at a time, so that it may be larger than memory.

    Text files and Parquet are streamed; other files come in one piece.

    Parameters
    ----------
    path : str
        The file; "-" for standard input.
    rows : int
        How many rows a piece has at most.

    Yields
    ------
    table : Table
        The next rows. Its ``sha256`` is of the bytes read so far: the last is the file's.
    """
    _check_installed()
    if rows < 1:
        raise ValueError(f"rows must be at least 1; got {rows}.")
    origin = origin_of(path)
    with opened(path) as file:
        hashing = _Hashing(file)
        head = hashing.read(SAMPLE)
        waiting, start = None, 0
        for frame in _frames(path, hashing, head, origin, rows):
            if waiting is not None:
                yield _checked(Table(waiting, origin.source, hashing.hexdigest()))
            # Rows are numbered through, so that a message can say which one is wrong.
            waiting = frame.set_axis(range(start, start + len(frame)), axis=0)
            start += len(frame)
        while hashing.read(1 << 20):
            pass
        if waiting is None:
            raise TableError(f"{origin.source} has no rows; give a table with some.")
        yield _checked(Table(waiting, origin.source, hashing.hexdigest()))


def _frames(
    path: str, file: _Hashing, head: bytes, origin: Origin, rows: int
) -> Iterator[pandas.DataFrame]:
    kind = kind_of(head, origin)
    stream: Any = file
    if origin.gzipped and kind != "gzip":
        raise _not_gzip(origin)
    if kind == "gzip":
        origin = origin._replace(gzipped=False)  # from here on
        stream = unpacked(_Rejoined(head, file), origin.source)  # type: ignore[arg-type]
        head = stream.read(SAMPLE)
        kind = kind_of(head, origin)
        if kind == "gzip":
            raise _twice(origin)
    if kind == "parquet" and stream is file and pathlib.Path(path).is_file():
        yield from stream_parquet(pathlib.Path(path), origin, rows)
    elif kind != "text" or is_arff(head.decode("utf-8", "replace"), origin):
        yield _frame(head + stream.read(), origin)
    else:
        for table in stream_text(stream, head, origin, rows):
            yield table.to_pandas()


def _frame(data: bytes, origin: Origin) -> pandas.DataFrame:
    """The frame in the bytes of a file of any kind."""
    kind = kind_of(data[:SAMPLE], origin)
    if kind == "gzip":
        data = unpacked(data, origin.source).read()
        kind = kind_of(data[:SAMPLE], origin)
        if kind == "gzip":
            raise _twice(origin)
    elif origin.gzipped:
        raise _not_gzip(origin)
    if kind != "text":
        return _BINARY[kind](data, origin)
    text = check_text(data, origin)
    if is_arff(text, origin):
        return parse_arff(text, origin)
    return parse_text(data, text, origin).to_pandas()


def _twice(origin: Origin) -> TableError:
    return TableError(f"{origin.source} is compressed twice; unpack it once.")


def _not_gzip(origin: Origin) -> TableError:
    return TableError(f"{origin.source} is not gzip data, or it is damaged; write it again.")


def _checked(table: Table) -> Table:
    if not len(table.frame):
        raise TableError(f"{table.source} has no rows; give a table with some.")
    return table


def _check_installed() -> None:
    needed("pandas")
    needed("pyarrow")


class _Hashing:
    """A file of bytes that remembers the hash of what was read."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class _Rejoined:
    """A file whose first bytes were read already."""

    def __init__(self, head: bytes, rest: _Hashing):
        self._head = head
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._rest.read(size)
        size = len(self._head) if size < 0 else size
        data, self._head = self._head[:size], self._head[size:]
        return data
