"""Tables on disk: a restricted run adds to what is there and replaces nothing that is fuller."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

import numpy as np

from .._atomic import turn_in, write_csv
from ..datasets import UCI_NAMES

CONVERT: dict[type, Callable[[str], Any]] = {
    float: lambda cell: float(cell or "nan"),
    int: int,
    str: str,
}
NAMED_BY = ("data", "method", "units", "metric", "part", "variant")


def add_rows(path: pathlib.Path, rows: Sequence[Any]) -> list[Any]:
    """Write rows beside those that are there; what is there stays where it is fuller.

    Returns all rows of the file: the paper's data sets in order, the synthetic ones after them.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with turn_in(path.parent):  # so that two commands on one folder keep each other's rows
        there = read_rows(path, type(rows[0])) if path.exists() else []
        merged = {_name(row): row for row in there}
        for row in rows:
            old = merged.get(_name(row))
            if old is None or not _fuller(old, row):
                merged[_name(row)] = row
        order = {name: place for place, name in enumerate(UCI_NAMES)}
        ordered = sorted(merged.values(), key=lambda row: order.get(row.data, len(order)))
        write_csv(path, rows[0]._fields, [[_cell(value) for value in row] for row in ordered])
    return ordered


def read_rows(path: pathlib.Path, row_type: Any) -> list[Any]:
    """The rows of a file that `add_rows` wrote; a file of another kind is refused."""
    kinds = list(get_type_hints(row_type).values())
    with open(path, encoding="utf-8", newline="") as file:
        try:
            header, *lines = list(csv.reader(file))
            if header != list(row_type._fields):
                raise ValueError("other columns")
            return [
                row_type(*(CONVERT[kind](cell) for kind, cell in zip(kinds, line, strict=True)))
                for line in lines
            ]
        except (ValueError, csv.Error) as error:
            raise ValueError(
                f"{path} is not a whole table of this version of dogc; name another --out, or "
                "move that file away"
            ) from error


def _name(row: Any) -> tuple[str, ...]:
    return tuple(getattr(row, field, "") for field in NAMED_BY)


def _fuller(old: Any, new: Any) -> bool:
    """Whether the old row is of more runs, whatever code they were of: the row says which."""
    return (old.extent == "full", old.seeds) > (new.extent == "full", new.seeds)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4f}"
    return value
