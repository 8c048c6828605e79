"""Evidence for a clustering without ground truth."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, normalize

from dogc import CAN, DOGC, DOGCOS, compare, quality
from dogc.results import ResolutionChoice

COLUMNS = ["silhouette", "scales", "confident", "stability"]


def blobs(n=150, seed=0):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)[0]


def noise(n=200, d=6):
    return np.random.default_rng(0).random((n, d))


class Thirds(ClusterMixin, BaseEstimator):
    """Cuts the rows it is given into three by their order; remembers what it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.seen.append(np.array(X))
        self.labels_ = 3 * np.arange(len(X)) // len(X)
        return self


class Failing(ClusterMixin, BaseEstimator):
    """Fails, or fails on samples only."""

    def __init__(self, enough=10**9):
        self.enough = enough

    def fit(self, X, y=None):
        if len(X) < self.enough:
            raise ValueError("no luck")
        self.labels_ = np.arange(len(X)) % 3
        return self


# -------------------------------------------------------------------------- stability


def test_chance_does_not_come_back():
    assert quality.stability(DOGC(5), noise(), n_repeats=3) < 0.65
    assert quality.stability(KMeans(8, n_init=1, random_state=0), noise(), n_repeats=3) < 0.65


def test_stability_is_the_mean_agreement_on_samples(monkeypatch):
    monkeypatch.setattr(Thirds, "seen", [])
    X = np.arange(100.0)[:, None]
    labels = np.arange(100) % 4
    found = quality.stability(Thirds(), X, labels, n_repeats=3)
    assert len(Thirds.seen) == 3  # labels were given: nothing is fitted on all rows
    agreement = []
    for rows in Thirds.seen:
        rows = rows[:, 0].astype(int)
        assert len(rows) == len(set(rows)) == 80
        assert (np.diff(rows) > 0).all()
        agreement.append(adjusted_rand_score(labels[rows], 3 * np.arange(80) // 80))
    assert found == pytest.approx(np.mean(agreement))
    assert len({rows.tobytes() for rows in Thirds.seen}) == 3


def test_stability_is_the_same_every_time():
    X = noise(120)
    first = quality.stability(DOGC(4), X, n_repeats=2)
    assert quality.stability(DOGC(4), X, n_repeats=2, random_state=0) == first
    assert quality.stability(DOGC(4), X, n_repeats=2, random_state=1) != first


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_array, pd.DataFrame, np.ndarray.tolist])
def test_every_kind_of_rows(kind):
    assert quality.stability(DOGC(3), kind(blobs()), n_repeats=2) == 1.0


def test_samples_are_counted_by_whole_numbers():
    with pytest.raises(ValueError, match=r"^n_repeats must be an integer of at least 1; got"):
        quality.stability(DOGC(3), blobs(), n_repeats=0)


# ------------------------------------------------------------------------- silhouette


def test_the_silhouette_is_scikit_learns():
    X, labels = blobs(), np.arange(150) % 4
    assert quality.silhouette(X, labels) == pytest.approx(silhouette_score(X, labels))
    assert quality.silhouette(sp.csr_array(X), labels) == quality.silhouette(X, labels)
    by_cosine = silhouette_score(normalize(X), labels, metric="cosine")
    assert quality.silhouette(X, labels, "cosine") == pytest.approx(by_cosine)
    with_noise = np.where(np.arange(150) < 20, -1, labels)
    assert quality.silhouette(X, with_noise) == pytest.approx(silhouette_score(X[20:], labels[20:]))


def test_the_silhouette_of_many_rows_is_that_of_a_sample(monkeypatch):
    X = blobs(900)
    labels = KMeans(3, random_state=0, n_init=1).fit_predict(X)
    whole = quality.silhouette(X, labels)
    monkeypatch.setattr(quality, "SILHOUETTE_ROWS", 300)
    assert quality.silhouette(X, labels) != whole
    assert quality.silhouette(X, labels) == quality.silhouette(X, labels)
    assert quality.silhouette(X, labels) == pytest.approx(whole, abs=0.05)


def test_where_there_is_no_silhouette():
    rows = np.arange(150)
    one_beside_noise = np.where(rows < 75, 0, -1)
    for labels in (0 * rows, rows, 0 * rows - 1, one_beside_noise):
        assert np.isnan(quality.silhouette(blobs(), labels))
    assert np.isnan(quality.silhouette(blobs(), rows % 3, "precomputed"))


# --------------------------------------------------------------------------- evidence


def test_evidence_that_is_not_there_is_nan():
    X = blobs()
    kmeans = KMeans(3, random_state=0).fit(X)
    assert np.isnan(quality.evidence(kmeans, X, kmeans.labels_)["scales"])
    one_scale = DOGC(3, n_neighbors=10).fit(X)
    assert np.isnan(quality.evidence(one_scale, X, one_scale.labels_)["scales"])
    D = KNeighborsTransformer(n_neighbors=20, mode="distance").fit_transform(X)
    model = DOGC(3, metric="precomputed").fit(D)
    found = quality.evidence(model, D, model.labels_)
    assert np.isnan(found["stability"])
    assert np.isnan(found["silhouette"])


# ------------------------------------------------------------------------------ score


@pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], ids=lambda cls: cls.__name__)
def test_the_stability_and_the_score_of_clear_clusters_are_one(cls):
    assert quality.stability(cls(3), blobs()) == 1.0
    model = cls(3).fit(blobs())
    assert model.score(blobs(90, seed=1)) == 1.0
    assert model.score(blobs(90, seed=1), np.zeros(90)) == 1.0


def test_the_score_compares_predict_with_a_new_fit():
    X, new = noise(150, 3), noise(250, 3)[150:]
    model = DOGC(4, n_neighbors=12).fit(X)
    again = DOGC(4, n_neighbors=12).fit_predict(new)
    expected = adjusted_rand_score(model.predict(new), again)
    labels = model.labels_.copy()
    assert model.score(new) == pytest.approx(expected)
    assert model.score(new) < 0.95
    assert np.array_equal(model.labels_, labels)


def test_the_score_asks_for_the_number_that_was_found():
    model = DOGC("auto").fit(blobs())
    assert model.n_clusters_ == 3
    part = blobs(150, seed=2)
    part = part[model.predict(part) > 0]
    assert DOGC("auto").fit(part).n_clusters_ == 2
    expected = adjusted_rand_score(model.predict(part), DOGC(3).fit_predict(part))
    assert model.score(part) == expected < 1.0


def test_a_grid_is_searched_without_ground_truth():
    X = blobs(180)
    search = GridSearchCV(DOGC(2), {"n_clusters": [2, 3, 5]}, cv=3, error_score="raise").fit(X)
    assert np.isfinite(search.best_score_)
    assert search.best_params_["n_clusters"] in (2, 3)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == 1.0
    assert scores[2] < 0.95
    assert len(np.unique(search.predict(X))) == search.best_params_["n_clusters"]


# ------------------------------------------------------------------------- comparison


def test_the_table_has_the_evidence():
    X = blobs()
    table = compare(X, 3, ["KM", "DOGC"], quality=True)
    assert table["DOGC"].quality == quality.evidence(DOGC(3).fit(X), X, table["DOGC"].labels)
    assert np.isnan(table["KM"].quality["scales"])
    header, kmeans, dogc = (line.split() for line in str(table).splitlines()[:3])
    assert header[3:7] == COLUMNS
    assert kmeans[6] == dogc[6] == "1.000"
    assert (kmeans[4], dogc[4]) == ("-", "1.000")
    html = table._repr_html_()
    assert all(f"<th>{name}</th>" in html for name in COLUMNS)
    frame = table.to_frame()
    assert frame.loc["DOGC", "silhouette"] == table["DOGC"].quality["silhouette"]
    assert [name for name in frame if name in COLUMNS] == COLUMNS
    assert "quality" not in frame
    # Rows that only a pipeline can read have none.
    pipeline = make_pipeline(OneHotEncoder(), KMeans(2, n_init=1, random_state=0))
    assert compare(np.array([["a"], ["b"]] * 5), 2, pipeline)["Pipeline"].quality == {}


def test_agreement_over_scales_is_that_of_representatives_where_there_are_any():
    model = DOGC(3, n_representatives="auto").fit(blobs(400))
    choice = ResolutionChoice((60, 90), np.eye(2), np.array([0.5, 0.5]), 60)
    model.resolutions_ = choice
    assert quality.scale_agreement(model) == choice.confirmed == 0.5


def test_methods_that_fail_have_no_evidence():
    methods = {"never": Failing(), "samples": Failing(enough=150), "noise": DBSCAN(eps=1.5)}
    table = compare(blobs(), 3, {**methods, "DOGC": "DOGC"}, quality=True)
    assert table["never"].labels is None
    assert table["never"].quality == {}
    assert np.isnan(table["samples"].quality["stability"])
    assert np.isfinite(table["samples"].quality["silhouette"])
    assert table["noise"].quality["stability"] > 0.9
    assert table["DOGC"].quality["stability"] == 1.0
    lines = {line.split()[0]: line.split() for line in str(table).splitlines()[1:5]}
    assert lines["never"][3:] == ["-"] * 5
    assert lines["samples"][6] == "-"
