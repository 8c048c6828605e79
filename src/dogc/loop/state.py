"""The Problem of a run, which stays, and its State, which moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..numerics import graph
from ..numerics.matrix import Ended, Matrix, never
from .penalties import Weights


class Candidates(NamedTuple):
    """Pairs that may be joined and their distances: all that S is learned on."""

    k: int
    idx: np.ndarray  # (n, k+1) in the space of all features, nearest first
    d: np.ndarray  # (n, k+1) their squared distances
    xi: np.ndarray  # (n,) the regularisers of the row problem
    A: np.ndarray | None = None  # (n, k) a given graph on the candidates; None to learn S
    copies: np.ndarray | None = None  # (n,) rows that each node stands for there; None: one

    def counts(self, idx: np.ndarray) -> np.ndarray | None:
        """Numbers of rows that candidates stand for; None: one each."""
        return None if self.copies is None else self.copies[idx]


class Nodes(NamedTuple):
    """Rows that the nodes of the graph stand for.

    Where a node stands for m rows, their rows of F are equal, and F'F = I over the rows is
    F'MF = I over the nodes. The State holds M^1/2 F, whose columns are orthonormal.
    """

    size: np.ndarray  # (n,) what each counts for as a row: its copies
    coordinates: Matrix | None  # (n, d) as points, to merge components by; None if precomputed
    min_size: float = 0.0  # the least that a component must count for to be a cluster
    standing: np.ndarray | None = None  # (n,) what each counts for there; None: its size
    mass: np.ndarray | None = None  # (n,) what each counts for in F and Y; None: one each
    root: np.ndarray = np.ones((1, 1))  # (n, 1) the root of the mass, or one for all


class Subspace(NamedTuple):
    """Row space in which the projection W is looked for."""

    R: np.ndarray  # (n, r) row-space coordinates, times the root of the masses
    m: int  # columns of W
    # (r, r) scatter of rows about their nodes: those that share one are as far apart
    within: np.ndarray | float = 0.0


class Regression(NamedTuple):
    """Features that P is fitted to, beside the labels."""

    X: Matrix  # (n, d) features, array or sparse
    p: float
    fit_intercept: bool


class Problem(NamedTuple):
    """Everything that a step may read and none may change.

    Rows are scaled so that the total scatter Tr(XHX') is 1: distances, lambda and xi then
    mean the same at any scale of the input.
    """

    c: int
    candidates: Candidates
    nodes: Nodes
    weights: Callable[[float], Weights]
    subspace: Subspace | None = None  # None if no projection is learned
    regression: Regression | None = None  # None if none is learned
    threads: int = 1  # for work on rows, which is the same for any number

    ended: Ended = never  # what takes long is left rough from there on

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.candidates.idx)


class LambdaSearch(NamedTuple):
    """The bracket around the lambda that gives exactly c components."""

    low: float  # fewer than c components here
    high: float  # more than c components here; infinite while unseen
    anchor: State | None  # the state at `low`, to go back to after an overshoot
    unit: float  # where the search began
    fragmented: bool  # more than c components even at lambda = 0


class LearnedGraph(NamedTuple):
    """The weights S on candidates, and what follows from them."""

    idx: np.ndarray  # (n, k) candidates, by index; the same for a whole run
    S: np.ndarray  # (n, k) their weights
    L: sp.csr_array  # Laplacian of S
    member: np.ndarray  # component of each node
    n_components: int
    stray: np.ndarray  # (n,) nodes in components that were too small and were tied to others


class State(NamedTuple):
    """The paper's variables and what is derived from them.

    A step replaces its own block and what follows from that block alone.
    """

    graph: LearnedGraph
    F: np.ndarray  # (n, c), times the root of the masses where there are any
    W: np.ndarray | None  # (r, m)
    Q: np.ndarray  # (c, c)
    Y: np.ndarray  # (n,) labels; (n, c) where they are relaxed
    P: np.ndarray  # (d, c), or (0, c) where there is no regression
    intercept: np.ndarray  # (c,)
    dx: np.ndarray  # (n, k) d^wx on the candidates
    lam: float
    search: LambdaSearch


def similarities(state: State) -> sp.csr_array:
    """S itself: each row sums to one (`eq:7`)."""
    return graph.to_csr(state.graph.idx, state.graph.S, len(state.graph.S))


def symmetric(S: sp.csr_array) -> sp.csr_array:
    """The learned graph without directions, (S + S')/2."""
    return ((S + S.T) * 0.5).tocsr()  # the product is a copy: a sum holds room for both
