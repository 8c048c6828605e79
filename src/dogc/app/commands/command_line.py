"""The commands as people type them: arguments, what is printed, exit codes.

What a command needs is imported when it runs, so that help and a slip of the fingers are answered
at once.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._extras import missing
from ..._stopping import INTERRUPTED, leave_in_order
from ..._words import shown
from .failing import explain, fail
from .options import (
    Array,
    Clusters,
    Columns,
    Command,
    Components,
    Drop,
    File,
    Files,
    Folder,
    Force,
    Geometry,
    Group,
    Json,
    Keep,
    Label,
    MaxTime,
    Method,
    Methods,
    Metric,
    Model,
    Neighbors,
    NoScale,
    Outliers,
    Quality,
    Quiet,
    RawCells,
    Representatives,
    Seed,
    Weights,
)

app = typer.Typer(
    name="dogc",
    cls=Group,
    help="Graph clustering: cluster a table, label new rows, compare methods.",
    epilog="Exit codes: 0 success, 1 unexpected error, 2 bad input, options or output path, "
    "130 interrupted, 143 stopped.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str], debug: bool = False) -> int:
    """Run the command; the exit code."""
    try:
        return int(app(list(arguments), standalone_mode=False) or 0)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            return 2  # the help has been shown
        if hasattr(error, "format_message"):  # typer's own: a missing argument, an unknown option
            quotes = "put a pattern of files in quotes; " if "extra arg" in str(error) else ""
            message = error.format_message().rstrip(".")
            end = "" if message.endswith("?") else ";"
            known = {command.name for command in app.registered_commands}
            command = f" {arguments[0]}" if arguments and arguments[0] in known else ""
            return fail(f"{message}{end} {quotes}see dogc{command} --help.", 2)
        return explain(error, debug)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dogc {metadata.version('dogc')}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _say_reading(options: Mapping[str, Any]) -> None:
    """Say which file is read, before the packages that take long to import."""
    file, silent = options.get("file"), options.get("quiet") or options.get("json")
    if file not in (None, "-") and not silent and sys.stderr.isatty():
        print(f"reading {shown(file, 200)}", file=sys.stderr, flush=True)


def _command(name: str, example: str) -> Callable[[Any], Any]:
    def register(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def stoppable(*args: Any, **options: Any) -> int:
            for package in ("rich", "pandas", "pyarrow", "skops"):
                if find_spec(package) is None:  # before anything is read that needs it later
                    return fail(missing(package, "the command line"), 2)
            _say_reading(options)
            from . import terminal  # noqa: F401, with all that takes long to import

            try:
                leave_in_order()
                return function(*args, **options)
            except KeyboardInterrupt:
                return fail(INTERRUPTED, 130)

        return app.command(name, cls=Command, epilog=f"Example: {example}")(stoppable)

    return register


@_command("demo", "dogc demo --out demo-output")
def demo(
    out: Folder = Path("demo-output"),
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Cluster half of the Wine data with DOGC-OS, label the other half, write everything."""
    from .demonstration import run_demo
    from .terminal import Output, Terminal

    return run_demo(Output(out, force), Terminal(json, quiet))


@_command("cluster", "dogc cluster customers.csv --clusters auto --out customers")
def cluster(
    file: Files,
    clusters: Clusters,
    method: Method = "dogc-os",
    out: Folder = Path("dogc-output"),
    array: Array = None,
    label_column: Label = None,
    columns: Columns = None,
    drop: Drop = None,
    keep: Keep = None,
    weight: Weights = None,
    no_scale: NoScale = False,
    neighbors: Neighbors = "auto",
    geometry: Geometry = "auto",
    metric: Metric = "euclidean",
    components: Components = "auto",
    representatives: Representatives = "auto",
    outliers: Outliers = False,
    seed: Seed = 0,
    max_time: MaxTime = None,
    raw_cells: RawCells = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Cluster the rows of a file: labels, a model, a report, a record of the run."""
    from . import arguments, terminal

    given = neighbors, geometry, metric, components, representatives, outliers
    options = terminal.Asked(
        arguments.with_array(file, array),
        arguments.count("--clusters", clusters),
        terminal.Output(out, force, raw_cells),
        label_column,
        tuple(drop or ()),
        arguments.is_scaled(no_scale, metric),
        columns=tuple(columns or ()),
        keep=tuple(keep or ()),
        weights=arguments.weights_of(weight or ()),
        seed=arguments.check_seed(seed),
        method=method,
        settings=arguments.settings_of(*given),
        max_time=max_time,
    )
    return terminal.cluster(options, terminal.Terminal(json, quiet))


@_command("predict", "dogc predict customers/model.skops new.csv --out new-labels.csv")
def predict(
    model: Model,
    file: Files,
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV file for rows and labels.")] = Path(
        "predicted.csv"
    ),
    array: Array = None,
    raw_cells: RawCells = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Label the rows of a file with a model: same columns by name, in any order."""
    from . import arguments, terminal

    written = terminal.Output(out, force, raw_cells)
    file = arguments.with_array(file, array)
    return terminal.predict(model, file, written, terminal.Terminal(json, quiet))


@_command("compare", "dogc compare wine.csv --clusters 3 --label-column class")
def compare(
    file: File,
    clusters: Clusters,
    methods: Methods = None,
    out: Folder = Path("dogc-compare"),
    array: Array = None,
    label_column: Label = None,
    columns: Columns = None,
    drop: Drop = None,
    keep: Keep = None,
    weight: Weights = None,
    no_scale: NoScale = False,
    neighbors: Neighbors = "auto",
    representatives: Representatives = "auto",
    seed: Seed = 0,
    quality: Quality = False,
    raw_cells: RawCells = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Run every method on a file, side by side."""
    from . import arguments, terminal

    options = terminal.Asked(
        arguments.with_array(file, array),
        arguments.one_count(clusters),
        terminal.Output(out, force, raw_cells),
        label_column,
        tuple(drop or ()),
        not no_scale,
        columns=tuple(columns or ()),
        keep=tuple(keep or ()),
        weights=arguments.weights_of(weight or ()),
        seed=arguments.check_seed(seed),
        settings=arguments.settings_of(neighbors=neighbors, representatives=representatives),
    )
    return terminal.compare(options, methods, quality, terminal.Terminal(json, quiet))


@_command("explore", "dogc explore wine.csv --from 2 --to 8 --label-column class")
def explore(
    file: File,
    first: Annotated[
        int, typer.Option("--from", metavar="N", help="The smallest number of clusters.")
    ] = 2,
    last: Annotated[
        int, typer.Option("--to", metavar="N", help="The largest number of clusters.")
    ] = 8,
    method: Method = "dogc-os",
    out: Folder = Path("dogc-explore"),
    array: Array = None,
    label_column: Label = None,
    columns: Columns = None,
    drop: Drop = None,
    keep: Keep = None,
    weight: Weights = None,
    no_scale: NoScale = False,
    neighbors: Neighbors = "auto",
    geometry: Geometry = "auto",
    metric: Metric = "euclidean",
    components: Components = "auto",
    representatives: Representatives = "auto",
    seed: Seed = 0,
    raw_cells: RawCells = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Cluster the rows of a file at several numbers of clusters: what splits, what merges."""
    from . import arguments, exploring, terminal

    options = terminal.Asked(
        arguments.with_array(file, array),
        first,
        terminal.Output(out, force, raw_cells),
        label_column,
        tuple(drop or ()),
        arguments.is_scaled(no_scale, metric),
        columns=tuple(columns or ()),
        keep=tuple(keep or ()),
        weights=arguments.weights_of(weight or ()),
        seed=arguments.check_seed(seed),
        method=method,
        settings=arguments.settings_of(neighbors, geometry, metric, components, representatives),
    )
    numbers = exploring.numbers_asked(first, last)
    return exploring.run_explore(options, numbers, terminal.Terminal(json, quiet))


@_command("report", "dogc report customers/model.skops --out customers.html")
def report(
    model: Model,
    out: Annotated[Path, typer.Option(metavar="FILE", help="HTML file to write.")] = Path(
        "report.html"
    ),
    force: Force = False,
    quiet: Quiet = False,
) -> int:
    """Write the report of a model again."""
    from . import terminal

    return terminal.report(model, terminal.Output(out, force), terminal.Terminal(False, quiet))


@_command("info", "dogc info customers/model.skops")
def info(model: Model, json: Json = False) -> int:
    """Show the contents of a model file."""
    from . import terminal

    return terminal.info(model, terminal.Terminal(json, False))


@_command("datasets", "dogc datasets wine --out wine.csv")
def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One of them, to write as CSV.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for it; NAME.csv, if not named.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """List the bundled data sets, or write one of them as a CSV file."""
    from . import terminal

    return terminal.datasets(name, out, force, terminal.Terminal(json, False))


@_command("paper", "dogc paper tables --quick")
def paper() -> int:
    """Reproduce the paper's tables and figures; see dogc paper --help."""
    raise AssertionError("dogc.app.cli hands this over")  # listed here for --help
