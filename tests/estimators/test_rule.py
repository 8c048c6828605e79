"""The rule that labels new rows: how far it repeats the labels, and what it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from conftest import made
from dogc import CAN, DOGC, DOGCOS
from dogc.estimators import _rule

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


@pytest.mark.parametrize(
    ("X", "c"),
    [
        (load_iris().data, 3),
        (load_wine().data, 3),
        (load_wine().data * np.resize([1.0, 1e3, 1e-3], 13), 3),
        (load_digits().data[:600], 10),
    ],
    ids=["iris", "wine", "wine in other units", "digits"],
)
def test_a_linear_rule_repeats_the_labels(X, c):
    model = DOGCOS(c).fit(X)
    assert model.rule_ == "logistic"
    assert repeated(model, X) >= 0.97
    assert model.label_agreement_ == repeated(model, X)


@pytest.mark.parametrize("n", [240, 3600])
@by_class
def test_agreement_is_the_share_that_predict_repeats(cls, n):
    X = overlapping(n)
    model = made(cls, 3).fit(X)
    assert (model.n_representatives_ is None) == (n == 240)
    assert model.label_agreement_ == pytest.approx(repeated(model, X), abs=1e-12)
    assert model.label_agreement_ > 0.95


@by_class
def test_agreement_counts_every_copy(cls):
    X = overlapping(90).repeat(np.random.default_rng(0).integers(1, 9, 90), axis=0)
    model = made(cls, 3, n_neighbors=4).fit(X)
    assert model.label_agreement_ == pytest.approx(repeated(model, X), abs=1e-12)


def test_agreement_is_that_of_rows_with_weight():
    X = overlapping(200)
    weight = np.random.default_rng(1).integers(0, 2, 200).astype(float)
    model = DOGCOS(3).fit(X, sample_weight=weight)
    same = model.predict(X) == model.labels_
    assert model.label_agreement_ == pytest.approx(same[weight > 0].mean(), abs=1e-12)
    assert model.label_agreement_ < 1.0
    assert same[weight == 0].all()


# --------------------------------------------------------- clusters that no plane tells apart


def test_agreement_of_neighbours_is_that_of_rows_with_weight_too():
    X, weight = overlapping(200, seed=3), np.arange(200) % 7 > 0
    model = DOGC(6).fit(X, sample_weight=weight)
    again = DOGC(6).fit(X[weight])
    assert again.label_agreement_ < 1.0
    assert model.label_agreement_ == again.label_agreement_


def test_a_contradiction_is_said():
    with pytest.warns(
        UserWarning, match=r"predict repeats 8\d% of labels_: no linear rule"
    ) as said:
        model = DOGCOS(2, rule="logistic").fit(moons())
    assert len(said) == 1
    assert "rule='auto'" in str(said[0].message)
    assert 0.8 < model.label_agreement_ < 0.9
    assert model.rule_ == "logistic"


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_there_is_no_contradiction():
    DOGCOS(3).fit(blobs())
    DOGCOS(2, rule="auto").fit(moons())


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


def test_auto_is_linear_where_a_plane_does():
    X = blobs()
    model, plain = DOGCOS(3, rule="auto").fit(X), DOGCOS(3).fit(X)
    assert model.rule_ == "logistic"
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


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


@pytest.mark.parametrize("c", [2, 3, 5])
def test_shares_are_the_softmax_of_the_scores(c):
    X = blobs(300, c=c)
    model = DOGCOS(c).fit(X)
    scores = model.decision_function(X)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    usual = model.score_outliers(X) <= 3
    assert usual.mean() > 0.95
    np.testing.assert_allclose(model.predict_membership(X)[usual], expected[usual], rtol=1e-9)


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


def test_the_strongest_penalty_that_repeats_the_labels_is_taken():
    rng = np.random.default_rng(0)
    X, weight = rng.uniform(-1, 1, (400, 1)), np.ones(400)
    assert _rule._strongest(X, (X[:, 0] > 0).astype(int), weight).C == 1.0
    # The border is far from the middle: a strong penalty cannot reach it.
    assert _rule._strongest(X, (X[:, 0] > 0.9).astype(int), weight).C > 1.0
    # Nothing repeats labels drawn by lot; what comes nearest is taken, the strongest in a tie.
    assert _rule._strongest(0.0 * X, rng.integers(2, size=400), weight).C == 1.0


def learned(Z, labels, weight=1.0, score=1.0):
    every = np.ones(len(Z))
    names = np.arange(labels.max() + 1)
    return _rule.Learned(Z, labels, weight * every, score * every, None, None, names, float)


def test_the_rule_is_a_weighted_regression_on_columns_of_one_deviation():
    X = overlapping(80) * [1.0, 50.0]
    labels, weight = DOGC(3).fit_predict(X), np.random.default_rng(0).integers(1, 4, 80)
    coef, intercept = _rule.logistic_rule(learned(X, labels, weight))
    Z = (X - np.average(X, axis=0, weights=weight)) / X.repeat(weight, axis=0).std(axis=0)
    C = _rule._strongest(Z, labels, weight / weight.mean()).C
    reference = LogisticRegression(C=C, max_iter=200).fit(Z, labels, weight / weight.mean())
    np.testing.assert_allclose(X @ coef + intercept, reference.decision_function(Z), atol=1e-6)
    assert np.abs(coef - _rule.logistic_rule(learned(X, labels))[0]).max() > 1e-3


def test_outliers_are_drawn_in():
    X = np.random.default_rng(0).normal(size=(200, 1)) + np.repeat([[-4.0], [4.0]], 100, axis=0)
    labels = np.repeat([0, 1], 100)
    Z = np.vstack([X, [[1e7]]])  # beyond the second group, with the label of the first
    score = np.append(np.ones(200), 1e6)
    coef, intercept = _rule.logistic_rule(learned(Z, np.append(labels, 0), 1.0, score))
    assert ((X @ coef + intercept).argmax(axis=1) == labels).mean() > 0.98


# ------------------------------------------------------------------------- hard rows


@pytest.mark.parametrize(
    ("n", "away"),
    [
        (240, 1e3),
        (240, 1e9),
        (3600, 1e3),
        (3600, 1e9),
    ],
)
def test_one_far_row_does_not_spoil_the_rule(n, away):
    X, new = blobs(n), blobs(200, seed=1)
    model, plain = DOGCOS(3).fit(np.vstack([X, np.full((1, 4), away)])), DOGCOS(3).fit(X)
    assert (model.predict(X) == model.labels_[:-1]).mean() > 0.99
    assert adjusted_rand_score(model.predict(new), plain.predict(new)) > 0.98
    usual = np.abs(plain.coef_).max()
    assert 0.5 * usual < np.abs(model.coef_).max() < 2.0 * usual


@pytest.mark.parametrize("rule", ["logistic", "paper", "auto"])
@pytest.mark.parametrize("c", [1, 2])
def test_few_clusters(c, rule):
    X = blobs(c=2)
    model = DOGCOS(c, rule=rule).fit(X)
    assert model.coef_.shape == (c, 4)
    assert model.intercept_.shape == (c,)
    assert model.decision_function(X).shape == (240, c)
    assert repeated(model, X) == 1.0
    assert model.predict_membership(X).shape == (240, c)


@pytest.mark.parametrize("c", [6, 5])
def test_as_many_clusters_as_rows(c):
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = DOGCOS(c).fit(X)
    assert model.coef_.shape == (c, 2)
    assert repeated(model, X) >= 5 / 6


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_constant_columns_have_no_say(kind):
    X = np.column_stack([np.zeros(240), blobs(), np.zeros(240)])
    model = DOGCOS(3).fit(kind(X))
    np.testing.assert_array_equal(model.coef_[:, [0, 5]], 0.0)
    assert repeated(model, kind(X)) > 0.99
    far = np.column_stack([np.full(240, 7e5), blobs(), np.full(240, -2e-3)])
    assert repeated(DOGCOS(3).fit(far), far) > 0.99


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 100)) + 2.0 * y[:, None]
    model = DOGCOS(2).fit(X[:40])
    assert repeated(model, X[:40]) == 1.0
    assert adjusted_rand_score(y[40:], model.predict(X[40:])) == 1.0


@pytest.mark.parametrize("n", [240, 3600])
def test_sparse_rows_have_the_rule_of_dense_ones(n):
    X, new = blobs(n), blobs(100, seed=1)
    sparse, dense = DOGCOS(3).fit(sp.csr_array(X)), DOGCOS(3, geometry="given").fit(X)
    assert repeated(sparse, sp.csr_array(X)) > 0.99
    assert np.array_equal(sparse.predict(sp.csr_array(new)), dense.predict(new))
    assert np.array_equal(sparse.predict(new), sparse.predict(sp.csr_array(new)))
    scores = sparse.decision_function(sp.csr_array(new))
    np.testing.assert_allclose(scores, new @ sparse.coef_.T + sparse.intercept_)


def test_single_precision_stays_single():
    X = blobs().astype(np.float32)
    model = DOGCOS(3).fit(X)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.decision_function(X).dtype == np.float32


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
    ("c", "parameters"),
    [
        (2, {}),
        (3, {"geometry": "within"}),
        (4, {"geometry": "standard"}),
        (3, {"metric": "cosine"}),
    ],
)
def test_an_exported_rule_is_predict(onnxruntime, c, parameters):
    from dogc.app.models.onnx import to_onnx

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


def test_neighbours_cannot_be_exported(onnxruntime):
    from dogc.app.models.onnx import to_onnx

    model = DOGCOS(2, rule="auto").fit(moons())
    with pytest.raises(ValueError, match=r"labels new rows by their neighbours.*rule='logistic'"):
        to_onnx(model)


def test_outliers_cannot_be_exported(onnxruntime):
    from dogc.app.models.onnx import to_onnx

    model = DOGCOS(3, outlier_label=-1).fit(blobs())
    with pytest.raises(ValueError, match=r"set_params\(outlier_label=None\)"):
        to_onnx(model)
    to_onnx(model.set_params(outlier_label=None))
