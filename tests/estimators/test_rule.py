"""The rule that labels new rows: how far it repeats the labels, and what it is."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from conftest import made
from dogc import CAN, DOGC, DOGCOS, to_onnx
from dogc.fitting import rule as rules

by_class = pytest.mark.parametrize("cls", [DOGC, DOGCOS, CAN], ids=lambda cls: cls.__name__)


def blobs(n=240, c=3, seed=0):
    """At most five groups in four columns, far apart."""
    centers = 8.0 * np.vstack([np.eye(4), np.full(4, -0.5)])[:c]
    return make_blobs(n, centers=centers, random_state=seed)[0]


def overlapping(n=240, seed=0):
    return make_blobs(n, centers=[[0, 0], [3, 0], [0, 3]], random_state=seed)[0]


def moons(n=300, seed=0):
    return make_moons(n, noise=0.05, random_state=seed)[0]


def repeated(model, X):
    return (model.predict(X) == model.labels_).mean()


# ------------------------------------------------------------------- how much comes back


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_agreement_is_the_share_that_predict_repeats(cls, n):
    X = overlapping(n)
    model = made(cls, 3).fit(X)
    assert (model.n_representatives_ is None) == (n == 240)
    assert model.label_agreement_ == pytest.approx(repeated(model, X), abs=1e-12)
    assert model.label_agreement_ > 0.95


# --------------------------------------------------------- clusters that no plane tells apart


def test_a_contradiction_is_said():
    with pytest.warns(
        UserWarning, match=r"predict repeats 8\d% of labels_: no linear rule"
    ) as said:
        model = DOGCOS(2, rule="logistic").fit(moons())
    assert len(said) == 1
    assert "rule='auto'" in str(said[0].message)
    assert 0.8 < model.label_agreement_ < 0.9
    assert model.rule_ == "logistic"


@pytest.mark.parametrize("n", [300, 3600])
def test_auto_follows_neighbours_where_no_plane_does(n):
    X = moons(n)
    model = DOGCOS(2, rule="auto").fit(X)
    assert model.rule_ == "neighbors"
    for name in ("coef_", "intercept_", "decision_function"):
        assert not hasattr(model, name)
    assert model.label_agreement_ == pytest.approx(repeated(model, X), abs=1e-12)
    assert model.label_agreement_ >= 0.97
    neighbours = DOGC(2).fit(X)
    new = moons(200, seed=1)
    assert (model.predict(new) == neighbours.predict(new)).mean() > 0.99
    shares = model.predict_membership(new)
    assert np.array_equal(shares.argmax(axis=1), model.predict(new))


# ------------------------------------------------------------------------- what the rule is


@pytest.mark.parametrize("rule", ["logistic", "paper"])
@pytest.mark.parametrize("n", [240, 3600])
def test_scores_are_the_coefficients_times_the_features(rule, n):
    X, new = blobs(n) * [1.0, 10.0, 0.1, 1.0] + 5.0, 3.0 * blobs(50, seed=1)
    model = DOGCOS(3, rule=rule).fit(X)
    assert model.rule_ == rule
    scores = new @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.predict(new), scores.argmax(axis=1))


@pytest.mark.parametrize("turn", range(3))
def test_the_rule_of_the_paper_is_the_regression(turn):
    y = np.roll(np.eye(4), turn, axis=0)[:3].repeat([120, 80, 40], axis=0)
    X = (8.0 * y + np.random.default_rng(0).normal(size=y.shape)) * [1.0, 2.0, 0.5, 1.0] + 3.0
    model = DOGCOS(3, rule="paper", p=2.0, gamma=500.0, beta=1e-3, penalties="paper").fit(X)
    # With p = 2 it is ridge regression of the labels.
    centred, Y = X - X.mean(axis=0), np.eye(3)[model.labels_]
    P = np.linalg.solve(centred.T @ centred + 500.0 * np.eye(4), centred.T @ (Y - Y.mean(axis=0)))
    np.testing.assert_allclose(model.coef_, P.T, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, Y.mean(axis=0) - X.mean(axis=0) @ P, rtol=1e-6)


def test_the_paper_masks_what_logistic_regression_tells():
    X = make_blobs(300, centers=[[-8, 0], [0, 0.1], [8, 0]], random_state=0)[0]
    with pytest.warns(UserWarning, match="regression P masks clusters"):
        paper = DOGCOS(3, rule="paper").fit(X)
    assert paper.label_agreement_ < 0.9
    assert DOGCOS(3).fit(X).label_agreement_ > 0.99


def learned(Z, labels, weight=1.0, score=1.0):
    every = np.ones(len(Z))
    names = np.arange(labels.max() + 1)
    return rules.RuleRows(Z, labels, weight * every, score * every, None, None, names)


def test_the_rule_is_a_weighted_regression_on_columns_of_one_deviation():
    X = overlapping(80) * [1.0, 50.0]
    labels, weight = DOGC(3).fit_predict(X), np.random.default_rng(0).integers(1, 4, 80)
    coef, intercept = rules.logistic_rule(learned(X, labels, weight))
    Z = (X - np.average(X, axis=0, weights=weight)) / X.repeat(weight, axis=0).std(axis=0)
    C = rules._strongest(Z, labels, weight / weight.mean()).C
    reference = LogisticRegression(C=C, max_iter=200).fit(Z, labels, weight / weight.mean())
    np.testing.assert_allclose(X @ coef + intercept, reference.decision_function(Z), atol=1e-6)
    assert np.abs(coef - rules.logistic_rule(learned(X, labels))[0]).max() > 1e-3


# ------------------------------------------------------------------------- hard rows


@pytest.mark.parametrize(("n", "away"), [(240, 1e3), (3600, 1e9)])
def test_one_far_row_does_not_spoil_the_rule(n, away):
    X, new = blobs(n), blobs(200, seed=1)
    model, plain = DOGCOS(3).fit(np.vstack([X, np.full((1, 4), away)])), DOGCOS(3).fit(X)
    assert (model.predict(X) == model.labels_[:-1]).mean() > 0.99
    assert adjusted_rand_score(model.predict(new), plain.predict(new)) > 0.98
    usual = np.abs(plain.coef_).max()
    assert 0.5 * usual < np.abs(model.coef_).max() < 2.0 * usual


@pytest.mark.parametrize("rule", ["linear", None, 3, "neighbors"])
def test_a_rule_that_does_not_exist(rule):
    with pytest.raises(ValueError, match=r"^rule must be one of 'logistic', 'paper', 'auto'; got"):
        DOGCOS(3, rule=rule).fit(blobs())


# --------------------------------------------------------------------------------- onnx


@pytest.fixture
def onnxruntime():
    pytest.importorskip("onnx")
    return pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(
    ("c", "parameters"), [(2, {}), (3, {"geometry": "within"}), (3, {"metric": "cosine"})]
)
def test_an_exported_rule_is_predict(onnxruntime, c, parameters):
    units = [1.0, 1e3, 1e-3, 7.0] if "geometry" in parameters else 1.0
    model = DOGCOS(c, **parameters).fit(blobs(c=c) * units)
    new = blobs(10_000, c=c, seed=1) * units * 1.5
    if "metric" in parameters:
        new *= 10.0 ** np.random.default_rng(0).uniform(-9, 145, (10_000, 1))
        new[0] = 0.0
    proto = to_onnx(model, dtype="float64").SerializeToString()
    session = onnxruntime.InferenceSession(proto, providers=["CPUExecutionProvider"])
    label, score = session.run(["label", "score"], {"X": new})
    assert np.array_equal(label, model.predict(new))
    assert len(np.unique(label)) == c
    np.testing.assert_allclose(score, model.decision_function(new), rtol=1e-9, atol=1e-9)


def test_without_time_for_the_regression_of_the_paper_new_rows_are_labelled_all_the_same():
    X = blobs()
    model = DOGCOS(3, rule="paper", max_time=1e-9).fit(X)
    assert model.rule_ == "logistic"
    assert repeated(model, X) > 0.95
