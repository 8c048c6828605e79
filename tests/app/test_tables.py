"""Tables: every format read, every fault told in one sentence, every column accounted for."""

import gzip
import hashlib
import io
import pickle
import sys

import numpy as np
import pytest
from contents import filled, saved
from sklearn.base import clone

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

from dogc import MixedEncoder  # noqa: E402
from dogc.app.files import TableError, read_table  # noqa: E402
from dogc.app.files import text as text_files  # noqa: E402
from dogc.app.files.opening import File  # noqa: E402
from dogc.app.files.sniffing import dialect_of  # noqa: E402
from dogc.encoding.values import date_format, number_style, parse_numbers  # noqa: E402


@pytest.fixture
def put(tmp_path):
    """Write a file and give its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def frame_of(path):
    return read_table(path).frame


def as_lists(frame):
    return {name: frame[name].tolist() for name in frame.columns}


CSV = File("x.csv", "text", "x.csv", ".csv")
NUMBERS = {"a": [1, 3], "b": [2.5, 4.0]}


class TestText:
    @pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
    def test_delimiters_line_ends_and_byte_order_mark(self, put, mark, end, start):
        content = start + end.join([f"a{mark}b", f"1{mark}2.5", f"3{mark}4", ""])
        assert as_lists(frame_of(put("x.csv", content))) == NUMBERS

    @pytest.mark.parametrize("rows", ["a,b\n1,2.5\n3,4", "1,2", "a\n5", '1,"x"'])
    def test_the_last_line_needs_no_end(self, put, rows):
        path, ended = put("x.csv", rows), put("y.csv", rows + "\n")
        assert as_lists(frame_of(path)) == as_lists(frame_of(ended))

    def test_quotes_hold_delimiters_quotes_and_lines(self, put):
        path = put("x.csv", 'a,"b, c"\n"x, ""y""\nz",1\n"w",2\n')
        assert as_lists(frame_of(path)) == {"a": ['x, "y"\nz', "w"], "b, c": [1, 2]}

    def test_quotes_in_the_last_cell_and_in_the_middle_of_one(self, put):
        path = put("x.csv", 'a,b\n5" tall,1\n6,"two\nlines"\n\n')
        expected = {"a": ['5" tall', "6"], "b": ["1", "two\nlines"]}
        assert as_lists(frame_of(path)) == expected

    def test_no_header(self, put):
        found = as_lists(frame_of(put("x.csv", "1,2,a\n3,4,b\n")))
        assert found == {"c1": [1, 3], "c2": [2, 4], "c3": ["a", "b"]}

    @pytest.mark.parametrize(
        ("rows", "header"),
        [
            ("x,y\n1,2\n", True),
            ("1,2\n3,4\n", False),
            ("colour,size\nred,big\nblue,big\n", True),
            ("y,n,y\nn,n,y\n", False),  # the same words come again
            ("p,q,p\nx,y,z\n", False),
            ("red,big\nblue,big\nred,small\n", False),
            ("B,1,1\nR,1,2\n", False),
            ("NA,1\n2,3\n", False),  # a gap is no name
            ("<5,1\n2,3\n", False),
            ("id,2019,2020\n7,1,2\n", True),
            ("day,x\n2020-01-05,red\n", True),
            ("a,b\n", True),
            ("a,a\n1,2\n", True),
        ],
    )
    def test_header_is_found_out(self, rows, header):
        assert dialect_of(rows, True, CSV).header is header

    @pytest.mark.parametrize(
        ("rows", "mark"),
        [
            ("1,5;2,3\n4,5;6,7\n", ";"),  # decimal commas
            ('a;b\n"1;2";3\n', ";"),
            ("a,b\nx;y,z;w\n", ","),
            ("a\tb\nx, y\tz, w\n", "\t"),
        ],
    )
    def test_delimiter_is_found_out(self, rows, mark):
        assert dialect_of(rows, True, CSV).delimiter == mark

    def test_a_sample_cut_within_a_row_is_judged_by_whole_rows(self):
        assert dialect_of("a;b\n1;2\n3;4\n5,6", False, CSV).delimiter == ";"

    def test_names_lose_blanks_and_empty_ones_are_filled(self, put):
        assert list(frame_of(put("x.csv", ", b ,\n1,2,3\n"))) == ["index", "b", "c3"]

    def test_text_is_kept_as_written(self, put):
        codes = ["007", "010", "123"]
        huge = ["123456789012345678901", "123456789012345678902", "9"]
        gaps = ["9007199254740993", "", "9007199254740995"]
        rows = "".join(map("{},{},{}, NA ,x\n".format, codes, huge, gaps))
        frame = frame_of(put("x.csv", "code,huge,gaps,none,word\n" + rows))
        assert frame["code"].tolist() == codes
        assert frame["huge"].tolist() == huge
        assert frame["gaps"].dropna().tolist() == [int(gaps[0]), int(gaps[2])]
        assert frame["none"].tolist() == [" NA "] * 3

    @pytest.mark.parametrize("cell", ["007", "-07", "+01", "00", "0x1F", "0X1F", "007.0"])
    def test_cells_that_numbers_would_change(self, put, cell):
        for place in (0, 25, 49):
            cells = [str(i) for i in range(50)]
            cells[place] = cell
            path = put("x.csv", "a,b\n" + "".join(f"{c},1\n" for c in cells))
            assert frame_of(path)["a"].tolist() == cells

    @pytest.mark.parametrize("cell", ["0", "-0.5", "0.07", "0e5", "10", "100"])
    def test_cells_that_numbers_hold(self, put, cell):
        column = frame_of(put("x.csv", f"a,b\n5,7\n{cell},007\n"))["a"]
        assert column.tolist() == [5, float(cell)]

    def test_huge_whole_numbers_are_exact(self, put):
        values = [2**53 + 1, 2**63 - 1, -(2**63)]
        larger = [str(2**63), str(2**64 - 1), "0"]
        rows = "".join(map("{},{}\n".format, values, larger))
        assert as_lists(frame_of(put("x.csv", "a,b\n" + rows))) == {"a": values, "b": larger}

    def test_numbers_round_trip(self, put):
        values = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.arange(-100, 100)
        path = put("x.csv", "a\n" + "\n".join(map(repr, values.tolist())) + "\n")
        assert np.array_equal(frame_of(path)["a"], values)

    @pytest.mark.parametrize("gap", ["", "NA", "n/a", "NaN", "null", "?", "None", " - "])
    def test_gaps_among_numbers(self, put, gap):
        column = frame_of(put("x.csv", f"a,b\n1,x\n{gap},y\n3,z\n"))["a"]
        assert column.dtype == "Int64"
        assert column.isna().tolist() == [False, True, False]
        assert column.dropna().tolist() == [1, 3]

    def test_rows_longer_than_a_block(self, put, monkeypatch):
        monkeypatch.setattr(text_files, "CHUNK_BYTES", 4000)
        path = put("x.csv", "a,b\n" + "".join(f"{i},{'x' * 50 * i}\n" for i in range(60)))
        assert frame_of(path)["b"].str.len().tolist() == [50 * i for i in range(60)]

    def test_very_wide_rows(self, put):
        # The names alone are longer than the sample that is looked at otherwise.
        names = ",".join(f"{'long' * 20}{i}" for i in range(2000))
        row = ",".join(["1.5"] * 2000)
        assert frame_of(put("x.csv", f"{names}\n{row}\n{row}\n")).shape == (2, 2000)

    def test_gzip_and_hash(self, put):
        content = gzip.compress(b"a,b\n1,2.5\n3,4\n")
        table = read_table(put("x.csv.gz", content))
        assert as_lists(table.frame) == NUMBERS
        assert table.source == "x.csv.gz"
        assert table.sha256 == hashlib.sha256(content).hexdigest()


class TestOtherFormats:
    frame = pd.DataFrame({"a": [1, 3], "b": [2.5, 4.0], "c": ["x", "y"]})

    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("kind", ["parquet", "feather"])
    def test_arrow_files(self, put, kind, packed):
        content = filled(getattr(self.frame, f"to_{kind}"))
        path = put(f"x.{kind}" + ".gz" * packed, gzip.compress(content) if packed else content)
        assert as_lists(frame_of(path)) == as_lists(self.frame)

    def test_an_index_is_a_column(self, put):
        content = filled(self.frame.set_axis(["p", "q"]).to_parquet)
        assert frame_of(put("x.parquet", content))["index"].tolist() == ["p", "q"]

    def test_whole_numbers_with_gaps_stay_exact(self, put):
        table = pa.table({"a": [2**60 + 1, None], "b": [1, None]})
        content = filled(lambda file: parquet.write_table(table, file))
        frame = frame_of(put("x.parquet", content))
        assert frame["a"][0] == 2**60 + 1
        assert frame["b"][0] == 1

    def test_numpy_files(self, put):
        array = np.arange(6.0).reshape(3, 2)
        archive = filled(np.savez_compressed, data=array)
        for path in (put("x.npy", saved(array)), put("x.npz", archive)):
            assert as_lists(frame_of(path)) == {"c1": [0, 2, 4], "c2": [1, 3, 5]}


def archived(**arrays):
    return filled(np.savez, **arrays)


def offsets(*places):
    return np.array(places, dtype="<i4").tobytes()


# Text whose last letter would lie far outside of the file; Arrow itself looks there.
FORGED = pa.table({"a": ["x", "yy", "zzz"]})
FORGED = filled(lambda file: feather.write_feather(FORGED, file, compression="uncompressed"))
FORGED = FORGED.replace(offsets(0, 1, 3, 6), offsets(0, 1, 3, 2**30))
GZIP = gzip.compress(b"a,b\n1,2\n", mtime=0)
PARQUET = filled(pd.DataFrame({"a": range(100)}).to_parquet)

BAD_FILES = {
    "empty": ("x.csv", b"", "x.csv is empty"),
    "blank": ("x.csv", b"\n \n", "x.csv is empty"),
    "blanks": ("x.csv", b"\n" * 70_000 + b"a,b\n1,2\n", "x.csv contains only blanks at the start"),
    "header only": ("x.csv", b"a,b\n", "a header but no rows"),
    "header without an end": ("x.csv", b"a,b", "a header but no rows"),
    "one text column": ("x.csv", b"word\nhello\nworld\n", "only one column"),
    "blanks between": ("x.csv", b"a b\n1 2\n3 4\n", "only one column"),
    "row too short": ("x.csv", b"a,b\n1,2\n3\n", r"row 3 of .*x.csv \('3'\) has 1 cell, but"),
    "row too long": ("x.csv", b"a,b\n1,2,3\n", "row 2 of .*x.csv .* has 3 cells, but"),
    "late row": ("x.csv", b'a,b\n"1\n",2\n\n4,5,6\n', "x.csv .'4,5,6'. has 3 cells"),
    "open quote": ("x.csv", b'a,b\n1,2\n"3,4\n5,6\n', "row 3 of .*x.csv .* has 1 cell"),
    "swallowing quote": ("x.csv", b'a,b\n1,2\n3,"4\n5,6\n', "not closed"),
    "quoted header": ("x.csv", b'"a,b\n1,2\n3,4\n', "not closed"),
    "latin-1": ("x.csv", b"a,b\n1,caf\xe9\n", "not UTF-8 text.*iconv"),
    "utf-16": ("x.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16 text"),
    "utf-32": ("x.csv", "a,b\n1,2\n".encode("utf-32"), "UTF-32 text"),
    "nul": ("x.csv", b"a,b\n1,\x002\n", "NUL byte"),
    "two names": ("x.csv", b"a,b,a\n1,2,3\n", r"two columns named 'a' \(columns 1 and 3\)"),
    "unknown": ("x.xyz", b"\x01\x02\x00\xff", "not in a format that can be read here"),
    "json": ("x.json", b'[{"a": 1}]', "looks like JSON"),
    "archive": ("x.zip", archived(a=1).replace(b"a.npy", b"a.xml"), "an archive without arrays"),
    "renamed excel": (
        "x.csv",
        archived(**{"xl/workbook": 1}).replace(b"workbook.npy", b"workbook.xml"),
        "Excel file",
    ),
    "old excel": ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file"),
    "bzip2": ("x.csv.bz2", b"BZh91AY", "compressed in another way"),
    "pickle": ("x.pkl", pickle.dumps([1, 2]), "a pickle, which is never opened"),
    "no parquet": ("x.parquet", b"hello", "not a Parquet file"),
    "cut parquet": ("x.parquet", PARQUET[:-20], "damaged Parquet file"),
    "torn parquet": ("x.parquet", PARQUET[:40] + bytes(40) + PARQUET[80:], "damaged Parquet file"),
    "cut feather": ("x.feather", b"ARROW1\0\0hello", "damaged Feather file"),
    "forged feather": ("x.feather", FORGED, "damaged Feather file"),
    "no gzip": ("x.csv.gz", b"a,b\n1,2\n", "not gzip data"),
    "cut gzip": ("x.csv.gz", GZIP[:-6], "cannot be unpacked"),
    "torn gzip": ("x.csv.gz", GZIP[:15] + b"xxxxxxxx", "cannot be unpacked"),
    "twice gzip": ("x.gz", gzip.compress(GZIP, mtime=0), "compressed twice"),
    "1-D npy": ("x.npy", saved(np.arange(3)), r"shape \(3,\)"),
    "3-D npy": ("x.npy", saved(np.zeros((2, 2, 2))), r"--flatten makes it one of shape \(2, 4\)"),
    "complex npy": ("x.npy", saved(np.zeros((2, 2), complex)), "type complex128"),
    "object npy": ("x.npy", saved(np.array([[{}]]), allow_pickle=True), "Python objects"),
    "object npz": ("x.npz", archived(a=np.array([[{}]])), "Python objects"),
    "cut npy": ("x.npy", saved(np.zeros((9, 9)))[:-9], "damaged"),
    "several arrays": ("x.npz", archived(X=np.eye(2), y=[1]), "the arrays 'X', 'y'"),
    "damaged npz": ("x.npz", archived(X=np.eye(2))[:-9], "damaged .npz file"),
    "empty parquet": ("x.parquet", filled(pd.DataFrame({"a": []}).to_parquet), "no rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_told_in_one_sentence(put, case):
    name, content, message = BAD_FILES[case]
    with pytest.raises(TableError, match=message) as caught:
        read_table(put(name, content))
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 250


def test_paths_that_cannot_be_read(tmp_path, put):
    put("wine.csv", "a,b\n1,2\n")
    says = r"there is no file .*wine\.cvs \(did you mean .*wine\.csv"
    with pytest.raises(TableError, match=says):
        read_table(str(tmp_path / "wine.cvs"))
    with pytest.raises(TableError, match="is a directory"):
        read_table(str(tmp_path))
    with pytest.raises(TableError, match="cannot be read"):
        read_table("a\0b.csv")


class TestStandardInput:
    @staticmethod
    def feed(monkeypatch, content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    @pytest.mark.parametrize(
        "content",
        [
            b"a,b\n1,2.5\n3,4\n",
            gzip.compress(b"a\tb\n1\t2.5\n3\t4\n", mtime=0),
            filled(pd.DataFrame(NUMBERS).to_parquet),
        ],
        ids=["text", "gzip", "parquet"],
    )
    def test_the_kind_is_found_out(self, monkeypatch, content):
        self.feed(monkeypatch, content)
        table = read_table("-")
        assert as_lists(table.frame) == NUMBERS
        assert table.source == "standard input"

    def test_nothing(self, monkeypatch):
        self.feed(monkeypatch, b"")
        with pytest.raises(TableError, match="standard input is empty"):
            read_table("-")


def mixed(n=40):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer_id": [f"k{i:03}" for i in range(n)],
            "x": np.where(np.arange(n) % 10 == 3, np.nan, rng.standard_normal(n)),
            "age": rng.integers(20, 60, n),
            "colour": np.array(["red", "green", "blue", ""])[np.arange(n) % 4],
            "member": np.array(["yes", "no", "yes", "no", "NA"])[np.arange(n) % 5],
            "since": [f"2020-01-{1 + i % 28:02}" for i in range(n)],
            "note": [f"text number {i}" for i in range(n)],
            "same": 5,
            "empty": "NA",
            "group": np.array(["p", "q"])[np.arange(n) % 2],
            "unwanted": rng.standard_normal(n),
        }
    )


class TestPreparation:
    @pytest.fixture
    def fitted(self):
        return MixedEncoder(label_column="group", drop=["unwanted"], keep=["since"]).fit(mixed())

    def test_what_becomes_of_each_column(self, fitted):
        assert {column["name"]: column["kind"] for column in fitted.schema()} == {
            "customer_id": "id",
            "x": "number",
            "age": "number",
            "colour": "category",
            "member": "boolean",
            "since": "date",
            "note": "left out",
            "same": "left out",
            "empty": "left out",
            "group": "label",
            "unwanted": "left out",
        }
        assert fitted.columns_ == ["x", "age", "colour", "member", "since"]
        assert fitted.feature_names_ == [
            "x", "age", "colour=red", "colour=green", "colour=blue", "colour=(missing)", "member",
            "since",
        ]  # fmt: skip
        assert fitted.id_column_ == "customer_id"
        assert list(fitted.get_feature_names_out()) == fitted.feature_names_

    def test_the_steps_name_every_column(self, fitted):
        steps = fitted.steps_
        assert all(step.endswith(".") for step in steps)
        for name in mixed():
            assert any(f"'{name}'" in step for step in steps), name

        def step(word):
            return next(step for step in steps if word in step)

        assert "'customer_id'" in step("identifies the rows")
        assert "'group'" in step("known labels")
        assert "'unwanted'" in step("as you asked")
        assert "'note'" in step("nearly all values different")
        assert "'same'" in step("constant")
        assert "'empty'" in step("no values")
        assert "'since'" in step("days since 1970-01-01")
        assert "'x' (4)" in step("median")
        assert "'colour' (10)" in step("separate category")
        assert "'member' (8)" in step("more frequent")
        assert "8 features" in step("unit variance")

    def test_values_without_scaling(self):
        frame = mixed()
        raw = MixedEncoder(scale=False, drop=["unwanted"], label_column="group", keep=["since"])
        fitted = raw.fit(frame)
        X = fitted.transform(frame)
        columns = dict(zip(fitted.feature_names_, X.T, strict=True))
        assert np.array_equal(columns["x"], frame["x"].fillna(frame["x"].median()))
        assert np.array_equal(columns["age"], frame["age"])
        assert np.array_equal(columns["colour=green"], frame["colour"] == "green")
        assert np.array_equal(columns["colour=(missing)"], frame["colour"] == "")
        assert np.array_equal(columns["member"][:5], [1, 0, 1, 0, 0])
        assert np.array_equal(columns["since"][:3], 18262 + np.arange(3))
        assert "keep their units" in fitted.steps_[-1]

    def test_each_column_weighs_the_same(self, fitted):
        fitted = clone(fitted).set_params(weights=None).fit(mixed())
        X = fitted.transform(mixed())
        assert X.dtype == np.float64
        variance = dict(zip(fitted.feature_names_, X.var(axis=0), strict=True))
        colour = sum(value for name, value in variance.items() if name.startswith("colour="))
        for value in (colour, *(variance[name] for name in ("x", "age", "member", "since"))):
            assert value == pytest.approx(1.0)
        assert np.abs(X.mean(axis=0)).max() < 1e-9

    def test_mean_and_scale_tell_how(self, fitted):
        raw = MixedEncoder(scale=False, drop=["unwanted"], label_column="group", keep=["since"])
        raw_X = raw.fit(mixed()).transform(mixed())
        X = fitted.transform(mixed())
        np.testing.assert_allclose((raw_X - fitted.mean_) / fitted.scale_, X, atol=1e-12)
        described = [m for column in fitted.schema() for m in column["mean"]]
        assert np.array_equal(described, fitted.mean_)

    def test_columns_in_any_order_and_unused_ones_absent(self, fitted):
        frame = mixed()
        expected = fitted.transform(frame)
        assert np.array_equal(fitted.transform(frame[frame.columns[::-1]]), expected)
        assert np.array_equal(fitted.transform(frame[fitted.columns_]), expected)

    def test_rows_alone_are_what_they_are_among_others(self, fitted):
        frame = mixed()
        X = fitted.transform(frame)
        alone = np.vstack([fitted.transform(frame.iloc[[i]]) for i in range(len(frame))])
        assert np.array_equal(alone, X)
        assert fitted.transform(frame.iloc[:0]).shape == (0, X.shape[1])

    def test_missing_and_extra_columns(self, fitted):
        frame = mixed().drop(columns=["x", "age"]).assign(height=1)
        with pytest.raises(TableError) as caught:
            fitted.transform(frame)
        assert "lacks 'x', 'age'" in str(caught.value)
        assert "has 'height', which the model does not know" in str(caught.value)
        with pytest.raises(TableError, match="lacks 'x'; give"):
            fitted.transform(mixed().drop(columns="x"))

    def test_unseen_categories_are_zero(self, fitted):
        frame = mixed().iloc[:2].assign(colour=["purple", "red"])
        raw = fitted.transform(frame) * fitted.scale_ + fitted.mean_
        np.testing.assert_allclose(raw[:, 2:6], [[0, 0, 0, 0], [1, 0, 0, 0]], atol=1e-12)

    def test_new_gaps_are_filled(self, fitted):
        frame = mixed().iloc[:1].assign(age="", since="?", member=None)
        raw = fitted.transform(frame) * fitted.scale_ + fitted.mean_
        assert raw[0, 1] == pytest.approx(mixed()["age"].median())
        assert raw[0, -2] in (0, 1)

    @pytest.mark.parametrize(
        ("column", "value", "message"),
        [
            ("age", "old", "'age' should hold numbers, but row 1 has 'old'"),
            ("since", "soon", "'since' should hold dates, but row 1 has 'soon'"),
            ("member", "maybe", "'member' should hold yes or no, but row 1 has 'maybe'"),
            ("age", np.inf, "'age' has an infinite value in row 1"),
            ("age", 1e200, "'age' has the value 1e.200 in row 1"),
        ],
    )
    def test_wrong_values(self, fitted, column, value, message):
        with pytest.raises(TableError, match=message):
            fitted.transform(mixed().iloc[:1].assign(**{column: [value]}))

    def test_the_frame_is_left_alone(self):
        frame, before = mixed(), mixed()
        MixedEncoder().fit(frame).transform(frame)
        pd.testing.assert_frame_equal(frame, before)

    def test_clone_and_pickle(self, fitted):
        assert clone(fitted).get_params() == fitted.get_params()
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.transform(mixed()), fitted.transform(mixed()))

    def test_arrays_are_tables_too(self):
        X = np.arange(12.0).reshape(6, 2) ** 2
        assert MixedEncoder().fit(X).feature_names_ == ["c1", "c2"]

    def test_one_row_of_types_read_otherwise(self, put):
        """A number column may come as text, a category as numbers, from another file."""
        frame = pd.DataFrame({"a": range(0, 24, 2), "c": pd.Categorical([1, 2, 3] * 4)})
        fitted = MixedEncoder(scale=False).fit(frame)
        for a, c in [("4", 2), (4, "2"), (4.0, 2.0)]:
            X = fitted.transform(pd.DataFrame({"a": [a], "c": [c]}))
            assert X.tolist() == [[4, 0, 1, 0]]


class TestKinds:
    @staticmethod
    def plan(values, **options):
        frame = pd.DataFrame({"v": values, "w": np.arange(len(values)) ** 2.0})
        return MixedEncoder(**options).fit(frame).schema()[0]

    def test_rare_levels_share_a_column(self):
        values = ["a"] * 50 + ["b"] * 40 + ["c", "d"] + ["e"] * 8
        plan = self.plan(values)
        assert plan["levels"] == ["a", "b", "e"]
        assert plan["others"] == ["c", "d"]
        assert plan["features"] == ["v=a", "v=b", "v=e", "v=(other)"]

    def test_one_row_in_a_hundred_is_not_rare(self):
        values = ["a"] * 970 + ["b"] * 10 + ["c"] * 9 + ["d"] * 7 + ["e"] * 4
        plan = self.plan(values)
        assert plan["levels"] == ["a", "b"]
        assert plan["others"] == ["c", "d", "e"]

    def test_a_single_rare_level_keeps_its_name(self):
        assert self.plan(["a"] * 5 + ["b"] * 4 + ["c"])["levels"] == ["a", "b", "c"]

    def test_no_more_than_twenty_levels(self):
        values = [f"v{i}" for i in range(30) for _ in range(60 - 2 * i)]
        plan = self.plan(values)
        assert plan["levels"] == [f"v{i}" for i in range(20)]
        assert len(plan["others"]) == 10

    def test_none_is_an_answer(self):
        plan = self.plan(["none", "soft", "hard", "none"] * 5)
        assert plan["levels"] == ["none", "soft", "hard"]
        assert not plan["missing"]

    def test_too_many_levels_are_left_out(self):
        assert "300 different values" in self.plan([f"v{i}" for i in range(300)] * 10)["reason"]

    def test_dates(self):
        days = pd.Timestamp("2020-02-01") + pd.to_timedelta(np.arange(20), "D")
        ways = [
            days, days.tz_localize("UTC"), days.strftime("%Y-%m-%d"), days.strftime("%d.%m.%Y"),
            days.strftime("%m/%d/%Y"), days.strftime("%d/%m/%Y"), days.strftime("%Y/%m/%d %H:%M"),
            days.strftime("%Y-%m-%dT%H:%M:%SZ"), [day.date() for day in days],
        ]  # fmt: skip
        for way in ways:
            fitted = MixedEncoder(scale=False, keep=["v"]).fit(pd.DataFrame({"v": way}))
            X = fitted.transform(pd.DataFrame({"v": way}))
            assert X[:, 0].tolist() == list(range(18293, 18313)), way

    def test_ambiguous_dates_are_told(self):
        frame = pd.DataFrame({"v": ["01/02/2020", "03/04/2020", "05/06/2020"]})
        steps = MixedEncoder(keep=["v"]).fit(frame).steps_
        assert "Dates were read as month/day/year: column 'v'." in steps

    def test_dates_are_no_features_unless_they_are_named(self):
        days = pd.Timestamp("2020-02-01") + pd.to_timedelta(np.arange(20), "D")
        frame = pd.DataFrame(
            {"when": days, "last": days.strftime("%d.%m.%Y"), "x": np.arange(20.0)}
        )
        fitted = MixedEncoder().fit(frame)
        assert fitted.columns_ == ["x"]
        said = "Dropped 'when', 'last': dates are used only if you name them in keep (--keep)."
        assert said in fitted.steps_
        assert MixedEncoder(keep=["last"]).fit(frame).columns_ == ["last", "x"]
        assert MixedEncoder(weights={"when": 0.5}).fit(frame).columns_ == ["when", "x"]
        with pytest.raises(TableError, match=r"no column to cluster by .dates are used only"):
            MixedEncoder(drop=["x"]).fit(frame)

    def test_the_format_of_dates_holds_for_later_rows(self):
        fitted = MixedEncoder(scale=False, keep=["v"]).fit(
            pd.DataFrame({"v": ["13/01/2020", "02/03/2020"]})
        )
        # Alone this could be February.
        assert fitted.transform(pd.DataFrame({"v": ["01/02/2020"]}))[0, 0] == 18293

    def test_decimal_commas_and_thousands(self):
        frame = pd.DataFrame(
            {"d": ["1,5", "2", "3,25", "NA"], "t": ["1,234", "12", "1,234,567.5", "3"]}
        )
        fitted = MixedEncoder(scale=False).fit(frame)
        assert fitted.transform(frame).tolist() == [
            [1.5, 1234], [2, 12], [3.25, 1234567.5], [2, 3],
        ]  # fmt: skip
        assert "Read with a decimal comma: column 'd'." in fitted.steps_
        assert "Read with commas between thousands: column 't'." in fitted.steps_

    def test_few_strays_among_numbers_count_as_missing(self):
        values = [str(i * i) for i in range(99)] + ["<5"]
        frame = pd.DataFrame({"v": values})
        fitted = MixedEncoder(scale=False).fit(frame)
        assert any("'v', cells that" in step and "'<5'" in step for step in fitted.steps_)
        assert fitted.transform(frame)[-1, 0] == np.median(np.arange(99) ** 2)

    def test_codes_with_leading_zeros_are_no_numbers(self):
        assert self.plan(["01", "02", "10"] * 5)["levels"] == ["01", "02", "10"]

    def test_true_and_false(self):
        for values in ([True, False, True], ["TRUE", "FALSE", "TRUE"], ["y", "n", "Y"]):
            frame = pd.DataFrame({"v": values})
            assert MixedEncoder(scale=False).fit_transform(frame)[:, 0].tolist() == [1, 0, 1]

    def test_yes_and_no_may_come_as_numbers_later(self):
        fitted = MixedEncoder(scale=False).fit(pd.DataFrame({"v": ["yes", "no", "yes"]}))
        for values in ([1, 0], [1.0, 0.0], ["1", "0"], ["YES", "No"]):
            assert fitted.transform(pd.DataFrame({"v": values}))[:, 0].tolist() == [1, 0]

    def test_nearly_equal_numbers_are_constant(self):
        assert self.plan([0.3, 0.1 + 0.2, 0.3])["reason"] == "constant"

    def test_large_offsets_are_not_constant(self):
        X = MixedEncoder(scale=True).fit_transform(pd.DataFrame({"v": 1.7e18 + 1e9 * np.arange(4)}))
        assert X.var() == pytest.approx(1.0)

    def test_lists_are_left_out(self):
        assert self.plan([[1], [2], [3]])["reason"] == "neither numbers nor text"

    def test_durations_are_days(self):
        assert self.plan(pd.to_timedelta([1, 2, 4], "D"))["median"] == 2.0


class TestIds:
    @staticmethod
    def found(**columns):
        return MixedEncoder().fit(pd.DataFrame(columns)).id_column_

    def test_by_name(self):
        x = [1.0, 5.0, 2.0]
        assert self.found(id=[11, 5, 70], x=x) == "id"
        assert self.found(x=x, CustomerID=["a", "b", "c"]) == "CustomerID"
        assert self.found(x=x, name=["ann", "bob", "cy"]) == "name"
        assert self.found(x=x, id=[1, 1, 2]) is None
        assert self.found(x=x, idle=[11, 5, 70]) is None
        assert self.found(x=x, id=[1.5, 2.5, 3.5]) is None

    def test_by_counting(self):
        x = np.arange(12.0) ** 2
        order = np.random.default_rng(0).permutation(12)
        assert self.found(x=x, k=order) == "k"
        assert self.found(x=x, k=order + 1) == "k"
        assert self.found(x=x, k=order + 2) is None
        assert self.found(x=x, k=np.append(order[:-1], order[0])) is None
        # So few rows are numbered by chance.
        assert self.found(x=x[:3], k=[1, 2, 3]) is None

    def test_only_one_is_carried_and_none_is_used(self):
        frame = pd.DataFrame({"k": range(12), "id": range(100, 112), "x": np.arange(12.0) ** 2})
        fitted = MixedEncoder().fit(frame)
        assert fitted.id_column_ == "id"
        assert fitted.columns_ == ["x"]

    def test_named_or_none(self):
        frame = pd.DataFrame(
            {"id": range(20, 32), "x": np.arange(12.0) ** 2, "auto": ["a", "b"] * 6}
        )
        assert MixedEncoder(id_column="x").fit(frame).id_column_ == "x"
        assert MixedEncoder(id_column=None).fit(frame).columns_ == ["id", "x", "auto"]
        assert MixedEncoder().fit(frame).id_column_ == "id"

    def test_huge_ids_survive(self, put):
        ids = [str(10**25 + i) for i in range(4)]
        rows = "".join(f"{k},{len(k) * i}\n" for i, k in enumerate(ids))
        frame = frame_of(put("x.csv", "id,x\n" + rows))
        fitted = MixedEncoder().fit(frame)
        assert fitted.id_column_ == "id"
        assert frame[fitted.id_column_].tolist() == ids


class TestUnusable:
    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            ({"a": ["NA", ""], "b": [np.nan, np.nan]}, "no values: 'a', 'b'"),
            ({"a": [1, 1], "b": ["x", "x"]}, "constant: 'a', 'b'"),
            ({"a": ["one thing", "another", "a third"]}, "nearly all values different: 'a'"),
            ({"id": [5, 9], "a": [1, 1]}, "id column: 'id'; constant: 'a'"),
        ],
        ids=["missing", "constant", "text", "id"],
    )
    def test_nothing_to_cluster_by(self, frame, message):
        with pytest.raises(TableError, match=f"no column to cluster by.*{message}"):
            MixedEncoder().fit(pd.DataFrame(frame))

    @pytest.mark.parametrize("options", [
        {"label_column": "speceis"}, {"drop": ["x", "speceis"]}, {"id_column": "speceis"},
        {"drop": "speceis"},
    ])  # fmt: skip
    def test_columns_that_are_not_there(self, options):
        frame = pd.DataFrame({"x": [1, 2, 4], "Species": ["a", "b", "a"]})
        with pytest.raises(TableError) as caught:
            MixedEncoder(**options).fit(frame)
        assert str(caught.value) == (
            "there is no column 'speceis' (did you mean 'Species'?); "
            "the columns are 'x', 'Species'."
        )

    def test_infinite_values(self):
        with pytest.raises(TableError, match="column 'b' has an infinite value in row 2"):
            MixedEncoder().fit(pd.DataFrame({"a": [1, 2], "b": ["3", "-inf"]}))

    def test_tables_that_are_none(self):
        with pytest.raises(TableError, match="no rows"):
            MixedEncoder().fit(pd.DataFrame({"a": []}))
        with pytest.raises(TableError, match=r"got shape \(3,\)"):
            MixedEncoder().fit(np.arange(3))
        with pytest.raises(TableError, match="two columns named 'a'"):
            MixedEncoder().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_ways_of_writing_numbers():
    assert number_style(["1.5", "2"]) == "plain"
    assert number_style(["1,5", "2"]) == "decimal comma"
    assert number_style(["1,500", "2"]) == "thousands"
    assert number_style(["a,b"]) == "plain"
    assert np.isnan(parse_numbers(["1_000", "0x1", "", "1 2"])).all()


def test_what_is_no_date():
    for texts in (["2020"], ["1.2.3"], ["192.168.1.1"], ["13/13/2020"], ["2020-02-30"], []):
        assert date_format(texts) is None


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "dogc\[cli\]"'):
        read_table("-")
