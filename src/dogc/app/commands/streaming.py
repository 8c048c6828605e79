"""``dogc cluster`` of rows that are never in memory together."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._checks import check_clusters
from ..._words import shown
from ...comparison import named_estimator
from ...estimators._elsewhere import row_model
from .. import report
from ..tables import MixedEncoder, TableError
from ..tables.clustered_table import (
    Clustering,
    asked_of,
    header_guess,
    remarks,
    settings_of,
    splitting_columns,
    timed,
)
from ..tables.parts import Part, Parts, find_parts
from ..tables.preparing_parts import prepare_parts
from ..tables.sampled_rows import SampledRows
from ..tables.tally import Tally, tally
from ..tables.values import texts_of
from ..tables.workers import Watch, Workers
from .arguments import ValuesOf
from .cluster_files import FILES, with_labels, write_findings
from .csv_rows import CsvRows
from .outputs import Output
from .several_files import check_rows

TOO_MANY_CLASSES = (
    "the column '{name}' has too many values to compare clusters with; name another "
    "(--label-column)."
)


def cluster_files(
    files: list[str],
    source: str,
    prepare: Callable[[list[str], ValuesOf], MixedEncoder],
    method: str,
    n_clusters: int | str,
    parameters: dict[str, Any],
    out: Output,
    workers: Workers,
    watch: Watch,
) -> tuple[Clustering, list[pathlib.Path]]:
    """Cluster files part by part, and write everything.

    Parameters
    ----------
    files : list of str
        Text or Parquet.
    source : str
        What to call them.
    prepare : callable
        Says what is to be made of a table with columns of these names, and of these values.
    method, n_clusters, parameters
        As for :func:`~dogc.app.tables.clustered_table.cluster_table`.
    out : Output
        Where to write.
    workers : Workers
        Who reads and labels.
    watch : callable
        Told of the rows that are done.

    Returns
    -------
    clustering : Clustering
        Of a sample of the rows, with the tally of all.
    paths : list of path
        What was written.
    """
    parts = find_parts(files, source, workers, watch)
    check_rows(parts.rows, source)
    check_clusters(n_clusters, parts.rows)
    model = named_estimator(method, n_clusters, parameters)
    if not hasattr(model, "n_representatives"):
        raise TableError(
            f"--method {method} needs all rows in memory; choose one that learns on "
            "representatives, such as dogc-os, or give one small file."
        )
    asked = prepare(parts.names, lambda name: texts_in_parts(name, parts))
    preparation = prepare_parts(asked, parts, workers, watch)
    model = named_estimator(method, n_clusters, asked_of(preparation, parameters))
    X = prepared_rows(parts, preparation)
    watch("fitting", 0, parts.rows)
    _, seconds, notes = timed(lambda: model.fit(X))
    with out.whole_folder() as draft:
        with out.rows_in(draft / "labels.csv") as file:
            sample, counted = label_parts(
                model, parts, preparation.label_column, workers, file, watch
            )
        notes += file.note()
        found = gathered(model, parts, preparation, method, sample, counted, notes, seconds)
        write_findings(found, preparation, draft)
    return found, [out.path / name for name in FILES]


def texts_in_parts(name: str, parts: Parts) -> list[str] | None:
    """The different texts of a column; None where they cannot be listed."""
    found: dict[str, None] = {}
    for part in parts.parts:
        texts = texts_of(part.read([name])[name])
        if texts is None:
            return None
        found.update(dict.fromkeys(texts))
    return list(found)


def prepared_rows(parts: Parts, preparation: MixedEncoder) -> Any:
    """The numbers of all rows as a dask array with a block for each part; nothing is read yet."""
    import dask
    import dask.array as da

    def once(value: Any) -> Any:
        return dask.delayed(value, traverse=False, pure=False)

    shared, read = once(preparation), dask.delayed(prepared_part, pure=False)
    width = len(preparation.feature_names_)
    meta = np.empty((0, width))
    blocks = [
        da.from_delayed(read(once(part), shared), (part.rows, width), meta=meta)
        for part in parts.parts
    ]
    return da.concatenate(blocks)


def prepared_part(part: Part, preparation: MixedEncoder) -> np.ndarray:
    """The numbers of the rows of a part."""
    return preparation.transform(part.read(preparation.columns_))


def label_parts(
    model: Any,
    parts: Parts,
    label_column: str | None,
    workers: Workers,
    file: CsvRows,
    watch: Watch,
) -> tuple[SampledRows, Tally]:
    """Write all rows with their labels; a sample of them, and what was counted on the way."""
    sample: SampledRows | None = None
    counted: Tally | None = None
    sure = hasattr(model, "confidence_")
    for part, (labels, confidence, apart, scores) in zip(
        parts.parts, _labelled(model, workers), strict=True
    ):
        frame = part.read()
        file.write(with_labels(frame, labels, confidence, scores, always=sure))
        truth = None if label_column is None else known_classes(frame[label_column])
        here = tally(labels, confidence, apart, truth)
        counted = here if counted is None else counted.merged(here)
        some = SampledRows(frame, labels, confidence).kept(parts.rows)
        sample = some if sample is None else sample.merged(some, parts.rows)
        watch("labelling", part.rows, parts.rows)
    assert sample is not None
    assert counted is not None
    return sample, counted


def known_classes(column: Any) -> np.ndarray:
    """The classes of some rows, as text; all must have one."""
    if column.isna().any():
        raise TableError(
            f"--label-column {column.name} has a missing value in row "
            f"{column.index[column.isna()][0] + 1}; fill it or drop such rows."
        )
    return column.astype(str).to_numpy()


def _labelled(
    model: Any, workers: Workers
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]]:
    """Labels, confidence, whether rows lie apart and how far, for each part in order."""
    known = ("labels_", "confidence_", "outliers_", "outlier_scores_")
    names = [name for name in known if hasattr(model, name)]
    # Not optimised one by one, so that what they share is computed once.
    blocks = (getattr(model, name).to_delayed(optimize_graph=False).ravel() for name in names)
    for values in workers.computed(zip(*blocks, strict=True)):
        found = dict(zip(names, values, strict=True))
        labels = np.asarray(found["labels_"])
        unknown = np.full(len(labels), np.nan)
        yield (
            labels,
            np.asarray(found.get("confidence_", unknown), dtype=np.float64),
            np.asarray(found.get("outliers_", np.zeros(len(labels))), dtype=bool),
            None if "outlier_scores_" not in found else np.asarray(found["outlier_scores_"]),
        )


def gathered(
    model: Any,
    parts: Parts,
    preparation: MixedEncoder,
    method: str,
    sample: SampledRows,
    counted: Tally,
    notes: list[str],
    seconds: float,
) -> Clustering:
    """What came out, of the rows of the sample, with what was counted of all."""
    frame, label_column = sample.frame, preparation.label_column
    X = preparation.transform(frame)
    features = list(preparation.feature_names_)
    notes = list(dict.fromkeys([*notes, *remarks(model, sum(counted.outliers.values()))]))
    notes += splitting_columns(X, features, frame, sample.labels)
    if label_column is not None and counted.classes is None:
        notes.append(TOO_MANY_CLASSES.format(name=shown(label_column)))
    settings = settings_of(method, model, notes, parts.source, parts.sha256)
    settings["clusters"] = counted.named_sizes()
    if len(frame) < counted.rows:
        settings["sample"] = {
            "rows": len(frame),
            "words": report.sample_words(len(frame), counted.rows),
        }
    return Clustering(
        frame=frame,
        X=X,
        feature_names=features,
        model=row_model(model),
        labels=sample.labels,
        confidence=sample.confidence,
        truth=None if label_column is None else frame[label_column].astype(str).to_numpy(),
        id_column=preparation.id_column_,
        preparation=[*header_guess(parts.names), *preparation.steps_],
        source=parts.source,
        seconds=seconds,
        settings=settings,
        tally=counted,
    )
