"""The twelve UCI sets of the paper, from small CSV files inside the package."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._checks import check_choice, check_flag
from .._extras import needed

# What a missing value is marked with, as in the files that circulated with the methods' code.
MARK = -99999.0


DATA = resources.files(__package__) / "data"
_SOURCES = {
    source["name"]: source
    for source in csv.DictReader((DATA / "sources.csv").read_text(encoding="utf-8").splitlines())
}
UCI_NAMES = tuple(_SOURCES)
ROW_NAME = "car_name"
ENCODINGS = ("ordinal", "onehot", "raw")


def load_uci(
    name: str,
    *,
    encoding: str = "ordinal",
    missing: str = "impute",
    row_names: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load one of the twelve UCI sets of the paper; no network is needed.

    Parameters
    ----------
    name : str
        One of ``UCI_NAMES``: solar, vehicle, vote, ecoli, wine, glass, lenses, heart, zoo, cars,
        auto, balance.
    encoding : {"ordinal", "onehot", "raw"}, default="ordinal"
        How categories (the columns with text) become numbers. "ordinal": 1, 2, ... in the order of
        first appearance in the file. "onehot": one 0/1 column for each category; a missing
        category has 0 in all of them. "raw": no change; missing cells are None, or NaN in numeric
        columns.
    missing : {"impute", "mark"}, default="impute"
        How missing values are encoded. "impute": the mean of a numeric column, the most frequent
        category otherwise. "mark": -99999. (In vote an empty cell is a third answer with its own
        code. One-hot encoding does not impute categories.)
    row_names : bool, default=False
        Whether to keep the column that names each row, which only cars has. Encoded, a car is its
        make, the first word of its name. That tells the class: each of 37 makes has one origin.
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    as_frame : bool, default=False
        Whether ``data`` is a pandas DataFrame and ``target`` a Series (needs pandas).

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With ``data`` (n_samples, n_features), ``target`` (n_samples,), ``frame``,
        ``feature_names``, ``target_names`` and ``DESCR``.

    Examples
    --------
    >>> from dogc.datasets import load_uci
    >>> bunch = load_uci("zoo")
    >>> bunch.data.shape, len(bunch.target_names)
    ((101, 16), 7)
    """
    check_choice("name", name, UCI_NAMES)
    check_choice("encoding", encoding, ENCODINGS)
    check_choice("missing", missing, ("impute", "mark"))
    check_flag("row_names", row_names)
    check_flag("return_X_y", return_X_y)
    check_flag("as_frame", as_frame)
    header, rows = _read(name)
    *columns, classes = (list(column) for column in zip(*rows, strict=True))
    target_names, target = np.unique(np.array(classes), return_inverse=True)
    header = header[:-1]
    if not row_names and ROW_NAME in header:
        del columns[header.index(ROW_NAME)]
        header.remove(ROW_NAME)
    data, names = _encode(name, columns, header, encoding, missing)
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=names,
        target_names=target_names,
        DESCR=_describe(name, len(rows), len(header), target_names),
    )
    if as_frame:
        pd = needed("pandas", "as_frame=True")
        frame = pd.DataFrame(data, columns=names).infer_objects()
        series = pd.Series(target, name="class")
        bunch.update(data=frame, target=series, frame=frame.assign(**{"class": series}))
    return (bunch.data, bunch.target) if return_X_y else bunch


def _read(name: str) -> tuple[list[str], list[list[str]]]:
    text = (DATA / f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return header, rows


def _encode(
    name: str, columns: list[list[str]], header: list[str], encoding: str, missing: str
) -> tuple[np.ndarray, list[str]]:
    """The columns as numbers (as they are, for "raw") and their names."""
    if encoding == "raw":
        raw = [_numbers(c, None) if _is_numeric(c) else [x or None for x in c] for c in columns]
        whole = all(_is_numeric(c) for c in columns)
        return np.array(raw, dtype=float if whole else object).T, header
    arrays, names = [], []
    for label, column in zip(header, columns, strict=True):
        if _is_numeric(column):
            arrays.append(_numbers(column, missing))
            names.append(label)
            continue
        if label == ROW_NAME:
            column = [cell.split()[0] for cell in column]
        if name == "vote":
            column = [cell or "?" for cell in column]
        if encoding == "ordinal":
            arrays.append(_codes(column, missing))
            names.append(label)
        else:
            for value in dict.fromkeys(cell for cell in column if cell):
                arrays.append(np.array([float(cell == value) for cell in column]))
                names.append(f"{label}={value}")
    return np.column_stack(arrays), names


def _is_numeric(column: list[str]) -> bool:
    try:
        return bool([float(cell) for cell in column if cell])
    except ValueError:
        return False


def _numbers(column: list[str], missing: str | None) -> np.ndarray:
    values = np.array([float(cell) if cell else np.nan for cell in column])
    if missing is None:
        return values
    return np.where(np.isnan(values), MARK if missing == "mark" else np.nanmean(values), values)


def _codes(column: list[str], missing: str) -> np.ndarray:
    present = [cell for cell in column if cell]
    code = {value: float(i) for i, value in enumerate(dict.fromkeys(present), 1)}
    usual = max(code, key=present.count)
    code[""] = MARK if missing == "mark" else code[usual]
    return np.array([code[cell] for cell in column])


def _describe(name: str, n: int, d: int, target_names: np.ndarray) -> str:
    source = _SOURCES[name]
    return f"""{source["title"]}: {n} rows, {d} features, {len(target_names)} classes.

{source["note"]}

{source["citation"]}. {source["title"]} [Dataset]. UCI Machine Learning Repository. \
https://doi.org/{source["doi"]}
Licence: Creative Commons Attribution 4.0 International (CC BY 4.0). Changes: a header row, the
class last, missing values as empty cells, and what is said above.
"""
