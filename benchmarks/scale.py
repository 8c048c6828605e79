"""Time, peak memory and ARI as n grows, beside scikit-learn's spectral clustering.

    python benchmarks/scale.py                         # up to a million rows
    python benchmarks/scale.py --rows 10000 50000      # some sizes
    python benchmarks/scale.py --only dogc predict     # some methods
    python benchmarks/scale.py --only clusters small   # 100 clusters; twelve small sets

Every case runs in a process of its own. Needs pyamg (and matplotlib for the picture).
"""

import argparse
import csv
import json
import pathlib
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

SIZES = (10_000, 50_000, 200_000, 1_000_000)
# The most rows that each method is asked for: beyond, it takes too long or too much memory.
MOST = {"dogc": 1_000_000, "dogc-os": 1_000_000, "amg": 200_000, "arpack": 10_000}
SHAPES = ("blobs", "rings")


def blobs(n):
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features=16, centers=10, cluster_std=3.0, random_state=0)


def rings(n):
    """Ten concentric rings in a random plane of 16 dimensions, with noise in all of them."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 10
    angle = rng.uniform(0, 2 * np.pi, n)
    flat = (y + 1)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    plane, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    return flat @ plane.T + rng.normal(0, 0.1, (n, 16)), y


def estimator(method):
    from sklearn.cluster import SpectralClustering

    from dogc import DOGC, DOGCOS

    ours = {"dogc": DOGC, "dogc-os": DOGCOS}
    if method in ours:
        return ours[method](10, n_neighbors=15, n_jobs=-1)
    return SpectralClustering(
        10, affinity="nearest_neighbors", n_neighbors=15, assign_labels="cluster_qr",
        eigen_solver=method, n_jobs=-1, random_state=0,
    )  # fmt: skip


def run_case(shape, n, method):
    """One fit in this process: what it took and what came of it."""
    from sklearn.metrics import adjusted_rand_score

    X, y = globals()[shape](n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = estimator(method)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X)
    found = {
        "shape": shape,
        "rows": n,
        "method": method,
        "seconds": time.perf_counter() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "before_mb": before / 1024,
        "ari": adjusted_rand_score(y, model.labels_),
    }
    if hasattr(model, "timings_"):
        found |= {f"{phase}_s": seconds for phase, seconds in model.timings_.items()}
        found["recall"] = model.neighbors_recall_
        found["iterations"] = model.n_iter_
        found["reason"] = model.stopping_reason_
    return found


def run_predict(n):
    """Labels for a million new rows: DOGCOS beside a matrix product, DOGC beside its search."""
    from dogc import DOGC, DOGCOS
    from dogc.estimators import _data, _neighbours, _predict
    from dogc.estimators._repeatable import single_blas_thread

    X, _ = blobs(n + 50_000)
    fitted, new = X[:50_000], X[50_000:]
    linear = DOGCOS(10, n_neighbors=15, n_jobs=-1).fit(fitted)
    graph = DOGC(10, n_neighbors=15, n_jobs=-1).fit(fitted)
    known = graph._fitted_rows

    def look_up(rows):
        at = _data.apply_scale(known.scaled, rows)
        at = at if known.lookup is None else at @ known.lookup
        return _neighbours.query(known.search, at, known.k + 1, -1)

    def search():
        with single_blas_thread:  # as in predict: threads share the rows, not each product
            return _predict.in_chunks(look_up, new)

    tasks = {
        "product": lambda: new @ linear.coef_.T,
        "dogc-os": lambda: linear.predict(new),
        "search": search,
        "dogc": lambda: graph.predict(new),
    }
    seconds = {}
    for name, task in tasks.items():
        began = time.perf_counter()
        task()
        seconds[name] = time.perf_counter() - began
    return seconds


def run_clusters(n):
    """A hundred clusters."""
    from sklearn.datasets import make_blobs
    from sklearn.metrics import adjusted_rand_score

    from dogc import DOGC

    X, y = make_blobs(n, n_features=16, centers=100, cluster_std=1.5, random_state=0)
    began = time.perf_counter()
    model = DOGC(100, n_neighbors=15, n_jobs=-1).fit(X)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak_mb": peak, "ari": adjusted_rand_score(y, model.labels_)}


def run_small(n_neighbors):
    """One fit of each of the twelve UCI sets."""
    from sklearn.preprocessing import scale

    from dogc import DOGC
    from dogc.datasets import UCI_NAMES, load_uci

    began = time.perf_counter()
    for name in UCI_NAMES:
        bunch = load_uci(name)
        k = "auto" if n_neighbors == "auto" else min(int(n_neighbors), (len(bunch.data) - 1) // 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            DOGC(len(bunch.target_names), n_neighbors=k).fit(scale(bunch.data))
    return {"fits": time.perf_counter() - began}


def in_process(*arguments):
    command = [sys.executable, __file__, "--case", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(map(str, arguments))} failed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def growth(rows, field, first=50_000):
    """The exponent of n by which a field of the rows grows, from one end to the other."""
    rows = [row for row in rows if row["rows"] >= first]
    if len(rows) < 2:
        return None
    a, b = rows[0], rows[-1]
    return float(np.log(b[field] / a[field]) / np.log(b["rows"] / a["rows"]))


def report(results):
    for shape in SHAPES:
        ours = [r for r in results if r["shape"] == shape and r["method"] == "dogc"]
        peers = {r["rows"]: r for r in results if r["shape"] == shape and r["method"] == "amg"}
        print(f"\n{shape}: DOGC beside scikit-learn with AMG")
        for row in ours:
            phases = {p: row.get(f"{p}_s", 0.0) for p in ("neighbours", "start", "iterations")}
            shares = ", ".join(f"{p} {s / row['seconds']:.0%}" for p, s in phases.items())
            line = f"{row['rows']:>9,}  {shares}; {row['seconds'] / phases['neighbours']:.1f} "
            line += "times the neighbour search"
            if row["rows"] in peers:
                peer = peers[row["rows"]]
                line += f"; {row['seconds'] / peer['seconds']:.2f} of AMG's time, ARI "
                line += f"{row['ari']:.4f} and {peer['ari']:.4f}"
            print(line)
        for field in ("seconds", "peak_mb"):
            exponent = growth(ours, field)
            if exponent is not None:
                print(
                    f"{field} grow like n^{exponent:.2f} from {max(50_000, ours[0]['rows']):,} on"
                )


def draw(results, path):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    styles = {"blobs": "-", "rings": "--"}
    colours = {"dogc": "C0", "dogc-os": "C1", "amg": "C2", "arpack": "C3"}
    names = {"amg": "scikit-learn, AMG", "arpack": "scikit-learn, ARPACK", "dogc": "DOGC"}
    for (shape, style), (method, colour) in ((s, c) for s in styles.items()
                                            for c in colours.items()):  # fmt: skip
        rows = [r for r in results if r["shape"] == shape and r["method"] == method]
        for ax, field in zip(axes, ("seconds", "peak_mb"), strict=True):
            if rows:
                ax.loglog([r["rows"] for r in rows], [r[field] for r in rows], style,
                          color=colour, marker="o", markersize=4,
                          label=f"{names.get(method, 'DOGC-OS')}, {shape}")  # fmt: skip
    for ax, title in zip(axes, ("seconds", "peak memory, MB"), strict=True):
        ax.set(xlabel="rows", title=title)
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


def extras(options):
    if "predict" in options.only and (times := in_process("predict", max(options.rows))):
        listed = ", ".join(f"{name} {seconds:.2f}" for name, seconds in times.items())
        print(f"\nlabels for {max(options.rows):,} new rows, in seconds: {listed}")
        search, product = times["dogc"] / times["search"], times["dogc-os"] / times["product"]
        print(f"DOGC takes {search:.2f} times its search, DOGC-OS {product:.1f} products")
    if "clusters" in options.only and (found := in_process("clusters", 100_000)):
        print(f"\n100 clusters of 100,000 rows: {found['seconds']:.1f} s, "
              f"{found['peak_mb']:.0f} MB, ARI {found['ari']:.4f}")  # fmt: skip
    if "small" in options.only:
        for k in (15, "auto"):
            began = time.perf_counter()
            if found := in_process("small", k):
                print(f"twelve UCI sets, n_neighbors={k}: {time.perf_counter() - began:.1f} s from "
                      f"the start of Python, of which fits {found['fits']:.1f} s")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=SIZES)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    tasks = [*MOST, "predict", "clusters", "small"]
    parser.add_argument("--only", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("scale-output"))
    parser.add_argument("--case", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        shape, n, *method = options.case
        if shape == "small":
            found = run_small(n)
        elif shape in ("predict", "clusters"):
            found = globals()[f"run_{shape}"](int(n))
        else:
            found = run_case(shape, int(n), *method)
        print(json.dumps(found))
        return
    results = []
    print(f"{'data':>6} {'rows':>9} {'method':>8} {'seconds':>8} {'MB':>6} {'ARI':>7} recall")
    for shape in options.shapes:
        for n in options.rows:
            for method in (m for m in options.only if n <= MOST.get(m, 0)):
                found = in_process(shape, n, method)
                if found is None:
                    continue
                results.append(found)
                print(f"{shape:>6} {n:>9,} {method:>8} {found['seconds']:8.1f} "
                      f"{found['peak_mb']:6.0f} {found['ari']:7.4f} {found.get('recall', 1.0):.2f}",
                      flush=True)  # fmt: skip
    report(results)
    extras(options)
    if results:
        options.out.mkdir(parents=True, exist_ok=True)
        fields = list(dict.fromkeys(field for row in results for field in row))
        with open(options.out / "scale.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fields)
            writer.writeheader()
            writer.writerows(results)
        draw(results, options.out / "scale.png")


if __name__ == "__main__":
    main()
