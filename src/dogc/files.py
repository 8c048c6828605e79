"""Files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import pathlib
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any


def write_whole(path: pathlib.Path, text: str) -> pathlib.Path:
    """Write a file under a temporary name and move it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, suffix=".part", encoding="utf-8", newline="", delete=False
    ) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
    return path


def write_csv(
    path: pathlib.Path, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> pathlib.Path:
    """Write a table as a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *rows])
    return write_whole(path, buffer.getvalue())
