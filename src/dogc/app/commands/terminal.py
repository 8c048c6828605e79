"""The commands: what each does in which order, and what it prints."""

from __future__ import annotations

import contextlib
import json
import pathlib
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from tqdm import tqdm

from ..._atomic import write_whole
from ..._words import shown
from ...encoding import TableError
from .. import report as reports
from ..files.clustering import Clustering
from ..files.opening import matching
from ..files.reading import open_table
from ..files.tally import named_sizes
from ..models import saving
from . import cluster_files, prediction
from .arguments import count, table_options, with_array, with_options
from .outputs import Output

LONGEST = 5000  # letters of a text that is printed


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def plain(text: object) -> str:
    r"""Text of others on the terminal: neither markup nor control characters do anything.

    Examples
    --------
    >>> print(plain("[red]\x1b[2J"))
    \[red]\x1b[2J
    """
    return escape(shown(text, LONGEST))


class Terminal:
    """Prints for people, for machines, or not at all."""

    def __init__(self, as_json: bool, quiet: bool):
        """Choose."""
        self.as_json, self.quiet = as_json, quiet
        self.console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)

    @property
    def progress(self) -> bool:
        """Whether somebody watches."""
        return not self.quiet and not self.as_json and sys.stderr.isatty()

    def say(self, text: str = "") -> None:
        """A line for people."""
        self.console.print(text)

    def grid(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table for people; numbers to the right."""
        grid = Grid(box=None, pad_edge=False, header_style="bold")
        for place, name in enumerate(header):
            grid.add_column(plain(name), justify="right" if place else "left")
        for row in rows:
            grid.add_row(*map(plain, row))
        self.console.print(grid)

    def notes(self, notes: Sequence[str]) -> None:
        """Print remarks."""
        for note in notes:
            self.say(f"[yellow]note:[/yellow] {plain(with_options(note))}")

    def wrote(self, paths: Sequence[pathlib.Path]) -> None:
        """Say where things are."""
        self.say("\nwrote")
        for path in paths:
            self.say(f"  {plain(path)}")

    def finish(self, found: dict[str, Any], paths: Sequence[pathlib.Path] = ()) -> None:
        """The one JSON object, for machines."""
        if self.as_json:
            print(json.dumps({**found, "files": [str(path) for path in paths]}))


def cluster(terminal: Terminal, clusters: str, **given: Any) -> int:
    """Cluster a file and write everything; 130 where it was interrupted on the way."""
    n_clusters, options = count("--clusters", clusters, "auto"), table_options(given)
    options.out.check_folder(cluster_files.FILES)
    bar = RowsDone(terminal.progress)
    with contextlib.closing(bar), open_table(options.file, bar, options.flat) as table:
        found, paths = cluster_files.cluster_to(
            options.out, table, options.encoder_of(table.names), options.method, n_clusters,
            options.parameters(terminal.progress), bar, options.show,
        )  # fmt: skip
    show_clustering(found, terminal)
    terminal.wrote(paths)
    terminal.finish(cluster_files.run_record(found), paths)
    return 130 if getattr(found.model, "stopping_reason_", None) == "interrupted" else 0


def show_clustering(found: Clustering, terminal: Terminal) -> None:
    """Sizes and memberships, scores if there is a truth, and what was remarkable."""
    n, source, method = found.n_rows, found.settings["source"], found.settings["method"].upper()
    terminal.say(f"[bold]{counted(n, 'row')} of {plain(source)}[/bold] by {plain(method)} "
                 f"in {found.seconds:.1f} s")  # fmt: skip
    show_verdict(reports.describe_verdict(found), terminal)
    for step in found.settings["preparation"]:
        terminal.say(f"[dim]- {plain(step)}[/dim]")
    rows = []
    for label, size in sorted(found.tally.sizes.items()):
        known = sum(found.tally.histogram(label))
        mean = f"{found.tally.membership[label] / known:.2f}" if known else "-"
        rows.append([cluster_files.shown_name(str(label)), f"{size:,}", f"{size / n:.0%}", mean])
    terminal.say()
    terminal.grid(["cluster", "rows", "share", "membership"], rows)
    if scores := cluster_files.scores(found):
        terminal.say()
        terminal.grid(["", "ACC", "NMI", "purity", "ARI"],
                      [["agreement", *(f"{value:.3f}" for value in scores.values())]])  # fmt: skip
    if sample := found.settings.get("sample"):
        terminal.say(f"\nThe report: {sample['words'][0].lower()}{sample['words'][1:]}")
    terminal.notes(found.settings["notes"])


def show_verdict(verdict: dict[str, Any], terminal: Terminal) -> None:
    """The verdict in words, with stability, separation and what data without clusters have."""
    colour = "bold green" if verdict["verdict"] == "clear" else "bold"
    terminal.say(f"[{colour}]{verdict['lead']}[/]")
    for words in filter(None, [verdict["words"], *verdict["caveats"]]):
        terminal.say(words)
    for each in verdict["figures"]:
        terminal.say(
            f"{each['name']} {each['value']:.2f} (data without clusters: {each['reference']:.2f})"
        )


def predict(
    terminal: Terminal,
    model: pathlib.Path,
    file: str,
    out: pathlib.Path,
    array: str | None,
    flatten: bool,
    raw_cells: bool,
    force: bool,
) -> int:
    """Label the rows of a file, or of several."""
    file, output = with_array(file, array), Output(out, force, raw_cells)
    files = matching(file)
    output.check_file()
    if out.exists() and any(other.exists() and out.samefile(other)
                            for other in (model, *map(pathlib.Path, files))):  # fmt: skip
        raise TableError(f"--out {out} is what is being read; name another file.")
    bundle = prediction.load_with_preparation(model)
    bar = RowsDone(terminal.progress)
    with contextlib.closing(bar), open_table(file, bar, flatten) as table, output.rows() as rows:
        sizes, notes = prediction.predict_table(bundle, table, rows, bar)
    notes += rows.note()
    total = sum(sizes.values())
    terminal.say(f"[bold]{counted(total, 'row')}[/bold] labelled by {plain(model)}\n")
    shares = [[cluster_files.shown_name(name), f"{size:,}", f"{size / total:.0%}"]
              for name, size in sizes.items()]  # fmt: skip
    terminal.grid(["cluster", "rows", "share"], shares)
    terminal.notes(notes)
    terminal.wrote([out])
    terminal.finish({"rows": total, "clusters": sizes, "notes": notes}, [out])
    return 0


def report(terminal: Terminal, model: pathlib.Path, out: pathlib.Path, force: bool) -> int:
    """Write the page again from what the model file holds."""
    Output(out, force).check_file()
    bundle = saving.load_bundle(model)
    if bundle.summary is None or not reports.is_summary(bundle.summary):
        raise saving.ModelFileError(f"{model} holds no report; use a file that dogc cluster wrote.")
    terminal.wrote([write_whole(out, reports.render(bundle.summary))])
    return 0


def info(terminal: Terminal, model: pathlib.Path) -> int:
    """Say what a model file holds."""
    bundle = saving.load_bundle(model)
    # Who calls dogc.save may give any settings, or none.
    given = {name: (bundle.settings or {}).get(name) for name in
             ("source", "sha256", "clusters", "parameters")}  # fmt: skip
    if not given["clusters"] and hasattr(bundle.model, "labels_"):
        given["clusters"] = named_sizes(Counter(bundle.model.labels_.tolist()))
    columns = [] if bundle.preparation is None else list(bundle.preparation.columns_)
    found: dict[str, Any] = {
        "file": str(model),
        "estimator": type(bundle.model).__name__,
        "format": bundle.format_version,
        "dogc": bundle.library_version,
        **given,
        "columns": columns,
    }
    listed = ", ".join(f"{name}: {size:,}" for name, size in (given["clusters"] or {}).items())
    rows = [["estimator", found["estimator"]], ["made by", f"dogc {bundle.library_version}"],
            ["from", given["source"] or "-"], ["clusters", listed or "-"],
            ["columns", ", ".join(columns) or "-"],
            *(given["parameters"] or {}).items()]  # fmt: skip
    for name, value in rows:
        if value is not None:
            terminal.say(f"[bold]{plain(name):<20}[/bold] {plain(value)}")
    terminal.finish(found)
    return 0


def datasets(terminal: Terminal, name: str | None, out: pathlib.Path | None, force: bool) -> int:
    """List what is bundled, or write one of them."""
    from ...datasets import UCI_NAMES, load_uci

    if name is None:
        sets = {known: load_uci(known) for known in UCI_NAMES}
        found = {known: {"rows": len(b.data), "columns": b.data.shape[1],
                         "classes": len(b.target_names)} for known, b in sets.items()}  # fmt: skip
        rows = [[known, *map(str, sizes.values())] for known, sizes in found.items()]
        terminal.grid(["name", "rows", "columns", "classes"], rows)
        terminal.finish({"datasets": found})
        return 0
    if name not in UCI_NAMES:
        raise TableError(f"{name} is not bundled; choose one of {', '.join(UCI_NAMES)}.")
    path = out or pathlib.Path(f"{name}.csv")
    Output(path, force).check_file()
    bunch = load_uci(name, encoding="raw", as_frame=True)
    frame = bunch.data.assign(**{"class": bunch.target_names[bunch.target]})
    write_whole(path, frame.to_csv(index=False, lineterminator="\n"))
    terminal.wrote([path])
    terminal.finish({"rows": len(frame)}, [path])
    return 0


class RowsDone:
    """A bar over rows for each thing that is done to them, one after the other."""

    def __init__(self, shown: bool):
        """Show bars, or nothing."""
        self._shown, self._what, self._bar = shown, "", tqdm(disable=True)

    def __call__(self, what: str, rows: int, total: int | None = None) -> None:
        """So many rows more are done; without rows, something else shows how far it is."""
        if what != self._what:
            self.close()
            self._what = what
            self._bar = tqdm(total=total, desc=what, unit=" rows", unit_scale=True, leave=False,
                             disable=not (self._shown and rows))  # fmt: skip
        self._bar.update(rows)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()
