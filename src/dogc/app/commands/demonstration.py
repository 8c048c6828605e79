"""``dogc demo``: the main job on bundled data."""

from __future__ import annotations

import hashlib
import pathlib
import time
from typing import Any

import numpy as np

from ...datasets import load_uci
from ...encoding import MixedEncoder
from ...metrics import contingency
from ..files.clustering import agreement_of, label_rows
from ..files.reading import Table
from . import cluster_files
from .outputs import Output
from .terminal import RowsDone, Terminal

TRUTH = "class"


def wine() -> list[Table]:
    """Two halves of the Wine data, drawn once and for all."""
    bunch = load_uci("wine", encoding="raw", as_frame=True)
    frame = bunch.data.assign(**{TRUTH: bunch.target_names[bunch.target]})
    order = np.random.default_rng(0).permutation(len(frame))
    tables = []
    for first, name in enumerate(("half of the Wine data", "the other half")):
        half = frame.iloc[np.sort(order[first::2])].reset_index(drop=True)
        text = half.to_csv(lineterminator="\n").encode("utf-8")
        tables.append(Table.of(half, name, hashlib.sha256(text).hexdigest()))
    return tables


def run_demo(terminal: Terminal, out: pathlib.Path, force: bool) -> int:
    """Cluster one half, label the other, say how well both went, write it all."""
    output, predicted = Output(out, force), Output(out / "predicted.csv", force)
    output.check_folder([*cluster_files.FILES, "predicted.csv"])
    known, new = wine()
    preparation = MixedEncoder(label_column=TRUTH)
    parameters = {"verbose": int(terminal.progress), "random_state": 0}
    made, paths = cluster_files.cluster_to(output, known, preparation, "dogc-os", 3, parameters,
                                             RowsDone(terminal.progress))  # fmt: skip
    began = time.perf_counter()
    results = label_rows(made.model, preparation.transform(new.frame))
    taken = time.perf_counter() - began
    with predicted.rows() as file:
        file.write(cluster_files.with_results(new.frame, results))
    parts = {"clustered": (known, made.rows.labels, made.seconds),
             "predicted": (new, results["labels_"], taken)}  # fmt: skip
    records: dict[str, Any] = {}
    for name, (table, labels, seconds) in parts.items():
        records[name] = {
            "sizes": np.bincount(labels, minlength=3).tolist(),
            **agreement_of(contingency(table.frame[TRUTH], labels)),
            "seconds": round(seconds, 4),
        }
    terminal.say("[bold]DOGC-OS on the Wine data[/bold]: one half clustered without its labels, "
                 "the other half predicted\n")  # fmt: skip
    rows = [
        [name, " ".join(map(str, found["sizes"])),
         *(f"{found[score]:.3f}" for score in ("acc", "nmi", "purity")),
         f"{found['seconds']:.2f}"]
        for name, found in records.items()
    ]  # fmt: skip
    terminal.grid(["rows", "cluster sizes", "ACC", "NMI", "purity", "seconds"], rows)
    paths.append(predicted.path)
    terminal.wrote(paths)
    terminal.say(f"\nopen {out / 'report.html'} in a browser")
    terminal.finish(records, paths)
    return 0
