"""The page: a template, a style and a script from this folder, and the summary inside."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from ..._policy import policy

VERSION = 4  # of what a summary holds
# The scripts of a page are one program; the order is that of their definitions.
REPORT = ("clusters", "truth", "scatter", "exemplars", "features", "counts", "graph", "history",
          "data", "main")  # fmt: skip
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
    c = summary["clusters_found"]
    title = f"{summary['source']}: {c} cluster{'s' * (c != 1)}"
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


# Beyond these a browser's numbers are no longer exact.
LARGEST_INTEGER = 2**53


def short(text: Any, most: int = 40) -> str:
    """Text of at most so many characters, without halves of characters.

    Examples
    --------
    >>> short("a long story", 7)
    'a long…'
    """
    whole = str(text)
    cut = whole if len(whole) <= most else whole[: most - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")


def digits(value: Any, significant: int = 4) -> float | None:
    """A number with so many significant digits; None if it is not finite.

    Examples
    --------
    >>> digits(3.14159), digits(float("nan"))
    (3.142, None)
    """
    number = float(value)
    return float(f"{number:.{significant - 1}e}") if math.isfinite(number) else None


def cell(value: Any, most: int = 40) -> Any:
    """A cell of a table: a number, a short text, or None where it is missing.

    Examples
    --------
    >>> cell(2.0), cell("<b>"), cell(float("nan")), cell(" "), cell(2**60)
    (2, '<b>', None, None, '1152921504606846976')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or str(value).strip() in ("", "<NA>") or value != value:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) <= LARGEST_INTEGER and value == int(value):
            return int(value)
        if isinstance(value, float) and math.isfinite(value):
            return digits(value, 6)
    return short(str(value).removesuffix(" 00:00:00"), most)  # of a day


def as_json(value: Any) -> Any:
    """Anything as JSON can hold it; what is not finite is missing, the rest becomes text.

    Examples
    --------
    >>> as_json({"lam": float("inf"), "sizes": (1, 2), 3: object})
    {'lam': None, 'sizes': [1, 2], '3': "<class 'object'>"}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {short(key, 100): as_json(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [as_json(item) for item in value]
    return short(value, 1000)
