"""Many rows: time, peak memory and scores of DOGC beside others, each held to a floor.

    python benchmarks/scale.py                             # everything: about 45 minutes
    python benchmarks/scale.py --only moons rings          # some groups
    python benchmarks/scale.py --rows-at-most 200000       # leave out larger cases

Every case runs in a process of its own, on all cores, and so do the methods it is compared with.
A fit below two seconds is timed three times and the best counts. MB are millions of bytes.
`--out` receives scale.csv (all cases) and scale.png. Needs pyamg and matplotlib; the groups
overlap and battery need the battery.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import joblib
import numpy as np
from scale_data import BATTERY, prepare, run_case

LONGEST = 900  # seconds; a case that takes longer has failed
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MILLION = 1_000_000


class Floor(NamedTuple):
    """A number that must not be missed; without a sign it is only shown."""

    text: str
    measured: Callable[[dict], float]
    sign: str = ""
    needed: float | Callable[[dict], float] = np.nan


class NoValueError(Exception):
    """A case was left out, or ended without a result; the text says which."""


# --- what a floor reads: functions of the results of all cases


def value(data, rows, method, field):
    def read(results):
        found = results.get((data, rows, method))
        if found is None or "failed" in found:
            raise NoValueError("not run" if found is None else "failed")
        return np.nan if found[field] is None else found[field]

    return read


def ratio(above, below):
    return lambda results: above(results) / below(results)


def over(function, readers):
    """A function such as max, sum or the mean of several values."""
    return lambda results: float(function([read(results) for read in readers]))


def exponent(first, last, field):
    """The power of n by which a field grows from one case to another."""

    def read(results):
        a, b = (max(value(*case, field)(results), 1e-3) for case in (first, last))
        return float(np.log(b / a) / np.log(last[1] / first[1]))

    return read


# --- the groups: their cases (data, rows, method), and their floors


def moons():
    cases = [(f"moons {noise}", n, "dogc") for noise in ("0.1", "0.05") for n in SIZES]
    cases += [("moons 0.1", n, "kmeans") for n in SIZES]
    cases += [("moons 0.14", 100_000, method) for method in ("dogc", "cut")]
    floors = [
        Floor(f"moons noise {noise}, {n:,} rows: NMI",
              value(f"moons {noise}", n, "dogc", "nmi"), ">=", least)
        for noise, least in (("0.1", 0.98), ("0.05", 0.999))
        for n in SIZES
    ]  # fmt: skip
    ours, cut = (value("moons 0.14", 100_000, method, "ari") for method in ("dogc", "cut"))
    floors.append(Floor("moons noise 0.14, 100,000 rows: ARI", ours, ">=", 0.93))
    return cases, [*floors, Floor("  the normalised cut on as many representatives", cut)]


def overlap():
    cases, floors = [], []
    for name in ("s3", "s4", "engytime"):
        data, n, peers = f"resampled {name}", 100_000, ("spectral-10", "spectral-15")
        cases += [(data, n, method) for method in ("dogc", *peers)]
        best = over(np.max, [value(data, n, peer, "ari") for peer in peers])
        text = f"{data}, {n:,} rows: ARI on 5,000, floor SpectralClustering's on these"
        floors.append(Floor(text, value(data, n, "dogc", "part_ari"), ">=", best))
        floors += [Floor(f"  {peer} neighbours", value(data, n, peer, "ari")) for peer in peers]
    return cases, floors


def blobs():
    sizes = (20_000, 200_000, MILLION)
    cases = [("blobs 3", n, method) for n in sizes for method in ("dogc", "kmeans")]
    cases += [(f"blobs {std}", 200_000, method) for std in (3, 5) for method in ("dogc", "amg")]
    large = ("blobs 3", MILLION, "dogc")
    times = ratio(value(*large, "seconds"), value("blobs 3", MILLION, "kmeans", "seconds"))
    faster = ratio(*(value("blobs 3", 200_000, m, "seconds") for m in ("amg", "dogc")))
    wide, amg = (value("blobs 5", 200_000, method, "ari") for method in ("dogc", "amg"))
    text = "blobs std 3, 1,000,000 x 16:"
    return cases, [
        Floor(f"{text} ARI", value(*large, "ari"), ">=", 0.9995),
        Floor(f"{text} time in KMeans(n_init=10)", times, "<=", 3.0),
        Floor(f"{text} MB above the data", value(*large, "above_mb"), "<=", 1000.0),
        Floor("blobs std 3, 200,000 rows: times faster than AMG", faster, ">=", 15.0),
        Floor("blobs std 5, 200,000 rows: ARI, floor AMG's less .003", wide, ">=",
              lambda results: amg(results) - 0.003),
    ]  # fmt: skip


def rings():
    cases = [("rings", n, "dogc") for n in (20_000, 200_000, MILLION)]
    cases += [("rings", n, "kmeans") for n in (20_000, 200_000)]
    return cases, [
        Floor(f"ten rings in 16 dimensions, {n:,} rows: ARI",
              value("rings", n, "dogc", "ari"), ">=", 0.999)
        for n in (200_000, MILLION)
    ]  # fmt: skip


def lookalikes():
    peers = {"kmeans": ">", "nystroem": ">", "cut": ">="}
    names = [f"look-alike of {name}" for name in ("TB", "SF", "CC", "CG", "Flower")]
    cases = [(name, MILLION, method) for name in names for method in ("dogc", *peers)]
    return cases, [
        Floor(f"{name}, 1,000,000 rows: NMI, floor {peer}'s",
              value(name, MILLION, "dogc", "nmi"), sign, value(name, MILLION, peer, "nmi"))
        for name in names
        for peer, sign in peers.items()
    ]  # fmt: skip


def landmarks():
    """Methods on landmarks: their time in DOGC's of the same run, and their score."""
    peers = {"lsc": "LSC", "uspec": "U-SPEC"}
    sets = [("moons 0.1", 100_000), ("moons 0.1", MILLION), ("rings", 200_000)]
    floors = []
    for data, n in sets:
        ours, text = value(data, n, "dogc", "seconds"), f"{data}, {n:,} rows:"
        for peer, name in peers.items():
            seconds, ari = (value(data, n, peer, field) for field in ("seconds", "ari"))
            floors.append(Floor(f"{text} time of {name} in DOGC's", ratio(seconds, ours)))
            floors.append(Floor(f"{text} ARI of {name}", ari))
    return [(*case, method) for case in sets for method in ("dogc", "kmeans", *peers)], floors


def many_rows():
    case = ("moons 0.1", 10 * MILLION, "dogc")
    return [case, (*case[:2], "kmeans")], [
        Floor("moons, 10,000,000 rows: seconds", value(*case, "seconds"), "<", 120.0),
        Floor("moons, 10,000,000 rows: MB in all", value(*case, "peak_mb"), "<", 4000.0),
        Floor("moons, 10,000,000 rows: NMI", value(*case, "nmi")),
    ]


def clusters():
    case = ("100-blobs 1.5", MILLION, "dogc")
    return [case], [
        Floor("100 clusters, 1,000,000 x 16: ARI", value(*case, "ari"), ">=", 0.99),
        Floor("100 clusters, 1,000,000 x 16: seconds", value(*case, "seconds"), "<", 60.0),
    ]


def predict():
    cases = [(data, MILLION, "predict") for data in ("blobs 3", "moons 0.1")]
    return cases, [
        Floor(f"predict 1,000,000 new rows, {case[0]}: time in KMeans.predict on p centres",
              ratio(value(*case, "seconds"), value(*case, "kmeans_s")), "<=", 3.0)
        for case in cases
    ]  # fmt: skip


def growth():
    ends = [("moons 0.1", n, "dogc") for n in (100_000, 10 * MILLION)]
    text = "moons, 100,000 to 10,000,000 rows: power of n,"
    return ends, [
        Floor(f"{text} seconds", exponent(*ends, "seconds"), "<=", 1.05),
        Floor(f"{text} peak memory", exponent(*ends, "peak_mb"), "<", 1.0),
        Floor(f"{text} memory above the data", exponent(*ends, "above_mb")),
    ]


def battery():
    rows = BATTERY.items()
    cases = [(f"battery {s}", n, method) for s, n in rows for method in ("dogc", "dogc-all")]

    def each(method, field):
        return [value(f"battery {s}", n, method, field) for s, n in rows]

    ours, today = (over(np.mean, each(m, "ari")) for m in ("dogc", "dogc-all"))
    seconds, before = (over(np.sum, each(m, "seconds")) for m in ("dogc", "dogc-all"))
    return cases, [
        Floor("nine battery sets: mean ARI, floor that of all rows", ours, ">=", today),
        Floor("nine battery sets: part of the time of all rows", ratio(seconds, before), "<=",
              0.1),
    ]  # fmt: skip


def unstructured():
    cases = [("uniform", 50_000, "dogc"), ("normal", 50_000, "dogc")]
    cases += [("bridged", 220_000, "dogc"), ("moons 0.16", 100_000, "dogc")]
    floors = [Floor(f"{case[0]}, {case[1]:,} rows: agreement", value(*case, "agreement"))
              for case in cases]  # fmt: skip
    floors += [Floor(f"{case[0]}, {case[1]:,} rows: ARI", value(*case, "ari"))
               for case in cases[2:]]  # fmt: skip
    return cases, floors


GROUPS = {
    "moons": moons, "overlap": overlap, "blobs": blobs, "rings": rings, "lookalikes": lookalikes,
    "many-rows": many_rows, "clusters": clusters, "predict": predict, "growth": growth,
    "battery": battery, "unstructured": unstructured, "landmarks": landmarks,
}  # fmt: skip


# --- running, and what is said of it


def in_process(*arguments):
    """The result of one case, from a process of its own."""
    command = [sys.executable, __file__, "--case", json.dumps(arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {LONGEST} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def run_all(cases):
    """All cases in turn; the data are written to files first."""
    results = {}
    print(f"{'data':<21} {'rows':>10} {'method':<11} {'seconds':>7} {'MB':>6} {'above':>6} "
          f"{'ARI':>6} {'NMI':>6} {'p':>5} agrees reason")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        from_files = [c for c in cases if c[2] != "predict" and not c[0].startswith("battery ")]
        made = in_process("prepare", sorted({case[:2] for case in from_files}), folder)
        if "failed" in made:
            sys.exit(f"the data could not be made: {made['failed']}")
        for data, n, method in cases:
            ours = results.get((data, n, "dogc"), {}) if method == "cut" else {}
            found = {"failed": "DOGC gave no number of representatives"}
            if "failed" not in ours:
                found = in_process("run", data, n, method, folder, ours.get("representatives"))
            results[data, n, method] = found
            print(case_line(data, n, method, found), flush=True)
    return results


def case_line(data, n, method, found):
    line = f"{data:<21} {n:>10,} {method:<11} "
    if "failed" in found:
        return f"{line}failed: {found['failed']}"

    def show(field, width, digits):
        number = found.get(field)
        return "-".rjust(width) if number is None else f"{number:{width}.{digits}f}"

    parts = [show("seconds", 7, 2), show("peak_mb", 6, 0), show("above_mb", 6, 0)]
    parts += [show("ari", 6, 4), show("nmi", 6, 4), show("representatives", 5, 0)]
    return line + " ".join([*parts, show("agreement", 6, 3), found.get("reason", "")])


def number(measured):
    return f"{measured:.4f}" if abs(measured) < 2 else f"{measured:,.1f}"


def judge(floor, results):
    """Measured value, floor and verdict, as text."""
    try:
        measured = floor.measured(results)
        needed = floor.needed(results) if callable(floor.needed) else floor.needed
    except NoValueError as error:
        return "", "", "NOT MET (failed)" if floor.sign and str(error) == "failed" else str(error)
    if not floor.sign:
        return number(measured), "", "shown"
    holds = {">=": measured >= needed, ">": measured > needed,
             "<=": measured <= needed, "<": measured < needed}  # fmt: skip
    verdict = "met" if holds[floor.sign] else "NOT MET"
    return number(measured), f"{floor.sign} {number(needed)}", verdict


def report(floors, results):
    """The table of all floors, and how many are met."""
    rows = [(floor.text, *judge(floor, results)) for floor in floors]
    width = max(len(text) for text, *_ in rows)
    print(f"\n{'':<{width}}  {'measured':>10}  {'floor':<12}")
    for text, measured, needed, verdict in rows:
        print(f"{text:<{width}}  {measured:>10}  {needed:<12}  {verdict}")
    verdicts = [verdict for floor, (*_, verdict) in zip(floors, rows, strict=True) if floor.sign]
    met, left = verdicts.count("met"), verdicts.count("not run")
    print(f"\n{met} of {len(verdicts)} floors met, {len(verdicts) - met - left} not met, "
          f"{left} not run")  # fmt: skip


def draw(results, path):
    """Seconds, memory and ARI against rows: a row of panels for each kind of data."""
    from matplotlib.figure import Figure

    kinds = {"moons 0.1": "moons, noise 0.1", "blobs 3": "blobs, 16-d", "rings": "rings, 16-d"}
    methods = {"dogc": "DOGC", "kmeans": "KMeans", "amg": "SpectralClustering, AMG"}
    fields = {"seconds": "seconds", "peak_mb": "peak memory, MB", "ari": "ARI"}
    figure = Figure(figsize=(10, 8), layout="constrained")
    panels = figure.subplots(3, 3, sharex=True)
    for row, (kind, title) in zip(panels, kinds.items(), strict=True):
        for axis, (field, label) in zip(row, fields.items(), strict=True):
            for colour, (method, name) in enumerate(methods.items()):
                points = sorted((n, found[field]) for (data, n, m), found in results.items()
                                if (data, m) == (kind, method) and field in found)  # fmt: skip
                if points:
                    axis.plot(*zip(*points, strict=True), "o-", ms=4, c=f"C{colour}", label=name)
            axis.set(xscale="log", ylabel=label, title=title)
            axis.set(**({"ylim": (-0.05, 1.05)} if field == "ari" else {"yscale": "log"}))
            axis.grid(alpha=0.3)
    for axis in panels[-1]:
        axis.set_xlabel("rows")
    known = {name: line for axis in panels[:, 0]
             for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}  # fmt: skip
    figure.legend(known.values(), known, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


def save(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    cases = [dict(zip(("data", "rows", "method"), key, strict=True)) | found
             for key, found in results.items()]  # fmt: skip
    fields = list(dict.fromkeys(field for case in cases for field in case))
    with open(folder / "scale.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(cases)
    draw(results, folder / "scale.png")
    print(f"wrote scale.csv and scale.png to {folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--rows-at-most", type=int, default=10 * MILLION)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("scale-output"))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        task, *arguments = json.loads(options.case)
        print(json.dumps((prepare if task == "prepare" else run_case)(*arguments)))
        return
    cases, floors = [], []
    for name in options.only:
        more, bars = GROUPS[name]()
        cases += more
        floors += bars
    cases = [case for case in dict.fromkeys(cases) if case[1] <= options.rows_at_most]
    print(f"{len(cases)} cases on {joblib.cpu_count()} cores")
    results = run_all(cases)
    report(floors, results)
    save(results, options.out)


if __name__ == "__main__":
    main()
