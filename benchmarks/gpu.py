"""DOGC on a GPU: seconds, scores and repeated labels, each held to a floor.

    python benchmarks/gpu.py                       # everything: about three minutes on an H200
    python benchmarks/gpu.py --only small medium   # some cases
    python benchmarks/gpu.py --device cpu          # the same code without a GPU, at 1 % of the rows

Rows are ten round clusters in 16 dimensions, in 32 bits, made on the device; `host` has them in the
memory of the machine and streams them. Everything is at its default, so the number of
representatives is chosen too. Each case is fitted five times after one fit that warms the device
up, and the median counts. Needs torch.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from dogc import DOGC
from dogc.estimators import _elsewhere

COLUMNS, CLUSTERS, RUNS = 16, 10, 5
MILLION = 1_000_000
# Rows, whether they are in the machine's memory, and the most seconds.
CASES = {
    "small": (MILLION, False, 2.0),
    "medium": (10 * MILLION, False, 5.0),
    "host": (10 * MILLION, True, 10.0),
    "large": (100 * MILLION, False, 20.0),
}


def blobs(n, device, seed=0):
    """Round clusters with centres in a cube, as scikit-learn's make_blobs has them, and truth."""
    draw = torch.Generator(device=device).manual_seed(seed)
    centres = 20.0 * torch.rand(CLUSTERS, COLUMNS, generator=draw, device=device) - 10.0
    y = torch.randint(CLUSTERS, (n,), generator=draw, device=device)
    X = torch.randn(n, COLUMNS, generator=draw, device=device)
    for part, own in zip(X.split(MILLION), y.split(MILLION), strict=True):
        part.mul_(3.0).add_(centres[own])
    return X, y


def agreement(y, labels):
    """NMI and ARI of two labellings of many rows, from how often labels come together."""
    table = torch.zeros(CLUSTERS * CLUSTERS, dtype=torch.int64, device=y.device)
    table.scatter_add_(0, y * CLUSTERS + labels.to(y.device), torch.ones_like(y))
    n = len(y)
    # The same table from few rows: shares are exact to a millionth.
    count = np.maximum(table.cpu().numpy() * min(1.0, MILLION / n), 0).round().astype(int)
    first, second = np.divmod(np.repeat(np.arange(CLUSTERS**2), count), CLUSTERS)
    return normalized_mutual_info_score(first, second), adjusted_rand_score(first, second)


def wait(device):
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()


def run_case(name, rows, in_memory, device):
    X, y = blobs(rows, device)
    given = X.cpu().numpy() if in_memory else X
    if in_memory:
        X = None
    seconds, labels, model = [], None, None
    for run in range(RUNS + 1):
        wait(device)
        began = time.perf_counter()
        model = DOGC(CLUSTERS, device="cuda" if in_memory else "auto", n_jobs=-1).fit(given)
        wait(device)
        seconds.append(time.perf_counter() - began)
        found = torch.as_tensor(model.labels_)
        if run and not torch.equal(found, labels):
            sys.exit(f"{name}: labels differ between runs")
        labels = found
    nmi, ari = agreement(y, labels)
    began = time.perf_counter()
    again = torch.as_tensor(model.predict(given))
    wait(device)
    predicted = time.perf_counter() - began
    if not torch.equal(again.to(labels.device), labels):
        sys.exit(f"{name}: predict differs from labels_")
    peak = torch.cuda.max_memory_allocated() / 1e9 if torch.cuda.is_available() else np.nan
    return {
        "case": name,
        "rows": rows,
        "representatives": model.n_representatives_,
        "first": seconds[0],
        "seconds": statistics.median(seconds[1:]),
        "slowest": max(seconds[1:]),
        "predict": predicted,
        "nmi": nmi,
        "ari": ari,
        "peak_gb": peak,
        "timings": {phase: round(spent, 3) for phase, spent in model.timings_.items()},
    }, (given, labels)


def beside_the_processor(given, labels):
    """The same rows by NumPy, and k-means, on the processors of this machine."""
    X = given if isinstance(given, np.ndarray) else given.cpu().numpy()
    began = time.perf_counter()
    model = DOGC(CLUSTERS, n_jobs=-1, device="cpu").fit(X)
    own = time.perf_counter() - began
    began = time.perf_counter()
    KMeans(CLUSTERS, n_init=10, random_state=0).fit(X)
    means = time.perf_counter() - began
    labels = labels.cpu().numpy()
    same = float(np.mean(model.labels_ == labels))
    return own, means, same, adjusted_rand_score(model.labels_, labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--share", type=float, help="of the rows, to try it out")
    parser.add_argument("--out", type=pathlib.Path, help="a JSON file for the results")
    options = parser.parse_args()
    share = options.share or (1.0 if options.device == "cuda" else 0.01)
    if options.device == "cpu":
        _elsewhere.CUDA = "cpu"
    elif not torch.cuda.is_available():
        sys.exit("torch finds no GPU here; try --device cpu.")
    else:
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    DOGC(2, device="cuda").fit(np.random.default_rng(0).standard_normal((20_000, COLUMNS)))
    results, missed = [], 0
    for name in options.only:
        rows, in_memory, most = CASES[name]
        found, held = run_case(name, int(share * rows), in_memory, options.device)
        results.append(found)
        met = found["seconds"] <= most
        missed += not met
        print(
            f"{name:<7} {found['rows']:>11,} rows  {found['seconds']:6.2f} s (first "
            f"{found['first']:.2f}, slowest {found['slowest']:.2f}; floor {most:g}: "
            f"{'met' if met else 'NOT MET'})  p {found['representatives']}  predict "
            f"{found['predict']:.2f} s  NMI {found['nmi']:.4f}  ARI {found['ari']:.4f}  peak "
            f"{found['peak_gb']:.1f} GB\n        {found['timings']}",
            flush=True,
        )
        if name == "small":
            own, means, same, ari = beside_the_processor(*held)
            met = ari >= 0.9999
            missed += not met
            found |= {"cpu": own, "kmeans": means, "same_as_cpu": same, "ari_with_cpu": ari}
            print(
                f"        by NumPy {own:.2f} s, KMeans(n_init=10) {means:.2f} s on the processors; "
                f"labels equal {same:.6f}, ARI {ari:.6f} (floor .9999: "
                f"{'met' if met else 'NOT MET'})",
                flush=True,
            )
        del held
        if options.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
    print(f"labels were equal in {RUNS + 1} runs of each case and in predict; missed: {missed}")
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
