"""The page: a template, a style and a script from this folder, and the summary inside."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from ..._policy import policy

VERSION = 1  # of what a summary holds
# The scripts of a page are one program; the order is that of their definitions.
REPORT = ("clusters", "truth", "scatter", "features", "counts", "graph", "history", "data", "main")
COMPARE = ("compare",)
EXPLORE = ("counts", "explore")


def is_summary(value: Any) -> bool:
    """Whether this is a summary that the page can show.

    Examples
    --------
    >>> is_summary({"source": "a.csv"})
    False
    """
    return isinstance(value, dict) and value.get("version") == VERSION


def render(summary: dict[str, Any]) -> str:
    """The report, with nothing to load from elsewhere.

    Parameters
    ----------
    summary : dict
        From :func:`~dogc.app.report.summarise`.

    Returns
    -------
    page : str
        HTML, to be written as UTF-8.
    """
    title = f"{summary['source']}: {summary['clusters_found']} clusters"
    return page(title, summary, REPORT)


def page(title: str, summary: dict[str, Any], scripts: Sequence[str]) -> str:
    """One page that shows what is in a summary.

    A policy in its head forbids the browser to load anything and to run any other script, so
    that nothing in the data can do harm even if it should be taken for code.
    """
    script = "\n".join(_read(f"{name}.js") for name in ("base", "sortable", *scripts, "frame"))
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    style = _read("page.css")
    parts = {
        "@title@": html.escape(title),
        "@policy@": policy(style, script),
        "@style@": style,
        "@summary@": json_in_html(summary),
        "@script@": script,
    }
    # One pass, so that a mark inside the data stays what it is.
    return re.sub("|".join(parts), lambda mark: parts[mark[0]], _read("page.html"))


def json_in_html(summary: dict[str, Any]) -> str:
    """JSON that no HTML parser can take for markup.

    Examples
    --------
    >>> json_in_html({"cell": "</script>"})
    '{"cell":"\\\\u003c/script>"}'
    """
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _read(name: str) -> str:
    return files(__package__).joinpath("template", name).read_text(encoding="utf-8")
