"""``dogc compare``: every method side by side, as a table and a page."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from ... import comparison
from ...comparison import Comparison, MethodResult
from .. import report as reports
from ..files.clustering import asked_of, check_rows, names_by_size
from ..files.opening import matching
from ..files.reading import Table, read_table
from ..report.page import digits, short
from .arguments import Asked
from .cluster_files import with_columns
from .outputs import Output
from .terminal import Terminal

if TYPE_CHECKING:
    import pandas

# The scores of the page, by their names there.
SCORES = {"acc": "acc", "nmi": "nmi_max", "purity": "purity", "ari": "ari"}


def run_compare(
    options: Asked, methods: Sequence[str] | None, quality: bool, terminal: Terminal
) -> int:
    """Run methods side by side."""
    matching(options.file)
    options.out.check_folder(files("compare"))
    table = read_table(options.file)
    check_rows(table)
    preparation = options.columns.encoder_of(table)
    X = preparation.fit(table.frame).transform(table.frame)
    name = options.columns.label
    truth = None if name is None else table.frame[name].astype(str).to_numpy()
    settings = dict(options.settings)
    found = comparison.compare(X, int(options.clusters), list(methods) if methods else None, truth,
                               n_neighbors=settings.pop("n_neighbors", None),
                               parameters=asked_of(preparation, settings), quality=quality,
                               random_state=options.seed,
                               progress=terminal.progress)  # fmt: skip
    steps = list(preparation.steps_)
    labels = {f"cluster {name}": names_by_size(y)[y] for name, y in found.labels.items()}
    page = compare_page(found, table, int(options.clusters), steps)
    notes, paths = write_pages("compare", page, found.to_frame(), table.frame, labels, options.out)
    terminal.say("\n\n".join(map(escape, found.tables(terminal.console.width))))
    if said := [*found.notes(), *notes]:
        terminal.say()
        terminal.notes(said, "compare")
    terminal.wrote(paths)
    terminal.finish({"methods": records(found), "preparation": steps, "notes": notes}, paths)
    return 0


def files(name: str) -> list[str]:
    """The files that ``dogc compare`` and ``dogc explore`` write."""
    return [f"{name}.csv", f"{name}.html", "labels.csv"]


def write_pages(
    name: str,
    page: str,
    results: pandas.DataFrame,
    frame: pandas.DataFrame,
    labels: Mapping[str, np.ndarray],
    out: Output,
) -> tuple[list[str], list[pathlib.Path]]:
    """Write a table of results, a page and all labels; what to say of cells, and the paths."""
    with out.whole_folder() as draft:
        (draft / f"{name}.html").write_bytes(page.encode("utf-8"))
        with out.rows_in(draft / f"{name}.csv") as file:
            file.write(results.reset_index())
        with out.rows_in(draft / "labels.csv") as file:
            file.write(with_columns(frame, labels))
    return file.note(), [out.path / written for written in files(name)]


def compare_page(comparison: Comparison, table: Table, clusters: int, steps: list[str]) -> str:
    """The comparison as one page that needs nothing but a browser."""
    summary = {
        "source": short(table.source, 200),
        "rows": len(table.frame),
        "clusters": clusters,
        "labelled": any(row.scores for row in comparison),
        "methods": [_line(row) for row in comparison],
        "names": [short(name, 60) for name in comparison.succeeded],
        "agreement": np.round(comparison.agreement, 4).tolist(),
        "notes": [short(note, 1000) for note in comparison.notes()],
        "steps": [short(step, 2000) for step in steps],
    }
    title = f"Methods side by side on {summary['source']}"
    return reports.page(title, summary, reports.COMPARE)


def _line(row: MethodResult) -> dict[str, Any]:
    """One method, as the page shows it; what is not known is None."""
    return {
        "method": short(row.method, 60),
        **{name: digits(row.scores[key]) for name, key in SCORES.items() if key in row.scores},
        **{name: digits(value) for name, value in row.quality.items()},
        "agreement": digits(row.agreement),
        "clusters": row.n_found,
        "seconds": digits(row.seconds, 3),
        "failed": row.labels is None,
    }


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
            "note": row.note,
        }
        for row in comparison
    ]
