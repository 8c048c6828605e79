"""The linear rule that labels new rows, fitted to the labels of a clustering."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..loop.state import State
from ..numerics import outliers
from ..numerics.matrix import Ended, Matrix, never
from . import labelling, outlier_scores
from .repeatable import in_chunks
from .representatives import ManyRows, Representatives, as_points
from .scaling import Scaled, as_given
from .settings import Settings

# Rows that the rule is fitted to, where there are many.
RULE_ROWS = 20_000
# Inverse penalties, strongest first: the first that repeats so many labels is taken. A stronger
# penalty labels new rows better, a weaker one repeats more labels.
PENALTIES, ENOUGH, MAX_ITER = (1.0, 10.0, 100.0, 1000.0), 0.99, 200
FEW_ITER = 10  # where there is no time
# Deviations from the mean beyond which an outlier is drawn in.
FARTHEST = 10.0


# Below this share of labels that come back, predict contradicts the fit.
REPEATED = 0.95


class Rule(NamedTuple):
    """The rule that labels new rows."""

    name: str  # "logistic", "paper" or "neighbors"
    coef: np.ndarray | None = None  # (c, d); None where neighbours decide
    intercept: np.ndarray | None = None  # (c,)


class RuleRows(NamedTuple):
    """Rows on the scale of the problem with their labels, and what the loop left."""

    Z: Matrix  # (m, d)
    labels: np.ndarray  # (m,) numbered by falling size
    weight: np.ndarray  # (m,)
    score: np.ndarray  # (m,) outlier scores
    scaled: Scaled
    state: State
    new_name: np.ndarray  # (c,)


def sampled_rows(
    fitted: Representatives, many: ManyRows, state: State, new_name: np.ndarray, n_jobs: int | None
) -> RuleRows:
    """Some of many rows, with their labels, and the representatives: each cluster has one."""
    X, weight = many.sample.X[:RULE_ROWS], many.sample.weight[:RULE_ROWS]
    scaled, reach = fitted.frame.scaled, fitted.reach
    assert reach is not None
    Z = np.vstack([as_points(fitted.frame._replace(directions=None), X), scaled.X])
    labels = np.append(labelling.new_labels(fitted, X, n_jobs), fitted.labels)
    weight = np.append(weight, np.ones(len(reach)))
    apart = reach / (np.median(reach) or 1.0)
    score = np.append(outlier_scores.new_scores(fitted, X, n_jobs), apart)
    return RuleRows(Z, labels, weight, score, scaled, state, new_name)


def fitted_rule(rows: RuleRows, settings: Settings, dtype: Any, ended: Ended = never) -> Rule:
    """The rule that was asked for, in features as the user has them."""
    # Under max_time there may have been none for the paper's regression.
    name = "paper" if settings.rule == "paper" and rows.state.P.any() else "logistic"
    if name == "paper":
        old_name = np.argsort(rows.new_name)
        P, intercept = rows.state.P[:, old_name], rows.state.intercept[old_name]
    else:
        P, intercept = logistic_rule(rows, ended)
    scaled, shifted = rows.scaled, name == "logistic" or settings.fit_intercept
    P = P if scaled.T is None else scaled.T @ P
    coef = (P / np.reshape(scaled.scale, (-1, 1))).T
    intercept = intercept - (scaled.shift @ coef.T if shifted else 0.0)
    coef = np.ascontiguousarray(as_given(scaled, coef).astype(dtype))
    return Rule(name, coef, intercept.astype(dtype))


def judged_rule(
    rule: Rule, settings: Settings, X: Matrix, labels: np.ndarray, weight: np.ndarray, other: float
) -> tuple[Rule, float]:
    """The rule and the share of labels that it repeats; with "auto" neighbours may step in.

    They repeat the share ``other``.
    """
    agreement = 1.0
    if len(labels):
        agreement = float(np.average(rule_labels(X, rule) == labels, weights=weight))
    if settings.rule == "auto" and agreement < REPEATED:
        return Rule("neighbors"), other
    return rule, agreement


def logistic_rule(rows: RuleRows, ended: Ended = never) -> tuple[np.ndarray, np.ndarray]:
    """Logistic regression of the labels on columns of one deviation: (d, c) and (c,).

    Outliers do not stretch the columns, and they are drawn in: one of them could otherwise make
    all other rows look alike.
    """
    Z, weight, c = rows.Z, rows.weight, len(rows.new_name)
    d = Z.shape[1]
    if c == 1:
        return np.zeros((d, 1)), np.zeros(1)
    inside = rows.score <= outliers.OUTLYING
    mean, deviation = _moments(Z[inside], weight[inside]) if inside.any() else _moments(Z, weight)
    if sp.issparse(Z):
        Z = Z.astype(np.float64) @ sp.dia_array((1.0 / deviation[None, :], [0]), shape=(d, d))
    else:
        Z = np.clip((Z - mean) / deviation, -FARTHEST, FARTHEST)
    model = _strongest(Z, rows.labels, weight / weight.mean(), ended)
    coef, intercept = model.coef_ / deviation, model.intercept_
    if c == 2:  # one score, for the second against the first
        coef, intercept = np.vstack([-coef, coef]) / 2.0, np.append(-intercept, intercept) / 2.0
    return coef.T, intercept - (0.0 if sp.issparse(Z) else coef @ mean)


def _strongest(
    Z: Matrix, labels: np.ndarray, weight: np.ndarray, ended: Ended = never
) -> LogisticRegression:
    """The regression with the strongest penalty that repeats the labels; else the closest.

    It is the first, and rough, where there is no more time.
    """
    best, most = None, -1.0
    for C in PENALTIES:
        model = LogisticRegression(C=C, max_iter=FEW_ITER if ended() else MAX_ITER)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(Z, labels, sample_weight=weight)
        share = float(model.score(Z, labels, sample_weight=weight))
        if share > most:
            best, most = model, share
        if share >= ENOUGH or ended():
            break
    return best


def _moments(Z: Matrix, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean of each column and its deviation; 1 where it is constant."""
    share = weight / weight.sum()
    mean = np.asarray(share @ Z).ravel()
    if sp.issparse(Z):
        variance = np.asarray(share @ Z.multiply(Z)).ravel() - mean**2
    else:
        variance = share @ np.square(Z - mean)
    rounding = np.finfo(float).eps * np.maximum(mean**2, np.max(variance, initial=0.0))
    return mean, np.sqrt(np.where(variance > 4.0 * rounding, variance, 1.0))


def rule_scores(X: Matrix, rule: Rule) -> np.ndarray:
    """The score of each cluster for each row."""
    assert rule.coef is not None
    return np.asarray(X @ rule.coef.T) + rule.intercept


def rule_labels(X: Matrix, rule: Rule) -> np.ndarray:
    """The cluster with the highest score for each row."""
    return in_chunks(lambda rows: rule_scores(rows, rule).argmax(axis=1), X)
