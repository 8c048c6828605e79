"""Time and memory, each case in a process of its own, peers in the same run.

python benchmarks/speed.py [--data FOLDER] [--repeats 3] [--only vehicle blobs large uci]

vehicle  one run; the authors' MATLAB code takes 2.5 s in GNU Octave (quoted, not measured here)
blobs    10,000 x 16, ten centres, 15 neighbours, against scikit-learn
large    the defaults against scikit-learn, held to floors: digits, a uniform cube and normal
         rows without clusters, a sparse matrix of words (needs pyamg)
uci      the twelve UCI sets at the defaults in one process, imports included
"""

from __future__ import annotations

import argparse
import pathlib
import resource
import subprocess
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
import speed_data
import uci_data
from floors import floor_line
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

PUBLISHED_SECONDS = 2.5
UCI_SECONDS = 3.0


class Contest(NamedTuple):
    """A case against a peer, and the most that DOGC may take in units of the peer's time."""

    title: str
    methods: tuple[str, ...]
    most: float | None = None  # None: only shown


CONTESTS = {
    "digits": Contest("digits 1,797 x 64", ("DOGC",), 15.0),
    "cube": Contest("uniform cube 8,000 x 20", ("DOGC",), 5.0),
    "normal": Contest("normal 50,000 x 16", ("DOGC",), 2.0),
    "topics": Contest("sparse words 1,815 x 8,000", ("DOGC", "DOGCOS")),
}

# Run by a fresh interpreter, so that imports are in the time.
UCI_RUN = """
import numpy as np
from sklearn.preprocessing import scale
from dogc import DOGC
from dogc.datasets import UCI_NAMES, load_uci
import warnings
warnings.simplefilter("ignore")
for name in UCI_NAMES:
    X, classes = load_uci(name, return_X_y=True)
    DOGC(len(np.unique(classes))).fit(scale(X[:, X.std(axis=0) > 0]))
"""
IMPORT_RUN = "import sklearn.cluster"


def measure(case: str, method: str, folder: pathlib.Path) -> None:
    """Fit once and print seconds, growth of peak memory in MB and ARI."""
    warnings.simplefilter("ignore")
    X, truth = speed_data.load(case, folder)
    model = speed_data.model(case, method)
    clone(model).set_params(n_clusters=2, n_neighbors=5).fit(X[:60])  # imports, thread pools
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    labels = model.fit(X).labels_
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(seconds, grown, np.nan if truth is None else adjusted_rand_score(truth, labels))


def run(case: str, method: str, options: argparse.Namespace) -> np.ndarray:
    """Medians of seconds, MB and ARI."""
    command = [sys.executable, __file__, "--case", case, "--method", method]
    command += ["--data", str(options.data)]
    outputs = [
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        for _ in range(options.repeats)
    ]
    return np.median(np.array(outputs, dtype=float), axis=0)


def vehicle(options: argparse.Namespace) -> None:
    if not options.data.is_dir():
        print(f"vehicle: left out, {options.data} is not a folder (name it with --data)")
        return
    for method in ("DOGC", "DOGCOS"):
        seconds, _, _ = run("vehicle", method, options)
        print(
            f"vehicle, 85 neighbours, {method:<8}{seconds:7.2f} s   "
            f"{PUBLISHED_SECONDS / seconds:5.1f} times faster than the published code"
        )


def blobs(options: argparse.Namespace) -> None:
    for std in ("3.0", "5.0"):
        base = run(f"blobs{std}", "sklearn", options)
        print(f"\nblobs 10,000 x 16, std {std}      seconds   MB       ARI    time / sklearn")
        print(f"{'SpectralClustering':<28}{base[0]:9.2f}{base[1]:7.0f}{base[2]:11.4f}")
        for method in speed_data.CLASSES:
            seconds, memory, ari = run(f"blobs{std}", method, options)
            print(
                f"{method:<28}{seconds:9.2f}{memory:7.0f}{ari:11.4f}{seconds / base[0]:11.2f}",
                flush=True,
            )


def large(options: argparse.Namespace) -> None:
    """The defaults against scikit-learn: time in units of its time, and whether that is met."""
    lines = []
    for case, contest in CONTESTS.items():
        solver = speed_data.CASES[case].peer.get("eigen_solver", "")
        base = run(case, "sklearn", options)
        print(f"\n{contest.title:<28}  seconds   MB       ARI    time / sklearn")
        print(f"{f'SpectralClustering {solver}':<28}{base[0]:9.2f}{base[1]:7.0f}{base[2]:11.4f}")
        for method in contest.methods:
            seconds, memory, ari = run(case, method, options)
            ratio = seconds / base[0]
            print(f"{method:<28}{seconds:9.2f}{memory:7.0f}{ari:11.4f}{ratio:11.2f}", flush=True)
            if contest.most is not None:
                text = f"{contest.title}: time / sklearn"
                lines.append(floor_line(text, ratio, "<=", contest.most, digits=2))
    print("", *lines, sep="\n")


def uci(options: argparse.Namespace) -> None:
    """Whole processes, from the start of the interpreter to its end."""
    taken = {}
    for code in (UCI_RUN, IMPORT_RUN):
        seconds = []
        for _ in range(options.repeats):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds.append(time.perf_counter() - began)
        taken[code] = float(np.median(seconds))
    print()
    print(floor_line("twelve UCI sets and `import dogc`: s", taken[UCI_RUN], "<=", UCI_SECONDS, 2))
    print(f"{f'`{IMPORT_RUN}` alone: s':<52}{taken[IMPORT_RUN]:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parts = {"vehicle": vehicle, "blobs": blobs, "large": large, "uci": uci}
    parser.add_argument("--data", type=pathlib.Path, default=uci_data.DEFAULT_FOLDER)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(parts), default=list(parts))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        measure(options.case, options.method, options.data)
        return
    print(f"medians of {options.repeats} runs; memory is the growth of the peak during fit")
    for part in options.only:
        parts[part](options)


if __name__ == "__main__":
    main()
