"""What a run of the loop leaves on an estimator, and what is said of it."""

from __future__ import annotations

import warnings

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..choices import n_neighbors as scales
from ..choices import n_representatives as resolutions
from ..loop.solver import STOPPING_REASONS, SUCCESS, Result
from ..loop.state import State
from ..numerics import graph
from ._rows import RowClusterer
from ._rule import REPEATED


def learned_graph(state: State) -> sp.csr_array:
    """(S + S')/2."""
    S = graph.to_csr(state.idx, state.S, len(state.S))
    return ((S + S.T) * 0.5).tocsr()


def assign_run(estimator: RowClusterer, result: Result) -> None:
    """Set the attributes that say how the loop went."""
    estimator.history_ = result.history
    estimator.n_iter_ = len(result.history)
    estimator.stopping_reason_ = result.reason
    estimator.converged_ = result.reason in SUCCESS


# Below this share of true neighbours it is worth a word.
LOW_RECALL = 0.5


def warn_of_recall(recall: float | None) -> None:
    """Say that the approximate search found few of the true neighbours."""
    if recall is not None and recall < LOW_RECALL:
        warnings.warn(
            f"the approximate search found {recall:.0%} of the true neighbours, because rows fill "
            "many dimensions evenly; neighbors_algorithm='brute' finds all of them, slowly.",
            UserWarning,
            stacklevel=3,
        )


def warn_of_disagreement(choice: resolutions.ResolutionChoice) -> None:
    """Say that the labels hang on the number of representatives."""
    if choice.confirmed < resolutions.LOW_AGREEMENT:
        warnings.warn(
            f"the clusters change with the number of representatives (agreement "
            f"{choice.confirmed:.2f}): they overlap, or their number is another; try another "
            "n_clusters, or set n_representatives.",
            UserWarning,
            stacklevel=4,
        )


def warn_of_scales(choice: scales.ScaleChoice, c: int) -> None:
    """Say that the clusters change with the number of neighbours."""
    best = float(choice.score.max())
    if len(choice.n_neighbors) > 1 and c > 1 and best < scales.EVIDENCE:
        warnings.warn(
            f"the clusters change with the number of neighbours (best score {best:.2f}): there may "
            f"be no {c} clusters; try another n_clusters ('auto' proposes one), or set "
            "n_neighbors.",
            UserWarning,
            stacklevel=4,
        )


# Why predict contradicts the fit, by what labels new rows, and what to do.
_CONTRADICTIONS = {
    "logistic": "no linear rule follows these clusters; use rule='auto', or DOGC, whose predict "
    "follows neighbours",
    "paper": "the regression P masks clusters that lie between others; use rule='logistic'",
    "neighbors": "rows lie between clusters of other labels; ask for fewer n_clusters",
}


def warn_of_repetition(estimator: RowClusterer) -> None:
    """Say that predict contradicts the labels of the fit."""
    if estimator.label_agreement_ < REPEATED:
        why = _CONTRADICTIONS[getattr(estimator, "rule_", "neighbors")]
        warnings.warn(
            f"predict repeats {estimator.label_agreement_:.0%} of labels_: {why}.",
            UserWarning,
            stacklevel=3,
        )


def warn_unless_converged(estimator: RowClusterer) -> None:
    """Say why the loop stopped, unless it converged or was asked to stop."""
    if not estimator.converged_ and estimator.stopping_reason_ != "callback":
        warnings.warn(
            f"{type(estimator).__name__} stopped before it converged: "
            f"{STOPPING_REASONS[estimator.stopping_reason_]}.",
            ConvergenceWarning,
            stacklevel=3,
        )
