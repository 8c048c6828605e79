"""The clustering task as the `auto` choices see it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from ...loop.initial_states import modularity_start, spectral_start
from ...loop.methods import Method
from ...loop.running import run
from ...loop.solver import HALTED
from ...loop.state import Problem, State
from ...loop.watch import Watch
from ...numerics.matrix import Matrix
from ..column_maps import GIVEN, Columns, own_columns
from ..problems import Geometry, Place, locate, problem_at, problem_on
from ..representatives import ManyRows, NodeGraph
from ..settings import Settings
from .n_components import geometry_of
from .n_neighbors import SCALES

# Rows of the sample on which choices are made.
SAMPLE_ROWS = 2_000
NO_ROWS = np.empty((0, 0))


# A problem, and the state in which it begins.
Start = tuple[Problem, State]


class Labelling(NamedTuple):
    """Labels and outcome of a graph of representatives."""

    labels: np.ndarray  # (p,)
    halted: bool  # somebody wanted an end
    outcome: Any


class Task(NamedTuple):
    """Settings and method of a fit; with distinct rows, once they are known."""

    settings: Settings
    method: Method
    seed: int
    watch: Watch
    X: Matrix = NO_ROWS
    size: np.ndarray = NO_ROWS
    n_distinct: int = 0
    columns: np.ndarray | None = None  # (d,) the order that X has them in; None: as they came
    own: Columns = GIVEN  # in which rows are compared first
    place: Place | None = None  # in these columns, where neighbours are known already

    def in_own_columns(self) -> Task:
        """The task with its rows in the columns in which they are compared first."""
        wanted = self.settings.wanted
        own = own_columns(self.X, self.size, wanted.geometry, wanted.n_clusters)
        return self._replace(own=own)

    def solve(
        self, many: ManyRows, nodes: NodeGraph, watch: Watch, init: Any, firmness: float
    ) -> Labelling:
        """The graph of representatives, solved from a start with alpha multiplied."""
        settings, penalties = self.settings, self.settings.penalties
        strength = penalties._replace(alpha=firmness * penalties.alpha)
        firm = settings._replace(penalties=strength)
        problem = problem_on(nodes, many.frame, firm, many.c, self.method.regresses)
        result, _ = run(problem, self.method, settings.run._replace(init=init), self.seed, watch)
        labels = self.discretise(problem, result.state)
        return Labelling(labels, result.reason in HALTED, (problem, result))

    def discretise(self, problem: Problem, state: State) -> np.ndarray:
        """The discrete labels of a final state; k-means finds those of a continuous Y."""
        if state.Y.ndim == 1:
            return self.method.final_labels(problem, state)
        kmeans = KMeans(problem.c, n_init=10, random_state=0)
        return kmeans.fit(state.Y, sample_weight=problem.nodes.size).labels_.astype(np.int64)


def sampled(task: Task) -> Task:
    """The task on some of its rows, the same every time."""
    n, rng = task.X.shape[0], np.random.default_rng(0)
    rows = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    X, size = task.X[rows], task.size[rows]
    return task._replace(X=X, size=size, watch=task.watch.quiet(), place=None)


def largest_scale(task: Task) -> int:
    """The most neighbours that are ever asked for."""
    wanted = task.settings.wanted
    if not task.settings.is_open:
        return wanted.n_neighbors or 1
    largest = max(1, (task.X.shape[0] - 1) // 2)
    if task.settings.lookup.precomputed:
        stored = np.diff(sp.csr_array(task.X).indptr) - (task.X.diagonal() != 0)
        largest = int(min(largest, max(1, stored.min())))
    return max(min(largest, SCALES[-1]), wanted.n_neighbors or 1)


def place_of(task: Task, columns: Columns | None = None, k: int | None = None) -> Place:
    """The rows with their neighbours, as many as are ever asked for unless k says how many.

    Without columns, those in which rows are compared first.
    """
    if task.place is not None and columns is None:
        return task.place
    settings, k = task.settings, largest_scale(task) if k is None else k
    k = task.X.shape[0] - 1 if settings.wanted.everyone else k
    with task.watch.phase("neighbours"):
        if settings.lookup.precomputed:
            geometry = Geometry(None, None, None, None, task.X.dtype)
        else:
            geometry = geometry_of(task.X, settings.wanted.n_components, columns or task.own)
            assert geometry.scaled is not None
            geometry = geometry._replace(scaled=geometry.scaled._replace(order=task.columns))
        return locate(task.X, task.size, geometry, settings.lookup, k, task.watch)


def start_at(
    task: Task, place: Place, c: int, k: int, start: str, known: dict[int, Start]
) -> Start:
    """The problem with k neighbours, and where it begins; another start of it may be known."""
    ended = task.watch.end.is_near
    if k in known:
        problem, spectral = known[k]
    else:
        problem = problem_at(place, task.settings, c, k, task.method.regresses)
        spectral = spectral_start(problem._replace(ended=ended))
    if start == "spectral":
        return problem, spectral
    return problem, modularity_start(problem._replace(ended=ended), spectral)
