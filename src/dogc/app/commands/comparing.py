"""``dogc compare``: every method side by side, as a table and a page."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from ..._policy import policy
from ...comparison import Comparison
from ..tables import Table
from .outputs import Output

FILES = ["compare.csv", "compare.html", "labels.csv"]

SHADES = 20  # of the cells of the matrix
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 62rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid #8884;
         white-space: nowrap; }
.heat th, .heat td { padding: .25rem .4rem; font-size: .75rem; }
th:first-child, td:first-child { text-align: left; font-weight: 600; }
.heat td:not(:first-child) { color: CanvasText; }
p, li { max-width: 44rem; }
""" + "".join(
    f".s{shade} {{ background: rgb(37 99 168 / {0.45 * shade / SHADES:.4f}) }}\n"
    for shade in range(SHADES + 1)
)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style></head><body>
<h1>{title}</h1>
<p>{rows:,} rows, {clusters} clusters asked for. No method saw the labels, if there are any.</p>
<div class="wide">{table}</div>
<h2>Who agrees with whom</h2>
<p>Adjusted Rand index of each two labellings: 1 is the same, 0 is what chance would give.</p>
<div class="wide">{agreement}</div>
<h2>What was done to the data</h2>
<ul>{steps}</ul>
</body></html>
"""


def compare_page(comparison: Comparison, table: Table, clusters: int, steps: list[str]) -> str:
    """The comparison as one page without scripts."""
    names = [html.escape(name) for name in comparison.succeeded]
    head = "".join(f"<th>{name}</th>" for name in names)
    lines = [
        f"<tr><td>{name}</td>{''.join(_cell(value) for value in row)}</tr>"
        for name, row in zip(names, comparison.agreement, strict=True)
    ]
    return _PAGE.format(
        policy=policy(STYLE),
        style=STYLE,
        title=html.escape(f"Methods side by side on {table.source}"),
        rows=len(table.frame),
        clusters=clusters,
        table=comparison._repr_html_(),
        agreement=f'<table class="heat"><tr><th></th>{head}</tr>{"".join(lines)}</table>',
        steps="".join(f"<li>{html.escape(step)}</li>" for step in steps),
    )


def _cell(value: float) -> str:
    # By a class: the page's policy lets no cell have a style of its own.
    return f'<td class="s{round(SHADES * max(0.0, float(value)))}">{value:.2f}</td>'


def write_comparison(
    comparison: Comparison, table: Table, clusters: int, steps: list[str], out: Output
) -> list[str]:
    """Write the table, the page and the labels of every method; what to say of cells."""
    labels = {f"cluster {name}": found for name, found in comparison.labels.items()}
    page = compare_page(comparison, table, clusters, steps)
    with out.whole_folder() as draft:
        (draft / "compare.html").write_bytes(page.encode("utf-8"))
        with out.rows_in(draft / "compare.csv") as file:
            file.write(comparison.to_frame().reset_index())
        with out.rows_in(draft / "labels.csv") as file:
            file.write(table.frame.assign(**labels))
    return file.note()


def records(comparison: Comparison) -> list[dict[str, Any]]:
    """The comparison as JSON can hold it."""
    return [
        {
            "method": row.method,
            "clusters": row.n_found,
            "seconds": round(row.seconds, 3),
            "scores": row.scores,
            "quality": {k: None if np.isnan(v) else round(v, 4) for k, v in row.quality.items()},
            "agreement": None if np.isnan(row.agreement) else round(row.agreement, 4),
            "failed": row.labels is None,
            "note": row.note,
        }
        for row in comparison
    ]
