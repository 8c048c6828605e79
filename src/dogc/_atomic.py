"""Files that are written whole or not at all, one by one or several together.

All is written into a hidden folder beside its place, ``.dogc-`` and some letters, and moved from
there when it is done.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from errno import EACCES, EDQUOT, EFBIG, ENOSPC, EROFS

DRAFT, OLD = ".dogc-", 86_400  # seconds; no run writes for so long without touching its draft
REASONS = {ENOSPC: "the disk is full; free some space, or", EACCES: "you may not write there;"}
FULL = {ENOSPC, EDQUOT, EFBIG, EROFS}  # never said of a file that is read


class WriteError(OSError):
    """Something cannot be written; the message is a sentence that names it as the user did."""


def write_error(path: pathlib.Path, error: OSError) -> WriteError:
    """The sentence for an error of the system.

    Examples
    --------
    >>> import errno, pathlib
    >>> print(write_error(pathlib.Path("a.csv"), OSError(errno.ENOSPC, "No space left")))
    cannot write 'a.csv': the disk is full; free some space, or choose another path.
    """
    said = REASONS.get(error.errno or 0, f"{error.strerror or error};")
    return WriteError(f"cannot write '{path}': {said} choose another path.")


def check_writable(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Refuse a path whose folder can neither be written to nor made."""
    above = next(at for at in [folder, *folder.absolute().parents] if os.path.lexists(at))
    if not above.is_dir():
        raise WriteError(f"cannot write '{path}': {above} is not a folder; choose another path.")
    try:
        tempfile.TemporaryFile(dir=above).close()  # has no name, so nothing can be left of it
    except OSError as error:
        raise write_error(path, error) from error


@contextlib.contextmanager
def draft_of(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """An empty file; it moves to a path once all is written, which is as it was until then."""
    target = pathlib.Path(os.path.realpath(path))  # a link stays a link
    with drafts_in(target.parent, named=path) as folder:
        yield folder / target.name


@contextlib.contextmanager
def drafts_in(folder: pathlib.Path, named: pathlib.Path | None = None) -> Iterator[pathlib.Path]:
    """A folder to write files into; they move to their place together once all are written.

    The last by name seals a set: the old one goes first, and the new one comes last. Errors of
    writing are said of the path that the user ``named``: the folder, unless told otherwise.
    """
    made = [at for at in [folder, *folder.absolute().parents] if not at.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob(f"{DRAFT}*"):  # drafts that killed processes have left
            with contextlib.suppress(OSError):  # another run was faster, or it is no folder
                if time.time() - path.lstat().st_mtime > OLD:
                    shutil.rmtree(path)
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=folder, ignore_cleanup_errors=True) as d:
            yield pathlib.Path(d)
            drafts = sorted(pathlib.Path(d).iterdir())
            for path in drafts:
                if (target := folder / path.name).is_file():
                    shutil.copymode(target, path)
            if len(drafts) > 1:
                (folder / drafts[-1].name).unlink(missing_ok=True)
            for path in drafts:
                os.replace(path, folder / path.name)
    except OSError as error:
        if error.errno in FULL or DRAFT in str(error.filename) or error.filename == str(folder):
            raise write_error(named or folder, error) from error
        raise
    finally:
        for at in made:
            with contextlib.suppress(OSError):  # something is in it
                at.rmdir()


def write_whole(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write text as UTF-8, lines ending as they do, or bytes."""
    with draft_of(path) as draft:
        draft.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path
