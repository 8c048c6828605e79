"""``dogc cluster``: from a file to labels, a model, a report and a record of the run."""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..._atomic import write_whole
from .. import report
from ..model_files import saving
from ..tables import Preparation
from ..tables.clustered_table import Clustering, agreement
from ..tables.tally import agreement_of_counts
from .outputs import whole_folder

if TYPE_CHECKING:
    import pandas

FILES = ["labels.csv", "model.skops", "report.html", "run.json"]


def with_labels(
    frame: pandas.DataFrame, labels: np.ndarray, confidence: np.ndarray, always: bool = False
) -> pandas.DataFrame:
    """The rows as they were, with their cluster and how sure it is, if that is known or always."""
    found = {"cluster": labels}
    if always or not np.isnan(confidence).all():
        found["confidence"] = np.round(confidence, 4)
    # A column of yours keeps its name.
    named = {name if name not in frame.columns else f"dogc_{name}": v for name, v in found.items()}
    return frame.assign(**named)


def write_rows(rows: pandas.DataFrame, file: BinaryIO, header: bool = True) -> None:
    """Write rows as CSV: by pyarrow, several times faster, where it knows what the cells are."""
    import pyarrow
    from pyarrow import csv

    try:
        table = pyarrow.Table.from_pandas(rows, preserve_index=False)
        nested = any(pyarrow.types.is_nested(kind) for kind in table.schema.types)
    except (pyarrow.ArrowException, TypeError):  # cells of several kinds in one column
        nested = True
    if nested:
        text = rows.to_csv(index=False, header=header, lineterminator="\n")
        file.write(text.encode("utf-8"))
        return
    if header:  # pyarrow would put every name in quotes
        file.write(rows.head(0).to_csv(index=False, lineterminator="\n").encode("utf-8"))
    options = csv.WriteOptions(include_header=False, quoting_style="needed")
    csv.write_csv(table, file, options)


def write_files(
    clustering: Clustering, preparation: Preparation, folder: pathlib.Path
) -> list[pathlib.Path]:
    """Write all four files; none of them is there before all are."""
    with whole_folder(folder) as draft:
        rows = with_labels(clustering.frame, clustering.labels, clustering.confidence)
        with open(draft / "labels.csv", "wb") as file:
            write_rows(rows, file)
        write_findings(clustering, preparation, draft)
    return [folder / name for name in FILES]


def write_findings(clustering: Clustering, preparation: Preparation, folder: pathlib.Path) -> None:
    """Write all but the labels."""
    summary = report.summarise(clustering)
    saving.save(
        clustering.model,
        folder / "model.skops",
        preparation=preparation,
        summary=summary,
        settings=clustering.settings,
    )
    write_whole(folder / "report.html", report.render(summary))
    run = run_record(clustering)
    write_whole(folder / "run.json", json.dumps(run, indent=2) + "\n")


def sizes(labels: np.ndarray) -> dict[str, int]:
    """Rows of each cluster; outliers under -1."""
    names, counts = np.unique(labels, return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def all_sizes(clustering: Clustering) -> dict[str, int]:
    """Of all rows, those that are not at hand among them."""
    if clustering.tally is not None:
        return clustering.tally.named_sizes()
    return sizes(clustering.labels)


def scores(clustering: Clustering) -> dict[str, float] | None:
    """Agreement with the label column, where there is one."""
    if clustering.tally is not None:
        counted = clustering.tally.table()
        return None if counted is None else agreement_of_counts(counted[2])
    if clustering.truth is None:
        return None
    return agreement(clustering.truth, clustering.labels)


def run_record(clustering: Clustering) -> dict[str, Any]:
    """What ``run.json`` and ``--json`` say of a run."""
    model = clustering.model
    resolution = report.describe_resolution(model) or {}
    history = [
        {**record._asdict(), "terms": dict(record.terms)}
        for record in getattr(model, "history_", [])
    ]
    return {
        **clustering.settings,
        "rows": clustering.n_rows,
        "features": clustering.feature_names,
        "preparation": clustering.preparation,
        "clusters": all_sizes(clustering),
        "scores": scores(clustering),
        "seconds": round(clustering.seconds, 3),
        "converged": getattr(model, "converged_", None),
        "stopping_reason": getattr(model, "stopping_reason_", None),
        "n_neighbors": getattr(model, "n_neighbors_", None),
        "geometry": getattr(model, "geometry_", None),
        "n_representatives": resolution.get("n_representatives"),
        "agreement": resolution.get("agreement"),
        "rule": getattr(model, "rule_", None),
        "label_agreement": getattr(model, "label_agreement_", None),
        "history": history,
    }
