"""The options of the commands: what they are called, what they take and what the help says.

What an option takes stands behind its name in the help; one that takes nothing has nothing there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

_FLAG = ""


class Command(TyperCommand):
    """A command whose flags, those of typer too, have nothing behind their names in the help."""

    def get_params(self, ctx: Any) -> Any:
        """All options."""
        return _bare_flags(super().get_params(ctx))


class Group(TyperGroup):
    """The same for what stands before the commands."""

    def get_params(self, ctx: Any) -> Any:
        """All options."""
        return _bare_flags(super().get_params(ctx))


def _bare_flags(found: Any) -> Any:
    for option in found:
        if getattr(option, "is_flag", False):
            option.metavar = _FLAG
    return found


Json = Annotated[
    bool,
    typer.Option("--json", metavar=_FLAG, help="Print one JSON object and nothing else."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", metavar=_FLAG, help="Print nothing but errors.")
]
RawCells = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        metavar=_FLAG,
        help="Write cells unchanged, even if a spreadsheet would run them as formulas.",
    ),
]
Force = Annotated[bool, typer.Option("--force", metavar=_FLAG, help="Overwrite files that exist.")]
_KINDS = "CSV, TSV, Parquet, Feather, Excel, NPY, NPZ, gzip of these, or - for standard input"
Array = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Array in an NPZ file, or sheet in an Excel file."),
]
File = Annotated[str, typer.Argument(help=f"{_KINDS}.", metavar="FILE", show_default=False)]
Files = Annotated[
    str,
    typer.Argument(
        help=f"{_KINDS}; or a quoted pattern, such as 'parts/*.csv'.",
        metavar="FILE",
        show_default=False,
    ),
]
Model = Annotated[
    Path, typer.Argument(help="A model.skops file.", metavar="MODEL", show_default=False)
]
Folder = Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")]
Clusters = Annotated[
    str,
    typer.Option(
        "--clusters", "-k", metavar="N|auto", help="Number of clusters.", show_default=False
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Columns to use, separated by commas (default: all). Can be repeated.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Column to use even if it looks like an id. Can be repeated."
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN=NUMBER",
        help="Weight of a column, such as age=0.5. Can be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Column to leave out. Can be repeated."),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column with the known labels; used only for scoring."),
]
NoScale = Annotated[
    bool, typer.Option("--no-scale", metavar=_FLAG, help="Leave features in their own units.")
]
Method = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="dogc, dogc-os, can, n-cut, ...: any that dogc compare lists."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", metavar="NAME", help="Method to run (default: all). Can be repeated."),
]
Neighbors = Annotated[str, typer.Option(metavar="N|auto", help="Number of neighbours of a row.")]
Geometry = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Scaling of the columns before distances are computed: auto, given, standard, "
        "within or principal.",
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Distance between rows: euclidean, manhattan, or cosine, which leaves the columns "
        "as they are.",
    ),
]
Components = Annotated[
    str,
    typer.Option(
        metavar="N|auto|none", help="Dimension of the learned subspace; none means no projection."
    ),
]
Representatives = Annotated[
    str,
    typer.Option(
        metavar="N|auto|none",
        help="Number of representatives if there are many rows; none uses a graph of all rows.",
    ),
]
Outliers = Annotated[
    bool,
    typer.Option(
        "--outliers",
        metavar=_FLAG,
        help="Give outliers the label -1 instead of that of the nearest cluster.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed, for methods that use one.")]
MaxTime = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Stop the fit after this many seconds."),
]
Quality = Annotated[
    bool,
    typer.Option("--quality", metavar=_FLAG, help="Add stability; takes six times as long."),
]
