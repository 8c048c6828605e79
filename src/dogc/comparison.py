"""Many methods on one data set, side by side."""

from __future__ import annotations

import html
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tqdm.auto import tqdm

from . import estimators as dogc
from .metrics import clustering_report

# Every clustering method of the paper under the name it has there, in its order.
METHODS: Mapping[str, Callable[[int], BaseEstimator]] = {
    "KM": lambda c: KMeans(c, n_init=10),
    "R-cut": dogc.RatioCut,
    "N-cut": dogc.NormalizedCut,
    "SC": lambda c: dogc.NormalizedCut(c, normalize_rows=True),
    "NMF": dogc.NMFClustering,
    "CLR0": lambda c: dogc.CLR(c, norm="l1"),
    "CLR1": lambda c: dogc.CLR(c, norm="l2"),
    "CAN": dogc.CAN,
    "PCAN": dogc.PCAN,
    "SEC": dogc.SEC,
    "DKM": dogc.DiscriminativeKMeans,
    "LL": dogc.LocalLearningClustering,
    "CLGR": dogc.CLGR,
    "DOGC-I": dogc.DOGCRelaxed,
    "DOGC-II": dogc.DOGCFixedGraph,
    "DOGC": dogc.DOGC,
    "DOGC-OS": dogc.DOGCOS,
}

MEASURES = ("acc", "nmi_max", "nmi_geometric", "purity", "ari")


class MethodResult(NamedTuple):
    """One method on the data set.

    ``labels`` is None where the method failed; ``note`` then says why. Otherwise ``note`` holds
    what the method warned of. ``scores`` is empty where no ground truth was given.
    """

    method: str
    labels: np.ndarray | None
    n_found: int
    seconds: float
    scores: dict[str, float]
    agreement: float  # mean adjusted Rand index with the other methods; nan if there are none
    note: str


class Comparison:
    """What :func:`compare` returns: a table to print, to index and to turn into a frame.

    ``len`` and iteration go over :class:`MethodResult` rows in order, ``comparison[name]`` is one
    of them, ``labels`` maps names to labels, ``agreement`` is the matrix of adjusted Rand indices
    between the methods that succeeded, whose names are ``succeeded``.
    """

    def __init__(self, rows: list[MethodResult], agreement: np.ndarray):
        """Keep what :func:`compare` found."""
        self.rows = rows
        self.agreement = agreement

    @property
    def labels(self) -> dict[str, np.ndarray]:
        """Labels by method, for those that succeeded."""
        return {row.method: row.labels for row in self.rows if row.labels is not None}

    @property
    def succeeded(self) -> list[str]:
        """Names of the methods that succeeded, in the order of ``agreement``."""
        return list(self.labels)

    def __len__(self) -> int:
        """Return the number of methods."""
        return len(self.rows)

    def __iter__(self) -> Iterator[MethodResult]:
        """Go over the rows."""
        return iter(self.rows)

    def __getitem__(self, method: str) -> MethodResult:
        """Return the row of one method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(f"{method!r} was not compared; these were: {[r.method for r in self.rows]}")

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, one row a method (needs pandas)."""
        import pandas as pd

        records = [
            {
                "method": row.method,
                "n_found": row.n_found,
                "seconds": row.seconds,
                **row.scores,
                "agreement": row.agreement,
                "note": row.note,
            }
            for row in self.rows
        ]
        return pd.DataFrame(records).set_index("method")

    def _cells(self, longest_note: int | None = None) -> tuple[list[str], list[list[str]]]:
        scored = any(row.scores for row in self.rows)
        measures = MEASURES if scored else ()
        header = ["method", "clusters", "seconds", *measures, "agreement", "note"]
        cells = []
        for row in self.rows:
            values = [*(row.scores.get(name, np.nan) for name in measures), row.agreement]
            shown = ["-" if np.isnan(value) else f"{value:.3f}" for value in values]
            found = "-" if row.labels is None else str(row.n_found)
            note = textwrap.shorten(row.note, longest_note or max(len(row.note), 5))
            cells.append([row.method, found, f"{row.seconds:.2f}", *shown, note])
        return header, cells

    def __str__(self) -> str:
        """Return the table as text; long notes are cut."""
        header, cells = self._cells(longest_note=70)
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        last = len(header) - 1
        lines = [
            "  ".join(
                cell.ljust(w) if i in (0, last) else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in (header, *cells)
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header, cells = self._cells()
        rows = [f"<tr>{''.join(f'<th>{html.escape(c)}</th>' for c in header)}</tr>"]
        rows += [f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in cells]
        return f"<table>{''.join(rows)}</table>"


def compare(
    X: Any,
    n_clusters: int,
    methods: Iterable[str] | Mapping[str, BaseEstimator] | None = None,
    y: Any = None,
    *,
    n_neighbors: int | None = None,
    random_state: int | None = 0,
    progress: bool | None = None,
) -> Comparison:
    """Run methods side by side on one data set.

    A method that fails on these data fills its row with the reason, and the others go on.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to cluster, as they are: put features on one scale first.
    n_clusters : int
        Number of clusters to ask each method for.
    methods : iterable of str, mapping of str to clusterer, or None, default=None
        Names out of ``dogc.comparison.METHODS``; None means all of them. A mapping runs copies
        of your own estimators, with their own settings, under your own names.
    y : array-like of shape (n_samples,), default=None
        Ground truth, if there is one: adds ACC, NMI, purity and ARI.
    n_neighbors : int, default=None
        Neighbourhood size for every named method that has one; None leaves their defaults.
    random_state : int or None, default=0
        Seed for every named method that has one.
    progress : bool, default=None
        Whether to show a progress bar; None shows it in a terminal or notebook only.

    Returns
    -------
    comparison : Comparison
        Print it, index it by method, or call ``to_frame()``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from dogc import compare
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> table = compare(X, 2, ["KM", "N-cut", "DOGC"], y)
    >>> {row.method: round(row.scores["acc"], 2) for row in table}
    {'KM': 0.76, 'N-cut': 1.0, 'DOGC': 1.0}
    """
    chosen = _estimators(methods, n_clusters, n_neighbors, random_state)
    if y is not None:
        clustering_report(y, y)  # a bad y is said before the first fit, not after the last
        if not hasattr(X, "shape"):
            X = np.asarray(X)
        if len(y) != X.shape[0]:
            raise ValueError(
                f"y has {len(y)} entries but X has {X.shape[0]} rows; pass one entry for each row."
            )
    rows = []
    with tqdm(chosen.items(), disable=None if progress is None else not progress) as bar:
        for name, estimator in bar:
            bar.set_description(name)
            rows.append(_run(name, estimator, X, y))
    labels = [row.labels for row in rows if row.labels is not None]
    agreement = np.array([[adjusted_rand_score(a, b) for b in labels] for a in labels])
    return Comparison(_with_agreement(rows, agreement), agreement)


def _estimators(
    methods: Any, n_clusters: int, n_neighbors: int | None, random_state: int | None
) -> dict[str, BaseEstimator]:
    """The estimators to run, by name."""
    if isinstance(methods, Mapping):
        return {name: clone(estimator) for name, estimator in methods.items()}
    names = list(METHODS) if methods is None else [methods] if isinstance(methods, str) else methods
    common = {"random_state": random_state}
    if n_neighbors is not None:
        common["n_neighbors"] = n_neighbors
    chosen = {}
    for name in names:
        if name not in METHODS:
            raise ValueError(f"methods holds {name!r}, which is unknown; choose from {[*METHODS]}.")
        estimator = METHODS[name](n_clusters)
        known = estimator.get_params(deep=False)
        chosen[name] = estimator.set_params(**{k: v for k, v in common.items() if k in known})
    return chosen


def _run(name: str, estimator: BaseEstimator, X: Any, y: Any) -> MethodResult:
    """One fit, timed, with what it warned of; a failure becomes a note."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            labels = np.asarray(estimator.fit_predict(X))
        except Exception as error:
            seconds = time.perf_counter() - began
            note = f"failed: {type(error).__name__}: {error}"
            return MethodResult(name, None, 0, seconds, {}, np.nan, " ".join(note.split()))
    seconds = time.perf_counter() - began
    note = "; ".join(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    scores = {} if y is None else clustering_report(y, labels)
    return MethodResult(name, labels, len(np.unique(labels)), seconds, scores, np.nan, note)


def _with_agreement(rows: list[MethodResult], matrix: np.ndarray) -> list[MethodResult]:
    """Rows with the mean of their line in the matrix, the diagonal left out."""
    if len(matrix) < 2:
        return rows
    means = iter((matrix.sum(axis=1) - 1.0) / (len(matrix) - 1))
    return [row if row.labels is None else row._replace(agreement=next(means)) for row in rows]
