"""Tables from files: read as a whole, or some rows at a time."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from ..._words import shown
from .arff import is_arff, read_arff
from .binary import read_feather, read_parquet, stream_parquet
from .limits import read_whole
from .numpy_files import read_npy, read_npz
from .opening import Origin, kind_of, opened, origin_of, unpacked
from .sniffing import SAMPLE
from .table import Table, TableError, needed
from .text import read_text, stream_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Table", "TableError", "read_chunks", "read_table"]

_WHOLE = {
    "parquet": read_parquet,
    "feather": read_feather,
    "npy": read_npy,
    "npz": read_npz,
    "arff": read_arff,
}


def read_table(path: str) -> Table:
    """Read a table from a file.

    CSV and other text (separated by commas, tabs, semicolons or ``|``, with or without names
    in the first row; both are found out), Parquet, Feather, ARFF, ``.npy`` and ``.npz`` of
    two-dimensional arrays, Excel (``.xlsx``), and each of these with gzip.

    Parameters
    ----------
    path : str
        The file; "-" for standard input. ``data.npz:X`` is the array X of a file of several,
        ``book.xlsx:May`` the sheet May.

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
        hashing = _Hashing(file)
        frame = _frame(*_entered(hashing, origin))
        return _checked(frame, origin, hashing)


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
        waiting, start = None, 0
        for frame in _frames(path, hashing, origin, rows):
            if waiting is not None:
                yield _checked(waiting, origin, hashing)
            # Rows are numbered through, so that a message can say which one is wrong.
            waiting = frame.set_axis(range(start, start + len(frame)), axis=0)
            start += len(frame)
        if waiting is None:
            raise TableError(f"{origin.source} has no rows; give a table with some.")
        yield _checked(waiting, origin, hashing)


def _frames(path: str, file: _Hashing, origin: Origin, rows: int) -> Iterator[pandas.DataFrame]:
    kind, head, stream, origin = _entered(file, origin)
    if kind == "parquet" and stream is file and pathlib.Path(path).is_file():
        yield from stream_parquet(pathlib.Path(path), origin, rows)
    elif kind == "text":
        for table in stream_text(stream, head, origin, rows):
            yield table.to_pandas()
    else:
        yield _frame(kind, head, stream, origin)
    while file.read(1 << 20):  # the hash is of all bytes
        pass


def _entered(file: _Hashing, origin: Origin) -> tuple[str, bytes, Any, Origin]:
    """What kind of table a file holds, its first bytes and the others; gzip is unpacked."""
    head = file.read(SAMPLE)
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
    if origin.array is not None and kind != "npz":
        raise TableError(
            f"{origin.source} holds one table; leave '{shown(origin.array)}' out (--array)."
        )
    if kind == "text" and is_arff(head.decode("utf-8", "replace"), origin):
        kind = "arff"
    return kind, head, stream, origin


def _frame(kind: str, head: bytes, stream: Any, origin: Origin) -> pandas.DataFrame:
    """The frame of a whole file of any kind."""
    if kind == "text":
        return read_text(stream, head, origin).to_pandas()
    return _WHOLE[kind](read_whole(stream, head, origin.source), origin)


def _twice(origin: Origin) -> TableError:
    return TableError(f"{origin.source} is compressed twice; unpack it once.")


def _not_gzip(origin: Origin) -> TableError:
    return TableError(f"{origin.source} is not gzip data, or it is damaged; write it again.")


def _checked(frame: pandas.DataFrame, origin: Origin, hashing: _Hashing) -> Table:
    if not len(frame):
        raise TableError(f"{origin.source} has no rows; give a table with some.")
    return Table(frame, origin.title, hashing.hexdigest())


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
        """Of what was read so far."""
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
