"""Numbers and dates as people write them, arrays and sheets inside files, notes on new rows."""

import contextlib
import json
import types
import zipfile

import numpy as np
import pytest
from commands import pd, run

from dogc import MixedEncoder
from dogc.app.commands import command_line
from dogc.app.commands.outputs import CsvRows
from dogc.app.files import TableError, arrays, read_table
from dogc.encoding.columns import encode, plan_column

CELLS = {
    "points between thousands": (["1.000,50", "0,13", "12.345.678", "-7"],
                                 [1000.5, 0.13, 12345678.0, -7.0]),
    "centimetres": (["5.20 cm", "3 cm", "-1.5cm", "4 cm"], [5.2, 3.0, -1.5, 4.0]),
    "dollars": (["$4.83", "-$1,000.50", "$ 3", "$0"], [4.83, -1000.5, 3.0, 0.0]),
    "euros": (["4,83 €", "1.000,50 €", "3 €", "0,5 €"], [4.83, 1000.5, 3.0, 0.5]),
    "per cent": (["20%", "7.5 %", "0%", "100%"], [20.0, 7.5, 0.0, 100.0]),
}  # fmt: skip


@pytest.mark.parametrize("case", CELLS)
def test_numbers_as_people_write_them(case):
    texts, numbers = CELLS[case]
    column = pd.Series([*texts, None], name="x")
    plan = plan_column(column)
    assert plan["kind"] == "number"
    np.testing.assert_allclose(encode(column, plan)[:4], numbers)
    assert encode(column, plan)[4] == np.median(numbers)
    assert json.loads(json.dumps(plan)) == plan


@pytest.mark.parametrize(
    "texts", [["5 cm", "3 mm"], ["Q1", "Q2"], ["007 cm", "008 cm"], ["5 cm", "tall"], ["1.2.3 m"]]
)
def test_what_is_no_number_with_a_unit(texts):
    plan = plan_column(pd.Series(texts * 10, name="x"))
    assert plan["kind"] != "number"


@pytest.mark.parametrize(
    "texts",
    [[f"2023-01-{day:02d}" for day in range(1, 32)] * 2 + ["2023-02-30"],
     [f"{day}.5.2023" for day in range(1, 32)] * 2 + ["31.6.2023", "soon"]],
)  # fmt: skip
def test_a_few_impossible_dates_are_gaps(texts):
    column = pd.Series(texts, name="when")
    plan = plan_column(column)
    n_strays = len(texts) - 62
    assert (plan["kind"], plan["strays"], plan["stray"]) == ("date", n_strays, texts[62])
    assert plan["missing"] == n_strays
    assert encode(column, plan)[62] == plan["median"]
    said = " ".join(MixedEncoder(keep=["when"]).fit(column.to_frame()).steps_)
    cells = f"cells that are not dates count as missing: {n_strays}"
    assert f"In column 'when', {cells} (such as '{texts[62]}')" in said


def test_many_impossible_dates_are_text():
    assert plan_column(pd.Series(["2023-01-01", "2023-02-30"] * 20))["kind"] == "category"


def test_units_are_told():
    frame = pd.DataFrame({"price": ["$4.83", "$1", "$3"], "width": ["5 cm", "3 cm", "1 cm"]})
    steps = MixedEncoder().fit(frame).steps_
    assert "Removed '$' from the numbers: column 'price'." in steps
    assert "Removed 'cm' from the numbers: column 'width'." in steps


def test_an_array_is_chosen_inside_a_file(folder, capsys):
    X = np.random.default_rng(0).normal(0, 1, (40, 3))
    np.savez("data.npz", X=X, y=np.arange(40))
    assert read_table("data.npz:X").source == "data.npz"
    np.testing.assert_array_equal(read_table("data.npz:X").frame, X)
    for asked in (["data.npz:X"], ["data.npz", "--array", "X"]):
        assert run("cluster", *asked, "-k", 2, "-q", "--force") == 0
        assert run("predict", "dogc-output/model.skops", *asked, "-q", "--force") == 0
    capsys.readouterr()
    for asked, words in [
        (["data.npz"], "holds the arrays 'X', 'y'; name one of them, such as --array X."),
        (["data.npz:Z"], "holds the arrays 'X', 'y'; name one of them"),
        (["data.npz", "--array", "y"], "shape (40,)"),
        (["x.csv", "--array", "X"], "--array is for a .npz or an .xlsx file"),
        (["none.npz:X"], "there is no file none.npz."),
    ]:
        assert run("cluster", *asked, "-k", 2, "--out", "new") == 2
        assert words in capsys.readouterr().err


@pytest.fixture
def book(folder, monkeypatch):
    """Sheets as pandas gives them, in a file of which it is known that it is a book."""

    def write(sheets):
        found = types.SimpleNamespace(
            sheet_names=list(sheets), parse=lambda name, **options: pd.DataFrame(sheets[name])
        )
        monkeypatch.setattr(arrays, "find_spec", lambda name: True)
        monkeypatch.setattr(pd, "ExcelFile", lambda path, engine: contextlib.nullcontext(found))

    with zipfile.ZipFile("book.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    return write


def test_sheets_of_a_book(book):
    when = pd.Timestamp("2024-01-01")
    book({"May": [("a", None, "when"), (1, "x", when), (None, None, None), (2.5, "y", when)],
          "June": [("b",), (1,), (2,)], "empty": []})  # fmt: skip
    frame = read_table("book.xlsx").frame
    assert list(frame.columns) == ["a", "c2", "when"]
    assert frame["a"].tolist() == [1.0, 2.5]
    assert frame["when"].dtype.kind == "M"
    assert read_table("book.xlsx:June").frame["b"].tolist() == [1, 2]
    with pytest.raises(TableError, match="the sheets 'May', 'June', 'empty'; name one"):
        read_table("book.xlsx:July")
    with pytest.raises(TableError, match="no rows below its header"):
        read_table("book.xlsx:empty")
    book({"May": [("a", "a"), (1, 2)]})
    with pytest.raises(TableError, match="two columns named 'a'"):
        read_table("book.xlsx")


def test_days_are_written_without_midnight(tmp_path):
    when = pd.to_datetime(["2018-06-08", None, "2018-06-09"])
    times = when + pd.Timedelta(hours=1)
    frame = pd.DataFrame({"day": when, "time": times, "exact": times + pd.Timedelta(1, "us")})
    with open(tmp_path / "rows.csv", "wb") as file:
        CsvRows(file).write(frame)
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("2018-06-08,2018-06-08 01:00:00,2018-06-08 01:00:00.000001")
    assert lines[2] == ",,"


def test_a_book_without_openpyxl(book, monkeypatch):
    monkeypatch.setattr(arrays, "find_spec", lambda name: None)
    with pytest.raises(TableError, match=r'book.xlsx, an Excel .*pip install "dogc\[excel\]"'):
        read_table("book.xlsx")


def test_a_real_book(folder):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_excel("real.xlsx", index=False)
    assert read_table("real.xlsx").frame["b"].tolist() == ["x", "y"]


def test_predict_counts_what_it_has_not_seen(folder, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.repeat([0.0, 9.0], 30) + rng.normal(0, 1, 60),
                          "city": np.tile(["Rome", "Bonn", "Oslo"], 20)})  # fmt: skip
    frame.to_csv("rows.csv", index=False)
    assert run("cluster", "rows.csv", "-k", 2, "-q") == 0
    frame.loc[3:5, "city"] = "Paris"
    frame.to_csv("new.csv", index=False)
    assert run("predict", "dogc-output/model.skops", "new.csv") == 0
    said = capsys.readouterr().out
    assert (
        "3 rows have values in column 'city' that the model has not seen, such as 'Paris'" in said
    )
    assert run("predict", "dogc-output/model.skops", "rows.csv", "--force", "--json") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_predict_repeats_how_far_it_agrees(folder, capsys, monkeypatch):
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 30, axis=0)
    X += np.random.default_rng(0).normal(0, 1, X.shape)
    pd.DataFrame(X, columns=["x", "y"]).to_csv("rows.csv", index=False)
    assert run("cluster", "rows.csv", "-k", 2, "-q") == 0
    for least, said in ((0.95, False), (1.01, True)):
        monkeypatch.setattr("dogc.app.commands.prediction.REPEATED", least)
        assert run("predict", "dogc-output/model.skops", "rows.csv", "--force") == 0
        out = capsys.readouterr().out
        assert ("this model reproduces only 100% of the labels" in out) is said


def test_durations_beyond_nanoseconds_are_clustered(tmp_path):
    seconds = np.repeat([1, 10**12], 10) * np.arange(1, 21)
    frame = pd.DataFrame({"long": seconds.astype("timedelta64[s]"), "x": np.repeat([0.0, 9.0], 10)})
    frame.to_parquet(tmp_path / "long.parquet")
    arguments = ["cluster", tmp_path / "long.parquet", "-k", 2, "--out", tmp_path / "out"]
    assert command_line.run([str(argument) for argument in arguments]) == 0
