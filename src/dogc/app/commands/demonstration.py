"""``dogc demo``: the main job on bundled data."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import numpy as np

from ...encoding import MixedEncoder
from ..files.clustering import agreement, label_rows
from ..files.reading import Table
from . import cluster_files
from .outputs import Output
from .terminal import Terminal

TRUTH = "class"
SCORES = ("acc", "nmi", "purity")


def wine() -> tuple[Table, Table]:
    """Two halves of the Wine data, drawn once and for all."""
    from ...datasets import load_uci

    bunch = load_uci("wine", encoding="raw", as_frame=True)
    frame = bunch.data.assign(**{TRUTH: bunch.target_names[bunch.target]})
    order = np.random.default_rng(0).permutation(len(frame))
    halves = [frame.iloc[np.sort(order[first::2])].reset_index(drop=True) for first in (0, 1)]
    digests = [hashlib.sha256(half.to_csv(lineterminator="\n").encode("utf-8")).hexdigest()
               for half in halves]  # fmt: skip
    return (Table.of(halves[0], "half of the Wine data", digests[0]),
            Table.of(halves[1], "the other half", digests[1]))  # fmt: skip


def run_demo(out: Output, terminal: Terminal) -> int:
    """Cluster one half, label the other, say how well both went, write it all."""
    out.check_folder([*cluster_files.FILES, "predicted.csv"])
    known, new = wine()
    preparation = MixedEncoder(label_column=TRUTH)
    parameters = {"verbose": int(terminal.progress), "random_state": 0}
    parts: dict[str, tuple[Any, ...]] = {}

    def predicted(model: Any) -> dict[str, Any]:
        began = time.perf_counter()
        results = label_rows(model, preparation.transform(new.frame))
        parts["predicted"] = (
            results["labels_"],
            new.frame[TRUTH].to_numpy(),
            time.perf_counter() - began,
        )
        return {"predicted.csv": cluster_files.with_results(new.frame, results)}

    found, paths = cluster_files.cluster_to(
        out, known, preparation, "dogc-os", 3, parameters, more=predicted
    )
    parts = {"clustered": (found.rows.labels, found.truth, found.seconds), **parts}
    records: dict[str, Any] = {}
    for name, (labels, truth, seconds) in parts.items():
        scores = agreement(truth, labels)
        records[name] = {
            "sizes": np.bincount(labels, minlength=3).tolist(),
            **{score: scores[score] for score in SCORES},
            "seconds": round(seconds, 4),
        }
    terminal.say("[bold]DOGC-OS on the Wine data[/bold]: one half clustered without its labels, "
                 "the other half predicted\n")  # fmt: skip
    rows = [
        [name, " ".join(map(str, record["sizes"])),
         *(f"{record[score]:.3f}" for score in SCORES),
         f"{record['seconds']:.2f}"]
        for name, record in records.items()
    ]  # fmt: skip
    terminal.grid(["rows", "cluster sizes", "ACC", "NMI", "purity", "seconds"], rows)
    terminal.wrote(paths)
    terminal.say(f"\nopen {out.path / 'report.html'} in a browser")
    terminal.finish(records, paths)
    return 0
