"""The main job in a minute: ``python -m dogc.demo``.

Clusters half of the Wine data with DOGC-OS, labels the other half with the regression that
was learned along, prints how well both agree with the cultivars, and writes the labels and
the run's history.
"""

from __future__ import annotations

import argparse
import pathlib
import time
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from .estimators import DOGCOS
from .files import write_csv
from .metrics import clustering_accuracy, purity


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="python -m dogc.demo", description=__doc__)
    parser.add_argument("--out", default="demo-output", help="folder for the files it writes")
    out = pathlib.Path(parser.parse_args(arguments).out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out {out}: cannot make that folder ({error.strerror}); name another one")

    X, cultivar = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    fitted, new = np.sort(order[::2]), np.sort(order[1::2])
    scaler = StandardScaler().fit(X[fitted])
    began = time.perf_counter()
    model = DOGCOS(n_clusters=3).fit(scaler.transform(X[fitted]))
    seconds = time.perf_counter() - began
    labels = np.empty(len(X), dtype=np.int64)
    labels[fitted] = model.labels_
    labels[new] = model.predict(scaler.transform(X[new]))

    print(f"DOGC-OS on Wine: {len(fitted)} rows clustered in {seconds:.2f} s, {len(new)} new rows")
    print(f"stopped after {model.n_iter_} iterations: {model.stopping_reason_}\n")
    print(f"{'rows':<12}{'cluster sizes':<18}{'ACC':>7}{'NMI':>7}{'purity':>8}")
    for name, rows in (("clustered", fitted), ("predicted", new)):
        sizes = " ".join(str(size) for size in np.bincount(labels[rows], minlength=3))
        scores = [
            score(cultivar[rows], labels[rows])
            for score in (clustering_accuracy, normalized_mutual_info_score, purity)
        ]
        print(f"{name:<12}{sizes:<18}{scores[0]:>7.3f}{scores[1]:>7.3f}{scores[2]:>8.3f}")

    part = np.full(len(X), "clustered", dtype=object)
    part[new] = "predicted"
    table = zip(range(len(X)), part, labels, cultivar, strict=True)
    terms = list(model.history_[0].terms)
    records = (
        (r.iteration, r.objective, *r.terms.values(), r.lam, r.n_components, r.labels_changed)
        for r in model.history_
    )
    print("\nwrote")
    columns = ["iteration", "objective", *terms, "lambda", "components", "labels_changed"]
    labelled = write_csv(out / "labels.csv", ["row", "part", "cluster", "cultivar"], table)
    for path in (labelled, write_csv(out / "history.csv", columns, records)):
        print(f"  {path}")


if __name__ == "__main__":
    main()
