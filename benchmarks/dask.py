"""Rows beyond memory: DOGC on two workers of 2 GB, and a CSV file of 5 GB, held to floors.

    python benchmarks/dask.py                       # everything: about an hour on two cores
    python benchmarks/dask.py --only moons equal    # some groups
    python benchmarks/dask.py --rows 200000         # every group at no more rows than that

moons  100,000,000 x 2 noisy moons, made when they are worked on; never in memory
equal  labels of 10,000,000 (`--equal-rows`) for 1, 2, 4 workers and three lengths of blocks; labels
       of 1,000,000 beside those of the fit in memory
peers  1,000,000 moons on the same cluster: dask-ml's SpectralClustering and KMeans, if it is there
       (pip install dask-ml), and scikit-learn's KMeans in memory
csv    a file of `--csv-gb` 5, made and deleted here, by the command line in a process of its own

Each case has a process and a cluster of its own. MB are millions of bytes; the scheduler is part
of the client's. `--out` receives dask.json. Needs `pip install "dogc[dask,cli]"`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

# This file has the name of the package that it needs: the folder it is in comes last.
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [path for path in sys.path if pathlib.Path(path).resolve() != HERE] + [str(HERE)]

import dask_data  # noqa: E402
import numpy as np  # noqa: E402

MILLION = 1_000_000
LONGEST = 3_600  # seconds; a case that takes longer has failed
CHUNK = MILLION  # rows of a block
WORKERS = (1, 2, 4)
PARTS = (100, 20, 5)  # blocks that the rows are cut into
CSV_LIMIT = 1500.0  # MB
# gamma and n_components: the defaults, and what was best on 20,000 moons with the truth in sight.
SPECTRAL = ((1.0, 100), (20.0, 100), (100.0, 300))
COMMAND = "from dogc.app.cli import main; main()"


# --- a cluster on this machine, and what is measured on it


@contextlib.contextmanager
def cluster(workers=2):
    """A client of so many workers of one thread and 2 GB."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit="2GB", processes=True,
            dashboard_address=None,
        ) as started,
        distributed.Client(started) as client,
    ):  # fmt: skip
        yield client


def peak_mb(who=resource.RUSAGE_SELF):
    """The most memory of this process so far."""
    return resource.getrusage(who).ru_maxrss * 1024 / 1e6


@contextlib.contextmanager
def received():
    """Bytes of what comes to the client, computation by computation."""
    import dask

    compute, sizes = dask.compute, []

    def watched(*tasks, **options):
        found = compute(*tasks, **options)
        sizes.append(len(pickle.dumps(found, protocol=5)))
        return found

    dask.compute = watched
    try:
        yield sizes
    finally:
        dask.compute = compute


def measured(fit, X):
    """Seconds of a fit and of the labels of all rows, and what these are."""
    began = time.perf_counter()
    labels = fit(X)
    fitted = time.perf_counter() - began
    found = dask_data.lazy_tally(labels)
    seconds = time.perf_counter() - began
    return {
        "rows": X.shape[0],
        "seconds": seconds,
        "fit_s": fitted,
        "nmi": dask_data.nmi(found.table),
        "hash": f"{found.hash:016x}",
    }


def dogc_labels(X):
    from dogc import DOGC

    return DOGC(2).fit(X).labels_


def whole_pieces(rows, parts):
    """The length of blocks that cut rows into so many, in whole pieces."""
    return -(-rows // (parts * dask_data.PIECE)) * dask_data.PIECE


# --- cases: each runs in a process of its own


def run_moons(rows):
    with cluster() as client:
        X = dask_data.lazy_moons(rows, min(CHUNK, whole_pieces(rows, 4)))
        with received() as sizes:
            found = measured(dogc_labels, X)
        workers = sorted(client.run(peak_mb).values())
    found |= {"client_mb": peak_mb(), "workers_mb": workers}
    return found | {"received_mb": sum(sizes) / 1e6, "largest_mb": max(sizes) / 1e6}


def run_same(rows, workers, parts):
    with cluster(workers):
        return measured(dogc_labels, dask_data.lazy_moons(rows, whole_pieces(rows, parts)))


def run_local(rows):
    from dogc import DOGC

    began = time.perf_counter()
    labels = DOGC(2, n_jobs=-1).fit(dask_data.moons(0, rows)).labels_
    seconds = time.perf_counter() - began
    found = dask_data.tally(labels, 0)
    return {"seconds": seconds, "nmi": dask_data.nmi(found.table), "hash": f"{found.hash:016x}"}


def run_kmeans(rows):
    from sklearn.cluster import KMeans

    X = dask_data.moons(0, rows)
    began = time.perf_counter()
    labels = KMeans(2, n_init=10, random_state=0).fit(X).labels_
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "nmi": dask_data.nmi(dask_data.tally(labels, 0).table)}


def run_peer(rows, method, gamma=None, columns=None):
    """A method on rows that the workers hold already."""
    import distributed

    def labels(X):
        if method == "dogc":
            return dogc_labels(X)
        from dask_ml.cluster import KMeans, SpectralClustering

        if method == "kmeans":
            return KMeans(2, init="k-means||", random_state=0).fit(X).labels_
        # What makes it quickest: with k-means of its own it passes often over hundreds of blocks.
        model = SpectralClustering(
            2, gamma=gamma, n_components=columns, random_state=0, persist_embedding=True,
            assign_labels="sklearn-kmeans",
        )  # fmt: skip
        return model.fit(X).labels_

    with cluster():
        X = dask_data.lazy_moons(rows, whole_pieces(rows, 4)).persist()
        distributed.wait(X)
        return measured(lambda X: in_blocks(labels(X), X), X)


def in_blocks(labels, X):
    """Labels, which a peer may have in memory or in other blocks, in the blocks of X."""
    import dask.array as da

    if isinstance(labels, np.ndarray):
        return da.from_array(labels, chunks=(X.chunks[0],))
    return labels if labels.chunks == X.chunks[:1] else labels.rechunk((X.chunks[0],))


def run_csv(folder):
    """The command line on a file; memory is that of all its processes together."""
    import psutil

    file = pathlib.Path(folder) / "rows.csv"
    command = [sys.executable, "-c", COMMAND, "cluster", str(file)]
    command += ["--clusters", str(dask_data.CLUSTERS), "--label-column", "truth"]
    began, most = time.perf_counter(), 0
    with open(file.with_suffix(".log"), "w+", encoding="utf-8") as log:
        child = subprocess.Popen([*command, "--out", str(file.with_suffix(""))], stdout=log,
                                 stderr=log)  # fmt: skip
        while child.poll() is None:
            with contextlib.suppress(psutil.Error):
                parent = psutil.Process(child.pid)
                family = [parent, *parent.children(recursive=True)]
                most = max(most, sum(process.memory_info().rss for process in family))
            time.sleep(0.1)
        seconds = time.perf_counter() - began
        log.seek(0)
        if child.returncode:
            return {"failed": (log.read().strip().splitlines() or ["nothing was said"])[-1]}
    # Of the largest process the peak is known, of all together what was seen ten times a second.
    peak = max(most / 1e6, peak_mb(resource.RUSAGE_CHILDREN))
    agreement, rows = dask_data.csv_nmi(file.with_suffix("") / "labels.csv")
    return {"rows": rows, "seconds": seconds, "nmi": agreement, "peak_mb": peak}


def make_csv(folder, size, most_rows):
    file = pathlib.Path(folder) / "rows.csv"
    rows = dask_data.write_csv(file, size, most_rows)
    return {"rows": rows, "gb": file.stat().st_size / 1e9}


CASES = {
    "moons": run_moons, "same": run_same, "local": run_local, "kmeans": run_kmeans,
    "peer": run_peer, "csv": run_csv, "make_csv": make_csv,
}  # fmt: skip


def in_process(longest, case, *arguments):
    """The result of one case, from a process of its own."""
    command = [sys.executable, __file__, "--case", json.dumps([case, *arguments])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=longest)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {longest:,} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


# --- the groups: each prints what it finds and gives its floors: (text, measured, sign, needed)


def line(text, found):
    """One line for one case."""
    if "failed" in found:
        print(f"{text:<44} failed: {found['failed']}", flush=True)
        return
    tail = f"  labels {found['hash']}" if "hash" in found else ""
    tail += f"  peak MB {found['peak_mb']:.0f}" if "peak_mb" in found else ""
    print(f"{text:<44} {found['seconds']:8.1f} s  NMI {found['nmi']:.4f}{tail}", flush=True)


def moons(options):
    rows = min(options.rows, 100 * MILLION)
    found = in_process(LONGEST, "moons", rows)
    line(f"moons, {rows:,} rows, two workers", found)
    if "failed" not in found:
        print(f"  the fit alone {found['fit_s']:.1f} s, the rest labels of all rows")
        print(f"  peak MB: client {found['client_mb']:.0f}, workers "
              f"{', '.join(f'{mb:.0f}' for mb in found['workers_mb'])}")  # fmt: skip
        print(f"  to the client: {found['received_mb']:.1f} MB in all, at most "
              f"{found['largest_mb']:.1f} at a time", flush=True)  # fmt: skip
    return found, [(f"moons, {rows:,} rows: NMI", found.get("nmi"), ">=", 0.98)]


def equal(options):
    rows, small = min(options.rows, options.equal_rows), min(options.rows, MILLION)
    runs = [(2, parts) for parts in PARTS] + [(w, PARTS[1]) for w in WORKERS if w != 2]
    results = {}
    for workers, parts in runs:
        text = f"{rows:,} rows, workers {workers}, blocks of {whole_pieces(rows, parts):,}"
        results[text] = in_process(LONGEST, "same", rows, workers, parts)
        line(text, results[text])
    apart = len({found.get("hash", text) for text, found in results.items()})
    local = in_process(LONGEST, "local", small)
    line(f"{small:,} rows in memory", local)
    ours = in_process(LONGEST, "same", small, 2, 4)
    line(f"{small:,} rows, workers 2", ours)
    differ = len({local.get("hash", "local"), ours.get("hash", "dask")})
    return results | {"local": local, "dask": ours}, [
        (f"{rows:,} rows, {len(runs)} fits: answers", apart, "<=", 1),
        (f"{small:,} rows, in memory and not: answers", differ, "<=", 1),
    ]


def peers(options):
    rows = min(options.rows, MILLION)
    cases = {"DOGC": ("peer", rows, "dogc")}
    try:
        import dask_ml.cluster  # noqa: F401
    except ImportError as error:
        print(f"dask-ml is not here ({error}); left out. To have it: pip install dask-ml")
    else:
        cases["dask-ml KMeans, k-means||"] = ("peer", rows, "kmeans")
        for gamma, columns in SPECTRAL:
            text = f"dask-ml SpectralClustering {gamma:g}, {columns}"
            cases[text] = ("peer", rows, "spectral", gamma, columns)
    cases["scikit-learn KMeans, in memory"] = ("kmeans", rows)
    results = {}
    print(f"{rows:,} moons:")
    for text, case in cases.items():
        results[text] = in_process(options.longest_peer, *case)
        line(text, results[text])
    ours, base = results["DOGC"].get("seconds"), results[text].get("seconds")
    if ours and base:
        print(f"DOGC on the cluster takes {ours / base:.1f} times scikit-learn's KMeans in memory")
    floors = [
        (f"moons, {rows:,} rows: NMI, floor that of {text}", results["DOGC"].get("nmi"), ">=",
         found["nmi"])
        for text, found in results.items()
        if text != "DOGC" and "nmi" in found
    ]  # fmt: skip
    return results, floors


def csv(options):
    size, most = options.csv_gb * 1e9, options.rows if options.rows < 100 * MILLION else None
    with tempfile.TemporaryDirectory() as folder:
        if most is None and shutil.disk_usage(folder).free < 4 * size:
            print(f"csv: left out, {folder} has no room for {4 * size / 1e9:.0f} GB (set TMPDIR)")
            return {}, []
        made = in_process(LONGEST, "make_csv", folder, size, most)
        found = made if "failed" in made else in_process(LONGEST, "csv", folder) | {"made": made}
    text = "a CSV file" if "failed" in made else f"CSV, {made['gb']:.2f} GB, {made['rows']:,} rows"
    line(text, found)
    if "failed" not in found and found["rows"] != made["rows"]:
        found = {"failed": f"{found['rows']:,} rows have a label"}
    return found, [
        (f"{text}: peak MB", found.get("peak_mb"), "<=", CSV_LIMIT),
    ]


GROUPS = {"moons": moons, "equal": equal, "peers": peers, "csv": csv}


def report(floors):
    """The table of all floors, and how many are met; what failed is not met."""
    width, met = max((len(text) for text, *_ in floors), default=0), 0
    print(f"\n{'':<{width}}  {'measured':>9}  floor")
    for text, value, sign, needed in floors:
        holds = value is not None and (value >= needed if sign == ">=" else value <= needed)
        met += holds
        shown = "failed" if value is None else f"{value:.4g}"
        print(f"{text:<{width}}  {shown:>9}  {sign} {needed:<8.4g} {'met' if holds else 'NOT MET'}")
    print(f"\n{met} of {len(floors)} floors met")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--rows", type=int, default=100 * MILLION, help="the most of any group")
    parser.add_argument("--equal-rows", type=int, default=10 * MILLION)
    parser.add_argument("--csv-gb", type=float, default=5.0)
    parser.add_argument("--longest-peer", type=int, default=900, help="seconds")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("dask-output"))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        warnings.simplefilter("ignore")
        case, *arguments = json.loads(options.case)
        print(json.dumps(CASES[case](*arguments)))
        return
    results, floors = {}, []
    for name in options.only:
        results[name], bars = GROUPS[name](options)
        floors += bars
    report(floors)
    options.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1)
    (options.out / "dask.json").write_text(text + "\n", encoding="utf-8")
    print(f"wrote dask.json to {options.out}")


if __name__ == "__main__":
    main()
