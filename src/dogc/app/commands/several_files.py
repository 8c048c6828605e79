"""Which files a name stands for, and whether they are read in parts."""

from __future__ import annotations

import glob
import os
import pathlib

from ..._extras import missing
from ..tables import TableError
from ..tables.opening import check_there
from ..tables.parts import can_be_cut
from ..tables.table import counted_files
from ..tables.workers import has_dask

# A file of more bytes is read in parts where Dask is installed.
LARGE = 200_000_000


def matching(file: str) -> list[str]:
    """The files that a pattern stands for, in the order of their names; others are themselves.

    Raises
    ------
    TableError
        Where there is no file.
    """
    if file == "-" or os.path.lexists(file) or not glob.has_magic(file):
        check_there(file)
        return [file]
    found = sorted(path for path in glob.glob(file, recursive=True) if os.path.isfile(path))
    if not found:
        raise TableError(f"no file matches {file}; look at the folder, or name a file.")
    return found


def named(files: list[str]) -> str:
    """What to call files."""
    return counted_files([pathlib.Path(file).name for file in files])


def check_rows(rows: int, source: str) -> None:
    """Refuse a table of which nothing can be told apart."""
    if rows == 1:
        raise TableError(f"{source} has one row; give a table with at least two.")


def in_parts(files: list[str], scheduler: str | None) -> bool:
    """Whether files are read in parts: several, a large one, or by a cluster."""
    if scheduler is not None and "-" in files:
        raise TableError(
            "--scheduler needs a file that all workers can read; standard input cannot be used."
        )
    if scheduler is not None or len(files) > 1:
        if not has_dask():
            what = "a pattern of several files" if scheduler is None else "--scheduler"
            raise TableError(missing("dask", what))
        return True
    path = pathlib.Path(files[0])
    large = path.is_file() and path.stat().st_size > LARGE
    return large and has_dask() and can_be_cut(files[0])
