"""The twelve UCI sets of the paper, from small CSV files inside the package."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._checks import check_choice
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
    check_choice("encoding", encoding, ("ordinal", "onehot", "raw"))
    check_choice("missing", missing, ("impute", "mark"))
    columns, classes = _read(name)
    target_names, target = np.unique(classes, return_inverse=True)
    if not row_names:
        columns.pop(ROW_NAME, None)
    found = columns if encoding == "raw" else _encode(name, columns, encoding, missing)
    data, names = np.column_stack(list(found.values())), list(found)
    bunch = Bunch(
        data=data,
        target=target,
        frame=None,
        feature_names=names,
        target_names=target_names,
        DESCR=_describe(name, len(target), len(columns), target_names),
    )
    if as_frame:
        pd = needed("pandas", "as_frame=True")
        frame = pd.DataFrame(data, columns=names).infer_objects()
        series = pd.Series(target, name="class")
        bunch.update(data=frame, target=series, frame=frame.assign(**{"class": series}))
    return (bunch.data, bunch.target) if return_X_y else bunch


def _read(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The features by name, and the classes."""
    text = (DATA / f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    *columns, classes = zip(*rows, strict=True)
    return dict(zip(header[:-1], map(_column, columns), strict=True)), np.array(classes)


def _column(cells: Sequence[str]) -> np.ndarray:
    """Numbers, NaN where one is missing; or text, None where it is missing."""
    try:
        return np.array([float(cell or "nan") for cell in cells])
    except ValueError:
        return np.array([cell or None for cell in cells], dtype=object)


def _encode(
    name: str, columns: dict[str, np.ndarray], encoding: str, missing: str
) -> dict[str, np.ndarray]:
    """The columns as numbers."""
    encoded = {}
    for label, column in columns.items():
        if column.dtype == float:
            gap = MARK if missing == "mark" else np.nanmean(column)
            encoded[label] = np.where(np.isnan(column), gap, column)
            continue
        cells = column.tolist()
        if label == ROW_NAME:
            cells = [cell.split()[0] for cell in cells]
        if name == "vote":
            cells = [cell or "?" for cell in cells]
        values = list(dict.fromkeys(cell for cell in cells if cell))
        if encoding == "onehot":
            for value in values:
                encoded[f"{label}={value}"] = np.array([float(cell == value) for cell in cells])
        else:
            code = {value: float(i) for i, value in enumerate(values, 1)}
            gap = MARK if missing == "mark" else code[max(values, key=cells.count)]
            encoded[label] = np.array([code.get(cell, gap) for cell in cells])
    return encoded


def _describe(name: str, n: int, d: int, target_names: np.ndarray) -> str:
    source = _SOURCES[name]
    return f"""{source["title"]}: {n} rows, {d} features, {len(target_names)} classes.

{source["note"]}

{source["citation"]}. {source["title"]} [Dataset]. UCI Machine Learning Repository. \
https://doi.org/{source["doi"]}
Licence: Creative Commons Attribution 4.0 International (CC BY 4.0). Changes: a header row, the
class last, missing values as empty cells, and what is said above.
"""
