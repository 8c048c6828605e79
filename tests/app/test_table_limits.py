"""Tables that are too wide, too long or packed too tightly: refused before they are read."""

import contextlib
import gzip
import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

from dogc._words import shown  # noqa: E402
from dogc.app.commands.command_line import run  # noqa: E402
from dogc.app.tables import (  # noqa: E402
    MixedEncoder,
    TableError,
    limits,
    opening,
    packed_sizes,
    read_chunks,
    read_table,
    sniffing,
    text,
)
from dogc.app.tables.markup import is_markup  # noqa: E402
from dogc.app.tables.parts import find_parts  # noqa: E402
from dogc.app.tables.table import no_such_column  # noqa: E402
from dogc.app.tables.workers import Workers  # noqa: E402

GB = 10**9


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(shape, descr="<f8"):
    buffer = io.BytesIO()
    facts = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, facts)
    return buffer.getvalue()


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
    return buffer.getvalue()


def written(table, kind, **options):
    buffer = io.BytesIO()
    write = parquet.write_table if kind == "parquet" else feather.write_feather
    write(table, buffer, **options)
    return buffer.getvalue()


WIDE = pd.DataFrame(np.eye(7), columns=list("abcdefg"))
ATTRIBUTES = "".join(f"@attribute {name} real\n" for name in WIDE)


@pytest.mark.parametrize("how", ["whole", "pieces"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", WIDE.to_csv(index=False).encode()),
        ("x.csv.gz", gzip.compress(WIDE.to_csv(index=False).encode(), mtime=0)),
        ("x.parquet", written(pa.Table.from_pandas(WIDE), "parquet")),
        ("x.feather", written(pa.Table.from_pandas(WIDE), "feather")),
        ("x.npy", saved(np.eye(7))),
        ("x.npz", zipped(saved(np.eye(7)))),
        ("x.npy", header((10**6, 7))),
        ("x.arff", f"@relation r\n{ATTRIBUTES}@data\n{'1,' * 6}1\n".encode()),
    ],
)
def test_more_columns_than_can_be_used(tmp_path, monkeypatch, name, content, how):
    for module in (limits, sniffing):
        monkeypatch.setattr(module, "MOST_COLUMNS", 6)
    path = tmp_path / name
    path.write_bytes(content)
    read = read_table if how == "whole" else lambda path: list(read_chunks(path, 2))
    with pytest.raises(TableError, match=rf"{name} has 7 columns, and 6 are the most"):
        read(str(path))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_more_columns_than_can_be_used_in_parts(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(limits, "MOST_COLUMNS", 6)
    path = tmp_path / f"x.{kind}"
    WIDE.to_csv(path, index=False) if kind == "csv" else WIDE.to_parquet(path)
    with pytest.raises(TableError, match="has 7 columns"):
        find_parts([str(path)], "x", Workers())


def test_categories_count_as_columns(monkeypatch):
    monkeypatch.setattr(limits, "MOST_COLUMNS", 6)
    frame = pd.DataFrame({"a": list("uvwxyz") * 3, "b": list("vvwwuz") * 3, "c": range(18)})
    with pytest.raises(TableError, match=r"one for each category, has \d+ columns"):
        MixedEncoder().fit(frame)


class TestRowsWithoutAnEnd:
    @pytest.mark.parametrize("how", ["whole", "pieces"])
    @pytest.mark.parametrize(
        "content",
        [
            b"1" * 30_000,
            b"1," * 15_000,
            b'a,b\n1,2\n3,"' + b"x" * 30_000 + b'"\n',
            b'"' + b"1" * 30_000,
        ],
        ids=["no delimiter", "no end", "a long cell", "open quote"],
    )
    def test_are_refused(self, tmp_path, monkeypatch, content, how):
        for module in (limits, sniffing, text):
            monkeypatch.setattr(module, "LONGEST_ROW", 10_000)
        monkeypatch.setattr(sniffing, "MOST_SAMPLE", 10_000)
        monkeypatch.setattr(text, "SAMPLE", 1000)
        monkeypatch.setattr("dogc.app.tables.reading.SAMPLE", 1000)
        monkeypatch.setattr(text, "_BLOCK", 5000)
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(content))
        read = read_table if how == "whole" else lambda path: list(read_chunks(path, 2))
        with pytest.raises(TableError, match=r"a row is longer than .*, or a quote is not closed"):
            read(str(path))

    def test_a_long_cell_in_the_first_row(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text(f"{'a' * 200_000},b\n1,2\n")
        with pytest.raises(TableError, match="a row is longer"):
            read_table(str(path))


class TestMemory:
    """What is free is set to 1 GB, or to what a test says."""

    @pytest.fixture
    def free(self, monkeypatch):
        def have(number):
            monkeypatch.setattr(limits, "free_bytes", lambda: float(number))
            monkeypatch.setattr(packed_sizes, "free_bytes", lambda: float(number))

        have(GB)
        return have

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("x.npy", header((10**9, 5), "<U0")),
            ("x.npz", zipped(header((10**9, 5), "<U0"))),
            (
                "x.parquet",
                written(
                    pa.table({"s": pa.array(["x" * 10_000] * 2_000)}),
                    "parquet",
                    store_schema=False,
                ),
            ),
            ("x.parquet", written(pa.table({"n": pa.nulls(10**6 // 2)}), "parquet")),
            ("x.feather", written(pa.table({"n": pa.nulls(10**7)}), "feather")),
        ],
        ids=["npy", "npz", "texts that come again", "nothing that comes again", "feather"],
    )
    def test_small_files_of_large_tables(self, tmp_path, free, name, content):
        free(GB / 400)
        assert len(content) < 2_000_000
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(TableError, match=rf"{name} needs .* GB of memory or more where 0"):
            read_table(str(path))

    @pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
    def test_feather_files_tell_their_size(self, compression):
        table = pa.table({"a": np.zeros(100_000), "s": ["xyz"] * 100_000})
        size = packed_sizes.feather_size(
            written(table, "feather", compression=compression, chunksize=30_000)
        )
        assert table.nbytes <= size < table.nbytes + 2000

    def test_categories_of_feather_files_are_counted(self):
        table = pa.table({"s": pa.array(["x" * 10_000, "y" * 10_000]).dictionary_encode()})
        assert packed_sizes.feather_size(written(table, "feather", compression="zstd")) > 20_000

    def test_text_is_measured_while_it_is_read(self, tmp_path, free):
        free(10_000)
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))
        with pytest.raises(TableError, match="GB of memory or more"):
            read_table(str(path))
        assert sum(len(piece.frame) for piece in read_chunks(str(path), 9999)) == 100_000

    def test_texts_that_come_again_are_read_as_ever(self, tmp_path, free):
        table = pa.table(
            {"s": ["x", None, "yy"] * 100, "b": [b"x", b"y", b"z"] * 100, "a": range(300)}
        )
        path = tmp_path / "x.parquet"
        parquet.write_table(table, path)
        usual = read_table(str(path)).frame
        free(20_000)
        assert packed_sizes.parquet_file(path, "x")[1] == ["s", "b"]
        pd.testing.assert_frame_equal(read_table(str(path)).frame, usual)
        pieces = [piece.frame for piece in read_chunks(str(path), 70)]
        pd.testing.assert_frame_equal(pd.concat(pieces), usual)

    def test_too_many_numbers(self, free):
        frame = pd.DataFrame({"a": [1.0, 2.0, 4.0]})
        preparation = MixedEncoder().fit(frame)
        free(20)
        with pytest.raises(TableError, match="the table as numbers needs"):
            preparation.transform(frame)

    def test_packed_too_tightly(self, tmp_path, monkeypatch):
        monkeypatch.setattr(limits, "MANY", 100_000)
        for name, content in {
            "x.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 100_000),
            "x.npz": zipped(saved(np.zeros((100_000, 2)))),
        }.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(TableError, match=f"{name} unpacks to more than 200 times"):
                read_table(str(tmp_path / name))

    @pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_arrays_that_say_that_they_are_small(self, tmp_path, packing):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", packing) as archive:
            archive.writestr("a.npy", saved(np.zeros((4_000_000, 2))))
        content = bytearray(buffer.getvalue())
        place = content.rfind(b"PK\x01\x02") + 24  # the size in the table of contents
        content[place : place + 4] = (1000).to_bytes(4, "little")
        (tmp_path / "x.npz").write_bytes(content)
        tracemalloc.start()
        with pytest.raises(TableError, match=r"x\.npz is damaged and cannot be read"):
            read_table(str(tmp_path / "x.npz"))
        assert tracemalloc.get_traced_memory()[1] < 24e6
        tracemalloc.stop()

    @pytest.mark.parametrize("kind", ["<U0", "|S0"])
    def test_cells_without_bytes(self, tmp_path, kind):
        (tmp_path / "x.npy").write_bytes(header((100_000_000, 2), kind))
        with pytest.raises(TableError, match=f"values of type .{kind[1:]}; save numbers or text"):
            read_table(str(tmp_path / "x.npy"))
        (tmp_path / "x.npy").write_bytes(saved(np.zeros(3, dtype=[("a", "i1"), ("b", kind)])))
        with pytest.raises(TableError, match="save numbers or text"):
            read_table(str(tmp_path / "x.npy"))

    def test_a_name_without_end(self, tmp_path, monkeypatch):
        monkeypatch.setattr(opening, "_MOST_LETTERS", 1000)
        named = b"\x1f\x8b\x08\x08" + bytes(6)  # the first of a gzip file, before its name
        counted = io.BytesIO(named + b"n" * 10**6)
        with pytest.raises(TableError, match="its gzip data cannot be unpacked"):
            opening.unpacked(counted, "x.gz").read(1)
        assert counted.tell() < 1100

    def test_no_room_at_all(self, tmp_path, monkeypatch):
        def full(*args):
            raise MemoryError

        monkeypatch.setattr("dogc.app.tables.reading._frame", full)
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        with pytest.raises(TableError, match="needs more memory than is free"):
            read_table(str(tmp_path / "x.csv"))


class TestMarkup:
    @pytest.mark.parametrize(
        "text",
        [
            '[{"a": 1}]', '{"a": [1, 2]}', "[[1, 2],\n [3, 4]]", '{"a": 1}\n{"a": 2}\n', "[\n",
            "[" * 70_000, '["' + "x" * 2000, "[" + "1, " * 30_000 + "tru", "<html>",
            "<!DOCTYPE html>",
            '\ufeff<?xml version="1.0"?>', "<!-- x -->", "<table>\n<tr>", "<a>\n\n<b>", "<body\nx>",
        ],
    )  # fmt: skip
    def test_what_is_none_of_ours(self, text):
        assert is_markup(text, ".txt")

    @pytest.mark.parametrize(
        "text",
        [
            "[id],[name]\n1,2\n", "{x};{y}\n1;2\n", "<NA>,1\n<5,2\n", "[1],2\n", '{"a": 1},5\n',
            "[1,2\n3,4\n", "<x>\n1\n2\n", "<b>bold</b>,1\n<b>x</b>,2\n", "<5\n<6\n", "x,y\n",
        ],
    )  # fmt: skip
    def test_tables(self, text, tmp_path):
        assert not is_markup(text, ".csv")
        assert is_markup(text, ".json") == text.startswith(("[", "{"))

    def test_they_are_read(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("[id],<n>\n{1},[2]\n<3>,4\n")
        frame = read_table(str(path)).frame
        assert frame.to_dict("list") == {"[id]": ["{1}", "<3>"], "<n>": ["[2]", "4"]}


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


class TestPathsFirst:
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

    def test_dangling_links(self, tmp_path):
        os.symlink("gone.csv", tmp_path / "x.csv")
        with pytest.raises(TableError, match=r"x\.csv is a link to gone\.csv, which does not"):
            read_table(str(tmp_path / "x.csv"))

    def test_devices(self):
        with pytest.raises(TableError, match=r"zero is not a text file .it has a NUL byte"):
            read_table("/dev/zero")
        with pytest.raises(TableError, match="null is empty"):
            read_table("/dev/null")

    @pytest.mark.parametrize("order", ["utf-32-le", "utf-32-be"])
    def test_utf_32(self, tmp_path, order):
        path = tmp_path / "x.csv"
        path.write_bytes("\ufeffa,b\n1,2\n".encode(order))
        with pytest.raises(TableError, match="UTF-32 text"):
            read_table(str(path))


class TestArrays:
    @pytest.mark.parametrize("kind", [">f8", ">i4", "<u2", ">U3", "f2", "g", "S2", ">M8[D]", "?"])
    def test_of_all_kinds(self, tmp_path, kind):
        array = np.array([[1, 0], [3, 4]]).astype(kind)
        path = tmp_path / "x.npy"
        np.save(path, array)
        frame = read_table(str(path)).frame
        assert list(frame) == ["c1", "c2"]
        usual = array.astype("U3") if array.dtype.kind == "S" else array
        for place, name in enumerate(frame):
            assert (frame[name].to_numpy() == usual[:, place]).all()
        pa.Table.from_pandas(frame)  # the labels are written by this

    def test_rows_with_names(self, tmp_path):
        array = np.array(
            [(1, 2.5, "ä"), (3, 4.0, "b")], dtype=[("n", ">i4"), ("x", "f4"), ("s", ">U2")]
        )
        path = tmp_path / "x.npy"
        np.save(path, array)
        assert read_table(str(path)).frame.to_dict("list") == {
            "n": [1, 3],
            "x": [2.5, 4.0],
            "s": ["ä", "b"],
        }

    @pytest.mark.parametrize(
        ("dtype", "message"),
        [
            ([("a", "f8", 3)], r"shape \(2, 3\)"),
            ([("a", [("b", "f8")])], "values of type"),
            ([(f"column{i}", "f8") for i in range(999)], "too long a header"),
        ],
    )
    def test_rows_that_are_no_table(self, tmp_path, dtype, message):
        path = tmp_path / "x.npy"
        np.save(path, np.zeros(2, dtype=dtype))
        with pytest.raises(TableError, match=message):
            read_table(str(path))

    @pytest.mark.parametrize("shape", [(10**6, 10), (-1, 5), (-1, -5), (2, 0), (), (10**30, 1)])
    def test_headers_that_are_wrong(self, tmp_path, shape):
        path = tmp_path / "x.npy"
        path.write_bytes(header(shape) + bytes(80))
        with pytest.raises(TableError):
            read_table(str(path))

    def test_text_that_is_none(self, tmp_path):
        path = tmp_path / "x.npy"
        for code in (0xD800, 0x110000, 2**32 - 1):
            array = np.array([["ab", "c"]])
            array.view(np.uint32)[0, 0] = code
            np.save(path, array)
            with pytest.raises(TableError, match="damaged"):
                read_table(str(path))

    def test_numbers_that_are_hardly_any(self, tmp_path):
        path = tmp_path / "x.npy"
        array = np.arange(60, dtype=np.float32).reshape(20, 3)
        array.view(np.uint32)[0, 0] = 0x7F800001  # a NaN that complains
        np.save(path, array)
        assert np.isfinite(MixedEncoder().fit_transform(read_table(str(path)).frame)).all()
        tiny = pd.DataFrame({"a": [0.0, 1e-310, 5e-200], "b": [1.0, 2.0, 4.0]})
        assert MixedEncoder().fit(tiny).columns_ == ["b"]

    def test_numbers_of_all_sizes_are_drawn(self, tmp_path, capsys):
        path = tmp_path / "x.csv"
        rows = [f"{10.0**e},{e}" for e in range(-200, 140, 17)]
        path.write_text("\n".join(["a,b", *rows, "1,2\n"]))
        assert run(["cluster", str(path), "--clusters", "2", "--out", str(tmp_path / "o")]) == 0


class TestArrowColumns:
    @pytest.fixture
    def read(self, tmp_path):
        def put(table, kind="parquet"):
            path = tmp_path / f"x.{kind}"
            path.write_bytes(written(table, kind))
            return read_table(str(path)).frame

        return put

    @pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(2)])
    def test_bytes_are_text(self, read, kind):
        frame = read(pa.table({"a": pa.array([b"ab", None, b"\xffz"], kind)}))
        assert frame["a"].tolist()[0] == "ab"
        assert pd.isna(frame["a"][1])
        assert frame["a"][2] == "\ufffdz"

    @pytest.mark.parametrize(
        ("kind", "message"),
        [
            (pa.timestamp("s"), "a date in the year -?[0-9]+"),
            (pa.timestamp("ms", "UTC"), "a date in the year|cannot be shown"),
            (pa.timestamp("us", "No/Where"), "cannot be shown"),
            (pa.date32(), "cannot be shown"),
        ],
    )
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_dates_beyond_the_calendar(self, read, kind, message, sign):
        values = np.array([0, sign * (2**31 - 1 if kind == pa.date32() else 2**60)])
        column = pa.array(values.astype(f"i{kind.bit_width // 8}")).view(kind)
        with pytest.raises(TableError, match=f"column 'when' of .*x.feather holds .*({message})"):
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

    def test_statistics_that_abort(self, tmp_path):
        # Arrow ends the process where a row group is asked for them and they are wrong.
        path = tmp_path / "x.parquet"
        parquet.write_table(pa.table({"a": pa.array([[1], [2, 3]]), "b": [1, 2]}), path)
        content = path.read_bytes()
        for place in range(len(content) // 2, len(content) - 8):
            path.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
            for read in (read_table, lambda path: find_parts([path], "x", Workers())):
                with contextlib.suppress(TableError):
                    read(str(path))

    def test_a_file_whose_name_is_no_text(self, tmp_path):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.parquet")
        parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "x")
        os.rename(tmp_path / "x", path)
        assert read_table(path).source == "\\udcff.parquet"
        assert sum(len(piece.frame) for piece in read_chunks(path, 1)) == 2
        assert find_parts([path], "x", Workers()).rows == 2


def test_arff_files_that_were_read_wrongly(tmp_path):
    path = tmp_path / "x.arff"
    rows = "1,a\n2,b\n"
    path.write_text(f"@relation r\r@attribute x real\r@attribute self {{a,b}}\r@data\r{rows}")
    assert str(read_table(str(path)).frame["self"].dtype) == "category"
    for attribute, row, message in [
        ("@attribute abc", "1,2", "line 3 of .*x.arff is not an attribute"),
        ("@attribute y string", "1,'open", "a quote in line 5 of .*x.arff is not closed"),
        ("@attribute y string", "1,a" + " " * 100_000 + "b,'", "not closed"),
    ]:
        path.write_text(f"@relation r\n@attribute x real\n{attribute}\n@data\n{row}\n")
        with pytest.raises(TableError, match=message):
            read_table(str(path))
