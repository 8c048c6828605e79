"""``dogc compare``: every method side by side, as a table and a page."""

from __future__ import annotations

import html
import pathlib
from typing import Any

import numpy as np

from ..._atomic import write_whole
from ...comparison import Comparison
from ..tables import Table
from .outputs import whole_folder

FILES = ["compare.csv", "compare.html", "labels.csv"]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem;
       max-width: 62rem; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .35rem .8rem; text-align: right; border-bottom: 1px solid #8884;
          white-space: nowrap; }}
.heat th, .heat td {{ padding: .25rem .4rem; font-size: .75rem; }}
th:first-child, td:first-child {{ text-align: left; font-weight: 600; }}
.heat td:not(:first-child) {{ color: CanvasText; }}
p, li {{ max-width: 44rem; }}
</style></head><body>
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
        title=html.escape(f"Methods side by side on {table.source}"),
        rows=len(table.frame),
        clusters=clusters,
        table=comparison._repr_html_(),
        agreement=f'<table class="heat"><tr><th></th>{head}</tr>{"".join(lines)}</table>',
        steps="".join(f"<li>{html.escape(step)}</li>" for step in steps),
    )


def _cell(value: float) -> str:
    shade = max(0.0, float(value)) * 0.45
    return f'<td style="background: rgb(37 99 168 / {shade:.2f})">{value:.2f}</td>'


def write_comparison(
    comparison: Comparison, table: Table, clusters: int, steps: list[str], folder: pathlib.Path
) -> list[pathlib.Path]:
    """Write the table, the page and the labels of every method."""
    labels = {f"cluster {name}": found for name, found in comparison.labels.items()}
    with whole_folder(folder) as draft:
        comparison.to_frame().to_csv(draft / "compare.csv", lineterminator="\n")
        page = compare_page(comparison, table, clusters, steps)
        write_whole(draft / "compare.html", page)
        table.frame.assign(**labels).to_csv(draft / "labels.csv", index=False, lineterminator="\n")
    return [folder / name for name in FILES]


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
