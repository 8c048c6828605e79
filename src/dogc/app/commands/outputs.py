"""Files that are never written over others unasked, and folders that appear whole."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from ..tables import TableError


def check_free(path: pathlib.Path, force: bool) -> pathlib.Path:
    """The path, if nothing would be overwritten there unasked."""
    if path.exists() and path.is_dir():
        raise TableError(f"{path} is a folder; name a file.")
    if path.exists() and not force:
        raise TableError(f"{path} exists already; name another file, or add --force.")
    return path


def check_folder(folder: pathlib.Path, names: list[str], force: bool) -> None:
    """Refuse a folder that holds files of these names, or that cannot be made."""
    if folder.exists() and not folder.is_dir():
        raise TableError(f"--out {folder} is a file; name a folder.")
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise TableError(
            f"--out {folder} holds {', '.join(there)} already; name another folder, or add --force."
        )
    above = next(parent for parent in [folder, *folder.absolute().parents] if parent.exists())
    if not os.access(above, os.W_OK):
        raise TableError(f"--out {folder} cannot be written to; name another folder.")


@contextlib.contextmanager
def whole_folder(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder to write files into; they move to their place when all are written."""
    existed = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    draft = pathlib.Path(tempfile.mkdtemp(prefix=".dogc-", dir=folder))
    try:
        yield draft
        for path in sorted(draft.iterdir()):
            os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if not existed and not any(folder.iterdir()):
            folder.rmdir()
