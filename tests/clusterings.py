"""Clustered tables for the tests of the report."""

from __future__ import annotations

import types

import numpy as np
import pandas as pd

from dogc import DOGCOS
from dogc.app.files.clustering import Clustering
from dogc.app.files.tally import SampledRows, tally

HOSTILE = "</script><script>throw 1</script>&\"'"


def clustering_of(frame, X, labels, membership=None, source="table.csv", **fields):
    """A clustering with the fields that a test does not care about filled in."""
    n, d = X.shape
    defaults = {
        "feature_names": [str(name) for name in frame.columns][:d],
        "model": types.SimpleNamespace(),
        "truth": None,
        "id_column": None,
        "seconds": 0.5,
        "settings": {},
    }
    fields, labels = defaults | fields, np.asarray(labels)
    fields["settings"] = {"source": source, "preparation": []} | fields["settings"]
    membership = np.full(n, np.nan) if membership is None else membership
    apart = getattr(fields["model"], "outliers_", np.zeros(n))
    apart = np.asarray(apart if len(apart) == n else np.zeros(n), dtype=bool)
    truth = None if fields["truth"] is None else np.asarray(fields["truth"]).astype(str)
    fields.setdefault("tally", tally(np.maximum(labels, -1), membership, apart, truth))
    return Clustering(SampledRows(frame, labels, membership), X, **fields)


def flowers(n=120):
    """Three far groups with a number, a skewed number, a category, hostile text and an id."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    height = 10.0 * truth + rng.standard_normal(n)
    price = np.exp(2.0 * truth + rng.standard_normal(n))
    red = rng.random(n) < np.array([0.9, 0.1, 0.1])[truth]
    frame = pd.DataFrame(
        {
            "plant": [f"P-{i:03d}" for i in range(n)],
            "height <b>cm</b>": height.round(2),
            "price": price,
            "colour": np.where(red, "red", "blue"),
            "remark": np.where(truth == 0, HOSTILE, "plain"),
            "kind": np.array(["rose", "tulip", HOSTILE])[truth],
        }
    )
    X = np.column_stack([height, np.log(price), 2.0 * red - 1.0])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = DOGCOS(3).fit(X)
    scores = np.sort(model.decision_function(X), axis=1)
    return clustering_of(
        frame,
        X,
        model.labels_,
        feature_names=["height <b>cm</b>", "price", "colour = red"],
        model=model,
        membership=np.clip(scores[:, -1] - scores[:, -2], 0.0, 1.0),
        truth=frame["kind"].to_numpy(dtype=object),
        id_column="plant",
        source=f"flowers {HOSTILE}.csv",
        evidence=model.evidence_,
        settings={
            "method": "dogc-os",
            "parameters": {"n_clusters": 3, "tol": float("inf"), "note": HOSTILE},
            "versions": {"dogc": "0"},
            "notes": [HOSTILE],
            "preparation": [
                "The column plant identifies rows.",
                f"The column {HOSTILE} was dropped.",
            ],
        },
    )
