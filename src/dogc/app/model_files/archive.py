"""The zip archive that a model file is, read within bounds.

A file may come from anybody. Nothing here trusts what it says of itself: names, sizes, offsets and
the heads of arrays are compared with what is there before anything is made of them.
"""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from typing import Any

import numpy as np

SCHEMA, HEADER = "schema.json", "dogc.json"

# What the entries of a file may unpack to, in bytes: so much, or so many times the file.
MOST_BYTES, MOST_TIMES = 1 << 28, 20
# Bytes, values and levels of a JSON text; digits of a whole number.
MOST_TEXT, MOST_VALUES, MOST_LEVELS, MOST_DIGITS = 1 << 26, 4_000_000, 200, 20
_NAME = re.compile(r"[\w-]{1,80}\.(npy|npz|bin|json)", re.ASCII)
_ENCRYPTED, _LOCAL_HEADER = 1, 30
# Numbers, yes and no, text and dates; nothing that would be made by running code.
_DTYPES = "biufcSUmM"


class Misfit(ValueError):
    """What is wrong with a file, in words that fit into a sentence."""


def read_entries(data: bytes) -> dict[str, bytes]:
    """The entries of an archive by their names, each as long as it says."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        _check_entries(entries, len(data))
        found = {entry.filename: _content(archive, entry) for entry in entries}
    for name, content in found.items():
        if name.endswith(".npy"):
            check_array(content)
    return found


def may_unpack(size: int) -> int:
    """How many bytes the entries of a file of this size may have together."""
    return max(MOST_BYTES, MOST_TIMES * size)


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> None:
    if len({entry.filename for entry in entries}) < len(entries):
        raise Misfit("it has two entries with the same name")
    if sum(entry.file_size for entry in entries) > may_unpack(size):
        raise Misfit(f"its entries unpack to more than {may_unpack(size) >> 20} MB")
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if not _NAME.fullmatch(entry.filename):
            raise Misfit("it has an entry that does not belong in a model file")
        if entry.flag_bits & _ENCRYPTED:
            raise Misfit("it has an encrypted entry")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Misfit("it has an entry that is packed in another way")
        if entry.filename.endswith(".json") and entry.file_size > MOST_TEXT:
            raise Misfit(f"{entry.filename} unpacks to more than {MOST_TEXT >> 20} MB")
        if entry.header_offset < end or entry.header_offset >= size:
            raise Misfit("its entries overlap")
        end = entry.header_offset + _LOCAL_HEADER + len(entry.filename) + entry.compress_size


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)  # without a number all would be unpacked at once
    if len(content) != entry.file_size:
        raise Misfit("an entry is not as long as it says")
    return content


def check_array(content: bytes) -> None:
    """Refuse an array whose head does not fit what follows, or that holds more than numbers."""
    file = io.BytesIO(content)
    try:
        major, _ = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        shape, _, dtype = (read if major == 1 else np.lib.format.read_array_header_2_0)(file)
    except Exception:
        raise Misfit("an array has no valid header") from None
    if dtype.kind not in _DTYPES or not dtype.itemsize or not dtype.isnative:
        raise Misfit("an array is of a type that no model has")
    left = len(content) - file.tell()
    if math.prod(shape) * dtype.itemsize != left or max(shape, default=0) > len(content):
        raise Misfit("an array is not as long as it says")


def parse(content: bytes) -> Any:
    """What a JSON text says, if it is neither large, deep nor full of digits."""
    if len(content) > MOST_TEXT or sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise Misfit("its texts are too long")
    try:
        value = json.loads(
            content, parse_int=_integer, parse_float=_real, parse_constant=lambda word: None
        )
    except RecursionError:
        raise Misfit("its texts are nested too deeply") from None
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level:
        depth += 1
        if depth > MOST_LEVELS:
            raise Misfit("its texts are nested too deeply")
        level = [item for above in level for item in _items(above)]
    return value


def _items(value: Any) -> list[Any]:
    """The lists and mappings right inside a value."""
    inside = value.values() if isinstance(value, dict) else value
    return [item for item in inside if isinstance(item, dict | list)]


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise Misfit(f"it has a number of more than {MOST_DIGITS} digits")
    return int(digits)


def _real(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def stored(entries: dict[str, bytes]) -> bytes:
    """An archive of these entries, not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in entries.items():
            target.writestr(name, content)
    return buffer.getvalue()
