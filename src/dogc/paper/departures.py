"""The departures of the library from the paper, and the effect of each: ``dogc paper departures``.

Each departure is a class that overrides one step of the printed algorithm; :func:`printed_with`
combines them. The table has the algorithm as printed, with one departure at a time, with all
of them, what the authors' published code does, and the library itself.
Nothing is chosen by ground truth; the number of clusters is that of the classes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from .. import DOGC, DOGCOS
from ..datasets import UCI_NAMES
from ..metrics import clustering_accuracy
from . import as_printed
from .as_printed import PrintedDOGC, PrintedDOGCOS, State
from .protocol import rows_and_classes
from .published import PublishedDOGC
from .runs import Results, code_version, fitted, in_parallel


class NewLaplacian(PrintedDOGC):
    """F and W see the Laplacian of the new S; step 2 stands before step 3 in Algorithm 1."""

    def step_S(self, X: np.ndarray, s: State) -> State:
        """As printed, and L after it."""
        s = super().step_S(X, s)
        return s._replace(L=as_printed.laplacian(s.S))


class TwoLambda(PrintedDOGC):
    """The weight 2 lambda of `eq:7` in the F step, where `eq:11` prints 1."""

    def step_F(self, X: np.ndarray, s: State) -> State:
        """Of Tr(F'LF)."""
        return super().step_F(X, s._replace(L=2 * s.lam * s.L))._replace(L=s.L)


class FixedXi(PrintedDOGC):
    """One xi for the run, from the distances in all features, not another in each subspace."""

    def regulariser(self, X: np.ndarray, s: State) -> float:
        """As `eq:25`, with W the identity."""
        return as_printed.overall_xi(as_printed.projected_distances(X, np.eye(X.shape[1])), self._k)


class Candidates(PrintedDOGC):
    """S lives on each row's k nearest other rows in the space of all features."""

    def distances(self, X: np.ndarray, s: State) -> np.ndarray:
        """As printed to the candidates, infinite to all others."""
        raw = cdist(X, X, "sqeuclidean")
        np.fill_diagonal(raw, np.inf)
        near = np.argpartition(raw, self._k - 1, axis=1)[:, : self._k]
        far = np.ones(raw.shape, dtype=bool)
        np.put_along_axis(far, near, False, axis=1)
        return np.where(far, np.inf, super().distances(X, s))


class Bisection(PrintedDOGC):
    """After an overshoot lambda goes back to the last state with too few components."""

    def start(self, X: np.ndarray, rng: np.random.Generator) -> State:
        """As printed; nothing is known of lambda."""
        self._below: State | None = None
        self._above = np.inf
        return super().start(X, rng)

    def next_lambda(self, s: State, count: int) -> State:
        """Double until there are enough components, then bisect."""
        if count == self.n_clusters:
            return s
        if count < self.n_clusters:
            self._below = s
        else:
            self._above = s.lam
        if self._below is None or np.isinf(self._above):
            return super().next_lambda(s, count)
        return self._below._replace(lam=np.sqrt(self._below.lam * self._above))


class DataStart(PrintedDOGC):
    """W, S, F, Q and Y from the data instead of at random."""

    def start(self, X: np.ndarray, rng: np.random.Generator) -> State:
        """S of all features at lambda = 0, its W, S again in that, bottom eigenvectors, labels."""
        s = super().start(X, rng)._replace(lam=0.0, W=np.eye(X.shape[1]))
        s = self.step_S(X, s._replace(xi=self.regulariser(X, s)))
        principal = np.linalg.eigh(np.cov(X.T).reshape(len(X.T), -1))[1][:, ::-1][:, : self._m]
        s = s._replace(W=as_printed.update_W(X, as_printed.laplacian(s.S), principal))
        s = self.step_S(X, s._replace(xi=self.regulariser(X, s)))
        L = as_printed.laplacian(s.S)
        F = scipy.linalg.eigh(L, subset_by_index=[0, self.n_clusters - 1])[1]
        Q = rotation(F)
        return s._replace(L=L, F=F, Q=Q, Y=self.assign(F @ Q), lam=s.xi)


class Restart(PrintedDOGC):
    """Rotation and labels also found afresh from F, and taken where ||Y - FQ||^2 is lower."""

    def step_Q(self, X: np.ndarray, s: State) -> State:
        """The better of the two, with the labels' names kept."""
        s = super().step_Q(X, s)
        Q = rotation(s.F)
        Y = self.assign(s.F @ Q)
        old = linear_sum_assignment(-s.Y.T @ Y)[1]
        Q, Y = Q[:, old], Y[:, old]
        if np.vdot(Y, s.F @ Q) <= np.vdot(s.Y, s.F @ s.Q) + 1e-9:
            return s
        return s._replace(Q=Q, Y=Y)


class NoEmptyCluster(PrintedDOGC):
    """Labels that leave no cluster empty."""

    def assign(self, gain: np.ndarray) -> np.ndarray:
        """Each cluster that would be empty is promised a row, at the least cost in total."""
        Y = super().assign(gain)
        if Y.any(axis=0).all():
            return Y
        rows, cluster = linear_sum_assignment(gain.max(axis=1, keepdims=True) - gain)
        Y[rows] = np.eye(gain.shape[1])[cluster]
        return Y


class RelativePenalties(PrintedDOGC):
    """Alpha, beta and gamma in units of the data, at the library's defaults."""

    def penalties(self, X: np.ndarray, s: State) -> tuple[float, float, float]:
        """Alpha against lambda and the length of rows of F; gamma against the scatter."""
        length = np.sqrt(self.n_clusters / len(X))
        alpha = 1e-3 * s.lam * length
        scatter = float(np.mean(X.var(axis=0)) * len(X))  # of a feature
        return alpha, 0.1 * alpha * length, 1e-2 * scatter


class NoSmallComponents(PrintedDOGC):
    """A component below a tenth of n/c is tied to its nearest and does not count."""

    def step_S(self, X: np.ndarray, s: State) -> State:
        """The nearest two rows, inside and outside, get the weight of a neighbour."""
        s = super().step_S(X, s)
        d, S = cdist(X, X, "sqeuclidean"), s.S.copy()
        member = self.components(S)[1]
        sizes = np.bincount(member).astype(float)
        while np.isfinite(sizes).sum() > 1 and sizes.min() < len(X) / (10 * self.n_clusters):
            small = int(np.argmin(sizes))
            inside, outside = np.flatnonzero(member == small), np.flatnonzero(member != small)
            near = d[np.ix_(inside, outside)]
            a, b = np.unravel_index(int(np.argmin(near)), near.shape)
            i, j = inside[a], outside[b]
            S[i] *= 1 - 1 / self._k if self._k > 1 else 0.5
            S[i, j] = 1 - S[i].sum()
            sizes[member[j]] += sizes[small]
            sizes[small] = np.inf
            member[inside] = member[j]
        return s._replace(S=S)


class DistinctRows(PrintedDOGC):
    """Copies are one row, and rows are sorted: neither copies nor the order of rows matter."""

    def fit(self, X: Any, y: Any = None) -> PrintedDOGC:
        """Fit the distinct rows, without weights; copies take their labels."""
        X, which = np.unique(np.asarray(X, dtype=float), axis=0, return_inverse=True)
        super().fit(X)
        self.labels_ = self.labels_[which.ravel()]
        return self


class ExactLabels(PrintedDOGCOS):
    """The loss at each of the c labels, not its weighted square at the old one (`eq:36`)."""

    def step_Y(self, X: np.ndarray, s: State) -> State:
        """`eq:34` with the loss of `eq:27`, row by row."""
        s = self.step_P(X, s)
        alpha, beta, _ = self.penalties(X, s)
        fitted = self.regressors(X) @ s.P
        squared = 1 - 2 * fitted + np.sum(fitted**2, axis=1, keepdims=True)
        loss = np.maximum(squared, 0) ** (self.p / 2)
        return s._replace(Y=self.assign(2 * alpha * s.F @ s.Q - beta * loss))


class Intercept(PrintedDOGCOS):
    """A regression with an intercept, which is not penalised."""

    def regressors(self, X: np.ndarray) -> np.ndarray:
        """X and a column of ones."""
        return np.column_stack([X, np.ones(len(X))])

    def ridge(self, X: np.ndarray, s: State) -> np.ndarray:
        """Gamma, and 0 for the ones."""
        return np.append(super().ridge(X, s), 0.0)


def rotation(F: np.ndarray) -> np.ndarray:
    """The c rows of F that lie furthest apart (pivoted QR), then `eq:15` and `eq:18` in turn."""
    pivots = scipy.linalg.qr(F.T, mode="economic", pivoting=True)[2][: F.shape[1]]
    Q, Y = as_printed.update_Q(F[pivots], np.eye(F.shape[1])), np.empty(0)
    for _ in range(100):
        new = as_printed.update_Y(F @ Q)
        if np.array_equal(new, Y):
            break
        Y, Q = new, as_printed.update_Q(F, new)
    return Q


COMMON: dict[str, type[PrintedDOGC]] = {
    "rows distinct and sorted": DistinctRows,
    "Laplacian of the new S": NewLaplacian,
    "small components tied": NoSmallComponents,
    "k nearest candidates": Candidates,
    "2 lambda in the F step": TwoLambda,
    "xi fixed": FixedXi,
    "lambda bisected": Bisection,
    "restart of Q, Y": Restart,
    "start from the data": DataStart,
    "no empty cluster": NoEmptyCluster,
    "relative penalties": RelativePenalties,
}
REGRESSION: dict[str, type[PrintedDOGC]] = {"exact Y step": ExactLabels, "intercept": Intercept}
METHODS = {"DOGC": (PrintedDOGC, COMMON), "DOGC-OS": (PrintedDOGCOS, COMMON | REGRESSION)}


def printed_with(method: str, *names: str) -> type[PrintedDOGC]:
    """The printed algorithm with some departures.

    Examples
    --------
    >>> printed_with("DOGC-OS", "intercept", "xi fixed").__name__
    'PrintedDOGCOSInterceptFixedXi'
    """
    base, known = METHODS[method]
    parts = [known[name] for name in names]
    title = base.__name__ + "".join(part.__name__ for part in parts)
    return type(title, (*parts, base), {})


# ----------------------------------------------------------------------------------- the table

DATA = (*UCI_NAMES, "moons 0.08 0", "clusters36 0.05 0", "gaussians 2.0 0")
# The printed algorithm seldom comes to rest, so this is what ends most of its runs.
MAX_ITER = 30
PRINTED, ALL, PUBLISHED = "as printed", "all of these", "published code"
SAME, DEFAULTS = "library, same k, m, penalties", "library"
# Nothing random is left in these, so they run once.
CERTAIN = ("start from the data", ALL, SAME, DEFAULTS)

# Of departures.csv: how the runs of a variant ended. Column -> measure of a run, and what is taken
# over the runs. `exact` and `rose` are shares of the runs, `seconds` are of processor time.
MEASURES: dict[str, tuple[str, Any]] = {
    "seeds": ("acc", "size"),
    "acc_median": ("acc", lambda acc: np.quantile(acc, 0.5)),
    "acc_q1": ("acc", lambda acc: np.quantile(acc, 0.25)),
    "acc_q3": ("acc", lambda acc: np.quantile(acc, 0.75)),
    "acc_best": ("acc", "max"),
    "exact": ("exact", "mean"),
    "empty": ("empty", "mean"),
    "rose": ("rose", "mean"),
    "iterations": ("iterations", "median"),
    "seconds": ("seconds", "mean"),
}
COLUMNS = ["data", "method", "variant", *MEASURES, "extent", "version"]


def lines_of(method: str) -> list[str]:
    """The lines of the table for a method."""
    lines = [PRINTED, *METHODS[method][1], ALL, PUBLISHED, SAME, DEFAULTS]
    return lines if method == "DOGC-OS" else [line for line in lines if line != PUBLISHED]


def settings(method: str, X: np.ndarray, c: int) -> dict[str, Any]:
    """The text's recommendation: k = n/10, penalties as in its study of Vote, m = c of `eq:7`."""
    n, d = X.shape
    setting = {"n_clusters": c, "n_neighbors": max(1, round(n / 10)), "n_components": min(c, d)}
    penalties = {"alpha": 1e-4, "beta": 1e-2, "gamma": 1e-4, "p": 1.25}
    return {**setting, **(penalties if method == "DOGC-OS" else {"alpha": 1e-4})}


def model_for(method: str, variant: str, X: np.ndarray, c: int, seed: int) -> Any:
    """The estimator of one line of the table."""
    library = DOGC if method == "DOGC" else DOGCOS
    if variant == DEFAULTS:
        return library(c, init="spectral", n_jobs=1)
    setting = settings(method, X, c)
    if variant == PUBLISHED:
        return PublishedDOGC(c, n_neighbors=setting["n_neighbors"], random_state=seed)
    if variant == SAME:
        return library(**setting, penalties="paper", geometry="given", n_jobs=1)
    names = METHODS[method][1] if variant == ALL else () if variant == PRINTED else (variant,)
    return printed_with(method, *names)(**setting, max_iter=MAX_ITER, random_state=seed)


def execute(data: str, method: str, variant: str, seed: int) -> dict[str, Any]:
    """One fit on one data set, z-scored if it is not synthetic."""
    X, y = rows_and_classes(data, "z-score")
    c = int(y.max()) + 1
    began = time.process_time()
    model = fitted(model_for(method, variant, X, c, seed), X)
    return {
        **{"data": data, "method": method, "variant": variant},
        "acc": clustering_accuracy(y, model.labels_),
        "exact": model.history_[-1].n_components == c,  # components of the graph
        "empty": c - len(np.unique(model.labels_)),  # clusters without a row
        "rose": np.nan if variant == PUBLISHED else ever_rose(model.history_),
        "iterations": len(model.history_),
        "seconds": time.process_time() - began,
    }


def ever_rose(history: Sequence[Any]) -> bool:
    """Whether the objective rose where it can be compared: at one lambda and one xi."""
    if hasattr(history[0], "objective_before"):
        pairs = [(record.objective_before, record.objective) for record in history]
    else:
        pairs = [(a.objective, b.objective) for a, b in pairwise(history) if a.lam == b.lam]
    return any(after > before + 1e-9 * abs(before) for before, after in pairs)


def departures_table(data: str, how: Results) -> list[dict[str, Any]]:
    """Every variant of both methods on a data set, each with all seeds."""
    seeds = {**dict.fromkeys(CERTAIN, 1), PUBLISHED: min(10, 2 * how.n_runs)}
    runs = [
        (data, method, variant, seed)
        for method in METHODS
        for variant in lines_of(method)
        for seed in range(seeds.get(variant, how.n_runs))
    ]
    fits = pd.DataFrame(in_parallel(execute, runs, how.jobs, data, how.quiet))
    rows = fits.groupby(["data", "method", "variant"], sort=False).agg(**MEASURES).reset_index()
    return rows.assign(extent="full", version=code_version()).to_dict("records")
