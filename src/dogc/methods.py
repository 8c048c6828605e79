"""Alternating optimisations as data: steps, terms and the loop, for methods of one's own.

A :class:`Method` is a name, a tuple of steps and a tuple of terms. A step takes the
:class:`Problem`, which stays, and the :class:`State`, which moves, and returns the state with
another value of its own block; the steps of the library are in :mod:`dogc.methods.steps`, the terms
of the objective in :mod:`dogc.methods.terms`. :func:`solve` runs a method on a problem. A clusterer
with a method of one's own is a subclass with another ``method``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from .fitting.auto.n_components import geometry_of
from .fitting.problems import locate, problem_at
from .fitting.settings import check_settings
from .loop import objective as terms
from .loop import steps
from .loop.initial_states import spectral_start, warm_start
from .loop.methods import CAN, DOGC, DOGC_FIXED_GRAPH, DOGC_OS, DOGC_RELAXED, PCAN, Method
from .loop.solver import Record, Result, solve
from .loop.state import Problem, State, similarities

__all__ = [
    "CAN",
    "DOGC",
    "DOGC_FIXED_GRAPH",
    "DOGC_OS",
    "DOGC_RELAXED",
    "PCAN",
    "Method",
    "Problem",
    "Record",
    "Result",
    "State",
    "make_problem",
    "similarities",
    "solve",
    "spectral_start",
    "steps",
    "terms",
    "warm_start",
]


def make_problem(X: Any, estimator: Any) -> Problem:
    """Return the problem that an estimator poses for rows, each a node of the graph as it comes.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; columns are compared as given.
    estimator : DOGC, DOGCOS, CAN, PCAN or ablation
        Its parameters pose the problem. ``n_clusters`` and ``n_neighbors`` must be numbers.

    Returns
    -------
    problem : Problem
        What steps and terms read.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dogc import DOGC, methods
    >>> problem = methods.make_problem(load_iris().data, DOGC(3, n_neighbors=10))
    >>> result = methods.solve(problem, methods.DOGC, methods.spectral_start(problem))
    >>> result.reason, result.state.graph.n_components
    ('converged', 3)
    """
    X = check_array(X, dtype=[np.float64, np.float32])
    settings = check_settings(clone(estimator).get_params(deep=False), X.shape)
    wanted = settings.wanted
    c, k = wanted.n_clusters, wanted.n_neighbors
    if c is None or k is None:
        raise ValueError("make_problem needs numbers for n_clusters and n_neighbors.")
    geometry = geometry_of(X, wanted.n_components)
    others = len(X) - 1 if wanted.everyone else k
    place = locate(X, np.ones(len(X)), geometry, settings.lookup, others)
    return problem_at(place, settings, c, k, estimator.method.regresses)
