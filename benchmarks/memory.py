"""Peaks of memory beside what was said before the fit, each fit in a process of its own.

    python benchmarks/memory.py                              # everything: about half an hour
    python benchmarks/memory.py --only DOGC CLR              # some methods
    python benchmarks/memory.py --measured peaks.jsonl       # keep peaks there, measure what is new
    python benchmarks/memory.py --estimates --measured peaks.jsonl   # new constants, old peaks

A peak is what the process holds at most during ``fit`` less what it held before, after a small fit
that loads libraries and starts threads. The estimate is to be within a factor of 1.5 wherever the
peak is above 100 MB. The constants in ``_limits.py`` were not fitted to ``held_out_cases``. Linux
only: peaks are read from /proc.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FACTOR, COUNTS_FROM = 1.5, 100.0  # MB
LONGEST = 600  # seconds
LEARNED = ("DOGC", "DOGCOS", "CAN", "PCAN", "DOGCRelaxed", "DOGCFixedGraph")
CUTS = ("RatioCut", "NormalizedCut", "NMFClustering", "CLR")


class Case(NamedTuple):
    """A fit: the method and the rows."""

    method: str
    n: int
    d: int
    c: int = 5
    density: float = 0.0  # 0: dense
    dtype: str = "float64"
    spread: float = 1.0  # of the clusters, in units of which they lie about 3 apart
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """A name for it."""
        given = " ".join(f"{name}={value}" for name, value in self.params)
        kind = f"sparse {self.density:g}" if self.density else "dense"
        spread = "" if self.spread == 1.0 else f" spread {self.spread:g}"
        shape = f"{self.n} x {self.d} c={self.c} {kind} {self.dtype}{spread}"
        return f"{self.method} {shape} {given}".strip()


def case(method: str, n: int, d: int, c: int = 5, **given: Any) -> Case:
    rows = {name: given.pop(name) for name in ("density", "dtype", "spread") if name in given}
    return Case(method, n, d, c, **rows, params=tuple(given.items()))


def grid() -> Iterator[Case]:
    """All cases, those that are held out last."""
    yield from learned_cases()
    yield from fixed_cases()
    yield from other_cases()
    yield from held_out_cases()


def learned_cases() -> Iterator[Case]:
    rows = {"n_representatives": None, "max_time": 8}
    for method in LEARNED:
        yield case(method, 20_000, 20, n_neighbors=15, **rows)
        yield case(method, 3_000, 2_000, n_neighbors=15)
        yield case(method, 20_000, 20, n_neighbors=60, **rows)
        yield case(method, 20_000, 200, n_neighbors=15, **rows)
        yield case(method, 15_000, 20, 50, n_neighbors=15, spread=0.3, **rows)
        yield case(method, 3_000, 30_000, density=0.005, n_neighbors=15, max_time=8)
        yield case(method, 200_000, 50, max_time=8)
    for method in ("DOGC", "DOGCOS"):
        yield case(method, 3_000, 1_000, max_time=8)
        yield case(method, 3_000, 1_000, spread=3.0, max_time=8)
        yield case(method, 20_000, 200, dtype="float32", n_neighbors=15, **rows)
        yield case(method, 3_000, 3_000, dtype="float32", n_neighbors=15, max_time=8)
        yield case(method, 2_000, 5_000, n_neighbors=15, max_time=8)
        yield case(method, 5_000, 50_000, density=0.003, n_neighbors=15, max_time=8)
        yield case(method, 20_000, 2_500, density=0.02, n_neighbors=15, max_time=8)
        yield case(method, 3_000, 100_000, density=0.002, dtype="float32", max_time=8)
        yield case(method, 1_000_000, 8, n_representatives=500)
        yield case(method, 2_000_000, 4, dtype="float32", n_neighbors=16, n_representatives=250)
        yield case(method, 50_000, 500, n_representatives=250)
        yield case(method, 60_000, 20, n_representatives=4_000, max_time=8)
        yield case(method, 30_000, 1_000, density=0.02, n_representatives=500)
    yield case("DOGC", 40_000, 2, n_neighbors=15, **rows)
    yield case("DOGC", 40_000, 10, spread=3.0, n_neighbors=20, **rows)
    yield case("DOGC", 20_000, 50, **rows)
    yield case("DOGC", 2_500, 2_000, n_clusters="auto", max_time=8)
    yield case("DOGC", 20_000, 300, n_components=5, n_neighbors=15, **rows)
    yield case("PCAN", 2_000, 5_000, n_components=5, n_neighbors=15, max_time=8)
    yield case("DOGC", 3_000, 2_000, spread=3.0, geometry="standard", n_neighbors=15, max_time=8)
    yield case("DOGC", 60_000, 200, metric="cosine")


def fixed_cases() -> Iterator[Case]:
    for method in CUTS:
        rows = {"n_representatives": None}
        yield case(method, 30_000, 20, n_neighbors=40, **rows)
        yield case(method, 3_000, 20, affinity="full")
        yield case(method, 4_500, 20, affinity="full")
        yield case(method, 20_000, 200, n_neighbors=40, **rows)
        yield case(method, 20_000, 20, 40, n_neighbors=15, spread=0.3, **rows)
        yield case(method, 5_000, 20_000, density=0.005, n_neighbors=15)
        yield case(method, 200_000, 50)
    yield case("NMFClustering", 20_000, 200, source="features", n_representatives=None)
    yield case("NormalizedCut", 40_000, 2, n_neighbors=15, n_representatives=None)
    yield case("RatioCut", 6_000, 20, affinity="full")
    for method in ("SEC", "LocalLearningClustering", "CLGR"):
        yield case(method, 20_000, 20, n_neighbors=15)
        yield case(method, 20_000, 20, n_neighbors=40)
        yield case(method, 10_000, 200, n_neighbors=40)
        yield case(method, 3_000, 1_500, n_neighbors=15)
        yield case(method, 20_000, 20, 30, n_neighbors=15, spread=0.3)
        yield case(method, 2_000, 4_000, n_neighbors=15, dtype="float32")
        if method != "LocalLearningClustering":
            yield case(method, 3_000, 20, affinity="full")
    yield case("SEC", 2_000, 20_000, density=0.005, n_neighbors=15)
    yield case("RatioCut", 3_000, 3_000, affinity="precomputed")
    yield case("CLR", 3_000, 3_000, affinity="precomputed")


def other_cases() -> Iterator[Case]:
    yield case("DiscriminativeKMeans", 20_000, 200)
    yield case("DiscriminativeKMeans", 3_000, 2_000)
    yield case("DiscriminativeKMeans", 30_000, 20, kernel="rbf")
    yield case("DiscriminativeKMeans", 2_000, 5_000)
    yield case("DiscriminativeKMeans", 2_000, 20_000, density=0.005)
    yield case("DiscriminativeKMeans", 60_000, 100, 20, dtype="float32")
    yield case("LPP", 20_000, 300, n_components=5)
    yield case("LPP", 3_000, 20, n_components=2, affinity="full")
    yield case("LPP", 3_000, 2_000, n_components=5)
    for method in ("LSC", "USPEC"):
        yield case(method, 200_000, 20)
        yield case(method, 40_000, 400)
        yield case(method, 400_000, 8, 20)
        yield case(method, 40_000, 400, dtype="float32")
        yield case(method, 200_000, 20, n_neighbors=20)
        yield case(method, 20_000, 2_000, density=0.03)
    yield case("LSC", 100_000, 50, n_landmarks=3_000)
    yield case("USPEC", 100_000, 50, n_landmarks=3_000)
    for method in ("PrintedDOGC", "PrintedDOGCOS"):
        yield case(method, 1_500, 20, max_iter=3)
        yield case(method, 2_500, 20, max_iter=3)
        yield case(method, 2_000, 200, max_iter=3)


def held_out_cases() -> Iterator[Case]:
    """Other shapes than those above, which no constant was fitted to."""
    rows = {"n_representatives": None, "max_time": 8}
    yield case("DOGC", 30_000, 100, 8, n_neighbors=30, **rows)
    yield case("DOGC", 2_800, 2_500, 8, dtype="float32", max_time=8)
    yield case("DOGC", 8_000, 30_000, 10, density=0.01, n_neighbors=20, max_time=8)
    yield case("DOGC", 700_000, 30, 12, dtype="float32", n_representatives="auto", max_time=8)
    yield case("DOGCOS", 12_000, 500, 6, n_neighbors=20, **rows)
    yield case("DOGCOS", 4_000, 20_000, 10, density=0.004, n_neighbors=10, max_time=8)
    yield case("CAN", 50_000, 6, 30, n_neighbors=25, **rows)
    yield case("PCAN", 9_000, 600, 4, n_components=3, n_neighbors=12, **rows)
    yield case("CLR", 25_000, 60, 12, n_neighbors=25, n_representatives=None)
    yield case("NormalizedCut", 40_000, 40, 12, n_neighbors=25, n_representatives=None)
    yield case("RatioCut", 5_200, 100, 8, affinity="full")
    yield case("SEC", 15_000, 150, 8, n_neighbors=25)
    yield case("CLGR", 15_000, 60, 8, n_neighbors=25)
    yield case("LocalLearningClustering", 15_000, 60, 8, n_neighbors=25)
    yield case("DiscriminativeKMeans", 10_000, 800, 8)
    yield case("LPP", 10_000, 700, n_components=3)
    yield case("LSC", 60_000, 200, 10, n_landmarks=800)
    yield case("USPEC", 300_000, 30, 10, n_neighbors=10)
    yield case("PrintedDOGC", 3_200, 50, max_iter=2)


# --- one fit, in a process of its own


def make_rows(n: int, case: Case) -> Any:
    """Clusters with normal noise, made without a copy; sparse rows share half of their columns."""
    rng, d, c = np.random.default_rng(0), case.d, case.c
    if case.density:
        per = max(2, round(case.density * d))
        columns = rng.integers(0, d, (n, per), dtype=np.int32)
        half = columns[:, : per // 2]
        half[:] = half // c + rng.integers(0, c, (n, 1)) * (d // c)
        starts = np.arange(0, n * per + 1, per, dtype=np.int32)
        values = rng.random(n * per).astype(case.dtype)
        X = sp.csr_array((values, columns.ravel(), starts), shape=(n, d))
        X.sum_duplicates()
        return X
    if ("affinity", "precomputed") in case.params:
        X = rng.random((n, n))
        X += X.T
        return X
    X = np.empty((n, d), dtype=case.dtype)
    centres = rng.normal(0, 6.0 / np.sqrt(min(d, 16)), (c, d))
    for start in range(0, n, 1000):
        part = X[start : start + 1000]
        part[:] = centres[rng.integers(0, c, len(part))]
        part += case.spread * rng.standard_normal(part.shape)
    return X


def bytes_of(name: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise LookupError(name)


def make_model(case: Case) -> Any:
    import dogc
    import dogc.paper

    kind = getattr(dogc, case.method, None) or getattr(dogc.paper, case.method)
    given = dict(case.params)
    return kind(**given) if case.method == "LPP" else kind(**{"n_clusters": case.c, **given})


def estimates(case: Case, X: Any) -> float:
    """The estimate for which a fit would be refused, without the fit."""
    from dogc import _limits

    class SaidError(Exception):
        """The estimate was told."""

    def said(estimate: Any, n: int, remedy: str) -> None:
        raise SaidError(estimate(n))

    kept, _limits.check_room = _limits.check_room, said
    try:
        make_model(case).fit(X)
    except SaidError as error:
        return float(error.args[0])
    finally:
        _limits.check_room = kept
    raise AssertionError(f"{case.method} says nothing of memory")


def run_case(case: Case, only_estimate: bool) -> dict[str, float]:
    """The peak of one fit and its estimate, in MB."""
    warnings.simplefilter("ignore")
    if not only_estimate:
        small = case._replace(d=min(case.d, 50), density=0.2 if case.density else 0.0)
        make_model(case).fit(make_rows(min(case.n, 400), small))
    X = make_rows(case.n, case)
    found = {"estimate": estimates(case, X) / 1e6}
    if only_estimate:
        return found
    model = make_model(case)
    pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget peaks so far
    before, addresses = bytes_of("VmRSS"), bytes_of("VmSize")
    model.fit(X)
    found["peak"] = (bytes_of("VmHWM") - before) / 1e6
    return {**found, "addresses": (bytes_of("VmPeak") - addresses) / 1e6}


def measured(place: int, *options: str) -> dict[str, float]:
    """The same in a process of its own; what went wrong, where something did."""
    command = [sys.executable, __file__, "--case", str(place), *options]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {LONGEST} s"}
    if ran.returncode:
        return {"failed": (ran.stderr.strip().splitlines() or ["no word"])[-1]}
    return json.loads(ran.stdout.splitlines()[-1])


# --- what is said


def known(path: pathlib.Path | None) -> dict[str, dict[str, float]]:
    if path is None or not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line.pop("key"): line for line in lines}


def summary(found: list[tuple[Case, dict[str, float]]]) -> int:
    """The worst ratios among those that count, held out and not; how many are outside."""
    outside, late = 0, set(held_out_cases())
    for title, held in (("fitted to", False), ("held out", True)):
        rows = [(r["estimate"] / r["peak"], case.key) for case, r in found
                if r.get("peak", 0) > COUNTS_FROM and (case in late) == held]  # fmt: skip
        if not rows:
            continue
        ratios = np.array([ratio for ratio, _ in rows])
        bad = int(np.count_nonzero((ratios > FACTOR) | (ratios < 1 / FACTOR)))
        outside += bad
        print(f"\n{title}: {len(rows)} cases above {COUNTS_FROM:.0f} MB, estimate / peak from "
              f"{ratios.min():.2f} to {ratios.max():.2f}, median {np.median(ratios):.2f}, "
              f"{bad} beyond a factor of {FACTOR}")  # fmt: skip
        for ratio, key in sorted(rows, key=lambda row: -abs(np.log(row[0])))[:8]:
            print(f"  {ratio:5.2f}  {key}")
    return outside


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="METHOD")
    parser.add_argument("--measured", type=pathlib.Path)
    parser.add_argument("--estimates", action="store_true")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    cases = list(enumerate(grid()))
    if asked.case is not None:
        print(json.dumps(run_case(cases[asked.case][1], asked.estimates)))
        return 0
    seen, found, late = known(asked.measured), [], set(held_out_cases())
    print("      peak  estimate  ratio  (MB)")
    for place, case in cases:
        if asked.only and case.method not in asked.only:
            continue
        if asked.estimates:
            result = seen.get(case.key)
            if result is None or "failed" in result:
                continue
            result |= run_case(case, only_estimate=True)
        elif case.key in seen:
            result = seen[case.key]
        else:
            result = measured(place)
            if asked.measured:
                with asked.measured.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": case.key, **result}) + "\n")
        found.append((case, result))
        if "failed" in result:
            print(f"{'failed':>10}  {result['failed']}: {case.key}", flush=True)
            continue
        peak, said = result["peak"], result["estimate"]
        out = "held" if case in late else ""
        print(f"{peak:10.0f}{said:10.0f}{said / peak:7.2f}  {out:4}  {case.key}", flush=True)
    return 1 if summary(found) else 0


if __name__ == "__main__":
    sys.exit(main())
