"""Tables larger than memory: read, encoded, fitted and labelled as if they were one frame."""

import json
import pathlib
import sys

import numpy as np
import pytest
from commands import pd, run

pa = pytest.importorskip("pyarrow")

from hypothesis import example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import dogc  # noqa: E402
from dogc import MixedEncoder  # noqa: E402
from dogc.app.files import (  # noqa: E402
    TableError,
    arrow_files,
    clustering,
    open_table,
    read_table,
    reading,
    tally,
    text,
)
from dogc.app.files.celltypes import Cells, as_kind, look_at  # noqa: E402
from dogc.encoding import statistics  # noqa: E402
from dogc.metrics import clustering_accuracy  # noqa: E402


@pytest.fixture
def small(monkeypatch):
    """Chunks of a few rows, of which none stays in memory."""
    monkeypatch.setattr(text, "CHUNK_BYTES", 1500)
    monkeypatch.setattr(arrow_files, "CHUNK_CELLS", 400)
    monkeypatch.setattr(reading, "SMALL", 0)


def mixed(n=400, seed=0):
    """A table with all kinds of columns, some of which show what they are late."""
    rng = np.random.default_rng(seed)
    late = np.arange(n) > 0.9 * n
    words = rng.choice(["red", "green", "blue"], n).astype(object)
    return pd.DataFrame(
        {
            "id": rng.permutation(n) + 1000,
            "whole": rng.integers(-5, 9, n),
            "real": rng.normal(size=n),
            "gaps": np.where(rng.random(n) < 0.1, "NA", rng.integers(0, 99, n).astype(str)),
            "late gaps": np.where(late, " ", rng.integers(0, 99, n).astype(str)),
            "late reals": np.where(late, "2.5", rng.integers(0, 99, n).astype(str)),
            "codes": [f"{i % 7:03d}" for i in range(n)],
            "late code": np.where(np.arange(n) == n - 2, "007", "8"),
            "strays": np.where(np.arange(n) == n - 3, "much", rng.integers(0, 50, n).astype(str)),
            "comma": [f"{a},{b}" for a, b in rng.integers(0, 99, (n, 2))],
            "money": [f"${1000 + i:,}.5" for i in range(n)],
            "word": words,
            "rare": np.where(np.arange(n) % 150 == 7, "odd", words),
            "note": [f'note {i}, "so"\nend' for i in range(n)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "when": [f"{i % 12 + 1:02d}/{i % 28 + 1:02d}/2021" for i in range(n)],
            "same": "x",
            "yes": np.where(rng.random(n) < 0.3, "", rng.choice(["Yes", "no"], n)),
            "long": [str(2**60 + i) for i in range(n)],
        }
    )


def chunked(path):
    """The frame of a file, and in how many chunks it came."""
    with open_table(str(path)) as table:
        frames = list(table.chunks())
        assert table.rows == sum(map(len, frames))
        return pd.concat(frames), len(frames), table.sha256


class TestReading:
    def test_text_and_parquet_in_chunks_are_the_whole(self, tmp_path, monkeypatch):
        frame = mixed()
        frame.to_csv(tmp_path / "rows.csv", index=False)
        frame.to_csv(tmp_path / "rows.csv.gz", index=False)
        frame["late null"] = pd.array([*range(399), None], dtype="Int64")
        frame["huge null"] = pd.array([*(2**60 + np.arange(399)), None], dtype="Int64")
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
        names = ("rows.csv", "rows.csv.gz", "rows.parquet")
        whole = {name: read_table(str(tmp_path / name)) for name in names}
        monkeypatch.setattr(text, "CHUNK_BYTES", 1500)
        monkeypatch.setattr(arrow_files, "CHUNK_CELLS", 400)
        monkeypatch.setattr(reading, "SMALL", 0)
        for name in names:
            found, count, sha256 = chunked(tmp_path / name)
            assert count > 15
            assert sha256 == whole[name].sha256
            pd.testing.assert_frame_equal(found, whole[name].frame, check_index_type=False)

    @given(
        st.lists(
            st.sampled_from(
                ["1", "-2", "2.5", "", "nan", " 7", "+3", "007", "0x1F", "00.5", "x", "1e3", "inf",
                 str(2**53 + 1), str(2**63 + 5), "-9", "NA", "1,5"]
            ),
            min_size=1,
            max_size=12,
        ),
        st.integers(1, 4),
    )  # fmt: skip
    @example(["nan", "9007199254740993"], 1)
    @settings(max_examples=300, deadline=None)
    def test_types_of_pieces_are_those_of_the_column(self, cells, size):
        look = Cells()
        for i in range(0, len(cells), size):
            look = look.merged(look_at(pa.chunked_array([cells[i : i + size]])))
        column = pa.chunked_array([cells])
        expected = look_at(column).kind()
        assert look.kind() == expected
        found = as_kind(column, expected).to_pylist()
        for cell, value in zip(cells, found, strict=True):  # nothing is lost
            if expected == "string":
                assert value == cell
            elif value is not None and value == value:
                assert value == type(value)(cell.strip())

    def write(self, folder, frames, **options):
        for place, frame in enumerate(frames):
            frame.to_csv(folder / f"p{place}.csv", index=False, **options)
        return folder / "p*.csv"

    def test_each_of_several_files_may_repeat_the_names_or_not(self, small, tmp_path):
        whole = mixed()
        pattern = self.write(tmp_path, [whole[:100], whole[100:250], whole[250:]])
        lines = (tmp_path / "p2.csv").read_text()
        (tmp_path / "p2.csv").write_text(lines.split("\n", 1)[1])  # as split -l leaves it
        whole.to_csv(tmp_path / "whole.csv", index=False)
        expected = read_table(str(tmp_path / "whole.csv")).frame
        found = chunked(pattern)[0]
        pd.testing.assert_frame_equal(found, expected, check_index_type=False)

    def test_files_without_rows_and_old_line_ends(self, small, tmp_path):
        frame = pd.DataFrame({"a": np.arange(90), "b": np.arange(90) / 4})
        pattern = self.write(tmp_path, [frame[:0], frame[:50], frame[50:]], lineterminator="\r")
        pd.testing.assert_frame_equal(chunked(pattern)[0], frame, check_index_type=False)

    def test_parquet_files_may_differ_in_order_and_width_of_numbers(self, tmp_path):
        one = pd.DataFrame({"a": [1, 2], "b": [1.5, 2.5]})
        one.to_parquet(tmp_path / "1.parquet")
        other = pd.DataFrame({"b": [3.5], "a": np.array([3], dtype=np.int16)})
        other.to_parquet(tmp_path / "2.parquet")
        found = read_table(str(tmp_path / "*.parquet")).frame
        assert found.to_dict("list") == {"a": [1, 2, 3], "b": [1.5, 2.5, 3.5]}

    def test_what_does_not_belong_together_is_refused_by_name(self, tmp_path):
        frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
        for other, message in [
            (frame.rename(columns={"b": "c"}), r"p1.csv does not .* lacks 'b' and has 'c'"),
            (frame[["b", "a"]], "another order"),
        ]:
            with pytest.raises(TableError, match=message):
                read_table(str(self.write(tmp_path, [frame, other])))
        frame.to_parquet(tmp_path / "p1.csv")
        with pytest.raises(TableError, match="not all text, or all Parquet"):
            read_table(str(tmp_path / "p*.csv"))
        np.save(tmp_path / "1.npy", np.eye(2))
        np.save(tmp_path / "2.npy", np.eye(2))
        with pytest.raises(TableError, match=r"2 files .* not all text, or all Parquet"):
            read_table(str(tmp_path / "*.npy"))
        with pytest.raises(TableError, match=r"no file matches .*none\*\.csv"):
            read_table(str(tmp_path / "none*.csv"))

    def test_the_line_that_is_wrong_is_named_in_any_chunk(self, small, tmp_path):
        path = tmp_path / "a.csv"
        for fault, message in [
            (b"3\n", r"row 2002 of .*a.csv .* has 1 cell"),
            (b"3,\xff\n", "not UTF-8 text"),
            (b"3,\0\n", "NUL byte"),
        ]:
            path.write_bytes(b"a,b\n" + b"1,2\n" * 2000 + fault + b"4,5\n" * 200)
            with pytest.raises(TableError, match=message):
                read_table(str(path))

    def test_a_file_that_grows_meanwhile_is_refused(self, small, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(b"a,b\n" + b"1,2\n" * 2000)
        with open_table(str(path)) as table:
            with path.open("ab") as file:
                file.write(b"1,2\n" * 2000)
            with pytest.raises(TableError, match="was changed while it was read"):
                list(table.chunks())


def assert_same(found, expected):
    for name in ("id_column_", "plans_", "steps_", "feature_names_", "weights_"):
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_array_equal(found.mean_, expected.mean_)
    np.testing.assert_array_equal(found.scale_, expected.scale_)


def fit_in_chunks(frame, size, **options):
    pieces = [frame[start : start + size] for start in range(0, len(frame), size)]
    return MixedEncoder(**options).fit_chunks(lambda: pieces)


class TestEncoding:
    @pytest.mark.parametrize("scale", [True, False])
    def test_does_not_depend_on_chunks(self, scale):
        options = {"scale": scale, "drop": ["codes"], "label_column": "word"}
        expected = MixedEncoder(**options).fit(mixed())
        assert expected.plans_["late code"]["kind"] == "category"
        assert_same(fit_in_chunks(mixed(), 37, **options), expected)

    @given(st.integers(0, 10**6))
    @settings(max_examples=40, deadline=None)
    def test_of_random_tables(self, seed):
        """Columns of few words, numbers, dates and gaps, mixed at random."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 60))
        cells = ["1", "2", "3.5", "", "NA", "yes", "no", "a", "b", "2020-01-02", "01/02/2020",
                 "1,5", "12,000", "007", "True", "false", "none", "5 cm", "$3"]  # fmt: skip
        columns = {
            f"x{j}": rng.choice(rng.choice(cells, int(rng.integers(1, 4)), replace=False), n)
            for j in range(int(rng.integers(1, 6)))
        }
        columns["number"] = rng.normal(size=n).round(3).astype(str)
        columns["id"] = rng.integers(0, n * n, n).astype(str)
        frame = pd.DataFrame(columns)
        assert_same(fit_in_chunks(frame, int(rng.integers(1, n))), MixedEncoder().fit(frame))

    def test_what_a_sample_decides_is_completed_from_all_rows(self, monkeypatch):
        """More texts than are counted, and more rows than are sampled."""
        monkeypatch.setattr(statistics, "SAMPLE_ROWS", 300)
        monkeypatch.setattr(statistics, "LEAST_ROWS", 300)
        monkeypatch.setattr(statistics, "MOST_TEXTS", 500)
        rng = np.random.default_rng(0)
        n = 4000
        numbers = rng.normal(50, 3, n).round(6)
        prices = np.array([f"€{value}" for value in numbers], dtype=object)
        prices[17] = "none of these"
        prices[18] = ""
        city = np.where(rng.random(n) < 0.6, "Rome", [f"village {i}" for i in range(n)])
        frame = pd.DataFrame({
            "customer_id": np.arange(n) + 7,
            "price": prices,
            "city": city,
            "note": [f"text {i}" for i in range(n)],
            "whole": np.where(np.arange(n) == 9, np.nan, rng.integers(0, 9, n)),
        })  # fmt: skip
        found = MixedEncoder(weights=None).fit(frame)
        assert_same(fit_in_chunks(frame, 333, weights=None), found)
        assert found.id_column_ == "customer_id"
        price, note = found.plans_["price"], found.plans_["note"]
        assert (price["kind"], price["before"]) == ("number", "€")
        assert (price["strays"], price["missing"]) == (1, 2)
        assert price["median"] == pytest.approx(np.median(numbers), abs=1.0)
        assert found.plans_["city"]["levels"] == ["Rome"]
        assert found.feature_names_ == ["price", "city=Rome", "city=(other)", "whole"]
        assert found.plans_["whole"]["missing"] == 1
        assert "more than 500" in note["reason"] or "nearly all" in note["reason"]
        said = "In column 'price', cells that are not numbers count as missing: 1."
        assert any(said in step for step in found.steps_)


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
    """A table in one file and in three, as CSV and as Parquet."""
    monkeypatch.chdir(tmp_path)
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


OPTIONS = ["--clusters", 3, "--label-column", "kind"]


class TestCommands:
    def test_labels_are_those_of_the_whole_file(self, folder, monkeypatch, capsys):
        assert run("cluster", "whole.csv", *OPTIONS, "--out", "whole") == 0
        monkeypatch.setattr(text, "CHUNK_BYTES", 6000)
        monkeypatch.setattr(arrow_files, "CHUNK_CELLS", 400)
        monkeypatch.setattr(reading, "SMALL", 0)
        expected = pathlib.Path("whole", "labels.csv").read_bytes()
        for files, title in [("whole.csv", "whole.csv"), ("parts/*.csv", "3 files (0.csv to "),
                             ("parts/*.parquet", "3 files (0.parquet")]:  # fmt: skip
            assert run("cluster", files, *OPTIONS, "--out", "out", "--force") == 0
            assert f"600 rows of {title}" in capsys.readouterr().out
            found = pathlib.Path("out", "labels.csv").read_bytes()
            assert found == expected
            one, other = record("out"), record("whole")
            for name in ("rows", "features", "preparation", "clusters", "scores"):
                assert one[name] == other[name], name
        for files in ("parts/*.csv", "whole.csv"):
            assert run("predict", "out/model.skops", files, "--out", "p.csv", "--force") == 0
            again = pd.read_csv("p.csv")["cluster"]
            assert (again == pd.read_csv("out/labels.csv")["cluster"]).mean() > 0.99

    def test_the_report_is_of_a_sample_and_says_so(self, folder, small, monkeypatch, capsys):
        monkeypatch.setattr(tally, "SAMPLE_ROWS", 60)
        monkeypatch.setattr(tally, "LEAST_OF_A_CLUSTER", 15)
        assert run("cluster", "parts/*.csv", *OPTIONS, "--out", "out") == 0
        printed = " ".join(capsys.readouterr().out.split())
        sample = record("out")["sample"]
        assert 45 <= sample["rows"] < 120
        words = f"plots and ranges use a sample of {sample['rows']} of 600 rows"
        assert f"The report: {words}" in printed
        assert sample["words"] in pathlib.Path("out/report.html").read_text(encoding="utf-8")
        summary = dogc.load_bundle("out/model.skops").summary
        assert summary["rows"] == 600
        assert record("out")["clusters"] == {"0": 300, "1": 200, "2": 100}
        assert sum(map(sum, summary["truth"]["table"])) == summary["membership"]["known"] == 600
        labels, points = pd.read_csv("out/labels.csv"), summary["points"]
        rows = np.array(points["row"]) - 1  # of the files
        assert len(rows) == sample["rows"]
        assert (labels["id"].iloc[rows] == points["id"]).all()
        assert (labels["cluster"].iloc[rows] == points["cluster"]).all()
        assert min(np.bincount(points["cluster"])) >= 15

    def test_very_many_rows_are_fitted_by_a_sample(self, folder, small, monkeypatch):
        """Nothing of each row is kept; labels come chunk by chunk, and are not in the model."""
        monkeypatch.setattr(clustering, "MANY_ROWS", 5000)
        monkeypatch.setattr(text, "CHUNK_BYTES", 60_000)
        frame = blobs(6000)
        frame.to_csv("many.csv", index=False)
        assert run("cluster", "many.csv", "--clusters", 3, "--drop", "kind", "--out", "out") == 0
        labels = pd.read_csv("out/labels.csv")
        assert clustering_accuracy(frame["kind"], labels["cluster"]) > 0.999
        model = dogc.load("out/model.skops")
        assert len(model.labels_) == 0
        assert any(" of 6,000 rows; all rows are labelled" in s for s in record("out")["notes"])
        assert record("out")["clusters"] == {"0": 3000, "1": 2000, "2": 1000}
        assert run("predict", "out/model.skops", "many.csv", "--out", "p.csv") == 0
        assert (pd.read_csv("p.csv")["cluster"] == labels["cluster"]).all()

    def test_any_method_takes_any_table(self, folder, small):
        for method in ("km", "clr"):
            asked = ["--clusters", 3, "--method", method, "--drop", "kind", "--force"]
            assert run("cluster", "parts/*.csv", *asked, "--out", "out") == 0
            assert list(pd.read_csv("out/labels.csv"))[-1] == "cluster"
        assert dogc.load_bundle("out/model.skops").summary["membership"] is None

    def test_a_bar_goes_over_rows_where_somebody_watches(self, folder, small, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        assert run("cluster", "parts/*.csv", "--clusters", 3, "--out", "out") == 0
        shown = capsys.readouterr().err
        for what in ("reading", "looking at columns", "preparing", "encoding", "labelling"):
            assert f"{what}:" in shown
        assert "/600 " in shown

    def test_whole_numbers_beside_gaps_go_through_everything(self, folder):
        frame = pd.read_csv("whole.csv").assign(age=np.arange(600) % 7)
        frame["age"] = frame["age"].astype("Int64").mask(frame.index == 5)
        frame.to_csv("gaps.csv", index=False)
        assert run("cluster", "gaps.csv", "--clusters", 3, "--label-column", "age") == 0
        assert run("cluster", "gaps.csv", "--clusters", 3, "--force") == 0
        assert pd.read_csv("dogc-output/labels.csv")["age"].isna().sum() == 1
        assert run("predict", "dogc-output/model.skops", "gaps.csv") == 0

    def test_what_is_refused(self, folder, capsys):
        assert run("cluster", "parts/0.csv", "parts/1.csv", "-k", 3) == 2
        assert "put a pattern of files in quotes; see dogc cluster" in capsys.readouterr().err
        assert run("cluster", "whole.csv", *OPTIONS, "--out", "made", "-q") == 0
        given = ["predict", "made/model.skops", "parts/*.csv", "--out"]
        assert run(*given, "parts/1.csv", "--force") == 2
        assert "is what is being read" in capsys.readouterr().err

    def test_a_pattern_of_one_file_is_that_file(self, folder):
        assert read_table("who*.csv").source == "whole.csv"
        pathlib.Path("odd[1].csv").write_text("a,b\n1,2\n3,4\n")
        assert read_table("odd[1].csv").source == "odd[1].csv"


def test_the_sample_does_not_depend_on_chunks(monkeypatch):
    monkeypatch.setattr(tally, "SAMPLE_ROWS", 50)
    labels = np.where(np.arange(2000) % 400 == 3, 1, 0)
    frame = pd.DataFrame({"x": np.arange(2000.0)})

    def sample(size):
        total = None
        for start in range(0, 2000, size):
            rows = slice(start, start + size)
            some = tally.SampledRows(frame[rows], labels[rows], labels[rows] * 0.5).kept(2000)
            total = some if total is None else total.merged(some, 2000)
        return total

    one, other = sample(2000), sample(37)
    pd.testing.assert_frame_equal(one.frame, other.frame)
    assert (one.labels == 1).sum() == 5  # all of a small cluster
    assert 30 < len(one.labels) < 80
