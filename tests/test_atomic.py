"""Files that are whole or not there: full disks, interrupts, runs at the same time."""

import errno
import os
import signal
import threading
import time

import pytest

from dogc import _atomic
from dogc._atomic import WriteError, draft_of, drafts_in, turn_in, write_whole

NAMES = ("a.csv", "b.skops", "c.json")


def contents(folder):
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def write_set(folder, text):
    with drafts_in(folder) as draft:
        for name in NAMES:
            (draft / name).write_text(text)


def whole(text):
    return dict.fromkeys(NAMES, text)


def test_a_set_is_replaced_and_the_mode_of_its_files_stays(tmp_path):
    write_set(tmp_path, "old")
    (tmp_path / "a.csv").chmod(0o600)
    write_set(tmp_path, "new")
    assert contents(tmp_path) == whole("new")
    assert os.name == "nt" or (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name not in NAMES] == []


def at_move(monkeypatch, place, then):
    """Do something before the move at this place."""
    real, count = os.replace, iter(range(100))

    def replace(source, target):
        if next(count) == place:
            then()
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("move", range(3))
def test_where_the_last_name_stands_all_belong_together(tmp_path, monkeypatch, move):
    write_set(tmp_path, "old")
    at_move(monkeypatch, move, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_set(tmp_path, "new")
    assert "c.json" not in contents(tmp_path)


@pytest.mark.parametrize("move", range(3))
def test_an_interrupt_waits_until_all_is_moved(tmp_path, monkeypatch, move):
    write_set(tmp_path, "old")
    at_move(monkeypatch, move, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, "new")
    assert contents(tmp_path) == whole("new")


def test_a_folder_in_the_way_is_left_alone(tmp_path):
    (tmp_path / "b.skops").mkdir()
    (tmp_path / "b.skops" / "mine").touch()
    with pytest.raises(WriteError, match=r"cannot write '.*b.skops': .*not an ordinary file; move"):
        write_set(tmp_path, "new")
    assert [path.name for path in tmp_path.rglob("*")] == ["b.skops", "mine"]


def test_folders_that_were_made_for_nothing_go(tmp_path):
    with pytest.raises(ZeroDivisionError), drafts_in(tmp_path / "some" / "where"):
        1 / 0  # noqa: B018
    with pytest.raises(ZeroDivisionError), draft_of(tmp_path / "some" / "where" / "a.csv"):
        1 / 0  # noqa: B018
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said_of_the_path_that_was_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = type(tmp_path)("some/a.csv")
    with (
        pytest.raises(WriteError, match=r"^cannot write 'some/a\.csv': the disk is full; "),
        draft_of(path),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_another_file_are_not_said_of_this_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"), draft_of(tmp_path / "a.csv"):
        open(tmp_path / "absent")  # noqa: SIM115


def test_old_drafts_go_and_all_else_stays(tmp_path):
    day_ago = time.time() - _atomic.OLD - 1
    for name in (".dogc-old", ".dogc-young", "mine"):
        (tmp_path / name).mkdir()
    for name in (".dogc-old", "mine"):
        os.utime(tmp_path / name, (day_ago, day_ago))
    write_whole(tmp_path / "a", "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".dogc-young", "a", "mine"]


@pytest.mark.skipif(_atomic.fcntl is None, reason="needs locks of files")
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
            seen.append(contents(tmp_path))
    assert all(found in (whole("one"), whole("two"), {}) for found in seen)
    assert contents(tmp_path) in (whole("one"), whole("two"))
