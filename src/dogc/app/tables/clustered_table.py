"""A table, clustered: the rows as they were, what was made of them, and what came out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from ..._checks import WIDE, check_clusters
from ..._words import shown
from ...comparison import named_estimator
from ...metrics import clustering_report
from ...numerics.discrete import falling
from .deciding_numbers import deciding_number
from .preparing import MixedEncoder
from .reading import Table
from .table import numbered_names
from .tally import Tally
from .weights import MATTERS

if TYPE_CHECKING:
    import pandas


class Clustering(NamedTuple):
    """Everything that the files, the report and the terminal tell of one run."""

    frame: pandas.DataFrame  # original rows in order, all columns
    X: np.ndarray  # (n, d) prepared features
    feature_names: list[str]
    model: Any  # fitted estimator
    labels: np.ndarray  # (n,) clusters by decreasing size; -1 for an outlier
    confidence: np.ndarray  # (n,) in [0, 1]; NaN where the method has none
    truth: np.ndarray | None  # (n,) the label column as text
    id_column: str | None
    preparation: list[str]  # what was done to the data, in sentences
    source: str
    seconds: float  # of the fit
    settings: dict[str, Any]  # method, parameters, versions, notes
    tally: Tally | None = None  # of all rows, where those above are some of them

    @property
    def n_rows(self) -> int:
        """Of all that was clustered."""
        return len(self.frame) if self.tally is None else self.tally.rows

    @property
    def row_numbers(self) -> np.ndarray:
        """Of the rows at hand, from 0."""
        return np.arange(len(self.frame)) if self.tally is None else self.frame.index.to_numpy()


def cluster_table(
    table: Table,
    preparation: MixedEncoder,
    method: str,
    n_clusters: int | str,
    parameters: dict[str, Any],
) -> Clustering:
    """Prepare a table, fit a method on it, and gather what came out."""
    frame = table.frame
    X = preparation.fit(frame).transform(frame)
    check_clusters(n_clusters, len(frame))
    model = named_estimator(method, n_clusters, asked_of(preparation, parameters))
    _, seconds, notes = timed(lambda: model.fit_predict(X))
    number_by_size(model)
    labels = np.asarray(model.labels_)
    apart = int(np.sum(getattr(model, "outliers_", 0)))
    notes = list(dict.fromkeys([*notes, *remarks(model, apart)]))
    notes += splitting_columns(X, preparation.feature_names_, frame, labels)
    label_column = preparation.label_column
    return Clustering(
        frame=frame,
        X=X,
        feature_names=list(preparation.feature_names_),
        model=model,
        labels=labels,
        confidence=np.asarray(getattr(model, "confidence_", np.full(len(X), np.nan)), dtype=float),
        truth=None if label_column is None else frame[label_column].astype(str).to_numpy(),
        id_column=preparation.id_column_,
        preparation=[*header_guess(list(frame.columns)), *preparation.steps_],
        source=table.source,
        seconds=seconds,
        settings=settings_of(method, model, notes, table.source, table.sha256),
    )


def number_by_size(model: Any) -> None:
    """Number the clusters of k-means by decreasing size, as those of all other methods are."""
    if isinstance(model, KMeans):
        new_name = names_by_size(model.labels_)
        model.cluster_centers_ = model.cluster_centers_[np.argsort(new_name)]
        model.labels_ = new_name[model.labels_].astype(model.labels_.dtype)


def names_by_size(labels: np.ndarray) -> np.ndarray:
    """The permutation ``new_name[old]`` by decreasing size, then by first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> names_by_size(np.array([0, 1, 1, 2, 1, 2]))
    array([2, 0, 1])
    """
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    return falling(sizes, first)


def asked_of(preparation: MixedEncoder, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a method for a prepared table, as far as they are not given.

    Where columns of few values matter, few neighbours of a row share all its categories; a wide
    neighbourhood reaches across. The columns were made comparable by their weights already.
    """
    mixed = {"n_neighbors": WIDE, "geometry": "given"}
    usual = mixed if preparation.discrete_share_ >= MATTERS else {}
    return {"rule": "auto", **usual, **parameters}


def timed(fit: Callable[[], Any]) -> tuple[Any, float, list[str]]:
    """What a fit gives, how many seconds it took, and what it warned of."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit()
    notes = [" ".join(str(warning.message).split()) for warning in caught]
    return found, time.perf_counter() - began, notes


def settings_of(
    method: str, model: Any, notes: list[str], source: str, sha256: str
) -> dict[str, Any]:
    """How a run was made, as far as JSON can hold it."""
    return {
        "method": method,
        "parameters": recorded_parameters(model),
        "versions": versions(),
        "notes": notes,
        "source": source,
        "sha256": sha256,
        "counts": [row._asdict() for row in getattr(model, "cluster_counts_", [])[:10]],
    }


def remarks(model: Any, apart: int) -> list[str]:
    """What people should know of a fit and would not ask for."""
    found = []
    counts = getattr(model, "cluster_counts_", None)
    if counts:
        others = ", ".join(f"{row.n_clusters} ({row.score:.2f})" for row in counts[1:4])
        first = counts[0].n_clusters
        what = "1 cluster is" if first == 1 else f"{first} clusters are"
        found.append(f"{what} proposed, with a score of {counts[0].score:.2f}; look at {others} "
                       "too.")  # fmt: skip
    if apart:
        one = apart == 1
        marked = getattr(model, "outlier_label", None) is not None
        got = (
            f"{'is' if one else 'are'} marked" if marked else "got the label of the nearest cluster"
        )
        found.append(f"{apart:,} row{'' if one else 's'} lie{'s' if one else ''} far from "
                       f"everything else and {got}.")  # fmt: skip
    if getattr(model, "rule_", None) == "neighbors":
        found.append("these clusters cannot be separated by a linear rule, so dogc predict will "
                       "label new rows by their nearest rows.")  # fmt: skip
    return found


# A column of two values is said to split the rows if clusters mix less than this share, and the
# rows themselves more than that.
MIXED, MIXED_BEFORE = 0.01, 0.05


def _column_of(feature: str, frame: pandas.DataFrame) -> str:
    """The column of a table that a feature was made of: itself, or that of a category."""
    return feature if feature in frame.columns else feature.split("=")[0]


def splitting_columns(
    X: np.ndarray, features: Sequence[str], frame: pandas.DataFrame, labels: np.ndarray
) -> list[str]:
    """A word on columns of two values that the clusters follow, or one of numbers.

    Rows with the other value are never among the nearest where there are few other columns, so
    such a column can cut the graph all by itself.
    """
    found = []
    for feature, column in zip(features, X.T, strict=True):
        low, high = column.min(), column.max()
        upper = column == high
        if low == high or not (upper | (column == low)).all():
            continue
        sizes = np.bincount(labels - labels.min())
        ones = np.bincount(labels - labels.min(), weights=upper)
        mixed = np.minimum(ones, sizes - ones).sum() / len(labels)
        if mixed < MIXED and min(upper.mean(), 1 - upper.mean()) > MIXED_BEFORE:
            found.append(f"'{shown(_column_of(feature, frame))}'")
    if not found:
        known = [(name, np.where(frame[name].isna(), np.nan, X[:, place]))
                 for place, name in enumerate(features) if name in frame.columns]  # fmt: skip
        number = deciding_number(known, labels)
        found = [] if number is None else [f"'{shown(number[0])}'"]
    if not found:
        return []
    columns = ", ".join(dict.fromkeys(found))
    it = "it" if len(set(found)) == 1 else "them"
    return [f"the clusters are almost entirely determined by {columns}; use --drop to see the "
            f"clusters without {it}."]  # fmt: skip


def header_guess(columns: list[str]) -> list[str]:
    """A word on names that were made up."""
    if columns != numbered_names(len(columns)):
        return []
    return [f"No header was found: the columns are called c1 to {columns[-1]}."]


def recorded_parameters(model: Any) -> dict[str, Any]:
    """The parameters of a model as JSON can hold them."""
    simple = (str, int, float, bool, type(None))
    given = model.get_params(deep=False)
    return {k: v if isinstance(v, simple) else repr(v) for k, v in given.items()}


def agreement(truth: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How far clusters agree with known labels, by the names that files and the page use."""
    found = clustering_report(truth, labels)
    return {"acc": found["acc"], "nmi": found["nmi_max"], "purity": found["purity"],
            "ari": found["ari"]}  # fmt: skip


def versions() -> dict[str, str]:
    """What the numbers were computed with."""
    import platform
    from importlib import metadata

    import scipy
    import sklearn

    return {
        "dogc": metadata.version("dogc"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
