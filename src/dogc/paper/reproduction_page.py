"""One HTML page and one table of text, in which every number stands beside the printed one."""

from __future__ import annotations

import base64
import html
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._policy import policy
from .rerun import NO_SEED

STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #888; --good: #2a7d46; --bad: #b3541e; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
td.text { text-align: left; color: var(--dim); white-space: normal; min-width: 18rem; }
th:last-child { text-align: left; }
.good { color: var(--good); } .bad { color: var(--bad); }
img { max-width: 100%; background: #fff; border-radius: 4px; }
h2 { margin-top: 2.5rem; } p.note { color: var(--dim); max-width: 48rem; }
"""

INTRODUCTION = """Three columns, never mixed. <b>Printed</b>: the paper's number, the best of 100
runs chosen by ground truth; a dagger marks entries that cannot be right, with the reason at hand.
<b>Oracle</b>: the paper's protocol here, the best over settings, preprocessings and random starts,
chosen by ground truth; beside it the share of seeds that reach it at that setting and their median.
For DOGC and its kin it stands twice: with penalties in the paper's units, and in the relative
units of this library. Point at a setting for the command that runs it again. <b>Honest</b>: what a
user gets at the defaults on z-scored data, the median over seeds (quartiles in brackets where seeds
matter). <b>k-means</b> at its defaults (median over seeds) stands beside both, on the preprocessing
of each."""


def number(value: float) -> str:
    """Four digits, or a dash."""
    return "-" if np.isnan(value) else f"{value:.4f}"


def table_html(title: str, note: str, header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A section with one table; cells are HTML already."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return (
        f"<h2>{html.escape(title)}</h2><p class='note'>{note}</p>"
        f"<div class='wide'><table><tr>{head}</tr>{body}</table></div>"
    )


def td(text: str, kind: str = "", hint: str = "") -> str:
    """One cell."""
    title = f" title='{html.escape(hint, quote=True)}'" if hint else ""
    return f"<td class='{kind}'{title}>{html.escape(text)}</td>"


def compared(value: float, printed: float) -> str:
    """A cell that says by its colour whether the printed number is reached."""
    if np.isnan(printed):
        return td(number(value))
    return td(number(value), "good" if value >= printed - 0.005 else "bad")


def metric_section(rows: Sequence[Any], metric: str, title: str) -> str:
    """One measure over all data sets and methods."""
    lines = []
    for row in rows:
        if row.metric != metric:
            continue
        spread = row.honest_q3 - row.honest_q1 > 5e-5
        usual = number(row.honest_median)
        usual += f" [{row.honest_q1:.3f}, {row.honest_q3:.3f}]" if spread else ""
        mark = "†" if row.doubt else ""
        lines.append(
            [
                td(row.data),
                td(f"{row.method} ({row.units} units)" if row.units else row.method),
                td(number(row.printed) + mark, hint=row.doubt),
                compared(row.oracle, row.printed),
                td(seeds_that_reach(row)),
                td(number(row.oracle_median)),
                td(usual, hint=row.honest_command),
                td(number(row.oracle_kmeans)),
                td(number(row.kmeans)),
                td(str(row.oracle_tried)),
                td(_chosen(row), "text", row.oracle_command),
            ]
        )
    header = ["data", "method", "printed", "oracle", "seeds that reach it", "median of seeds"]
    header += ["honest", "k-means as oracle", "k-means as honest", "runs tried"]
    return table_html(title, "", [*header, "the oracle chose"], lines)


def _chosen(row: Any) -> str:
    start = getattr(row, "oracle_start", NO_SEED)
    seed = "" if start == NO_SEED else f", {start}"
    return f"{row.oracle_preprocessing}{seed}: {row.oracle_setting}"


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def text_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table for a terminal: the first column to the left, the others to the right."""
    rows = [header, *lines]
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{first:<{width}}" + "".join(f"{c:>15}" for c in cells) for first, *cells in rows
    )


def seeds_that_reach(row: Any) -> str:
    """The share of seeds with the oracle's score."""
    return "deterministic" if row.oracle_start == NO_SEED else f"{row.oracle_share:.0%}"


def scores_text(rows: Sequence[Any], metric: str = "acc") -> str:
    """One measure as lines for a terminal."""
    lines = []
    for row in rows:
        if row.metric == metric:
            units = f" ({row.units})" if row.units else ""
            values = number(row.printed), number(row.oracle), seeds_that_reach(row)
            usual = number(row.honest_median), number(row.kmeans)
            lines.append([f"{row.data} {row.method}{units}", *values, *usual])
    return text_table([metric, "printed", "oracle", "reached by", "honest", "k-means"], lines)


def split_text(rows: Sequence[Any]) -> str:
    """The halves as lines for a terminal."""
    lines = [
        [f"{row.data} {row.method}, {row.part}", number(row.printed), number(row.oracle),
         number(row.honest_median)]
        for row in rows
    ]  # fmt: skip
    return text_table(["ACC on halves", "printed", "oracle", "honest"], lines)


def split_section(rows: Sequence[Any]) -> str:
    """Training and test halves."""
    note = (
        "DOGC-OS is fitted on one half and labels the other by its regression; the others "
        "cluster all rows together, as in the paper. Medians over the splits; the oracle "
        "chooses one setting for all of them."
    )
    lines = [
        [
            td(row.data),
            td(row.method),
            td(row.part),
            td(number(row.printed)),
            compared(row.oracle, row.printed),
            td(f"{row.honest_median:.4f} [{row.honest_q1:.3f}, {row.honest_q3:.3f}]"),
            td(_chosen(row), "text", row.oracle_command),
        ]
        for row in rows
    ]
    header = ["data", "method", "part", "printed", "oracle", "honest", "the oracle chose"]
    return table_html("Out of sample: ACC on halves", note, header, lines)


def where_it_holds(claim: Any) -> str:
    """On how many data sets a claim holds, where by a tie only, and where it does not."""
    total = len(claim.holds) + len(claim.fails)
    ties = f", by a tie on {', '.join(claim.ties)}" if claim.ties else ""
    where = f", not on {', '.join(claim.fails)}" if claim.fails else ""
    return f"{len(claim.holds)} of {total}{ties}{where}"


def claims_section(claims: Sequence[Any]) -> str:
    """What the paper claims, counted here."""
    lines = [
        [
            td(claim.text),
            td(claim.column),
            td(where_it_holds(claim), "good text" if not claim.fails else "text"),
        ]
        for claim in claims
    ]
    note = "A tie counts as holding."
    return table_html("What the paper claims", note, ["claim", "column", "holds on"], lines)


def departures_section(rows: Sequence[Any]) -> str:
    """The algorithm as printed, with one departure at a time, with all, and the library."""
    lines = [
        [
            td(row.data),
            td(row.method),
            td(row.variant),
            td(number(row.acc_median)),
            td(f"[{row.acc_q1:.3f}, {row.acc_q3:.3f}]"),
            td(number(row.acc_best)),
            td(f"{row.exact:.0%}"),
            td(f"{row.empty:.1f}"),
            td(f"{row.rose:.0%}"),
            td(f"{row.seconds:.2f}"),
        ]
        for row in rows
    ]
    note = "Exact: runs that end with exactly c components. Rose: runs whose objective ever rose."
    header = ["data", "method", "algorithm", "ACC, median", "quartiles", "best", "exact", "empty"]
    header += ["rose", "seconds"]
    return table_html("What each departure buys", note, header, lines)


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
