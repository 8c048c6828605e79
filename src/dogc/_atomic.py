"""Files that are written whole or not at all, one by one or several together.

What is being written stands under a hidden name, ``.dogc-`` and 16 digits, beside its place. Its
writer holds a lock on it as long as it lives, so that whoever writes there next knows which of
these a killed process has left. Without locks (Windows, some network drives), age tells.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import pathlib
import re
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# No link is followed, and no pipe waited for. Windows, without locks, needs neither.
_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
OLD = 86_400  # seconds; no run writes for so long without touching its draft
TURN = ".dogc-turn"
READY = "-ready"
BEFORE = "before"
NO_FILE = "there is something that is not an ordinary file; move it, or choose another path"
_OURS = re.compile(rf"\.dogc-([0-9a-f]{{16}}({READY})?|turn)")
# What goes wrong only where something is written; others are of writing if they name our files.
_OF_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, or choose another path",
    errno.EDQUOT: "your disk quota is used up; free some space, or choose another path",
    errno.EFBIG: "files as large as this are not allowed here; choose another path",
    errno.EROFS: "it is read-only there; choose another path",
    errno.EACCES: "you may not write there; choose another path",
    errno.EPERM: "you may not write there; choose another path",
    errno.ENOTDIR: "there is a file where a folder should be; choose another path",
    errno.ENAMETOOLONG: "the name is too long; choose another path",
}


class WriteError(OSError):
    """Something cannot be written; the message is a sentence that names it as the user did."""


def write_error(path: pathlib.Path, error: OSError) -> WriteError:
    """The sentence for what the system said.

    Examples
    --------
    >>> import errno, pathlib
    >>> print(write_error(pathlib.Path("a.csv"), OSError(errno.ENOSPC, "No space left")))
    cannot write 'a.csv': the disk is full; free some space, or choose another path.
    """
    said = (error.strerror or str(error)).rstrip(".")
    return WriteError(f"cannot write '{path}': {_REASONS.get(error.errno or 0, said)}.")


def check_writable(path: pathlib.Path, folder: pathlib.Path) -> None:
    """Refuse a path whose folder can neither be written to nor made."""
    try:
        above = next(at for at in [folder, *folder.absolute().parents] if os.path.lexists(at))
        if not above.is_dir():
            what = "a file" if above.exists() else "a link to nothing"
            raise WriteError(
                f"cannot write '{path}': {above} is {what}, not a folder; choose another path."
            )
        with tempfile.TemporaryFile(dir=above):  # has no name, so nothing can be left of it
            pass
    except WriteError:
        raise
    except OSError as error:
        raise write_error(path, error) from error


@contextlib.contextmanager
def draft_of(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """An empty file beside a path; it moves there once all is written.

    Where something goes wrong on the way, the path is as it was and the draft is gone.
    """
    target = pathlib.Path(os.path.realpath(path))  # a link stays a link
    with _named(path, target), _made(target.parent):
        if target.exists() and not target.is_file():
            raise WriteError(f"cannot write '{path}': {NO_FILE}.")
        clear_leftovers(target.parent)
        # Who may read it is what the user's mask says.
        with _claimed(target.parent, lambda draft: draft.touch(exist_ok=False)) as draft:
            yield draft
            if target.exists():
                shutil.copymode(target, draft)
            os.replace(draft, target)


@contextlib.contextmanager
def drafts_in(
    folder: pathlib.Path, check: Callable[[list[str]], object] = lambda names: None
) -> Iterator[pathlib.Path]:
    """A folder to write files into; they move to their place together once all are written.

    Just before, and while no other dogc moves files there, ``check`` is told their names; it may
    raise. The last name in the alphabet seals the set: of an older set it goes first, of the new
    one it comes last. So where it stands, all belong together.
    """
    with _named(folder, folder), _made(folder):
        clear_leftovers(folder)
        with _claimed(folder, pathlib.Path.mkdir) as draft:
            yield draft
            names = sorted(path.name for path in draft.iterdir())
            with turn_in(folder):
                check(names)
                _move_together(draft, names, folder)
                _remove(draft)


def _move_together(draft: pathlib.Path, names: list[str], folder: pathlib.Path) -> None:
    """Move files to their place; if that fails, all is as it was.

    A process that is killed here leaves a draft that is marked as ready: see :func:`_finish`.
    """
    there = [name for name in reversed(names) if os.path.lexists(folder / name)]
    for name in there:
        if (folder / name).exists() and not (folder / name).is_file():
            raise WriteError(f"cannot write '{folder / name}': {NO_FILE}.")
        if not (folder / name).is_symlink():
            shutil.copymode(folder / name, draft / name)
    (draft / BEFORE).mkdir()
    ready = draft.with_name(draft.name + READY)
    moves = [(draft, ready)]
    moves += [(folder / name, ready / BEFORE / name) for name in there]
    moves += [(ready / name, folder / name) for name in names]
    try:
        for source, target in moves:
            os.rename(source, target)
    except BaseException:
        for source, target in reversed(moves if ready.exists() else []):
            # Where the move was made.
            if os.path.lexists(target) and not os.path.lexists(source):
                os.rename(target, source)
        raise
    os.rename(ready, draft)


def _finish(ready: pathlib.Path) -> None:
    """Move the rest of a set whose writer was killed in between, unless a sealed one is there."""
    folder = ready.parent
    names = sorted(path.name for path in ready.iterdir() if path.name != BEFORE)
    with turn_in(folder, wait=False):  # this process may have it
        if names and not os.path.lexists(folder / names[-1]):
            for name in names:
                os.replace(ready / name, folder / name)


def clear_leftovers(folder: pathlib.Path) -> None:
    """Finish or remove what killed processes of this user have left in a folder."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if _OURS.fullmatch(entry.name)]
    for entry in found:
        path = folder / entry.name
        with contextlib.suppress(OSError):  # another run was faster, or it is not for us to touch
            info = entry.stat(follow_symlinks=False)
            held = _locked(path) if _is_mine(info) else None
            if held is None and (not _is_mine(info) or time.time() - info.st_mtime < OLD):
                continue
            try:
                if entry.name.endswith(READY):
                    _finish(path)
                _remove(path)
            finally:
                _release(held)


@contextlib.contextmanager
def turn_in(folder: pathlib.Path, wait: bool = True) -> Iterator[None]:
    """Be the only dogc that changes several files in a folder, or reads one and writes it.

    Others are waited for; without ``wait``, BlockingIOError says that there are some. Interrupts
    wait until all is done.
    """
    lock = folder / TURN
    with undisturbed() as signals:
        held = None
        while held is None and fcntl is not None:
            try:
                os.close(os.open(lock, os.O_CREAT | _AS_IT_IS, 0o666))
                held = _locked(lock)
                break  # with None, there are no locks here
            except FileNotFoundError:  # removed by whoever had it before
                if not folder.is_dir():
                    raise
            except BlockingIOError:
                if signals or not wait:
                    raise
                time.sleep(0.01)
            except OSError:
                break
        try:
            yield
        finally:
            if held is not None:
                with contextlib.suppress(OSError):
                    lock.unlink()
                os.close(held)


@contextlib.contextmanager
def undisturbed() -> Iterator[list[int]]:
    """Let interrupts and requests to stop wait until the block is done; which of them do."""
    waiting: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield waiting  # where no signal arrives
        return
    numbers = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    before = {number: signal.getsignal(number) for number in numbers if number is not None}
    before = {number: handler for number, handler in before.items() if callable(handler)}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: waiting.append(number))
        yield waiting
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting[:1]:
            signal.raise_signal(number)


@contextlib.contextmanager
def _claimed(
    folder: pathlib.Path, make: Callable[[pathlib.Path], object]
) -> Iterator[pathlib.Path]:
    """A file or folder under a hidden name, locked; what is left of it at the end goes."""
    while True:
        draft = folder / f".dogc-{secrets.token_hex(8)}"
        held = None
        try:
            make(draft)
            try:
                held = _locked(draft)
            except (BlockingIOError, FileNotFoundError):
                continue  # another run took it for a leftover, just as it was made
            yield draft
            return
        finally:
            _remove(draft)
            _release(held)


def _locked(path: pathlib.Path) -> int | None:
    """A descriptor that holds a lock until it is closed; None where there are no locks.

    Raises BlockingIOError where another has it and FileNotFoundError where nothing is there.
    """
    if fcntl is None:
        return None
    held = os.open(path, _AS_IT_IS)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, held):
            return held
    except BlockingIOError:
        os.close(held)
        raise
    except OSError:  # as on some network drives
        os.close(held)
        return None
    os.close(held)
    raise FileNotFoundError(errno.ENOENT, "removed meanwhile", str(path))


def _is_at(path: pathlib.Path, held: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(held))
    except FileNotFoundError:
        return False


def _release(held: int | None) -> None:
    if held is not None:
        os.close(held)


def _is_mine(info: os.stat_result) -> bool:
    """An ordinary file or folder of this user: others could leave traps in a shared folder."""
    mine = not hasattr(os, "getuid") or info.st_uid == os.getuid()
    return mine and (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode))


def _remove(path: pathlib.Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _made(folder: pathlib.Path) -> Iterator[None]:
    """A folder and those above it; where something goes wrong, those that were not there go."""
    above = [folder, *folder.absolute().parents]
    made = [path for path in above if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):  # something else is in it by now
                path.rmdir()
        raise


@contextlib.contextmanager
def _named(path: pathlib.Path, target: pathlib.Path) -> Iterator[None]:
    """What goes wrong where a target is written is said of the path that the user named."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if error.errno in _OF_WRITING or _is_of(error, target):
            raise write_error(path, error) from error
        raise


def _is_of(error: OSError, target: pathlib.Path) -> bool:
    """Whether an error is of a target, a folder above it or a draft; not of a file that is read."""
    names = [pathlib.Path(os.fsdecode(name)) for name in (error.filename, error.filename2)
             if isinstance(name, str | bytes)]  # fmt: skip
    return any(
        name in (target, *target.parents) or any(part.startswith(".dogc-") for part in name.parts)
        for name in names
    )


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
