"""Wide neighbourhoods, in which copies count."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from dogc import CAN, DOGC, DOGCOS, load, save
from dogc.fitting.settings import wide_scale
from dogc.fitting.wide import until_wide
from dogc.numerics import graph

thorough = settings(deadline=None, max_examples=60)


def survey(n=90, seed=0):
    """Answers of two kinds of people to five questions: few distinct rows."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    chance = np.array([[0.9, 0.8, 0.85, 0.5, 0.9], [0.2, 0.1, 0.15, 0.5, 0.1]])
    return (rng.random((n, 5)) < chance[kind]).astype(float), kind


@thorough
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([1e-9, 1.0, 1e9]))
def test_an_entry_with_copies_gets_what_the_copies_get(seed, k, scale):
    rng = np.random.default_rng(seed)
    d, xi = scale * rng.exponential(size=(1, k)), scale * rng.exponential(size=1)
    copies = rng.integers(1, 5, (1, k))
    each = np.repeat(np.arange(k), copies[0])
    apart = graph.solve_rows(d[:, each], xi)
    together = graph.solve_rows(d, xi, copies=copies)
    np.testing.assert_allclose(together[0], np.bincount(each, apart[0]), atol=1e-12)


@thorough
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_xi_with_copies_is_that_of_the_copies(seed, k):
    rng = np.random.default_rng(seed)
    d, copies = np.sort(rng.exponential(size=(3, k + 1)), axis=1), rng.integers(1, 5, (1, k))
    each = np.repeat(np.arange(k), copies[0])
    apart = graph.neighbour_xi(d[:, [*each, k]], len(each))
    np.testing.assert_allclose(graph.neighbour_xi(d, k, copies=copies), apart)


@thorough
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(2, 5))
def test_neighbourhoods_end_where_they_hold_enough(seed, q, c):
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 6, 15)
    idx = np.stack([rng.permutation(15)[:q] for _ in range(4)])
    d = np.sort(rng.exponential(size=idx.shape), axis=1)
    found, far = until_wide(idx, d, copies, c)
    k = found.shape[1] - 1
    for i in range(4):
        needed = 1  # the slow way: one more until they are enough
        while needed < q - 1 and (
            copies[idx[i, :needed]].sum() < wide_scale(copies.sum(), c)
            or needed < wide_scale(15, c)
        ):
            needed += 1
        kept = found[i, :k] >= 0
        assert kept.sum() == needed
        np.testing.assert_array_equal(found[i, :needed], idx[i, :needed])
        np.testing.assert_array_equal(np.isfinite(far[i, :k]), kept)
        assert far[i, -1] == d[i, min(needed, q - 1)]


@pytest.mark.parametrize("cls", [DOGC, CAN, DOGCOS])
def test_weights_are_copies_and_the_order_does_not_matter(cls):
    X, _ = survey()
    model = cls(2, n_neighbors="wide").fit(X)
    shuffled = np.random.default_rng(1).permutation(len(X))
    again = cls(2, n_neighbors="wide").fit(X[shuffled])
    np.testing.assert_array_equal(again.labels_, model.labels_[shuffled])
    distinct, copies = np.unique(X, axis=0, return_counts=True)
    weighted = cls(2, n_neighbors="wide").fit(distinct, sample_weight=copies)
    np.testing.assert_array_equal(weighted.predict(X), model.predict(X))
    assert weighted.n_neighbors_ == model.n_neighbors_
    np.testing.assert_allclose(model.similarity_matrix_.sum(axis=1), 1.0)


def test_weights_of_any_scale_count():
    X, _ = survey()
    model = DOGC(2, n_neighbors="wide").fit(X)
    for weight in (0.5, 2.0, 1e9):
        again = DOGC(2, n_neighbors="wide").fit(X, sample_weight=np.full(len(X), weight))
        np.testing.assert_array_equal(again.labels_, model.labels_)
    tiny = [DOGC(2, n_neighbors="wide").fit(X, sample_weight=np.full(90, w)) for w in (1e-6, 1e-3)]
    np.testing.assert_array_equal(tiny[0].labels_, tiny[1].labels_)
    assert adjusted_rand_score(tiny[0].labels_, model.labels_) > 0.7


@pytest.mark.parametrize("cls", [DOGC, DOGCOS])
def test_equal_sparse_rows_span_no_subspace(cls):
    model = cls(1, n_neighbors="wide", n_components=1).fit(sp.csr_array([[0.1, 0.2]] * 7))
    assert np.isfinite(model.history_[-1].objective)


def test_frequent_answers_count():
    """The rows of one kind are mostly equal: distinct rows alone would say little of it."""
    X, kind = survey(400, seed=3)
    model = DOGC(2, n_neighbors="wide", geometry="given").fit(X)
    right = np.mean(model.labels_ == kind)
    assert max(right, 1.0 - right) > 0.93
    assert model.converged_


def test_at_a_fixed_lambda_the_objective_never_rises():
    X, _ = survey(120, seed=5)
    for lam in (0.01, 1.0, 100.0):
        values = [r.objective for r in DOGC(2, n_neighbors="wide", lam=lam).fit(X).history_]
        assert (np.diff(values) <= 1e-9 * np.abs(values[0])).all()


def test_new_rows_and_model_files_count_copies_too(tmp_path):
    X, _ = survey()
    model = DOGC(2, n_neighbors="wide", geometry="given").fit(X)
    assert model.label_agreement_ == np.mean(model.predict(X) == model.labels_) > 0.9
    pytest.importorskip("skops.io")
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_membership(X), model.predict_membership(X))


@pytest.mark.parametrize("n_components", [2, 4])
def test_a_projection_is_learned_with_copies(n_components):
    X, _ = survey(60, seed=2)
    X = np.hstack([X, np.random.default_rng(0).integers(0, 2, (60, 2))])
    model = DOGC(2, n_neighbors="wide", n_components=n_components).fit(X)
    distinct, copies = np.unique(X, axis=0, return_counts=True)
    weighted = DOGC(2, n_neighbors="wide", n_components=n_components)
    weighted.fit(distinct, sample_weight=copies)
    np.testing.assert_allclose(weighted.components_, model.components_, atol=1e-8)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_few_distinct_rows(rows):
    X = np.repeat(np.arange(float(rows))[:, None], [40] + [1] * (rows - 1), axis=0)
    model = DOGC(2, n_neighbors="wide").fit(X)
    assert set(model.labels_) == {0, 1}
    assert set(model.predict(X)) <= {0, 1}
    assert np.isfinite(model.confidence_).all()


def test_categories_do_not_make_outliers():
    """Rows of a rare category have few near neighbours, but lie no further away than others do."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 240)
    rare = np.eye(4)[rng.choice(4, 240, p=[0.6, 0.2, 0.15, 0.05])]
    X = np.hstack([4.0 * kind[:, None] + 0.3 * rng.standard_normal((240, 2)), rare])
    X = np.vstack([X, [[60.0, -60.0, 0.0, 0.0, 0.0, 0.0]]])
    wide = DOGC(3, n_neighbors="wide", geometry="given").fit(X)
    few = DOGC(3, n_neighbors=10, geometry="given").fit(X)
    assert wide.outliers_[-1]
    assert wide.outliers_[:-1].mean() < 0.5 * few.outliers_[:-1].mean()
    scores = wide.score_outliers(X)
    assert scores.argmax() == 240
    assert np.median(scores) == pytest.approx(1.0, abs=0.3)


def test_a_smaller_width_says_how_far_the_clusters_depend_on_it():
    X, _ = survey(200)
    model = DOGC(2, n_neighbors="wide", geometry="given").fit(X)
    assert model.scales_.n_neighbors == (model.n_neighbors_ // 2, model.n_neighbors_)
    assert model.scales_.chosen == model.n_neighbors_
    assert model.scales_.score[0] == pytest.approx(model.scales_.agreement[0, 1])
    assert model.scales_.score[0] > 0.8
    noise = np.random.default_rng(0).integers(0, 2, (200, 12)).astype(float)
    with pytest.warns(UserWarning, match="change with the number of neighbours"):
        DOGC(4, n_neighbors="wide", geometry="given").fit(noise)
