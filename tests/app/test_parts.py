"""Rows in parts: cut, typed and prepared as if they had been read at once."""

import csv
import io
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from hypothesis import example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from dogc.app.tables import (  # noqa: E402
    MixedEncoder,
    TableError,
    parquet_parts,
    preparing_parts,
    read_table,
    row_ends,
    samples,
    text_parts,
)
from dogc.app.tables.parts import find_parts  # noqa: E402
from dogc.app.tables.preparing_parts import prepare_parts  # noqa: E402
from dogc.app.tables.workers import Workers  # noqa: E402
from dogc.datasets import UCI_NAMES, load_uci  # noqa: E402

HERE = Workers()


@pytest.fixture
def small(monkeypatch):
    """Parts of a few rows."""
    monkeypatch.setattr(text_parts, "PART_BYTES", 200)
    monkeypatch.setattr(parquet_parts, "PART_BYTES", 2000)


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
            "money": [f"{1000 + i:,}.5" for i in range(n)],
            "word": words,
            "rare": np.where(np.arange(n) % 150 == 7, "odd", words),
            "note": [f'note {i}, "so"\nend' for i in range(n)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "when": [f"{i % 12 + 1:02d}/{i % 28 + 1:02d}/2021" for i in range(n)],
            "same": "x",
            "as number the same": np.where(late, "1.0", "1.00"),
            "yes": np.where(rng.random(n) < 0.3, "", rng.choice(["Yes", "no"], n)),
            "empty": "",
            "long": [str(2**60 + i) for i in range(n)],
        }
    )


def together(parts):
    return pd.concat([part.read() for part in parts.parts])


def assert_same_preparation(found, expected, exact=True):
    assert found.id_column_ == expected.id_column_
    assert list(found.plans_) == list(expected.plans_)
    for name, plan in expected.plans_.items():
        other = dict(found.plans_[name])
        if not exact and "median" in plan:
            assert other.pop("median") == pytest.approx(plan.pop("median"), rel=0.2, abs=0.2)
        assert other == plan, name
    assert found.steps_ == expected.steps_
    assert found.feature_names_ == expected.feature_names_
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-12, atol=1e-12)


class TestRowEnds:
    @given(
        st.lists(
            st.lists(st.text('ab", \n\r5', max_size=6), min_size=2, max_size=2),
            min_size=1,
            max_size=30,
        ),
        st.integers(1, 40),
        st.booleans(),
    )
    @settings(max_examples=200, deadline=None)
    def test_every_cut_is_at_the_end_of_a_row(self, rows, size, quote_all):
        text = io.StringIO(newline="")
        style = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
        csv.writer(text, lineterminator="\n", quoting=style).writerows(rows)
        data = text.getvalue().encode()
        ranges = list(
            row_ends.row_ranges(
                io.BytesIO(data), size, text_parts.Dialect(",", False, 2), b"\n", None
            )
        )
        assert [start for start, _ in ranges[1:]] == [stop for _, stop in ranges[:-1]]
        assert (ranges[0][0], ranges[-1][1]) == (0, len(data))
        pieces = [data[start:stop].decode() for start, stop in ranges]
        read = [row for piece in pieces for row in csv.reader(io.StringIO(piece, newline=""))]
        assert read == list(csv.reader(io.StringIO(data.decode(), newline="")))

    def test_quotes_in_the_middle_of_cells_mean_nothing(self):
        data = b'5" pipe,1\nplain,2\n"a\nb",3\n6" and 7" pipes,4\n'
        for size in range(1, 30):
            ranges = row_ends.row_ranges(
                io.BytesIO(data), size, text_parts.Dialect(",", False, 2), b"\n", None
            )
            stops = {stop for _, stop in ranges}
            assert stops <= {10, 18, 26, 45, len(data)}

    def test_two_quotes_that_mean_one_are_not_torn_apart(self):
        data = b'5" p,1\n"a ""b\n",2\n6" q,3\n'
        for size in range(1, len(data) + 1):
            ranges = row_ends.row_ranges(
                io.BytesIO(data), size, text_parts.Dialect(",", False, 2), b"\n", None
            )
            assert {stop for _, stop in ranges} <= {7, 18, len(data)}

    def test_a_quote_that_is_never_closed_is_said(self, monkeypatch, tmp_path):
        monkeypatch.setattr(row_ends, "LONGEST_ROW", 1000)
        monkeypatch.setattr(text_parts, "PART_BYTES", 500)
        path = tmp_path / "rows.csv"
        path.write_text("a,b\n" + "1,2\n" * 50 + '"3,4\n' + "5,6\n" * 900)
        with pytest.raises(TableError, match="a quote is not closed"):
            find_parts([str(path)], "rows.csv", HERE)


class TestTypes:
    def test_text_in_parts_is_the_whole(self, small, tmp_path):
        path = tmp_path / "rows.csv"
        mixed().to_csv(path, index=False)
        whole = read_table(str(path))
        parts = find_parts([str(path)], "rows.csv", HERE)
        assert len(parts.parts) > 50
        assert parts.rows == len(whole.frame)
        assert parts.sha256 == whole.sha256
        pd.testing.assert_frame_equal(together(parts), whole.frame, check_index_type=False)

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
        import pyarrow as pa

        from dogc.app.tables.celltypes import as_kind, look_at, typed

        pieces = [pa.chunked_array([cells[i : i + size]]) for i in range(0, len(cells), size)]
        look = look_at(pieces[0])
        for piece in pieces[1:]:
            look = look.merged(look_at(piece))
        expected = typed(pa.chunked_array([cells]))
        found = pa.chunked_array(
            [chunk for piece in pieces for chunk in as_kind(piece, look.kind()).chunks]
        )
        pd.testing.assert_series_equal(found.to_pandas(), expected.to_pandas())

    def test_parquet_in_parts_is_the_whole(self, small, tmp_path):
        path = tmp_path / "rows.parquet"
        frame = mixed()
        frame["late null"] = pd.array([*range(399), None], dtype="Int64")
        frame["huge null"] = pd.array([*(2**60 + np.arange(399)), None], dtype="Int64")
        frame["flag"] = frame["whole"] > 0
        frame["cat"] = pd.Categorical(frame["word"])
        frame.to_parquet(path, row_group_size=90)
        whole = read_table(str(path))
        parts = find_parts([str(path)], "rows.parquet", HERE)
        assert len(parts.parts) > 10
        assert parts.sha256 == whole.sha256
        found = together(parts)
        found["cat"] = pd.Categorical(found["cat"])
        pd.testing.assert_frame_equal(found, whole.frame, check_index_type=False)

    def test_a_part_can_be_sent_and_can_be_read_by_columns(self, small, tmp_path):
        mixed().to_csv(tmp_path / "rows.csv", index=False)
        mixed().to_parquet(tmp_path / "rows.parquet", row_group_size=90)
        for name in ("rows.csv", "rows.parquet"):
            part = find_parts([str(tmp_path / name)], name, HERE).parts[2]
            again = pickle.loads(pickle.dumps(part))
            some = again.read(["word", "real"])
            pd.testing.assert_frame_equal(some, part.read()[list(some)])
            assert set(some) == {"word", "real"}
            assert some.index[0] == part.first_row


class TestSeveralFiles:
    def write(self, tmp_path, frames, **options):
        for place, frame in enumerate(frames):
            frame.to_csv(tmp_path / f"p{place}.csv", index=False, **options)
        return [str(tmp_path / f"p{place}.csv") for place in range(len(frames))]

    def test_each_may_repeat_the_names_or_not(self, tmp_path):
        whole = mixed()
        paths = self.write(tmp_path, [whole[:100], whole[100:250], whole[250:]])
        text = (tmp_path / "p2.csv").read_text()
        (tmp_path / "p2.csv").write_text(text.split("\n", 1)[1])  # as split -l leaves it
        whole.to_csv(tmp_path / "whole.csv", index=False)
        found = together(find_parts(paths, "parts", HERE))
        expected = read_table(str(tmp_path / "whole.csv")).frame
        pd.testing.assert_frame_equal(found, expected, check_index_type=False)

    def test_files_without_rows_and_old_line_ends(self, small, tmp_path):
        frame = pd.DataFrame({"a": np.arange(90), "b": np.arange(90) / 4})
        paths = self.write(tmp_path, [frame[:0], frame[:50], frame[50:]], lineterminator="\r")
        parts = find_parts(paths, "parts", HERE)
        assert len(parts.parts) == 4
        pd.testing.assert_frame_equal(together(parts), frame, check_index_type=False)

    def test_other_columns_are_refused_by_name(self, tmp_path):
        frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
        paths = self.write(tmp_path, [frame, frame.rename(columns={"b": "c"})])
        with pytest.raises(
            TableError, match=r"p1.csv does not have the columns .* lacks 'b' and has 'c'"
        ):
            find_parts(paths, "parts", HERE)
        paths = self.write(tmp_path, [frame, frame[["b", "a"]]])
        with pytest.raises(TableError, match="another order"):
            find_parts(paths, "parts", HERE)

    def test_parquet_files_may_differ_in_order_and_width_of_numbers(self, tmp_path):
        one = pd.DataFrame({"a": [1, 2], "b": [1.5, 2.5]})
        other = pd.DataFrame({"b": [3.5], "a": np.array([3], dtype=np.int16)})
        one.to_parquet(tmp_path / "1.parquet")
        other.to_parquet(tmp_path / "2.parquet")
        paths = [str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")]
        found = together(find_parts(paths, "parts", HERE))
        assert found.to_dict("list") == {"a": [1, 2, 3], "b": [1.5, 2.5, 3.5]}
        one.rename(columns={"a": "z"}).to_parquet(tmp_path / "2.parquet")
        with pytest.raises(TableError, match=r"2.parquet .* lacks 'a' and has 'z'"):
            find_parts(paths, "parts", HERE)

    def test_kinds_that_cannot_be_cut_or_do_not_belong_together(self, tmp_path):
        frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
        frame.to_csv(tmp_path / "a.csv", index=False)
        frame.to_parquet(tmp_path / "b.parquet")
        frame.to_csv(tmp_path / "c.csv.gz", index=False)
        names = {name: str(tmp_path / name) for name in ("a.csv", "b.parquet", "c.csv.gz")}
        with pytest.raises(TableError, match="not of the same kind"):
            find_parts([names["a.csv"], names["b.parquet"]], "parts", HERE)
        with pytest.raises(TableError, match=r"c.csv.gz is neither text nor Parquet"):
            find_parts([names["c.csv.gz"]], "parts", HERE)

    def test_the_line_that_is_wrong_is_named(self, small, tmp_path):
        (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 200 + "3\n" + "4,5\n" * 200)
        with pytest.raises(TableError, match=r"line 202 of .*a.csv has 1 cell"):
            find_parts([str(tmp_path / "a.csv")], "a.csv", HERE)
        (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"1,2\n" * 200 + b"3,\xff\n" + b"4,5\n" * 200)
        with pytest.raises(TableError, match=r"not UTF-8 text \(byte 807, in line 202\)"):
            find_parts([str(tmp_path / "a.csv")], "a.csv", HERE)


class TestPreparation:
    def both(self, path, **options):
        whole = MixedEncoder(**options).fit(read_table(str(path)).frame)
        parts = find_parts([str(path)], path.name, HERE)
        return prepare_parts(MixedEncoder(**options), parts, HERE), whole

    @pytest.mark.parametrize("scale", [True, False])
    def test_is_that_of_the_whole_table(self, small, tmp_path, scale):
        path = tmp_path / "rows.csv"
        mixed().to_csv(path, index=False)
        found, expected = self.both(path, scale=scale, drop=["codes"], label_column="word")
        assert_same_preparation(found, expected)
        assert found.plans_["as number the same"] == {"kind": "left out", "reason": "constant"}
        frame = read_table(str(path)).frame
        np.testing.assert_allclose(found.transform(frame), expected.transform(frame), atol=1e-12)

    @pytest.mark.parametrize("name", UCI_NAMES)
    def test_of_the_bundled_tables(self, tmp_path, monkeypatch, name):
        monkeypatch.setattr(text_parts, "PART_BYTES", 4000)
        bunch = load_uci(name, encoding="raw", as_frame=True)
        path = tmp_path / f"{name}.csv"
        bunch.data.assign(target=bunch.target_names[bunch.target]).to_csv(path, index=False)
        assert_same_preparation(*self.both(path, label_column="target"))

    @given(st.integers(0, 10**6))
    @settings(max_examples=40, deadline=None)
    def test_of_random_tables(self, seed):
        """Columns of few words, numbers, dates and gaps, mixed at random."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 60))
        cells = ["1", "2", "3.5", "", "NA", "yes", "no", "a", "b", "2020-01-02", "01/02/2020",
                 "1,5", "12,000", "007", "True", "false", "none"]  # fmt: skip
        columns = {}
        for j in range(int(rng.integers(1, 6))):
            pool = rng.choice(cells, int(rng.integers(1, 4)), replace=False)
            columns[f"x{j}"] = rng.choice(pool, n)
        columns["number"] = rng.normal(size=n).round(3).astype(str)
        columns["id"] = rng.integers(0, n * n, n).astype(str)
        frame = pd.DataFrame(columns)
        self.check_random(frame, int(rng.integers(1, n)))

    def check_random(self, frame, size):
        class Piece:
            def __init__(self, start):
                self.rows, self.first_row = len(frame[start : start + size]), start

            def read(self, columns=None):
                piece = frame[self.first_row : self.first_row + self.rows]
                return piece if columns is None else piece[list(columns)]

        pieces = SimpleNamespace(
            parts=[Piece(start) for start in range(0, len(frame), size)],
            names=list(frame.columns),
            rows=len(frame),
        )
        found = prepare_parts(MixedEncoder(), pieces, HERE)
        assert_same_preparation(found, MixedEncoder().fit(frame))

    def test_does_not_depend_on_who_works(self, small, tmp_path, monkeypatch):
        path = tmp_path / "rows.csv"
        mixed().to_csv(path, index=False)
        parts = find_parts([str(path)], "rows.csv", HERE)
        first = prepare_parts(MixedEncoder(), parts, HERE)
        monkeypatch.setattr("dogc.app.tables.workers.MOST_THREADS", 1)
        second = prepare_parts(MixedEncoder(), parts, Workers())
        assert (first.mean_ == second.mean_).all()
        assert (first.scale_ == second.scale_).all()

    def test_bounds_keep_what_matters(self, small, tmp_path, monkeypatch):
        """With far fewer values kept than there are, kinds stay and medians are near."""
        monkeypatch.setattr(preparing_parts, "MOST_VALUES", 60)
        monkeypatch.setattr(preparing_parts, "LEAST_VALUES", 60)
        monkeypatch.setattr(samples, "MOST_KEYS", 1024)
        rng = np.random.default_rng(0)
        n = 1500
        frame = pd.DataFrame(
            {
                "id": np.arange(n) * 7 + 3,
                "real": rng.normal(size=n) + 10,
                "note": [f"note {i}" for i in range(n)],
                "comma": [f"{a},{b}" for a, b in rng.integers(10, 99, (n, 2))],
                "day": [f"{1990 + i % 30}-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(n)],
                "word": np.where(rng.random(n) < 0.6, "often", [f"w{i % 300}" for i in range(n)]),
            }
        )
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
        found, expected = self.both(path)
        kinds = {name: plan["kind"] for name, plan in expected.plans_.items()}
        assert {name: plan["kind"] for name, plan in found.plans_.items()} == kinds
        assert found.id_column_ == "id"
        assert found.plans_["note"]["reason"] == "text with nearly all values different"
        assert found.plans_["comma"]["style"] == "decimal comma"
        middle = expected.plans_["real"]["median"]
        assert found.plans_["real"]["median"] == pytest.approx(middle, abs=0.5)
        assert found.plans_["word"]["levels"] == expected.plans_["word"]["levels"]
        assert found.plans_["word"]["open"] == pytest.approx(300, rel=0.5)
        read = read_table(str(path)).frame
        np.testing.assert_allclose(found.transform(read), expected.transform(read), atol=1e-9)
        assert any("about" in step for step in found.steps_)

    def test_a_value_that_comes_twice_in_one_part_is_remembered(self):
        twice, once = (samples.different(np.array([value]), 3 - value) for value in (1, 2))
        assert twice.merged(once).repeated
        assert once.merged(twice).repeated
        assert not once.merged(once).repeated

    def test_unknown_columns_and_values_that_are_not_finite(self, small, tmp_path):
        path = tmp_path / "rows.csv"
        pd.DataFrame({"x": [*range(300), "inf"], "y": np.arange(301) % 7}).to_csv(path, index=False)
        parts = find_parts([str(path)], "rows.csv", HERE)
        with pytest.raises(TableError, match="there is no column 'z'"):
            prepare_parts(MixedEncoder(drop=["z"]), parts, HERE)
        with pytest.raises(TableError, match="infinite value in row 301"):
            prepare_parts(MixedEncoder(), parts, HERE)
