"""``dogc compare``: every method side by side, as a table and a page."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from ... import comparison
from ..._atomic import drafts_in
from ...comparison import Comparison
from ...encoding import MixedEncoder
from ...numerics.discrete import size_order
from .. import report as reports
from ..files.clustering import asked_of, caveats, known_labels
from ..files.reading import Table, read_table
from ..report.counts import verdict_of
from ..report.page import digits, short
from .arguments import TableOptions, count, table_options, with_options
from .cluster_files import with_columns
from .outputs import Output
from .terminal import Terminal

if TYPE_CHECKING:
    import pandas


def run_compare(terminal: Terminal, clusters: str, methods: list[str] | None, **given: Any) -> int:
    """Run methods side by side."""
    n_clusters, options = count("--clusters", clusters), table_options(given)
    table, preparation, X = prepared(options, "compare")
    truth = known_labels(table.frame, preparation.label_column)
    found = comparison.compare(X, n_clusters, methods, truth,
                               n_neighbors=options.settings.get("n_neighbors"),
                               parameters=asked_of(preparation, options.settings),
                               random_state=options.seed, progress=terminal.progress)  # fmt: skip
    steps = list(preparation.steps_)
    labels = {f"cluster {name}": by_size(y) for name, y in found.labels.items()}
    lead = [*found.lead(), *caveats(preparation)]
    page = compare_page(found, table, n_clusters, lead, steps)
    notes, paths = write_pages("compare", page, found.to_frame(), table.frame, labels, options.out)
    terminal.say("\n".join(map(escape, lead)))
    terminal.say()
    terminal.say("\n\n".join(map(escape, found.tables(terminal.console.width))))
    if said := [*found.notes(), *notes]:
        terminal.say()
        terminal.notes(said)
    terminal.wrote(paths)
    terminal.finish({"methods": records(found), "preparation": steps, "notes": notes}, paths)
    return 0


def by_size(labels: np.ndarray) -> np.ndarray:
    """Labels numbered by decreasing size; those of noise stay negative.

    Examples
    --------
    >>> by_size(np.array([1, -1, 1, 0]))
    array([ 0, -1,  0,  1])
    """
    inside = np.where(labels < 0, 0, labels)
    order = size_order(labels[labels >= 0], int(inside.max()) + 1)
    return np.where(labels < 0, labels, order[inside])


def prepared(options: TableOptions, name: str) -> tuple[Table, MixedEncoder, np.ndarray]:
    """The table that was named, its encoder and its rows as numbers."""
    options.out.check_folder(files(name))
    table = read_table(options.file, options.flat)
    encoder = options.encoder_of(table.names)
    return table, encoder, encoder.fit(table.frame).transform(table.frame)


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
    with drafts_in(out.path) as draft:
        (draft / f"{name}.html").write_bytes(page.encode("utf-8"))
        with out.rows_in(draft / f"{name}.csv") as file:
            file.write(results.reset_index())
        with out.rows_in(draft / "labels.csv") as file:
            file.write(with_columns(frame, labels))
    return file.note(), [out.path / written for written in files(name)]


def compare_page(
    comparison: Comparison, table: Table, clusters: int, lead: list[str], steps: list[str]
) -> str:
    """The comparison as one page that needs nothing but a browser."""
    groups = comparison.identical()
    first = [comparison.succeeded.index(group[0]) for group in groups]
    summary = {
        "source": short(table.source, 200),
        "rows": len(table.frame),
        "clusters": clusters,
        "labelled": any(row.scores for row in comparison),
        "methods": [
            {**row, **row["scores"], "nmi": row["scores"].get("nmi_max")}
            for row in records(comparison)
        ],
        "lead": [short(words, 2000) for words in lead],
        "groups": [[short(name, 60) for name in group] for group in groups],
        "agreement": np.round(comparison.agreement[np.ix_(first, first)], 4).tolist(),
        "notes": [short(with_options(note), 1000) for note in comparison.notes()],
        "steps": [short(step, 2000) for step in steps],
    }
    title = f"Methods side by side on {summary['source']}"
    return reports.page(title, summary, reports.COMPARE)


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """The comparison as JSON can hold it; what is not known is None."""
    return [
        {
            "method": row.method,
            "clusters": row.n_found,
            "seconds": round(row.seconds, 3),
            "scores": row.scores,
            **verdict_of(row.evidence),
            "agreement": digits(row.agreement),
            "failed": row.labels is None,
            "note": short(row.note, 1000),
        }
        for row in comparison
    ]
