"""Time and memory, each case in a process of its own, peers in the same run.

python benchmarks/speed.py [--data FOLDER]

Vehicle: the authors' MATLAB code takes 2.5 s in GNU Octave for one run (quoted, not
measured here). Blobs: 10,000 x 16, ten centres, 15 neighbours, against scikit-learn.
"""

from __future__ import annotations

import argparse
import pathlib
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import uci_data
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from dogc import CAN, DOGC, DOGCOS

PUBLISHED_SECONDS = 2.5
CLASSES = {"DOGC": DOGC, "DOGCOS": DOGCOS, "CAN": CAN}


def peer():
    return SpectralClustering(
        10,
        affinity="nearest_neighbors",
        n_neighbors=15,
        assign_labels="cluster_qr",
        random_state=0,
    )


def blobs(std):
    return make_blobs(10_000, n_features=16, centers=10, cluster_std=std, random_state=0)


def measure(case: str, method: str, folder: str) -> None:
    """Fit once and print seconds, growth of peak memory in MB and ARI."""
    warnings.simplefilter("ignore")
    if case == "vehicle":
        X, truth = uci_data.load("vehicle", pathlib.Path(folder))
        model = CLASSES[method](4, n_neighbors=85, init="random", random_state=0)
    else:
        X, truth = blobs(float(case.removeprefix("blobs")))
        model = peer() if method == "sklearn" else CLASSES[method](10, n_neighbors=15)
    clone(model).set_params(n_clusters=2, n_neighbors=5).fit(X[:60])  # imports, thread pools
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    labels = model.fit(X).labels_
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(seconds, grown, adjusted_rand_score(truth, labels))


def run(case: str, method: str, folder: pathlib.Path, repeats: int) -> np.ndarray:
    outputs = [
        subprocess.run(
            [sys.executable, __file__, "--case", case, "--method", method, "--data", str(folder)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(repeats)
    ]
    return np.median(np.array(outputs, dtype=float), axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=uci_data.DEFAULT_FOLDER)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        measure(options.case, options.method, str(options.data))
        return
    print(f"medians of {options.repeats} runs; memory is the growth of the peak during fit")
    if options.data.is_dir():
        for method in ("DOGC", "DOGCOS"):
            seconds, _, _ = run("vehicle", method, options.data, options.repeats)
            print(
                f"vehicle, 85 neighbours, {method:<8}{seconds:7.2f} s   "
                f"{PUBLISHED_SECONDS / seconds:5.1f} times faster than the published code"
            )
    else:
        print(f"vehicle: left out, {options.data} is not a folder (name it with --data)")
    for std in ("3.0", "5.0"):
        base = run(f"blobs{std}", "sklearn", options.data, options.repeats)
        print(f"\nblobs 10,000 x 16, std {std}      seconds   MB       ARI    time / sklearn")
        print(f"{'SpectralClustering':<28}{base[0]:9.2f}{base[1]:7.0f}{base[2]:11.4f}")
        for method in CLASSES:
            seconds, memory, ari = run(f"blobs{std}", method, options.data, options.repeats)
            print(f"{method:<28}{seconds:9.2f}{memory:7.0f}{ari:11.4f}{seconds / base[0]:11.2f}")


if __name__ == "__main__":
    main()
