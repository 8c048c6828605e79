"""Draw the architecture: ``python docs/architecture.py`` writes docs/_static/architecture.svg.

The files in each room are read from the source. tests/test_architecture.py compares the bands with
all imports.
"""

from __future__ import annotations

import pathlib
from typing import NamedTuple

SOURCE = pathlib.Path(__file__).parents[1] / "src" / "dogc"


class Band(NamedTuple):
    """Rooms drawn beside each other, and what they are for."""

    name: str
    note: str
    colour: str
    rooms: tuple[str, ...]


FRONT, MIDDLE, LOOP, NUMERICS = "#fdf3ea", "#f3effa", "#eef4fa", "#eef7f0"
# From the top down: a room may import rooms of lower bands. "dogc" is the package's own face.
BANDS = (
    Band("python -m dogc", "", FRONT, ("__main__",)),
    Band("the application", "what people type and read", FRONT, ("app",)),
    Band("the paper, redone", "with what users use", FRONT, ("paper",)),
    Band("the public face", "", FRONT, ("dogc",)),
    Band("methods side by side", "", FRONT, ("comparison", "exploration")),
    Band("encoding", "tables become numbers", FRONT, ("encoding",)),
    Band("around the estimators", "", FRONT,
         ("methods", "quality", "results", "plotting", "datasets")),
    Band("measures", "against ground truth", FRONT, ("metrics",)),
    Band("estimators", "scikit-learn's face, thin", MIDDLE, ("estimators",)),
    Band("fitting", "from a table of numbers to labels", MIDDLE, ("fitting",)),
    Band("the loop", "numpy and scipy from here", LOOP, ("loop",)),
    Band("checks of arguments", "", NUMERICS, ("_checks",)),
    Band("numerics", "arrays in, arrays out", NUMERICS, ("numerics",)),
    Band("for all", "", NUMERICS,
         ("_atomic", "_caller", "_extras", "_limits", "_policy", "_stopping", "_words")),
)  # fmt: skip

WIDTH, LEFT, LINE, GAP = 860, 222, 24, 10


def contents(room: str) -> tuple[str, ...]:
    """The content of a room: its files, and its folders with a slash."""
    folder = SOURCE / room
    if not folder.is_dir():
        return ()
    files = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")]
    folders = [f"{path.parent.name}/" for path in folder.glob("*/__init__.py")]
    return tuple(sorted(name.strip("_") for name in files) + sorted(folders))


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
            parts.append(_text(44, middle + 12, band.note, "font-size='10.5' fill='#55606c'"))
        for place, line in enumerate(lines):
            parts += _words(line, y + 7 + place * LINE)
        y += height + GAP
    parts.append(f'<path d="M16 20V{y - 18}" stroke="#5b6672" stroke-width="2" '
                 'marker-end="url(#tip)"/>')  # fmt: skip
    words = f'transform="rotate(-90 10 {y // 2})" font-size="11" text-anchor="middle"'
    parts.append(_text(10, y // 2, "imports go down", words))
    return _frame(y + 4, parts)


def _width(word: str) -> int:
    return round(7.3 * len(word)) + 16


def _wrapped(rooms: tuple[str, ...]) -> list[list[str]]:
    """The names to draw, in lines: a room in a box, and what it holds after it."""
    lines: list[list[str]] = [[]]
    for room in rooms:
        for word in (f"[{room}]", *contents(room)):
            if LEFT + sum(_width(w) + 4 for w in [*lines[-1], word]) > WIDTH - 14:
                lines.append([])
            lines[-1].append(word)
    return lines


def _words(words: list[str], y: float) -> list[str]:
    parts, x = [], LEFT
    for word in words:
        if word.startswith("["):
            parts.append(f'<rect x="{x}" y="{y + 1}" width="{_width(word) - 8}" '
                         f'height="{LINE - 3}" rx="6" fill="#fff" stroke="#7d8a97"/>')  # fmt: skip
        name = word.strip("[]")
        place = x + (_width(word) - 8) / 2
        parts.append(_text(place, y + 16, name, "text-anchor='middle' class='room'"))
        x += _width(word) + 4
    return parts


def _text(x: float, y: float, words: str, attributes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {attributes.replace(chr(39), chr(34))}>{words}</text>'


def _frame(height: float, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        'font-family="DejaVu Sans, Arial, sans-serif" font-size="13" fill="#222b35" role="img" '
        'aria-label="The rooms of dogc in layers; imports go down">\n'
        "<style>.room{font-family:DejaVu Sans Mono,Menlo,Consolas,monospace;font-size:11.5px}"
        '</style>\n<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z" fill="#5b6672"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


if __name__ == "__main__":
    path = pathlib.Path(__file__).parent / "_static" / "architecture.svg"
    path.write_text(draw(), encoding="utf-8")
    print(path)
