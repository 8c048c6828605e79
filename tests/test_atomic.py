"""Files that are whole or not there: full disks and interrupts."""

import errno
import os
import time

import pytest

from dogc import _atomic
from dogc._atomic import WriteError, draft_of, drafts_in, write_whole

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


def test_until_all_is_written_the_old_set_stays(tmp_path):
    write_set(tmp_path, "old")
    with pytest.raises(ZeroDivisionError), drafts_in(tmp_path) as draft:
        assert (draft / "a.csv").write_text("new") / 0
    assert contents(tmp_path) == whole("old")


def test_a_set_of_which_a_part_is_moved_has_lost_its_last_file(tmp_path, monkeypatch):
    def move(path, target, replace=os.replace):
        if path.name != "a.csv":
            raise KeyboardInterrupt
        replace(path, target)

    write_set(tmp_path, "old")
    monkeypatch.setattr(os, "replace", move)
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, "new")
    assert contents(tmp_path) == {"a.csv": "new", "b.skops": "old"}


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
