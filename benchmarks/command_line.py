"""The cost of `dogc cluster` beside the fit: 100,000 rows of 20 columns as CSV.

python benchmarks/command_line.py [--rows 100000]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pandas as pd
from sklearn.datasets import make_blobs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    X, _ = make_blobs(rows, n_features=20, centers=8, cluster_std=3.0, random_state=0)
    run = [sys.executable, "-c", "from dogc.app.cli import main; main()"]
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(X).add_prefix("x").to_csv(pathlib.Path(folder) / "rows.csv", index=False)
        began = time.perf_counter()
        subprocess.run([*run, "--version"], check=True, capture_output=True)
        start = time.perf_counter() - began
        began = time.perf_counter()
        command = [*run, "cluster", "rows.csv", "--clusters", "8", "--json"]
        done = subprocess.run(command, check=True, capture_output=True, cwd=folder, text=True)
        total = time.perf_counter() - began
    fit = json.loads(done.stdout)["seconds"]
    around = total - fit - start
    print(f"{rows:,} rows: {total:.1f} s; fit {fit:.1f} s, start of Python {start:.1f} s")
    print(f"reading, preparing, writing and the report: {around / fit:.0%} of the fit")
    print(f"with the start of Python: {(total - fit) / fit:.0%}")


if __name__ == "__main__":
    main()
