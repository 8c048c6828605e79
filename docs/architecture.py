"""Draw the architecture: ``python docs/architecture.py`` writes docs/_static/architecture.svg.

A test compares the bands with the levels in tests/test_architecture.py.
"""

from __future__ import annotations

import pathlib
from typing import NamedTuple


class Band(NamedTuple):
    """Rooms drawn beside each other, and what they are for."""

    name: str
    note: str
    colour: str
    rooms: tuple[str, ...]


FRONT, MIDDLE, LOOP, NUMERICS = "#fdf3ea", "#f3effa", "#eef4fa", "#eef7f0"
# From the top down: a room may import rooms of lower bands.
BANDS = (
    Band("the front door", "what people type", FRONT, ("cli", "commands")),
    Band("files and reports", "and the paper, redone", FRONT,
         ("report", "persistence", "onnx_export", "storable", "tables", "paper")),
    Band("with the estimators", "", FRONT, ("comparison", "plotting", "datasets")),
    Band("without ground truth", "", FRONT, ("quality",)),
    Band("scikit-learn's face", "", MIDDLE, ("estimators", "metrics", "files")),
    Band("rows", "scikit-learn begins here", MIDDLE, ("links",)),
    Band("the one loop", "numpy and scipy from here", LOOP, ("restarts", "solver")),
    Band("methods as data", "", LOOP, ("methods", "start", "lambda_search")),
    Band("one step a variable", "State in, State out", LOOP, ("steps", "objective")),
    Band("what a run knows", "", LOOP,
         ("state", "scales", "resolutions", "counting", "fragments", "outliers")),
    Band("numerics", "arrays in, arrays out", NUMERICS,
         ("eigen", "graph", "stiefel", "affinity", "local_models", "symnmf", "lpp", "spectrum",
          "trace_ratio", "discrete", "l2p", "sampling", "means", "geometry")),
    Band("arrays", "", NUMERICS, ("products", "arrays")),
)  # fmt: skip

WIDTH, LEFT, LINE, GAP = 860, 222, 34, 10


def draw() -> str:
    """The drawing as SVG."""
    parts, y = [], 16
    for band in BANDS:
        lines = _wrapped(band.rooms)
        height = len(lines) * LINE + 14
        parts.append(f'<rect x="30" y="{y}" width="{WIDTH - 40}" height="{height}" rx="9" '
                     f'fill="{band.colour}" stroke="#c9d2db"/>')  # fmt: skip
        middle = y + height / 2
        parts.append(_text(44, middle + (-3 if band.note else 5), band.name, "font-weight='600'"))
        if band.note:
            parts.append(_text(44, middle + 14, band.note, "font-size='11' fill='#55606c'"))
        for place, line in enumerate(lines):
            parts += _boxes(line, y + 7 + place * LINE)
        y += height + GAP
    parts.append(f'<path d="M16 20V{y - 18}" stroke="#5b6672" stroke-width="2" '
                 'marker-end="url(#tip)"/>')  # fmt: skip
    words = f'transform="rotate(-90 10 {y // 2})" font-size="11" text-anchor="middle"'
    parts.append(_text(10, y // 2, "imports go down", words))
    return _frame(y + 4, parts)


def _width(room: str) -> int:
    return 8 * len(room) + 22


def _wrapped(rooms: tuple[str, ...]) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    for room in rooms:
        if LEFT + sum(_width(r) + 8 for r in [*lines[-1], room]) > WIDTH - 14:
            lines.append([])
        lines[-1].append(room)
    return lines


def _boxes(rooms: list[str], y: float) -> list[str]:
    parts, x = [], LEFT
    for room in rooms:
        parts.append(f'<rect x="{x}" y="{y + 3}" width="{_width(room)}" height="{LINE - 6}" '
                     'rx="6" fill="#fff" stroke="#7d8a97"/>')  # fmt: skip
        parts.append(_text(x + _width(room) / 2, y + 21, room, "text-anchor='middle' class='room'"))
        x += _width(room) + 8
    return parts


def _text(x: float, y: float, words: str, attributes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {attributes.replace(chr(39), chr(34))}>{words}</text>'


def _frame(height: float, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        'font-family="DejaVu Sans, Arial, sans-serif" font-size="13" fill="#222b35" role="img" '
        'aria-label="The rooms of dogc in layers; imports go down">\n'
        "<style>.room{font-family:DejaVu Sans Mono,Menlo,Consolas,monospace;font-size:12px}"
        '</style>\n<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z" fill="#5b6672"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


if __name__ == "__main__":
    path = pathlib.Path(__file__).parent / "_static" / "architecture.svg"
    path.write_text(draw(), encoding="utf-8")
    print(path)
