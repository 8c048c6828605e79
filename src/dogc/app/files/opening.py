"""Files that can be read: found, told apart by their first bytes, unpacked where they must be."""

from __future__ import annotations

import contextlib
import difflib
import glob
import gzip
import os
import pathlib
import re
import stat
import sys
import zlib
from typing import Any, NamedTuple

from ..._words import shown
from ...encoding.errors import TableError

FORMATS = "CSV, TSV, Parquet, Feather, .npy, .npz, .xlsx, or one of these with gzip"
STANDARD_INPUT = "standard input"
SAMPLE = 1 << 16  # bytes that tell what a file is; more are looked at only where rows are long
# Contents that are packed more tightly than this are a trap rather than a table, where they are
# many.
TIGHT, MANY = 200, 1 << 30

_TABLES = {  # what a file begins with that can be read
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"\x1f\x8b": "gzip",
}
_PACKED = "compressed in another way than by gzip; unpack it"
_UTF = "UTF-{0} text; save it as UTF-8, say with iconv -f UTF-{0} -t UTF-8"
_OTHERS = {  # what a file begins with that cannot
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as .xlsx or CSV",
    **dict.fromkeys([b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"], _PACKED),
    b"SQLite format 3": "a database; export the table as CSV",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"%PDF": "a PDF file; save the table as CSV",
    **dict.fromkeys([b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"],
                    "a pickle, which is never opened; save the table as Parquet or CSV"),
    # Of two marks that begin alike the longer comes first.
    **dict.fromkeys([b"\xff\xfe\0\0", b"\0\0\xfe\xff"], _UTF.format(32)),
    **dict.fromkeys([b"\xff\xfe", b"\xfe\xff"], _UTF.format(16)),
}  # fmt: skip
_NAMES = {".parquet": "Parquet", ".pq": "Parquet", ".feather": "Feather", ".arrow": "Feather",
          ".npy": ".npy", ".npz": ".npz"}  # fmt: skip
_MARKUP = re.compile(
    r"""<(!--|(!doctype|\?xml|html|head|body|script|svg|table)\b)|\[\s*[\[{"]|\{\s*"[^"]*":"""
    r"""|[\[{]\s*$""",
    re.I,
)
_LONGEST_PATH, _LOOKED_AT = 200, 1000
_WITH_ARRAY = re.compile(r"(.+\.(?:npz|xlsx)(?:\.gz)?):(.+)", re.I | re.S)
_BLOCK = 1 << 20


class File(NamedTuple):
    """A file on disk that can be read as often as needed: itself, or its unpacked copy."""

    path: pathlib.Path
    kind: str  # "text", "parquet", "feather", "npy" or "npz", which .xlsx is too
    source: str  # the name for people
    suffix: str  # in small letters, without .gz; "" on standard input
    array: str | None = None  # the one to read of several in it, if it is named
    flat: bool = False  # whether an array of more than two dimensions is made one of two


def matching(path: str) -> list[str]:
    """The files that a pattern stands for, in the order of their names; others are themselves.

    Raises
    ------
    TableError
        Where there is nothing to read.
    """
    name, _ = split_array(path)
    if path != "-" and glob.has_magic(name) and not os.path.lexists(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not found:
            raise TableError(f"no file matches {name}; look at the folder, or name a file.")
        return found
    try:
        if path != "-" and stat.S_ISDIR(os.stat(name).st_mode):
            raise IsADirectoryError
    except (OSError, ValueError) as error:
        raise _not_opened(name, error) from error
    return [path]


def split_array(path: str) -> tuple[str, str | None]:
    """A path and the name of an array or a sheet behind it: data.npz:X, book.xlsx:May.

    Examples
    --------
    >>> split_array("data.npz:X"), split_array("rows.csv")
    (('data.npz', 'X'), ('rows.csv', None))
    """
    found = _WITH_ARRAY.fullmatch(path)
    return (path, None) if found is None or os.path.lexists(path) else (found[1], found[2])


def named(files: list[str]) -> str:
    """Title of some files: the name of one, or of the first and last.

    Examples
    --------
    >>> named(["x/a.csv"]), named(["a.csv", "b.csv", "c.csv"]), named(["-"])
    ('a.csv', '3 files (a.csv to c.csv)', 'standard input')
    """
    if files == ["-"]:
        return STANDARD_INPUT
    names = [shown(pathlib.PurePath(split_array(path)[0]).name) for path in files]
    return names[0] if len(names) == 1 else f"{len(names):,} files ({names[0]} to {names[-1]})"


def opened_file(path: str, folder: pathlib.Path, digest: Any) -> File:
    """Tell what a file is, and copy it to a folder where it cannot be read again as it stands.

    Parameters
    ----------
    path : str
        The file, or "-" for standard input.
    folder : pathlib.Path
        For what comes from standard input, from a pipe, or unpacked from gzip data.
    digest : object of hashlib
        Gets the bytes of the file as it stands.
    """
    name, array = split_array(path)
    place = pathlib.Path(name)
    packed = place.suffix.lower() == ".gz"
    suffix = "" if path == "-" else (place.with_suffix("") if packed else place).suffix.lower()
    source = STANDARD_INPUT if path == "-" else shown(name, _LONGEST_PATH)
    with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(name, "rb") as stream:
        head = stream.read(SAMPLE)
        file = File(place, "", source, suffix, array)
        file = file._replace(kind=_kind_of(head, file))
        copied = path == "-" or not place.is_file()
        target = folder / f"{len(os.listdir(folder))}.copy" if copied else pathlib.Path(os.devnull)
        with open(target, "wb") as copy:
            while head:
                digest.update(head)
                copy.write(head)
                head = stream.read(_BLOCK)
    file = file._replace(path=target) if copied else file
    if packed and file.kind != "gzip":
        raise TableError(f"{source} is not gzip data, or it is damaged; write it again.")
    file = _unpacked(file, folder) if file.kind == "gzip" else file
    if array is not None and file.kind != "npz":
        raise TableError(f"{source} holds one table; leave '{shown(array)}' out (--array).")
    return file


def _unpacked(file: File, folder: pathlib.Path) -> File:
    """The contents of gzip data, in the folder."""
    target, size = folder / f"{len(os.listdir(folder))}.copy", os.path.getsize(file.path)
    try:
        with gzip.open(file.path) as stream, open(target, "wb") as copy:
            head = stream.read(SAMPLE)
            kind = _kind_of(head, file)
            while head:
                copy.write(head)
                check_tight(copy.tell(), size, file.source)
                head = stream.read(_BLOCK)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(
            f"{file.source} is damaged: its gzip data cannot be unpacked; compress it again."
        ) from error
    if kind == "gzip":
        raise not_text(file, "it is compressed twice")
    return file._replace(path=target, kind=kind)


def check_tight(size: int, packed: int, source: str) -> None:
    """Refuse contents that take far more room than the file they are packed in."""
    if size > max(MANY, TIGHT * packed):
        raise TableError(
            f"{source} unpacks to more than {TIGHT} times its size; unpack it, if it is a table."
        )


def _not_opened(path: str, error: Exception) -> TableError:
    """Error for a path that cannot be opened, with a file beside it that was perhaps meant."""
    name = shown(path, _LONGEST_PATH)
    if isinstance(error, FileNotFoundError):
        folder, last = os.path.split(path)
        beside = os.listdir(folder or ".")[:_LOOKED_AT] if os.path.isdir(folder or ".") else []
        close = difflib.get_close_matches(last, beside, 1, 0.8)
        close = [shown(os.path.join(folder, like), _LONGEST_PATH) for like in close]
        return TableError(
            f"there is no file {name}{f' (did you mean {close[0]}?)' if close else ''}."
        )
    if isinstance(error, IsADirectoryError):
        return TableError(
            f"{name} is a directory; give a file, or a pattern in quotes such as '*.csv'."
        )
    return TableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.")


def _kind_of(head: bytes, file: File) -> str:
    """Say from its first bytes, then its name, what a file is; "gzip" is to be unpacked."""
    for magic, kind in _TABLES.items():
        if head.startswith(magic):
            return kind
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise TableError(f"{file.source} is {what}.")
    if not head.strip():
        what = "is empty" if len(head) < _LOOKED_AT else "contains only blanks at the start"
        raise TableError(f"{file.source} {what}; give a table with rows.")
    if file.suffix in _NAMES:
        raise TableError(
            f"{file.source} is not a {_NAMES[file.suffix]} file, or it is damaged; write it again."
        )
    if b"\0" in head:
        raise not_text(file, "it has a NUL byte")
    text = head.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    if _MARKUP.match(text):
        raise TableError(f"{file.source} looks like JSON or HTML; give {FORMATS}.")
    return "text"


def not_text(file: File, reason: str) -> TableError:
    """Error for bytes that are no text, or in no encoding that is read."""
    return TableError(
        f"{file.source} is not in a format that can be read here ({reason}); give {FORMATS}."
    )
