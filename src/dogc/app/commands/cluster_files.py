"""``dogc cluster``: from a file to labels, a model, a report and a record of the run."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import report
from ..models import saving
from ..tables import MixedEncoder
from ..tables.clustered_table import Clustering, agreement
from ..tables.tally import agreement_of_counts
from .outputs import Output

if TYPE_CHECKING:
    import pandas

# With labels, how sure they are, and outlier scores where there are any.
Rows = tuple["pandas.DataFrame", np.ndarray, np.ndarray, np.ndarray | None]
FILES = ["labels.csv", "model.skops", "report.html", "run.json"]


def with_labels(
    frame: pandas.DataFrame,
    labels: np.ndarray,
    confidence: np.ndarray,
    outlier_scores: np.ndarray | None = None,
    always: bool = False,
) -> pandas.DataFrame:
    """The rows as they were, with their cluster and how sure it is, if that is known or always."""
    found = {"cluster": labels}
    if always or not np.isnan(confidence).all():
        found["confidence"] = np.round(confidence, 4)
    if outlier_scores is not None:
        found["outlier_score"] = np.round(outlier_scores, 4)
    return with_columns(frame, found)


def with_columns(frame: pandas.DataFrame, found: Mapping[str, np.ndarray]) -> pandas.DataFrame:
    """The rows as they were, with more columns; a column of yours keeps its name."""
    named = {name if name not in frame.columns else f"dogc_{name}": v for name, v in found.items()}
    return frame.assign(**named)


def write_files(
    clustering: Clustering,
    preparation: MixedEncoder,
    out: Output,
    more: Mapping[str, Rows] = MappingProxyType({}),
) -> list[pathlib.Path]:
    """Write all four files, and more rows by their names; none is there before all are."""
    scores = getattr(clustering.model, "outlier_scores_", None)
    known = (clustering.frame, clustering.labels, clustering.confidence, scores)
    with out.whole_folder() as draft:
        for name, rows in {"labels.csv": known, **more}.items():
            with out.rows_in(draft / name) as file:
                file.write(with_labels(*rows))
            clustering.settings["notes"] += file.note()
        write_findings(clustering, preparation, draft)
    return [out.path / name for name in [*FILES, *more]]


def write_findings(clustering: Clustering, preparation: MixedEncoder, folder: pathlib.Path) -> None:
    """Write all but the labels."""
    summary = report.summarise(clustering)
    packed = saving.packed(clustering.model, preparation, summary, clustering.settings)
    texts = {"report.html": report.render(summary),
             "run.json": json.dumps(run_record(clustering), indent=2) + "\n"}  # fmt: skip
    contents = {"model.skops": packed, **{n: text.encode("utf-8") for n, text in texts.items()}}
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def sizes(labels: np.ndarray) -> dict[str, int]:
    """Rows of each cluster; outliers under -1."""
    names, counts = np.unique(labels, return_counts=True)
    return {str(name): int(count) for name, count in zip(names, counts, strict=True)}


def shown_name(name: str) -> str:
    """What a cluster is called on the terminal.

    Examples
    --------
    >>> shown_name("0"), shown_name("-1")
    ('0', 'outliers')
    """
    return "outliers" if name == "-1" else name


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
        "init": getattr(model, "init_", None),
        "n_representatives": resolution.get("n_representatives"),
        "agreement": resolution.get("agreement"),
        "rule": getattr(model, "rule_", None),
        "label_agreement": getattr(model, "label_agreement_", None),
        "history": history,
    }
