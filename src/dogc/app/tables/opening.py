"""From a path to bytes, and what kind of table the bytes hold."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import io
import os
import pathlib
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ..._words import shown
from .limits import check_tight
from .markup import is_markup
from .table import TableError

FORMATS = "CSV, TSV, Parquet, Feather, .npy, .npz, ARFF, or one of these with gzip"
STANDARD_INPUT = "standard input"

_TABLES = {  # what a file begins with that can be read
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"\x1f\x8b": "gzip",
}
_OTHERS = {  # what a file begins with that cannot
    b"\xd0\xcf\x11\xe0": "an Excel file; save it as CSV",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ": "compressed with xz; unpack it",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it",
    b"SQLite format 3": "a database; export the table as CSV",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"%PDF": "a PDF file; save the table as CSV",
    b"\x80\x02": "a pickle, which is never opened; save the table as Parquet or CSV",
    b"\x80\x03": "a pickle, which is never opened; save the table as Parquet or CSV",
    b"\x80\x04": "a pickle, which is never opened; save the table as Parquet or CSV",
    b"\x80\x05": "a pickle, which is never opened; save the table as Parquet or CSV",
    b"\xff\xfe\0\0": "UTF-32 text; save it as UTF-8, say with iconv -f UTF-32 -t UTF-8",
    b"\0\0\xfe\xff": "UTF-32 text; save it as UTF-8, say with iconv -f UTF-32 -t UTF-8",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8, say with iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8, say with iconv -f UTF-16 -t UTF-8",
}
_BINARY_NAMES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npy": "npy",
    ".npz": "npz",
}
_DISPLAY = {"parquet": "Parquet", "feather": "Feather", "npy": ".npy", "npz": ".npz"}
_LONGEST_PATH, _LOOKED_AT = 200, 1000
_WITH_ARRAY = re.compile(r"(.+\.(?:npz|xlsx)(?:\.gz)?):(.+)", re.I | re.S)
_MOST_LETTERS = 1 << 22
_TEXT_NAMES = {"", ".csv", ".tsv", ".txt", ".tab", ".data", ".dat", ".arff", ".psv"}


class Origin(NamedTuple):
    """Where bytes come from: the name for people and the ending that says what they may be."""

    source: str
    suffix: str  # in small letters, without .gz; "" on standard input
    gzipped: bool = False  # by name
    array: str | None = None  # the one to read of several in a file, if it is named

    @property
    def title(self) -> str:
        """The name without its folder, for reports."""
        return shown(pathlib.PurePath(self.source).name)


def origin_of(path: str) -> Origin:
    """The name for people and the ending of a path."""
    if path == "-":
        return Origin(STANDARD_INPUT, "")
    path, array = split_array(path)
    name = pathlib.Path(path)
    gzipped = name.suffix.lower() == ".gz"
    inner = name.with_suffix("") if gzipped else name
    return Origin(shown(path, _LONGEST_PATH), inner.suffix.lower(), gzipped, array)


def split_array(path: str) -> tuple[str, str | None]:
    """A path and the name of an array or a sheet behind it: data.npz:X, book.xlsx:May.

    Examples
    --------
    >>> split_array("data.npz:X"), split_array("rows.csv")
    (('data.npz', 'X'), ('rows.csv', None))
    """
    found = _WITH_ARRAY.fullmatch(path)
    return (path, None) if found is None or os.path.lexists(path) else (found[1], found[2])


@contextlib.contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a path, or standard input for "-", to read bytes.

    Raises
    ------
    TableError
        Where it cannot be opened or read, in one sentence.
    """
    if path == "-":
        if sys.stdin is None:
            raise TableError(f"there is no {STANDARD_INPUT}; give a file.")
        yield sys.stdin.buffer
        return
    path, _ = split_array(path)
    try:
        with open(path, "rb") as file:
            yield file
    except TableError:
        raise
    except MemoryError as error:
        raise TableError(
            f"{shown(path)} needs more memory than is free; give fewer rows."
        ) from error
    except (OSError, ValueError) as error:
        raise _not_opened(path, error) from error


def check_there(path: str) -> None:
    """Refuse a path at which there is nothing to read, before anything else is done."""
    path, _ = split_array(path)
    try:
        if path != "-" and stat.S_ISDIR(os.stat(path).st_mode):
            raise IsADirectoryError
    except (OSError, ValueError) as error:
        raise _not_opened(path, error) from error


def _not_opened(path: str, error: Exception) -> TableError:
    """Why a path cannot be opened or read."""
    name = shown(path, _LONGEST_PATH)
    if isinstance(error, FileNotFoundError) and os.path.islink(path):
        return TableError(
            f"{name} is a link to {shown(os.readlink(path), _LONGEST_PATH)}, which does not exist."
        )
    if isinstance(error, FileNotFoundError):
        return TableError(f"there is no file {name}{_meant(path)}.")
    if isinstance(error, IsADirectoryError):
        return TableError(
            f"{name} is a directory; give a file, or a pattern in quotes such as '*.csv'."
        )
    if isinstance(error, PermissionError):
        return TableError(f"{name} may not be read; change its permissions.")
    return TableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.")


def stamp_of(path: str) -> tuple[int, int]:
    """The size of a file and when it was written."""
    facts = os.stat(path)
    return facts.st_size, facts.st_mtime_ns


def check_unchanged(path: str, stamp: tuple[int, int], source: str) -> None:
    """Refuse a file that is not what it was when it was cut into parts."""
    try:
        same = stamp_of(path) == stamp
    except OSError:
        same = False
    if not same:
        raise TableError(
            f"{source} was changed or removed while it was read; start again when no other "
            "program is writing to it."
        )


def _meant(path: str) -> str:
    """A file beside the one that is not there whose name is much like it."""
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError):
        beside = os.listdir(folder or ".")[:_LOOKED_AT]
        close = difflib.get_close_matches(name, beside, 1, 0.8)
        if close:
            return f" (did you mean {shown(os.path.join(folder, close[0]), _LONGEST_PATH)}?)"
    return ""


def kind_of(head: bytes, origin: Origin) -> str:
    """Say from its first bytes, then its name, what a file is.

    Returns
    -------
    str
        "parquet", "feather", "npy", "npz", "gzip" or "text".
    """
    for magic, kind in _TABLES.items():
        if head.startswith(magic):
            return kind
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise TableError(f"{origin.source} is {what}.")
    if not head.strip():
        what = "is empty" if len(head) < _LOOKED_AT else "contains only blanks at the start"
        raise TableError(f"{origin.source} {what}; give a table with rows.")
    if origin.suffix in _BINARY_NAMES:
        kind = _DISPLAY[_BINARY_NAMES[origin.suffix]]
        raise TableError(f"{origin.source} is not a {kind} file, or it is damaged; write it again.")
    if (place := head.find(b"\0")) >= 0:
        raise not_text(origin, f"it has a NUL byte at byte {place + 1}")
    if is_markup(head.decode("utf-8", "replace"), origin.suffix):
        raise TableError(f"{origin.source} looks like JSON or HTML; give {FORMATS}.")
    return "text"


def unpacked(stream: BinaryIO | bytes, source: str) -> BinaryIO:
    """The contents of gzip data; damage is told in one sentence."""
    raw = io.BytesIO(stream) if isinstance(stream, bytes) else stream
    return _Unpacked(raw, source)  # type: ignore[return-value]


class _Unpacked:
    """gzip.GzipFile whose complaints are sentences."""

    def __init__(self, raw: BinaryIO, source: str):
        self._raw = _Counted(raw)
        self._file = gzip.GzipFile(fileobj=self._raw)  # type: ignore[call-overload]
        self._source = source
        self._bytes = 0

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(
                f"{self._source} is damaged: its gzip data cannot be unpacked; compress it again."
            ) from (error)
        self._bytes += len(data)
        check_tight(self._bytes, self._raw.bytes, self._source)
        return data


class _Counted:
    """A file that counts the bytes that were read."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.bytes = self._letters = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.bytes += len(data)
        self._letters += size == 1
        if self._letters > _MOST_LETTERS:
            raise OSError("a name without end, which gzip reads letter by letter")
        return data


def check_text(data: bytes, origin: Origin) -> str:
    """Decode text, which must be UTF-8 without NUL bytes; nothing else is tried."""
    place = data.find(b"\0")
    if place >= 0:
        raise not_text(origin, f"it has a NUL byte at byte {place + 1}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(origin, error.start + 1, data.count(b"\n", 0, error.start) + 1) from error


def not_text(origin: Origin, reason: str) -> TableError:
    """The error for bytes that are no text."""
    if origin.suffix in _TEXT_NAMES:
        return TableError(f"{origin.source} is not a text file ({reason}); give {FORMATS}.")
    return TableError(f"{origin.source} is not in a format that can be read here; give {FORMATS}.")


def not_utf8(origin: Origin, byte: int, line: int) -> TableError:
    """The error for text in another encoding."""
    if origin.suffix not in _TEXT_NAMES:
        return not_text(origin, "")
    return TableError(
        f"{origin.source} is not UTF-8 text (byte {byte}, in line {line}); convert it, "
        "say with iconv -f LATIN1 -t UTF-8."
    )
