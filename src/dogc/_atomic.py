"""Files that are written whole or not at all, one by one or several together.

All is written into a hidden folder beside its place, ``.dogc-`` and some letters, and moved from
there when it is done.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DRAFT = ".dogc-"
OLD = 86_400  # seconds; no run writes for so long without touching its draft
NO_FILE = "there is something that is not an ordinary file; move it, or choose another path"
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, or",
    errno.EFBIG: "files as large as this are not allowed here;",
    errno.EACCES: "you may not write there;",
}
_OF_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}  # never said of a file read


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
    said = _REASONS.get(error.errno or 0, f"{error.strerror or error};")
    return WriteError(f"cannot write '{path}': {said} choose another path.")


def check_writable(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Refuse a path whose folder can neither be written to nor made."""
    above = next(at for at in [folder, *folder.absolute().parents] if os.path.lexists(at))
    if not above.is_dir():
        what = "a file" if above.exists() else "a link to nothing"
        raise WriteError(
            f"cannot write '{path}': {above} is {what}, not a folder; choose another path."
        )
    try:
        with tempfile.TemporaryFile(dir=above):  # has no name, so nothing can be left of it
            pass
    except OSError as error:
        raise write_error(path, error) from error


@contextlib.contextmanager
def draft_of(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """An empty file; it moves to a path once all is written, which is as it was until then."""
    target = pathlib.Path(os.path.realpath(path))  # a link stays a link
    with drafts_in(target.parent, named=path) as folder:
        yield folder / target.name


@contextlib.contextmanager
def drafts_in(
    folder: pathlib.Path,
    check: Callable[[list[str]], object] = len,
    named: pathlib.Path | None = None,
) -> Iterator[pathlib.Path]:
    """A folder to write files into; they move to their place together once all are written.

    Just before, and while no other dogc moves files there, ``check`` is told their names; it may
    raise. The last name in the alphabet seals the set: of an older set it goes first, of the new
    one it comes last. So where it stands, all belong together. Errors of writing are said of the
    path that the user ``named``: the folder, unless told otherwise.
    """
    made = [at for at in [folder, *folder.absolute().parents] if not at.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear_leftovers(folder)
        with tempfile.TemporaryDirectory(prefix=DRAFT, dir=folder, ignore_cleanup_errors=True) as d:
            yield pathlib.Path(d)
            with turn_in(folder):
                _move(pathlib.Path(d), folder, check)
    except BaseException as error:
        for at in made:
            with contextlib.suppress(OSError):  # something else is in it by now
                at.rmdir()
        if isinstance(error, OSError) and not isinstance(error, WriteError):
            where = str(error.filename)
            if error.errno in _OF_WRITING or DRAFT in where or where == str(folder):
                raise write_error(named or folder, error) from error
        raise


def _move(draft: pathlib.Path, folder: pathlib.Path, check: Callable[[list[str]], object]) -> None:
    """Move a draft's files to their place; interrupts and requests to stop wait for all."""
    names = sorted(path.name for path in draft.iterdir())
    check(names)
    for target in (folder / name for name in names):
        if os.path.lexists(target) and not target.is_file():
            raise WriteError(f"cannot write '{target}': {NO_FILE}.")
        if target.exists():
            shutil.copymode(target, draft / target.name)
    waiting: list[int] = []
    own = threading.current_thread() is threading.main_thread()  # where signals arrive
    numbers = (signal.SIGINT, signal.SIGTERM) if own else ()
    handlers = {n: signal.signal(n, lambda which, _: waiting.append(which)) for n in numbers}
    try:
        if len(names) > 1:
            (folder / names[-1]).unlink(missing_ok=True)
        for name in names:
            os.replace(draft / name, folder / name)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for late in waiting[:1]:
            signal.raise_signal(late)


def clear_leftovers(folder: pathlib.Path) -> None:
    """Remove drafts that killed processes have left in a folder."""
    for path in folder.glob(f"{DRAFT}*"):
        with contextlib.suppress(OSError):  # another run was faster, or it is no folder
            if time.time() - path.lstat().st_mtime > OLD:
                shutil.rmtree(path)


# The folders in which a thread has the turn.
_own = threading.local()


@contextlib.contextmanager
def turn_in(folder: pathlib.Path) -> Iterator[None]:
    """Be the only dogc that changes several files in a folder; others are waited for.

    Who has the turn already keeps it.
    """
    place, turns = os.path.realpath(folder), vars(_own).setdefault("turns", set())
    if fcntl is None or place in turns:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # as on some network drives
            fcntl.flock(held, fcntl.LOCK_EX)
        turns.add(place)
        yield
    finally:
        turns.discard(place)
        os.close(held)


def write_whole(path: pathlib.Path, content: str | bytes) -> pathlib.Path:
    """Write text as UTF-8, lines ending as they do, or bytes."""
    with draft_of(path) as draft:
        draft.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path
