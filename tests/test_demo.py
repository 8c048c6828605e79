import csv

import pytest

from dogc import demo


def test_demo_prints_a_table_and_writes_what_it_says(tmp_path, capsys):
    demo.main(["--out", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert "clustered" in printed
    assert "predicted" in printed
    written = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in written] == ["history.csv", "labels.csv"]
    assert all(str(path) in printed for path in written)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 178
    assert {row["cluster"] for row in rows} == {"0", "1", "2"}


def test_demo_names_a_folder_it_cannot_make(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--out", str(tmp_path / "file")])
    assert stopped.value.code == 2
    assert "name another one" in capsys.readouterr().err
