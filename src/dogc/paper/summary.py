"""The tables of the documentation, made from the files of a full run."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import departures, printed
from .claims import claims
from .printed import OURS
from .reproduction_page import markdown_table, seeds_that_reach, where_it_holds
from .rerun import NO_SEED
from .table_files import read_rows
from .tables import Row, SplitRow

NEAR = 0.005  # a printed number within this is reached


def chance(row: Row) -> str:
    """How many seeds reach the oracle's number, and their median."""
    share = seeds_that_reach(row)
    return share if row.oracle_start == NO_SEED else f"{share}, median {row.oracle_median:.3f}"


def accuracy(folder: pathlib.Path) -> str:
    """ACC of the better of DOGC and DOGC-OS on every data set."""
    rows = [row for row in read_rows(folder / "main.csv", Row) if row.metric == "acc"]
    lines = []
    for data, values in printed.ACC.items():
        target = max(values[name] for name in OURS)
        ours = [row for row in rows if row.data == data and row.method in OURS]
        paper, relative = (_best(ours, units) for units in ("paper", "relative"))
        lines.append(
            [
                data,
                f"{target:.3f}",
                f"{paper.oracle:.3f}",
                paper.method,
                chance(paper),
                f"{relative.oracle:.3f}",
                f"{max(row.honest_median for row in ours):.3f}",
                f"{paper.kmeans:.3f}",
                "yes" if paper.oracle >= target - NEAR else "no",
            ]
        )
    header = ["data", "printed", "oracle, paper's units", "by", "seeds that reach it"]
    header += ["oracle, relative units", "honest", "k-means, honest", "printed reached"]
    return markdown_table(header, lines)


def _best(rows: Sequence[Row], units: str) -> Row:
    return max((row for row in rows if row.units == units), key=lambda row: row.oracle)


def claim_lines(folder: pathlib.Path) -> str:
    """Where the paper's orderings hold."""
    lines = [[claim.text, claim.column, where_it_holds(claim)] for claim in claims(folder)]
    return markdown_table(["claim", "column", "holds on"], lines)


def new_rows(folder: pathlib.Path) -> str:
    """Test ACC of DOGC-OS and of the best of the others."""
    rows = [r for r in read_rows(folder / "out-of-sample.csv", SplitRow) if r.part == "test"]
    lines = []
    for data in printed.FIVE:
        ours, *_ = (r for r in rows if r.data == data and r.method == OURS[1])
        others = [r for r in rows if r.data == data and r.method != OURS[1]]
        other = max(others, key=lambda row: row.oracle)
        values = (ours.printed, ours.oracle, ours.honest_median)
        best = f"{other.oracle:.3f} ({other.method})"
        lines.append([data, *(f"{value:.3f}" for value in values), best])
    return markdown_table(
        ["data", "printed", "oracle", "honest", "best of the others, oracle"], lines
    )


END = "<!-- end of table -->"
# By the name that stands in the page: <!-- table: accuracy -->
SUMMARIES: Mapping[str, Callable[[pathlib.Path], str]] = {
    "accuracy": accuracy,
    "claims": claim_lines,
    "new rows": new_rows,
    "departures": lambda folder: departures.markdown(
        read_rows(folder / "departures.csv", departures.Row)
    ),
}


def filled(page: str, folder: pathlib.Path, summaries: Mapping[str, Any] = SUMMARIES) -> str:
    """A page with every table between its marks made anew."""
    for name, make in summaries.items():
        start = f"<!-- table: {name} -->\n"
        if start in page:
            before, rest = page.split(start)
            page = f"{before}{start}{make(folder)}\n{rest[rest.index(END) :]}"
    return page
