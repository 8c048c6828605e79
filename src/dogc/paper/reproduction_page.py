"""The files of the tables, and what is shown of them: one HTML page, text, the documentation.

On the page every number stands beside the printed one.
"""

from __future__ import annotations

import base64
import html
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._atomic import turn_in, write_whole
from .._policy import policy
from ..datasets import UCI_NAMES
from . import departures, printed
from .printed import OURS
from .runs import NO_SEED
from .tables import OF_ALL_ROWS, OF_HALVES, Row

FILES = {"main.csv": OF_ALL_ROWS, "ablation.csv": OF_ALL_ROWS, "out-of-sample.csv": OF_HALVES,
         "departures.csv": departures.COLUMNS}  # fmt: skip
NAMES = ["data", "method", "units", "metric", "part", "variant"]  # of a row
TEXTS = {*NAMES, "doubt", "oracle_start", "oracle_preprocessing", "oracle_setting", "extent",
         "version", "oracle_command", "honest_command"}  # fmt: skip
NEAR = 0.005  # numbers within this are the same

STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #888; --good: #2a7d46; --bad: #b3541e; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
.text { color: var(--dim); white-space: normal; display: block; min-width: 18rem; }
th:last-child, td:last-child { text-align: left; }
.good { color: var(--good); } .bad { color: var(--bad); }
img { max-width: 100%; background: #fff; border-radius: 4px; }
h2 { margin-top: 2.5rem; } p.note { color: var(--dim); max-width: 48rem; }
"""

INTRODUCTION = """Three columns, never mixed. <b>Printed</b>: the paper's number, the best of 100
runs chosen by ground truth; a dagger marks entries that cannot be right, with the reason at hand.
<b>Oracle</b>: the paper's protocol here, the best over settings, preprocessings and random starts,
chosen by ground truth; beside it the share of seeds that reach it at that setting and their median.
For DOGC and its kin it stands twice: with penalties in the paper's units, and in the relative
units of this library. The last column is the command that runs it again. <b>Honest</b>: what a
user gets at the defaults on z-scored data, the median over seeds and in brackets the quartiles;
point at it for its command. <b>k-means</b> at its defaults (median over seeds) stands beside both, on the preprocessing
of each."""


# ----------------------------------------------------------------------------------- the files


def add_rows(path: pathlib.Path, rows: Sequence[Row]) -> int:
    """Write rows beside those that are there; what is there stays where it is fuller.

    The paper's data sets stand in order, the synthetic ones after them. Returns how many of the
    rows were not written, as the file has fuller ones.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with turn_in(path.parent):  # so that two commands on one folder keep each other's rows
        there = read_rows(path).to_dict("records") if path.exists() else []
        merged = {_name(row): row for row in there}
        new = [row for row in rows if _extent(row) >= _extent(merged.get(_name(row), {}))]
        merged |= {_name(row): row for row in new}
        order = {name: place for place, name in enumerate(UCI_NAMES)}
        ordered = sorted(merged.values(), key=lambda row: order.get(row["data"], len(order)))
        write_csv(path, ordered)
    return len(rows) - len(new)


def write_csv(path: pathlib.Path, rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    """Write a table, numbers with four digits."""
    table = pd.DataFrame(rows)
    write_whole(path, table.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
    return table


def read_rows(path: pathlib.Path) -> pd.DataFrame:
    """The rows of a file that `add_rows` wrote; a file of another kind is refused."""
    columns = FILES[path.name]
    numbers = {name: float for name in columns if name not in {*TEXTS, "seeds", "oracle_tried"}}
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values={"printed": [""]})
        if list(table) != columns:
            raise ValueError("other columns")
        return table.astype(numbers)
    except ValueError as error:
        raise ValueError(
            f"{path} is not a whole table of this version of dogc; name another --out, or "
            "move that file away"
        ) from error


def _name(row: Row) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in NAMES)


def _extent(row: Row) -> tuple[bool, int]:
    """A row is the fuller the more runs it is of, whatever code they were of: the row says it."""
    return row.get("extent") == "full", row.get("seeds", 0)


# ---------------------------------------------------------------------------------- the claims


def score_table(path: pathlib.Path, column: str, **where: str) -> pd.DataFrame:
    """One column of a file, in the paper's units: a line for each data set, methods across."""
    rows = read_rows(path)
    if "units" in rows:
        rows = rows[rows.units.isin(["", "paper"])]
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows.pivot(index="data", columns="method", values=column).loc[rows.data.unique()]


def lead(
    scores: pd.DataFrame, ours: Sequence[str], others: Sequence[str] | None = None
) -> pd.Series:
    """By how much the best of ours leads the best of the others (by default: all others)."""
    rest = scores.drop(columns=list(ours)) if others is None else scores[others]
    return scores[list(ours)].max(axis=1) - rest.max(axis=1)


def where_it_holds(leads: pd.Series) -> str:
    """On how many data sets a claim holds, where by a tie only, and where it does not."""
    text = f"{np.sum(leads >= 0)} of {len(leads)}"
    for words, there in ((", by a tie on ", leads == 0), (", not on ", leads < 0)):
        text += words + ", ".join(leads.index[there]) if there.any() else ""
    return text


def claims(folder: pathlib.Path) -> list[dict[str, str]]:
    """The orderings that the paper claims, counted in both of our columns; a tie holds."""
    found = []
    for column, name in (("oracle", "oracle"), ("honest", "honest_median")):
        main = score_table(folder / "main.csv", name, metric="acc")
        ablation = score_table(folder / "ablation.csv", name, metric="acc")
        halves = score_table(folder / "out-of-sample.csv", name, part="test")
        leads = {
            "DOGC or DOGC-OS has the best ACC of the ten methods": lead(main, OURS),
            "DOGC-OS is not below DOGC-I": lead(ablation, OURS[1:], ["DOGC-I"]),
            "DOGC-OS is not below DOGC-II": lead(ablation, OURS[1:], ["DOGC-II"]),
            "DOGC-OS has the best ACC on test rows": lead(halves, OURS[1:]),
        }
        found += [
            {"claim": text, "column": column, "holds on": where_it_holds(by)}
            for text, by in leads.items()
        ]
    return found


def complete(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether every method is there on every data set of every table, by file name."""
    wanted = {
        "main.csv": (UCI_NAMES, printed.MAIN_METHODS),
        "ablation.csv": (printed.FIVE, printed.ABLATIONS),
        "out-of-sample.csv": (printed.FIVE, printed.OUT_OF_SAMPLE_METHODS),
    }
    return wanted.keys() <= tables.keys() and all(
        pd.MultiIndex.from_product(names)
        .isin(tables[file].set_index(["data", "method"]).index)
        .all()
        for file, names in wanted.items()
    )


# ------------------------------------------------------------------------------------ the page

# Of any of the files, and of the claims: columns that are shown, in order.
ON_PAGE = {
    "data": "data", "method": "method", "units": "units", "part": "part", "variant": "algorithm",
    "printed": "printed", "oracle": "oracle", "reached": "seeds that reach it",
    "oracle_median": "median of seeds", "honest": "honest", "oracle_kmeans": "k-means as oracle",
    "kmeans": "k-means as honest", "oracle_tried": "runs tried", "command": "the oracle again",
    "acc_median": "ACC, median", "acc_q1": "lower quartile", "acc_q3": "upper quartile",
    "acc_best": "best", "exact": "exact", "empty": "empty", "rose": "rose", "seconds": "seconds",
    "claim": "claim", "column": "column", "holds on": "holds on",
}  # fmt: skip
NUMBERS: dict[str, Any] = {
    "float_format": "{:.4f}".format,
    "na_rep": "-",
    "formatters": dict.fromkeys(["exact", "rose"], "{:.0%}".format),
}


def section(title: str, rows: pd.DataFrame, note: str = "") -> str:
    """A table of the page."""
    table = with_reached(rows)
    if "oracle" in rows:
        table = table.assign(**pd.DataFrame(map(_cells, rows.itertuples()), index=rows.index))
    table = table[[name for name in ON_PAGE if name in table]].rename(columns=ON_PAGE)
    cells = table.to_html(index=False, escape=False, border=0, **NUMBERS)
    return f"<h2>{html.escape(title)}</h2><p class='note'>{note}</p><div class='wide'>{cells}</div>"


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
        "command": cell(row.oracle_command, "text"),
    }


def figure_section(name: str, path: pathlib.Path, caption: str) -> str:
    """A figure, inside the page."""
    data = base64.b64encode(path.read_bytes()).decode()
    alt = html.escape(caption, quote=True)
    return (
        f"<h2>{html.escape(name)}</h2><p class='note'>{html.escape(caption)}</p>"
        f"<img alt='{alt}' src='data:image/png;base64,{data}'>"
    )


def page(sections: Sequence[str], facts: str) -> str:
    """The whole page."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy(STYLE)}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Discrete Optimal Graph Clustering, reproduced</title><style>{STYLE}</style></head>"
        f"<body><h1>Discrete Optimal Graph Clustering, reproduced</h1><p>{INTRODUCTION}</p>"
        f"<p class='note'>{html.escape(facts)}</p>{''.join(sections)}</body></html>"
    )


# ------------------------------------------------------------------------------- text, Markdown

THREE = "{:.3f}".format  # digits
IN_TERMINAL = {"printed": "printed", "oracle": "oracle", "reached": "reached by",
               "honest_median": "honest", "kmeans": "k-means", "acc_median": "ACC",
               "acc_best": "best", "exact": "exact", "rose": "rose"}  # fmt: skip


def text_table(rows: Sequence[Row]) -> str:
    """Rows of any of the files for a terminal; of the measures ACC alone."""
    table = with_reached(pd.DataFrame(rows))
    if "metric" in table:
        table = table[table.metric == "acc"]
    names = table[[name for name in NAMES if name in table and name != "metric"]]
    table.index = pd.Index([" ".join(filter(None, name)) for name in names.itertuples(index=False)])
    shown = table[[name for name in IN_TERMINAL if name in table]]
    return shown.rename(columns=IN_TERMINAL).to_string(**NUMBERS)


def with_reached(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with a column that says how many seeds reach the oracle's score, where they have one."""
    if "oracle_start" not in rows:
        return rows
    shares = rows.oracle_share.map("{:.0%}".format)
    return rows.assign(reached=shares.where(rows.oracle_start != NO_SEED, "deterministic"))


def markdown_table(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    rows = [list(table), ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def accuracy(folder: pathlib.Path) -> str:
    """ACC of the better of DOGC and DOGC-OS on every data set."""
    rows = with_reached(read_rows(folder / "main.csv"))
    rows = rows[(rows.metric == "acc") & rows.method.isin(OURS)]
    best = rows.loc[rows.groupby(["units", "data"], sort=False).oracle.idxmax()].set_index("data")
    paper, relative = (best[best.units == units] for units in ("paper", "relative"))
    of_both = rows.groupby("data", sort=False)[["printed", "honest_median"]].max()
    chance = ", median " + paper.oracle_median.map(THREE)
    table = pd.DataFrame({
        "data": paper.index,
        "printed": of_both.printed.map(THREE),
        "oracle, paper's units": paper.oracle.map(THREE),
        "by": paper.method,
        "seeds that reach it": paper.reached + chance.where(paper.oracle_start != NO_SEED, ""),
        "oracle, relative units": relative.oracle.map(THREE),
        "honest": of_both.honest_median.map(THREE),
        "k-means, honest": paper.kmeans.map(THREE),
        "printed reached": np.where(paper.oracle >= of_both.printed - NEAR, "yes", "no"),
    })  # fmt: skip
    return markdown_table(table)


def new_rows(folder: pathlib.Path) -> str:
    """Test ACC of DOGC-OS and of the best of the others."""
    rows = read_rows(folder / "out-of-sample.csv")
    rows = rows[rows.part == "test"]
    is_ours = rows.method == OURS[1]
    best = rows.loc[rows[~is_ours].groupby("data", sort=False).oracle.idxmax()]
    table = rows[is_ours][["data", "printed", "oracle", "honest_median"]].set_axis(
        ["data", "printed", "oracle", "honest"], axis="columns"
    )
    others = [f"{row.oracle:.3f} ({row.method})" for row in best.itertuples()]
    table["best of the others, oracle"] = others
    return markdown_table(
        table.map(lambda value: value if isinstance(value, str) else THREE(value))
    )


def departures_by_line(folder: pathlib.Path) -> str:
    """Three tables: each method by departure, and the data sets."""
    rows = read_rows(folder / "departures.csv")
    printed = rows[rows.variant == departures.PRINTED].set_index(["data", "method"]).acc_median
    change = rows.acc_median - rows.set_index(["data", "method"]).index.map(printed)
    rows = rows.assign(change=change, better=change > NEAR, worse=change < -NEAR,
                       spread=rows.acc_q3 - rows.acc_q1)  # fmt: skip
    parts = []
    for method, found in rows.groupby("method", sort=False):
        lines = found.groupby("variant", sort=False)
        mean, count = lines.mean(numeric_only=True), lines[["better", "worse"]].sum()
        counts = count.better.map(str) + " / " + count.worse.map(str)
        departed = mean.index != departures.PRINTED
        parts.append(pd.DataFrame({
            method: mean.index,
            "ACC": mean.acc_median.map(THREE),
            "change": mean.change.map("{:+.3f}".format).where(departed, ""),
            "better / worse": counts.where(departed, ""),
            "spread": mean.spread.map(THREE),
            "exact": mean.exact.map("{:.0%}".format),
            "empty": mean["empty"].map("{:.2f}".format),
            "rose": mean.rose.map("{:.0%}".format),
        }))  # fmt: skip
    rows = rows[rows.variant.isin(departures.OUTLINE)]
    quartiles = " [" + rows.acc_q1.map(THREE) + ", " + rows.acc_q3.map(THREE) + "]"
    cells = rows.acc_median.map(THREE) + quartiles.where(rows.spread > 5e-4, "")
    named = rows.assign(cells=cells, name=rows.method + ", " + rows.variant)
    by_data = named.pivot(index="data", columns="name", values="cells")
    by_data = by_data.loc[rows.data.unique(), named.name.unique()]
    by_data.insert(0, "ACC", by_data.index.str.split().str[0])
    parts.append(by_data)
    return "\n\n".join(map(markdown_table, parts))


END = "<!-- end of table -->"
# By the name that stands in the page: <!-- table: accuracy -->
SUMMARIES: Mapping[str, Callable[[pathlib.Path], str]] = {
    "accuracy": accuracy,
    "claims": lambda folder: markdown_table(pd.DataFrame(claims(folder))),
    "new rows": new_rows,
    "departures": departures_by_line,
}


def filled(page: str, folder: pathlib.Path) -> str:
    """A page with every table between its marks made anew."""
    for name, make in SUMMARIES.items():
        start = f"<!-- table: {name} -->\n"
        if start in page:
            before, rest = page.split(start)
            page = f"{before}{start}{make(folder)}\n{rest[rest.index(END) :]}"
    return page
