"""The files of tables and figures, and what is shown of them: a page, and text for a terminal.

On the page every number stands beside the printed one. Figures need matplotlib.
"""

from __future__ import annotations

import base64
import html
import io
import pathlib
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._atomic import write_whole
from .._policy import policy
from ..datasets import UCI_NAMES
from . import departures, printed
from .runs import NO_SEED, Results, Run
from .tables import OF_ALL_ROWS, OF_HALVES, Row

FILES = {"main.csv": OF_ALL_ROWS, "ablation.csv": OF_ALL_ROWS, "out-of-sample.csv": OF_HALVES,
         "departures.csv": departures.COLUMNS}  # fmt: skip
NAMES = ["data", "method", "units", "metric", "part", "variant"]  # of a row
# Columns of numbers in which one may be missing.
GAPS = dict.fromkeys(["printed", "rose", "oracle_changed"], "")
NEAR = 0.005  # numbers within this are the same
# What a line of a table begins with, and the runs that it is of.
Points = list[tuple[dict[str, Any], list[Run]]]
BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d9772b", "#3c8d5a", "#8a8a8a"

TEMPLATE = pathlib.Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
STYLE = TEMPLATE.split("<style>")[1].split("</style>")[0]


# ----------------------------------------------------------------------------------- the files


def add_rows(path: pathlib.Path, rows: Sequence[Row]) -> int:
    """Write rows beside those that are there; what is there stays where it is fuller.

    A row is the fuller the more runs it is of, whatever code they were of: the row says which. The
    paper's data sets stand in order, the synthetic ones after them. Returns how many of the rows
    were not written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = pd.DataFrame(rows)[FILES[path.name]]
    table = pd.concat([read_rows(path), new] if path.exists() else [new], ignore_index=True)
    names = [name for name in NAMES if name in table]
    table["place"] = table.groupby(names, sort=False).ngroup()
    table["known"] = table.data.map({name: i for i, name in enumerate(UCI_NAMES)})
    fullest_last = table.sort_values(["extent", "seeds"], ascending=[False, True])
    kept = fullest_last.drop_duplicates(names, keep="last").sort_values(["known", "place"])
    write_csv(path, kept[FILES[path.name]])
    return len(new) - int(np.sum(kept.index >= len(table) - len(new)))


def write_csv(path: pathlib.Path, rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    """Write a table, numbers with four digits."""
    table = pd.DataFrame(rows)
    write_whole(path, table.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
    return table


def read_rows(path: pathlib.Path) -> pd.DataFrame:
    """The rows of a file that `add_rows` wrote; a file of another kind is refused."""
    rows = pd.read_csv(path, keep_default_na=False, na_values=GAPS)
    if list(rows) != FILES[path.name]:
        raise ValueError(
            f"{path} is not a table of this version of dogc; name another --out, or move that "
            "file away"
        )
    return rows


def spread(values: Any, prefix: str = "") -> dict[str, float]:
    """Worst, median and best, under names with a prefix."""
    ends = {"worst": np.min(values), "median": np.median(values), "best": np.max(values)}
    return {prefix + name: value for name, value in ends.items()}


def write_scores(
    results: Results, path: pathlib.Path, points: Points, right: float | None = None
) -> pd.DataFrame:
    """Worst, median and best ACC and NMI of each point over its runs; written as a CSV file.

    With ``right`` also how many runs have an ACC of at least that.
    """
    results.do([run for _, runs in points for run in runs], path.stem)
    lines = []
    for point, runs in points:
        acc, nmi = (results.scores(runs, metric) for metric in ("acc", "nmi_max"))
        count = {} if right is None else {"right": np.sum(acc >= right)}
        lines.append({**point, **count, **spread(acc, "acc_"), **spread(nmi, "nmi_max_")})
    return write_csv(path, lines)


def figure_axes(n_columns: int, n_rows: int = 1, width: float = 3.4, height: float = 3.0) -> Any:
    """A figure and its axes, without a display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def write_figure(figure: Any, path: pathlib.Path) -> pathlib.Path:
    """Write a figure whole or not at all; in 256 colours, a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    Image.open(drawn).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return write_whole(path, small.getvalue())


# ---------------------------------------------------------------------------------- the claims

# Table -> its rows that count, in the paper's units; and the paper's own.
SCORES = {
    "main.csv": ("metric == 'acc' and units in ('', 'paper')", printed.ACC),
    "ablation.csv": ("metric == 'acc' and units == 'paper'", printed.ABLATION_ACC),
    "out-of-sample.csv": ("part == 'test'", printed.TEST_ACC),
}
# Sentence, table, which of ours, and the others; all others where none are named.
CLAIMS: tuple[tuple[str, str, list[str], list[str]], ...] = (
    ("DOGC or DOGC-OS has the best ACC of the ten methods", "main.csv", ["DOGC", "DOGC-OS"], []),
    ("DOGC-OS is not below DOGC-I", "ablation.csv", ["DOGC-OS"], ["DOGC-I"]),
    ("DOGC-OS is not below DOGC-II", "ablation.csv", ["DOGC-OS"], ["DOGC-II"]),
    ("DOGC-OS has the best ACC on test rows", "out-of-sample.csv", ["DOGC-OS"], []),
)


def score_table(path: pathlib.Path, column: str) -> pd.DataFrame:
    """One column of a file: a line for each of the paper's data sets, its methods across."""
    where, of_paper = SCORES[path.name]
    scores = read_rows(path).query(where).pivot(index="data", columns="method", values=column)
    names = [name for name in UCI_NAMES if name in of_paper]
    return scores.reindex(index=names, columns=list(of_paper["wine"]))


def claims(folder: pathlib.Path) -> pd.DataFrame:
    """The orderings that the paper claims, counted in both of our columns; a tie holds.

    Nothing while a method is missing on a data set of a table.
    """
    found = []
    for column, name in (("oracle", "oracle"), ("honest", "honest_median")):
        for text, file, ours, others in CLAIMS:
            there = (folder / file).exists()
            scores = score_table(folder / file, name) if there else pd.DataFrame([np.nan])
            if scores.isna().any(axis=None):
                return pd.DataFrame()
            rest = scores[others] if others else scores.drop(columns=ours)
            leads = scores[ours].max(axis=1) - rest.max(axis=1)
            found.append({"claim": text, "column": column, "holds on": where_it_holds(leads)})
    return pd.DataFrame(found)


def where_it_holds(leads: pd.Series) -> str:
    """On how many data sets a claim holds, where by a tie only, and where it does not."""
    text = f"{np.sum(leads >= 0)} of {len(leads)}"
    for words, there in ((", by a tie on ", leads == 0), (", not on ", leads < 0)):
        text += words + ", ".join(leads.index[there]) if there.any() else ""
    return text


# ------------------------------------------------------------------------------------ the page

# Columns that are not on the page, or in other words.
HIDDEN = ["metric", "doubt", "extent", "version", "seconds", "seeds", "oracle_command"]
HIDDEN += ["oracle_start", "oracle_share", "oracle_changed", "oracle_preprocessing"]
HIDDEN += ["oracle_setting", "honest_command", "honest_q1", "honest_median", "honest_q3"]
NUMBERS: dict[str, Any] = {
    "float_format": "{:.4f}".format,
    "na_rep": "-",
    "formatters": dict.fromkeys(["exact", "rose"], "{:.0%}".format),
}


def section(title: str, rows: pd.DataFrame) -> str:
    """A table of the page."""
    table = with_reached(rows)
    if "oracle" in rows:
        table = table.assign(**pd.DataFrame(map(_cells, rows.itertuples()), index=rows.index))
    table = table.drop(columns=HIDDEN, errors="ignore")
    table.columns = table.columns.str.replace("_", " ")
    cells = table.to_html(index=False, escape=False, border=0, justify="match-parent", **NUMBERS)
    # The policy forbids styles.
    cells = cells.replace(' style="text-align: match-parent;"', "").replace(">nan%<", ">-<")
    return f"<h2>{html.escape(title)}</h2><div class='wide'>{cells}</div>"


def cell(text: str, kind: str = "", hint: str = "") -> str:
    """Text with a class, and what is shown where one points at it."""
    title = f" title='{html.escape(hint, quote=True)}'" if hint else ""
    return f"<span class='{kind}'{title}>{html.escape(text)}</span>"


def _cells(row: Any) -> dict[str, str]:
    """Cells of a row of the tables that say more than its numbers do."""
    doubt = getattr(row, "doubt", "")
    printed = "-" if np.isnan(row.printed) else f"{row.printed:.4f}"
    reached = "bad" if row.oracle < row.printed - NEAR else "good" if row.printed > 0 else ""
    honest = f"{row.honest_median:.4f} [{row.honest_q1:.3f}, {row.honest_q3:.3f}]"
    return {
        "printed": cell(printed + ("†" if doubt else ""), hint=doubt),
        "oracle": cell(f"{row.oracle:.4f}", reached),
        "honest": cell(honest, hint=row.honest_command),
        "the oracle again": cell(row.oracle_command, "text"),
    }


def figure_section(name: str, path: pathlib.Path, caption: str) -> str:
    """A figure, inside the page."""
    data, caption = base64.b64encode(path.read_bytes()).decode(), html.escape(caption)
    image = f"<img alt='{caption}' src='data:image/png;base64,{data}'>"
    return f"<h2>{html.escape(name)}</h2><p class='note'>{caption}</p>{image}"


def page(sections: Sequence[str], facts: str) -> str:
    """The whole page."""
    given = {"policy": policy(STYLE), "facts": html.escape(facts), "sections": "".join(sections)}
    return string.Template(TEMPLATE).substitute(given)


# -------------------------------------------------------------------------------- the terminal

IN_TERMINAL = {"printed": "printed", "oracle": "oracle", "reached": "reached by",
               "honest_median": "honest", "kmeans": "k-means", "acc_median": "ACC",
               "acc_best": "best", "exact": "exact", "rose": "rose"}  # fmt: skip


def text_table(rows: Sequence[Row]) -> str:
    """Rows of any of the files for a terminal; of the measures ACC alone."""
    table = with_reached(pd.DataFrame(rows))
    if "metric" in table:
        table = table[table.metric == "acc"].drop(columns="metric")
    table = table.set_index([name for name in NAMES if name in table])
    shown = table[[name for name in IN_TERMINAL if name in table]]
    return shown.rename(columns=IN_TERMINAL).to_string(sparsify=False, **NUMBERS)


def with_reached(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a column that says how many seeds reach the oracle's score, where they have one.

    It also says where that score is the start's, as no label ever changed.
    """
    if "oracle_start" not in rows:
        return rows
    shares = rows.oracle_share.map("{:.0%}".format)
    reached = shares.where(rows.oracle_start != NO_SEED, "deterministic")
    return rows.assign(reached=reached + np.where(rows.oracle_changed == 0, ", as it starts", ""))
