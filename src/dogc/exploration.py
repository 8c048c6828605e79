"""The number of clusters: one method at several numbers, with splits and merges between them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _num_samples
from tqdm.auto import tqdm

from ._caller import timed_fit
from ._checks import check_cluster_count, shown
from ._extras import needed
from ._words import aligned
from .estimators._base import GraphClusterer
from .estimators._dogc import DOGC
from .fitting.auto.n_clusters import CountEvidence
from .fitting.auto.splits import Step, change_words, followed, steps_between
from .fitting.evidence import Evidence
from .quality import judged
from .results import WIDTH, Results

# What a score is.
SCORE = (
    "A score above 0 is evidence for a number of clusters: its clusters are harder to cut in two "
    "than to cut out, more so than those of data without clusters."
)


class CountResult(NamedTuple):
    """One number of clusters.

    ``score`` is that of ``cluster_counts_``, which ranks the numbers; NaN where this number was not
    weighed. ``evidence`` is for the clusters of this fit. ``note`` is what the fit warned of.
    """

    n_clusters: int
    labels: np.ndarray  # a cluster keeps its name from one number to the next
    estimator: BaseEstimator  # fitted; its ``labels_`` have other names
    seconds: float
    score: float
    evidence: Evidence | None
    note: str

    @property
    def sizes(self) -> dict[int, int]:
        """Rows of each cluster; outliers under -1."""
        names, sizes = np.unique(self.labels, return_counts=True)
        return dict(zip(names.tolist(), sizes.tolist(), strict=True))


class Exploration(Results[CountResult]):
    """Result of :func:`dogc.explore`: a table to print, to index and to turn into a frame.

    ``len`` and iteration go over :class:`CountResult` rows in rising order, ``exploration[3]`` is
    the one of three clusters, ``steps`` says what splits and merges from each to the next,
    ``labels`` maps numbers to labels, ``evidence`` is the ``cluster_counts_`` of a fit with
    ``n_clusters="auto"`` and ``proposed`` the first of them that was tried; empty and None where
    the method proposes none.
    """

    def __init__(self, rows: list[CountResult], evidence: list[CountEvidence]):
        """Keep what :func:`dogc.explore` found."""
        self.rows = rows
        self.evidence = evidence
        self.steps: list[Step] = steps_between(self.labels)

    @property
    def proposed(self) -> int | None:
        """The number with the highest score of those that were tried."""
        tried = {row.n_clusters for row in self.rows}
        return next((row.n_clusters for row in self.evidence if row.n_clusters in tried), None)

    def lead(self) -> str:
        """Return what stands first: the proposal, and what scores higher without being tried."""
        if not self.evidence:
            return ""
        best, first = self.evidence[0].n_clusters, self.proposed
        words = f"{best} clusters are proposed: the highest score."
        if best == 1:
            words = "No cluster structure was detected: 1 cluster has the highest score."
        elif first != best:
            words = f"{best} clusters, which were not tried, have the highest score."
        of_those = f" Of the numbers tried, {first} scores highest and is proposed."
        return f"{words}{'' if first in (best, None) else of_those} {SCORE}"

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, one row a number of clusters (needs pandas)."""
        pd = needed("pandas", "to_frame")
        nested = {step.more: step.nested for step in self.steps}
        words = {step.more: " ".join(map(change_words, step.changes)) for step in self.steps}
        records = [
            {
                "n_clusters": row.n_clusters,
                "score": row.score,
                **(row.evidence._asdict() if row.evidence else {}),
                "nested": nested.get(row.n_clusters, np.nan),
                "sizes": " ".join(str(size) for size in row.sizes.values()),
                "changes": words.get(row.n_clusters, ""),
                "seconds": round(row.seconds, 3),
                "note": row.note,
            }
            for row in self.rows
        ]
        return pd.DataFrame(records).set_index("n_clusters")

    def __str__(self) -> str:
        """Return the table as text, with what splits and merges below it."""
        lines = [["clusters", "score", "verdict", "stability", "sizes"]]
        for row in self.rows:
            star = "*" if row.n_clusters == self.proposed else ""
            stable = row.evidence.stability if row.evidence else np.nan
            score, stability = (
                "-" if np.isnan(value) else f"{value:.2f}" for value in (row.score, stable)
            )
            verdict = row.evidence.verdict if row.evidence else "-"
            sizes = " ".join(map(str, row.sizes.values()))
            lines.append([f"{star}{row.n_clusters}", score, verdict, stability, sizes])
        text = [aligned(lines, left=0)]
        if self.evidence:
            text.append(textwrap.fill(f"* {self.lead()}", WIDTH))
        for step in self.steps:
            words = " ".join(map(change_words, step.changes))
            text.append(textwrap.fill(f"{step.fewer} to {step.more}: {words}", WIDTH,
                                      subsequent_indent="  "))  # fmt: skip
        return "\n".join(text)


def explore(
    X: Any,
    n_clusters: Iterable[int] = range(2, 9),
    method: BaseEstimator | None = None,
    *,
    propose: bool = True,
    progress: bool | None = None,
) -> Exploration:
    """Fit one method at several numbers of clusters, and say what splits and merges between them.

    Use it when you do not know how many clusters there are: one score ranks the numbers, and each
    has a verdict on its clusters.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows to cluster.
    n_clusters : iterable of int, default=range(2, 9)
        The numbers of clusters to try.
    method : clusterer with ``n_clusters``, default=None
        It is copied and fitted with each number. None means ``DOGC()``.
    propose : bool, default=True
        Whether to fit with ``n_clusters="auto"`` too, where the method knows that, for the score
        of each number and a proposal.
    progress : bool, default=None
        Whether to show a progress bar; None shows it in a terminal or notebook only.

    Returns
    -------
    exploration : Exploration
        Print it, index it by number of clusters, draw it with
        :class:`dogc.plotting.SplitDisplay`, or call ``to_frame()``.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dogc import explore
    >>> X, _ = make_blobs(90, centers=[(0, 0), (9, 0), (9, 4)], random_state=0)
    >>> found = explore(X, [2, 3])
    >>> found.proposed, found.steps[0].changes
    (3, (Change(kind='split', cluster=0, parts=(0, 2), rows=(31, 29)),))
    """
    estimator = DOGC() if method is None else method
    if not hasattr(estimator, "n_clusters") or not hasattr(estimator, "fit_predict"):
        raise ValueError(
            f"method must be a clusterer with n_clusters, such as DOGC(); got {shown(estimator)}."
        )
    wanted = sorted(set(n_clusters)) if isinstance(n_clusters, Iterable) else [n_clusters]
    if not wanted:
        raise ValueError("n_clusters is empty; name at least one number of clusters.")
    for count in wanted:
        check_cluster_count(count, _num_samples(X))
    auto = ["auto"] if propose and isinstance(estimator, GraphClusterer) else []
    evidence: list[CountEvidence] = []
    rows = []
    with tqdm([*auto, *wanted], disable=None if progress is None else not progress) as bar:
        for count in bar:
            bar.set_description(f"{count} clusters" if count != "auto" else "proposal")
            model = clone(estimator).set_params(n_clusters=count)
            labels, seconds, note = timed_fit(model, X)
            if count == "auto":  # of which only the evidence is wanted
                evidence = list(model.cluster_counts_)
                continue
            score = next((row.score for row in evidence if row.n_clusters == count), np.nan)
            seen = judged(model, X, labels)
            rows.append(CountResult(count, labels, model, seconds, score, seen, note))
    names = followed({row.n_clusters: row.labels for row in rows})
    return Exploration([row._replace(labels=names[row.n_clusters]) for row in rows], evidence)
