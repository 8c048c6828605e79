"""CPU time of DOGC in units of a peer's in the same run, commit by commit.

python benchmarks/history.py                    # the last commit; exits with 1 if it is slower
python benchmarks/history.py --commit REV ...   # these commits, each from its own sources

digits   1,797 x 64, fit, against SpectralClustering on a graph of 10 neighbours
blobs    50,000 x 16, ten centres, fit, against KMeans with ten starts
predict  200,000 x 16 new rows, against KMeans.predict with 250 centres
import   import dogc, against import numpy, each in a process of its own

Rows are added to docs/_static/history.csv. A ratio is that of the least times of five rounds in
which both take turns. "Slower" is above 1.5 times the median of the ten rows before.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable

import numpy as np

ROOT = pathlib.Path(__file__).parents[1]
HISTORY = ROOT / "docs" / "_static" / "history.csv"
CASES = ("digits", "blobs", "predict", "import")
ROUNDS, SLOWER, LOOK_BACK = 5, 1.5, 10


def cpu_seconds(run: Callable[[], object]) -> float:
    """CPU time of a call, that of its children included."""
    before = os.times()
    run()
    return sum(os.times()[:4]) - sum(before[:4])


def ratio(ours: Callable[[], object], peer: Callable[[], object]) -> float:
    """Least time of ours over the least time of the peer, taking turns."""
    times = np.array([[cpu_seconds(ours), cpu_seconds(peer)] for _ in range(ROUNDS)])
    return float(np.divide(*times.min(axis=0)))


def contests() -> dict[str, float]:
    """The ratios of the `dogc` that is imported."""
    from sklearn.cluster import KMeans, SpectralClustering
    from sklearn.datasets import load_digits, make_blobs

    from dogc import DOGC

    def python(code: str) -> Callable[[], object]:
        return lambda: [subprocess.run([sys.executable, "-c", code], check=True) for _ in range(5)]

    digits = load_digits().data
    spectral = SpectralClustering(10, affinity="nearest_neighbors", random_state=0)
    blobs, _ = make_blobs(250_000, 16, centers=10, cluster_std=3.0, random_state=0)
    rows, new = blobs[:50_000], blobs[50_000:]
    kmeans = KMeans(10, n_init=10, random_state=0)
    model, cells = DOGC(10).fit(rows), KMeans(250, n_init=1, max_iter=1).fit(rows)
    return {
        # What is too short to be timed is done five times.
        "digits": 5 * ratio(
            lambda: DOGC(10).fit(digits), lambda: [spectral.fit(digits) for _ in range(5)]
        ),
        "blobs": ratio(lambda: DOGC(10).fit(rows), lambda: kmeans.fit(rows)),
        "predict": 5 * ratio(
            lambda: model.predict(new), lambda: [cells.predict(new) for _ in range(5)]
        ),
        "import": ratio(python("import dogc"), python("import numpy")),
    }  # fmt: skip


def git(*words: str) -> bytes:
    """The answer of git."""
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True).stdout


def measured(commit: str) -> list[str]:
    """The row of one commit; its sources are unpacked and imported by another process."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "src"))) as archive:
            archive.extractall(folder, filter="data")
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        done = subprocess.run(
            [sys.executable, __file__, "--here"], check=True, capture_output=True, text=True,
            env={**os.environ, **one, "PYTHONPATH": str(pathlib.Path(folder) / "src")},
        )  # fmt: skip
    date, name = git("show", "-s", "--format=%cs %h", commit).decode().split()
    return [date, name, *done.stdout.split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commit", nargs="+", default=["HEAD"], help="commits to measure")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.here:
        print(*(f"{value:.2f}" for value in contests().values()))
        return 0
    with HISTORY.open(newline="", encoding="utf-8") if HISTORY.exists() else io.StringIO() as file:
        known = list(csv.reader(file))[1:]
    slower = 0
    for commit in options.commit:
        began = time.perf_counter()
        row = measured(commit)
        known = [other for other in known if other[1] != row[1]]
        usual = [
            np.median([float(old[2 + i]) for old in known[-LOOK_BACK:]] or [np.inf])
            for i in range(4)
        ]
        late = [
            case
            for case, now, then in zip(CASES, row[2:], usual, strict=True)
            if float(now) > SLOWER * then
        ]
        print(
            *row,
            f"({time.perf_counter() - began:.0f} s)",
            *(f"SLOWER: {case}" for case in late),
            flush=True,
        )
        slower += len(late)
        known.append(row)
    with HISTORY.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["date", "commit", *CASES], *known])
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
