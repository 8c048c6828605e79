import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dogc import DOGC, RatioCut, compare, explore
from dogc.comparison import METHODS
from dogc.metrics import clustering_report
from dogc.quality import evidence


class Given(ClusterMixin, BaseEstimator):
    """Finds what it is given."""

    def __init__(self, y=None):
        self.y = y

    def fit(self, X, y=None):
        self.labels_ = np.asarray(self.y, dtype=int)
        return self


PAPER = "KM R-cut N-cut SC NMF CLR0 CLR1 CAN PCAN SEC DKM LL CLGR DOGC-I DOGC-II DOGC DOGC-OS"
BESIDE = "LSC U-SPEC GaussianMixture HDBSCAN Leiden"


def test_all_methods_run_side_by_side_those_of_the_paper_first():
    X, truth = make_blobs(120, n_features=4, centers=3, random_state=0, cluster_std=0.7)
    names = [name for name in METHODS if name != "UMAP + k-means"]  # takes long, where installed
    table = compare(X, 3, names, y=truth)
    assert [row.method for row in table] == [*PAPER.split(), *BESIDE.split()]
    for row in table:
        assert row.scores["acc"] == 1.0, row.method
        assert row.n_found == 3
        assert row.seconds > 0


def test_scores_and_labels_are_those_of_the_methods():
    X, _ = make_moons(200, noise=0.08, random_state=0)
    truth = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    table = compare(X, 2, ["DOGC", "KM"], truth)
    assert len(table) == 2
    np.testing.assert_array_equal(table["DOGC"].labels, DOGC(2).fit_predict(X))
    np.testing.assert_array_equal(table.labels["DOGC"], table["DOGC"].labels)
    scores = table["DOGC"].scores
    assert scores == clustering_report(truth, table["DOGC"].labels)
    # The NMI that is shown divides by the larger entropy.
    assert scores["nmi_max"] + 0.05 < scores["nmi_geometric"]
    heads, values = (line.split() for line in table.tables()[0].splitlines()[:2])
    assert float(values[heads.index("NMI")]) == pytest.approx(scores["nmi_max"], abs=5e-4)


def test_without_truth_methods_are_held_against_each_other():
    X, _ = make_moons(200, noise=0.08, random_state=0)
    table = compare(X, 2, ["KM", "N-cut", "DOGC"])
    labels = [table[name].labels for name in ("KM", "N-cut", "DOGC")]
    expected = [[adjusted_rand_score(a, b) for b in labels] for a in labels]
    np.testing.assert_allclose(table.agreement, expected)
    assert table["KM"].agreement == pytest.approx((expected[0][1] + expected[0][2]) / 2)
    assert table["KM"].scores == {}
    assert "ACC" not in str(table)
    assert "agreement" in str(table)


def test_identical_clusters_count_once():
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    one, other = np.arange(40) % 2, np.arange(40) < 20
    methods = {"a": one, "b": 1 - one, "c": one, "d": other}
    table = compare(X, 2, {name: Given(y) for name, y in methods.items()})
    assert table.identical() == [["a", "b", "c"], ["d"]]
    between = adjusted_rand_score(one, other)
    assert [row.agreement for row in table] == pytest.approx([between] * 4)
    assert "count once in the agreement: a, b, c." in table.lead()[-1]


def test_all_methods_are_judged_in_the_same_columns():
    X, _ = make_blobs(90, centers=3, random_state=0)
    table = compare(X, 3, ["KM", "DOGC", "HDBSCAN"])
    for row in table:
        assert row.evidence == evidence(X, row.labels)
    one = compare(X, 1, ["KM"])["KM"]
    assert one.evidence.verdict == "none"
    words = make_pipeline(OneHotEncoder(), KMeans(2, n_init=1, random_state=0))
    assert compare(np.array([["a"], ["b"]] * 9), 2, words)["Pipeline"].evidence is None


def test_small_neighbourhoods_share_all_categories_and_say_nothing():
    rng = np.random.default_rng(1)
    y, levels = np.arange(600) % 3, np.eye(6)[rng.integers(0, 6, 600)]
    X = np.hstack([5.0 * np.eye(3)[y] + rng.normal(size=(600, 3)), 3.0 * levels])
    small, wide = (compare(X, 3, Given(y), parameters=p)[0] for p in ({}, {"n_neighbors": "wide"}))
    assert wide.evidence.stability > small.evidence.stability + 0.2


def test_a_method_that_fails_says_why_and_the_others_go_on():
    X = sp.csr_array(np.random.default_rng(0).standard_normal((40, 60)))
    features = METHODS["NMF"](2).set_params(source="features")
    table = compare(X, 2, {"bad": features, "good": RatioCut(2)}, np.arange(40) % 2)
    assert table["bad"].labels is None
    assert table["bad"].note.startswith("failed: ValueError: X is sparse and has negative")
    assert np.isnan(table["bad"].agreement)
    assert table["good"].labels is not None
    assert table.succeeded == ["good"]
    assert "failed" in str(table)


def test_names_classes_and_estimators_of_your_own_can_be_mixed():
    X, _ = make_blobs(60, centers=3, random_state=0)
    table = compare(X, 3, ["n-CUT", "ratiocut", KMeans(4, n_init=1), KMeans(5, n_init=1)])
    assert [row.n_found for row in table] == [3, 3, 4, 5]
    assert table.succeeded == ["n-CUT", "ratiocut", "KMeans", "KMeans (4)"]
    mine = DOGC(3)
    assert compare(X, 2, mine)["DOGC"].n_found == 3
    assert not hasattr(mine, "labels_")  # a copy was fitted
    assert compare(X, 3, {"mine": "KM"})["mine"].n_found == 3


def test_pipelines_of_your_own_see_x_as_it_is():
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[0, 0] = np.nan
    assert compare(X, 2, make_pipeline(SimpleImputer(), DOGC(2)))[0].labels is not None


def test_the_same_note_of_several_methods_is_said_once():
    X, _ = make_blobs(60, centers=6, cluster_std=0.1, random_state=0)
    table = compare(X, 2, ["CAN", "PCAN", "R-cut", "SC"], n_neighbors=3)
    notes = table.notes()
    assert len(notes) == 2
    assert notes[0].startswith("CAN, PCAN: stopped before it converged")
    assert notes[1].startswith("R-cut, SC: the graph has 6 components")


def test_measures_of_your_own_stand_beside_the_others():
    from sklearn.metrics import fowlkes_mallows_score

    X, truth = make_moons(120, noise=0.05, random_state=0)
    named = np.array(["b", "a"])[truth]
    metrics = {"FM": fowlkes_mallows_score, "classes": lambda y, labels: len(np.unique(y))}
    table = compare(X, 2, ["KM", "DOGC"], named, metrics=metrics)
    for row in table:
        assert row.scores["FM"] == pytest.approx(fowlkes_mallows_score(truth, row.labels))
        assert row.scores["classes"] == 2.0
    assert {"FM", "classes"} <= set(table.tables()[0].split("\n")[0].split())
    assert list(table.to_frame()["FM"]) == [row.scores["FM"] for row in table]
    with pytest.raises(ValueError, match="pass y"):
        compare(X, 2, ["KM"], metrics=metrics)


def test_neighbours_and_seed_reach_every_method_that_has_them():
    X, _ = make_blobs(60, centers=3, random_state=0)
    table = compare(X, 3, ["KM", "R-cut"], n_neighbors=59)
    assert table["R-cut"].estimator.n_neighbors == 59
    table = compare(X, 3, ["KM", "R-cut", "CLR1"], parameters={"affinity": "full"}, random_state=7)
    assert table["R-cut"].estimator.affinity == table["CLR1"].estimator.affinity == "full"
    assert table["KM"].estimator.random_state == table["R-cut"].estimator.random_state == 7


def test_the_table_as_text_html_and_frame():
    X, truth = make_blobs(60, centers=3, random_state=0)
    table = compare(X, 3, ["KM", "CAN"], truth)
    # A second table has what does not fit.
    lead, first, second = (part.splitlines() for part in str(table).split("\n\n"))
    same = "Identical clusters, which count once in the agreement: KM, CAN."
    assert lead == ["Plausible: KM, CAN.", same]
    assert len(first) == len(second) == 3
    assert first[0].split() == [
        "method", "verdict", "clusters", "seconds", "ACC", "NMI", "purity", "ARI", "agreement",
    ]  # fmt: skip
    assert second[0].split() == ["method", "stability", "separation"]
    (whole,) = table.tables(200)
    assert {"ACC", "stability", "separation"} <= set(whole.splitlines()[0].split())
    assert repr(table) == str(table)
    assert table._repr_html_().count("<tr>") == 3
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == ["KM", "CAN"]
    assert {"seconds", "acc", "nmi_geometric", "ari", "agreement", "note"} <= set(frame.columns)
    assert list(frame["verdict"]) == ["plausible", "plausible"]
    names = table.agreement_frame()
    assert names.loc["KM", "CAN"] == table.agreement[0, 1]
    assert table[1] is table["CAN"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"methods": ["KM", "kmeens"]}, "methods holds 'kmeens', which is unknown; choose from"),
        ({"methods": []}, "methods is empty; name at least one, or pass None"),
        ({"methods": [DOGC]}, "neither a name nor a clusterer; pass an estimator with fit_predict"),
        ({"methods": {"mine": None}}, "methods holds None, which is neither a name nor"),
        ({"y": [0, 1]}, r"y must hold one class for each of the 20 rows of X; got shape \(2,\)"),
        ({"y": np.zeros((20, 2))}, r"y must hold one class .* got shape \(20, 2\)"),
        ({"y": [np.nan] * 20}, "y has a missing value at row 0"),
        ({"n_clusters": 21}, "n_clusters=21 is too large: there are only 20 rows"),
        ({"n_clusters": "3"}, "n_clusters must be an integer of at least 1; got '3'"),
        ({"n_neighbors": 20}, "n_neighbors=20 is too large"),
        ({"X": np.full((20, 2), np.nan)}, "contains NaN"),
    ],
)
def test_bad_arguments_are_said_before_the_first_fit(arguments, says, monkeypatch):
    monkeypatch.setattr("dogc.comparison._run", lambda *a: pytest.fail("too late"))
    with pytest.raises(ValueError, match=says):
        compare(**{"X": np.zeros((20, 2)), "n_clusters": 2, **arguments})


def test_the_progress_bar_goes_to_standard_error_when_asked_for(capsys):
    X = np.random.default_rng(0).random((20, 2))
    compare(X, 2, ["KM"], progress=True)
    assert "1/1" in capsys.readouterr().err
    compare(X, 2, ["KM"], progress=False)
    compare(X, 2, ["KM"])  # not a terminal
    assert capsys.readouterr().err == ""


def test_an_interrupted_fit_ends_all(monkeypatch):
    X = np.random.default_rng(0).random((20, 2))
    monkeypatch.setattr(KMeans, "stopping_reason_", "interrupted", raising=False)
    with pytest.raises(KeyboardInterrupt):
        compare(X, 2, ["KM", "DOGC"])
    with pytest.raises(KeyboardInterrupt):
        explore(X, [2, 3], KMeans(2, n_init=1))
