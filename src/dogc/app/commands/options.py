"""The options of the commands: what they are called, what they take and what the help says.

What an option takes stands behind its name in the help; one that takes nothing has nothing there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FLAG = ""
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
        help="Write cells as they are, though a spreadsheet runs them.",
    ),
]
Force = Annotated[bool, typer.Option("--force", metavar=_FLAG, help="Overwrite files that exist.")]
_KINDS = "CSV, TSV, Parquet, Feather, Excel, NPY, NPZ, ARFF, gzip of these, or - for standard input"
Array = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The array to read of a NPZ file, or the sheet of a book."),
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
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="A running Dask cluster that does the work: tcp://HOST:PORT."
    ),
]
Model = Annotated[
    Path, typer.Argument(help="A model.skops file.", metavar="MODEL", show_default=False)
]
Folder = Annotated[Path, typer.Option(metavar="DIR", help="Folder for what is written.")]
Clusters = Annotated[
    str,
    typer.Option(
        "--clusters", "-k", metavar="N|auto", help="How many clusters.", show_default=False
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="The columns to use, with commas between; may be repeated. All, if none is named.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column to use though it looks like an id; may be repeated."
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="COLUMN=NUMBER",
        help="How much a column counts, such as age=0.5; may be repeated.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A column to leave out; may be repeated."),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="A column with the truth: never used to cluster, only to score."
    ),
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
    typer.Option(
        "--method", metavar="NAME", help="A method; may be repeated. All, if none is named."
    ),
]
Neighbors = Annotated[str, typer.Option(metavar="N|auto", help="Neighbours of a row.")]
Geometry = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How columns are stretched before rows are compared: auto, given, standard or within.",
    ),
]
Metric = Annotated[
    str,
    typer.Option(metavar="NAME", help="How far rows are apart: euclidean, cosine or manhattan."),
]
Components = Annotated[
    str,
    typer.Option(
        metavar="N|auto|none", help="Dimension of the subspace that is learned; none learns none."
    ),
]
Representatives = Annotated[
    str,
    typer.Option(
        metavar="N|auto|none", help="Representatives of many rows; none makes a graph of all rows."
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
Seed = Annotated[
    int, typer.Option(metavar="N", help="Seed of the random numbers, where a method draws some.")
]
MaxTime = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Stop the fit after so many seconds."),
]
Quality = Annotated[
    bool,
    typer.Option("--quality", metavar=_FLAG, help="Add stability; takes six times as long."),
]
