"""``dogc predict``: labels for the rows of a file, however many they are."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._words import shown
from ...encoding.columns import unseen
from ...fitting.auto.n_neighbors import EVIDENCE
from ...fitting.auto.n_representatives import LOW_AGREEMENT
from ...fitting.rule import REPEATED
from ..files.clustering import Watch, label_rows, unwatched
from ..files.reading import Table
from ..models import saving
from .cluster_files import with_results
from .outputs import CsvRows

if TYPE_CHECKING:
    import pandas


class Labelled:
    """Counts of the rows that were labelled.

    Parameters
    ----------
    preparation : MixedEncoder
        What knows the values of the columns.
    """

    def __init__(self, preparation: Any):
        """Nothing is counted yet."""
        self._plans: dict[str, Any] = preparation.plans_
        self._sizes: Counter[int] = Counter()
        self._unseen: dict[str, tuple[int, str]] = {}

    def add(self, frame: pandas.DataFrame, labels: np.ndarray) -> None:
        """Count some rows."""
        self._sizes.update(labels.tolist())
        for name in [name for name in frame.columns if name in self._plans]:
            count, value = unseen(frame[name], self._plans[name])
            if value is not None:
                before, first = self._unseen.get(name, (0, value))
                self._unseen[name] = (before + count, first)

    def named_sizes(self) -> dict[str, int]:
        """Rows of each cluster."""
        return {str(label): self._sizes[label] for label in sorted(self._sizes)}

    def notes(self, bundle: saving.Bundle) -> list[str]:
        """Notes on these labels."""
        found = []
        agreement = getattr(bundle.model, "label_agreement_", None)
        if agreement is not None and agreement < REPEATED:
            found.append(
                f"on its own training rows this model reproduces only {agreement:.0%} of the "
                "labels; expect a similar share of differences here."
            )
        found += unsteady(bundle.model)
        for name, (count, value) in self._unseen.items():
            rows = "1 row has a value" if count == 1 else f"{count:,} rows have values"
            they = "it was" if count == 1 else "they were"
            found.append(
                f"{rows} in column '{shown(name)}' that the model has not seen, such as "
                f"'{shown(value, 40)}'; {they} labelled by the other columns."
            )
        return found


def unsteady(model: Any) -> list[str]:
    """A word on clusters that change with what was chosen, as the fit said too."""
    resolution, scales = getattr(model, "resolutions_", None), getattr(model, "scales_", None)
    if resolution is not None:
        agreement, of = resolution.confirmed, "representatives"
        low = agreement < LOW_AGREEMENT
    elif scales is not None and len(scales.n_neighbors) > 1 and model.n_clusters_ > 1:
        agreement, of = float(scales.score.max()), "neighbours"
        low = agreement < EVIDENCE
    else:
        return []
    told = (
        f"the clusters of this model change with the number of {of} (agreement {agreement:.2f}); "
        "another number would label these rows differently."
    )
    return [told] if low else []


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


def predict_table(
    bundle: saving.Bundle,
    table: Table,
    out: CsvRows,
    watch: Watch = unwatched,
) -> Labelled:
    """Label a table chunk by chunk; what was counted on the way."""
    assert bundle.preparation is not None
    total = Labelled(bundle.preparation)
    for frame in table.chunks():
        results = label_rows(bundle.model, bundle.preparation.transform(frame))
        out.write(with_results(frame, results))
        total.add(frame, results["labels_"])
        watch("labelling", len(frame), table.rows)
    return total
