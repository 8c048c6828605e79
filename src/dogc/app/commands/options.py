"""The options of the commands: what they are called, what they take and what the help says.

What an option takes stands behind its name in the help; one that takes nothing has nothing there.
"""

from __future__ import annotations

from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup


class _BareFlags:
    """Flags, those of typer too, have nothing behind their names in the help."""

    def get_params(self, ctx: Any) -> Any:
        """All options."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
        return found


class Command(_BareFlags, TyperCommand):
    """A command."""


class Group(_BareFlags, TyperGroup):
    """All commands, and what stands before them."""


def _parameter(name: str, kind: Any, default: Any, taken: Any) -> Parameter:
    annotation = Annotated[kind, taken]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _argument(
    name: str, kind: Any, metavar: str, help: str, default: Any = Parameter.empty
) -> Parameter:
    taken = typer.Argument(metavar=metavar, help=help, show_default=False)
    return _parameter(name, kind, default, taken)


def _flag(name: str, help: str, *short: str) -> Parameter:
    names = (f"--{name.replace('_', '-')}", *short)
    return _parameter(name, bool, False, typer.Option(*names, metavar="", help=help))


def _value(name: str, kind: Any, default: Any, metavar: str, help: str, *names: str) -> Parameter:
    return _parameter(name, kind, default, typer.Option(*names, metavar=metavar, help=help))


def _several(name: str, metavar: str, help: str, *names: str) -> Parameter:
    return _value(name, list[str] | None, None, metavar, f"{help} Can be repeated.", *names)


def folder(default: str) -> Parameter:
    """The option for the output folder of a command."""
    return _value("out", Path, Path(default), "DIR", "Output folder.")


def file(default: str | None, help: str) -> Parameter:
    """The option for the output file of a command."""
    return _value("out", Path | None, default and Path(default), "FILE", help)


FILE = _argument(
    "file", str, "FILE",
    "CSV, TSV, Parquet, Feather, Excel, NPY, NPZ, gzip of these, or - for standard input; or a "
    "quoted pattern, such as 'parts/*.csv'.",
)  # fmt: skip
MODEL = _argument("model", Path, "MODEL", "A model.skops file.")
DATASET = _argument("name", str | None, "NAME", "One of them, to write as CSV.", None)
CLUSTERS = _value("clusters", str, Parameter.empty, "N|auto", "Number of clusters.",
                  "--clusters", "-k")  # fmt: skip
FROM = _value("first", int, 2, "N", "The smallest number of clusters.", "--from")
TO = _value("last", int, 8, "N", "The largest number of clusters.", "--to")
METHOD = _value("method", str, "dogc-os", "NAME",
                "dogc, dogc-os, can, n-cut, ...: any that dogc compare lists.")  # fmt: skip
METHODS = _several("methods", "NAME", "Method to run (default: all).", "--method")
ARRAY = _value("array", str | None, None, "NAME",
               "Array in an NPZ file, or sheet in an Excel file.")  # fmt: skip
FLATTEN = _flag("flatten", "Read an array of pictures, (n, 28, 28), as one row for each.")
COLUMNS = [
    _value("label_column", str | None, None, "NAME",
           "Column with the known labels; used only for scoring."),
    _several("columns", "NAMES", "Columns to use, separated by commas (default: all)."),
    _several("drop", "NAME", "Column to leave out."),
    _several("keep", "COLUMN", "Column to use even if it is a date or looks like an id."),
    _several("weight", "COLUMN=NUMBER", "Weight of a column, such as age=0.5."),
    _value("scale", bool | None, None, "",
           "Standardise the columns, or leave them as given (default: as given if they have one "
           "unit).", "--scale/--no-scale"),
]  # fmt: skip
SHOW = _several("show", "COLUMN", "Column to show with the rows, but not to cluster by.")
NEIGHBORS = _value("neighbors", str, "auto", "N|auto", "Number of neighbours of a row.")
SPACE = [
    _value("geometry", str, "auto", "NAME",
           "Scaling of the columns before distances are computed: auto, given, standard, within or "
           "principal."),
    _value("metric", str, "euclidean", "NAME",
           "Distance between rows: euclidean, manhattan, or cosine, which leaves the columns as "
           "they are."),
    _value("components", str, "auto", "N|auto|none",
           "Dimension of the learned subspace; none means no projection."),
]  # fmt: skip
REPRESENTATIVES = _value(
    "representatives", str, "auto", "N|auto|none",
    "Number of representatives if there are many rows; none uses a graph of all rows.",
)  # fmt: skip
OUTLIERS = _flag("outliers", "Give outliers the label -1 instead of that of the nearest cluster.")
SEED = _value("seed", int, 0, "N", "Random seed, for methods that use one.")
MAX_TIME = _value("max_time", float | None, None, "SECONDS",
                  "Stop the fit after this many seconds.")  # fmt: skip
FORCE = _flag("force", "Overwrite files that exist.")
JSON = _flag("json", "Print one JSON object and nothing else.")
QUIET = _flag("quiet", "Print nothing but errors.", "-q")
WRITING = [
    _flag("raw_cells", "Write cells unchanged, even if a spreadsheet would run them as formulas."),
    FORCE,
    JSON,
    QUIET,
]
