"""The two starts: which one is taken, what it leaves, and that nothing hangs on the last digit."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from conftest import ESTIMATORS, problem_for
from dogc import CAN, DOGC
from dogc.loop.initial_states import labels_start

DIGITS, DIGIT = load_digits(return_X_y=True)


def topics(n, seed=0, d=80, c=6, spread=2.2):
    """Rows of length one around c directions, as embeddings of texts are."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    X = rng.normal(size=(c, d))[y] + spread * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def genes(seed, n=100, d=2_000):
    """Logarithms of counts in three groups, which few of many columns tell apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    mean = np.tile(rng.gamma(0.5, 4.0, d), (3, 1))
    for group in range(3):
        mean[group, rng.choice(d, 80, replace=False)] *= np.exp(rng.normal(0.75, 0.5, 80))
    counts = rng.poisson(rng.lognormal(0, 0.3, n)[:, None] * mean[y] * rng.gamma(3, 1 / 3, (n, d)))
    return np.log1p(counts), y


def overlapping_problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * [1.0, 1.0, 1.0, 4.0, 4.0]
    X[:, :3] += 3.0 * np.eye(3)[np.arange(60) % 3]
    return problem_for(X, DOGC(3, n_neighbors=8))


def test_digits_are_told_apart_by_the_second_start():
    model = DOGC(10).fit(DIGITS)
    assert model.init_ == "modularity"
    assert set(model.starts_) == {"spectral", "modularity"}
    assert model.starts_["modularity"].agreement is model.scales_.agreement
    assert adjusted_rand_score(DIGIT, model.labels_) >= 0.8


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_method_keeps_the_labels_of_a_modularity_start(cls):
    model = cls(10, init="modularity").fit(DIGITS[:500])
    assert model.init_ == "modularity"
    assert list(model.starts_) == ["modularity"]
    assert adjusted_rand_score(DIGIT[:500], model.labels_) >= 0.7


def test_a_start_of_the_users_own_is_named():
    X, y = make_blobs(90, centers=3, random_state=0)
    assert DOGC(3, init=y).fit(X).init_ == "labels"
    assert DOGC(3, init="random", random_state=0).fit(X).init_ == "random"
    assert DOGC(3, init=y).fit(X).starts_ == {}


def test_can_draws_no_rotation():
    with pytest.raises(
        ValueError, match="init must be one of 'auto', 'spectral', 'modularity'; got"
    ):
        CAN(3, init="random").fit(DIGITS[:50])


def test_f_indicates_the_labels_that_a_start_is_given():
    problem = overlapping_problem()
    labels = np.arange(problem.n) % problem.c
    state = labels_start(problem, labels)
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(problem.c), atol=1e-12)
    np.testing.assert_array_equal((state.F @ state.Q).argmax(axis=1), labels)
    np.testing.assert_array_equal(state.Y, labels)


@pytest.mark.parametrize("n", [600, pytest.param(4_000, marks=pytest.mark.slow)])
def test_noise_of_a_millionth_and_a_turn_change_next_to_nothing(n):
    X, y = topics(n)
    rng = np.random.default_rng(1)
    labels = DOGC(6).fit_predict(X)
    assert adjusted_rand_score(y, labels) >= 0.8
    noisy = X + 1e-6 * X.std(axis=0) * rng.standard_normal(X.shape)
    turn, _ = np.linalg.qr(rng.standard_normal((X.shape[1], X.shape[1])))
    for other in (noisy, X.astype(np.float32), X.astype(np.float16).astype(float), X @ turn):
        assert adjusted_rand_score(labels, DOGC(6).fit_predict(other)) >= 0.95


@pytest.mark.slow
def test_rings_that_cost_next_to_nothing_to_part_are_parted():
    rng = np.random.default_rng(0)  # both starts agree alike over numbers of representatives here
    y, angle = np.arange(20_000) % 10, rng.uniform(0, 2 * np.pi, 20_000)
    flat = (y + 1)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    plane, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    model = DOGC(10).fit(flat @ plane.T + rng.normal(0, 0.1, (20_000, 16)))
    assert model.init_ == "spectral"
    assert adjusted_rand_score(y, model.labels_) > 0.999


@pytest.mark.parametrize("seed", [0, 1])
def test_groups_that_few_of_many_columns_tell_apart(seed):
    X, y = genes(seed)
    model = DOGC(3, geometry="principal").fit(X)
    assert adjusted_rand_score(y, model.labels_) >= 0.8
    assert model.components_.shape[1] == X.shape[1]
    assert "principal" in DOGC(3).fit(X).geometries_ or DOGC(3).fit(X).scales_.score.max() >= 0.98
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_columns_that_have_nothing_in_common_have_no_such_direction():
    X = np.random.default_rng(0).standard_normal((40, 60))
    with pytest.raises(ValueError, match="geometry='principal' needs columns that vary together"):
        DOGC(3, geometry="principal").fit(X)
