"""``dogc cluster``: from a file to labels, a model, a report and a record of the run."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._atomic import drafts_in
from ...encoding import MixedEncoder
from ...encoding.errors import listed
from .. import report
from ..files.clustering import Clustering, Watch, agreement_of, fitted_to, label_all
from ..files.reading import Table
from ..files.tally import named_sizes
from ..models import saving
from ..report.page import as_json
from .arguments import with_options
from .outputs import Output

if TYPE_CHECKING:
    import pandas

# Facts of a fit that the record of a run has, under their names without an underscore.
FITTED = ("converged", "stopping_reason", "n_neighbors", "geometry", "init", "n_representatives",
          "rule", "label_agreement")  # fmt: skip
FILES = ["labels.csv", "model.skops", "report.html", "run.json"]


def with_results(frame: pandas.DataFrame, results: Mapping[str, np.ndarray]) -> pandas.DataFrame:
    """The rows as they were, with their cluster, their membership and how far they lie apart."""
    names = {"labels_": "cluster", "membership_": "membership", "outlier_scores_": "outlier_score"}
    found = {name: np.round(results[key], 4) for key, name in names.items() if key in results}
    return with_columns(frame, found)


def with_columns(frame: pandas.DataFrame, found: Mapping[str, np.ndarray]) -> pandas.DataFrame:
    """The rows as they were, with more columns; a column of yours keeps its name."""
    named = {name if name not in frame.columns else f"dogc_{name}": v for name, v in found.items()}
    return frame.assign(**named)


def cluster_to(
    out: Output,
    table: Table,
    encoder: MixedEncoder,
    method: str,
    n_clusters: int | str,
    parameters: dict[str, Any],
    watch: Watch,
    show: Sequence[str] = (),
) -> tuple[Clustering, list[pathlib.Path]]:
    """Cluster a table of any size and write all files; none is there before all are."""
    with (
        fitted_to(table, encoder, method, n_clusters, parameters, watch) as fitted,
        drafts_in(out.path) as draft,
    ):
        with out.rows_in(draft / "labels.csv") as labels:
            found = label_all(
                table, encoder, fitted, method,
                lambda frame, results: labels.write(with_results(frame, results)), watch,
            )  # fmt: skip
        found.settings["show"] = list(show)
        if show:
            named = listed(list(show))
            steps = [step for step in found.settings["preparation"]
                     if step != f"Dropped {named}: as you asked."]  # fmt: skip
            steps.append(f"Shown with the rows, not used for clustering: {named}.")
            found.settings["preparation"] = steps
        notes = [*found.settings["notes"], *labels.note(), *report.deciding_note(found)]
        found.settings["notes"] = list(map(with_options, notes))
        if shown := found.settings.get("sample"):
            shown["words"] = report.sample_words(shown["rows"], found.n_rows)
        write_findings(found, encoder, draft)
    return found, [out.path / name for name in FILES]


def write_findings(clustering: Clustering, preparation: MixedEncoder, folder: pathlib.Path) -> None:
    """Write all but the labels."""
    summary = report.summarise(clustering)
    packed = saving.packed(clustering.model, preparation, summary, clustering.settings)
    (folder / "model.skops").write_bytes(packed)
    (folder / "report.html").write_bytes(report.render(summary).encode())
    record = json.dumps(run_record(clustering), indent=2)
    (folder / "run.json").write_bytes(f"{record}\n".encode())


def shown_name(name: str) -> str:
    """The name of a cluster on the terminal.

    Examples
    --------
    >>> shown_name("0"), shown_name("-1")
    ('0', 'outliers')
    """
    return "outliers" if name == "-1" else name


def scores(clustering: Clustering) -> dict[str, float] | None:
    """Agreement with the label column, where there is one."""
    if (counted := clustering.tally.table()) is None:
        return None
    return agreement_of(counted[2])


def run_record(clustering: Clustering) -> dict[str, Any]:
    """The record of a run, as ``run.json`` and ``--json`` have it."""
    model = clustering.model
    seen, resolutions = clustering.evidence, getattr(model, "resolutions_", None)
    compared = resolutions if resolutions and len(resolutions.n_representatives) > 1 else None
    history = [
        {**record._asdict(), "terms": dict(record.terms)}
        for record in getattr(model, "history_", [])
    ]
    return {
        "verdict": seen and seen.verdict,
        "evidence": seen and as_json(dict(zip(seen._fields[1:], seen[1:], strict=True))),
        **clustering.settings,
        "rows": clustering.n_rows,
        "features": clustering.feature_names,
        "clusters": named_sizes(clustering.tally.sizes),
        "scores": scores(clustering),
        "seconds": round(clustering.seconds, 3),
        **{name: getattr(model, f"{name}_", None) for name in FITTED},
        "agreement": compared and compared.confirmed,
        "history": history,
    }
