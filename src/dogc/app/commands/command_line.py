"""The commands as people type them: arguments, what is printed, exit codes.

What a command needs is imported when it runs, so that help and a slip of the fingers are answered
at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from inspect import Parameter, Signature
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
        return int(app(list(arguments), standalone_mode=False, prog_name="dogc") or 0)
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


def _command(name: str, help: str, example: str, does: str, *options: Parameter) -> None:
    """Add a command; ``does`` is the module and function here that is called with its options."""

    def command(**given: Any) -> int:
        for package in ("rich", "pandas", "pyarrow", "skops"):
            if find_spec(package) is None:  # before anything is read that needs it later
                return fail(missing(package, "the command line"), 2)
        as_json, quiet = given.pop("json", False), given.pop("quiet", False)
        watched = sys.stderr.isatty() and not (as_json or quiet)
        if watched and given.get("file", "-") != "-":  # before what takes long to import
            print(f"reading {shown(given['file'], 200)}", file=sys.stderr, flush=True)
        from .terminal import Terminal

        module, function = does.split(".")
        try:
            leave_in_order()
            done = getattr(import_module(f".{module}", __package__), function)
            return int(done(Terminal(as_json, quiet), **given))
        except KeyboardInterrupt:
            return fail(INTERRUPTED, 130)

    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    app.command(name, cls=opt.Command, help=help, epilog=f"Example: {example}")(command)


_command(
    "demo", "Cluster half of the Wine data with DOGC-OS, label the other half, write everything.",
    "dogc demo --out demo-output", "demonstration.run_demo",
    opt.folder("demo-output"), opt.FORCE, opt.JSON, opt.QUIET,
)  # fmt: skip
_command(
    "cluster", "Cluster the rows of a file: labels, a model, a report, a record of the run.",
    "dogc cluster customers.csv --clusters auto --out customers", "terminal.cluster",
    opt.FILE, opt.CLUSTERS, opt.METHOD, opt.folder("dogc-output"), opt.ARRAY, opt.FLATTEN,
    *opt.COLUMNS, opt.SHOW, opt.NEIGHBORS, *opt.SPACE, opt.REPRESENTATIVES, opt.OUTLIERS, opt.SEED,
    opt.MAX_TIME, *opt.WRITING,
)  # fmt: skip
_command(
    "predict", "Label the rows of a file with a model: same columns by name, in any order.",
    "dogc predict customers/model.skops new.csv --out new-labels.csv", "terminal.predict",
    opt.MODEL, opt.FILE, opt.file("predicted.csv", "CSV file for rows and labels."), opt.ARRAY,
    opt.FLATTEN, *opt.WRITING,
)  # fmt: skip
_command(
    "compare", "Run every method on a file, side by side.",
    "dogc compare wine.csv --clusters 3 --label-column class", "comparing.run_compare",
    opt.FILE, opt.CLUSTERS, opt.METHODS, opt.folder("dogc-compare"), opt.ARRAY, opt.FLATTEN,
    *opt.COLUMNS, opt.NEIGHBORS, opt.REPRESENTATIVES, opt.SEED, *opt.WRITING,
)  # fmt: skip
_command(
    "explore",
    "Cluster the rows of a file at several numbers of clusters: what splits, what merges.",
    "dogc explore wine.csv --from 2 --to 8 --label-column class", "exploring.run_explore",
    opt.FILE, opt.FROM, opt.TO, opt.METHOD, opt.folder("dogc-explore"), opt.ARRAY, opt.FLATTEN,
    *opt.COLUMNS, opt.NEIGHBORS, *opt.SPACE, opt.REPRESENTATIVES, opt.SEED, *opt.WRITING,
)  # fmt: skip
_command(
    "report", "Write the report of a model again.",
    "dogc report customers/model.skops --out customers.html", "terminal.report",
    opt.MODEL, opt.file("report.html", "HTML file to write."), opt.FORCE, opt.QUIET,
)  # fmt: skip
_command(
    "info", "Show the contents of a model file.",
    "dogc info customers/model.skops", "terminal.info",
    opt.MODEL, opt.JSON,
)  # fmt: skip
_command(
    "datasets", "List the bundled data sets, or write one of them as a CSV file.",
    "dogc datasets wine --out wine.csv", "terminal.datasets",
    opt.DATASET, opt.file(None, "File for it; NAME.csv, if not named."), opt.FORCE, opt.JSON,
)  # fmt: skip
# Listed for --help; dogc.app.cli hands it over.
_command(
    "paper", "Reproduce the paper's tables and figures; see dogc paper --help.",
    "dogc paper tables --quick", "",
)  # fmt: skip


def fail(sentence: str, code: int) -> int:
    """Say why, in one sentence; the exit code."""
    print(f"dogc: {shown(sentence, LONGEST_SENTENCE)}", file=sys.stderr)
    return code


def explain(error: Exception, debug: bool) -> int:
    """Say what an error means to somebody who typed a command; the exit code."""
    from ..._atomic import WriteError
    from ...encoding import TableError
    from ..models.saving import ModelFileError
    from .arguments import with_options

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
        return fail(with_options(" ".join(str(error).split())), 2)
    return fail(f"unexpected {type(error).__name__}: {error}; DOGC_DEBUG=1 shows where.", 1)
