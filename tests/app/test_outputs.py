"""Files that commands write: places that cannot be, cells that spreadsheets run, pages."""

import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import uuid

import numpy as np
import pytest
from commands import pd, run

from dogc._policy import policy
from dogc.app.commands import cluster_files, terminal
from dogc.app.commands.outputs import CsvRows, as_text
from dogc.paper import reproduction_page

DOGC = [sys.executable, "-m", "dogc"]


@pytest.fixture
def table(folder):
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0, 0.0], [6.0, 6.0]], 15, axis=0) + rng.normal(0, 0.7, (30, 2))
    frame = pd.DataFrame(rows, columns=["=a", "b"])
    frame = frame.assign(kind=np.repeat(["=1+1", "-2.5"], 15), note=[f"-n{i}" for i in range(30)])
    frame.to_csv("rows.csv", index=False)
    return folder / "rows.csv"


COMMANDS = {
    "cluster": ("rows.csv", "--clusters", 2),
    "compare": ("rows.csv", "--clusters", 2, "--method", "km"),
    "predict": ("absent.skops", "rows.csv"),
    "report": ("absent.skops",),
    "datasets": ("wine",),
    "demo": (),
}


def never(*args, **kwargs):
    raise AssertionError("read before it was known where to write")


@pytest.fixture
def nothing_read(monkeypatch):
    monkeypatch.setattr(terminal, "open_table", never)
    monkeypatch.setattr(terminal.saving, "load_bundle", never)
    monkeypatch.setattr("dogc.app.commands.demonstration.wine", never)


@pytest.mark.usefixtures("nothing_read")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_in_the_way_is_noticed_before_anything_is_read(command, table, capsys):
    pathlib.Path("link").symlink_to("nowhere")
    for out in ("rows.csv/sub", "rows.csv/sub/deep", "link/sub"):
        assert run(command, *COMMANDS[command], "--out", out, "--force") == 2
        said = capsys.readouterr().err
        assert said.startswith(f"dogc: cannot write '{out}': ")
        assert "is not a folder; choose another path." in said


@pytest.mark.parametrize("name", ["two\nlines\x1b[31m", "x" * 50_000])
def test_a_place_of_any_name_is_told_in_a_line(name, table, capsys):
    assert run("cluster", *COMMANDS["cluster"], "--out", f"rows.csv/{name}") == 2
    said = capsys.readouterr().err
    assert said.endswith("; choose another path.\n")
    assert said[:-1].isprintable()
    assert len(said) < 1100


def test_no_text_of_others_does_anything_to_the_terminal(table, capsys):
    danger = "\x1b]0;title\x07\x1b[2J"
    rows = pd.read_csv(table).drop(columns="note")
    rows = rows.set_axis([f"{danger}a", f"{danger}[b]x", f"{danger}kind"], axis=1)
    rows.insert(0, f"{danger}id", [f"u{i}" for i in range(30)])
    rows.iloc[3, 2] = None
    cells = rows[f"{danger}a"].astype(object)
    cells[5] = danger  # no number
    rows.assign(**{f"{danger}a": cells}).to_csv("danger.csv", index=False)
    assert run("cluster", "danger.csv", "--clusters", 2, "--out", "out") == 0
    assert run("info", "out/model.skops") == 0
    said = capsys.readouterr().out
    assert said.replace("\n", "").isprintable()
    assert said.count("\\x1b]0;title\\x07") >= 10  # one for every name, and one for the cell
    assert "[b]x" in said


@pytest.mark.parametrize(
    "raised",
    [lambda: np.empty(1 << 60, dtype=np.int8), lambda: bytes(1 << 60)],
    ids=["numpy", "python"],
)
def test_where_memory_ends_there_is_a_sentence(raised, table, capsys, monkeypatch):
    monkeypatch.setattr(cluster_files, "fitted_to", lambda *given: raised())
    assert run("cluster", *COMMANDS["cluster"], "--out", "here") == 2
    assert capsys.readouterr().err == "dogc: there is not enough memory; pass fewer rows.\n"


@pytest.mark.usefixtures("nothing_read")
@pytest.mark.parametrize("command", COMMANDS)
def test_so_is_a_folder_that_is_read_only(command, table, capsys, monkeypatch):
    def denied(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(tempfile, "TemporaryFile", denied)
    assert run(command, *COMMANDS[command], "--out", "here", "--force") == 2
    said = capsys.readouterr().err
    assert said == "dogc: cannot write 'here': you may not write there; choose another path.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("command", ["cluster"])
def test_a_file_that_may_not_grow_is_said_of_the_place_that_was_named(command, table):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "from dogc.app.cli import main; main()"
    )
    arguments = [str(part) for part in (command, *COMMANDS[command], "--out", "here")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("dogc: cannot write 'here': File too large; choose another")
    assert done.stderr.count("\n") == 1
    assert os.listdir() == ["rows.csv"]


# ----------------------------------------------------------------------- cells of spreadsheets

RUN = ["=1+1", "+a1", "-a1", "@sum(a1)", "\t=1", "\r=1", "\n=1", "-2+3", "-1.5\n", "- item",
       "+cmd|' /C calc'!A0", "\uff1d1+1", "-1e5x", "--1", "-2024-1-1", "\ufeff=1+1"]  # fmt: skip
PLAIN = ["-1.5", "+3", "-1,5", "+1 555 1234", "-1.234,50", "-2e-3", "-5%", "-", "--", "-.5",
         "2024-01-31", "a=1", "", "'=1", " x", "="]  # fmt: skip


def test_cells_that_a_spreadsheet_would_run_get_an_apostrophe():
    assert [as_text(cell) for cell in RUN] == [f"'{cell}" for cell in RUN]
    assert [as_text(cell) for cell in PLAIN] == PLAIN


def written(frame, raw=False):
    buffer = io.BytesIO()
    file = CsvRows(buffer, raw)
    for part in (frame.iloc[:3], frame.iloc[3:]):
        file.write(part)
    text = buffer.getvalue().decode()
    return pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False), file


def test_cells_that_only_pandas_can_write():
    found, _ = written(pd.DataFrame({"u": [uuid.UUID(int=i) for i in range(5)]}))
    assert found["u"][3] == "00000000-0000-0000-0000-000000000003"


@pytest.mark.parametrize("kind", [object, "str", "category", "nested"])
def test_part_by_part_and_whatever_kind_of_text_it_is(kind):
    cells = [*RUN, *PLAIN]
    frame = pd.DataFrame({"-x": cells, "n": np.linspace(-2, 2, len(cells))})
    if kind == "nested":
        frame["more"] = [[1]] * len(cells)  # which pyarrow does not write
    else:
        frame["-x"] = frame["-x"].astype(kind)
    found, file = written(frame)
    assert list(found["'-x"]) == [as_text(cell) for cell in cells]
    assert np.allclose(found["n"].astype(float), frame["n"])
    assert file.changed == len(RUN) + 1
    assert f"{len(RUN) + 1} cells begin with an apostrophe" in file.note()[0]
    found, file = written(frame, raw=True)
    assert list(found["-x"]) == cells
    assert file.note() == []


def cells_of(path):
    return pd.read_csv(path, dtype=str)


def test_every_command_writes_them_so_and_says_it(table, capsys):
    assert run("cluster", table, "--clusters", 2, "--label-column", "kind", "--json") == 0
    note = "46 cells begin with an apostrophe now"  # a name, 15 of kind, 30 of note
    assert any(said.startswith(note) for said in json.loads(capsys.readouterr().out)["notes"])
    record = json.loads(pathlib.Path("dogc-output/run.json").read_text())
    assert any(said.startswith(note) for said in record["notes"])
    assert run("predict", "dogc-output/model.skops", table) == 0
    assert note in " ".join(capsys.readouterr().out.split())
    assert run("compare", table, "--clusters", 2, "--method", "km") == 0
    assert note in " ".join(capsys.readouterr().out.split())
    for path in ("dogc-output/labels.csv", "predicted.csv", "dogc-compare/labels.csv"):
        found = cells_of(path)
        assert list(found.columns[:4]) == ["'=a", "b", "kind", "note"]
        assert set(found["kind"]) == {"'=1+1", "-2.5"}
        assert found["note"].str.startswith("'-n").all()


def test_unless_they_are_asked_to_stay(table, capsys):
    assert run("cluster", table, "--clusters", 2, "--raw-cells") == 0
    assert run("predict", "dogc-output/model.skops", table, "--raw-cells") == 0
    assert run("compare", table, "--clusters", 2, "--method", "km", "--raw-cells") == 0
    assert "apostrophe" not in capsys.readouterr().out
    given = cells_of(table)
    for path in ("dogc-output/labels.csv", "predicted.csv", "dogc-compare/labels.csv"):
        assert cells_of(path)[["=a", "kind", "note"]].equals(given[["=a", "kind", "note"]])


# ------------------------------------------------------------------------------------- pages


def test_every_page_has_a_policy_and_keeps_to_it(table, capsys):
    assert run("compare", table, "--clusters", 2, "--method", "km", "--method", "dogc") == 0
    assert run("explore", table, "--to", 3) == 0
    style = reproduction_page.STYLE
    page = reproduction_page.page([], "facts")
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy(style)}">' in page
    assert f"<style>{style}</style>" in page
    assert not re.search(r"<script|\sstyle=|\son\w+=", page)
    for name in ("dogc-compare/compare.html", "dogc-explore/explore.html"):
        page = pathlib.Path(name).read_text(encoding="utf-8")
        (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
        _, script = re.findall("<script[^>]*>(.*?)</script>", page, re.DOTALL)
        held = f'<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">'
        assert held in page
        markup = page.replace(script, "")
        assert not re.search(r"<[^>]*\s(style|on\w+)=", markup)


# ------------------------------------------------------------------------------ the process

SLOW = """
import sys, time
{before}
from dogc.app import cli
from dogc.app.commands import {module} as slow
def wait(*args, **kwargs):
    print("here", flush=True)
    time.sleep(30)
slow.{name} = wait
cli.main()
"""
# Where it stands when it is stopped: before anything is written, and in the middle of it.
STANDS = {"reading": ("terminal", "open_table"), "writing": ("cluster_files", "write_findings")}


def stopped(code, number, *arguments):
    """The output and the end of a process, if it gets a signal once it has said something."""
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("stands", STANDS)
@pytest.mark.parametrize(("number", "code", "word"), [
    (signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "stopped"),
])  # fmt: skip
def test_a_signal_ends_it_in_one_sentence_and_leaves_nothing(table, stands, number, code, word):
    module, name = STANDS[stands]
    program = SLOW.format(module=module, name=name, before="")
    found = stopped(program, number, "cluster", "rows.csv", "--clusters", "2")
    assert found == (code, f"dogc: {word}; no file was left half-written.\n")
    assert os.listdir() == ["rows.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_while_packages_are_imported_is_no_traceback(table):
    # A package that swallows exceptions while it is imported, as some do.
    pathlib.Path("rich.py").write_text(
        "import time\nprint('here', flush=True)\n"
        "try:\n    time.sleep(30)\nexcept BaseException:\n    raise ImportError('swallowed')\n"
    )
    program = "import sys; sys.path.insert(0, '.'); from dogc.app.cli import main; main()"
    found = stopped(program, signal.SIGINT, "cluster", "rows.csv", "--clusters", "2")
    assert found == (130, "dogc: interrupted; no file was left half-written.\n")


def test_python_m_dogc_is_dogc():
    done = subprocess.run([*DOGC, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("dogc ")


def test_the_command_begins_with_little():
    code = ("import sys; from dogc.app import cli; "
            "print(sorted({name.split('.')[0] for name in sys.modules} & "
            "{'numpy', 'sklearn', 'typer', 'pandas', 'rich', 'inspect', 'asyncio'}))")  # fmt: skip
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr
