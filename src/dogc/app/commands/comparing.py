"""``dogc compare``: every method side by side, as a table and a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...comparison import Comparison, MethodResult
from .. import report as reports
from ..files.clustering import names_by_size
from ..files.reading import Table
from ..report.json_values import digits, short
from .arguments import as_typed
from .cluster_files import with_columns
from .outputs import Output

FILES = ["compare.csv", "compare.html", "labels.csv"]
# The scores of the page, by their names there.
SCORES = {"acc": "acc", "nmi": "nmi_max", "purity": "purity", "ari": "ari"}


def compare_page(comparison: Comparison, table: Table, clusters: int, steps: list[str]) -> str:
    """The comparison as one page that needs nothing but a browser."""
    labelled = any(row.scores for row in comparison)
    summary = {
        "source": short(table.source, 200),
        "rows": len(table.frame),
        "clusters": clusters,
        "labelled": labelled,
        "methods": [_line(row) for row in comparison],
        "names": [short(name, 60) for name in comparison.succeeded],
        "agreement": np.round(comparison.agreement, 4).tolist(),
        "notes": [short(as_typed(note, "compare"), 1000) for note in comparison.notes()],
        "steps": [short(step, 2000) for step in steps],
    }
    title = f"Methods side by side on {summary['source']}"
    return reports.page(title, summary, reports.COMPARE)


def _line(row: MethodResult) -> dict[str, Any]:
    """One method, as the page shows it; what is not known is None."""
    scores = {name: digits(row.scores[key]) for name, key in SCORES.items() if key in row.scores}
    return {
        "method": short(row.method, 60),
        **scores,
        **{name: digits(value) for name, value in row.quality.items()},
        "agreement": digits(row.agreement),
        "clusters": row.n_found,
        "seconds": digits(row.seconds, 3),
        "failed": row.labels is None,
    }


def write_comparison(
    comparison: Comparison, table: Table, clusters: int, steps: list[str], out: Output
) -> list[str]:
    """Write the table, the page and the labels of every method; what to say of cells."""
    labels = {
        f"cluster {name}": names_by_size(found)[found] for name, found in comparison.labels.items()
    }
    page = compare_page(comparison, table, clusters, steps)
    with out.whole_folder() as draft:
        (draft / "compare.html").write_bytes(page.encode("utf-8"))
        with out.rows_in(draft / "compare.csv") as file:
            file.write(comparison.to_frame().reset_index())
        with out.rows_in(draft / "labels.csv") as file:
            file.write(with_columns(table.frame, labels))
    return file.note()


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """The comparison as JSON can hold it."""
    return [
        {
            "method": row.method,
            "clusters": row.n_found,
            "seconds": round(row.seconds, 3),
            "scores": row.scores,
            "quality": {k: None if np.isnan(v) else round(v, 4) for k, v in row.quality.items()},
            "agreement": None if np.isnan(row.agreement) else round(row.agreement, 4),
            "failed": row.labels is None,
            "note": as_typed(row.note, "compare"),
        }
        for row in comparison
    ]
