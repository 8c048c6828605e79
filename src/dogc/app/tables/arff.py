"""ARFF files, the format of Weka: attributes with types, then rows."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .celltypes import typed
from .limits import check_columns
from .opening import Origin, check_text
from .sniffing import Dialect
from .table import TableError, different_names, needed
from .text import parse_cells

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)(?:\s+|(?=\{))(\{.*\}|[^\s{].*)""",
    re.I,
)
_CELL = re.compile(r"""(?:\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\s*|(?!\s*['"])([^,]*))(,|$)""")
_NUMERIC = ("numeric", "real", "integer")


class _Attribute(NamedTuple):
    name: str
    kind: str  # "number", "nominal" or "text"


def is_arff(text: str, origin: Origin) -> bool:
    """Whether text is ARFF, by its first words or its name."""
    if origin.suffix == ".arff":
        return True
    # Comments may come first.
    return bool(re.match(r"(\s|%[^\n]*\n)*@relation\b", text[: 1 << 16], re.I))


def read_arff(data: bytes, origin: Origin) -> Any:
    """The frame of an ARFF file; nominal attributes become categories."""
    text = check_text(data, origin).removeprefix("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    attributes, first = _header(text, origin)
    lines = enumerate(text.split("\n")[first:], start=first + 1)
    rows = [(i, line.strip()) for i, line in lines]
    rows = [(i, line) for i, line in rows if line and not line.startswith("%")]
    if not rows:
        raise TableError(f"{origin.source} has no rows after @data; give a table with rows.")
    if rows[0][1].startswith("{"):
        raise TableError(f"{origin.source} is a sparse ARFF file; write it as a dense one.")
    table = _cells(rows, len(attributes), origin)
    names = [attribute.name for attribute in attributes]
    different_names(names, origin.source)
    columns = [
        typed(column) if attribute.kind == "number" else column
        for column, attribute in zip(table.columns, attributes, strict=True)
    ]
    frame = needed("pyarrow").table(columns, names=names).to_pandas()
    return frame.astype({a.name: "category" for a in attributes if a.kind == "nominal"})


def _header(text: str, origin: Origin) -> tuple[list[_Attribute], int]:
    """The attributes, and how many lines come before the rows."""
    attributes: list[_Attribute] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if line.lower() == "@data" and attributes:
            check_columns(len(attributes), origin.source)
            return attributes, number
        if line.lower().startswith("@attribute"):
            found = _ATTRIBUTE.match(line)
            if not found:
                raise TableError(
                    f"line {number} of {origin.source} is not an attribute; write @attribute, its "
                    "name and its type."
                )
            attributes.append(_Attribute(_unquoted(found[1]), _kind(found[2])))
    raise TableError(
        f"{origin.source} is not an ARFF file: it lacks @attribute or @data; write it again."
    )


def _kind(declared: str) -> str:
    if declared.startswith("{"):
        return "nominal"
    return "number" if declared.lower().split()[0] in _NUMERIC else "text"


def _unquoted(cell: str) -> str:
    """A cell without its quotes."""
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell


def _cells(rows: list[tuple[int, str]], columns: int, origin: Origin) -> Any:
    """All cells as an Arrow table of text."""
    text = "\n".join(line for _, line in rows)
    commas = {line.count(",") for _, line in rows}
    if commas == {columns - 1} and not any(mark in text for mark in "'\"\\{\t "):
        return parse_cells(text.encode(), text, Dialect(",", False, columns), origin)
    arrow = needed("pyarrow")
    table = [_split(line, number, columns, origin) for number, line in rows]
    cells = [arrow.array(column, arrow.string()) for column in zip(*table, strict=True)]
    return arrow.table(
        [arrow.chunked_array([c]) for c in cells], names=list(map(str, range(columns)))
    )


def _split(line: str, number: int, columns: int, origin: Origin) -> list[str]:
    cells: list[str] = []
    place, end = 0, ","
    while end == ",":
        found = _CELL.match(line, place)
        if found is None:
            raise TableError(
                f"a quote in line {number} of {origin.source} is not closed; close it."
            )
        quoted, plain, end = found.groups()
        cells.append(plain.strip() if quoted is None else _unquoted(quoted))
        place = found.end()
    if len(cells) == columns + 1 and re.fullmatch(r"\{[^}]*\}", cells[-1]):
        cells.pop()  # the row's weight
    if len(cells) != columns:
        count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        raise TableError(
            f"line {number} of {origin.source} has {count}, but there are {columns} attributes; "
            "give every row the same number."
        )
    return cells
