"""Tables that are too wide, too long, packed too tightly or odd: refused, or read all the same."""

import gzip
import io
import os
import zipfile

import numpy as np
import pytest
from contents import filled, saved

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

from dogc import MixedEncoder  # noqa: E402
from dogc._words import shown  # noqa: E402
from dogc.app.commands.command_line import run  # noqa: E402
from dogc.app.files import TableError, opening, read_table, sniffing, text  # noqa: E402
from dogc.encoding import errors  # noqa: E402
from dogc.encoding.errors import no_such_column  # noqa: E402


def header(shape, descr="<f8"):
    facts = {"descr": descr, "fortran_order": False, "shape": shape}
    return filled(np.lib.format.write_array_header_1_0, facts)


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
    return buffer.getvalue()


def written(table, kind, **options):
    write = parquet.write_table if kind == "parquet" else feather.write_feather
    return filled(lambda file: write(table, file, **options))


WIDE = pd.DataFrame(np.eye(7), columns=list("abcdefg"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", WIDE.to_csv(index=False).encode()),
        ("x.csv.gz", gzip.compress(WIDE.to_csv(index=False).encode(), mtime=0)),
        ("x.parquet", written(pa.Table.from_pandas(WIDE), "parquet")),
        ("x.feather", written(pa.Table.from_pandas(WIDE), "feather")),
        ("x.npy", saved(np.eye(7))),
        ("x.npz", zipped(saved(np.eye(7)))),
    ],
)
def test_more_columns_than_can_be_used(tmp_path, monkeypatch, name, content):
    monkeypatch.setattr(errors, "MOST_COLUMNS", 6)
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TableError, match=rf"{name} has 7 columns, and 6 are the most"):
        read_table(str(path))


def test_categories_count_as_columns(monkeypatch):
    monkeypatch.setattr(errors, "MOST_COLUMNS", 6)
    frame = pd.DataFrame({"a": list("uvwxyz") * 3, "b": list("vvwwuz") * 3, "c": range(18)})
    with pytest.raises(TableError, match=r"one for each category, has \d+ columns"):
        MixedEncoder().fit(frame)


@pytest.mark.parametrize(
    "content",
    [
        b"1" * 30_000,
        b"1," * 15_000,
        b'a,b\n1,2\n3,"' + b"x" * 30_000 + b'"\n',
        b'"' + b"1" * 30_000,
        b"a" * 30_000 + b",b\n1,2\n",
    ],
    ids=["no delimiter", "no end", "a long cell", "open quote", "a long name"],
)
def test_rows_without_an_end_are_refused(tmp_path, monkeypatch, content):
    monkeypatch.setattr(sniffing, "LONGEST_ROW", 10_000)
    monkeypatch.setattr(sniffing, "SAMPLE", 1000)
    monkeypatch.setattr(text, "CHUNK_BYTES", 10_000)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(TableError, match=r"a row is longer than .*, or a quote is not closed"):
        read_table(str(path))


class TestMemory:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("x.npz", zipped(saved(np.zeros((10**5, 5))))),
            ("x.npy", saved(np.zeros((10**5, 5), np.int8))),
            ("x.feather", written(pa.table({"n": np.arange(10**5)}), "feather")),
        ],
    )
    def test_what_is_read_whole_must_have_room(self, tmp_path, monkeypatch, name, content):
        monkeypatch.setattr(errors, "room", lambda: (200_000.0, ""))
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(TableError, match=rf"{name} needs .* GB of memory or more where 0"):
            read_table(str(path))

    def test_too_many_numbers(self, monkeypatch):
        frame = pd.DataFrame({"a": [1.0, 2.0, 4.0]})
        preparation = MixedEncoder().fit(frame)
        monkeypatch.setattr(errors, "room", lambda: (20.0, ""))
        with pytest.raises(TableError, match="the table as numbers needs"):
            preparation.transform(frame)

    def test_packed_too_tightly(self, tmp_path, monkeypatch):
        monkeypatch.setattr(opening, "MANY", 100_000)
        for name, content in {
            "x.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 100_000),
            "x.npz": zipped(saved(np.zeros((100_000, 2)))),
        }.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(TableError, match=f"{name} unpacks to more than 200 times"):
                read_table(str(tmp_path / name))

    def test_arrays_that_say_that_they_are_small_or_large(self, tmp_path):
        content = bytearray(zipped(saved(np.zeros((4_000_000, 2)))))
        place = content.rfind(b"PK\x01\x02") + 24  # the size in the table of contents
        content[place : place + 4] = (1000).to_bytes(4, "little")
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(TableError, match=r"x\.npz .*damaged"):
            read_table(str(tmp_path / "x.npz"))
        for shape in [(10**9, 5), (-1, 5), (-1, -5), (2, 0), (), (10**30, 1)]:
            (tmp_path / "x.npy").write_bytes(header(shape) + bytes(80))
            with pytest.raises(TableError):
                read_table(str(tmp_path / "x.npy"))


@pytest.mark.parametrize(
    "text",
    ['[{"a": 1}]', '{"a": [1, 2]}', "[[1, 2],\n [3, 4]]", '{"a": 1}\n{"a": 2}\n', "[\n", "<html>",
     '["' + "x" * 2000, "<!DOCTYPE html>", '\ufeff<?xml version="1.0"?>', "<!-- x -->",
     "<table>\n<tr>", "<body\nx>"],
)  # fmt: skip
def test_markup_is_no_table(tmp_path, text):
    (tmp_path / "x.txt").write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match="looks like JSON or HTML"):
        read_table(str(tmp_path / "x.txt"))


@pytest.mark.parametrize(
    "text", ["[id],<n>\n{1},[2]\n<3>,4\n", "{x};{y}\n1;2\n", "<NA>,1\n<5,2\n", "[1],2\n",
             "[1,2\n3,4\n", "<b>bold</b>,1\n<b>x</b>,2\n"],
)  # fmt: skip
def test_tables_with_brackets_are_tables(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    assert len(read_table(str(tmp_path / "x.csv")).frame)


class TestNames:
    def test_in_sentences(self):
        assert shown("ab\ncd\x1b[31m\udcff") == "ab\\ncd\\x1b[31m\\udcff"
        for most in (10, 60, 61, 1000):
            assert len(shown("é" * 50_000, most)) == most
            assert len(shown("\x00" * 50_000, most)) == most
        sentence = str(TableError(f"column '{'x' * 50_000}' is wrong; correct it."))
        assert len(sentence) == 1000
        assert sentence.endswith("' is wrong; correct it.")
        assert str(TableError(sentence)) == sentence

    def test_of_columns(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text(f'a\x1b,"b\nc",{"d" * 50_000},a\x1b\n1,2,3,4\n')
        with pytest.raises(TableError, match=r"two columns named 'a\\x1b' \(columns 1 and 4\)"):
            read_table(str(path))
        names = ["b\nc", "d" * 50_000]
        assert len(str(no_such_column("e" * 50_000, names))) < 300

    def test_of_files(self, tmp_path):
        path = tmp_path / "two\nlines.csv"
        path.write_text("a,b\n")
        with pytest.raises(TableError, match=r"two\\nlines\.csv has a header") as caught:
            read_table(str(path))
        assert "\n" not in str(caught.value)
        with pytest.raises(TableError, match="File name too long") as caught:
            read_table("x" * 50_000)
        assert len(str(caught.value)) < 300


class TestPaths:
    def test_a_missing_input_is_told_before_a_full_folder(self, tmp_path, capsys):
        (tmp_path / "out").mkdir()
        for name in ("labels.csv", "compare.csv"):
            (tmp_path / "out" / name).touch()
        out, missing = str(tmp_path / "out"), str(tmp_path / "none.csv")
        for command in ("cluster", "compare"):
            assert run([command, missing, "--clusters", "2", "--out", out]) == 2
            assert capsys.readouterr().err == f"dogc: there is no file {missing}.\n"
        labels = str(tmp_path / "out" / "labels.csv")
        assert run(["predict", "no.skops", missing, "--out", labels]) == 2
        assert capsys.readouterr().err == f"dogc: there is no file {missing}.\n"

    def test_devices(self):
        with pytest.raises(TableError, match=r"zero is not in a format .* .it has a NUL byte"):
            read_table("/dev/zero")
        with pytest.raises(TableError, match="null is empty"):
            read_table("/dev/null")

    def test_a_pipe_is_read_once(self, tmp_path):
        read, write = os.pipe()
        os.write(write, b"a,b\n1,2\n3,4\n")
        os.close(write)
        assert read_table(f"/dev/fd/{read}").frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}

    def test_a_file_whose_name_is_no_text(self, tmp_path):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.parquet")
        parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "x")
        os.rename(tmp_path / "x", path)
        table = read_table(path)
        assert (table.source, table.rows) == ("\\udcff.parquet", 2)


class TestArrays:
    @pytest.mark.parametrize("kind", [">f8", ">i4", "<u2", ">U3", "f2", ">M8[D]", "?"])
    def test_of_all_kinds(self, tmp_path, kind):
        array = np.array([[1, 0], [3, 4]]).astype(kind)
        path = tmp_path / "x.npy"
        np.save(path, array)
        frame = read_table(str(path)).frame
        assert list(frame) == ["c1", "c2"]
        for place, name in enumerate(frame):
            assert (frame[name].to_numpy() == array[:, place]).all()
        pa.Table.from_pandas(frame)  # the labels are written by this


class TestColumnsOfArrow:
    @pytest.fixture
    def read(self, tmp_path):
        def put(table, kind="parquet"):
            path = tmp_path / f"x.{kind}"
            path.write_bytes(written(table, kind))
            return read_table(str(path)).frame

        return put

    @pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2)])
    def test_bytes_are_text(self, read, kind):
        frame = read(pa.table({"a": pa.array([b"ab", None, b"yz"], kind)}))
        assert frame["a"].dropna().tolist() == ["ab", "yz"]
        with pytest.raises(TableError, match="cannot be shown"):
            read(pa.table({"a": pa.array([b"\xffz"], kind)}))

    @pytest.mark.parametrize("kind", [
        pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "No/Where"), pa.date32(),
    ])  # fmt: skip
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_dates_beyond_the_calendar(self, read, kind, sign):
        values = np.array([0, sign * (2**31 - 1 if kind == pa.date32() else 2**60)])
        column = pa.array(values.astype(f"i{kind.bit_width // 8}")).view(kind)
        with pytest.raises(TableError, match=r"x.feather holds values that cannot be shown"):
            read(pa.table({"when": column}), "feather")

    def test_lists_in_cells_are_carried_along(self, tmp_path, capsys):
        table = pa.table({"a": range(0, 80, 2), "b": [[1.0, 2.0]] * 40})
        table = table.set_column(1, "b", table["b"].cast(pa.list_(pa.float64(), 2)))
        parquet.write_table(table, tmp_path / "x.parquet")
        arguments = ["cluster", str(tmp_path / "x.parquet"), "--clusters", "2"]
        assert run([*arguments, "--out", str(tmp_path / "o")]) == 0, capsys.readouterr().err

    def test_names_that_are_no_text(self, tmp_path):
        for kind in ("feather", "parquet"):
            path = tmp_path / f"x.{kind}"
            content = written(pa.table({"abcdefg": [1, 2]}), kind)
            path.write_bytes(content.replace(b"abcdefg", b"abc\xffefg"))
            with pytest.raises(TableError, match=f"x.{kind} is a damaged"):
                read_table(str(path))
