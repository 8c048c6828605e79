"""Tables in Excel files (``.xlsx``), read by openpyxl."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..._words import shown
from .limits import check_columns, check_memory, check_tight
from .table import TableError, check_dates, different_names, listed, needed, numbered_names

if TYPE_CHECKING:
    import pandas

    from .opening import Origin

MOST_ROWS = 1 << 20  # that Excel has
_CELL = 100  # bytes that a cell takes as it is read
_BLOCK = 1 << 20


def read_excel(data: bytes, members: list[zipfile.ZipInfo], origin: Origin) -> pandas.DataFrame:
    """The frame of a sheet: the one that was named, or the first; its first row has the names."""
    try:
        openpyxl = needed("openpyxl")
    except ImportError as error:
        raise TableError(
            f'{origin.source} is an Excel file; pip install "dogc[excel]" to read it, or save it '
            "as CSV."
        ) from error
    _check_members(data, members, origin)
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        names = list(book.sheetnames)
        sheet = names[0] if origin.array is None else origin.array
        if sheet not in names:
            raise TableError(
                f"{origin.source} holds no sheet '{shown(sheet)}'; choose from {listed(names)}."
            )
        rows = _rows(book[sheet].iter_rows(values_only=True), origin)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        raise _damaged(origin) from error
    return _frame(rows, origin)


def _check_members(data: bytes, members: list[zipfile.ZipInfo], origin: Origin) -> None:
    """Refuse what unpacks to far more than it is, or to more than it says."""
    size = sum(member.file_size for member in members)
    check_tight(size, sum(member.compress_size for member in members), origin.source)
    check_memory(size, origin.source)
    plain = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in members:
                if member.compress_type not in plain:
                    raise ValueError("Excel packs in no other way")
                with archive.open(member) as file:
                    left = member.file_size
                    while block := file.read(_BLOCK):
                        left -= len(block)
                    if left:
                        raise EOFError("it is not as long as it says")
    except Exception as error:
        raise _damaged(origin) from error


def _rows(found: Iterable[tuple[Any, ...]], origin: Origin) -> list[list[Any]]:
    """The rows of a sheet without empty ones, measured while they are read."""
    rows: list[list[Any]] = []
    cells = 0
    for place, row in enumerate(found):
        if place >= MOST_ROWS:  # a row may say that it is any, and all before it come as empty ones
            raise _damaged(origin)
        cells += len(row) + 1
        check_columns(len(row), origin.source)
        if place % 1000 == 0 or len(row) > 1000:
            check_memory(_CELL * cells, origin.source)
        if any(cell is not None for cell in row):
            rows.append(list(row))
    return rows


def _frame(rows: list[list[Any]], origin: Origin) -> pandas.DataFrame:
    """The frame of rows the first of which has names."""
    width = max((len(row) - _empty_end(row) for row in rows), default=0)
    if len(rows) < 2:
        raise TableError(f"{origin.source} has no rows below its header; give a table with rows.")
    rows = [(row + [None] * width)[:width] for row in rows]
    made_up = numbered_names(width)
    names = [made_up[i] if cell is None else str(cell) for i, cell in enumerate(rows[0])]
    different_names(names, origin.source)
    frame = needed("pandas").DataFrame(rows[1:], columns=names).infer_objects()
    check_dates(frame, origin.source)
    return frame


def _empty_end(row: list[Any]) -> int:
    """How many cells at the end of a row are empty."""
    return next((i for i, cell in enumerate(reversed(row)) if cell is not None), len(row))


def _damaged(origin: Origin) -> TableError:
    return TableError(f"{origin.source} is a damaged Excel file; write it again.")
