"""Files that are whole or not there: full disks, kills between moves, runs at the same time."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from dogc import _atomic
from dogc._atomic import WriteError, draft_of, drafts_in, turn_in, write_whole

LOCKS = pytest.mark.skipif(_atomic.fcntl is None, reason="needs locks of files")
NAMES = ("a.csv", "b.skops", "c.json")


def contents(folder):
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def write_set(folder, text):
    with drafts_in(folder) as draft:
        for name in NAMES:
            (draft / name).write_text(text)


def whole(text):
    return dict.fromkeys(NAMES, text)


class Killed(BaseException):
    """What a killed process would not live to see."""


def killed_after(monkeypatch, moves):
    """Let a process die after so many moves: the file system stays as it is then."""
    done = 0
    real = os.rename

    def rename(source, target):
        nonlocal done
        if done == moves:
            monkeypatch.setattr(os.path, "lexists", lambda path: False)  # nothing is put back
            monkeypatch.setattr(_atomic, "_remove", lambda path: None)
            raise Killed
        done += 1
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)


@LOCKS
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("moves", range(8))
def test_a_kill_between_moves_is_mended_by_the_next_run(tmp_path, monkeypatch, moves, old):
    if old:
        write_set(tmp_path, "old")
    with monkeypatch.context() as patch:
        killed_after(patch, moves)
        with contextlib.suppress(Killed):
            write_set(tmp_path, "new")
    left = contents_of_files(tmp_path)
    assert left in (whole("old"), whole("new"), {}) or "c.json" not in left
    _atomic.clear_leftovers(tmp_path)
    assert contents(tmp_path) in ([whole("old"), whole("new")] if old else [whole("new"), {}])


def contents_of_files(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.EIO, "broken")])
@pytest.mark.parametrize("move", range(7))
def test_a_move_that_fails_puts_everything_back(tmp_path, monkeypatch, move, error):
    write_set(tmp_path, "old")
    real, count = os.rename, iter(range(100))

    def rename(source, target):
        if next(count) == move:
            raise error
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        write_set(tmp_path, "new")
    assert contents(tmp_path) == whole("old")


@pytest.mark.parametrize("move", range(8))
def test_an_interrupt_waits_until_all_is_moved(tmp_path, monkeypatch, move):
    write_set(tmp_path, "old")
    real, count = os.rename, iter(range(100))

    def rename(source, target):
        if next(count) == move:
            signal.raise_signal(signal.SIGINT)
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, "new")
    assert contents(tmp_path) == whole("new")


def test_a_folder_in_the_way_is_left_alone(tmp_path):
    (tmp_path / "b.skops").mkdir()
    (tmp_path / "b.skops" / "mine").touch()
    with pytest.raises(WriteError, match=r"cannot write '.*b.skops': .*not an ordinary file; move"):
        write_set(tmp_path, "new")
    assert [path.name for path in tmp_path.rglob("*")] == ["b.skops", "mine"]


def test_a_folder_that_somebody_removes_meanwhile_is_missed(tmp_path):
    def meanwhile():
        with drafts_in(tmp_path / "made") as draft:
            (draft / "a.csv").touch()
            shutil.rmtree(tmp_path / "made")

    with pytest.raises(WriteError, match=r"cannot write '.*made': No such"):
        meanwhile()
    with pytest.raises(FileNotFoundError), turn_in(tmp_path / "made"):
        raise AssertionError


def test_folders_that_were_made_for_nothing_go(tmp_path):
    with pytest.raises(ZeroDivisionError), drafts_in(tmp_path / "some" / "where"):
        1 / 0  # noqa: B018
    with pytest.raises(ZeroDivisionError), draft_of(tmp_path / "some" / "where" / "a.csv"):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
def test_a_full_disk_is_said_of_the_path_that_was_named(tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    path = type(tmp_path)("some/a.csv")
    with pytest.raises(WriteError, match=r"cannot write 'some/a\.csv': .*; .*\.$"), draft_of(path):
        raise OSError(number, "as the system says it")
    assert list(tmp_path.iterdir()) == []


def test_what_goes_wrong_with_another_file_is_not_said_of_this_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"), draft_of(tmp_path / "a.csv"):
        open(tmp_path / "absent")  # noqa: SIM115


HOLD = """
import sys, time
from pathlib import Path
from dogc._atomic import draft_of
with draft_of(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@LOCKS
def test_drafts_of_the_living_stay_and_those_of_the_dead_go(tmp_path):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "a.csv")], stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"writing\n"
        write_whole(tmp_path / "b.csv", "b")
        assert len(list(tmp_path.glob(".dogc-*"))) == 1
    finally:
        other.kill()
        other.communicate()
    write_whole(tmp_path / "b.csv", "b")
    assert contents(tmp_path) == {"b.csv": "b"}


def test_without_locks_age_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(_atomic, "fcntl", None)
    for name in ("0" * 16, "1" * 16):
        (tmp_path / f".dogc-{name}").touch()
    day_ago = time.time() - _atomic.OLD - 1
    os.utime(tmp_path / f".dogc-{'1' * 16}", (day_ago, day_ago))
    write_whole(tmp_path / "a", "a")
    assert sorted(contents(tmp_path)) == [f".dogc-{'0' * 16}", "a"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_what_is_not_ours_is_not_touched(tmp_path, monkeypatch):
    (tmp_path / ".dogc-notes").touch()
    (tmp_path / f".dogc-{'0' * 16}").symlink_to(tmp_path / ".dogc-notes")
    (tmp_path / f".dogc-{'1' * 16}").touch()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    write_whole(tmp_path / "a", "a")
    assert len(list(tmp_path.iterdir())) == 4


@LOCKS
def test_two_runs_at_once_leave_one_set(tmp_path):
    def write(text):
        for _ in range(20):
            write_set(tmp_path, text)

    threads = [threading.Thread(target=write, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    seen = []
    while any(thread.is_alive() for thread in threads):
        with turn_in(tmp_path):
            seen.append(contents_of_files(tmp_path))
    for found in seen:
        found.pop(_atomic.TURN, None)
    assert all(found in (whole("one"), whole("two"), {}) for found in seen)
    assert contents(tmp_path) in (whole("one"), whole("two"))


@LOCKS
def test_nothing_in_the_place_of_a_turn_is_waited_for_or_followed(tmp_path):
    lock, elsewhere = tmp_path / _atomic.TURN, tmp_path / "elsewhere"
    os.mkfifo(lock)  # to open it would wait until somebody writes
    with turn_in(tmp_path):
        pass
    lock.unlink(missing_ok=True)
    lock.symlink_to(elsewhere)
    with turn_in(tmp_path):
        pass
    assert not elsewhere.exists()
