"""Model files that earlier releases wrote."""

import json
import pathlib

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dogc import load, save

pytest.importorskip("skops.io")

FOLDER = pathlib.Path(__file__).parent / "old_models"
LABELS = json.loads((FOLDER / "labels.json").read_text())
X, _ = make_blobs(40, centers=3, random_state=0, cluster_std=0.6)


@pytest.mark.parametrize("name", sorted(LABELS))
def test_they_label_rows_as_they_did(name, tmp_path):
    model = load(FOLDER / f"{name}.skops")
    assert model.predict(X).tolist() == LABELS[name]
    shares = model.predict_membership(X)
    assert shares.argmax(axis=1).tolist() == LABELS[name]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    again = load(save(model, tmp_path / "again.skops"))
    assert again.predict(X).tolist() == LABELS[name]


def test_what_they_do_not_know_is_said():
    model = load(FOLDER / "dogc.skops")
    with pytest.raises(ValueError, match=r"earlier release.*fit it again"):
        model.score_outliers(X)
    assert model.set_params(outlier_label=-1).predict(X).tolist() == LABELS["dogc"]


def test_the_regression_of_an_old_model_is_its_rule():
    model = load(FOLDER / "dogcos.skops")
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores)
    assert (model.predict(X) == scores.argmax(axis=1)).all()


def test_old_evidence_for_a_number_can_be_read():
    counts = load(FOLDER / "auto.skops").cluster_counts_
    assert counts[0].n_clusters == 3
    assert counts[0].score > counts[1].score
