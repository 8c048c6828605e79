"""The command line in a real terminal."""

import sys

import numpy as np
import pytest

pexpect = pytest.importorskip("pexpect")
pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("skops")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")

DOGC = [sys.executable, "-c", "from dogc.app.cli import main; main()"]


@pytest.fixture
def terminal(tmp_path):
    children = []

    def start(*arguments):
        child = pexpect.spawn(DOGC[0], [*DOGC[1:], *map(str, arguments)], cwd=str(tmp_path),
                              timeout=90, encoding="utf-8", dimensions=(40, 110))  # fmt: skip
        children.append(child)
        return child

    start.folder = tmp_path
    yield start
    for child in children:
        child.close(force=True)


def write_rows(folder, n):
    rng = np.random.default_rng(0)
    centre = rng.normal(0, 3.0, (5, 8))[np.arange(n) % 5]
    frame = pd.DataFrame(centre + rng.normal(0, 1.5, centre.shape)).add_prefix("x")
    frame.to_csv(folder / "rows.csv", index=False)


# The graph of all rows: it takes long enough to be interrupted.
EVERY_ROW = ("--neighbors", 10, "--representatives", "none")


def ends_with(child, code):
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    return child.before


def test_a_progress_bar_by_phase_and_then_a_table(terminal):
    write_rows(terminal.folder, 6000)
    child = terminal("cluster", "rows.csv", "--clusters", 5)
    child.expect("reading rows.csv")
    child.expect("choices")
    child.expect("links")
    child.expect("6,000 rows of rows.csv")
    child.expect("cluster.*rows.*share.*membership")
    child.expect("report.html")
    ends_with(child, 0)
    assert len(list((terminal.folder / "dogc-output").iterdir())) == 4


def test_an_interrupt_in_the_iterations_keeps_what_there_is(terminal):
    write_rows(terminal.folder, 30_000)
    child = terminal("cluster", "rows.csv", "--clusters", 5, *EVERY_ROW)
    child.expect("[0-9] components, objective")
    child.sendintr()
    child.expect("it was interrupted; labels are the best found until then")
    ends_with(child, 130)
    made = terminal.folder / "dogc-output"
    assert sorted(path.name for path in made.iterdir()) == [
        "labels.csv", "model.skops", "report.html", "run.json",
    ]  # fmt: skip


def test_a_second_interrupt_leaves_nothing(terminal):
    write_rows(terminal.folder, 30_000)
    child = terminal("cluster", "rows.csv", "--clusters", 5, *EVERY_ROW)
    child.expect("neighbours")
    said = "interrupted; no file was left half-written"
    for _ in range(20):  # two that come together are one
        child.sendintr()
        if child.expect([said, pexpect.TIMEOUT], timeout=0.3) == 0:
            break
    ends_with(child, 130)
    assert [path.name for path in terminal.folder.iterdir()] == ["rows.csv"]
