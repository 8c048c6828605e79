"""``dogc explore``: one method at several numbers of clusters, as a table and a page."""

from __future__ import annotations

from typing import Any

from ...comparison import named_estimator, said_by
from ...encoding import TableError
from ...exploration import Exploration, explore
from ...metrics import clustering_report
from .. import report as reports
from ..files.clustering import asked_of, caveats, known_labels
from ..report.counts import describe_exploration
from ..report.page import digits, short
from .arguments import table_options, with_options
from .comparing import prepared, write_pages
from .terminal import Terminal, counted, plain

# More numbers than these make no picture that can be read.
MOST = 30


def run_explore(terminal: Terminal, first: int, last: int, **given: Any) -> int:
    """Fit a method at several numbers of clusters and write what was found."""
    options, numbers = table_options(given), range(first, last + 1)
    if not 0 < first <= last < first + MOST:
        raise TableError(f"--from {first} --to {last}: pass numbers above 0, the smaller first, "
                         f"and at most {MOST} of them.")  # fmt: skip
    table, preparation, X = prepared(options, "explore")
    if last > len(X):
        raise TableError(f"--to is {last}, but there are {counted(len(X), 'row')}; pass a smaller "
                         "--to.")  # fmt: skip
    parameters = asked_of(preparation, options.parameters(False))
    model = named_estimator(options.method, first, parameters)
    found = explore(X, numbers, model, progress=terminal.progress)
    scored: dict[int, float] = {}
    if (truth := known_labels(table.frame, preparation.label_column)) is not None:
        scored = {row.n_clusters: clustering_report(truth, row.labels)["ari"] for row in found}
    steps = list(preparation.steps_)
    said = list(map(with_options, _notes(found)))
    by_count = describe_exploration(found)
    for row in by_count["rows"]:
        if row["clusters"] in scored:
            row["ari"] = digits(scored[row["clusters"]])
    summary: dict[str, Any] = {
        "source": short(table.source, 200),
        "method": reports.method_name(model),
        "rows": len(X),
        "rows_by_count": by_count,
        "steps": [short(step, 2000) for step in steps],
        "notes": said,
        "caveats": caveats(preparation),
    }
    page = reports.page(f"{summary['source']}: how many clusters?", summary, reports.EXPLORE)
    labels = {f"cluster of {count}": labels for count, labels in found.labels.items()}
    notes, paths = write_pages("explore", page, found.to_frame(), table.frame, labels, options.out)
    terminal.say(f"[bold]{counted(len(X), 'row')} of {plain(table.source)}[/bold] by "
                 f"{plain(summary['method'])}\n")  # fmt: skip
    terminal.say("\n".join(map(plain, str(found).splitlines())))
    terminal.notes([*caveats(preparation), *said, *notes])
    terminal.wrote(paths)
    terminal.say(f"\nopen {plain(options.out.path / 'explore.html')} in a browser")
    terminal.finish({"proposed": found.proposed, "rows": len(X), "method": summary["method"],
                     "counts": by_count["rows"], "steps": by_count["steps"], "notes": said,
                     "preparation": steps}, paths)  # fmt: skip
    return 0


def _notes(found: Exploration) -> list[str]:
    """Warnings of the fits, the same words once."""
    said = said_by([(str(row.n_clusters), row.note) for row in found if row.note])
    return [
        f"{', '.join(numbers)} cluster{'' if numbers == ['1'] else 's'}: {note}"
        for note, numbers in said.items()
    ]
