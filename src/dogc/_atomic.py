"""Files that are written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import pathlib
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any


def write_whole(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write a file under a temporary name and move it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            part = pathlib.Path(file.name)
            file.write(data)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        if part is not None:
            part.unlink(missing_ok=True)
        raise
    return path


def write_csv(
    path: pathlib.Path, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> pathlib.Path:
    """Write a table as a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *rows])
    return write_whole(path, buffer.getvalue())
