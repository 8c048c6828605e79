import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from dogc import DOGC, RatioCut, compare
from dogc.comparison import METHODS
from dogc.metrics import clustering_report

PAPER = "KM R-cut N-cut SC NMF CLR0 CLR1 CAN PCAN SEC DKM LL CLGR DOGC-I DOGC-II DOGC DOGC-OS"


def test_all_methods_of_the_paper_run_side_by_side():
    X, truth = make_blobs(120, n_features=4, centers=3, random_state=0, cluster_std=0.7)
    table = compare(X, 3, y=truth)
    assert [row.method for row in table] == PAPER.split()
    for row in table:
        assert row.scores["acc"] == 1.0, row.method
        assert row.n_found == 3
        assert row.seconds > 0


def test_scores_and_labels_are_those_of_the_methods():
    X, truth = make_moons(200, noise=0.08, random_state=0)
    table = compare(X, 2, ["KM", "DOGC"], truth)
    assert len(table) == 2
    np.testing.assert_array_equal(table["DOGC"].labels, DOGC(2).fit_predict(X))
    np.testing.assert_array_equal(table.labels["DOGC"], table["DOGC"].labels)
    assert table["KM"].scores == clustering_report(truth, table["KM"].labels)


def test_without_truth_methods_are_held_against_each_other():
    X, _ = make_moons(200, noise=0.08, random_state=0)
    table = compare(X, 2, ["KM", "N-cut", "DOGC"])
    labels = [table[name].labels for name in ("KM", "N-cut", "DOGC")]
    expected = [[adjusted_rand_score(a, b) for b in labels] for a in labels]
    np.testing.assert_allclose(table.agreement, expected)
    assert table["KM"].agreement == pytest.approx((expected[0][1] + expected[0][2]) / 2)
    assert table["KM"].scores == {}
    assert "acc" not in str(table)
    assert "agreement" in str(table)


def test_a_method_that_fails_says_why_and_the_others_go_on():
    X = sp.csr_array(np.random.default_rng(0).standard_normal((40, 5)))
    features = METHODS["NMF"](2).set_params(source="features")
    table = compare(X, 2, {"bad": features, "good": RatioCut(2)}, np.arange(40) % 2)
    assert table["bad"].labels is None
    assert table["bad"].note.startswith("failed: ValueError: X is sparse and has negative")
    assert np.isnan(table["bad"].agreement)
    assert table["good"].labels is not None
    assert table.succeeded == ["good"]
    assert "failed" in str(table)


def test_too_many_clusters_fail_in_every_row():
    table = compare(np.eye(4), 5, ["KM", "DOGC"])
    assert all(row.note.startswith("failed") for row in table)
    assert table.agreement.size == 0


def test_warnings_become_notes():
    X, _ = make_blobs(60, centers=6, cluster_std=0.1, random_state=0)
    table = compare(X, 2, ["R-cut"], n_neighbors=3)
    assert "components, more than n_clusters=2" in table["R-cut"].note


def test_a_mapping_runs_copies_of_your_own_estimators():
    X, _ = make_blobs(60, centers=3, random_state=0)
    mine = KMeans(3, n_init=1, random_state=0)
    table = compare(X, 2, {"mine": mine})
    assert table["mine"].n_found == 3
    assert not hasattr(mine, "labels_")


def test_neighbours_and_seed_reach_every_method_that_has_them():
    X, _ = make_blobs(60, centers=3, random_state=0)
    table = compare(X, 3, ["KM", "R-cut"], n_neighbors=59)
    assert table["R-cut"].labels is not None
    assert "n_neighbors=60 is too large" in compare(X, 3, ["R-cut"], n_neighbors=60)["R-cut"].note


def test_the_table_as_text_html_and_frame():
    X, truth = make_blobs(60, centers=3, random_state=0)
    table = compare(X, 3, ["KM", "CAN"], truth)
    lines = str(table).splitlines()
    assert len(lines) == 3
    assert lines[0].split()[:4] == ["method", "clusters", "seconds", "acc"]
    assert repr(table) == str(table)
    assert table._repr_html_().count("<tr>") == 3
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == ["KM", "CAN"]
    assert {"seconds", "acc", "ari", "agreement", "note"} <= set(frame.columns)


def test_names_in_html_are_escaped():
    table = compare(np.random.default_rng(0).random((20, 2)), 2, {"<b>": RatioCut(2)})
    assert "<b>" not in table._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"methods": ["KM", "kmeans"]}, "methods holds 'kmeans', which is unknown; choose from"),
        ({"y": [0, 1]}, "y has 2 entries but X has 20 rows"),
        ({"y": []}, "labels_true and labels_pred must be non-empty"),
    ],
)
def test_bad_arguments_are_said_before_the_first_fit(arguments, says, monkeypatch):
    monkeypatch.setattr("dogc.comparison._run", lambda *a: pytest.fail("too late"))
    with pytest.raises(ValueError, match=says):
        compare(np.zeros((20, 2)), 2, **arguments)


def test_an_unknown_row_names_the_known_ones():
    table = compare(np.random.default_rng(0).random((20, 2)), 2, "KM")
    with pytest.raises(KeyError, match="'DOGC' was not compared; these were: \\['KM'\\]"):
        table["DOGC"]


def test_the_progress_bar_goes_to_standard_error_when_asked_for(capsys):
    X = np.random.default_rng(0).random((20, 2))
    compare(X, 2, ["KM"], progress=True)
    assert "1/1" in capsys.readouterr().err
    compare(X, 2, ["KM"], progress=False)
    compare(X, 2, ["KM"])  # not a terminal
    assert capsys.readouterr().err == ""
