"""The command line: what it prints, writes and refuses."""

import errno
import io
import json
import os
import pathlib
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from commands import blobs, pd, run

from dogc.app import cli
from dogc.app.commands import command_line, terminal
from dogc.app.files import clustering as clustered_table
from dogc.app.models import saving
from dogc.datasets import load_uci


def text(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


@pytest.fixture
def table(folder):
    blobs().to_csv("rows.csv", index=False)
    return folder / "rows.csv"


@pytest.fixture
def model(table, capsys):
    assert run("cluster", table, "--clusters", 3, "--label-column", "kind", "--out", "made") == 0
    capsys.readouterr()
    return table.parent / "made" / "model.skops"


def everything(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_cluster_writes_four_files_and_says_where(table, capsys):
    assert run("cluster", table, "--clusters", 3, "--label-column", "kind") == 0
    out = capsys.readouterr().out
    made = table.parent / "dogc-output"
    assert everything(made) == ["labels.csv", "model.skops", "report.html", "run.json"]
    for path in made.iterdir():
        assert f"dogc-output/{path.name}" in out
    assert "60 rows of rows.csv" in out
    assert "\nThe clusters are clear.\nWhen some rows are left out" in out
    assert re.search(r"^stability 1.00 \(data without clusters: 0.\d\d\)$", out, re.MULTILINE)
    assert "1.000" in out  # agreement with the label column
    labels = pd.read_csv(made / "labels.csv")
    added = ["cluster", "membership", "outlier_score"]
    assert list(labels.columns) == ["a", "b", "c", "kind", *added]
    pd.testing.assert_frame_equal(labels[["a", "b", "c", "kind"]], pd.read_csv(table))
    assert labels.groupby("kind").cluster.nunique().max() == 1
    record = json.loads(text(made / "run.json"))
    assert next(iter(record.items())) == ("verdict", "clear")
    assert record["evidence"]["stability"] > record["evidence"]["reference_stability"]
    assert record["clusters"] == {"0": 20, "1": 20, "2": 20}
    assert record["scores"]["acc"] == 1.0
    assert record["history"][0]["iteration"] == 1
    assert len(record["sha256"]) == 64
    assert "<html" in text(made / "report.html")


def test_the_label_column_is_never_used_to_cluster(table):
    shuffled = pd.read_csv(table)
    shuffled["kind"] = shuffled["kind"].to_numpy()[::-1]
    shuffled.to_csv("shuffled.csv", index=False)
    for name in ("rows", "shuffled"):
        assert run("cluster", f"{name}.csv", "--clusters", 3, "--label-column", "kind", "-q",
                   "--out", name) == 0  # fmt: skip
    one, two = (pd.read_csv(f"{name}/labels.csv").cluster for name in ("rows", "shuffled"))
    assert np.array_equal(one, two)


@pytest.mark.slow
def test_the_file_is_named_before_anything_heavy_is_imported(table):
    """In a terminal; numpy, pandas and scikit-learn come later."""
    code = (
        "import sys; sys.stderr.isatty = lambda: True\n"
        "from dogc.app.commands import command_line as early\n"
        "from dogc.app.commands.command_line import run\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'scipy'}\n"
        "early.print = lambda *a, **k: print(a[0], sorted(heavy & set(sys.modules)))\n"
        "run(['cluster', 'rows.csv', '-k', '3', '--max-time', 'x'])\n"
        "run(['cluster', 'rows.csv', '-k', '3'])\n"
        "run(['cluster', 'rows.csv', '-k', '3', '-q', '--force'])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    told = [line for line in said.splitlines() if "reading" in line]
    assert told == ["reading rows.csv []"]


def test_nothing_is_overwritten_unasked(table, capsys):
    assert run("cluster", table, "--clusters", 3, "-q") == 0
    before = {path: path.read_bytes() for path in pathlib.Path("dogc-output").iterdir()}
    assert run("cluster", table, "--clusters", 2, "-q") == 2
    assert "add --force" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in pathlib.Path("dogc-output").iterdir()}
    assert run("cluster", table, "--clusters", 2, "-q", "--force") == 0
    assert json.loads(text("dogc-output/run.json"))["clusters"].keys() == {"0", "1"}


def test_predict_takes_columns_in_any_order_and_streams(model, capsys, monkeypatch):
    monkeypatch.setattr(clustered_table, "MOST_AT_ONCE", 7)
    new = blobs(30, seed=1)
    new[["c", "a", "b"]].to_csv("new.csv", index=False)
    assert run("predict", model, "new.csv") == 0
    assert "30 rows" in capsys.readouterr().out
    found = pd.read_csv("predicted.csv")
    assert list(found.columns) == ["c", "a", "b", "cluster", "membership"]
    assert found.groupby(new.kind).cluster.nunique().max() == 1
    assert found.membership.between(0, 1).all()
    assert run("predict", model, "rows.csv", "-q", "--out", "own.csv") == 0
    own, fitted = (pd.read_csv(name)["membership"] for name in ("own.csv", "made/labels.csv"))
    pd.testing.assert_series_equal(own, fitted, atol=1e-4)
    assert run("predict", model, "new.csv", "--json", "--force") == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == {"0": 10, "1": 10, "2": 10}


def test_predict_does_not_overwrite_what_it_reads(model, capsys):
    before = model.read_bytes(), pathlib.Path("rows.csv").read_bytes()
    for out in (model, "rows.csv"):
        assert run("predict", model, "rows.csv", "--out", out, "--force") == 2
        assert "being read" in capsys.readouterr().err
    assert before == (model.read_bytes(), pathlib.Path("rows.csv").read_bytes())


def test_what_people_would_not_ask_for_is_said(folder, capsys):
    angle = np.linspace(0, 2 * np.pi, 150, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = np.vstack([circle[::3], 4 * circle])
    pd.DataFrame(rings).to_csv("rings.csv", index=False, header=False)
    assert run("cluster", "rings.csv", "--clusters", "auto", "--no-scale") == 0
    out = capsys.readouterr().out
    assert "2 clusters are proposed; next candidates: " in out
    assert "these clusters cannot be separated by a linear rule" in out
    assert saving.load("dogc-output/model.skops").rule_ == "neighbors"
    assert "No header was found: the columns are called c1 to c2." in out
    for apart, sentence in ((1, "1 row lies far"), (2, "2 rows lie far")):
        assert clustered_table.remarks(SimpleNamespace(), apart)[0].startswith(sentence)
    assert json.loads(text("dogc-output/run.json"))["counts"][0]["n_clusters"] == 2


@pytest.fixture(scope="module")
def many_rows():
    return blobs(3_600).drop(columns="kind")


def test_representatives_stand_for_many_rows(folder, many_rows):
    many_rows.to_csv("many.csv", index=False)
    assert run("cluster", "many.csv", "--clusters", 3) == 0
    record = json.loads(text("dogc-output/run.json"))
    p = record["n_representatives"]
    assert 100 < p < 1000
    assert record["agreement"] > 0.95
    assert f'"n_representatives":{p}' in text("dogc-output/report.html")
    assert run("report", "dogc-output/model.skops", "-q") == 0
    assert run("predict", "dogc-output/model.skops", "many.csv", "-q") == 0
    fitted = pd.read_csv("dogc-output/labels.csv").cluster
    assert np.array_equal(pd.read_csv("predicted.csv").cluster, fitted)


def test_without_arguments_there_is_help_and_no_empty_sentence(capsys):
    assert run() == 2
    captured = capsys.readouterr()
    assert "Usage" in captured.out
    assert "dogc: " not in captured.err


def test_compare_lists_methods_and_writes_a_page(table, capsys):
    code = run("compare", table, "--clusters", 3, "--label-column", "kind", "--method", "KM",
               "--method", "DOGC")  # fmt: skip
    assert code == 0
    out = capsys.readouterr().out
    assert "KM" in out
    assert "DOGC" in out
    made = pathlib.Path("dogc-compare")
    assert everything(made) == ["compare.csv", "compare.html", "labels.csv"]
    assert list(pd.read_csv(made / "compare.csv").method) == ["KM", "DOGC"]
    assert run("compare", table, "--clusters", 3, "--drop", "kind", "--method", "KM", "--json",
               "--out", "other") == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out)["methods"][0]["method"] == "KM"


def test_noise_of_other_methods_stays_noise(folder):
    rng = np.random.default_rng(0)
    far = [[30.0, 30.0], [-40.0, 9.0]]
    rows = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(60, 2)) + 9.0, far])
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("rows.csv", index=False)
    assert (
        run("compare", "rows.csv", "-k", 2, "--method", "HDBSCAN", "--method", "Leiden", "-q") == 0
    )
    labels = pd.read_csv("dogc-compare/labels.csv")
    assert labels["cluster HDBSCAN"].iloc[-2:].tolist() == [-1, -1]
    assert labels["cluster HDBSCAN"].iloc[60] == labels["cluster Leiden"].iloc[60] == 0
    assert set(labels["cluster Leiden"]) == {0, 1}


def test_the_page_of_a_comparison_escapes_what_it_shows(folder):
    blobs().drop(columns="kind").to_csv("<script>.csv", index=False)
    assert run("compare", "<script>.csv", "--clusters", 3, "--method", "KM", "-q") == 0
    page = text("dogc-compare/compare.html")
    assert "<title>Methods side by side on &lt;script&gt;.csv</title>" in page
    assert page.count("<script>") == 1  # the page's own
    assert "<script>.csv" not in page


def test_categories_and_empty_rows_are_told(folder, capsys):
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    size = rng.normal(10.0 * kind, 1.0)
    mixed = pd.DataFrame({"kind": np.array(list("uvw"))[kind], "shape": kind % 2, "size": size})
    mixed[["kind", "size"]] = mixed[["kind", "size"]].astype(object)
    mixed.loc[[3, 77]] = None
    mixed.to_csv("mixed.csv", index=False)
    assert run("cluster", "mixed.csv", "--clusters", 3) == 0
    said = capsys.readouterr().out
    assert "\nThe verdict is not calibrated for tables with categories: gaps" in said
    empty = "note: rows without a value in any column that is used, whose labels say nothing: 4, 78"
    assert empty in said
    assert "not calibrated" in text("dogc-output/report.html")
    assert run("predict", "dogc-output/model.skops", "mixed.csv") == 0
    assert empty in capsys.readouterr().out
    assert run("compare", "mixed.csv", "--clusters", 3, "--method", "KM") == 0
    assert "not calibrated" in capsys.readouterr().out
    assert "not calibrated" in text("dogc-compare/compare.html")


def test_explore_says_what_splits_and_writes_a_page(table, capsys):
    assert run("explore", table, "--drop", "kind", "--from", 2, "--to", 4) == 0
    out = capsys.readouterr().out
    assert "proposed" in out
    assert "2 to 3: Cluster" in out
    made = pathlib.Path("dogc-explore")
    assert everything(made) == ["explore.csv", "explore.html", "labels.csv"]
    assert list(pd.read_csv(made / "explore.csv").n_clusters) == [2, 3, 4]
    labels = pd.read_csv(made / "labels.csv")
    assert labels["cluster of 4"].nunique() == 4
    assert run("explore", table, "--drop", "kind", "--to", 3, "--method", "n-cut", "--json",
               "--out", "other") == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert [row["clusters"] for row in found["counts"]] == [2, 3]
    assert found["proposed"] is None


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["--from", 0], "--from 0 --to 8: pass numbers above 0"),
        (["--from", 5, "--to", 3], "--from 5 --to 3: pass numbers above 0, the smaller first"),
        (["--to", 99], "--from 2 --to 99: pass numbers above 0, the smaller first, and at most 30"),
        (["--to", "x"], "Invalid value for '--to'"),
    ],
)
def test_explore_refuses_numbers_that_cannot_be(table, capsys, typed, sentence):
    assert run("explore", table, *typed) == 2
    assert sentence in capsys.readouterr().err
    assert not pathlib.Path("dogc-explore").exists()


def test_report_and_info_need_the_model_file_alone(model, capsys):
    pathlib.Path("rows.csv").unlink()
    assert run("report", model, "--out", "again.html") == 0
    assert text("again.html") == text("made/report.html")
    capsys.readouterr()
    assert run("info", model) == 0
    out = capsys.readouterr().out
    assert "DOGCOS" in out
    assert "a, b, c" in out
    assert run("info", model, "--json") == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == {"0": 20, "1": 20, "2": 20}


def test_datasets_are_listed_and_written(folder, capsys):
    assert run("datasets") == 0
    assert "wine" in capsys.readouterr().out
    assert run("datasets", "wine") == 0
    frame = pd.read_csv("wine.csv")
    assert frame.shape == (178, 14)
    assert set(frame["class"]) == set(load_uci("wine").target_names.astype(int))
    assert run("datasets", "--json") == 0
    listed = json.loads(capsys.readouterr().out.splitlines()[-1])["datasets"]
    assert listed["wine"] == {"rows": 178, "columns": 13, "classes": 3}
    assert run("datasets", "wine") == 2
    assert run("datasets", "beer") == 2
    assert "choose one of" in capsys.readouterr().err


def test_demo_says_how_well_it_went_and_writes_everything(folder, capsys):
    assert run("demo") == 0
    out = capsys.readouterr().out
    for word in ("clustered", "predicted", "ACC", "NMI", "purity", "seconds"):
        assert word in out
    made = folder / "demo-output"
    assert everything(made) == [
        "labels.csv", "model.skops", "predicted.csv", "report.html", "run.json",
    ]  # fmt: skip
    assert len(pd.read_csv(made / "labels.csv")) + len(pd.read_csv(made / "predicted.csv")) == 178
    assert run("demo", "--json", "--force") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["clustered"]["acc"] > 0.9
    assert found["predicted"]["acc"] > 0.89


def test_standard_input(folder, capsys, monkeypatch):
    class Bytes:
        buffer = io.BytesIO(blobs().to_csv(index=False).encode())

    monkeypatch.setattr(sys, "stdin", Bytes)
    assert run("cluster", "-", "--clusters", 3, "--drop", "kind", "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)  # one object and nothing else
    assert (found["source"], captured.err) == ("standard input", "")
    assert [pathlib.Path(path).name for path in found["files"]] == [
        "labels.csv", "model.skops", "report.html", "run.json",
    ]  # fmt: skip


# ------------------------------------------------------------------------- bad input

GOOD = blobs().to_csv(index=False)


THREE = ["--clusters", "3"]
BAD = {
    "not UTF-8": lambda path: path.write_bytes(GOOD.replace("x", "\xe9").encode("latin-1")),
    "all missing": lambda path: path.write_text("a,b\n" + ",\n" * 30, encoding="utf-8"),
    "a folder": lambda path: path.mkdir(),
    "infinite": lambda path: path.write_text(GOOD + "inf,1,2,x\n", encoding="utf-8"),
}


def assert_one_sentence(capsys, *words):
    captured = capsys.readouterr()
    assert captured.err.startswith("dogc: ")
    assert captured.err.count("\n") == 1
    assert captured.err.rstrip().endswith(".")
    assert "Traceback" not in captured.err
    assert "[" not in captured.err
    assert len(captured.err) < 400
    for word in words:
        assert word in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence_and_nothing_is_written(folder, capsys, name):
    BAD[name](folder / "bad.csv")
    before = everything(folder)
    assert run("cluster", "bad.csv", "--clusters", 2) == 2
    about_columns = ("all missing", "infinite")
    assert_one_sentence(capsys, "column" if name in about_columns else "bad.csv")
    assert everything(folder) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--clusters", "3", "--label-column", "sort"], ["sort", "kind"]),
        (["--clusters", "61"], ["--clusters=61 is too large: there are only 60 rows in X; choose"]),
        (["--clusters", "0"], ["--clusters"]),
        (["--clusters", "many"], ["--clusters", "auto"]),
        ([*THREE, "--method", "kmeens"], ["'kmeens'", "KM (k-means), R-cut", "DOGC"]),
        ([*THREE, "--method", "HDBSCAN"], ["--method HDBSCAN is for dogc compare"]),
        ([*THREE, "--columns", "a,d"], ["no column 'd'", "'kind'"]),
        ([*THREE, "--metric", "l2"], ["--metric is 'l2'", "euclidean, cosine, manhattan"]),
        ([*THREE, "--metric", "cosine", "--method", "kmeans"], ["--method kmeans has no --metric"]),
        ([*THREE, "--components", "0"], ["--components is '0'", "none for no projection"]),
        ([*THREE, "--components", "40"], ["--components"]),
        ([*THREE, "--seed", "-1"], ["--seed is -1", "4294967295"]),
        ([*THREE, "--seed", "one"], ["--seed"]),
        (["--clusters", "3", "--neighbors", "-2"], ["--neighbors"]),
        (["--clusters", "3", "--representatives", "2"], ["--representatives=2", "--clusters=3"]),
        (["--clusters", "3", "--representatives", "2.5"], ["--representatives", "above 1", "none"]),
        (["--clusters", "3", "--geometry", "round"], ["geometry must be one of"]),
        (["--clusters", "3", "--out", "rows.csv"], ["rows.csv", "folder"]),
        (["--clusters", "3", "--max-time", "-1"], ["--max-time"]),
        (["--clusters"], ["--help"]),
        (["--klusters", "3"], ["--help"]),
        ([], ["--clusters"]),
    ],
    ids=str,
)
def test_a_bad_argument_gets_one_sentence_and_nothing_is_written(table, capsys, arguments, words):
    before = everything(table.parent)
    assert run("cluster", table, *arguments) == 2
    assert_one_sentence(capsys, *words)
    assert everything(table.parent) == before


def test_a_bad_model_gets_one_sentence(model, capsys):
    model.write_bytes(model.read_bytes()[:-1])
    before = everything(model.parent.parent)
    for command in (["predict", model, "rows.csv"], ["info", model], ["report", model]):
        assert run(*command) == 2
        assert_one_sentence(capsys, "model.skops")
    assert everything(model.parent.parent) == before


def test_a_failure_while_writing_leaves_nothing(table, capsys, monkeypatch):
    def broken(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(terminal.cluster_files.saving, "packed", broken)
    before = everything(table.parent)
    assert run("cluster", table, "--clusters", 3, "-q", "--out", "some/where") == 2
    assert capsys.readouterr().err.startswith("dogc: cannot write 'some/where': the disk is full;")
    assert everything(table.parent) == before


def test_help_and_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("dogc ")
    for command in ("demo", "cluster", "predict", "compare", "report", "info", "datasets"):
        assert run(command, "--help") == 0
        assert "Example" in capsys.readouterr().out


def test_without_the_extra_one_sentence_says_what_to_install(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "dogc.app.commands.command_line")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo"])
    assert stopped.value.code == 2
    assert 'pip install "dogc[cli]"' in capsys.readouterr().err
    monkeypatch.setenv("DOGC_DEBUG", "1")
    with pytest.raises(ModuleNotFoundError, match="typer"):
        cli.main(["demo"])


def test_a_slip_is_repeated_as_it_was_typed(capsys):
    for debug in (False, True):
        assert command_line.run(["cluster", "t.csv", "--n_clusters", "3"], debug) == 2
        said = capsys.readouterr().err
        assert " --n_clusters" in said
        assert said.endswith("; see dogc cluster --help.\n")
        assert command_line.run(["clsuter", "t.csv"], debug) == 2
        assert capsys.readouterr().err.endswith("'cluster'? see dogc --help.\n")


@pytest.mark.slow
def test_letters_that_the_output_cannot_hold_do_not_stop_it(folder):
    """As on Windows, where output that is redirected knows a few hundred letters."""
    blobs(60)[["a", "b"]].rename(columns={"a": "大小"}).to_csv("rows.csv", index=False)
    code = "from dogc.app.cli import main; main()"
    arguments = ["cluster", "rows.csv", "--clusters", "3", "--drop", "大小"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment,
                          capture_output=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"??" in done.stdout


def test_angles_are_measured_in_the_columns_as_they_are(table, capsys):
    assert run("cluster", table, "-k", 3, "--metric", "cosine", "--drop", "kind") == 0
    assert "keep their units" in capsys.readouterr().out


def test_pictures_are_flattened_when_asked(folder, capsys):
    rng = np.random.default_rng(0)
    pictures = rng.random((40, 3, 4)) + 5.0 * rng.integers(2, size=(40, 1, 1))
    np.save("pictures.npy", pictures)
    assert run("cluster", "pictures.npy", "-k", 2) == 2
    assert "--flatten makes it one of shape (40, 12)" in capsys.readouterr().err
    assert run("cluster", "pictures.npy", "-k", 2, "--flatten") == 0
    assert run("predict", "dogc-output/model.skops", "pictures.npy", "--flatten") == 0
    assert len(pd.read_csv("predicted.csv").columns) > 12
    assert run("explore", "pictures.npy", "--from", 2, "--to", 2, "--flatten") == 0
