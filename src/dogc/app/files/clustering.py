"""Tables of any size clustered: encoded in chunks, fitted as one array, labelled in chunks."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from ..._caller import timed
from ..._checks import WIDE, check_cluster_count
from ...comparison import named_estimator
from ...encoding import MixedEncoder
from ...encoding.errors import numbered_names, shortened
from ...encoding.statistics import keys_of_rows
from ...encoding.values import levels_of
from ...encoding.weights import MATTERS
from ...estimators._elsewhere import row_model
from ...fitting.evidence import Evidence
from ...fitting.new_rows import own_share
from ...metrics import scores_of
from ...numerics.discrete import size_order
from ...quality import judged
from .reading import Table
from .tally import SampledRows, Tally, named_sizes, tally

if TYPE_CHECKING:
    import pandas

# Of more rows than these, as many are fitted; the labels of all are those of new rows.
MANY_ROWS = 500_000
MOST_AT_ONCE = 50_000  # rows that are labelled at once
# What a fit says of each of its rows.
RESULTS = ("labels_", "membership_", "outliers_", "outlier_scores_")
# Measures by their names in files and on the terminal, and in scores_of.
SCORES = {"acc": "acc", "nmi": "nmi_max", "purity": "purity", "ari": "ari"}
# What is said beside the verdict where columns of few values matter.
MIXED = ("The verdict is not calibrated for tables with categories: gaps between categories can "
         "look like clear clusters.")  # fmt: skip
EMPTY = "rows without a value in any column that is used, whose labels say nothing: "
SAMPLED = "fitted to {n:,} of {total:,} rows; all rows are labelled as new ones are."
# Told what is being done, to how many more rows it was done now, and to how many it will be.
Watch = Callable[[str, int, int | None], None]


class Clustering(NamedTuple):
    """Everything that the files, the report and the terminal tell of one run."""

    rows: SampledRows  # in order, with their labels by decreasing size; -1 for an outlier
    X: np.ndarray  # (n, d) prepared features
    feature_names: list[str]
    model: Any  # fitted estimator
    truth: np.ndarray | None  # (n,) the label column as text
    id_column: str | None
    seconds: float  # of the fit
    settings: dict[str, Any]  # method, parameters, versions, notes, caveats, source, preparation
    tally: Tally  # of all rows, of which those above may be a sample
    evidence: Evidence | None = None  # for the labels; None if the time was up

    @property
    def n_rows(self) -> int:
        """Of all that was clustered."""
        return self.tally.rows


class TableFit(NamedTuple):
    """A model fitted to the rows of a table, or to a sample of very many."""

    model: Any
    X: np.ndarray  # (n, d), mapped from a file
    sampled: bool
    seconds: float
    notes: list[str]


@contextlib.contextmanager
def fitted_to(
    table: Table,
    encoder: MixedEncoder,
    method: str,
    n_clusters: int | str,
    parameters: dict[str, Any],
    watch: Watch,
) -> Iterator[TableFit]:
    """Fit an encoder to a table, and a method to the numbers; they stay in a temporary file."""
    check_cluster_count(n_clusters, table.rows, "auto")
    model = named_estimator(method, n_clusters, parameters)  # a name that is none is told first
    sampled = table.rows > MANY_ROWS and hasattr(model, "predict")

    def watched(what: str) -> Iterator[pandas.DataFrame]:
        for frame in table.chunks():
            yield frame
            watch(what, len(frame), table.rows)

    with tempfile.TemporaryDirectory(prefix="dogc-", ignore_cleanup_errors=True) as folder:
        # 1) what is made of each column
        passes = iter(["reading", "looking at columns", "preparing"])
        encoder.fit_chunks(lambda: watched(next(passes)))
        # 2) the rows as numbers, in a file
        path, width = pathlib.Path(folder, "rows"), len(encoder.feature_names_)
        with open(path, "wb") as file:
            for frame in watched("encoding"):
                X = encoder.transform(frame)
                if sampled:
                    X = X[keys_of_rows(frame.index.to_numpy()) < 2.0**64 * MANY_ROWS / table.rows]
                file.write(X.data)
        # As an array of NumPy's own type: that it is mapped concerns nobody.
        X = np.asarray(np.memmap(path, np.float64, "c")).reshape(-1, width)
        # 3) the fit
        model = named_estimator(method, n_clusters, asked_of(encoder, parameters))
        watch("fitting", 0, table.rows)
        _, seconds, notes = timed(lambda: model.fit(X))
        number_by_size(model)
        if sampled:
            notes.append(SAMPLED.format(n=len(X), total=table.rows))
        yield TableFit(model, X, sampled, seconds, notes)


def label_rows(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """Labels of new rows and their membership, by the names that a fit has for them."""
    parts = [X[i : i + MOST_AT_ONCE] for i in range(0, max(len(X), 1), MOST_AT_ONCE)]
    labels = [model.predict(part) for part in parts]
    found = {"labels_": np.concatenate(labels)}
    if hasattr(model, "predict_membership"):
        shares = map(model.predict_membership, parts)
        found["membership_"] = np.concatenate([*map(own_share, shares, labels)])
    return found


def label_all(
    table: Table,
    encoder: MixedEncoder,
    fitted: TableFit,
    method: str,
    write: Callable[[pandas.DataFrame, dict[str, np.ndarray]], None],
    watch: Watch,
) -> Clustering:
    """Hand all rows with their results to ``write``; what came out, with counts of all rows."""
    model, start = fitted.model, 0
    samples, counts, empty = [], [], []
    # 1) labels of all rows, counts of them and a sample, chunk by chunk
    for frame in table.chunks():
        n = len(frame)
        if fitted.sampled:
            results = label_rows(model, encoder.transform(frame))
        else:
            results = {name: np.asarray(getattr(model, name))[start : start + n]
                       for name in RESULTS if hasattr(model, name)}  # fmt: skip
        start += n
        empty += empty_rows(frame, encoder.columns_)
        write(frame, results)
        labels = np.asarray(results["labels_"])
        membership = np.asarray(results.get("membership_", np.full(n, np.nan)), dtype=float)
        apart = np.asarray(results.get("outliers_", np.zeros(n)), dtype=bool)
        counts.append(tally(labels, membership, apart, known_labels(frame, encoder.label_column)))
        some = SampledRows(frame, labels, membership)
        samples.append(some if table.in_memory else some.kept(table.rows))
        if len(samples) > 1:
            samples = [samples[0].merged(samples[1], table.rows)]
            counts = [counts[0].merged(counts[1])]
        watch("labelling", n, table.rows)
    (sample,), (counted,) = samples, counts
    # 2) all that came out
    notes = [*fitted.notes, *remarks(model, sum(counted.outliers.values()))]
    notes += [EMPTY + shortened(empty, 5)] if empty else []
    settings = {"method": method, **settings_of(table, encoder, model, notes)}
    settings["caveats"] = caveats(encoder)
    whole = len(sample.frame) == table.rows and not fitted.sampled
    if not whole:
        settings |= {"clusters": named_sizes(counted.sizes), "sample": {"rows": len(sample.frame)}}
    X = np.array(fitted.X) if whole else encoder.transform(sample.frame)
    return Clustering(
        rows=sample,
        X=X,
        feature_names=list(encoder.feature_names_),
        model=row_model(model) if fitted.sampled else model,
        truth=known_labels(sample.frame, encoder.label_column),
        id_column=encoder.id_column_,
        seconds=fitted.seconds,
        settings=settings,
        tally=counted,
        evidence=judged(model, X, sample.labels, wide=encoder.discrete_share_ >= MATTERS),
    )


def caveats(encoder: MixedEncoder) -> list[str]:
    """Words beside the verdict on a table."""
    return [MIXED] * (encoder.discrete_share_ >= MATTERS)


def empty_rows(frame: pandas.DataFrame, columns: Sequence[str]) -> list[str]:
    """The numbers, from 1, of the rows that have no value in any of the columns.

    Examples
    --------
    >>> import pandas
    >>> empty_rows(pandas.DataFrame({"a": ["x", " ", "NA"], "b": [None, 1.0, None]}), ["a", "b"])
    ['3']
    """
    for name in columns:
        if not len(frame):
            break
        cells = frame[name]
        gaps = cells.isna() if cells.dtype.kind in "iuf" else levels_of(cells).codes < 0
        frame = frame[gaps]
    return [f"{row + 1:,}" for row in frame.index]


def settings_of(
    table: Table, encoder: MixedEncoder, model: Any, notes: list[str]
) -> dict[str, Any]:
    """How a run was made, as far as JSON can hold it."""
    simple = (str, int, float, bool, type(None))
    given = model.get_params(deep=False)
    guessed = table.names == numbered_names(len(table.names))
    made_up = f"No header was found: the columns are called c1 to {table.names[-1]}."
    return {
        "parameters": {k: v if isinstance(v, simple) else repr(v) for k, v in given.items()},
        "versions": versions(),
        "notes": list(dict.fromkeys(notes)),
        "source": table.source,
        "sha256": table.sha256,
        "counts": [row._asdict() for row in getattr(model, "cluster_counts_", [])[:10]],
        "preparation": [made_up] * guessed + encoder.steps_,
    }


def known_labels(frame: pandas.DataFrame, label_column: str | None) -> np.ndarray | None:
    """The label column as text, if one was named."""
    return None if label_column is None else frame[label_column].astype(str).to_numpy()


def number_by_size(model: Any) -> None:
    """Number the clusters of k-means by decreasing size, as those of all other methods are."""
    if isinstance(model, KMeans):
        new_name = size_order(model.labels_, model.n_clusters)
        model.cluster_centers_ = model.cluster_centers_[np.argsort(new_name)]
        model.labels_ = new_name[model.labels_].astype(model.labels_.dtype)


def asked_of(preparation: MixedEncoder, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a method for a prepared table, as far as they are not given.

    Where columns of few values matter, few neighbours of a row share all its categories; a wide
    neighbourhood reaches across. The columns were made comparable by their weights already; so they
    were by weights that the user gave.
    """
    mixed = {"n_neighbors": WIDE, "geometry": "given"}
    usual = {"geometry": "given"} if preparation.weights not in (None, "auto") else {}
    usual = mixed if preparation.discrete_share_ >= MATTERS else usual
    return {"rule": "auto", **usual, **parameters}


def remarks(model: Any, apart: int) -> list[str]:
    """Notes on a fit that nobody would ask for."""
    found = []
    if counts := getattr(model, "cluster_counts_", None):
        first, *others = [row.n_clusters for row in counts[:4]]
        what = (
            f"{first} clusters are proposed" if first > 1 else "no cluster structure was detected"
        )
        found.append(f"{what}; next candidates: {', '.join(map(str, others))}.")
    if apart:
        rows = "1 row lies" if apart == 1 else f"{apart:,} rows lie"
        marked = getattr(model, "outlier_label", None) is not None
        got = "marked with -1" if marked else "labelled as the nearest cluster"
        found.append(f"{rows} far from everything else: {got}.")
    if getattr(model, "rule_", None) == "neighbors":
        found.append("these clusters cannot be separated by a linear rule, so dogc predict will "
                       "label new rows by their nearest rows.")  # fmt: skip
    return found


def agreement_of(table: np.ndarray) -> dict[str, float]:
    """Agreement of clusters with known labels, by counts of rows, under the names of files."""
    found = scores_of(table)
    return {name: found[key] for name, key in SCORES.items()}


def versions() -> dict[str, str]:
    """Versions of the packages that computed the numbers."""
    import platform
    from importlib import metadata

    packages = ("numpy", "scipy", "scikit-learn")
    return {"dogc": metadata.version("dogc"), "python": platform.python_version(),
            **{name: metadata.version(name) for name in packages}}  # fmt: skip
