"""What the methods on a fixed graph share: validate, build the graph, embed, discretise."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import fragments, graph
from ..arrays import Matrix
from . import _affinity, _checks, _labels
from ._repeatable import single_blas_thread
from ._rows import RowClusterer, reachable_clusters


class FixedGraphClusterer(RowClusterer):
    """Base of the methods that embed a fixed graph and read labels off the embedding.

    A subclass says how to embed.
    """

    _kinds: ClassVar[tuple[str, ...]] = _affinity.KINDS
    _discretisers: ClassVar[tuple[str, ...]] = ("kmeans", "rotation")

    def fit(self, X: Any, y: Any = None) -> FixedGraphClusterer:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to cluster; with ``affinity="precomputed"``, their affinities, of shape
            (n_samples, n_samples).
        y : ignored
            Present by convention.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = self._validate(X, reset=True)
        parameters = self.get_params(deep=False)
        c = reachable_clusters(X, parameters["n_clusters"], parameters.get("affinity"))
        settings = _affinity.check_graph(parameters, X, self._kinds)
        how = _checks.check_choice("assign_labels", self.assign_labels, self._discretisers)
        n_init = _checks.check_starts(self.n_init)
        with single_blas_thread:
            fixed = self._build(X, settings)
            F = self._embed(fixed, c)
            self._assign_labels(_labels.discretise(F, how, n_init, self.random_state))
            self._voters = _affinity.remember(fixed.located, settings)
        if fixed.A is not None:
            self.affinity_matrix_ = fixed.A.astype(X.dtype)
        self.embedding_ = F.astype(X.dtype)
        return self

    def _build(self, X: Matrix, settings: _affinity.GraphSettings) -> _affinity.FixedGraph:
        return _affinity.build_graph(X, settings)

    def _embed(self, fixed: _affinity.FixedGraph, c: int) -> np.ndarray:
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Label new rows by the weight of their edges to fitted rows.

        A new row is joined to its nearest fitted rows with the weights that the graph's
        kernel gives; the cluster with the most weight wins (the lower label in a tie).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows; with ``affinity="precomputed"``, their affinities to the fitted rows.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Only labels that ``fit`` produced.
        """
        X = self._validate_new(X)
        with single_blas_thread:
            return _affinity.vote(self._voters, X, self.labels_)


def merged_components(fixed: _affinity.FixedGraph, c: int) -> np.ndarray:
    """The component of each row; more than c of them are merged down to c, with a warning."""
    count, member = graph.components(fixed.A)
    if count <= c:
        return member
    warn_of_components(fixed, count, c, "the smallest were merged with their nearest")
    Z = None if fixed.located is None else fixed.located.scaled.X
    return fragments.merge_components(Z, member, c)


def warn_of_components(fixed: _affinity.FixedGraph, count: int, c: int, outcome: str) -> None:
    """Say that the graph falls into more pieces than clusters were asked for."""
    warnings.warn(
        f"the graph has {count} components, more than n_clusters={c}; {outcome}; "
        f"{remedy(fixed)} to avoid that.",
        ConvergenceWarning,
        stacklevel=5,
    )


def remedy(fixed: _affinity.FixedGraph) -> str:
    """What joins the pieces of this graph."""
    if fixed.located is None:
        return "pass a graph with more edges"
    edges = np.count_nonzero(np.exp(-_affinity.exponents(fixed.located)))
    if edges < fixed.located.idx.size:  # weights that vanished
        return "raise bandwidth"
    return "raise n_neighbors"
