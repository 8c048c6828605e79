"""``dogc predict``: labels for the rows of a file, however many they are."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..model_files import saving
from ..tables import Preparation, TableError, read_chunks
from ..tables.parts import Part, find_parts
from ..tables.workers import Workers
from .cluster_files import sizes, with_labels
from .csv_rows import CsvRows

CHUNK_ROWS = 50_000


def load_with_preparation(path: pathlib.Path) -> saving.Bundle:
    """A model file that knows the columns of the table it was made from."""
    bundle = saving.load_bundle(path)
    if bundle.preparation is None:
        raise saving.ModelFileError(
            f"{path} holds a model without its columns; use one that dogc cluster wrote, or "
            "dogc.load in Python."
        )
    if not hasattr(bundle.model, "predict"):
        raise saving.ModelFileError(
            f"{path} holds {type(bundle.model).__name__}, which cannot label new rows; cluster "
            "with --method dogc or dogc-os."
        )
    return bundle


def predict_file(
    bundle: saving.Bundle,
    file: str,
    out: CsvRows,
    advance: Callable[[int], object] = lambda rows: None,
) -> dict[str, int]:
    """Label a file some rows at a time; the sizes of the clusters."""
    assert bundle.preparation is not None
    total: dict[str, int] = {}
    for table in read_chunks(file, CHUNK_ROWS):
        X = bundle.preparation.transform(table.frame)
        labels, confidence = label_rows(bundle.model, X)
        out.write(with_labels(table.frame, labels, confidence))
        for name, count in sizes(labels).items():
            total[name] = total.get(name, 0) + count
        advance(len(labels))
    if not total:
        raise TableError(f"{file} has no rows; pass a file with at least one.")
    return dict(sorted(total.items(), key=lambda item: int(item[0])))


def predict_parts(
    bundle: saving.Bundle,
    files: list[str],
    source: str,
    out: CsvRows,
    workers: Workers,
    advance: Callable[[int], object] = lambda rows: None,
) -> dict[str, int]:
    """Label the rows of several files, or by several workers; the sizes of the clusters."""
    parts = find_parts(files, source, workers)
    total: dict[str, int] = {}
    found = workers.in_order(label_part, parts.parts, bundle.preparation, bundle.model)
    sure = hasattr(bundle.model, "predict_membership")
    for part, (labels, confidence) in zip(parts.parts, found, strict=True):
        out.write(with_labels(part.read(), labels, confidence, always=sure))
        for name, count in sizes(labels).items():
            total[name] = total.get(name, 0) + count
        advance(len(labels))
    return dict(sorted(total.items(), key=lambda item: int(item[0])))


def label_part(part: Part, preparation: Preparation, model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows of a part, and how sure they are."""
    return label_rows(model, preparation.transform(part.read()))


def label_rows(model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels of new rows and how sure they are; NaN where the model does not say."""
    if not hasattr(model, "predict_membership"):
        return model.predict(X), np.full(len(X), np.nan)
    shares = model.predict_membership(X)
    # By the regression both are cheap; by the neighbours one search must do for both, unless
    # outliers are marked.
    marks = getattr(model, "outlier_label", None) is not None
    linear = hasattr(model, "decision_function")
    labels = model.predict(X) if linear or marks else shares.argmax(axis=1)
    return labels, shares.max(axis=1)
