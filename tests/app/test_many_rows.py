"""The command line for rows that are never in memory together."""

import contextlib
import errno
import json
import pathlib
import sys
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("skops")
pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import dogc  # noqa: E402
from dogc.app.commands import command_line, several_files, streaming  # noqa: E402
from dogc.app.model_files import saving  # noqa: E402
from dogc.app.tables import read_table, sampled_rows, tally, text_parts, workers  # noqa: E402
from dogc.app.files.clustering import agreement  # noqa: E402
from dogc.app.tables.parts import find_parts  # noqa: E402
from dogc.metrics import clustering_accuracy  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")


def run(*arguments):
    return command_line.run([str(argument) for argument in arguments])


def blobs(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 0, 0, 1, 1, 2], n // 6))
    centres = np.array([[0.0, 0.0, 9.0], [9.0, 9.0, 0.0], [0.0, 18.0, 18.0]])
    frame = pd.DataFrame(centres[y] + rng.normal(0, 0.7, (n, 3)), columns=["a", "b", "c"])
    frame.insert(0, "id", np.arange(n) + 7)
    frame.loc[5, "b"] = np.nan
    return frame.assign(kind=np.array(["x", "y", "z"])[y])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three files of a table, as CSV and as Parquet, whose parts are a few rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_parts, "PART_BYTES", 6_000)
    whole = blobs()
    whole.to_csv("whole.csv", index=False)
    pathlib.Path("parts").mkdir()
    for place in range(3):
        part = whole[place * 200 : (place + 1) * 200]
        part.to_csv(f"parts/{place}.csv", index=False)
        part.to_parquet(f"parts/{place}.parquet", index=False, row_group_size=80)
    return tmp_path


def record(out):
    return json.loads(pathlib.Path(out, "run.json").read_text())


class TestCluster:
    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_a_pattern_is_the_whole_table(self, folder, capsys, ending):
        options = ["--clusters", 3, "--label-column", "kind"]
        assert run("cluster", f"parts/*.{ending}", *options, "--out", "parted") == 0
        printed = capsys.readouterr().out
        assert f"600 rows of 3 files (0.{ending} to 2.{ending})" in printed
        assert run("cluster", "whole.csv", *options, "--out", "whole") == 0
        found, expected = pd.read_csv("parted/labels.csv"), pd.read_csv("whole/labels.csv")
        pd.testing.assert_frame_equal(found, expected)
        one, other = record("parted"), record("whole")
        for name in ("rows", "features", "preparation", "clusters"):
            assert one[name] == other[name], name
        assert one["scores"] == pytest.approx(other["scores"])
        assert "sample" not in one

    @pytest.mark.parametrize("size", [50_000, 200_000])
    def test_many_rows_get_the_labels_of_the_whole_file(self, folder, monkeypatch, size):
        rows = make_moons(20_000, noise=0.2, random_state=0)[0]
        pd.DataFrame(rows, columns=["x", "y"]).to_csv("moons.csv", index=False)
        assert run("cluster", "moons.csv", "--clusters", 2, "--out", "whole", "--quiet") == 0
        monkeypatch.setattr(several_files, "LARGE", 1_000)
        monkeypatch.setattr(text_parts, "PART_BYTES", size)
        assert run("cluster", "moons.csv", "--clusters", 2, "--out", "parted", "--quiet") == 0
        texts = [pathlib.Path(out, "labels.csv").read_text() for out in ("whole", "parted")]
        assert texts[0] == texts[1]

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    @pytest.mark.parametrize("change", ["shorter", "gone"])
    def test_a_file_that_changes_on_the_way_is_refused(
        self, folder, monkeypatch, capsys, ending, change
    ):
        path, fit = pathlib.Path(f"parts/1.{ending}"), dogc.DOGCOS.fit

        def changed(self, X):
            if change == "gone":
                path.unlink()
            else:
                path.write_bytes(pathlib.Path(f"parts/0.{ending}").read_bytes())
            return fit(self, X)

        monkeypatch.setattr(dogc.DOGCOS, "fit", changed)
        assert run("cluster", f"parts/*.{ending}", "--clusters", 3, "--out", "out") == 2
        assert f"1.{ending} was changed or removed while it was read" in capsys.readouterr().err
        assert not pathlib.Path("out").exists()

    def test_names_that_come_late_are_refused(self, folder, capsys):
        frame = blobs()[["a", "c"]]
        pathlib.Path("late").mkdir()
        frame[:300].to_csv("late/0.csv", index=False, header=False)
        frame[300:].to_csv("late/1.csv", index=False)
        assert run("cluster", "late/*.csv", "--clusters", 3) == 2
        assert (
            "late/1.csv begins with the names of columns and late/0.csv does not"
            in capsys.readouterr().err
        )

    def test_rows_without_a_class_are_refused(self, folder, capsys):
        frame = blobs()
        frame.loc[450, "kind"] = None
        frame.to_parquet("parts/9.parquet", index=False)
        options = ["--clusters", 3, "--label-column", "kind"]
        assert run("cluster", "parts/*.parquet", *options) == 2
        assert "--label-column kind has a missing value in row 1051" in capsys.readouterr().err

    def test_methods_that_need_all_rows_are_refused(self, folder, capsys):
        for method in ("km", "sec"):
            assert run("cluster", "parts/*.csv", "--clusters", 3, "--method", method) == 2
            assert f"--method {method} needs all rows in memory" in capsys.readouterr().err

    def test_nothing_to_cluster_by_is_told(self, folder, capsys):
        drop = [part for name in ("id", "a", "b", "c", "kind") for part in ("--drop", name)]
        assert run("cluster", "parts/*.csv", "--clusters", 3, *drop) == 2
        assert "no column to cluster by" in capsys.readouterr().err

    def test_a_large_file_goes_through_in_parts(self, folder, monkeypatch):
        monkeypatch.setattr(several_files, "LARGE", 1000)
        assert several_files.in_parts(["whole.csv"], None)
        assert run("cluster", "whole.csv", "--clusters", 3, "--out", "out", "--quiet") == 0
        assert record("out")["sha256"] == read_table("whole.csv").sha256
        assert record("out")["source"] == "whole.csv"
        assert "outliers" not in record("out")

    def test_only_what_can_be_cut_does(self, folder, monkeypatch):
        monkeypatch.setattr(several_files, "LARGE", 10)
        blobs().to_csv("rows.csv.gz", index=False)
        assert not several_files.in_parts(["rows.csv.gz"], None)
        assert not several_files.in_parts(["-"], None)
        monkeypatch.setattr(several_files, "LARGE", 10**9)
        assert not several_files.in_parts(["whole.csv"], None)

    def test_the_report_is_of_a_sample_and_says_so(self, folder, monkeypatch, capsys):
        monkeypatch.setattr(sampled_rows, "SAMPLE_ROWS", 60)
        monkeypatch.setattr(sampled_rows, "LEAST_OF_A_CLUSTER", 15)
        options = ["--clusters", 3, "--label-column", "kind", "--out", "out"]
        assert run("cluster", "parts/*.csv", *options) == 0
        printed = " ".join(capsys.readouterr().out.split())
        run_record = record("out")
        shown = run_record["sample"]["rows"]
        assert 45 <= shown < 120
        assert f"The report: plots and ranges use a sample of {shown} of 600 rows" in printed
        assert (
            f"Plots and ranges use a sample of {shown} of 600 rows" in run_record["sample"]["words"]
        )
        page = pathlib.Path("out/report.html").read_text(encoding="utf-8")
        assert run_record["sample"]["words"] in page
        summary = saving.load_bundle("out/model.skops").summary
        assert summary["rows"] == summary["points"]["total"] == 600
        assert {str(c["cluster"]): c["size"] for c in summary["clusters"]} == run_record["clusters"]
        assert run_record["clusters"] == {"0": 300, "1": 200, "2": 100}
        assert summary["sureness"]["known"] == 600
        assert sum(map(sum, summary["truth"]["table"])) == 600
        assert summary["data"]["facts"]["rows"] == 600
        # Rows are those of the files.
        labels = pd.read_csv("out/labels.csv")
        points = summary["points"]
        assert len(points["row"]) == shown
        assert (labels["id"].iloc[np.array(points["row"]) - 1] == points["id"]).all()
        assert (labels["cluster"].iloc[np.array(points["row"]) - 1] == points["cluster"]).all()
        assert min(np.bincount(points["cluster"])) >= 15

    def test_the_model_labels_new_rows_and_knows_its_sizes(self, folder, capsys):
        assert run("cluster", "parts/*.csv", "--clusters", 3, "--out", "out") == 0
        capsys.readouterr()
        assert run("info", "out/model.skops", "--json") == 0
        assert json.loads(capsys.readouterr().out)["clusters"] == record("out")["clusters"]
        assert run("predict", "out/model.skops", "whole.csv", "--out", "again.csv") == 0
        found, expected = pd.read_csv("again.csv"), pd.read_csv("out/labels.csv")
        assert (found["cluster"] == expected["cluster"]).mean() > 0.99
        assert hasattr(dogc.load("out/model.skops"), "predict")

    def test_more_rows_than_nodes(self, folder):
        """Representatives stand for the rows; labels come block by block."""
        frame = blobs(6000)
        frame.to_csv("many.csv", index=False)
        frame[:3000].to_csv("many-0.csv", index=False)
        frame[3000:].to_csv("many-1.csv", index=False)
        assert run("cluster", "many-*.csv", "--clusters", 3, "--drop", "kind", "--out", "out") == 0
        labels = pd.read_csv("out/labels.csv")
        assert clustering_accuracy(frame["kind"], labels["cluster"]) > 0.999
        model = dogc.load("out/model.skops")
        assert len(model.labels_) == 0
        assert model.n_representatives_ < 6000
        assert record("out")["clusters"] == {"0": 3000, "1": 2000, "2": 1000}
        assert run("predict", "out/model.skops", "many.csv", "--out", "p.csv") == 0
        assert (pd.read_csv("p.csv")["cluster"] == labels["cluster"]).all()

    def test_methods_without_confidence(self, folder):
        options = ["--clusters", 3, "--method", "clr", "--drop", "kind", "--out", "out"]
        assert run("cluster", "parts/*.csv", *options) == 0
        assert list(pd.read_csv("out/labels.csv"))[-1] == "cluster"
        assert saving.load_bundle("out/model.skops").summary["sureness"] is None

    def test_nothing_is_left_where_it_fails(self, folder, monkeypatch, capsys):
        def broken(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(streaming.CsvRows, "write", broken)
        assert run("cluster", "parts/*.csv", "--clusters", 3, "--out", "out") == 2
        assert "cannot write 'out': the disk is full" in capsys.readouterr().err
        assert not pathlib.Path("out").exists()

    def test_json_is_one_object(self, folder, capsys):
        options = ["--clusters", 3, "--label-column", "kind", "--json", "--out", "out"]
        assert run("cluster", "parts/*.csv", *options) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["rows"] == 600
        assert len(printed["files"]) == 4

    def test_a_bar_goes_over_rows_where_somebody_watches(self, folder, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        assert run("cluster", "parts/*.csv", "--clusters", 3, "--out", "out") == 0
        shown = capsys.readouterr().err
        for what in ("reading", "looking at columns", "preparing", "labelling"):
            assert f"{what}:" in shown
        assert "/600 " in shown

    def test_label_columns_with_too_many_values_are_not_scored(self, folder, monkeypatch):
        monkeypatch.setattr(tally, "MOST_CLASSES", 20)
        options = ["--clusters", 3, "--label-column", "id", "--drop", "kind", "--out", "out"]
        assert run("cluster", "parts/*.csv", *options) == 0
        assert record("out")["scores"] is None
        assert any("too many values" in note for note in record("out")["notes"])


class TestRefused:
    def message(self, capsys, *arguments):
        assert run(*arguments) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        return captured.err

    def test_patterns(self, folder, capsys):
        said = self.message(capsys, "cluster", "nothing/*.csv", "--clusters", 3)
        assert "no file matches nothing/*.csv" in said
        said = self.message(capsys, "cluster", "parts/*", "--clusters", 3)
        assert "not of the same kind" in said
        blobs().to_csv("parts/a.csv.gz", index=False)
        said = self.message(capsys, "cluster", "parts/*.csv*", "--clusters", 3)
        assert "a.csv.gz is neither text nor Parquet" in said
        assert not pathlib.Path("dogc-output").exists()

    def test_a_pattern_without_quotes(self, folder, capsys):
        said = self.message(capsys, "cluster", "parts/0.csv", "parts/1.csv", "--clusters", 3)
        assert "put a pattern of files in quotes" in said

    def test_a_pattern_of_one_file_is_that_file(self, folder):
        assert several_files.matching("who*.csv") == ["whole.csv"]
        pathlib.Path("odd[1].csv").write_text("a,b\n1,2\n")
        assert several_files.matching("odd[1].csv") == ["odd[1].csv"]

    def test_without_dask(self, folder, monkeypatch, capsys):
        monkeypatch.setattr(several_files, "has_dask", lambda: False)
        monkeypatch.setattr(several_files, "LARGE", 10)
        said = self.message(capsys, "cluster", "parts/*.csv", "--clusters", 3)
        assert 'pip install "dogc[dask]"' in said
        said = self.message(capsys, "cluster", "whole.csv", "--clusters", 3, "--scheduler", "x:1")
        assert "--scheduler needs dask" in said
        assert not several_files.in_parts(["whole.csv"], None)

    def test_no_scheduler_there(self, folder, monkeypatch, capsys):
        monkeypatch.setattr(workers, "SECONDS", 1)
        address = ["--scheduler", "tcp://127.0.0.1:9"]
        said = self.message(capsys, "cluster", "whole.csv", "--clusters", 3, *address)
        assert "no Dask scheduler answers there" in said
        said = self.message(capsys, "cluster", "-", "--clusters", 3, *address)
        assert "standard input cannot be used" in said


class TestPredict:
    @pytest.fixture
    def model(self, folder, capsys):
        assert run("cluster", "whole.csv", "--clusters", 3, "--drop", "kind", "--out", "made") == 0
        capsys.readouterr()
        return folder / "made" / "model.skops"

    def test_a_pattern_is_the_whole_table(self, model, capsys):
        assert run("predict", model, "parts/*.csv", "--out", "parted.csv", "--json") == 0
        assert json.loads(capsys.readouterr().out)["rows"] == 600
        assert run("predict", model, "whole.csv", "--out", "whole.csv.out") == 0
        parted, whole = pathlib.Path("parted.csv"), pathlib.Path("whole.csv.out")
        assert parted.read_bytes() == whole.read_bytes()

    def test_what_is_read_is_not_written_over(self, model, capsys):
        code = run("predict", model, "parts/*.csv", "--out", "parts/1.csv", "--force")
        assert code == 2
        assert "is what is being read" in capsys.readouterr().err

    def test_wrong_columns_leave_nothing(self, model, capsys):
        for place in range(3):
            path = f"parts/{place}.csv"
            pd.read_csv(path).drop(columns="a").to_csv(path, index=False)
        assert run("predict", model, "parts/*.csv", "--out", "p.csv") == 2
        assert "lacks the column 'a'" in capsys.readouterr().err
        assert not pathlib.Path("p.csv").exists()


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever runs on this machine besides
        started = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
    with started:
        yield started


class TestScheduler:
    def test_a_cluster_gives_what_threads_give(self, folder, cluster, capsys, monkeypatch):
        monkeypatch.setattr(text_parts, "PART_BYTES", 60_000)
        frame = blobs(4200)
        for place in range(3):
            frame[place * 1400 : (place + 1) * 1400].to_csv(f"many-{place}.csv", index=False)
        options = ["--clusters", 3, "--label-column", "kind"]
        there = ["--scheduler", cluster.scheduler_address]
        assert run("cluster", "many-*.csv", *options, "--out", "here") == 0
        assert run("cluster", "many-*.csv", *options, *there, "--out", "there") == 0
        capsys.readouterr()
        here, far = (pathlib.Path(name, "labels.csv").read_bytes() for name in ("here", "there"))
        assert here == far
        one, other = record("here"), record("there")
        assert {**one, "seconds": 0, "history": 0} == {**other, "seconds": 0, "history": 0}
        assert run("predict", "there/model.skops", "many-*.csv", "--out", "a.csv", *there) == 0
        assert run("predict", "here/model.skops", "many-*.csv", "--out", "b.csv") == 0
        assert pathlib.Path("a.csv").read_bytes() == pathlib.Path("b.csv").read_bytes()

    def test_errors_come_from_afar(self, folder, cluster, capsys):
        with open("parts/2.csv", "a") as file:
            file.write("1,2\n")
        there = ["--scheduler", cluster.scheduler_address]
        assert run("cluster", "parts/*.csv", "--clusters", 3, "--out", "out", *there) == 2
        assert "line 202 of parts/2.csv has 2 cells" in capsys.readouterr().err
        assert not pathlib.Path("out").exists()


class TestTally:
    def test_scores_are_those_of_the_rows(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            truth = rng.integers(0, rng.integers(1, 5), 60).astype(str)
            labels = rng.integers(-1, rng.integers(0, 4), 60)
            pieces = [
                tally.tally(labels[i : i + 7], np.full(len(labels[i : i + 7]), 0.3),
                            np.zeros(len(labels[i : i + 7]), bool), truth[i : i + 7])
                for i in range(0, 60, 7)
            ]  # fmt: skip
            total = pieces[0]
            for piece in pieces[1:]:
                total = total.merged(piece)
            names, _, counts = total.table()
            assert names == sorted(set(truth))
            assert tally.agreement_of_counts(counts) == pytest.approx(agreement(truth, labels))
            assert total.named_sizes() == {
                str(k): int((labels == k).sum()) for k in sorted(set(labels))
            }
            assert sum(sure.unsure for sure in total.sureness.values()) == 60


class TestSample:
    def test_does_not_depend_on_parts(self, monkeypatch):
        monkeypatch.setattr(sampled_rows, "SAMPLE_ROWS", 50)
        labels = np.where(np.arange(2000) % 400 == 3, 1, 0)
        frame = pd.DataFrame({"x": np.arange(2000.0)})

        def sample(size):
            total = None
            for start in range(0, 2000, size):
                rows = slice(start, start + size)
                some = sampled_rows.SampledRows(frame[rows], labels[rows], labels[rows] * 0.5)
                some = some.kept(2000)
                total = some if total is None else total.merged(some, 2000)
            return total

        one, other = sample(2000), sample(37)
        pd.testing.assert_frame_equal(one.frame, other.frame)
        assert (one.labels == other.labels).all()
        assert (one.labels == 1).sum() == 5  # all of a small cluster
        assert 30 < len(one.labels) < 80
        assert np.ptp(one.frame["x"]) > 1500


def test_workers_do_not_run_far_ahead():
    begun = []

    def work(item):
        begun.append(item)
        return item

    results = workers.Workers().in_order(work, iter(range(100)))
    assert next(results) == 0
    assert len(begun) <= 2 * workers.MOST_THREADS
    with contextlib.closing(results):
        assert [next(results) for _ in range(5)] == [1, 2, 3, 4, 5]


def test_values_are_looked_up_in_all_parts(tmp_path, monkeypatch):
    """A column may be named by one of its values, wherever in the files it stands."""
    monkeypatch.setattr(text_parts, "PART_BYTES", 200)
    frame = pd.DataFrame({"x": np.arange(100), "os": ["ios"] * 99 + ["android"]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    parts = find_parts([str(tmp_path / "rows.csv")], "rows.csv", workers.Workers())
    assert len(parts.parts) > 1
    assert streaming.texts_in_parts("os", parts) == ["ios", "android"]
