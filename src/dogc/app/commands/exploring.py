"""``dogc explore``: one method at several numbers of clusters, as a table and a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ...comparison import named_estimator, said_by
from ...exploration import Exploration, explore
from .. import report as reports
from ..files import TableError, read_table
from ..files.clustering import asked_of
from ..files.opening import matching
from ..report.counts import describe_exploration
from ..report.json_values import short
from .arguments import as_typed, check_settings
from .cluster_files import with_columns
from .outputs import Output
from .terminal import Asked, Terminal, counted, plain

FILES = ["explore.csv", "explore.html", "labels.csv"]
# More numbers than these make no picture that can be read.
MOST = 30


def numbers_asked(first: int, last: int) -> range:
    """The numbers of clusters to try.

    Examples
    --------
    >>> numbers_asked(2, 4)
    range(2, 5)
    """
    if first < 1:
        raise TableError(f"--from is {first}; pass a whole number above 0.")
    if last < first:
        raise TableError(f"--to is {last}, which is below --from, {first}; pass a larger --to.")
    if last - first >= MOST:
        raise TableError(f"--from {first} --to {last} are {last - first + 1} numbers; "
                         f"pass at most {MOST}.")  # fmt: skip
    return range(first, last + 1)


def run_explore(options: Asked, numbers: range, terminal: Terminal) -> int:
    """Fit a method at several numbers of clusters and write what was found."""
    check_settings(options.method, options.settings)
    matching(options.file)
    options.out.check_folder(FILES)
    table = read_table(options.file)
    preparation = options.preparation_of(table)
    X = preparation.fit(table.frame).transform(table.frame)
    if numbers[-1] > len(X):
        raise TableError(f"--to is {numbers[-1]}, but there are {counted(len(X), 'row')}; pass a "
                         "smaller --to.")  # fmt: skip
    parameters = {**options.parameters(False), "verbose": 0}
    model = named_estimator(options.method, numbers[0], asked_of(preparation, parameters))
    found = explore(model, X, numbers, progress=terminal.progress)
    if options.label_column is not None:
        found = scored(found, table.frame[options.label_column].astype(str).to_numpy())
    steps = list(preparation.steps_)
    summary: dict[str, Any] = {
        "source": short(table.source, 200),
        "method": reports.method_name(model),
        "rows": len(X),
        "rows_by_count": describe_exploration(found),
        "words": firm_words(found),
        "steps": [short(step, 2000) for step in steps],
    }
    said = _notes(found)
    summary["notes"] = said
    notes = write_exploration(found, table.frame, summary, options.out)
    paths = [options.out.path / name for name in FILES]
    terminal.say(f"[bold]{counted(len(X), 'row')} of {plain(table.source)}[/bold] by "
                 f"{plain(summary['method'])}\n")  # fmt: skip
    terminal.say(plain_lines(str(found)))
    terminal.notes([*said, *notes], "explore")
    terminal.wrote(paths)
    terminal.say(f"\nopen {plain(options.out.path / 'explore.html')} in a browser")
    terminal.finish({"proposed": found.proposed, **_record(summary), "preparation": steps}, paths)
    return 0


def plain_lines(text: str) -> str:
    """Several lines of our own words."""
    return "\n".join(plain(line) for line in text.splitlines())


def firm_words(found: Exploration) -> str:
    """Which numbers have the same clusters at all scales, in one sentence.

    Examples
    --------
    >>> firm_words(Exploration([], []))
    ''
    """
    firm = [str(row.n_clusters) for row in found if row.figures["scales"] >= 0.9]
    known = [row for row in found if row.figures["scales"] == row.figures["scales"]]
    if not known:
        return ""
    if not firm:
        return "No number has nearly the same clusters at all scales."
    listed = firm[0] if len(firm) == 1 else f"{', '.join(firm[:-1])} and {firm[-1]}"
    return f"The clusters are nearly the same at all scales with {listed}."


def write_exploration(found: Exploration, frame: Any, summary: dict, out: Output) -> list[str]:
    """Write the table, the page and the labels at every number; what to say of cells."""
    labels = {f"cluster of {count}": labels for count, labels in found.labels.items()}
    title = f"{summary['source']}: how many clusters?"
    page = reports.page(title, summary, reports.EXPLORE)
    with out.whole_folder() as draft:
        (draft / "explore.html").write_bytes(page.encode("utf-8"))
        with out.rows_in(draft / "explore.csv") as file:
            file.write(found.to_frame().reset_index())
        with out.rows_in(draft / "labels.csv") as file:
            file.write(with_columns(frame, labels))
    return file.note()


def scored(found: Exploration, truth: np.ndarray) -> Exploration:
    """The same with the adjusted Rand index with known labels at each number."""
    rows = [row._replace(figures={"ari": adjusted_rand_score(truth, row.labels), **row.figures})
            for row in found]  # fmt: skip
    return Exploration(rows, found.evidence)


def _notes(found: Exploration) -> list[str]:
    """What the fits warned of, the same words once."""
    said = said_by([(str(row.n_clusters), row.note) for row in found if row.note])
    return [
        as_typed(f"{', '.join(numbers)} cluster{'' if numbers == ['1'] else 's'}: {note}",
                 "explore")
        for note, numbers in said.items()
    ]  # fmt: skip


def _record(summary: dict[str, Any]) -> dict[str, Any]:
    """The page's figures, as ``--json`` prints them."""
    by_count = summary["rows_by_count"]
    return {"rows": summary["rows"], "method": summary["method"], "counts": by_count["rows"],
            "steps": by_count["steps"], "notes": summary["notes"]}  # fmt: skip
