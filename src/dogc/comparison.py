"""Many methods on one data set, side by side."""

from __future__ import annotations

import html
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples
from tqdm.auto import tqdm

from . import estimators as dogc
from ._caller import timed_fit
from ._checks import WIDE, check_cluster_count, check_neighbors, check_unmasked, shown
from ._extras import needed
from ._words import aligned
from .estimators._elsewhere import check_rows
from .metrics import clustering_report, code_labels
from .quality import evidence, figures
from .results import WIDTH, Results

# Every clustering method of the paper under the name it has there, in its order, and after these
# methods for many rows that it does not know.
METHODS: Mapping[str, Callable[[Any], BaseEstimator]] = {
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
    "LSC": dogc.LSC,
    "U-SPEC": dogc.USPEC,
}

NAMES = ", ".join("KM (k-means)" if name == "KM" else name for name in METHODS)

# Columns of the printed table.
SHOWN = {"acc": "ACC", "nmi_max": "NMI", "purity": "purity", "ari": "ARI"}
QUALITY = ("silhouette", "scales", "confident", "stability")


class MethodResult(NamedTuple):
    """Result of one method on the data set.

    If the method failed, ``labels`` and ``estimator`` are None and ``note`` gives the reason.
    Otherwise ``note`` holds its warnings. ``scores`` is empty without ground truth. ``quality``
    holds the measures that need none. ``n_found`` does not count the label -1, which some
    clusterers give to noise.
    """

    method: str
    labels: np.ndarray | None
    estimator: BaseEstimator | None  # fitted
    n_found: int
    seconds: float
    scores: dict[str, float]
    agreement: float  # mean adjusted Rand index with the other methods; nan if there are none
    note: str
    quality: Mapping[str, float]  # empty where X is not numbers


class Comparison(Results[MethodResult]):
    """Result of :func:`dogc.compare`: a table to print, to index and to convert to a DataFrame.

    It is a sequence of :class:`MethodResult`. ``comparison["DOGC"]`` or ``comparison[0]`` is one
    of them. ``labels`` maps names to labels. ``agreement`` is the matrix of adjusted Rand indices
    between the methods that succeeded; ``succeeded`` lists their names.
    """

    def __init__(self, rows: list[MethodResult], agreement: np.ndarray):
        """Keep what :func:`dogc.compare` found."""
        self.rows = rows
        self.agreement = agreement

    @property
    def succeeded(self) -> list[str]:
        """Names of the methods that succeeded, in the order of ``agreement``."""
        return list(self.labels)

    def __getitem__(self, method: str | int) -> MethodResult:
        """Return the row of one method, by name or place."""
        return self.rows[method] if isinstance(method, int) else super().__getitem__(method)

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, one row a method (needs pandas)."""
        pd = needed("pandas", "to_frame")

        records = [{**row.scores, **row.quality, **row._asdict()} for row in self.rows]
        left_out = ["labels", "estimator", "scores", "quality"]
        return pd.DataFrame(records).drop(columns=left_out).set_index("method")

    def agreement_frame(self) -> Any:
        """Return ``agreement`` as a pandas DataFrame with names (needs pandas)."""
        pd = needed("pandas", "agreement_frame")
        return pd.DataFrame(self.agreement, index=self.succeeded, columns=self.succeeded)

    def _lines(self, measures: list[str]) -> list[list[str]]:
        """A line of names and one for each method, with these measures."""
        names = [SHOWN.get(name, name) for name in measures]
        lines = [["method", "clusters", "seconds", *names, "agreement"]]
        for row in self.rows:
            known = {**row.scores, **row.quality, "agreement": row.agreement}
            values = [known.get(name, np.nan) for name in [*measures, "agreement"]]
            found = "failed" if row.labels is None else str(row.n_found)
            lines.append([row.method, found, f"{row.seconds:.2f}", *map(_number, values)])
        return lines

    def _measures(self) -> tuple[list[str], list[str]]:
        """The scores, if there is a truth, and the measures without one that are known."""
        scored = next((row.scores for row in self.rows if row.scores), {})
        known = {name for row in self.rows for name, v in row.quality.items() if not np.isnan(v)}
        scores = [name for name in scored if name != "nmi_geometric"]
        return scores, [name for name in QUALITY if name in known]

    def notes(self) -> list[str]:
        """Return what methods warned of, and why methods failed; the same words once."""
        said = [
            (row.method, note.removeprefix(f"{type(row.estimator).__name__} "))
            for row in self.rows
            for note in row.note.replace(".; ", ".\n").splitlines()
        ]
        return [f"{', '.join(names)}: {note}" for note, names in said_by(said).items()]

    def tables(self, width: int = WIDTH) -> list[str]:
        """Return all measures as text: one table, or two where one would be wider than this."""
        scores, others = self._measures()
        whole = aligned(self._lines(scores + others))
        if whole.index("\n") <= width or not scores or not others:
            return [whole]
        beside = [[line[0], *line[3:-1]] for line in self._lines(others)]
        return [aligned(self._lines(scores)), aligned(beside)]

    def __str__(self) -> str:
        """Return the tables as text, with what the methods had to say below them."""
        notes = [textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in self.notes()]
        return "\n\n".join([*self.tables(), *(["\n".join(notes)] if notes else [])])

    def _repr_html_(self) -> str:
        scores, others = self._measures()
        lines = self._lines(scores + others)
        head, *rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in lines)
        table = [head.replace("td>", "th>"), *rows]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes())
        return f"<table><tr>{'</tr><tr>'.join(table)}</tr></table><ul>{notes}</ul>"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def said_by(notes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Each note once, with those who said it.

    Examples
    --------
    >>> said_by([("CAN", "no"), ("SC", "yes"), ("PCAN", "no")])
    {'no': ['CAN', 'PCAN'], 'yes': ['SC']}
    """
    found: dict[str, list[str]] = {}
    for name, note in notes:
        found.setdefault(note, []).append(name)
    return found


def compare(
    X: Any,
    n_clusters: int,
    methods: Any = None,
    y: Any = None,
    *,
    n_neighbors: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Callable[[np.ndarray, np.ndarray], float]] | None = None,
    quality: bool = False,
    random_state: int | None = 0,
    progress: bool | None = None,
) -> Comparison:
    """Run several methods on one data set and compare their results.

    Use it to choose a method, or to see where methods agree. If a method fails, its row gives the
    reason and the other methods still run.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to cluster. They are used as given: scale the features first.
    n_clusters : int
        Number of clusters for each named method.
    methods : str, clusterer, iterable of these, mapping from names to them, or None, default=None
        Names from ``dogc.comparison.METHODS`` or names of classes, upper or lower case. None means
        all of ``METHODS``. A clusterer is copied and runs with its own parameters.
    y : array-like of shape (n_samples,), default=None
        Ground truth. If given, ACC, NMI, purity and ARI are added.
    n_neighbors : int, default=None
        Number of neighbours for every named method that has this parameter. None keeps the
        defaults.
    parameters : mapping, default=None
        Further parameters. Each is set for every named method that has it, for example
        ``{"affinity": "full", "n_init": 10}``.
    metrics : mapping from names to functions, default=None
        Measures of your own, added to those with ``y``: each is called with the ground truth, its
        classes as numbers from 0 on, and the labels.
    quality : bool, default=False
        Whether to add ``stability``, the mean adjusted Rand index with five fits that each leave
        out a fifth of the rows. Each method is then fitted five more times. Measures that need no
        other fit and no ground truth are always there: ``silhouette``, which favours round
        clusters; ``scales``, the agreement over numbers of neighbours; ``confident``, the share of
        rows with a confidence of at least 0.5. See ``dogc.quality``.
    random_state : int or None, default=0
        Seed for every named method that has this parameter.
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
    n = _num_samples(X)
    check_cluster_count(n_clusters, n)
    common = {**(parameters or {}), "random_state": random_state}
    if n_neighbors is not None:
        common["n_neighbors"] = check_neighbors(n_neighbors, n)
    chosen = _chosen(methods, n_clusters, common)
    if not any(isinstance(estimator, Pipeline) for estimator in chosen.values()):
        check_rows(X)  # once, in place of the same failure in every row
    truth = None if y is None else _truth(y, n)
    if metrics and truth is None:
        raise ValueError("metrics compare labels with the ground truth; pass y.")
    rows, measure = [], evidence if quality else figures
    with tqdm(chosen.items(), disable=None if progress is None else not progress) as bar:
        for name, estimator in bar:
            bar.set_description(name)
            rows.append(_run(name, estimator, X, truth, metrics or {}, measure))
    labels = [row.labels for row in rows if row.labels is not None]
    agreement = np.array([[adjusted_rand_score(a, b) for b in labels] for a in labels])
    if len(labels) > 1:  # the mean of each line, the diagonal left out
        means = iter((agreement.sum(axis=1) - 1.0) / (len(labels) - 1))
        rows = [r if r.labels is None else r._replace(agreement=next(means)) for r in rows]
    return Comparison(rows, agreement)


def _truth(y: Any, n: int) -> np.ndarray:
    """The ground truth, checked before the first fit and not after the last."""
    truth = np.asarray(check_unmasked("y", y))
    if truth.shape not in ((n,), (n, 1)):
        raise ValueError(
            f"y must hold one class for each of the {n} rows of X; got shape {truth.shape}."
        )
    return code_labels(truth.ravel(), "y")


def _chosen(methods: Any, n_clusters: int, common: Mapping[str, Any]) -> dict[str, BaseEstimator]:
    """The estimators to run, by name."""
    methods = METHODS.keys() if methods is None else methods
    if isinstance(methods, str) or hasattr(methods, "fit_predict"):
        methods = [methods]
    names = ((m if isinstance(m, str) else type(m).__name__, m) for m in methods)
    pairs = list(methods.items() if isinstance(methods, Mapping) else names)
    if not pairs:
        raise ValueError("methods is empty; name at least one, or pass None for all.")
    chosen: dict[str, BaseEstimator] = {}
    for name, method in pairs:
        label = str(name) if name not in chosen else f"{name} ({len(chosen) + 1})"
        chosen[label] = named_estimator(method, n_clusters, common)
    return chosen


def named_estimator(method: Any, n_clusters: int | str, common: Mapping[str, Any]) -> BaseEstimator:
    """The clusterer of a name, with those of the common parameters that it has."""
    if not isinstance(method, str):
        if isinstance(method, type) or not hasattr(method, "fit_predict"):
            raise ValueError(
                f"methods holds {shown(method)}, which is neither a name nor a clusterer; pass "
                f"an estimator with fit_predict, or choose from {NAMES}."
            )
        return clone(method)
    known = {name.lower(): make for name, make in METHODS.items()}
    known |= {k.lower(): cls for k, cls in vars(dogc).items() if hasattr(cls, "fit_predict")}
    known |= dict.fromkeys(("kmeans", "k-means"), METHODS["KM"])
    if method.lower() not in known:
        raise ValueError(f"methods holds {shown(method)}, which is unknown; choose from {NAMES}.")
    estimator = known[method.lower()](n_clusters)
    has = estimator.get_params(deep=False)
    given = {k: v for k, v in common.items() if k in has}
    if given.get("n_neighbors") == WIDE and has["n_neighbors"] != "auto":
        del given["n_neighbors"]  # only methods that learn their graph know this word
    return estimator.set_params(**given)


def _run(
    name: str, estimator: Any, X: Any, truth: Any, metrics: Mapping[str, Any], measure: Any
) -> MethodResult:
    """One fit, timed, with what it warned of and its measures; a failure becomes a note."""
    began = time.perf_counter()
    try:
        labels, seconds, note = timed_fit(estimator, X)
    except Exception as error:
        note = " ".join(f"failed: {type(error).__name__}: {error}".split())
        return MethodResult(name, None, None, 0, time.perf_counter() - began, {}, np.nan, note, {})
    scores = {} if truth is None else clustering_report(truth, labels)
    scores |= {own: float(score(truth, labels)) for own, score in metrics.items()}
    try:
        quality = measure(estimator, X, labels)
    except (TypeError, ValueError):  # rows that only a pipeline can read, a distance of its own
        quality = {}
    found = len(set(labels.tolist()) - {-1})
    return MethodResult(name, labels, estimator, found, seconds, scores, np.nan, note, quality)
