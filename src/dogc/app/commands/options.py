"""The options of the commands: what they are called, what they take and what the help says.

What an option takes stands behind its name in the help; one that takes nothing has nothing there.
"""

from __future__ import annotations

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


def _flag(help: str, *names: str) -> Any:
    return typer.Option(*names, metavar="", help=help)


def _value(metavar: str, help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, **more)


def _given(metavar: str, help: str) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False)


_KINDS = "CSV, TSV, Parquet, Feather, Excel, NPY, NPZ, gzip of these, or - for standard input"
_PARTS = "; or a quoted pattern, such as 'parts/*.csv'"
_SCALING = "Scaling of the columns before distances are computed: "
_UNCHANGED = "Write cells unchanged, even if a spreadsheet would run them as formulas."
_AGAIN = "Can be repeated."
Several = list[str] | None

File = Annotated[str, _given("FILE", f"{_KINDS}.")]
Files = Annotated[str, _given("FILE", f"{_KINDS}{_PARTS}.")]
Model = Annotated[Path, _given("MODEL", "A model.skops file.")]
Json = Annotated[bool, _flag("Print one JSON object and nothing else.", "--json")]
Quiet = Annotated[bool, _flag("Print nothing but errors.", "--quiet", "-q")]
RawCells = Annotated[bool, _flag(_UNCHANGED, "--raw-cells")]
Force = Annotated[bool, _flag("Overwrite files that exist.", "--force")]
NoScale = Annotated[bool, _flag("Leave features in their own units.", "--no-scale")]
Outliers = Annotated[
    bool, _flag("Give outliers the label -1 instead of that of the nearest cluster.", "--outliers")
]
Quality = Annotated[bool, _flag("Add stability; takes six times as long.", "--quality")]
Array = Annotated[str | None, _value("NAME", "Array in an NPZ file, or sheet in an Excel file.")]
Folder = Annotated[Path, _value("DIR", "Output folder.")]
Clusters = Annotated[
    str, _value("N|auto", "Number of clusters.", "--clusters", "-k", show_default=False)
]
Columns = Annotated[
    Several, _value("NAMES", f"Columns to use, separated by commas (default: all). {_AGAIN}")
]
Keep = Annotated[Several, _value("COLUMN", f"Column to use even if it looks like an id. {_AGAIN}")]
Weights = Annotated[
    Several, _value("COLUMN=NUMBER", f"Weight of a column, such as age=0.5. {_AGAIN}", "--weight")
]
Drop = Annotated[Several, _value("NAME", f"Column to leave out. {_AGAIN}")]
Label = Annotated[
    str | None, _value("NAME", "Column with the known labels; used only for scoring.")
]
Method = Annotated[
    str, _value("NAME", "dogc, dogc-os, can, n-cut, ...: any that dogc compare lists.")
]
Methods = Annotated[Several, _value("NAME", f"Method to run (default: all). {_AGAIN}", "--method")]
Neighbors = Annotated[str, _value("N|auto", "Number of neighbours of a row.")]
Geometry = Annotated[str, _value("NAME", f"{_SCALING}auto, given, standard, within or principal.")]
Metric = Annotated[
    str,
    _value("NAME", "Distance between rows: euclidean, manhattan, or cosine, which leaves the "
                   "columns as they are."),
]  # fmt: skip
Components = Annotated[
    str, _value("N|auto|none", "Dimension of the learned subspace; none means no projection.")
]
Representatives = Annotated[
    str,
    _value("N|auto|none", "Number of representatives if there are many rows; none uses a graph of "
                          "all rows."),
]  # fmt: skip
Seed = Annotated[int, _value("N", "Random seed, for methods that use one.")]
MaxTime = Annotated[float | None, _value("SECONDS", "Stop the fit after this many seconds.")]
