"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import pathlib
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def draft_of(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """An empty file beside a path, of the same ending; it moves there once all is written.

    Where something goes wrong on the way, the path is as it was and the draft is gone.
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        raise FileExistsError("what is there is no ordinary file; name another")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".dogc-{secrets.token_hex(8)}{path.suffix}")
    draft.touch(exist_ok=False)  # who may read it is what the user's mask says
    try:
        yield draft
        if path.exists():
            shutil.copymode(path, draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write text as UTF-8, lines ending as they do, or bytes."""
    with draft_of(path) as draft:
        draft.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def write_csv(
    path: pathlib.Path, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> pathlib.Path:
    """Write a table as a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *rows])
    return write_whole(path, buffer.getvalue())
