"""Many methods on one data set, side by side."""

from __future__ import annotations

import functools
import html
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import _num_samples
from tqdm.auto import tqdm

from . import estimators as dogc
from ._caller import timed_fit
from ._checks import WIDE, check_cluster_count, check_neighbors, check_unmasked, shown
from ._extras import needed
from ._words import aligned
from .estimators._elsewhere import check_rows
from .fitting.evidence import Evidence
from .fitting.structureless import in_directions, neighbour_graph
from .metrics import clustering_report, code_labels
from .numerics import modularity
from .quality import judged
from .results import WIDTH, Results


class Leiden(ClusterMixin, BaseEstimator):
    """Modularity clusters of a neighbour graph, at the resolution that gives ``n_clusters``."""

    def __init__(self, n_clusters: int = 8, n_neighbors: int = 15):
        """Keep the parameters."""
        self.n_clusters, self.n_neighbors = n_clusters, n_neighbors

    def fit(self, X: Any, y: Any = None) -> Leiden:
        """Cluster the rows of X."""
        Z = in_directions(check_rows(X))
        A = neighbour_graph(Z, self.n_neighbors)
        self.labels_ = modularity.partition(A, self.n_clusters, modularity.from_the_middle(Z))
        return self


def umap_k_means(n_clusters: int) -> Pipeline:
    """k-means on a map of two dimensions by UMAP."""
    from umap import UMAP

    return make_pipeline(UMAP(n_jobs=1), KMeans(n_clusters, n_init=10))


# Methods of others that are often asked for, those of packages that are installed.
OTHERS: dict[str, Callable[[Any], BaseEstimator]] = {
    "GaussianMixture": lambda c: GaussianMixture(c, n_init=10),
    "HDBSCAN": lambda c: HDBSCAN(copy=True),  # finds its own number
    "Leiden": Leiden,
}
if find_spec("umap"):
    OTHERS["UMAP + k-means"] = umap_k_means
# Every clustering method of the paper under the name it has there, in its order, and after these
# methods that it does not know.
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
    **OTHERS,
}

NAMES = ", ".join("KM (k-means)" if name == "KM" else name for name in METHODS)

# Columns of the printed table.
SHOWN = {"acc": "ACC", "nmi_max": "NMI", "purity": "purity", "ari": "ARI"}
FIGURES = ("stability", "separation")
# An adjusted Rand index of identical clusters, but for rounding.
SAME = 1.0 - 1e-12
VERDICTS = ("clear", "plausible", "doubtful", "none")


class MethodResult(NamedTuple):
    """Result of one method on the data set.

    If the method failed, ``labels`` and ``estimator`` are None and ``note`` gives the reason.
    Otherwise ``note`` holds its warnings. ``scores`` is empty without ground truth. ``evidence``
    needs none: it is :func:`dogc.quality.evidence` of the labels, in the columns of X for all
    methods; None where X is not numbers. ``n_found`` does not count the label -1, which some
    clusterers give to noise.
    """

    method: str
    labels: np.ndarray | None
    estimator: BaseEstimator | None  # fitted
    n_found: int
    seconds: float
    scores: dict[str, float]
    agreement: float  # mean adjusted Rand index with the other labellings; nan if there are none
    note: str
    evidence: Evidence | None


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

        seen = [row.evidence._asdict() if row.evidence else {} for row in self.rows]
        records = [
            {**row.scores, **each, **row._asdict()}
            for row, each in zip(self.rows, seen, strict=True)
        ]
        left_out = ["labels", "estimator", "scores", "evidence"]
        return pd.DataFrame(records).drop(columns=left_out).set_index("method")

    def agreement_frame(self) -> Any:
        """Return ``agreement`` as a pandas DataFrame with names (needs pandas)."""
        pd = needed("pandas", "agreement_frame")
        return pd.DataFrame(self.agreement, index=self.succeeded, columns=self.succeeded)

    def _lines(self, measures: list[str]) -> list[list[str]]:
        """A line of names and one for each method, with these measures."""
        names = [SHOWN.get(name, name) for name in measures]
        lines = [["method", "verdict", "clusters", "seconds", *names, "agreement"]]
        for row in self.rows:
            known = {**row.scores, "agreement": row.agreement}
            known |= row.evidence._asdict() if row.evidence else {}
            values = [known.get(name, np.nan) for name in [*measures, "agreement"]]
            found = "failed" if row.labels is None else str(row.n_found)
            verdict = row.evidence.verdict if row.evidence else "-"
            times = f"{row.seconds:.2f}"
            lines.append([row.method, verdict, found, times, *map(_number, values)])
        return lines

    def _scored(self) -> list[str]:
        """The scores, if there is a truth."""
        scored = next((row.scores for row in self.rows if row.scores), {})
        return [name for name in scored if name != "nmi_geometric"]

    def lead(self) -> list[str]:
        """Return what stands first: the verdict on each method, and methods that agree in all."""
        said = [(row.method, row.evidence.verdict) for row in self.rows if row.evidence]
        by_verdict = said_by(said)
        everyone = len(by_verdict) == 1 and len(said) == len(self.rows) > 5
        words = [
            f"{'No evidence of clusters' if verdict == 'none' else verdict.capitalize()}: "
            f"{'all methods' if everyone else ', '.join(by_verdict[verdict])}."
            for verdict in VERDICTS
            if verdict in by_verdict
        ]
        same = [", ".join(group) for group in self.identical() if len(group) > 1]
        if same:
            words.append(
                f"Identical clusters, which count once in the agreement: {'; '.join(same)}."
            )
        return words

    def identical(self) -> list[list[str]]:
        """Return the methods that succeeded, in groups that have the same clusters."""
        groups = dict.fromkeys(map(tuple, self.agreement >= SAME), 0)
        names = np.array(self.succeeded, dtype=object)
        return [names[list(group)].tolist() for group in groups]

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
        scores, others = self._scored(), list(FIGURES)
        whole = aligned(self._lines(scores + others))
        if whole.index("\n") <= width or not scores:
            return [whole]
        beside = [[line[0], *line[4:-1]] for line in self._lines(others)]
        return [aligned(self._lines(scores)), aligned(beside)]

    def __str__(self) -> str:
        """Return the verdicts and the tables as text, with what the methods had to say below."""
        lead, notes = (
            [textwrap.fill(words, WIDTH, subsequent_indent="  ") for words in said]
            for said in (self.lead(), self.notes())
        )
        return "\n\n".join(
            ["\n".join(lead), *self.tables(), *(["\n".join(notes)] if notes else [])]
        )

    def _repr_html_(self) -> str:
        lines = self._lines(self._scored() + list(FIGURES))
        head, *rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in lines)
        table = [head.replace("td>", "th>"), *rows]
        lead, notes = (
            "".join(f"<li>{html.escape(words)}</li>" for words in said)
            for said in (self.lead(), self.notes())
        )
        return f"<ul>{lead}</ul><table><tr>{'</tr><tr>'.join(table)}</tr></table><ul>{notes}</ul>"


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
    random_state: int | None = 0,
    progress: bool | None = None,
) -> Comparison:
    """Run several methods on one data set and compare their results.

    Use it to choose a method, or to see where methods agree. Each has a verdict on its clusters,
    which needs no ground truth. If a method fails, its row gives the reason and the other methods
    still run.

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
    rows: list[MethodResult] = []
    wide = common.get("n_neighbors") == WIDE
    judge = functools.partial(judged, None, X, known={}, wide=wide)  # all by one yardstick
    with tqdm(chosen.items(), disable=None if progress is None else not progress) as bar:
        for name, estimator in bar:
            bar.set_description(name)
            rows.append(_run(name, estimator, X, truth, metrics or {}, judge))
    labels = [row.labels for row in rows if row.labels is not None]
    pairs = [adjusted_rand_score(a, b) for a in labels for b in labels]
    agreement = np.reshape(pairs, (len(labels), len(labels)))
    means = iter(_means(agreement))
    rows = [row if row.labels is None else row._replace(agreement=next(means)) for row in rows]
    return Comparison(rows, agreement)


def _means(agreement: np.ndarray) -> np.ndarray:
    """The mean agreement of each labelling with all others, identical ones counted once.

    Examples
    --------
    >>> _means(np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]]))
    array([0.2, 0.2, 0.2])
    """
    same = agreement >= SAME
    weight = np.where(same, 0.0, 1.0 / np.maximum(same.sum(axis=1), 1))
    others, total = weight.sum(axis=1), (weight * agreement).sum(axis=1)
    alone = 1.0 if len(agreement) > 1 else np.nan
    return np.divide(total, others, out=np.full(len(total), alone), where=others > 0)


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
    has = estimator.get_params()
    ends = {name: name.split("__")[-1] for name in has}  # of a pipeline, umap__n_neighbors
    given = {name: common[end] for name, end in ends.items() if end in common}
    # Only methods that learn their graph know the word "wide".
    for name, end in ends.items():
        if end == "n_neighbors" and given.get(name) == WIDE and has[name] != "auto":
            del given[name]
    return estimator.set_params(**given)


def _run(
    name: str, estimator: Any, X: Any, truth: Any, metrics: Mapping[str, Any], judge: Any
) -> MethodResult:
    """One fit, timed, with what it warned of and its measures; a failure becomes a note."""
    began = time.perf_counter()
    try:
        labels, seconds, note = timed_fit(estimator, X)
    except Exception as error:
        note = " ".join(f"failed: {type(error).__name__}: {error}".split())
        return MethodResult(
            name, None, None, 0, time.perf_counter() - began, {}, np.nan, note, None
        )
    scores = {} if truth is None else clustering_report(truth, labels)
    scores |= {own: float(score(truth, labels)) for own, score in metrics.items()}
    found = len(set(labels.tolist()) - {-1})
    seen = judge(labels=labels)
    return MethodResult(name, labels, estimator, found, seconds, scores, np.nan, note, seen)
