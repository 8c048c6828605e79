"""What a run knows: the Problem, which stays, and the State, which moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..numerics.matrix import Matrix


class Weights(NamedTuple):
    """The penalties as they enter `eq:26` at one lambda."""

    alpha: float
    beta: float
    gamma: float


class Problem(NamedTuple):
    """Everything that a step may read and none may change.

    Rows are scaled so that the total scatter Tr(XHX') is 1: distances, lambda and xi then
    mean the same at any scale of the input.
    """

    n: int
    c: int
    k: int
    weights: Callable[[float], Weights]
    p: float
    fit_intercept: bool
    xi_rule: Callable[[np.ndarray, int], np.ndarray]
    idx: np.ndarray  # (n, k+1) candidates in the space of all features, nearest first
    d: np.ndarray  # (n, k+1) their squared distances
    X: Matrix | None  # (n, d) features of the regression, array or sparse; None if none is learned
    R: np.ndarray | None  # (n, r) row-space coordinates; None if no projection is learned
    m: int  # columns of W
    coordinates: Matrix | None  # (n, d) rows as points, to merge components by; None if precomputed
    size: np.ndarray  # (n,) what each row counts for: its copies
    min_size: float = 0.0  # the least that a component must count for to be a cluster
    threads: int = 1  # for work on rows, which is the same for any number
    A: np.ndarray | None = None  # (n, k) a given graph on the candidates; None to learn S
    within: np.ndarray | None = None  # (r, r) scatter of rows about their nodes; None: no rows
    mass: np.ndarray | None = None  # (n,) what each node counts for in F and Y; None: one each
    gram: np.ndarray | None = None  # (n, n) X X' of sparse X with more columns than rows


class LambdaSearch(NamedTuple):
    """The bracket around the lambda that gives exactly c components."""

    low: float  # fewer than c components here
    high: float  # more than c components here; infinite while unseen
    anchor: State | None  # the state at `low`, to go back to after an overshoot
    unit: float  # where the search began
    fragmented: bool  # more than c components even at lambda = 0


class State(NamedTuple):
    """The paper's variables and what is derived from them.

    A step replaces its own block and what follows from that block alone.
    """

    S: np.ndarray  # (n, k) weights on the candidates
    L: sp.csr_array  # Laplacian of S
    member: np.ndarray  # component of each row
    n_components: int  # components of S
    stray: np.ndarray  # (n,) rows in components that were too small and were tied to others
    F: np.ndarray  # (n, c), times the root of the masses where there are any
    W: np.ndarray | None  # (r, m)
    dx: np.ndarray  # (n, k) d^wx on the candidates
    Q: np.ndarray  # (c, c)
    Y: np.ndarray  # (n,) labels; (n, c) where they are relaxed
    P: np.ndarray  # (d, c), or (0, c) where there is no regression
    intercept: np.ndarray  # (c,)
    lam: float
    xi: np.ndarray  # (n,)
    idx: np.ndarray  # (n, k) candidates
    search: LambdaSearch


def root_mass(problem: Problem) -> np.ndarray:
    """The root of each node's mass, of shape (n, 1), or one for all.

    Where a node stands for m rows, their rows of F are equal, and F'F = I over the rows is
    F'MF = I over the nodes. The State holds M^1/2 F, whose columns are orthonormal.
    """
    return np.ones((1, 1)) if problem.mass is None else np.sqrt(problem.mass)[:, None]


def by_mass(problem: Problem, F: np.ndarray) -> np.ndarray:
    """M^1/2 times the F of a State: MF, each row of F times what its node counts for."""
    return F if problem.mass is None else root_mass(problem) * F


def paper_weights(alpha: float, beta: float, gamma: float) -> Callable[[float], Weights]:
    """Penalties exactly as `eq:26` prints them, the same at every lambda."""
    fixed = Weights(alpha, beta, gamma)
    return lambda lam: fixed


def firmer_weights(weights: Callable[[float], Weights], by: float) -> Callable[[float], Weights]:
    """The same penalties with alpha, and what hangs on it, multiplied."""

    def at(lam: float) -> Weights:
        alpha, beta, gamma = weights(lam)
        return Weights(alpha * by, beta * by, gamma)

    return at


def relative_weights(
    alpha: float, beta: float, gamma: float, n: int, c: int, d: int
) -> Callable[[float], Weights]:
    r"""Penalties that mean the same at every n, d and scale.

    Rows of F are about :math:`\sqrt{c/n}` long and rows of Y are 1 long, and F feels Y
    against :math:`2 \lambda L`. So alpha is measured in units of
    :math:`\lambda \sqrt{c/n}`; beta in units of what alpha gives one row,
    :math:`\alpha \sqrt{c/n}`; gamma in units of the mean scatter of a feature, 1/d after
    scaling.
    """
    row = np.sqrt(c / n)

    def at(lam: float) -> Weights:
        absolute = alpha * lam * row
        return Weights(absolute, beta * absolute * row, gamma / d)

    return at
