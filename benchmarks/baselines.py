"""Time and memory of the spectral methods at n = 20,000, beside scikit-learn.

python benchmarks/baselines.py [--rows 20000] [--repeats 1]

Each fit runs in a process of its own. Data: blobs in 16 dimensions, ten centres, and ten noisy
rings there. 15 neighbours for all; scikit-learn's SpectralClustering (k-means) is the peer.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from dogc.comparison import METHODS

SPECTRAL = ["R-cut", "N-cut", "SC", "NMF", "CLR0", "CLR1", "SEC", "LL", "CLGR"]
CASES = ["blobs3", "blobs5", "rings"]


def data(case: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    if case == "rings":
        rng = np.random.default_rng(0)
        truth = np.arange(n) % 10
        planes = [np.linalg.qr(rng.standard_normal((16, 2)))[0] for _ in range(10)]
        centres = rng.standard_normal((10, 16))
        angle = rng.uniform(0, 2 * np.pi, n)
        circle = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)])
        X = centres[truth] + np.stack([planes[j] @ z for j, z in zip(truth, circle, strict=True)])
        return X + 0.15 * rng.standard_normal((n, 16)), truth
    std = float(case.removeprefix("blobs"))
    return make_blobs(n, n_features=16, centers=10, cluster_std=std, random_state=0)


def measure(case: str, method: str, n: int) -> None:
    """Fit once and print seconds, peak memory in MB and ARI."""
    warnings.simplefilter("ignore")
    X, truth = data(case, n)
    if method == "sklearn":
        model = SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=15, random_state=0)
    else:
        model = METHODS[method](10).set_params(n_neighbors=15)
    clone(model).set_params(n_clusters=2, n_neighbors=5).fit(X[:60])  # imports, thread pools
    began = time.perf_counter()
    labels = model.fit(X).labels_
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(seconds, peak, adjusted_rand_score(truth, labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(*options.one, options.rows)
        return
    for case in CASES:
        print(f"\n{case}, {options.rows} x 16   seconds  peak MB     ARI   time / sklearn")
        base = None
        for method in ["sklearn", *SPECTRAL]:
            runs = [
                subprocess.run(
                    [sys.executable, __file__, "--rows", str(options.rows), "--one", case, method],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
                for _ in range(options.repeats)
            ]
            seconds, peak, ari = np.median(np.array(runs, dtype=float), axis=0)
            base = base or seconds
            print(
                f"{method:<18}{seconds:9.2f}{peak:9.0f}{ari:9.4f}{seconds / base:11.2f}", flush=True
            )


if __name__ == "__main__":
    main()
