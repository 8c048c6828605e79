"""The estimate of memory is what a fit takes, within a factor; every method says it."""

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import dogc
from dogc import _limits
from dogc.app.cli import main
from dogc.fitting.auto import trials
from dogc.fitting.in_memory import RowsInMemory
from dogc.paper import PrintedDOGC, PrintedDOGCOS

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "memory.py"
linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
METHODS = [
    dogc.DOGC(2),
    dogc.DOGC(2, n_representatives=None),
    dogc.DOGCOS(2),
    dogc.CAN(2),
    dogc.PCAN(2),
    dogc.DOGCRelaxed(2),
    dogc.DOGCFixedGraph(2),
    dogc.CLR(2),
    dogc.CLR(2, affinity="full"),
    dogc.RatioCut(2),
    dogc.RatioCut(2, affinity="full"),
    dogc.NormalizedCut(2, n_representatives=100),
    dogc.NMFClustering(2),
    dogc.NMFClustering(2, source="features"),
    dogc.SEC(2),
    dogc.DiscriminativeKMeans(2),
    dogc.DiscriminativeKMeans(2, kernel="rbf"),
    dogc.LocalLearningClustering(2),
    dogc.CLGR(2),
    dogc.LSC(2),
    dogc.USPEC(2),
    dogc.LPP(),
    PrintedDOGC(2),
    PrintedDOGCOS(2),
]


@pytest.fixture
def little_room(monkeypatch):
    monkeypatch.setattr(_limits, "room", lambda: (26e6, "the machine's memory"))


def test_every_method_refuses_what_is_too_large(little_room):
    X = np.random.default_rng(0).standard_normal((4_000, 40))
    for model in METHODS:
        with pytest.raises(MemoryError, match=r"^X has 4,000 rows, which need .* of them.*\.$"):
            model.fit(X)
    X = sp.random_array(
        (3_000, 50), density=0.5, format="csr", random_state=np.random.default_rng(0)
    )
    for cls in (dogc.DOGC, dogc.DOGCOS, dogc.NormalizedCut, dogc.SEC, dogc.LSC):
        with pytest.raises(MemoryError, match=r"^X has 3,000 rows, which need about"):
            cls(2).fit(X)


def test_the_bytes_of_sparse_rows_count_their_indices():
    X = sp.csr_array(np.eye(8))
    assert _limits.row_bytes(RowsInMemory(X)) == 8 + X.indices.itemsize
    assert _limits.row_bytes(RowsInMemory(np.eye(8))) == 64


def test_many_rows_of_few_distinct_ones_are_not_refused(monkeypatch):
    X = np.repeat(np.random.default_rng(0).standard_normal((60, 3)), 2_000, axis=0)
    monkeypatch.setattr(_limits, "room", lambda: (6e7, "the machine's memory"))
    for model in (dogc.DOGC(2), dogc.DOGC(2, n_neighbors=5)):
        assert set(model.fit(X).labels_) == {0, 1}
    with pytest.raises(MemoryError, match="which need"):
        dogc.DOGC(2, n_representatives=None).fit(X)


def test_the_command_line_says_it_in_one_sentence(little_room, tmp_path, capsys):
    rows = np.random.default_rng(0).standard_normal((500, 3)).tolist()
    path = tmp_path / "rows.csv"
    lines = [",".join(f"{value:.3f}" for value in row) for row in rows]
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "found"
    with pytest.raises(SystemExit) as left:
        main(["cluster", str(path), "--clusters", "2", "--out", str(out)])
    assert left.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("dogc: X has 500 rows, which need about")
    assert "\n" not in said
    assert not out.exists()


def run(*given):
    command = [sys.executable, str(BENCHMARK), *given]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cases():
    spec = importlib.util.spec_from_file_location("memory_benchmark", BENCHMARK)
    benchmark = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    return list(benchmark.grid())


@linux
@pytest.mark.parametrize(("method", "n"), [("USPEC", 200_000), ("PrintedDOGC", 1_500)])
def test_a_peak_is_about_what_was_said(method, n):
    place = next(i for i, case in enumerate(cases()) if case[:2] == (method, n))
    ran = run("--case", str(place))
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["peak"] > 100
    assert 1 / 1.5 < found["estimate"] / found["peak"] < 1.5


@linux
@pytest.mark.slow
@pytest.mark.parametrize("methods", [("PCAN", "CLR"), ("SEC", "LPP"), ("USPEC",)])
def test_peaks_are_about_what_was_said(methods):
    ran = run("--only", *methods)
    assert ran.returncode == 0, ran.stdout


def test_a_fit_tries_no_more_representatives_than_there_is_room_for(monkeypatch):
    """Rows without structure link nearly all pairs of them: 4,000 took 1.9 GB."""
    X = np.random.default_rng(0).standard_normal((8_000, 3))
    for free, more in ((1e9, True), (5e6, False)):
        monkeypatch.setattr(trials, "room", lambda free=free: (free, "the machine's memory"))
        with warnings.catch_warnings(action="ignore"):
            tried = dogc.RatioCut(3).fit(X).resolutions_.n_representatives
        assert (len(tried) > 1) == more
