"""Warnings of a fit that went less than well."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .._caller import warn_caller
from ..fitting.auto import n_neighbors as scales
from ..fitting.auto import n_representatives as resolutions
from ..fitting.rule import REPEATED
from ..loop.solver import HALTED, STOPPING_REASONS

# Below this share of true neighbours it is worth a word.
LOW_RECALL = 0.5
# Why predict contradicts the fit, by what labels new rows, and what to do.
_CONTRADICTIONS = {
    "logistic": "no linear rule follows these clusters; use rule='auto', or DOGC, whose predict "
    "follows neighbours",
    "paper": "the regression P masks clusters that lie between others; use rule='logistic'",
    "neighbors": "many rows lie between clusters; choose a smaller n_clusters",
}


def warn_of_fit(estimator: Any, choice: resolutions.ResolutionChoice | None) -> None:
    """Say what went less than well; ``choice`` is that of the number of representatives."""
    recall, scales_ = estimator.neighbors_recall_, estimator.scales_
    if recall is not None and recall < LOW_RECALL:
        warn_caller(
            f"the approximate search found only {recall:.0%} of the true neighbours, as often in "
            "many dimensions; neighbors_algorithm='brute' finds all of them but is slower."
        )
    c, best = estimator.n_clusters_, float(scales_.score.max())
    if choice is not None:
        warn_of_disagreement(choice)
    elif len(scales_.n_neighbors) > 1 and c > 1 and best < scales.EVIDENCE:
        warn_caller(
            f"the clusters change with the number of neighbours (best score {best:.2f}): the data "
            f"may not have {c} clusters; try another n_clusters ('auto' estimates it), or set "
            "n_neighbors."
        )
    warn_unless_converged(estimator)
    if estimator.label_agreement_ < REPEATED and estimator.stopping_reason_ not in HALTED:
        why = _CONTRADICTIONS[getattr(estimator, "rule_", "neighbors")]
        warn_caller(f"predict repeats {estimator.label_agreement_:.0%} of labels_: {why}.")


def warn_of_disagreement(choice: resolutions.ResolutionChoice) -> None:
    """Say that the labels hang on the number of representatives."""
    if choice.confirmed < scales.EVIDENCE:
        warn_caller(
            f"the clusters change with the number of representatives (agreement "
            f"{choice.confirmed:.2f}): they overlap, or n_clusters is wrong; try another "
            "n_clusters, or set n_representatives."
        )


def warn_unless_converged(estimator: Any) -> None:
    """Say why the loop stopped, unless it converged or was asked to stop."""
    if not estimator.converged_ and estimator.stopping_reason_ != "callback":
        warn_caller(
            f"{type(estimator).__name__} stopped before it converged: "
            f"{STOPPING_REASONS[estimator.stopping_reason_]}.",
            ConvergenceWarning,
        )
