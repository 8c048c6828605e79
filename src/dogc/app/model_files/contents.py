"""What a model holds: every stored attribute with its shape.

One line for each. A file with an attribute that has no line is refused, and so is one whose arrays
do not fit together: what :func:`check` lets through labels rows without looking again. Letters are
sizes: n rows, m nodes of the graph, p representatives or landmarks, d features, c clusters, q
coordinates of points, e coordinates of an embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import _checks
from ...estimators import LPP, SEC, DiscriminativeKMeans
from ...estimators._base import GraphClusterer
from ...estimators._dkm import DiscriminantSpace
from ...estimators._fixed import FixedGraphClusterer
from ...estimators._landmarks import LandmarkClusterer
from ...fitting import fixed_graph, landmarks, neighbours, scaling
from ...fitting.labelling import FittedRows
from ...fitting.representatives import Frame, Representatives
from ...results import CountEvidence, Record, ResolutionChoice, ScaleChoice
from . import joints
from .archive import Misfit
from .shapes import (
    ABOVE,
    LARGEST,
    Check,
    Sizes,
    anything,
    asked,
    by_name,
    each,
    either,
    flag,
    flags,
    label,
    loose,
    marked,
    maybe,
    moderate,
    number,
    one_of,
    positive,
    real,
    same,
    size_of,
    sparse,
    text,
    weight,
    whole,
)

# Threads that a file may ask for.
MOST_JOBS = 1024


def part(cls: Any, **letters: str) -> Check:
    """A named tuple; ``n="p"`` says that its n is our p, and d is the same everywhere."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not cls:
            raise Misfit(f"must be {cls.__name__}")
        passed = {"d": "d"} | letters
        inner = {own: sizes[ours] for own, ours in passed.items() if ours in sizes}
        check_fields(value._asdict(), PARTS[cls], inner, cls.__name__)
        joints.check(value, inner)
        for own, ours in passed.items():
            if own in inner:
                same(ours, inner[own], sizes)

    return check


def either_part(first: type, second: type, **letters: str) -> Check:
    """One of two tuples; letters that it does not have do not matter."""
    checks = {cls: part(cls, **letters) for cls in (first, second)}

    def check(value: Any, sizes: Sizes) -> None:
        checks.get(type(value), checks[first])(value, sizes)

    return check


def check_fields(
    values: Mapping[str, Any], checks: Mapping[str, Check], sizes: Sizes, owner: str
) -> None:
    """Check values by name, in the order of the table; a misfit says whose it is."""
    for name, check in checks.items():
        if name in values:
            try:
                check(values[name], sizes)
            except Misfit as error:
                where = "" if "." in str(error).split(" ")[0] else f"{owner}.{name} "
                raise Misfit(f"{where}{error}") from None


def of_rows(check: Check) -> Check:
    """What there is for each row; nothing where rows were elsewhere."""

    def unless_elsewhere(value: Any, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.shape != (0,):
            check(value, sizes)

    return unless_elsewhere


def _names(value: Any, sizes: Sizes) -> None:
    each(text)(value.tolist() if type(value) is np.ndarray else value, sizes)
    same("d", len(value), sizes)


def jobs(value: Any, sizes: Sizes) -> None:
    """Threads, within reason."""
    asked(_checks.check_jobs)(value, sizes)
    if value is not None and abs(value) > MOST_JOBS:
        raise Misfit(f"asks for more than {MOST_JOBS} threads")


ROWS = either(moderate("n", "d"), sparse("n", "d"))
AT_ROWS = either(moderate("n", "q"), sparse("n", "q"))
ANY = number(finite=False)
FRAME = part(Frame, q="q")
NORMS = one_of("euclidean", "manhattan")

PARTS: dict[type, dict[str, Check]] = {
    scaling.Scaled: {
        "T": maybe(moderate("d", "t")),
        "X": either(moderate("n", "t"), ROWS),
        "origin": real("d"),
        "unit": either(ABOVE, positive("d")),
        "centre": moderate("d"),
        "scatter": number(1.0 / LARGEST),
        "mean": moderate("d"),
        "n_varying": whole(),
        "constant": maybe(flags("d")),
    },
    neighbours.Index: {
        "kind": one_of("exact", "pynndescent", "transformer"),
        "search": anything,  # see joints
        "n": size_of("n"),
        "metric": NORMS,
    },
    FittedRows: {
        "labels": label("n"),
        "lookup": maybe(moderate("d", "l")),
        "components": maybe(moderate("q", "d")),
        "Z": maybe(AT_ROWS),
        "scaled": maybe(part(scaling.Scaled, n="n")),
        "search": maybe(part(neighbours.Index, n="n", q="l")),
        "k": whole(1),
        "xi": maybe(ABOVE),
        "copies": maybe(positive("n")),
        "reach": maybe(loose("n")),
        "stray": maybe(flags("n")),
        "wide": flag,
    },
    Frame: {
        "scaled": part(scaling.Scaled),
        "directions": maybe(moderate("d", "q")),
        "unit": ABOVE,
        "middle": either(number(), moderate("d")),
    },
    Representatives: {
        "frame": FRAME,
        "R": moderate("p", "q"),
        "n_links": whole(1),
        "width": ABOVE,
        "labels": label("p"),
        "n_votes": whole(1),
        "reach": maybe(loose("p")),
        "stray": maybe(flags("p")),
        "metric": NORMS,
    },
    landmarks.Landmarks: {
        "frame": FRAME,
        "R": moderate("p", "q"),
        "n_links": whole(1),
        "width": ABOVE,
        "V": moderate("p", "e"),
        "unit_rows": flag,
        "centres": moderate("c", "e"),
    },
    fixed_graph.GraphSettings: {
        "kind": one_of(*fixed_graph.KINDS),
        "n_neighbors": whole(1),
        "bandwidth": maybe(ABOVE),
        "n_jobs": jobs,
    },
    fixed_graph.Voters: {
        "scaled": part(scaling.Scaled, n="n"),
        "search": part(neighbours.Index, n="n", q="d"),
        "sigma": positive("n"),
        "settings": part(fixed_graph.GraphSettings),
        "labels": maybe(label("n")),
    },
    DiscriminantSpace: {
        "scaled": part(scaling.Scaled),
        "shift": moderate("e"),
        "components": moderate("e", "f"),
        "kernel_map": anything,  # see joints
    },
    CountEvidence: {
        "n_clusters": whole(1),
        "score": ANY,
        "votes": whole(),
        "n_scales": whole(),
        "firmness": ANY,
        "jump": ANY,
    },
    Record: {
        "iteration": whole(),
        "objective": ANY,
        "terms": by_name(ANY),
        "lam": ANY,
        "n_components": whole(),
        "labels_changed": whole(),
    },
    ResolutionChoice: {
        "n_representatives": each(whole(1), letter="s"),
        "agreement": loose("s", "s"),
        "score": loose("s"),
        "chosen": whole(1),
    },
    ScaleChoice: {
        "n_neighbors": each(whole(1), letter="s"),
        "agreement": loose("s", "s"),
        "score": loose("s"),
        "chosen": whole(1),
    },
}

# Of all estimators: an attribute of one name is the same thing everywhere.
ATTRIBUTES: dict[str, Check] = {
    "n_features_in_": size_of("d"),
    "feature_names_in_": _names,
    "n_clusters_": size_of("c"),
    "n_neighbors_": whole(1),
    "scales_": part(ScaleChoice),
    "cluster_counts_": each(part(CountEvidence)),
    "geometry_": text,
    "geometries_": by_name(part(ScaleChoice)),
    "init_": text,
    "starts_": by_name(either_part(ScaleChoice, ResolutionChoice)),
    "neighbors_recall_": maybe(ANY),
    "n_representatives_": maybe(size_of("p")),
    "resolutions_": maybe(part(ResolutionChoice)),
    "representatives_": maybe(real("p", "d")),
    "representative_weights_": maybe(weight("p")),
    "representative_labels_": maybe(label("p")),
    "similarity_matrix_": sparse("m", "m", 0),
    "affinity_matrix_": sparse("m", "m", 0),
    "embedding_": real("m", "w"),
    "components_": maybe(real("o", "d")),
    "rotation_": real("c", "c"),
    "mean_": real("d"),
    "eigenvalues_": loose("o"),
    "coef_": real("e", "d"),
    "intercept_": real("e"),
    "cluster_centers_": moderate("c", "e"),
    "landmarks_": real("p", "d"),
    "bandwidth_": ABOVE,
    "lam_": ANY,
    "inertia_": ANY,
    "reconstruction_err_": ANY,
    "rule_": one_of("logistic", "paper", "neighbors"),
    "label_agreement_": ANY,
    "history_": each(part(Record)),
    "n_iter_": whole(),
    "stopping_reason_": text,
    "converged_": flag,
    "timings_": by_name(ANY),
    "_fitted_rows": anything,  # see FITTED
    "_voters": maybe(either_part(fixed_graph.Voters, Representatives, p="p", c="c")),
    "_space": part(DiscriminantSpace, e="e"),
    "labels_": of_rows(marked("n")),
    "confidence_": of_rows(loose("n")),
    "outlier_scores_": of_rows(loose("n")),
    "outliers_": of_rows(flags("n")),
}
# What labels new rows, by the family; the first that fits counts.
FITTED: dict[type, Check] = {
    GraphClusterer: either_part(FittedRows, Representatives, p="p", c="c"),
    LandmarkClusterer: part(landmarks.Landmarks, p="p", c="c"),
}
# Without these a method of the family would stop on the way.
NEEDED: dict[type, str] = {
    GraphClusterer: "labels_ n_clusters_ components_ _fitted_rows",
    FixedGraphClusterer: "labels_ _voters",
    SEC: "coef_ intercept_ cluster_centers_",
    LandmarkClusterer: "labels_ _fitted_rows",
    DiscriminativeKMeans: "labels_ _space cluster_centers_",
    LPP: "components_ mean_",
}
