"""The parameters of the methods that learn a graph, checked against the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._checks import (
    WIDE,
    check_algorithm,
    check_callback,
    check_choice,
    check_clusters,
    check_components,
    check_count,
    check_flag,
    check_init,
    check_jobs,
    check_lam,
    check_outlier_label,
    check_power,
    check_representatives,
    check_scale,
    check_smallest,
    check_time,
    check_verbose,
    check_weight,
)
from ..loop.lambda_search import mean_xi
from ..loop.penalties import Penalties
from ..loop.running import RunSettings
from ..numerics import graph
from .column_maps import GEOMETRIES
from .neighbours import ALGORITHMS, Lookup

# A component is a cluster from this share of an even split on.
SMALLEST_SHARE = 0.1
XI_RULES: dict[str, Callable[..., np.ndarray]] = {"row": graph.neighbour_xi, "mean": mean_xi}

# What a method without the parameter behaves like.
NEUTRAL: Mapping[str, Any] = {
    "geometry": "given",
    "n_components": None,
    "alpha": 0.0,
    "beta": 0.0,
    "gamma": 0.0,
    "p": 2.0,
    "fit_intercept": True,
    "penalties": "relative",
    "init": "spectral",
    "n_init": 1,
    "outlier_label": None,
}
METRICS = ("euclidean", "cosine", "manhattan", "precomputed")
RULES = ("logistic", "paper", "auto")


class Wanted(NamedTuple):
    """What can be left open."""

    n_clusters: int | None  # None: to be proposed
    n_neighbors: int | None  # None: to be chosen among several, or wide
    n_representatives: int | str | None  # None: every row is its own; "auto": to be chosen
    geometry: str | None  # None: to be chosen
    n_components: int | str | None  # None: no projection is learned; "auto": by the spectrum
    wide: bool = False  # whether neighbourhoods are: see wide_scale


# A wide neighbourhood is this share of the rows, copies counted, or the size of an even cluster if
# that is less.
# Rows have more links with representatives, as a share: half of them did best on generated tables.
WIDE_ROWS, WIDE_LINKS = 1 / 5, 2.5


def wide_scale(n: int, c: int | None) -> int:
    """Neighbours of a row among n, where neighbourhoods are to be wide.

    Examples
    --------
    >>> wide_scale(1000, 4), wide_scale(1000, 20), wide_scale(3, None)
    (200, 50, 1)
    """
    return max(1, int(n * min(WIDE_ROWS, 1 / (c or 1))))


def wide_links(p: int, c: int) -> int:
    """Links of a row with p representatives, likewise.

    Examples
    --------
    >>> wide_links(250, 4), wide_links(250, 20)
    (125, 31)
    """
    return max(1, int(p * WIDE_LINKS * min(WIDE_ROWS, 1 / c)))


class SmallestCluster(NamedTuple):
    """The least that a component must count for to be a cluster."""

    rows: int | None  # None: a share of an even split
    unit: float = 1.0  # rows that a size of 1 stands for

    def copies(self, size: np.ndarray) -> np.ndarray:
        """How many rows each distinct row stands for: what it weighs, but one at least.

        If distinct rows weigh less than one on average, in units of that mean.
        """
        return np.maximum(size * max(self.unit, 1.0), 1.0)

    def size(self, total: float, c: int) -> float:
        """What was asked for, or a share of an even split into c clusters."""
        if self.rows is None:
            return SMALLEST_SHARE * float(total) / c
        return self.rows / self.unit


class Settings(NamedTuple):
    """The parameters of a method that learns a graph, checked and resolved for one data set."""

    wanted: Wanted
    smallest: SmallestCluster
    lookup: Lookup
    xi_rule: Callable[..., np.ndarray]
    penalties: Penalties
    p: float  # of the regression
    fit_intercept: bool
    run: RunSettings
    rule: str | None  # that labels new rows; None: neighbours do
    outlier_label: int | None
    max_time: float | None

    @property
    def may_stand(self) -> bool:
        """Whether a group that lies apart may be a cluster however small it is.

        With an explicit min_cluster_size or penalties="paper" sizes alone decide, and so they do
        where categories leave gaps between rows.
        """
        return self.smallest.rows is None and self.penalties.relative and not self.wanted.wide

    @property
    def is_open(self) -> bool:
        """Whether something is left open that the graph of rows decides."""
        wanted = self.wanted
        return None in (wanted.n_clusters, wanted.n_neighbors, wanted.geometry) or (
            len(self.run.starts) > 1
        )


def check_geometry(geometry: Any, plain: bool, as_given: bool) -> str | None:
    """A geometry, or None for "auto"; rows that are ``plain`` can have but one."""
    check_choice("geometry", geometry, ("auto", *GEOMETRIES))
    if geometry != "auto":
        if plain and geometry != "given":
            raise ValueError(
                f"geometry={geometry!r} needs dense features and metric='euclidean'; use "
                "geometry='given' (the columns of a sparse X can be scaled with MaxAbsScaler "
                "before)."
            )
        return geometry
    return "given" if plain or as_given else None


def check_settings(
    parameters: Mapping[str, Any], shape: tuple[int, int], sparse: bool = False
) -> Settings:
    """Check an estimator's parameters against the shape of the data."""
    n, d = shape
    given = {**NEUTRAL, **parameters}
    c = check_clusters(given["n_clusters"], n)
    check_callback(given["callback"])
    check_verbose(given["verbose"])
    metric = check_choice("metric", given["metric"], METRICS)
    xi = check_choice("xi", given["xi"], tuple(XI_RULES))
    penalties = check_choice("penalties", given["penalties"], ("relative", "paper"))
    m = check_components(given["n_components"], d, metric)
    # A learned projection and the paper's own units are measured in the columns as given.
    plain = sparse or metric != "euclidean"
    as_printed = isinstance(m, int) or penalties == "paper" or d == 1
    strength = Penalties(
        check_weight("alpha", given["alpha"]),
        check_weight("beta", given["beta"]),
        check_weight("gamma", given["gamma"]),
        penalties == "relative",
    )
    return Settings(
        wanted=Wanted(
            n_clusters=c,
            n_neighbors=check_scale(given["n_neighbors"], n, metric),
            n_representatives=check_representatives(given["n_representatives"], c, metric),
            geometry=check_geometry(given["geometry"], plain, as_printed),
            n_components=m,
            wide=given["n_neighbors"] == WIDE,
        ),
        smallest=SmallestCluster(check_smallest(given["min_cluster_size"])),
        penalties=strength,
        p=check_power(given["p"]),
        fit_intercept=check_flag("fit_intercept", given["fit_intercept"]),
        xi_rule=XI_RULES[xi],
        run=_check_run(given, n, c, strength.may_firm),
        lookup=Lookup(
            metric,
            check_algorithm(given["neighbors_algorithm"], ALGORITHMS),
            check_jobs(given["n_jobs"]),
        ),
        rule=check_choice("rule", given["rule"], RULES) if "rule" in given else None,
        outlier_label=check_outlier_label(given["outlier_label"]),
        max_time=check_time(given["max_time"]),
    )


def _check_run(given: Mapping[str, Any], n: int, c: int | None, may_firm: bool) -> RunSettings:
    lam, init = check_lam(given["lam"]), check_init(given["init"], n, c)
    # The paper's own units, and a lambda that is given, know the paper's own start alone.
    as_printed = given["penalties"] == "paper" or lam is not None
    return RunSettings(
        lam=lam,
        init="spectral" if isinstance(init, str) and init == "auto" and as_printed else init,
        n_init=check_count("n_init", given["n_init"], 1),
        max_iter=check_count("max_iter", given["max_iter"], 1),
        tol=check_weight("tol", given["tol"]),
        may_firm=may_firm,
    )
