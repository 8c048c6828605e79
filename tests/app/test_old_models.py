"""Model files that earlier releases wrote, in format 1."""

import json
import pathlib
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from dogc.app.model_files import format_one, packing
from sklearn.datasets import make_blobs, make_moons
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dogc import (
    CAN,
    CLR,
    DOGC,
    DOGCOS,
    LPP,
    SEC,
    DiscriminativeKMeans,
    NormalizedCut,
    load,
    load_bundle,
    save,
)

pytest.importorskip("skops.io")

FOLDER = pathlib.Path(__file__).parent / "old_models"
LABELS = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))
FIRST = ("auto", "dogc", "dogcos")  # of a release before the others
X, _ = make_blobs(40, centers=3, random_state=0, cluster_std=0.6)
MOONS, _ = make_moons(80, noise=0.02, random_state=0)
MANY, _ = make_moons(10_000, noise=0.1, random_state=0)
NEAR = KNeighborsTransformer(n_neighbors=12).fit(X).transform(X)

# What was fitted on which rows.
MODELS = {
    "can": (CAN(3), X),
    "clr": (CLR(3), X),
    "cosine": (DOGC(3, metric="cosine"), X),
    "dkm": (DiscriminativeKMeans(3), X),
    "lpp": (LPP(1), X),
    "many_rows": (NormalizedCut(2, n_representatives=100), MANY),
    "ncut": (NormalizedCut(3), X),
    "neighbors": (DOGCOS(2, rule="auto"), MOONS),
    "paper": (DOGCOS(3, rule="paper"), X),
    "pipeline": (make_pipeline(StandardScaler(), DOGCOS(3)), X),
    "precomputed": (DOGC(3, n_neighbors=8, metric="precomputed"), NEAR),
    "representatives": (DOGC(2, n_representatives=30), MOONS),
    "sec": (SEC(3), X),
    "sparse": (DOGC(3), sp.csr_array(X - X.min())),
}


@pytest.mark.parametrize("name", FIRST)
def test_they_label_rows_as_they_did(name, tmp_path):
    model = load(FOLDER / f"{name}.skops")
    assert model.predict(X).tolist() == LABELS[name]
    shares = model.predict_membership(X)
    assert shares.argmax(axis=1).tolist() == LABELS[name]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    again = load(save(model, tmp_path / "again.skops"))
    assert again.predict(X).tolist() == LABELS[name]


@pytest.mark.parametrize("name", MODELS)
def test_models_of_every_kind_give_what_they_gave(name, tmp_path):
    made, rows = MODELS[name]
    model = load(FOLDER / f"{name}.skops")
    again = load(save(model, tmp_path / "again.skops"))
    for read in (model, again):
        assert type(read) is type(made)
        if name == "lpp":
            np.testing.assert_allclose(read.transform(rows), LABELS[name], rtol=1e-9)
        else:
            assert read.predict(rows)[: len(LABELS[name])].tolist() == LABELS[name]
    for parameter, value in made.get_params(deep=False).items():
        if name != "pipeline" and parameter != "init":  # its default was another
            assert getattr(model, parameter) == value


def test_all_of_them_are_looked_at():
    files = {path.stem for path in FOLDER.glob("*.skops")}
    assert files == {*FIRST, *MODELS, "table"}
    assert set(LABELS) == files - {"table"}


def test_between_them_they_hold_every_tuple():
    held = set()
    for path in FOLDER.glob("*.skops"):
        with zipfile.ZipFile(path) as archive:
            schema = archive.read("schema.json").decode()
        held |= {name for name in format_one.FIELDS if f'"__class__": "{name}"' in schema}
    assert held == set(format_one.FIELDS)


def test_a_table_is_prepared_and_labelled_as_it_was():
    pandas = pytest.importorskip("pandas")
    bundle = load_bundle(FOLDER / "table.skops")
    assert bundle.format_version == 1
    assert bundle.summary["rows"] == 45
    frame = pandas.DataFrame(
        {
            "id": ["r0", "r1", "r2"],
            "size": [0.126, 6.64, None],
            "count": [2, 11, 20],
            "colour": ["red", "green", "blue"],
            "when": ["2024-01-01", "2024-01-02", "2024-01-03"],
            "ok": ["yes", "no", "yes"],
        }
    )
    rows = bundle.preparation.transform(frame)
    np.testing.assert_allclose(rows[0, :2], [-1.186895, -1.233339], atol=1e-6)
    assert bundle.model.predict(rows).tolist() == [0, 1, 2]


def test_a_dict_with_the_key_of_a_tag_stays_a_dict():
    """A table may have columns that are called as the file calls its parts."""
    plain = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "__id__": 7}
    node = format_one.renewed({**plain, "content": {"dogc": 1, "state": 2}, "key_types": []})
    assert node["content"]["dogc"]["content"] == '"dict"'
    assert node["content"]["state"]["content"] == {"dogc": 1, "state": 2}
    assert "__id__" not in node["content"]["state"]  # or it would be taken for the whole
    assert packing.unpack({"dogc": "dict", "state": {"dogc": 1, "state": 2}})["state"] == 2


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
