"""The methods that learn a graph: validate, fit, assign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import _checks
from ..fitting import labelling, neighbours
from ..fitting.auto.task import Task
from ..fitting.evidence import Evidence
from ..fitting.exemplars import exemplars
from ..fitting.few import few
from ..fitting.in_memory import RowsInMemory
from ..fitting.many import many
from ..fitting.repeatable import generator, single_blas_thread
from ..fitting.representatives import RowSet
from ..fitting.result import FitResult
from ..fitting.settings import Settings, check_settings
from ..loop import steps
from ..loop.methods import Method
from ..loop.solver import Record
from ..loop.state import symmetric
from ..loop.watch import Watch
from ._elsewhere import check_where, follow
from ._rows import IterativeClusterer, NewRows, most_rows, with_callbacks
from ._warnings import warn_of_fit


@dataclass(eq=False, repr=False)
class GraphClusterer(NewRows, IterativeClusterer):
    """Base of every method that :func:`dogc.loop.solver.alternate` solves.

    A subclass names its method and has the parameters that the method knows. A variant is a
    subclass with another ``method``, see :mod:`dogc.methods`.
    """

    method: ClassVar[Method]

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: int | str = "auto"
    metric: str = "euclidean"
    n_representatives: int | str | None = "auto"
    outlier_label: int | None = None
    max_time: float | None = None
    # What few fits need.
    min_cluster_size: int | str = "auto"
    init: Any = "auto"
    random_state: Any = None
    max_iter: int = 100
    tol: float = 1e-4
    n_jobs: int | None = None
    device: str = "auto"
    neighbors_algorithm: Any = "auto"
    verbose: int = 0
    callback: Callable[[Record], object] | None = None
    candidates: str = "nearest"
    merge_copies: bool = True
    xi: str = "mean"
    lam: float | str = "auto"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GraphClusterer:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or dataframe, or tensor of shape \
                (n_samples, n_features)
            Rows to cluster; with ``metric="precomputed"``, a sparse graph of distances of
            shape (n_samples, n_samples) as ``KNeighborsTransformer`` makes it.
            Dask rows are processed in blocks, by the active client or by threads. ``labels_``
            and the other attributes with one value for each row are then dask arrays. For a
            torch tensor they are tensors on the same device.
        y : ignored
            Present by convention.
        sample_weight : array-like or dask array of shape (n_samples,), default=None
            Weight of each row. An integer weight has the same effect as that many copies. Equal
            rows are one node of the graph, so a weight changes the sizes of clusters and the
            regression, but not the neighbours. With representatives, a weight also counts in
            the links between them, and with ``n_neighbors="wide"`` in the neighbourhoods. Rows of
            weight zero are not fitted; they are labelled afterwards.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows = self._row_set(X, sample_weight)
        settings = self._check(rows)
        watch = Watch(int(self.verbose), self.max_time, self._audience(), settings.run.max_iter)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        task = Task(settings, self.method, seed, watch)
        with watch.guard(), single_blas_thread:
            found = many(rows, task) or few(rows, task)
            self._assign(found, rows)
            follow(self, X)
        self.timings_ = watch.seconds
        self._assign_run(found.run, watch)
        warn_of_fit(self, found.nodes and found.nodes[0].choice)
        self._tell_end(X, y)
        return self

    def _check(self, rows: RowSet) -> Settings:
        check_where(self, rows)
        if isinstance(self.init, str) and not hasattr(self, "n_init"):  # no rotation to draw
            _checks.check_choice("init", self.init, ("auto", "spectral", "modularity"))
        shape = (most_rows(rows), rows.d)
        settings = check_settings(self.get_params(deep=False), shape, rows.sparse)
        if settings.lookup.precomputed:
            neighbours.check_neighbour_graph(rows.few()[0], settings.wanted.n_neighbors or 1)
            if self.method.regresses:
                raise ValueError(
                    f"metric='precomputed' gives {type(self).__name__} no features to regress "
                    "labels on; pass features, or use DOGC."
                )
        return settings

    def _assign(self, found: FitResult, rows: RowSet) -> None:
        """Set the fitted attributes; exemplars where rows have a place in memory."""
        for name, choice in found.choices._asdict().items():
            setattr(self, f"{name}_", choice)
        learned, dtype = found.learned, found.learned.dtype
        self.similarity_matrix_ = learned.S.astype(dtype)  # a copy: S holds room for all candidates
        self.affinity_matrix_ = symmetric(learned.S).astype(dtype, copy=False)
        self.embedding_, self.components_ = learned.F, None
        if learned.W is not None:
            self.components_ = np.ascontiguousarray(learned.W.astype(dtype))
        if steps.step_Q in self.method.steps:
            self.rotation_ = learned.Q.astype(dtype)
        self._assign_representatives(*found.nodes or (None,))
        self.labels_, self.membership_, self.outlier_scores_, self.outliers_ = found.rows
        self._evidence: Evidence | Callable[[], Evidence] = found.evidence
        self._fitted_rows, self._memberships = found.model.fitted, found.model.membership
        self.label_agreement_ = found.agreement
        self._partitions = found.partitions
        for name in ("coef_", "intercept_"):  # of a fit before
            self.__dict__.pop(name, None)
        if found.model.rule is not None:
            self.rule_, coef, intercept = found.model.rule
            if coef is not None and intercept is not None:
                self.coef_, self.intercept_ = coef, intercept
        self.exemplars_ = None
        if isinstance(rows, RowsInMemory) and self.metric != "precomputed":
            Z = labelling.project(rows.X, self.components_)
            self.exemplars_ = exemplars(Z, self.labels_, self.membership_, self.n_clusters_)

    @property
    def evidence_(self) -> Evidence:
        """Evidence that the clusters are there; computed when it is first asked for."""
        check_is_fitted(self, "labels_")
        if not isinstance(self._evidence, Evidence):
            with single_blas_thread:
                self._evidence = self._evidence()
        return self._evidence

    def labels_at(self, n_clusters: int) -> np.ndarray:
        """Labels for another number of clusters, which ``n_clusters="auto"`` has ranked high.

        They are those of the start at that number: no graph is learned for them.

        Parameters
        ----------
        n_clusters : int
            One of the first five numbers in ``cluster_counts_``.

        Returns
        -------
        labels : int array of shape (n_samples,)
            Cluster of each row, numbered by decreasing size.
        """
        check_is_fitted(self, "labels_")
        found = {self.n_clusters_: self.labels_, **self._partitions}
        if n_clusters not in found:
            numbers = ", ".join(map(str, sorted(found)))
            raise ValueError(
                f"n_clusters={n_clusters} is not at hand; there are labels for {numbers}. Fit with "
                "n_clusters='auto' for the numbers ranked first, or with the number you want."
            )
        return found[n_clusters]
