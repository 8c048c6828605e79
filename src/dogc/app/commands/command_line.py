"""The commands as people type them: arguments, what is printed, exit codes.

What a command needs is imported when it runs, so that help and a slip of the fingers are answered
at once. A command's options are passed on by their names: see :class:`.arguments.Asked`.
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
from ..._words import LONGEST_SENTENCE, shown
from . import options as opt

app = typer.Typer(
    name="dogc",
    cls=opt.Group,
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


_VERSION = typer.Option(
    "--version", metavar="", callback=_version, is_eager=True, help="Print the version."
)


@app.callback()
def _top(version: Annotated[bool, _VERSION] = False) -> None:
    pass


def _say_reading(options: Mapping[str, Any]) -> None:
    """Say which file is read, before the packages that take long to import."""
    file, silent = options.get("file"), options.get("quiet") or options.get("json")
    if file not in (None, "-") and not silent and sys.stderr.isatty():
        print(f"reading {shown(file, 200)}", file=sys.stderr, flush=True)


def _command(name: str, example: str) -> Callable[[Any], Any]:
    def register(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def stoppable(**options: Any) -> int:
            for package in ("rich", "pandas", "pyarrow", "skops"):
                if find_spec(package) is None:  # before anything is read that needs it later
                    return fail(missing(package, "the command line"), 2)
            _say_reading(options)
            from . import terminal  # noqa: F401, with all that takes long to import

            try:
                leave_in_order()
                return function(**options)
            except KeyboardInterrupt:
                return fail(INTERRUPTED, 130)

        return app.command(name, cls=opt.Command, epilog=f"Example: {example}")(stoppable)

    return register


@_command("demo", "dogc demo --out demo-output")
def demo(
    out: opt.Folder = Path("demo-output"),
    force: opt.Force = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Cluster half of the Wine data with DOGC-OS, label the other half, write everything."""
    from .demonstration import run_demo
    from .terminal import Output, Terminal

    return run_demo(Output(out, force), Terminal(json, quiet))


@_command("cluster", "dogc cluster customers.csv --clusters auto --out customers")
def cluster(
    file: opt.Files,
    clusters: opt.Clusters,
    method: opt.Method = "dogc-os",
    out: opt.Folder = Path("dogc-output"),
    array: opt.Array = None,
    label_column: opt.Label = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    keep: opt.Keep = None,
    weight: opt.Weights = None,
    no_scale: opt.NoScale = False,
    neighbors: opt.Neighbors = "auto",
    geometry: opt.Geometry = "auto",
    metric: opt.Metric = "euclidean",
    components: opt.Components = "auto",
    representatives: opt.Representatives = "auto",
    outliers: opt.Outliers = False,
    seed: opt.Seed = 0,
    max_time: opt.MaxTime = None,
    raw_cells: opt.RawCells = False,
    force: opt.Force = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Cluster the rows of a file: labels, a model, a report, a record of the run."""
    given = locals()
    from . import arguments, terminal

    asked = arguments.asked(given, arguments.count("--clusters", clusters))
    return terminal.cluster(asked, terminal.Terminal(json, quiet))


@_command("predict", "dogc predict customers/model.skops new.csv --out new-labels.csv")
def predict(
    model: opt.Model,
    file: opt.Files,
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV file for rows and labels.")] = Path(
        "predicted.csv"
    ),
    array: opt.Array = None,
    raw_cells: opt.RawCells = False,
    force: opt.Force = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Label the rows of a file with a model: same columns by name, in any order."""
    from . import arguments, terminal

    written = terminal.Output(out, force, raw_cells)
    file = arguments.with_array(file, array)
    return terminal.predict(model, file, written, terminal.Terminal(json, quiet))


@_command("compare", "dogc compare wine.csv --clusters 3 --label-column class")
def compare(
    file: opt.File,
    clusters: opt.Clusters,
    methods: opt.Methods = None,
    out: opt.Folder = Path("dogc-compare"),
    array: opt.Array = None,
    label_column: opt.Label = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    keep: opt.Keep = None,
    weight: opt.Weights = None,
    no_scale: opt.NoScale = False,
    neighbors: opt.Neighbors = "auto",
    representatives: opt.Representatives = "auto",
    seed: opt.Seed = 0,
    quality: opt.Quality = False,
    raw_cells: opt.RawCells = False,
    force: opt.Force = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run every method on a file, side by side."""
    given = locals()
    from . import arguments, comparing, terminal

    asked = arguments.asked(given, arguments.one_count(clusters))
    return comparing.run_compare(asked, methods, quality, terminal.Terminal(json, quiet))


_FROM = typer.Option("--from", metavar="N", help="The smallest number of clusters.")
_TO = typer.Option("--to", metavar="N", help="The largest number of clusters.")


@_command("explore", "dogc explore wine.csv --from 2 --to 8 --label-column class")
def explore(
    file: opt.File,
    first: Annotated[int, _FROM] = 2,
    last: Annotated[int, _TO] = 8,
    method: opt.Method = "dogc-os",
    out: opt.Folder = Path("dogc-explore"),
    array: opt.Array = None,
    label_column: opt.Label = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    keep: opt.Keep = None,
    weight: opt.Weights = None,
    no_scale: opt.NoScale = False,
    neighbors: opt.Neighbors = "auto",
    geometry: opt.Geometry = "auto",
    metric: opt.Metric = "euclidean",
    components: opt.Components = "auto",
    representatives: opt.Representatives = "auto",
    seed: opt.Seed = 0,
    raw_cells: opt.RawCells = False,
    force: opt.Force = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Cluster the rows of a file at several numbers of clusters: what splits, what merges."""
    given = locals()
    from . import arguments, exploring, terminal

    asked = arguments.asked(given, first)
    numbers = exploring.numbers_asked(first, last)
    return exploring.run_explore(asked, numbers, terminal.Terminal(json, quiet))


_PAGE = typer.Option(metavar="FILE", help="HTML file to write.")


@_command("report", "dogc report customers/model.skops --out customers.html")
def report(
    model: opt.Model,
    out: Annotated[Path, _PAGE] = Path("report.html"),
    force: opt.Force = False,
    quiet: opt.Quiet = False,
) -> int:
    """Write the report of a model again."""
    from . import terminal

    return terminal.report(model, terminal.Output(out, force), terminal.Terminal(False, quiet))


@_command("info", "dogc info customers/model.skops")
def info(model: opt.Model, json: opt.Json = False) -> int:
    """Show the contents of a model file."""
    from . import terminal

    return terminal.info(model, terminal.Terminal(json, False))


_NAME = typer.Argument(metavar="NAME", help="One of them, to write as CSV.")
_FILE = typer.Option(metavar="FILE", help="File for it; NAME.csv, if not named.")


@_command("datasets", "dogc datasets wine --out wine.csv")
def datasets(
    name: Annotated[str | None, _NAME] = None,
    out: Annotated[Path | None, _FILE] = None,
    force: opt.Force = False,
    json: opt.Json = False,
) -> int:
    """List the bundled data sets, or write one of them as a CSV file."""
    from . import terminal

    return terminal.datasets(name, out, force, terminal.Terminal(json, False))


@_command("paper", "dogc paper tables --quick")
def paper() -> int:
    """Reproduce the paper's tables and figures; see dogc paper --help."""
    raise AssertionError("dogc.app.cli hands this over")  # listed here for --help


def fail(sentence: str, code: int) -> int:
    """Say why, in one sentence; the exit code."""
    print(f"dogc: {shown(sentence, LONGEST_SENTENCE)}", file=sys.stderr)
    return code


def explain(error: Exception, debug: bool) -> int:
    """Say what an error means to somebody who typed a command; the exit code."""
    from ..._atomic import WriteError
    from ...encoding import TableError
    from ..models.saving import ModelFileError
    from .arguments import said_of

    if isinstance(error, TableError | ModelFileError | WriteError):
        return fail(str(error), 2)
    if debug or isinstance(error, ModuleNotFoundError):  # dogc.app.cli says what to install
        raise error
    if isinstance(error, MemoryError) and not (str(error) and type(error) is MemoryError):
        return fail("there is not enough memory; pass fewer rows.", 2)  # NumPy's words say less
    if isinstance(error, OSError) and error.strerror:  # without the number of it
        named = "" if error.filename is None else f" ('{error.filename}')"
        return fail(f"{error.strerror}{named}.", 2)
    if isinstance(error, ValueError | OSError | ImportError | MemoryError):
        return fail(said_of(error), 2)
    return fail(f"unexpected {type(error).__name__}: {error}; DOGC_DEBUG=1 shows where.", 1)
