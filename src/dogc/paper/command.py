"""``dogc paper tables``, ``figures``, ``departures`` and ``run``."""

from __future__ import annotations

import argparse
import pathlib
import platform
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy
import sklearn

from .._atomic import WriteError, check_writable, write_whole
from .._extras import missing
from .._stopping import leave_in_order
from ..comparison import METHODS
from ..datasets import UCI_NAMES
from . import departures, printed
from .claims import claims, complete
from .figures import FIGURES, FigureOptions
from .protocol import PREPROCESSINGS
from .reproduction_page import (
    claims_section,
    departures_section,
    figure_section,
    metric_section,
    page,
    scores_text,
    split_section,
    split_text,
    where_it_holds,
)
from .rerun import read_setting, run_text, runs_of, scores_of
from .runs import Cache, Options, code_version, model_of
from .table_files import add_rows, read_rows
from .tables import Row, SplitRow, main_table, out_of_sample_table

MEASURES = ("acc", "nmi", "purity")
TITLES = {
    "acc": "ACC",
    "nmi_max": "NMI, divided by the larger entropy",
    "nmi_geometric": "NMI, divided by the root of both entropies",
    "purity": "Purity (the paper defines it and prints none)",
}
TABLES = (*MEASURES, "ablation", "out-of-sample")
TABLE_METHODS = tuple(dict.fromkeys(
    (*printed.MAIN_METHODS, *printed.ABLATIONS, *printed.OUT_OF_SAMPLE_METHODS)
))  # fmt: skip
FILES: dict[str, Any] = {"main.csv": Row, "ablation.csv": Row, "out-of-sample.csv": SplitRow}
ALL_FILES = FILES | {"departures.csv": departures.Row}


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    tool = argparse.ArgumentParser(
        prog="dogc paper", description="The paper's tables and figures, beside the printed numbers."
    )
    tool.add_argument("what", choices=["tables", "figures", "departures", "run"],
                      help="departures: the effect of each departure from the printed algorithm; "
                      "run: one run again (dogc paper run --help)")  # fmt: skip
    tool.add_argument("--only", nargs="+", choices=[*TABLES, *FIGURES], metavar="PART",
                      help=f"one or more of {', '.join([*TABLES, *FIGURES])}")  # fmt: skip
    tool.add_argument("--datasets", nargs="+", choices=UCI_NAMES, metavar="NAME",
                      help=f"some of {', '.join(UCI_NAMES)} (all)")  # fmt: skip
    tool.add_argument("--methods", nargs="+", choices=TABLE_METHODS, metavar="NAME",
                      help=f"of the tables; some of {', '.join(TABLE_METHODS)} (all)")  # fmt: skip
    tool.add_argument("--runs", type=int, help="seeds of each setting (100; departures: 10)")
    tool.add_argument("--jobs", type=int, default=-1, help="processes (one for each core)")
    tool.add_argument(
        "--quick",
        action="store_true",
        help="a first look: few settings and seeds, so the oracle may miss the defaults",
    )
    tool.add_argument("--out", type=pathlib.Path, default=pathlib.Path("paper-output"),
                      help="folder of what is written (paper-output)")  # fmt: skip
    tool.add_argument("--quiet", action="store_true", help="no progress bar")
    return tool


def run_parser() -> argparse.ArgumentParser:
    """The arguments of ``dogc paper run``."""
    tool = argparse.ArgumentParser(
        prog="dogc paper run", description="One run of the tables again; it prints the scores."
    )
    tool.add_argument("data", choices=UCI_NAMES, metavar="DATA", help=", ".join(UCI_NAMES))
    tool.add_argument("method", choices=METHODS, metavar="METHOD", help=", ".join(METHODS))
    tool.add_argument("--preprocessing", choices=PREPROCESSINGS, default="z-score", metavar="NAME",
                      help=f"{', '.join(PREPROCESSINGS)} (z-score)")  # fmt: skip
    tool.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE",
                      help="parameters of the estimator, as in alpha=0.01 xi=row")  # fmt: skip
    tool.add_argument("--seeds", type=int, default=1, help="random_state 0, 1, ...: that many runs")
    tool.add_argument("--splits", type=int, default=0,
                      help="ACC on halves of the rows, that many times")  # fmt: skip
    tool.add_argument("--jobs", type=int, default=-1, help="processes (one for each core)")
    return tool


def run_again(arguments: Sequence[str]) -> None:
    """``dogc paper run``: nothing is read from a cache and nothing is written."""
    tool = run_parser()
    options = tool.parse_args(arguments)
    _check_jobs(tool, options.jobs)
    if options.seeds < 1 or options.splits < 0:
        tool.error("--seeds must be at least 1, --splits at least 0")
    if options.seeds > 1 and options.splits:
        tool.error("--seeds and --splits do not go together; leave one of them out")
    try:
        setting = read_setting(options.set)
        if options.seeds > 1 and "random_state" in setting:
            tool.error("--seeds sets random_state; leave it out of --set")
        runs = runs_of(options.data, options.method, options.preprocessing, setting,
                       options.seeds, options.splits)  # fmt: skip
        model_of(runs[0])
        scores = scores_of(runs, options.jobs)
    except ValueError as error:
        tool.error(" ".join(str(error).split()))
    print(run_text(scores))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] == ["run"]:
        run_again(arguments[1:])
        return
    tool = parser()
    options = tool.parse_args(arguments)
    _check(tool, options)
    options.runs = options.runs or (10 if options.what == "departures" else 100)
    if options.quick:
        options.runs = min(options.runs, 3)
    cache = Cache(options.out / "runs.jsonl")
    make = {"tables": make_tables, "figures": make_figures, "departures": make_departures}
    facts = (
        f"Last command: dogc paper {' '.join(arguments)} ({options.runs} seeds). "
        f"dogc {code_version()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}."
    )
    kept = options.out / "departures.csv" if options.what == "departures" else cache.path
    leave_in_order()
    try:
        sections = make[options.what](options, cache)
        written = write_whole(options.out / f"{options.what}.html", page(sections, facts))
    except KeyboardInterrupt:
        tool.exit(130, f"\ninterrupted; finished runs are in {kept}, run it again to continue\n")
    except WriteError as error:
        tool.exit(2, f"\ndogc paper: {error} What is done is kept in {kept}.\n")
    print(f"wrote {written}")


def _check(tool: argparse.ArgumentParser, options: Any) -> None:
    """Refuse what cannot be done, before anything is run."""
    if options.runs is not None and options.runs < 1:
        tool.error("--runs must be at least 1")
    _check_jobs(tool, options.jobs)
    if options.what == "figures" and find_spec("matplotlib") is None:
        tool.error(missing("matplotlib", "a figure"))
    parts: dict[str, Sequence[str]] = {"tables": TABLES, "figures": tuple(FIGURES)}
    wrong = set(options.only or ()) - set(parts.get(options.what, ()))
    if wrong:
        tool.error(f"--only {' '.join(sorted(wrong))}: not among the {options.what}")
    for name, takers in (("datasets", ("tables", "departures")), ("methods", ("tables",))):
        if getattr(options, name) and options.what not in takers:
            tool.error(
                f"--{name} picks {name} of the {' and '.join(takers)}; leave it out for "
                f"{options.what}"
            )
    for part in {"ablation", "out-of-sample"} & set(options.only or ()):
        if options.datasets and not set(options.datasets) & set(printed.FIVE):
            tool.error(f"--only {part} has {', '.join(printed.FIVE)}; name one of them")
    try:
        check_writable(options.out, options.out)
        for name, row_type in ALL_FILES.items():
            if (options.out / name).exists():
                read_rows(options.out / name, row_type)
    except (ValueError, WriteError) as error:
        tool.error(str(error))


def _check_jobs(tool: argparse.ArgumentParser, jobs: int) -> None:
    if jobs == 0:
        tool.error("--jobs must be a number of processes, or -1 for one for each core")


def make_tables(options: Any, cache: Cache) -> list[str]:
    """The sections of the page of tables; CSV files on the way."""
    wanted, how = options.only or list(TABLES), _how(options)
    datasets = options.datasets or list(UCI_NAMES)
    five = [name for name in printed.FIVE if name in datasets]
    out = options.out
    if any(part in MEASURES for part in wanted):
        rows = main_table(cache, datasets, _among(printed.MAIN_METHODS, options), how)
        _add(out / "main.csv", rows, scores_text)
    if "ablation" in wanted and five:
        rows = main_table(cache, five, _among(printed.ABLATIONS, options), how)
        _add(out / "ablation.csv", rows, scores_text)
    if "out-of-sample" in wanted and five:
        methods = _among(printed.OUT_OF_SAMPLE_METHODS, options)
        halves = out_of_sample_table(cache, five, methods, 3 if options.quick else 20, how)
        _add(out / "out-of-sample.csv", halves, split_text)
    _print_times(cache)
    return sections_of(out)


def _how(options: Any) -> Options:
    return Options(options.runs, options.jobs, options.quick, False if options.quiet else None)


def _among(methods: Sequence[str], options: Any) -> list[str]:
    return [name for name in methods if name in (options.methods or methods)]


def _add(path: pathlib.Path, rows: list[Any], text: Callable[[list[Any]], str]) -> None:
    if not rows:
        return
    print(text(rows))
    merged = add_rows(path, rows)
    kept = len(set(rows) - set(merged))
    print(f"wrote {path}" + (f" (kept {kept} rows of a fuller run)" if kept else ""))


def sections_of(out: pathlib.Path) -> list[str]:
    """The page of all tables in a folder, and the paper's claims once all are whole."""
    there = {name: out / name for name in FILES if (out / name).exists()}
    rows = {name: read_rows(path, FILES[name]) for name, path in there.items()}
    sections = []
    if complete(rows):
        found = claims(out)
        for claim in found:
            print(f"{claim.column}: {claim.text}: {where_it_holds(claim)}")
        sections.append(claims_section(found))
    for metric, title in TITLES.items():
        if "main.csv" in rows:
            sections.append(metric_section(rows["main.csv"], metric, title))
    for metric in ("acc", "nmi_max"):
        if "ablation.csv" in rows:
            title = f"Ablation: {TITLES[metric]}"
            sections.append(metric_section(rows["ablation.csv"], metric, title))
    if "out-of-sample.csv" in rows:
        sections.append(split_section(rows["out-of-sample.csv"]))
    return sections


def _print_times(cache: Cache) -> None:
    for method, seconds in cache.seconds.most_common():
        print(f"{method:<8} {seconds:8.1f} s of one core, all its runs so far")


def make_departures(options: Any, cache: Cache) -> list[str]:
    """The sections of the page of departures; a CSV file that grows by each data set."""
    path = options.out / "departures.csv"
    there = read_rows(path, departures.Row) if path.exists() else []
    for data in options.datasets or departures.DATA:
        if departures.is_known(data, options.runs, there):
            continue
        rows = departures.departures_table(data, _how(options))
        _add(path, rows, departures.text)
    return [departures_section(read_rows(path, departures.Row))]


def make_figures(options: Any, cache: Cache) -> list[str]:
    """The sections of the page of figures; PNG files on the way."""
    given = FigureOptions(cache, options.out, _how(options))
    sections = []
    for name in options.only or FIGURES:
        path = FIGURES[name](given)
        print(f"wrote {path}")
        sections.append(figure_section(name, path, FIGURES[name].__doc__ or ""))
    return sections
