"""``dogc paper tables`` and ``dogc paper figures``."""

from __future__ import annotations

import argparse
import pathlib
import platform
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import sklearn

from .._atomic import write_whole
from ..datasets import UCI_NAMES
from . import printed
from .claims import claims
from .figures import FIGURES, FigureOptions
from .reproduction_page import (
    claims_section,
    figure_section,
    metric_section,
    page,
    split_section,
    where_it_holds,
    write_table,
)
from .runs import Cache
from .tables import main_table, out_of_sample_table

MEASURES = {"acc": ["acc"], "nmi": ["nmi_max", "nmi_geometric"], "purity": ["purity"]}
TITLES = {
    "acc": "ACC",
    "nmi_max": "NMI, divided by the larger entropy",
    "nmi_geometric": "NMI, divided by the root of both entropies",
    "purity": "Purity (the paper defines it and prints none)",
}
TABLES = (*MEASURES, "ablation", "out-of-sample")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    tool = argparse.ArgumentParser(
        prog="dogc paper", description="The paper's tables and figures, beside the printed numbers."
    )
    tool.add_argument("what", choices=["tables", "figures"])
    tool.add_argument("--only", nargs="+", choices=[*TABLES, *FIGURES], metavar="PART",
                      help=f"one or more of {', '.join([*TABLES, *FIGURES])}")  # fmt: skip
    tool.add_argument("--datasets", nargs="+", choices=UCI_NAMES, metavar="NAME",
                      help=f"of the tables; some of {', '.join(UCI_NAMES)} (all)")  # fmt: skip
    tool.add_argument("--runs", type=int, default=100, help="seeds of each setting (100)")
    tool.add_argument("--jobs", type=int, default=-1, help="processes (one for each core)")
    tool.add_argument("--quick", action="store_true", help="few settings and seeds: a first look")
    tool.add_argument("--out", type=pathlib.Path, default=pathlib.Path("paper-output"),
                      help="folder of what is written (paper-output)")  # fmt: skip
    tool.add_argument("--quiet", action="store_true", help="no progress bar")
    return tool


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    tool = parser()
    options = tool.parse_args(arguments)
    if options.runs < 1:
        tool.error("--runs must be at least 1")
    if options.jobs == 0:
        tool.error("--jobs must be a number of processes, or -1 for one for each core")
    wrong = set(options.only or ()) & set(FIGURES if options.what == "tables" else TABLES)
    if wrong:
        tool.error(f"--only {' '.join(sorted(wrong))}: not among the {options.what}")
    if options.what == "figures" and options.datasets:
        tool.error("--datasets picks data sets of the tables; leave it out for figures")
    said = " ".join(sys.argv[1:] if arguments is None else arguments)
    options.datasets = options.datasets or list(UCI_NAMES)
    for part in {"ablation", "out-of-sample"} & set(options.only or ()):
        if not set(options.datasets) & set(printed.FIVE):
            tool.error(f"--only {part} has {', '.join(printed.FIVE)}; name one of them")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        tool.error(f"--out {options.out}: cannot make that folder ({error.strerror}); name another")
    if options.quick:
        options.runs = min(options.runs, 3)
    cache = Cache(options.out / "runs.jsonl")
    make = make_tables if options.what == "tables" else make_figures
    try:
        sections = make(options, cache)
    except KeyboardInterrupt:
        tool.exit(
            130, f"\ninterrupted; what is done is kept in {cache.path}, run it again to go on\n"
        )
    except ImportError as error:
        tool.error(f"{error}; figures need matplotlib: pip install 'dogc[plots]'")
    facts = (
        f"Command: dogc paper {said} ({options.runs} seeds). "
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}."
    )
    print(f"wrote {write_whole(options.out / f'{options.what}.html', page(sections, facts))}")


def make_tables(options: Any, cache: Cache) -> list[str]:
    """The sections of the page of tables; CSV files on the way."""
    wanted = options.only or list(TABLES)
    common = {
        "jobs": options.jobs,
        "quick": options.quick,
        "progress": False if options.quiet else None,
    }
    sections = []
    if any(part in MEASURES for part in wanted):
        rows = main_table(cache, options.datasets, n_runs=options.runs, **common)
        print(f"wrote {write_table(options.out / 'main.csv', rows)}")
        for part in (part for part in MEASURES if part in wanted):
            sections += [metric_section(rows, m, TITLES[m]) for m in MEASURES[part]]
    five = [name for name in printed.FIVE if name in options.datasets]
    if "ablation" in wanted and five:
        rows = main_table(cache, five, printed.ABLATIONS, n_runs=options.runs, **common)
        print(f"wrote {write_table(options.out / 'ablation.csv', rows)}")
        for metric in ("acc", "nmi_max"):
            sections.append(metric_section(rows, metric, f"Ablation: {TITLES[metric]}"))
    if "out-of-sample" in wanted and five:
        halves = out_of_sample_table(cache, five, n_splits=3 if options.quick else 20, **common)
        print(f"wrote {write_table(options.out / 'out-of-sample.csv', halves)}")
        sections.append(split_section(halves))
    if not options.only and five:
        found = claims(options.out)
        for claim in found:
            print(f"{claim.column}: {claim.text}: {where_it_holds(claim)}")
        sections.insert(0, claims_section(found))
    _print_times(cache)
    return sections


def _print_times(cache: Cache) -> None:
    for method, seconds in cache.seconds.most_common():
        print(f"{method:<8} {seconds:8.1f} s of one core, all its runs so far")


def make_figures(options: Any, cache: Cache) -> list[str]:
    """The sections of the page of figures; PNG files on the way."""
    progress = False if options.quiet else None
    given = FigureOptions(cache, options.out, options.runs, options.jobs, progress)
    sections = []
    for name in options.only or FIGURES:
        path = FIGURES[name](given)
        print(f"wrote {path}")
        sections.append(figure_section(name, path, FIGURES[name].__doc__ or ""))
    return sections
