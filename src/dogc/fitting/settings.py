"""The parameters of the methods that learn a graph, checked against the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _checks, _limits
from ..loop.lambda_search import mean_xi
from ..loop.penalties import Penalties
from ..loop.running import RunSettings
from ..numerics import graph
from ..numerics.l2p import DIRECT_UP_TO
from .column_maps import GEOMETRIES
from .neighbours import ALGORITHMS, Lookup

# A component is a cluster from this share of an even split on.
SMALLEST_SHARE = 0.1
HOLDS = 1e-3  # the least alpha that, made firmer, holds the graph to the labels of a start
LEAST_POWER = 1e-6  # weights of rows, p/2 times a power of their distance, stay numbers
# What memory is reckoned with where they are left open.
USUAL_NEIGHBOURS, USUAL_CLUSTERS = 24, 20
# What to do with the rows that there is no room for.
SUBSET = " and predict the rest"
ON_REPRESENTATIVES = f"{SUBSET}, or leave n_representatives at 'auto'"
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
    """The parameters that can be left open."""

    n_clusters: int | None  # None: to be proposed
    n_neighbors: int | None  # None: to be chosen among several, or wide
    n_representatives: int | str | None  # None: every row is its own; "auto": to be chosen
    geometry: str | None  # None: to be chosen
    n_components: int | str | None  # None: no projection is learned; "auto": by the spectrum
    wide: bool = False  # whether neighbourhoods are: see wide_scale
    everyone: bool = False  # whether all other rows are candidates, not the nearest alone


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
        """The size that was asked for, or a share of an even split into c clusters."""
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
    fit_intercept: bool
    run: RunSettings
    rule: str | None  # that labels new rows; None: neighbours do
    outlier_label: int | None
    merge_copies: bool = True

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
        choices = (self.wanted.n_clusters, self.wanted.n_neighbors, self.wanted.geometry)
        return None in choices or len(self.run.starts) > 1


def check_geometry(geometry: Any, plain: bool, as_given: bool) -> str | None:
    """A geometry, or None for "auto"; rows that are ``plain`` can have but one."""
    _checks.check_choice("geometry", geometry, ("auto", *GEOMETRIES))
    if geometry == "auto":
        return "given" if plain or as_given else None
    if plain and geometry != "given":
        raise ValueError(
            f"geometry={geometry!r} needs dense features and metric='euclidean'; use "
            "geometry='given' (the columns of a sparse X can be scaled with MaxAbsScaler before)."
        )
    return geometry


def check_settings(
    parameters: Mapping[str, Any], shape: tuple[int, int], sparse: bool = False
) -> Settings:
    """Check an estimator's parameters against the shape of the data."""
    n, d = shape
    given = {**NEUTRAL, **parameters}
    c = _checks.check_cluster_count(given["n_clusters"], n, "auto")
    _checks.check_callback(given["callback"])
    _checks.check_verbose(given["verbose"])
    _checks.check_positive("max_time", given["max_time"], None)
    metric = _checks.check_choice("metric", given["metric"], METRICS)
    xi = _checks.check_choice("xi", given["xi"], tuple(XI_RULES))
    penalties = _checks.check_choice("penalties", given["penalties"], ("relative", "paper"))
    m = _checks.check_components(given["n_components"], d, metric)
    k, wide = given["n_neighbors"], given["n_neighbors"] == _checks.WIDE
    if wide and metric == "precomputed":
        raise ValueError(
            "n_neighbors='wide' needs features, and metric is 'precomputed'; pass a number of "
            "neighbours."
        )
    everyone = _checks.check_choice("candidates", given["candidates"], ("nearest", "all")) == "all"
    if everyone and (isinstance(k, str) or metric == "precomputed"):
        raise ValueError(
            "candidates='all' needs features and a number for n_neighbors, which sets xi."
        )
    # A learned projection and the paper's own units are measured in the columns as given.
    plain = sparse or metric != "euclidean"
    as_printed = isinstance(m, int) or penalties == "paper" or d == 1
    alpha, beta, gamma = (_checks.check_weight(x, given[x]) for x in ("alpha", "beta", "gamma"))
    p = _checks.check_weight("p", given["p"], LEAST_POWER, 2.0)
    strength = Penalties(alpha, beta, gamma, penalties == "relative", p)
    least = _checks.check_count("min_cluster_size", given["min_cluster_size"], words=("auto",))
    algorithm = _checks.check_algorithm(given["neighbors_algorithm"], ALGORITHMS)
    return Settings(
        wanted=Wanted(
            n_clusters=c,
            n_neighbors=_checks.check_neighbors(k, n, "auto", _checks.WIDE),
            n_representatives=_checks.check_representatives(
                given["n_representatives"], c, metric != "precomputed"
            ),
            geometry=check_geometry(given["geometry"], plain, as_printed),
            n_components=m,
            wide=wide,
            everyone=everyone,
        ),
        smallest=SmallestCluster(least),
        penalties=strength,
        fit_intercept=_checks.check_flag("fit_intercept", given["fit_intercept"]),
        xi_rule=XI_RULES[xi],
        run=_check_run(given, n, c, strength.may_firm, parameters.get("alpha", HOLDS) < HOLDS),
        lookup=Lookup(metric, algorithm, _checks.check_jobs(given["n_jobs"])),
        rule=_checks.check_choice("rule", given["rule"], RULES) if "rule" in given else None,
        outlier_label=_checks.check_outlier_label(given["outlier_label"]),
        merge_copies=_checks.check_flag("merge_copies", given["merge_copies"]),
    )


def _check_run(
    given: Mapping[str, Any], n: int, c: int | None, may_firm: bool, is_weak: bool
) -> RunSettings:
    lam = _checks.check_positive("lam", given["lam"], "auto")
    init = _checks.check_init(given["init"], n, c)
    # The paper's own units, and a lambda that is given, know the paper's own start alone. So do
    # wide neighbourhoods, where no fringe is cheap to cut, and an alpha too weak to hold labels:
    # from those of another start F would go to a cut.
    own = given["penalties"] == "paper" or lam is not None or is_weak
    own = own or given["n_neighbors"] == _checks.WIDE
    return RunSettings(
        lam=lam,
        init="spectral" if isinstance(init, str) and init == "auto" and own else init,
        n_init=_checks.check_count("n_init", given["n_init"], 1),
        max_iter=_checks.check_count("max_iter", given["max_iter"], 1),
        tol=_checks.check_weight("tol", given["tol"]),
        may_firm=may_firm,
    )


def check_memory(rows: Any, settings: Settings, regresses: bool) -> None:
    """Refuse rows that are too many to be nodes of a graph."""
    wanted, n, d = settings.wanted, rows.n or 0, rows.d
    k, m, c = wanted.n_neighbors, wanted.n_components, wanted.n_clusters
    phases = ["loop"]
    if (isinstance(m, int) and m < d) or (m == "auto" and not rows.sparse):
        phases.append("row space")
    if regresses:
        sparse = "sparse regression" if min(n, d) <= DIRECT_UP_TO else "applied regression"
        phases.append(sparse if rows.sparse else "regression")
    k = n if wanted.everyone else wide_scale(n, c) if wanted.wide else k
    remedy = ON_REPRESENTATIVES if wanted.n_representatives is None else SUBSET
    k, c = k or USUAL_NEIGHBOURS, c or USUAL_CLUSTERS
    _limits.check_phases(rows, phases, remedy, k=k, c=c)
