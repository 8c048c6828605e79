"""``dogc paper tables``, ``figures``, ``departures`` and ``run``."""

from __future__ import annotations

import argparse
import ast
import itertools
import pathlib
import platform
import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .._atomic import check_writable, write_whole
from .._extras import needed
from .._stopping import leave_in_order
from ..comparison import METHODS
from ..datasets import UCI_NAMES
from . import departures, printed
from . import reproduction_page as pages
from .figures import FIGURES
from .protocol import PREPROCESSINGS, make_model, rows_and_classes
from .runs import Results, Run, code_version, execute, in_parallel, make_run, versions
from .tables import Row, known_rows, main_table, out_of_sample_table

HEADINGS = {"main.csv": "", "ablation.csv": "Ablation: ", "out-of-sample.csv": "On halves: "}
# A table of --only -> the file that it is in, and its methods.
TABLES = {
    **dict.fromkeys(("acc", "nmi", "purity"), ("main.csv", printed.MAIN_METHODS)),
    "ablation": ("ablation.csv", printed.ABLATIONS),
    "out-of-sample": ("out-of-sample.csv", printed.OUT_OF_SAMPLE_METHODS),
}
TABLE_METHODS = tuple(dict.fromkeys(name for _, methods in TABLES.values() for name in methods))
# What each command can be restricted to.
SEVERAL: dict[str, dict[str, Any]] = {
    "tables": {"only": TABLES, "datasets": UCI_NAMES, "methods": TABLE_METHODS},
    "figures": {"only": FIGURES},
    "departures": {"datasets": departures.DATA},
}
MEASURES = {"acc": "ACC", "nmi_max": "NMI (max)", "nmi_geometric": "NMI (root)", "ari": "ARI"}
MEASURES |= {"train_acc": "ACC, first half", "test_acc": "ACC, second half"}


def parser() -> argparse.ArgumentParser:
    """The arguments of the commands."""
    about = "The paper's tables and figures, beside the printed numbers."
    tool = argparse.ArgumentParser(prog="dogc paper", description=about)
    commands = tool.add_subparsers(dest="what", required=True)
    several: Any = {"nargs": "+", "action": "extend"}
    for name, options in SEVERAL.items():
        about = "the effect of each departure" if name == "departures" else f"the {name}"
        part = commands.add_parser(name, help=about)
        part.add_argument("--runs", type=positive, default=10 if name == "departures" else 100,
                          help="tables: seeds of a setting (100); departures: starts (10); "
                          "figures: draws of data (100, Gaussians at most 30) or, on Vote and "
                          "Ecoli, starts (at most 10)")  # fmt: skip
        part.add_argument("--quick", action="store_true", help="a first look: few settings, seeds")
        part.add_argument("--out", type=pathlib.Path, default="paper-output", help="its folder")
        part.add_argument("--quiet", action="store_true", help="no progress bar")
        if name == "tables":
            part.add_argument("--known", action="store_true", help="no search: rows of --out again")
            part.add_argument("--estimator", **several, dest="methods", metavar="MODULE:CLASS",
                              help="own clusterers; alone unless --methods")  # fmt: skip
            part.add_argument("--data", **several, dest="datasets", metavar="FILE.csv",
                              help="own tables, class last; alone unless --datasets")  # fmt: skip
        for option, values in options.items():
            part.add_argument(f"--{option}", **several, metavar="NAME", choices=list(values),
                              help=f"some of {', '.join(values)} (all)")  # fmt: skip

    run = commands.add_parser("run", help="print the scores of one run again")
    run.add_argument("data", metavar="DATA", help=f"{', '.join(UCI_NAMES)}, FILE.csv")
    run.add_argument("method", metavar="METHOD", help=f"{', '.join(METHODS)}, MODULE:CLASS")
    run.add_argument("--preprocessing", choices=PREPROCESSINGS, default="z-score", metavar="NAME",
                     help=f"{', '.join(PREPROCESSINGS)} (z-score)")  # fmt: skip
    run.add_argument("--set", nargs="+", type=parameter, default=[], metavar="NAME=VALUE",
                     help="parameters of the estimator, as in alpha=0.01 xi=row")  # fmt: skip
    many = run.add_mutually_exclusive_group()
    many.add_argument("--seeds", type=positive, default=1, help="runs: random_state 0, 1, ...")
    many.add_argument("--splits", type=positive, help="ACC on halves of the rows, that many times")
    for part in commands.choices.values():
        part.add_argument("--jobs", type=int, default=-1, help="processes (one for each core)")
    return tool


def positive(text: str) -> int:
    """A number of runs."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def parameter(text: str) -> tuple[str, Any]:
    """A parameter from ``name=value``; a value is what Python reads in it, or a word.

    Examples
    --------
    >>> parameter("alpha=0.01"), parameter("xi=row"), parameter("n_components=None")
    (('alpha', 0.01), ('xi', 'row'), ('n_components', None))
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"{text}: write name=value, as in alpha=0.01")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def main(arguments: Sequence[str]) -> None:
    """Run a command."""
    tool = parser()
    options = tool.parse_args(arguments)
    try:
        if options.jobs == 0:
            raise ValueError("--jobs must be a number of processes, or -1 for one for each core")
        if options.what == "run":
            print(run_text(run_again(options)))
            return
        _check(options)
    except (ValueError, OSError, ImportError) as error:
        tool.error(" ".join(str(error).split()))
    n_runs = min(options.runs, 3) if options.quick else options.runs
    path = options.out / "runs.jsonl"  # every run is remembered there
    results = Results(path, n_runs, options.jobs, options.quick, options.quiet)
    facts = f"Last command: dogc paper {' '.join(arguments)} ({n_runs} seeds). "
    facts += f"Python {platform.python_version()}, {versions()}."
    make = {"tables": make_tables, "figures": make_figures, "departures": make_departures}
    leave_in_order()
    try:
        sections = make[options.what](options, results)
        written = write_whole(options.out / f"{options.what}.html", pages.page(sections, facts))
    except KeyboardInterrupt:
        tool.exit(
            130, f"\ninterrupted; finished runs are in {options.out}, run it again to continue\n"
        )
    except OSError as error:
        tool.exit(2, f"\ndogc paper: {error} What is done is kept in {options.out}.\n")
    print(f"wrote {written}")


def _check(options: Any) -> None:
    """Refuse what cannot be done, before anything is run; what was not named is all there is."""
    for name, values in SEVERAL[options.what].items():
        setattr(options, name, getattr(options, name) or list(values))
    for method in getattr(options, "methods", []):
        make_model(method, 2)
    for data in getattr(options, "datasets", []):
        rows_and_classes(data, "z-score")
    if options.what == "figures":
        needed("matplotlib", "a figure")
    check_writable(options.out, options.out)
    for name in pages.FILES:
        if (options.out / name).exists():
            pages.read_rows(options.out / name)


# ------------------------------------------------------------------------- sections of the page


def make_tables(options: Any, results: Results) -> list[str]:
    """The sections of the page of tables; CSV files on the way."""
    out, five = options.out, [name for name in options.datasets if name in printed.FIVE]
    for name, of_paper in dict(TABLES[part] for part in options.only).items():
        methods = [method for method in of_paper if method in options.methods]
        if name == "main.csv":
            methods += [method for method in options.methods if method not in TABLE_METHODS]
        if options.known:
            rows = pages.read_rows(out / name)
            named = rows.data.isin(options.datasets) & rows.method.isin(methods)
            _add(out / name, list(known_rows(results, rows[named], runs_again)))
        elif name == "out-of-sample.csv":
            splits = 3 if options.quick else 20
            _add(out / name, out_of_sample_table(results, five, methods, splits))
        else:
            datasets = five if name == "ablation.csv" else options.datasets
            _add(out / name, main_table(results, datasets, methods))
    return sections_of(out)


def _add(path: pathlib.Path, rows: list[Row]) -> None:
    if not rows:
        print(f"{path.name} has no row of the data sets and methods that were named")
        return
    print(pages.text_table(rows))
    kept = pages.add_rows(path, rows)
    print(f"wrote {path}" + (f" (kept {kept} rows of a fuller run)" if kept else ""))


def sections_of(out: pathlib.Path) -> list[str]:
    """The page of all tables in a folder, and the paper's claims once all are whole."""
    rows = {name: pages.read_rows(out / name) for name in HEADINGS if (out / name).exists()}
    sections, claims = [], pages.claims(out)
    if len(claims):
        print(claims.to_string(index=False, header=False))
        sections.append(pages.section("What the paper claims (a tie holds)", claims))
    for name, table in rows.items():
        measures = table.get("metric", pd.Series("acc", table.index))
        for metric, found in table.groupby(measures, sort=False):
            title = HEADINGS[name] + MEASURES.get(str(metric), str(metric))
            sections.append(pages.section(title, found))
    return sections


def make_departures(options: Any, results: Results) -> list[str]:
    """The sections of the page of departures; a CSV file that grows by each data set."""
    path = options.out / "departures.csv"
    for data in options.datasets:
        there = pages.read_rows(path) if path.exists() else pd.DataFrame(columns=departures.COLUMNS)
        known = there[(there.data == data) & (there.version == code_version())]
        if not (known[known.variant == departures.PRINTED].seeds >= results.n_runs).any():
            _add(path, departures.departures_table(data, results))
    return [pages.section("The effect of each departure", pages.read_rows(path))]


def make_figures(options: Any, results: Results) -> list[str]:
    """The sections of the page of figures; PNG files on the way."""
    sections = []
    for name in options.only:
        figure = FIGURES[name](results, options.out / f"{name}.csv")
        path = pages.write_figure(figure, options.out / f"{name}.png")
        print(f"wrote {path}")
        sections.append(pages.figure_section(name, path, FIGURES[name].__doc__ or ""))
    return sections


# ------------------------------------------------------------------------------------- one run


def runs_of(options: Any) -> list[Run]:
    """The runs that ``dogc paper run`` names."""
    settings = [dict(options.set)]
    splits = range(options.splits) if options.splits else [None]
    if options.seeds > 1:
        settings = [settings[0] | {"random_state": seed} for seed in range(options.seeds)]
    return [
        make_run(options.method, options.data, setting, options.preprocessing, split)
        for setting, split in itertools.product(settings, splits)
    ]


def runs_again(words: str) -> list[Run]:
    """The runs of a command that a table names."""
    return runs_of(parser().parse_args(shlex.split(words)[2:]))


def run_again(options: Any) -> pd.DataFrame:
    """The scores of ``dogc paper run``, a line for each run; none of them is remembered."""
    runs = runs_of(options)
    jobs = options.jobs if len(runs) > 1 else 1
    scores = pd.DataFrame(in_parallel(execute, [(run,) for run in runs], jobs))
    if "error" in scores:
        raise ValueError(scores.error.dropna().iloc[0])
    return scores.drop(columns=["seconds", "changed"], errors="ignore").rename(columns=MEASURES)


def run_text(scores: pd.DataFrame) -> str:
    """One line a measure: the value, or median, quartiles, best and the share that reaches it."""
    q1, median, q3, best = (scores.quantile(share) for share in (0.25, 0.5, 0.75, 1.0))
    table = pd.DataFrame({"median": median, "quartile": q1, "quartile ": q3, "best": best})
    if len(scores) == 1:
        return table[["best"]].to_string(header=False, float_format="{:.4f}".format)
    table["reached by"] = (scores >= best - 1e-12).mean().map("{:.0%}".format)
    return f"{len(scores)} runs\n" + table.to_string(float_format="{:.4f}".format)
