"""``dogc predict``: labels for the rows of a file, however many they are."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import Any

from ..._words import shown
from ...encoding.columns import unseen
from ...encoding.errors import shortened
from ...fitting.auto.n_neighbors import EVIDENCE
from ...fitting.rule import REPEATED
from ..files.clustering import EMPTY, Watch, empty_rows, label_rows
from ..files.reading import Table
from ..files.tally import named_sizes
from ..models import saving
from .cluster_files import with_results
from .outputs import CsvRows


def unsteady(model: Any) -> list[str]:
    """A word on clusters that change with what was chosen, as the fit said too."""
    resolution, scales = getattr(model, "resolutions_", None), getattr(model, "scales_", None)
    agreement, of = 1.0, "neighbours"
    if resolution is not None:
        agreement, of = resolution.confirmed, "representatives"
    elif scales is not None and len(scales.n_neighbors) > 1 and model.n_clusters_ > 1:
        agreement = float(scales.score.max())
    if agreement >= EVIDENCE:
        return []
    return [
        f"the clusters of this model change with the number of {of} (agreement {agreement:.2f}); "
        "another number would label these rows differently."
    ]


def load_with_preparation(path: pathlib.Path) -> saving.Bundle:
    """A model file that knows the columns of the table it was made from."""
    bundle = saving.load_bundle(path)
    if bundle.preparation is None or not hasattr(bundle.model, "predict"):
        what = "cannot label new rows" if bundle.preparation else "was saved without its columns"
        raise saving.ModelFileError(
            f"{path} holds {type(bundle.model).__name__}, which {what}; use a model that dogc "
            "cluster wrote with --method dogc or dogc-os."
        )
    return bundle


def predict_table(
    bundle: saving.Bundle, table: Table, out: CsvRows, watch: Watch
) -> tuple[dict[str, int], list[str]]:
    """Label a table chunk by chunk; the rows of each cluster, and notes on the labels."""
    preparation: Any = bundle.preparation
    sizes: Counter[int] = Counter()
    counts: Counter[str] = Counter()  # rows with unseen values, by column
    examples: dict[str, str] = {}
    empty: list[str] = []
    for frame in table.chunks():
        results = label_rows(bundle.model, preparation.transform(frame))
        out.write(with_results(frame, results))
        empty += empty_rows(frame, preparation.columns_)
        sizes.update(results["labels_"].tolist())
        for name in frame.columns.intersection(list(preparation.plans_)):
            count, value = unseen(frame[name], preparation.plans_[name])
            if value is not None:
                counts[name] += count
                examples.setdefault(name, value)
        watch("labelling", len(frame), table.rows)
    notes = [EMPTY + shortened(empty, 5)] if empty else []
    agreement = getattr(bundle.model, "label_agreement_", None)
    if agreement is not None and agreement < REPEATED:
        notes.append(
            f"on its own training rows this model reproduces only {agreement:.0%} of the labels; "
            "expect a similar share of differences here."
        )
    notes += unsteady(bundle.model)
    for name, count in counts.items():
        rows = "1 row has a value" if count == 1 else f"{count:,} rows have values"
        notes.append(
            f"{rows} in column '{shown(name)}' that the model has not seen, such as "
            f"'{shown(examples[name], 40)}'; labelled by the other columns."
        )
    return named_sizes(sizes), notes
